//===- WrittenCodeTest.cpp - The race check on code as people write it ----===//
//
// Random code whose semaphores are raised by engines and queues in every way (RandomCode.h) is run
// in all schedules. Where the race check decides, its answer must be what these show: a race if
// two instructions that touch the same memory are in flight at once, a deadlock if nothing can go
// on; and if neither, the same memory at the end of all.
//
// The walk below knows nothing of clocks, of order, or of what the check holds back.
//
//===----------------------------------------------------------------------===//

#include "RandomCode.h"

#include "tally/Check/MustOrder.h"
#include "tally/Check/Race.h"
#include "tally/Code/Listing.h"
#include "tally/Model/KernelJson.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>
#include <unordered_set>

using namespace tally;
using namespace tally::fuzz;

namespace {

using Key = std::vector<uint32_t>;

struct KeyHash {
  size_t operator()(const Key &key) const {
    uint64_t hash = 0;
    for (uint32_t word : key) {
      hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
      hash ^= hash >> 32;
    }
    return hash;
  }
};

/// All states that code can come to.
class AllSchedules {
public:
  /// With a datapath in the system, effects on memory are steps of their own.
  AllSchedules(const ImplSystem &system, const Datapath &datapath, size_t maxStates)
      : system(system), datapath(datapath), hasMemory(system.optionsOf().datapath) {
    visit(system.initial());
    while (!todo.empty() && complete) {
      ImplState state = std::move(todo.back());
      todo.pop_back();
      judge(state);
      expand(state);
      complete = known.size() <= maxStates;
    }
  }

  bool complete = true;
  bool deadlock = false;
  std::set<std::pair<uint32_t, uint32_t>> racing; ///< instructions, in both orders
  std::set<std::vector<ValueId>> memories;        ///< at the end

private:
  void visit(ImplState state) {
    passLocal(state);
    Key key(state.at.raw());
    for (const QueueState &q : state.queues) {
      key.insert(key.end(), {q.issued, q.retired, uint32_t(q.committed)});
    }
    key.insert(key.end(), state.semaphores.begin(), state.semaphores.end());
    key.insert(key.end(), state.rings.begin(), state.rings.end());
    for (ValueId value : state.memory) {
      key.push_back(value.value);
    }
    if (known.insert(std::move(key)).second) {
      todo.push_back(std::move(state));
    }
  }

  void expand(const ImplState &state) {
    std::vector<Step> steps;
    system.enabled(state, steps);
    if (steps.empty()) {
      deadlock |= !system.finished(state);
      memories.insert(state.memory);
    }
    for (const Step &step : steps) {
      if (hasMemory || step.kind == StepKind::Control || step.kind == StepKind::Issue) {
        follow(state, {step});
      }
    }
    for (QueueId queue : system.kernelOf().queues.ids()) {
      if (!hasMemory) {
        finish(state, queue);
      }
    }
  }

  /// Without memory an instruction has its effect when it finishes.
  void finish(const ImplState &state, QueueId queue) {
    EngineId engine = system.kernelOf().queues[queue].engine;
    const QueueState &q = state.queues[queue];
    if (!system.isSplit(queue)) {
      follow(state, {Step::commit(engine, queue, 0), Step::retire(engine, queue)});
      return;
    }
    for (uint32_t ring = 0; ring < system.kernelOf().queues[queue].weight; ++ring) {
      uint32_t place = state.rings[system.firstRing(queue) + ring] - q.retired;
      std::vector<Step> steps;
      for (uint32_t i = 0; i <= place; ++i) {
        steps.push_back(Step::commit(engine, queue, i));
      }
      steps.push_back(Step::deliver(engine, queue, ring));
      follow(state, steps);
    }
  }

  /// Commits that have happened are left out; nothing follows if another step cannot happen.
  void follow(ImplState state, const std::vector<Step> &steps) {
    for (const Step &step : steps) {
      bool isDone = step.kind == StepKind::Commit && !hasMemory &&
                    step.index < state.queues[step.queue].inFlight() &&
                    state.queues[step.queue].hasCommitted(step.index);
      if (isDone) {
        continue;
      }
      if (!system.isEnabled(state, step)) {
        return;
      }
      system.apply(state, step);
    }
    visit(std::move(state));
  }

  /// What only its engine can see happens at once.
  void passLocal(ImplState &state) const {
    for (EngineId engine : system.kernelOf().engines.ids()) {
      for (const Op *op = system.head(state, engine); op && isLocal(op->kind);
           op = system.head(state, engine)) {
        system.apply(state, Step::control(engine));
      }
    }
  }

  static bool isLocal(OpKind kind) {
    return kind == OpKind::Alu || kind == OpKind::LoopBegin || kind == OpKind::LoopEnd ||
           kind == OpKind::IfBegin || kind == OpKind::Else || kind == OpKind::IfEnd;
  }

  void judge(const ImplState &state) {
    std::vector<std::pair<QueueId, Instance>> flight;
    for (QueueId queue : system.kernelOf().queues.ids()) {
      for (uint32_t n = state.queues[queue].retired; n < state.queues[queue].issued; ++n) {
        flight.emplace_back(queue, system.instanceAt(queue, n));
      }
    }
    for (size_t i = 0; i < flight.size(); ++i) {
      for (size_t j = i + 1; j < flight.size(); ++j) {
        auto [queueA, a] = flight[i];
        auto [queueB, b] = flight[j];
        bool inOrder = queueA == queueB && !system.machineOf().queueOverlap;
        if (!inOrder && (conflict(a, b) || conflict(b, a))) {
          racing.emplace(a.instr.value, b.instr.value);
          racing.emplace(b.instr.value, a.instr.value);
        }
      }
    }
  }

  /// Whether `a` writes what `b` touches.
  bool conflict(Instance a, Instance b) const {
    const Footprint &fa = datapath.footprint(a), &fb = datapath.footprint(b);
    std::set<CellId> touched(fb.reads.begin(), fb.reads.end());
    touched.insert(fb.writes.begin(), fb.writes.end());
    return std::any_of(fa.writes.begin(), fa.writes.end(),
                       [&](CellId cell) { return touched.contains(cell); });
  }

  const ImplSystem &system;
  const Datapath &datapath;
  bool hasMemory;
  std::unordered_set<Key, KeyHash> known;
  std::vector<ImplState> todo;
};

struct Counts {
  int compared = 0, byClocks = 0, byHolding = 0, open = 0, tooLarge = 0;
  int openRight = 0;
  int right = 0, racing = 0, deadlocked = 0, memories = 0;
};

std::string contextOf(uint64_t seed, const RandomCode &code, const RaceResult &result) {
  return fmt::format("seed {}, trips {}, guards {}, overlap {}\n{}\n{}\n{}", seed, code.trips,
                     code.guards, code.machine.queueOverlap, writeKernelJson(code.kernel),
                     listing(code.kernel, code.program), render(result, {}));
}

class WrittenCodeTest : public testing::Test {
protected:
  static constexpr uint32_t inFlight = 16;

  void compare(uint64_t seed, const RandomCode &code) {
    Bindings bindings = code.bindings();
    Datapath datapath(code.kernel, bindings);
    ImplSystem system(code.kernel, code.program, code.machine, bindings,
                      {inFlight, 10000, nullptr});
    AllSchedules all(system, datapath, 4000);
    if (!all.complete) {
      ++counts.tooLarge;
      return;
    }
    RaceOptions options;
    options.schedules = 20;
    options.inFlight = inFlight;
    options.maxReports = 1000;
    RaceResult result = checkRaces(code.kernel, code.program, code.machine, bindings, options);
    ++counts.compared;
    ++(result.heldBack ? counts.byHolding : result.oneDecides ? counts.byClocks : counts.open);
    counts.racing += !all.racing.empty();
    counts.deadlocked += all.deadlock;
    bool isRight = all.racing.empty() && !all.deadlock;
    counts.right += isRight;
    counts.openRight += !result.oneDecides && isRight;
    if (result.oneDecides) {
      ASSERT_EQ(has(result, ReportKind::Race), !all.racing.empty())
          << contextOf(seed, code, result);
      ASSERT_EQ(has(result, ReportKind::Deadlock), all.deadlock) << contextOf(seed, code, result);
      ASSERT_EQ(result.verdict == Verdict::Yes, isRight) << contextOf(seed, code, result);
    } else {
      ASSERT_NE(result.verdict, Verdict::Yes) << contextOf(seed, code, result);
      ASSERT_TRUE(result.verdict == Verdict::Undecided || !isRight || hasWrap(result))
          << contextOf(seed, code, result);
    }
    if (result.verdict == Verdict::Yes && seed % 16 == 0) {
      compareMemory(seed, code, result, bindings);
    }
    expectShown(seed, code, result, system);
  }

  /// The schedule of a race ends with both instructions in flight, that of a deadlock stuck.
  void expectShown(uint64_t seed, const RandomCode &code, const RaceResult &result,
                   const ImplSystem &system) {
    for (const RaceReport &report : result.reports) {
      ImplState state = system.initial();
      for (const Step &step : report.steps) {
        ASSERT_TRUE(system.isEnabled(state, step)) << contextOf(seed, code, result);
        system.apply(state, step);
      }
      if (report.kind == ReportKind::Race && report.text.severity == Severity::Error) {
        ASSERT_TRUE(areInFlight(system, state, report)) << contextOf(seed, code, result);
      }
      if (report.kind == ReportKind::Deadlock) {
        std::vector<Step> steps;
        system.enabled(state, steps);
        ASSERT_TRUE(steps.empty() && !system.finished(state)) << contextOf(seed, code, result);
      }
    }
  }

  static std::string factOf(const RaceReport &report, std::string_view key) {
    for (const auto &[name, value] : report.facts) {
      if (name == key) {
        return value;
      }
    }
    return {};
  }

  static bool areInFlight(const ImplSystem &system, const ImplState &state,
                          const RaceReport &report) {
    std::multiset<std::string> flight;
    for (QueueId queue : system.kernelOf().queues.ids()) {
      for (uint32_t n = state.queues[queue].retired; n < state.queues[queue].issued; ++n) {
        flight.emplace(system.kernelOf().nameOf(system.instanceAt(queue, n).instr));
      }
    }
    std::string first = factOf(report, "first"), second = factOf(report, "second");
    return flight.count(first) >= (first == second ? 2 : 1) && flight.contains(second);
  }

  void compareMemory(uint64_t seed, const RandomCode &code, const RaceResult &result,
                     const Bindings &bindings) {
    Datapath datapath(code.kernel, bindings);
    ImplSystem system(code.kernel, code.program, code.machine, bindings,
                      {inFlight, 10000, &datapath});
    AllSchedules all(system, datapath, 20000);
    if (all.complete) {
      ++counts.memories;
      ASSERT_EQ(all.memories.size(), 1u) << contextOf(seed, code, result);
    }
  }

  static bool has(const RaceResult &result, ReportKind kind) {
    return std::any_of(result.reports.begin(), result.reports.end(),
                       [&](const RaceReport &report) { return report.kind == kind; });
  }

  static bool hasWrap(const RaceResult &result) { return has(result, ReportKind::Wrap); }

  void run(uint64_t count, const RandomCodeOptions &options) {
    for (uint64_t seed = 0; seed < count && !HasFatalFailure(); ++seed) {
      RandomCode code = randomCode(seed, options);
      Diagnostics diagnostics;
      verifyProgram(code.kernel, code.program, diagnostics, true);
      ASSERT_FALSE(diagnostics.hasErrors()) << "seed " << seed << render(diagnostics, {});
      compare(seed, code);
    }
    fmt::print("{} compared: {} right, {} racing, {} stuck; decided by one schedule {}, by holding "
               "back {}, open {} (of them right: {}); {} with memory, {} too large\n",
               counts.compared, counts.right, counts.racing, counts.deadlocked, counts.byClocks,
               counts.byHolding, counts.open, counts.openRight, counts.memories, counts.tooLarge);
  }

  Counts counts;
};

} // namespace

TEST_F(WrittenCodeTest, withoutResets) {
  RandomCodeOptions options;
  options.flagPercent = 0;
  run(12000, options);
  EXPECT_EQ(counts.open, 0) << "without resets every schedule ends alike";
}

TEST_F(WrittenCodeTest, withResets) {
  RandomCodeOptions options;
  options.flagPercent = 40;
  options.sharePercent = 5;
  run(6000, options);
}
