//===- RaceDeadlock.cpp - Who waits for whom ------------------------------===//
//
// No engine can go on. Draw an arrow from each blocked engine to those that could still raise what
// it waits for; from one that they could not help, all their raises being too few, draw none. What
// no arrow leaves, a cycle or a single engine, is a cause: nothing outside can end it. All others
// are stuck behind a cause.
//
//===----------------------------------------------------------------------===//

#include "RaceReports.h"
#include "RaceStory.h"

#include <fmt/format.h>

#include <algorithm>

namespace tally {
namespace {

/// Who is blocked, and who could help.
class DeadlockStory : Story {
public:
  DeadlockStory(const RaceSubject &subject, const ImplState &state)
      : Story(subject), state(state) {}

  std::vector<RaceReport> reports() {
    findCauses();
    std::vector<RaceReport> reports;
    for (EngineId cause : causes) {
      reports.push_back(reportOf(cause));
    }
    return reports;
  }

private:
  bool isBlocked(EngineId engine) const {
    return system.whyBlocked(state, engine).kind == Blocked::Kind::Wait;
  }

  /// Engines that raise the semaphore later in their code, and by how much in all.
  std::vector<std::pair<EngineId, uint64_t>> helpersOf(SemaId semaphore) const {
    std::vector<std::pair<EngineId, uint64_t>> helpers;
    for (EngineId engine : kernel.engines.ids()) {
      uint64_t amount = 0;
      for (uint32_t at = state.at[engine]; at < points(engine).size(); ++at) {
        const Op &op = opAt(engine, at);
        bool raises = op.kind == OpKind::Issue || op.kind == OpKind::Signal;
        amount += raises && op.signal == semaphore ? op.amount : 0;
      }
      if (amount != 0) {
        helpers.emplace_back(engine, amount);
      }
    }
    return helpers;
  }

  /// Whether all that can still come is too little.
  bool isBeyondHelp(EngineId engine) const {
    Blocked blocked = system.whyBlocked(state, engine);
    auto helpers = helpersOf(blocked.semaphore);
    uint64_t value = blocked.value;
    for (const auto &[helper, amount] : helpers) {
      value += amount;
    }
    bool isCounted = !isReset(blocked.semaphore);
    return helpers.empty() || (isCounted && value < blocked.threshold);
  }

  void drawArrows() {
    isAlone = IdVector<EngineId, bool>(kernel.engines.size(), false);
    for (EngineId engine : kernel.engines.ids()) {
      arrows.push({});
      isAlone[engine] = isBlocked(engine) && isBeyondHelp(engine);
      if (isBlocked(engine) && !isAlone[engine]) {
        for (const auto &[helper, amount] : helpersOf(system.whyBlocked(state, engine).semaphore)) {
          arrows[engine].push_back(helper);
        }
      }
    }
  }

  /// Those that arrows lead to, itself included.
  IdVector<EngineId, bool> reachedFrom(EngineId engine) const {
    IdVector<EngineId, bool> reached(kernel.engines.size(), false);
    std::vector<EngineId> todo = {engine};
    reached[engine] = true;
    while (!todo.empty()) {
      EngineId from = todo.back();
      todo.pop_back();
      for (EngineId to : arrows[from]) {
        if (!reached[to]) {
          reached[to] = true;
          todo.push_back(to);
        }
      }
    }
    return reached;
  }

  /// One engine of each cause, those beyond help first, and for all others the cause that they are
  /// stuck behind.
  void findCauses() {
    drawArrows();
    IdVector<EngineId, IdVector<EngineId, bool>> reached;
    for (EngineId engine : kernel.engines.ids()) {
      reached.push(reachedFrom(engine));
    }
    causeOf = IdVector<EngineId, EngineId>(kernel.engines.size());
    for (EngineId engine : kernel.engines.ids()) {
      bool isLast = isBlocked(engine) && !causeOf[engine].valid();
      for (EngineId other : kernel.engines.ids()) {
        isLast = isLast && (!reached[engine][other] || reached[other][engine]);
      }
      for (EngineId other : kernel.engines.ids()) {
        if (isLast && isBlocked(other) && reached[other][engine] && !causeOf[other].valid()) {
          causeOf[other] = engine;
        }
      }
      if (isLast) {
        causes.push_back(engine);
      }
    }
    std::stable_partition(causes.begin(), causes.end(),
                          [this](EngineId engine) { return isAlone[engine]; });
  }

  /// From an engine along the first arrows until one comes again, which closes a cycle; or the
  /// engine alone.
  std::vector<EngineId> chainFrom(EngineId engine) const {
    std::vector<EngineId> chain;
    while (true) {
      auto seen = std::find(chain.begin(), chain.end(), engine);
      if (seen != chain.end()) {
        chain.erase(chain.begin(), seen);
        return chain;
      }
      chain.push_back(engine);
      if (arrows[engine].empty()) {
        return chain;
      }
      engine = arrows[engine].front();
    }
  }

  RaceReport reportOf(EngineId cause) const {
    RaceReport report;
    report.kind = ReportKind::Deadlock;
    std::vector<EngineId> chain = chainFrom(cause);
    bool isCycle = !isAlone[cause];
    EngineId start = chain.front();
    report.text.where = whereAt(start, state.at[start]);
    report.text.message = "deadlock: " + waitText(start);
    for (EngineId engine : chain) {
      report.text.note(whereAt(engine, state.at[engine]), helpText(engine));
      Blocked blocked = system.whyBlocked(state, engine);
      report.stuck.push_back({engine, points(engine)[state.at[engine]].op, blocked.semaphore,
                              blocked.value, blocked.threshold});
    }
    addOthers(report, chain, cause);
    report.facts.emplace_back("engine", std::string(kernel.nameOf(start)));
    report.facts.emplace_back("cycle", isCycle ? chainText(chain) : "");
    if (isCycle) {
      report.text.note(report.text.where, "the cycle: " + chainText(chain));
    }
    return report;
  }

  std::string waitText(EngineId engine) const {
    Blocked blocked = system.whyBlocked(state, engine);
    std::string iteration = iterationAt(engine, state.at[engine]);
    std::string note = registerNote(engine, state.at[engine]);
    return fmt::format(
        "{} waits for '{}' >= {}, which holds {}{}{}", operationText(engine, state.at[engine]),
        sema(blocked.semaphore), blocked.threshold, blocked.value,
        iteration.empty() ? "" : ", in " + iteration, note.empty() ? "" : "; " + note);
  }

  std::string helpText(EngineId engine) const {
    Blocked blocked = system.whyBlocked(state, engine);
    auto helpers = helpersOf(blocked.semaphore);
    if (helpers.empty()) {
      return fmt::format("nobody raises '{}' any more", sema(blocked.semaphore));
    }
    std::string text = fmt::format("'{}' could still be raised", sema(blocked.semaphore));
    for (const auto &[helper, amount] : helpers) {
      text += fmt::format(" by '{}' (by {} in all)", kernel.nameOf(helper), amount);
    }
    if (isAlone[engine]) {
      return text + ", which is not enough";
    }
    EngineId next = helpers.front().first;
    return next == engine ? text + ", which is this engine, later in its code"
                          : text + ", but there " + waitText(next);
  }

  std::string chainText(const std::vector<EngineId> &chain) const {
    std::string text;
    for (EngineId engine : chain) {
      text += fmt::format("'{}' waits for ", kernel.nameOf(engine));
    }
    return text + fmt::format("'{}'", kernel.nameOf(chain.front()));
  }

  void addOthers(RaceReport &report, const std::vector<EngineId> &chain, EngineId cause) const {
    for (EngineId engine : kernel.engines.ids()) {
      bool isNamed = std::find(chain.begin(), chain.end(), engine) != chain.end();
      if (isBlocked(engine) && !isNamed && causeOf[engine] == cause) {
        report.text.note(whereAt(engine, state.at[engine]), "stuck behind it: " + waitText(engine));
      }
    }
  }

  const ImplState &state;
  IdVector<EngineId, std::vector<EngineId>> arrows;
  IdVector<EngineId, bool> isAlone; ///< blocked, beyond help
  std::vector<EngineId> causes;
  IdVector<EngineId, EngineId> causeOf;
};

} // namespace

std::vector<RaceReport> deadlocksOf(const RaceSubject &subject, const ImplState &state) {
  return DeadlockStory(subject, state).reports();
}

} // namespace tally
