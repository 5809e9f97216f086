//===- RaceDeadlock.cpp - Who waits for whom ------------------------------===//
//
// Nobody can go on: either engines wait for each other in a cycle, or one waits for a semaphore
// that nobody raises any more, and the others behind it.
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

  RaceReport report() {
    RaceReport report;
    report.kind = ReportKind::Deadlock;
    std::vector<EngineId> chain = chainOfWaits();
    EngineId start = chain.front();
    report.text.where = whereAt(start, state.at[start]);
    report.text.message = "deadlock: " + waitText(start);
    for (EngineId engine : chain) {
      report.text.note(whereAt(engine, state.at[engine]), helpText(engine));
    }
    addOthers(report, chain);
    report.facts.emplace_back("engine", std::string(kernel.nameOf(start)));
    report.facts.emplace_back("cycle", isCycle ? chainText(chain) : "");
    if (isCycle) {
      report.text.note(report.text.where, "the cycle: " + chainText(chain));
    }
    return report;
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

  /// From a blocked engine to one that could help it, and on, until one comes again (a cycle) or
  /// nobody can help.
  std::vector<EngineId> chainOfWaits() {
    std::vector<EngineId> best;
    for (EngineId start : kernel.engines.ids()) {
      if (!isBlocked(start)) {
        continue;
      }
      std::vector<EngineId> chain;
      EngineId engine = start;
      bool cycle = false;
      while (true) {
        auto seen = std::find(chain.begin(), chain.end(), engine);
        if (seen != chain.end()) {
          chain.erase(chain.begin(), seen);
          cycle = true;
          break;
        }
        chain.push_back(engine);
        auto helpers = helpersOf(system.whyBlocked(state, engine).semaphore);
        if (helpers.empty()) {
          chain = {engine}; // starved: the others only wait behind it
          break;
        }
        engine = helpers.front().first;
      }
      if (best.empty() || (!cycle && isCycle)) {
        best = chain;
        isCycle = cycle;
      }
    }
    return best;
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

  void addOthers(RaceReport &report, const std::vector<EngineId> &chain) const {
    for (EngineId engine : kernel.engines.ids()) {
      bool isNamed = std::find(chain.begin(), chain.end(), engine) != chain.end();
      if (isBlocked(engine) && !isNamed) {
        report.text.note(whereAt(engine, state.at[engine]), "also stuck: " + waitText(engine));
      }
    }
  }

  const ImplState &state;
  bool isCycle = false;
};

} // namespace

RaceReport deadlockOf(const RaceSubject &subject, const ImplState &state) {
  return DeadlockStory(subject, state).report();
}

} // namespace tally
