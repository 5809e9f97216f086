//===- Decisions.cpp - What compilation decides for one kernel ------------===//

#include "tally/Compile/Decisions.h"

#include <fmt/format.h>

#include <algorithm>

namespace tally {

Decisions decisionsFor(const Request &request, const PlanNeeds &needs, const Machine &machine) {
  Decisions decisions;
  decisions.plan.strategy = request.strategy;
  decisions.plan.participants = request.participants;
  decisions.plan.fold = request.fold;
  decisions.plan.constantTrips = request.constantTrips;
  decisions.plan.resets = needs.resets;
  decisions.plan.leftOut = needs.leftOut;
  decisions.plan.counterLimit = machine.counterLimit();
  decisions.lower.licm = request.licm;
  decisions.lower.cse = request.cse;
  decisions.lower.keepCounters = request.keepCounters;
  decisions.lower.threads = request.threads;
  return decisions;
}

//===----------------------------------------------------------------------===//
// Verify
//===----------------------------------------------------------------------===//

namespace {

class DecisionVerifier {
public:
  DecisionVerifier(const Kernel &kernel, const Decisions &decisions, const Machine &machine,
                   Diagnostics &diagnostics)
      : kernel(kernel), plan(decisions.plan), lower(decisions.lower), machine(machine),
        diagnostics(diagnostics) {}

  void run() {
    verifySize("sharing", plan.sharing.size(), kernel.instrs.size());
    verifySize("remembered", plan.remembered.size(), kernel.deps.size());
    verifySize("recomputes", lower.recomputes.size(), kernel.engines.size());
    if (plan.counterLimit != machine.counterLimit()) {
      error("counters end at {}, but those of machine '{}' at {}", plan.counterLimit, machine.name,
            machine.counterLimit());
    }
    if (!plan.sharing.empty() && plan.strategy != Strategy::Auto) {
      error("strategy '{}' leaves no choice which instructions share a semaphore",
            toString(plan.strategy));
    }
    verifySize("twins", plan.twins.size(), kernel.instrs.size());
    for (InstrId instr : plan.sharing.ids()) {
      if (plan.sharing[instr] == Sharing::Join && !hasTwin(instr)) {
        error("'{}' is joined with no instruction that is joined with it", kernel.nameOf(instr));
      }
    }
    if (std::ranges::any_of(plan.remembered, [](uint32_t n) { return n > mostRemembered; })) {
      error("a ring remembers at most {} iterations", mostRemembered);
    }
    verifyResets();
  }

private:
  bool hasTwin(InstrId instr) const {
    InstrId twin = plan.twins.empty() ? InstrId() : plan.twins[instr];
    return twin.valid() && plan.sharing[twin] == Sharing::Join && plan.twins[twin] == instr;
  }

  template <typename... Args> void error(fmt::format_string<Args...> text, Args &&...args) {
    diagnostics.error(kernel.where, "decisions: " + fmt::format(text, std::forward<Args>(args)...));
  }

  void verifySize(std::string_view table, size_t size, size_t expected) {
    if (size != 0 && size != expected) {
      error("table '{}' has {} entries, expected {} or none", table, size, expected);
    }
  }

  void verifyResets() {
    if (!plan.resets.empty() && !countsAtRunTime(plan.strategy)) {
      error("strategy '{}' has no counters to reset", toString(plan.strategy));
    }
    LoopId last = rootLoop;
    for (const ResetPoint &point : plan.resets) {
      if (point.loop.value >= kernel.loops.size() ||
          kernel.loops[point.loop].kind != LoopKind::Loop) {
        error("there is no loop {} to reset counters in", point.loop.value);
      } else if (point.loop <= last) {
        error("resets of '{}' are out of order", kernel.nameOf(point.loop));
      }
      last = std::max(last, point.loop);
    }
  }

  const Kernel &kernel;
  const PlanDecisions &plan;
  const LowerDecisions &lower;
  const Machine &machine;
  Diagnostics &diagnostics;
};

} // namespace

void verifyDecisions(const Kernel &kernel, const Decisions &decisions, const Machine &machine,
                     Diagnostics &diagnostics) {
  DecisionVerifier(kernel, decisions, machine, diagnostics).run();
}

//===----------------------------------------------------------------------===//
// Dump
//===----------------------------------------------------------------------===//

static std::string flagsText(const Decisions &decisions) {
  const std::pair<std::string_view, bool> flags[] = {
      {"fold", decisions.plan.fold},
      {"constant-trips", decisions.plan.constantTrips},
      {"licm", decisions.lower.licm},
      {"cse", decisions.lower.cse},
      {"keep-counters", decisions.lower.keepCounters},
      {"native-counters", decisions.lower.nativeCounters},
      {"step-thresholds", decisions.lower.stepThresholds},
      {"count-at-once", decisions.lower.countAtOnce}};
  std::string text;
  for (const auto &[name, isSet] : flags) {
    text += isSet ? fmt::format(" {}", name) : "";
  }
  return text;
}

std::string dump(const Kernel &kernel, const Decisions &decisions) {
  const PlanDecisions &plan = decisions.plan;
  std::string text =
      fmt::format("decisions for strategy '{}', {} meet, counters end at {}\n  with{}\n",
                  toString(plan.strategy),
                  plan.participants == Participants::All ? "all engines" : "those at work",
                  plan.counterLimit, flagsText(decisions));
  for (const ResetPoint &point : plan.resets) {
    text += fmt::format("  reset in '{}' every {}\n", kernel.nameOf(point.loop), point.every);
  }
  for (InstrId instr : plan.sharing.ids()) {
    if (plan.sharing[instr] != Sharing::Body) {
      text += fmt::format("  '{}' shares with {}\n", kernel.nameOf(instr),
                          toString(plan.sharing[instr]));
    }
  }
  for (DepId dep : plan.remembered.ids()) {
    if (plan.remembered[dep] != mostRemembered) {
      text += fmt::format("  {} remembers {}\n", describe(kernel, dep), plan.remembered[dep]);
    }
  }
  for (EngineId engine : decisions.lower.recomputes.ids()) {
    if (decisions.lower.recomputes[engine]) {
      text += fmt::format("  '{}' recomputes thresholds\n", kernel.nameOf(engine));
    }
  }
  return text;
}

} // namespace tally
