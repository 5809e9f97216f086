//===- HeldDeps.cpp - Written dependences against accesses ----------------===//
//
// What accesses ask for and no chain of written dependences is seen to imply (Deps/Held.h) may be
// missing. Runs decide, those that `tally check --race` tries (Choices.h): the code races for it or
// it does not.
//
//===----------------------------------------------------------------------===//

#include "HeldDeps.h"

#include "tally/Check/Choices.h"
#include "tally/Deps/Render.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace tally::tool {
namespace {

/// So many of those that are open are named.
constexpr size_t mostNamed = 8;

class Holder {
public:
  Holder(const LoadedKernel &loaded, const Machine &machine, const Held &held)
      : kernel(loaded.kernel), code(*loaded.code), machine(machine), held(held) {}

  /// Whether a run of the code shows that something is missing.
  bool findMissing(Diagnostics &diagnostics) {
    findRaces();
    for (size_t i = 0; i < std::min(held.open.size(), mostNamed); ++i) {
      look(held.asked.deps[held.open[i]], diagnostics);
    }
    if (!races.empty() && !diagnostics.hasErrors()) {
      const Diagnostic &race = races.begin()->second;
      diagnostics.error(race.where, race.message);
    }
    return diagnostics.hasErrors();
  }

private:
  std::string describe(const DerivedDep &derived) const {
    return tally::describe(kernel, held.asked, derived);
  }

  void findRaces() {
    const std::vector<RunChoice> choices =
        held.open.empty()
            ? std::vector<RunChoice>()
            : chooseRuns(kernel, withOpenDeps(kernel, held), machine, nothingGiven(kernel)).runs;
    RaceOptions options;
    raceRuns(kernel, code, machine, choices, options, [this](const RunChoice &, RaceResult result) {
      for (RaceReport &report : result.reports) {
        if (report.kind == ReportKind::Race && report.text.severity == Severity::Error) {
          races.try_emplace({report.producer, report.consumer}, std::move(report.text));
        }
      }
      return !isAllShown();
    });
  }

  bool isAllShown() const {
    return std::ranges::all_of(
        held.open, [&](size_t d) { return races.contains(pairOf(held.asked.deps[d])); });
  }

  static std::pair<InstrId, InstrId> pairOf(const DerivedDep &derived) {
    return {derived.dep.producer, derived.dep.consumer};
  }

  void look(const DerivedDep &derived, Diagnostics &diagnostics) {
    Location where = kernel.instrs[derived.dep.consumer].where;
    auto race = races.find(pairOf(derived));
    if (race != races.end()) {
      diagnostics
          .error(where, fmt::format("the dependences that are written do not imply {}, and the "
                                    "code races for that; write it, or none, so that all of them "
                                    "are found",
                                    describe(derived)))
          .note(race->second.where, race->second.message);
      return;
    }
    diagnostics.remark(where, fmt::format("it is not seen that the dependences that are written "
                                          "imply {}, which accesses ask for",
                                          describe(derived)));
  }

  const Kernel &kernel;
  const Code &code;
  const Machine &machine;
  const Held &held;
  std::map<std::pair<InstrId, InstrId>, Diagnostic> races; ///< the first that is seen of each pair
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
