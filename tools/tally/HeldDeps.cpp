//===- HeldDeps.cpp - Written dependences against accesses ----------------===//
//
// What accesses ask for and no chain of written dependences is seen to imply (Deps/Held.h) may be
// missing. A run decides: with trips that reach the example of two runs that touch the same, the
// code races or it does not.
//
//===----------------------------------------------------------------------===//

#include "HeldDeps.h"

#include "tally/Check/Race.h"
#include "tally/Deps/Render.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace tally::tool {
namespace {

/// How branches go, and how long one run may take.
constexpr uint64_t numGuards = 16;
constexpr double secondsOfRun = 0.5;

/// So many of those that are open are tried and named.
constexpr size_t mostNamed = 8;

class Holder {
public:
  Holder(const LoadedKernel &loaded, const Machine &machine, const Held &held)
      : kernel(loaded.kernel), code(*loaded.code), machine(machine), held(held) {}

  /// Whether a run of the code shows that something is missing.
  bool findMissing(Diagnostics &diagnostics) {
    for (size_t i = 0; i < std::min(held.open.size(), mostNamed); ++i) {
      look(held.asked.deps[held.open[i]], diagnostics);
    }
    return diagnostics.hasErrors();
  }

private:
  std::string describe(const DerivedDep &derived) const {
    return tally::describe(kernel, held.asked, derived);
  }

  void look(const DerivedDep &derived, Diagnostics &diagnostics) {
    Location where = kernel.instrs[derived.dep.consumer].where;
    if (std::optional<Diagnostic> race = raceOf(derived)) {
      diagnostics
          .error(where, fmt::format("the dependences that are written do not imply {}, and the "
                                    "code races for that; write it, or none, so that all of them "
                                    "are found",
                                    describe(derived)))
          .note(race->where, race->message);
      return;
    }
    diagnostics.remark(where, fmt::format("it is not seen that the dependences that are written "
                                          "imply {}, which accesses ask for",
                                          describe(derived)));
  }

  /// A run of the code that touches what the two touch without an order.
  std::optional<Diagnostic> raceOf(const DerivedDep &derived) const {
    for (uint64_t choice = 0; choice < 2 * numGuards; ++choice) {
      Bindings bindings(kernel);
      if (choice % 2 == 0) {
        bindToLeast(derived.dep.producer, bindings);
        bindToLeast(derived.dep.consumer, bindings);
      }
      bindTo(derived, bindings);
      bindings.setGuardSeed(choice / 2);
      if (choice < 2) {
        takeBranches(derived, bindings);
      }
      RaceOptions options;
      options.seconds = secondsOfRun;
      for (RaceReport &report : checkRaces(kernel, code, machine, bindings, options).reports) {
        if (report.kind == ReportKind::Race) {
          return std::move(report.text);
        }
      }
    }
    return std::nullopt;
  }

  /// In longer loops other runs may carry the order over that is missing.
  void bindToLeast(InstrId instr, Bindings &bindings) const {
    for (LoopId l = kernel.instrs[instr].home; l != rootLoop; l = kernel.loops[l].parent) {
      if (kernel.loops[l].trip.kind == Trip::Kind::Value) {
        bindings.set(l, {kernel.loops[l].trip.min});
      }
    }
  }

  /// Those that lead to the two; where they part, in turn.
  void takeBranches(const DerivedDep &derived, Bindings &bindings) const {
    std::map<LoopId, std::vector<uint64_t>> decisions;
    for (InstrId instr : {derived.dep.producer, derived.dep.consumer}) {
      for (LoopId l = kernel.instrs[instr].home; l != rootLoop; l = kernel.loops[l].parent) {
        const Loop &loop = kernel.loops[l];
        if (loop.isBranch()) {
          bool isElse = loop.kind == LoopKind::Else;
          decisions[isElse ? loop.otherBranch : l].push_back(isElse ? 0 : 1);
        }
      }
    }
    for (auto &[branch, taken] : decisions) {
      bindings.set(branch, std::move(taken));
    }
  }

  /// Trips that reach the two runs of the example, as far as the loops allow.
  void bindTo(const DerivedDep &derived, Bindings &bindings) const {
    const int64_t *at = held.asked.iterations.data() + derived.firstIteration;
    reach(derived.dep.producer, {at, derived.numProducerIterations}, bindings);
    at += derived.numProducerIterations;
    reach(derived.dep.consumer, {at, derived.numConsumerIterations}, bindings);
  }

  void reach(InstrId instr, std::span<const int64_t> iterations, Bindings &bindings) const {
    size_t left = iterations.size();
    for (LoopId l = kernel.instrs[instr].home; l != rootLoop && left != 0;
         l = kernel.loops[l].parent) {
      const Loop &loop = kernel.loops[l];
      if (loop.kind == LoopKind::Loop) {
        --left;
        raise(l, static_cast<uint64_t>(iterations[left]) + 1, bindings);
      }
    }
  }

  /// No loop is bound to less than it runs anyway.
  void raise(LoopId l, uint64_t trips, Bindings &bindings) const {
    const Trip &trip = kernel.loops[l].trip;
    uint64_t most = std::min(trip.max.value_or(mostTrips), mostTrips);
    uint64_t now = bindings.trips(EngineId(0), l, 1);
    if (trip.kind == Trip::Kind::Value && std::min(trips, most) > now) {
      bindings.set(l, {std::min(trips, most)});
    }
  }

  /// Runs of more iterations take too long to be tried.
  static constexpr uint64_t mostTrips = 100;

  const Kernel &kernel;
  const Code &code;
  const Machine &machine;
  const Held &held;
};

} // namespace

std::optional<AccessesNote> holdAccesses(Session &session, const LoadedKernel &loaded,
                                         const CommonOptions &options) {
  if (loaded.kernel.accesses.empty()) {
    return AccessesNote::NoneStated;
  }
  if (loaded.depsFound) {
    return AccessesNote::Derived;
  }
  if (options.deps == "written") {
    return AccessesNote::Ignored;
  }
  Held held = session.hold(loaded);
  Diagnostics diagnostics;
  bool isMissing = Holder(loaded, session.machine(), held).findMissing(diagnostics);
  session.report(loaded.kernel, diagnostics);
  if (isMissing) {
    return std::nullopt;
  }
  return held.open.empty() ? AccessesNote::Held : AccessesNote::Ignored;
}

} // namespace tally::tool
