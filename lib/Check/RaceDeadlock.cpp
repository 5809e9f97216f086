//===- RaceDeadlock.cpp - Which engine waits for which --------------------===//
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

using namespace check;

namespace {

/// Who is blocked, and who could help.
class DeadlockStory : Story {
public:
  DeadlockStory(const RaceSubject &subject, const ImplState &state)
      : Story(subject), state(state), isAlone(kernel.engines.size(), false),
        causeOf(kernel.engines.size()) {
    for (EngineId engine : kernel.engines.ids()) {
      blocked.push(system.whyBlocked(state, engine));
      helpers.push(isBlocked(engine) ? helpersOf(blocked[engine].semaphore) : Helpers());
      isAlone[engine] = isBlocked(engine) && isBeyondHelp(engine);
    }
  }

  std::vector<RaceReport> reports() {
    findCauses();
    std::vector<RaceReport> reports;
    for (EngineId cause : causes) {
      reports.push_back(reportOf(cause));
    }
    return reports;
  }

private:
  /// Engines that raise a semaphore later in their code, and by how much in all.
  using Helpers = std::vector<std::pair<EngineId, uint64_t>>;

  bool isBlocked(EngineId engine) const { return blocked[engine].kind == Blocked::Kind::Wait; }

  Helpers helpersOf(SemaId semaphore) const {
    Helpers found;
    for (EngineId engine : kernel.engines.ids()) {
      uint64_t amount = 0;
      for (uint32_t at = state.at[engine]; at < points(engine).size(); ++at) {
        const Op &op = opAt(engine, at);
        bool raises = op.kind == OpKind::Issue || op.kind == OpKind::Signal;
        amount += raises && op.signal == semaphore ? op.amount : 0;
      }
      if (amount != 0) {
        found.emplace_back(engine, amount);
      }
    }
    return found;
  }

  /// Whether all that can still come is too little.
  bool isBeyondHelp(EngineId engine) const {
    uint64_t value = blocked[engine].value;
    for (const auto &[helper, amount] : helpers[engine]) {
      value += amount;
    }
    return helpers[engine].empty() ||
           (!isReset(blocked[engine].semaphore) && value < blocked[engine].threshold);
  }

  /// Where arrows lead to.
  Helpers arrowsFrom(EngineId engine) const {
    return isAlone[engine] ? Helpers() : helpers[engine];
  }

  /// Those that arrows lead to, itself included.
  IdVector<EngineId, bool> reachedFrom(EngineId engine) const {
    IdVector<EngineId, bool> reached(kernel.engines.size(), false);
    std::vector<EngineId> todo = {engine};
    reached[engine] = true;
    while (!todo.empty()) {
      EngineId from = todo.back();
      todo.pop_back();
      for (const auto &[to, amount] : arrowsFrom(from)) {
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
    IdVector<EngineId, IdVector<EngineId, bool>> reached;
    for (EngineId engine : kernel.engines.ids()) {
      reached.push(reachedFrom(engine));
    }
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
    std::ranges::stable_partition(causes, [this](EngineId engine) { return isAlone[engine]; });
  }

  /// From an engine along the first arrows until one comes again, which closes a cycle; or the
  /// engine alone.
  std::vector<EngineId> chainFrom(EngineId engine) const {
    std::vector<EngineId> chain = {engine};
    while (!arrowsFrom(engine).empty()) {
      engine = arrowsFrom(engine).front().first;
      auto seen = std::ranges::find(chain, engine);
      if (seen != chain.end()) {
        chain.erase(chain.begin(), seen);
        break;
      }
      chain.push_back(engine);
    }
    return chain;
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
      const Blocked &wait = blocked[engine];
      report.stuck.push_back({engine, points(engine)[state.at[engine]].op, wait.semaphore,
                              wait.value, wait.threshold});
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
    const Blocked &wait = blocked[engine];
    std::string iteration = iterationAt(engine, state.at[engine]);
    std::string note = registerNote(engine, state.at[engine]);
    return fmt::format("{} waits for '{}' >= {}, which holds {}{}{}",
                       operationText(engine, state.at[engine]), sema(wait.semaphore),
                       wait.threshold, wait.value, iteration.empty() ? "" : ", in " + iteration,
                       note.empty() ? "" : "; " + note);
  }

  std::string helpText(EngineId engine) const {
    std::string_view name = sema(blocked[engine].semaphore);
    if (helpers[engine].empty()) {
      return fmt::format("nothing raises '{}' any more", name);
    }
    std::string text = fmt::format("'{}' could still be raised", name);
    for (const auto &[helper, amount] : helpers[engine]) {
      text += fmt::format(" by '{}' (by {} in all)", kernel.nameOf(helper), amount);
    }
    if (isAlone[engine]) {
      return text + ", which is not enough";
    }
    EngineId next = helpers[engine].front().first;
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
      if (isBlocked(engine) && causeOf[engine] == cause && std::ranges::count(chain, engine) == 0) {
        report.text.note(whereAt(engine, state.at[engine]), "stuck behind it: " + waitText(engine));
      }
    }
  }

  const ImplState &state;
  IdVector<EngineId, Blocked> blocked;
  IdVector<EngineId, Helpers> helpers; ///< of those that are blocked
  IdVector<EngineId, bool> isAlone;    ///< blocked, beyond help
  std::vector<EngineId> causes;
  IdVector<EngineId, EngineId> causeOf;
};

} // namespace

std::vector<RaceReport> check::deadlocksOf(const RaceSubject &subject, const ImplState &state) {
  return DeadlockStory(subject, state).reports();
}

} // namespace tally
