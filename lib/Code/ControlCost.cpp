//===- ControlCost.cpp - What synchronising costs, without running it -----===//
//
// Each control operation at its price, times how often it is expected to be executed. A loop is
// expected to run its constant number of times; one with a run-time value half way between its
// bounds, or where it has no upper one, some 16 times; a branch every other time.
//===----------------------------------------------------------------------===//

#include "tally/Code/ControlCost.h"

#include "tally/Machine/Timing.h"

#include <algorithm>

namespace tally {

static constexpr double unknownTrips = 16;

double expectedTrips(const Loop &loop) {
  if (loop.isBranch()) {
    return 0.5;
  }
  switch (loop.trip.kind) {
  case Trip::Kind::Constant:
    return static_cast<double>(loop.trip.constant);
  case Trip::Kind::Value:
  case Trip::Kind::Formula:
    return loop.trip.max
               ? (static_cast<double>(loop.trip.min) + static_cast<double>(*loop.trip.max)) / 2
               : std::max(static_cast<double>(loop.trip.min), unknownTrips);
  case Trip::Kind::Guard:
    return unknownTrips;
  }
  return 1;
}

/// How often a loop runs if it runs as often as it is said to where the kernel leaves it open.
static double tripsAt(const Loop &loop, uint64_t openTrips) {
  return loop.isBranch() || loop.trip.known()
             ? expectedTrips(loop)
             : static_cast<double>(
                   std::clamp(openTrips, loop.trip.least(),
                              std::max(loop.trip.least(), loop.trip.most().value_or(maxCount))));
}

IdVector<LoopId, double> expectedEntries(const Kernel &kernel, std::optional<uint64_t> openTrips) {
  IdVector<LoopId, double> entries(kernel.loops.size(), 1);
  for (LoopId id : kernel.loops.ids()) {
    const Loop &loop = kernel.loops[id];
    if (loop.parent.valid()) {
      double trips = openTrips ? tripsAt(loop, *openTrips) : expectedTrips(loop);
      entries[id] = entries[loop.parent] * trips;
    }
  }
  return entries;
}

double expectedIssues(const Kernel &kernel, std::optional<uint64_t> openTrips) {
  IdVector<LoopId, double> entries = expectedEntries(kernel, openTrips);
  double issues = 0;
  for (const Instr &instr : kernel.instrs) {
    issues += entries[instr.home];
  }
  return issues;
}

ControlPrices::ControlPrices(const Machine &machine) {
  std::vector<std::string> unknown;
  std::optional<Timing> timing = Timing::of(machine, unknown);
  if (!timing) {
    return; // every operation costs one
  }
  alu = static_cast<double>(timing->alu);
  wait = static_cast<double>(timing->wait);
  carried = static_cast<double>(timing->carried);
  signal = static_cast<double>(timing->signal);
  reset = static_cast<double>(timing->reset);
  drain = static_cast<double>(timing->drain);
  loopBegin = static_cast<double>(timing->loopBegin);
  loopEnd = static_cast<double>(timing->loopEnd);
  branch = static_cast<double>(timing->branch);
}

/// Of one operation where it stands; a loop costs by its trips, and an instruction what its wait
/// adds.
static double priceOf(const ControlPrices &prices, const Op &op) {
  switch (op.kind) {
  case OpKind::Issue:
    return op.wait.valid() ? prices.carried : 0;
  case OpKind::Alu:
    return prices.alu;
  case OpKind::Wait:
    return prices.wait;
  case OpKind::Signal:
    return prices.signal;
  case OpKind::Reset:
    return prices.reset;
  case OpKind::Drain:
    return prices.drain;
  case OpKind::IfBegin:
  case OpKind::WhenBegin:
    return prices.branch;
  default:
    return 0;
  }
}

double loopCost(const ControlPrices &prices, const WrittenLoop &written, double trips) {
  return written.loops() * prices.loopBegin + written.branches(trips) * prices.loopEnd;
}

static double costOf(const Kernel &kernel, const EngineProgram &program,
                     const IdVector<LoopId, double> &entries, const ControlPrices &prices) {
  double cost = 0;

  struct Runs {
    double all = 1;
    double first = 1; ///< of a pass of the innermost loop
  };

  std::vector<Runs> around{{}}; // how often each open body is expected to be executed
  bool rarely = false;          // counters are reset so rarely that it costs nothing
  for (const Op &op : program.ops) {
    double here = rarely ? 0 : around.back().all;
    cost += (op.once && !rarely ? around.back().first : here) * priceOf(prices, op);
    if (op.kind == OpKind::LoopBegin) {
      WrittenLoop written = writtenLoop(kernel, op);
      double trips = expectedTrips(kernel.loops[op.loop()]);
      cost += here * loopCost(prices, written, trips);
      around.push_back(op.amount == atOnce
                           ? Runs{here, here}
                           : Runs{entries[op.loop()], here * written.passes(trips)});
    } else if (op.kind == OpKind::IfBegin) {
      around.push_back({entries[op.loop()], entries[op.loop()]});
    } else if (op.kind == OpKind::LoopEnd || op.kind == OpKind::IfEnd) {
      around.pop_back();
    } else if (op.kind == OpKind::WhenBegin || op.kind == OpKind::WhenEnd) {
      rarely = op.kind == OpKind::WhenBegin;
    }
  }
  return cost;
}

double controlCost(const Kernel &kernel, const Code &code, const Machine &machine) {
  IdVector<LoopId, double> entries = expectedEntries(kernel);
  ControlPrices prices(machine);
  double cost = 0;
  for (const EngineProgram &program : code.engines) {
    cost += costOf(kernel, program, entries, prices);
  }
  return cost;
}

} // namespace tally
