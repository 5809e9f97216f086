//===- PlanPropertyTest.cpp - Plans against the definition ----------------===//
//
// For random legal programs and every strategy without barriers: at each run of a
// consumer, the planned threshold is what enumeration asks for. Exact waits must be equal; the
// others at least that, and at most what their carrying loop alone would give, which
// never includes a run still to come.
//
//===----------------------------------------------------------------------===//

#include "Counts.h"
#include "oracle/Campaign.h"
#include "oracle/PlanComparison.h"

#include "tally/Model/Check.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

using namespace tally;
using namespace tally::oracle;

namespace {

const uint32_t numPrograms = test::numKernels(15'000, 100'000);
constexpr Strategy strategies[] = {Strategy::PerInstruction, Strategy::PerLoop, Strategy::PerEngine,
                                   Strategy::Auto};

/// A plan of `program`, or what is wrong with it. Neither, where engines disagree and a wait that
/// is longer than it has to be might never end.
struct Planned {
  std::optional<SyncPlan> plan;
  std::string problem;
};

Planned planOf(const RandomCodeCase &code, Strategy strategy) {
  PlanDecisions options = optionsOf(code, strategy);
  options.fold = code.seed % 2 == 0;
  Diagnostics diagnostics;
  SyncPlan plan = makePlan(code.kernel, options, diagnostics);
  if (diagnostics.hasErrors()) {
    std::string errors = render(diagnostics, {});
    bool mayRefuse = !code.agreeing() && errors.find("might wait forever") != std::string::npos;
    return {{}, mayRefuse ? "" : "no plan: " + errors};
  }
  Diagnostics faults;
  verifyPlan(code.kernel, plan, faults);
  std::string problem = faults.hasErrors() ? "verifyPlan: " + render(faults, {}) : "";
  return {std::move(plan), problem};
}

/// Registers suffice for most classes; a plan must not be conservative there.
std::optional<std::string> findNeedlesslyInexact(const Kernel &kernel, const SyncPlan &plan) {
  for (DepId dep : kernel.deps.ids()) {
    DepClass depClass = classOf(kernel, kernel.deps[dep]);
    if (!plan.waits[dep].exact &&
        expectsExact(depClass, plan.sharesQueue(kernel.deps[dep].producer),
                     plan.decisions.constantTrips)) {
      return fmt::format("dependence {} is {}, but its wait is not exact", dep.value,
                         toString(depClass));
    }
  }
  return {};
}

void examine(const RandomCodeCase &code, Strategy strategy, Findings &findings) {
  Planned planned = planOf(code, strategy);
  std::string what = planned.problem;
  if (what.empty() && planned.plan) {
    what = comparePlan(code.kernel, *planned.plan, code.bindings, code.definitions).value_or("");
  }
  if (what.empty() && planned.plan) {
    what = findNeedlesslyInexact(code.kernel, *planned.plan).value_or("");
  }
  if (!what.empty()) {
    std::string context = planned.plan ? dump(code.kernel, *planned.plan) : "";
    findings.add(code, std::string(toString(strategy)), what, context);
  }
}

} // namespace

/// Under divergence only the per-engine strategy needs agreement; the definition counts on the
/// consumer's engine, and so do the others.
TEST(PlanPropertyTest, thresholdsAreWhatTheDefinitionAsksFor) {
  Findings findings;
  Coverage coverage;
  fuzz::Range seeds = seedsOf(numPrograms);
  for (uint64_t seed = seeds.min; seed <= seeds.max && !findings.enough(); ++seed) {
    RandomCodeCase code(seed, optionsForSeed(seed));
    ASSERT_FALSE(code.cutOff()) << "seed " << seed << " is too long a run";
    coverage.add(code);
    for (Strategy strategy : strategies) {
      if (strategy != Strategy::PerEngine || code.agreeing()) {
        examine(code, strategy, findings);
      }
    }
  }
  EXPECT_EQ(findings.count(), 0u) << findings.report("SyncTests", "PlanPropertyTest.*");
  for (size_t i = 0; i < numDepClasses && !seedsAreChosen(); ++i) {
    EXPECT_GE(coverage.of(static_cast<DepClass>(i)), numPrograms / 100) << coverage.text();
  }
}

/// The oracle's own bounds: no wait may need more than its carrying loop gives, and
/// none a run that comes later in sequence, for such a wait would never end.
TEST(PlanPropertyTest, needsNeverReachAhead) {
  for (uint64_t seed = 0; seed < 20000; ++seed) {
    RandomCodeCase code(seed, optionsForSeed(seed));
    for (const Definition &definition : code.definitions) {
      for (DepId dep : code.kernel.deps.ids()) {
        for (const Need &need : definition.needs(dep)) {
          ASSERT_LE(need.runs, need.ceiling) << "seed " << seed << " dependence " << dep.value;
          ASSERT_LE(need.ceiling, need.before) << "seed " << seed << " dependence " << dep.value;
        }
      }
    }
  }
}

/// comparePlan() checks what dominates() claims; here, that it claims something.
TEST(PlanPropertyTest, someWaitsDominateOthers) {
  uint32_t found = 0;
  for (uint64_t seed = 0; seed < 5000; ++seed) {
    RandomCodeCase code(seed, optionsForSeed(seed));
    const Kernel &kernel = code.kernel;
    Planned planned = planOf(code, Strategy::PerLoop);
    for (DepId a : kernel.deps.ids()) {
      for (DepId b : kernel.deps.ids()) {
        found += a < b && kernel.deps[a].consumer == kernel.deps[b].consumer &&
                 planned.plan->waits[a].group.valid() && planned.plan->waits[b].group.valid() &&
                 dominates(kernel, *planned.plan, a, b);
      }
    }
  }
  EXPECT_GE(found, 200u);
}

/// How often a wait that knows only the carrying loop is longer than it has to be. It asks for all
/// of the target iteration, which is seldom much more than what is owed.
TEST(PlanPropertyTest, conservativeWaitsAreSometimesTooLong) {
  uint64_t deps = 0, conservative = 0, runs = 0, late = 0, tooMany = 0;
  fuzz::Range seeds = seedsOf(numPrograms);
  for (uint64_t seed = seeds.min; seed <= seeds.max; ++seed) {
    RandomCodeCase code(seed, optionsForSeed(seed));
    Planned planned = planOf(code, Strategy::PerLoop);
    ASSERT_EQ(planned.problem, "") << "seed " << seed;
    if (!planned.plan) {
      continue;
    }
    for (DepId dep : code.kernel.deps.ids()) {
      ++deps;
      if (planned.plan->waits[dep].waitClass != WaitClass::Conservative) {
        continue;
      }
      ++conservative;
      EngineId engine = code.kernel.engineOf(code.kernel.deps[dep].consumer);
      for (const Need &need : code.definitions[engine.value].needs(dep)) {
        ++runs;
        late += need.ceiling > need.runs;
        tooMany += need.ceiling - need.runs;
      }
    }
  }
  fmt::print("conservative: {} of {} dependences; of {} runs of their consumers {} ({:.1f} %) wait "
             "longer than they have to, by {:.1f} runs of the producer on average\n",
             conservative, deps, runs, late, 100.0 * double(late) / double(runs),
             double(tooMany) / double(late));
  if (!seedsAreChosen()) {
    EXPECT_GE(conservative * 100, deps);
    EXPECT_GE(late, 1000u);
    EXPECT_LE(late * 2, runs);
  }
}
