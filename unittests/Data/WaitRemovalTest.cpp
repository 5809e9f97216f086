//===- WaitRemovalTest.cpp - Without a wait, wrong data -------------------===//
//
// Every wait of the code of every small kernel is taken out in turn. Then the code runs under
// schedules in which one producer is late: it has its effect only when nothing else can happen any
// more, while all others have theirs at once. First a producer that the wait was for; then, if none
// is known (a barrier) or it made no difference (the largest of several numbers was another),
// each instruction and each engine. One of these must hold:
//
//   - It shows: as wrong data, as poison that is read, or as engines that never end.
//   - The race check says that the wait was redundant: what it was for is ordered by others.
//   - The race check says that only the written dependences ask for it, and not the accesses.
//   - Nothing comes after it.
//
// Rows that go by random indices may never be those that a wait is for; so there is a second input,
// in which all indices are equal.
//
// What a tensor engine keeps in order by itself stays in order here, too: kept tiles with the
// products that use them, and sums.
//
//===----------------------------------------------------------------------===//

#include "CatalogueCase.h"

#include "tally/Check/Impl.h"
#include "tally/Check/Race.h"
#include "tally/Deps/Extract.h"

#include <fmt/format.h>

using namespace tally;

namespace {

/// An operation that waits.
struct WaitPlace {
  EngineId engine;
  uint32_t at;
};

std::vector<WaitPlace> waitsOf(const Code &code) {
  std::vector<WaitPlace> places;
  for (const EngineProgram &program : code.engines) {
    for (uint32_t at = 0; at < program.ops.size(); ++at) {
      if (program.ops[at].wait.valid()) {
        places.push_back({program.engine, at});
      }
    }
  }
  return places;
}

Code withoutWait(const Code &code, WaitPlace place) {
  Code fewer = code;
  std::vector<Op> &ops = fewer.engines[place.engine].ops;
  if (ops[place.at].kind == OpKind::Issue) {
    ops[place.at].wait = SemaId();
    ops[place.at].numReasons = 0;
  } else {
    ops.erase(ops.begin() + place.at);
  }
  return fewer;
}

/// With what its accesses ask for, without what is too much in some iterations.
Kernel withExactDeps(const Kernel &kernel) {
  Extraction found = Extractor().extract(kernel, {.queueOverlap = true});
  std::erase_if(found.deps,
                [](const DerivedDep &derived) { return derived.excess == Excess::Varies; });
  return withDeps(kernel, found);
}

/// For a kernel with other dependences.
Code withoutReasons(Code code) {
  for (EngineProgram &program : code.engines) {
    for (Op &op : program.ops) {
      op.numReasons = 0;
    }
  }
  return code;
}

/// Whose steps come only when nothing else can happen: one of the two.
struct Late {
  InstrId instr;
  EngineId engine;
};

class LateRun : ImplObserver {
public:
  LateRun(const CatalogueCase &one, const Code &code, Late late, const Memory &inputs)
      : one(one), system(one.kernel(), code, one.machine, one.bindings, options), late(late),
        data(*one.effects, inputs) {}

  /// Whether all engines came to their end.
  bool run() {
    ImplState state = system.initial();
    std::vector<Step> steps;
    for (system.enabled(state, steps); !steps.empty(); system.enabled(state, steps)) {
      system.apply(state, choose(state, steps), this);
    }
    return system.finished(state);
  }

  const DataRun &result() const { return data; }

private:
  void onCommit(QueueId, Instance instance) override { data.commit(instance); }

  /// Commits of others first, then whatever is no commit, late commits last.
  Step choose(const ImplState &state, const std::vector<Step> &steps) const {
    const Step *other = nullptr;
    const Step *last = nullptr;
    for (const Step &step : steps) {
      bool isCommit = step.kind == StepKind::Commit;
      if (isCommit && !mayCommit(state, step)) {
        continue;
      }
      if (isCommit ? instrAt(state, step.queue, step.index) == late.instr : isBy(step)) {
        last = last ? last : &step;
      } else if (isCommit) {
        return step;
      } else {
        other = other ? other : &step;
      }
    }
    return other ? *other : *last;
  }

  /// Of the late engine's sequencer.
  bool isBy(const Step &step) const {
    return step.engine == late.engine &&
           (step.kind == StepKind::Control || step.kind == StepKind::Issue);
  }

  InstrId instrAt(const ImplState &state, QueueId queue, uint32_t place) const {
    return system.instanceAt(queue, state.queues[queue].retired + place).instr;
  }

  bool mayCommit(const ImplState &state, const Step &step) const {
    if (!isOrdered(instrAt(state, step.queue, step.index))) {
      return true;
    }
    for (uint32_t older = 0; older < step.index; ++older) {
      if (!state.queues[step.queue].hasCommitted(older) &&
          isOrdered(instrAt(state, step.queue, older))) {
        return false;
      }
    }
    return true;
  }

  bool isOrdered(InstrId id) const {
    const Kernel &kernel = one.kernel();
    const Instr &instr = kernel.instrs[id];
    std::string_view computes = kernel.text(instr.computes);
    bool adds = false;
    for (AccessId access : instr.accesses) {
      adds |= kernel.accesses[access].kind == AccessKind::Accumulate;
    }
    return adds || computes.find("keep") != computes.npos || computes.find("kept") != computes.npos;
  }

  const CatalogueCase &one;
  ImplOptions options{.inFlight = maxInFlight};
  ImplSystem system;
  Late late;
  DataRun data;
};

/// Each producer that the wait was for.
std::vector<Late> producersOf(const Kernel &kernel, const Code &code, const Op &op) {
  std::vector<Late> delays;
  for (uint32_t i = 0; i < op.numReasons; ++i) {
    delays.push_back({kernel.deps[code.reasons[op.firstReason + i]].producer, {}});
  }
  return delays;
}

std::vector<Late> everybody(const Kernel &kernel) {
  std::vector<Late> delays;
  for (EngineId id : kernel.engines.ids()) {
    delays.push_back({{}, id});
  }
  for (InstrId id : kernel.instrs.ids()) {
    delays.push_back({id, {}});
  }
  return delays;
}

bool waitsFor(const Code &code, SemaId first, uint32_t count, EngineId except) {
  for (const EngineProgram &program : code.engines) {
    for (const Op &op : program.ops) {
      if (program.engine != except && op.wait.valid() && op.wait.value - first.value < count) {
        return true;
      }
    }
  }
  return false;
}

/// Whether its engine does nothing after this wait that any other can see: it issues and signals
/// nothing more, and resets only what it alone waits for.
bool isLast(const CatalogueCase &one, const Code &code, WaitPlace place) {
  ImplSystem system(one.kernel(), code, one.machine, one.bindings);
  bool isAfter = false;
  for (const ImplPoint &point : system.trajectory(place.engine)) {
    const Op &op = code.engines[place.engine].ops[point.op];
    bool isSeen = op.kind == OpKind::Issue || op.kind == OpKind::Signal ||
                  (op.kind == OpKind::Reset && waitsFor(code, op.signal, op.amount, place.engine));
    if (isAfter && isSeen) {
      return false;
    }
    isAfter |= point.op == place.at && op.kind == OpKind::Wait; // one of an issue comes before it
  }
  return isAfter;
}

struct Counts {
  size_t waits = 0;
  size_t wrong = 0;     ///< different bits in memory, or poison that was read
  size_t hang = 0;      ///< engines that never end
  size_t redundant = 0; ///< says the race check
  size_t last = 0;      ///< nothing comes after them
  size_t listed = 0;    ///< no access asks for them, says the race check
};

class Removal {
public:
  explicit Removal(const CatalogueEntry &entry)
      : one(entry), inputs{one.memory, one.crowdedMemory()}, found(withExactDeps(one.kernel())) {
    for (const Memory &input : inputs) {
      sequential.push_back(one.after(one.runs.order(), input));
    }
  }

  void removeAll(Strategy strategy, Counts &counts) {
    std::optional<Code> program = one.program(strategy);
    for (WaitPlace place : program ? waitsOf(*program) : std::vector<WaitPlace>()) {
      ++counts.waits;
      remove(*program, place, counts);
    }
  }

private:
  void remove(const Code &program, WaitPlace place, Counts &counts) {
    const Op &op = program.engines[place.engine].ops[place.at];
    Code fewer = withoutWait(program, place);
    if (shows(fewer, producersOf(one.kernel(), program, op), counts)) {
      return;
    }
    RaceResult races = check(one.kernel(), fewer);
    if (races.verdict == Verdict::Yes) {
      ++counts.redundant;
    } else if (isLast(one, program, place)) {
      ++counts.last;
    } else if (!shows(fewer, everybody(one.kernel()), counts)) {
      ++counts.listed;
      EXPECT_EQ(check(found, withoutReasons(fewer)).verdict, Verdict::Yes)
          << one.kernel().text(one.kernel().name) << " " << toString(program.strategy) << " engine "
          << one.kernel().nameOf(place.engine) << " operation " << place.at << "\n"
          << render(races, {}) << races.reason;
    }
  }

  RaceResult check(const Kernel &kernel, const Code &code) const {
    RaceOptions options;
    options.schedules = 20;
    return checkRaces(kernel, code, one.machine, one.bindings, options);
  }

  /// Whether something is wrong when one of these is late, with one of the inputs.
  bool shows(const Code &code, const std::vector<Late> &delays, Counts &counts) const {
    for (const Late &late : delays) {
      for (size_t i = 0; i < inputs.size(); ++i) {
        LateRun run(one, code, late, inputs[i]);
        bool ends = run.run();
        bool isWrong = !run.result().faults().empty() ||
                       (ends && !one.sameMemory(run.result(), sequential[i]));
        counts.wrong += isWrong;
        counts.hang += !isWrong && !ends;
        if (isWrong || !ends) {
          return true;
        }
      }
    }
    return false;
  }

  CatalogueCase one;
  std::vector<Memory> inputs; ///< the kernel's own, and all indices equal
  Kernel found;               ///< withExactDeps
  std::vector<DataRun> sequential;
};

} // namespace

/// With all its waits, code gives the right data under these schedules, too.
TEST(WaitRemovalTest, lateProducersAreWaitedFor) {
  for (const CatalogueEntry &entry : catalogue()) {
    CatalogueCase one(entry);
    DataRun sequential = one.after(one.runs.order());
    for (Strategy strategy : strategies) {
      std::optional<Code> program = one.program(strategy);
      for (InstrId id : program ? one.kernel().instrs.ids() : IdRange<InstrId>()) {
        LateRun run(one, *program, {id, {}}, one.memory);
        EXPECT_TRUE(run.run());
        EXPECT_TRUE(one.sameMemory(run.result(), sequential))
            << entry.name << " " << toString(strategy) << " " << one.kernel().nameOf(id);
        EXPECT_EQ(one.faultsOf(run.result()), "");
      }
    }
  }
}

TEST(WaitRemovalTest, everyWaitIsSeenOrRedundant) {
  for (Strategy strategy : strategies) {
    Counts counts;
    for (const CatalogueEntry &entry : catalogue()) {
      Removal(entry).removeAll(strategy, counts);
    }
    fmt::print("{:<16} {:>3} waits: {:>3} seen as wrong data, {:>2} as a hang; {:>2} redundant, {} "
               "with nothing after them; {} listed only\n",
               toString(strategy), counts.waits, counts.wrong, counts.hang, counts.redundant,
               counts.last, counts.listed);
    EXPECT_EQ(counts.waits,
              counts.wrong + counts.hang + counts.redundant + counts.last + counts.listed);
    // What is needed is the same for all strategies without barriers that keep loops.
    EXPECT_GT(counts.wrong, 120U) << toString(strategy);
  }
}
