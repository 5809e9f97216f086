//===- UnrollByTime.cpp - Loops written out as long as runs get shorter ---===//
//
// Only branches on the way that binds a run are worth saving, so each step is the one that saves
// most of its time for what it adds to the code, as simulated. A step is about a loop of the
// kernel on one engine, or on all that run it: where they bind each other, one alone gains nothing.
//
// Steps:  1. grow    while some step saves time
//         2. prune   loops back to fewer bodies, as long as no time is lost
//
// Cost: in each step a simulated run for each loop and number of bodies that promises at least half
// of what the best one is worth.
//===----------------------------------------------------------------------===//

#include "Unroll.h"
#include "tally/Code/ControlCost.h"
#include "tally/Compile/Stopwatch.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

namespace tally::compiling {
namespace {

/// A loop of one engine's code.
struct Place {
  EngineId engine;
  size_t begin = 0; ///< its LoopBegin
};

/// Less than this share of the time is not worth an operation.
constexpr uint64_t leastGain = 2000;

class TimedUnroller {
public:
  TimedUnroller(const Kernel &kernel, const Request &request, const Machine &machine,
                Stopwatch &stopwatch, int64_t most, Code &code, Tick time, Search &search)
      : progress(request.progress), kernel(kernel), machine(machine), stopwatch(stopwatch),
        search(search), code(code), prices(kernel, machine), time(time), size(sizeNow()),
        most(most) {}

  void run() {
    grow();
    prune();
  }

private:
  struct Step {
    std::vector<Place> places; ///< of one loop of the kernel
    uint32_t inPass = 1;
    double promised = 0; ///< worth, before it is measured
    int64_t added = 0;   ///< operations
    Tick time = 0;       ///< of a run, after it
  };

  void grow() {
    while (std::optional<Step> step = bestStep()) {
      take(*step);
    }
  }

  /// Nothing, if none is worth it, or there is no more time to be had. They are measured in the
  /// order of what they promise, until the best one is far better than what the next promises.
  std::optional<Step> bestStep() {
    std::vector<Step> steps = possibleSteps();
    std::ranges::stable_sort(steps, std::greater(), &Step::promised);
    std::optional<Step> best;
    for (Step &step : steps) {
      if (best && worthOf(*best) >= 2 * step.promised) {
        break;
      }
      const bool isWorthIt = measureStep(step) && step.time + time / leastGain < time;
      promises[keyOf(step)] = isWorthIt ? worthOf(step) : 0;
      if (isWorthIt && (!best || worthOf(step) > worthOf(*best))) {
        best = std::move(step);
      }
    }
    return best;
  }

  std::vector<Step> possibleSteps() {
    std::vector<Step> steps;
    for (const std::vector<Place> &places : choices()) {
      for (uint32_t inPass : passesOf(places.front())) {
        Step step{places, inPass};
        std::erase_if(step.places,
                      [&](const Place &place) { return beginOf(place).amount >= inPass; });
        if (!step.places.empty()) {
          step.promised = promised(step);
          steps.push_back(std::move(step));
        }
      }
    }
    return steps;
  }

  /// What is saved for each operation.
  double worthOf(const Step &step) const {
    return static_cast<double>(time - step.time) /
           static_cast<double>(std::max<int64_t>(1, step.added));
  }

  using Key = std::tuple<EngineId, size_t, size_t, uint32_t>;

  static Key keyOf(const Step &step) {
    return {step.places.front().engine, step.places.front().begin, step.places.size(), step.inPass};
  }

  /// Most steps are worth now what they were worth when they were measured last; before, about what
  /// they save of control.
  double promised(const Step &step) {
    if (auto known = promises.find(keyOf(step)); known != promises.end()) {
      return known->second;
    }
    int64_t added = 0;
    double saved = 0;
    for (const Place &place : step.places) {
      const Op &now = beginOf(place);
      const BodySize body = bodySize(kernel, code.engines[place.engine], place.begin);
      Op then = now;
      then.amount = step.inPass;
      added += prices.sizeOf(then, body) - prices.sizeOf(now, body);
      saved += prices.costOf(now) - prices.costOf(then);
    }
    return saved / static_cast<double>(std::max<int64_t>(1, added));
  }

  /// Not to fewer than there were: those cost nothing.
  void prune() {
    for (const Place &place : innermostLoops()) {
      auto grown = atFirst.find({place.engine, place.begin});
      for (uint32_t inPass : passesOf(place)) {
        Step step{{place}, inPass};
        bool isBack = grown != atFirst.end() && inPass >= grown->second;
        if (isBack && inPass < beginOf(place).amount && measureStep(step) && step.added < 0 &&
            step.time <= time) {
          take(step);
          break;
        }
      }
    }
  }

  /// Whether the code still fits, and how long a run takes is known.
  bool measureStep(Step &step) {
    std::vector<uint32_t> before;
    for (const Place &place : step.places) {
      before.push_back(std::exchange(beginOf(place).amount, step.inPass));
    }
    step.added = sizeNow() - size;
    std::optional<Tick> found = size + step.added <= most ? stopwatch.timeOf(code) : std::nullopt;
    search.numTried += found ? 1 : 0;
    if (found && progress) {
      progress(search.numTried);
    }
    step.time = found.value_or(0);
    for (size_t i = 0; i < before.size(); ++i) {
      beginOf(step.places[i]).amount = before[i];
    }
    return found.has_value();
  }

  void take(const Step &step) {
    CodeCost before = costNow();
    for (const Place &place : step.places) {
      Op &begin = beginOf(place);
      atFirst.try_emplace({place.engine, place.begin}, begin.amount);
      begin.amount = step.inPass;
    }
    time = step.time;
    size += step.added;
    search.attempts.push_back({Attempt::Step::Unroll, textOf(step), true, before, costNow()});
  }

  CodeCost costNow() const {
    CodeCost cost = search.found().value_or(CodeCost());
    cost.time = time;
    cost.control = controlCost(kernel, code, machine);
    cost.operations = static_cast<uint64_t>(size);
    return cost;
  }

  std::string textOf(const Step &step) {
    std::string_view loop = kernel.nameOf(beginOf(step.places.front()).loop());
    return step.places.size() == 1
               ? fmt::format("'{}' on '{}' with {} bodies for a branch", loop,
                             kernel.nameOf(step.places.front().engine), step.inPass)
               : fmt::format("'{}' on {} engines with {} bodies for a branch", loop,
                             step.places.size(), step.inPass);
  }

  /// Each loop of an engine, and each loop of the kernel on all engines that run it.
  std::vector<std::vector<Place>> choices() {
    std::map<LoopId, std::vector<Place>> byLoop;
    std::vector<std::vector<Place>> all;
    for (const Place &place : innermostLoops()) {
      byLoop[beginOf(place).loop()].push_back(place);
      all.push_back({place});
    }
    for (auto &[loop, places] : byLoop) {
      if (places.size() > 1) {
        all.push_back(std::move(places));
      }
    }
    return all;
  }

  int64_t sizeNow() const { return static_cast<int64_t>(measure(kernel, code, 1).operations); }

  Op &beginOf(const Place &place) { return code.engines[place.engine].ops[place.begin]; }

  /// Numbers of bodies to try, the smallest first: powers of two, and what divides a constant
  /// number of trips.
  std::vector<uint32_t> passesOf(const Place &place) {
    const Trip &trip = kernel.loops[beginOf(place).loop()].trip;
    bool isConstant = trip.kind == Trip::Kind::Constant;
    std::vector<uint32_t> passes;
    for (uint32_t n = 1; n <= mostInPass; ++n) {
      bool isPower = (n & (n - 1)) == 0;
      bool fits = !isConstant || n <= trip.constant;
      if (fits && (isPower || (isConstant && trip.constant % n == 0))) {
        passes.push_back(n);
      }
    }
    return passes;
  }

  /// Loops about which the kernel says nothing and in which no loop is left: those in them are
  /// written out.
  std::vector<Place> innermostLoops() const {
    std::vector<Place> found;
    for (const EngineProgram &program : code.engines) {
      std::vector<std::pair<size_t, bool>> open; // where it begins; whether a loop is left in it
      for (size_t at = 0; at < program.ops.size(); ++at) {
        if (program.ops[at].kind == OpKind::LoopBegin) {
          open.emplace_back(at, false);
        } else if (program.ops[at].kind == OpKind::LoopEnd) {
          auto [begin, holdsLoop] = open.back();
          const Op &loop = program.ops[begin];
          open.pop_back();
          if (!holdsLoop && mayBeUnrolled(loop)) {
            found.push_back({program.engine, begin});
          }
          if (!open.empty()) {
            open.back().second |= holdsLoop || !writtenLoop(kernel, loop).isStraight;
          }
        }
      }
    }
    return found;
  }

  bool mayBeUnrolled(const Op &begin) const {
    const Loop &loop = kernel.loops[begin.loop()];
    return begin.amount != atOnce && loop.unroll == 1 && loop.trip.kind != Trip::Kind::Guard;
  }

  const std::function<void(uint64_t)> &progress;
  const Kernel &kernel;
  const Machine &machine;
  Stopwatch &stopwatch;
  Search &search;
  Code &code;
  const LoopPrices prices;
  Tick time; ///< of a run of the code as it is now
  int64_t size;
  const int64_t most;                                      ///< operations
  std::map<std::pair<EngineId, size_t>, uint32_t> atFirst; ///< bodies in a pass, where it has grown
  std::map<Key, double> promises; ///< worth of steps when they were measured last
};

} // namespace

void unrollByTime(const Kernel &kernel, const Request &request, const Machine &machine,
                  Stopwatch &stopwatch, int64_t most, Code &code, Search &search) {
  if (std::optional<Tick> time = stopwatch.timeOf(code)) {
    TimedUnroller(kernel, request, machine, stopwatch, most, code, *time, search).run();
  }
}

} // namespace tally::compiling
