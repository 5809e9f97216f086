//===- ChooseTest.cpp - Does 'auto' choose well, and within the limits? ---===//
//
// By the price of the code: never more than per-loop, and on small kernels as little as any way of
// sharing gives, found by trying them all. By what the code does: the property tests compare code
// with random sharing; here, with the sharing that was chosen.
//
//===----------------------------------------------------------------------===//

#include "oracle/Campaign.h"
#include "oracle/CodeComparison.h"
#include "oracle/PlanComparison.h"

#include "tally/Code/ControlCost.h"
#include "tally/Compile/Choose.h"
#include "tally/Model/Check.h"
#include "tally/Model/KernelBuilder.h"
#include "tally/Sync/Joins.h"
#include "tally/Written/Text.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

using namespace tally;
using namespace tally::oracle;

namespace {

struct Coded {
  SyncPlan plan;
  Code code;
  double cost = 0;
};

std::optional<Coded> program(const Kernel &kernel, const Decisions &options,
                             const Machine &machine) {
  Diagnostics diagnostics;
  Coded coded;
  coded.plan = makePlan(kernel, options.plan, diagnostics);
  if (diagnostics.hasErrors()) {
    return std::nullopt;
  }
  coded.code = lower(kernel, coded.plan, machine, options.lower, diagnostics);
  coded.cost = controlCost(kernel, coded.code, machine);
  return diagnostics.hasErrors() ? std::nullopt : std::optional(std::move(coded));
}

Decisions optionsFor(Strategy strategy) {
  return decisionsFor({.strategy = strategy}, {}, genericMachine());
}

Machine wrappingMachine() {
  Machine machine = genericMachine();
  machine.subtraction = Subtraction::Wraps;
  return machine;
}

/// Code here is made without resets, so what these cost does not count.
Decisions chosen(const Kernel &kernel, const Machine &machine) {
  Diagnostics diagnostics;
  Search search;
  return choose(kernel, {.strategy = Strategy::Auto, .overflow = Overflow::Assume}, {}, machine,
                diagnostics, search);
}

/// The instructions that somebody waits for, by body and queue, where there are several.
std::vector<std::vector<InstrId>> setsOf(const Kernel &kernel) {
  std::map<std::pair<uint32_t, uint32_t>, std::vector<InstrId>> sets;
  for (InstrId id : kernel.instrs.ids()) {
    bool waitedFor = std::any_of(kernel.deps.begin(), kernel.deps.end(),
                                 [&](const Dep &dep) { return dep.producer == id; });
    if (waitedFor) {
      const Instr &instr = kernel.instrs[id];
      sets[{instr.home.value, instr.queue.value}].push_back(id);
    }
  }
  std::vector<std::vector<InstrId>> several;
  for (auto &[key, members] : sets) {
    if (members.size() > 1) {
      several.push_back(members);
    }
  }
  return several;
}

/// Two in both branches of an `if` that may have one semaphore.
std::vector<std::pair<InstrId, InstrId>> joinsOf(const Kernel &kernel) {
  std::vector<std::pair<InstrId, InstrId>> joins;
  const IdVector<InstrId, InstrId> twins = findJoins(kernel);
  for (InstrId id : twins.ids()) {
    if (twins[id].valid() && id < twins[id]) {
      joins.emplace_back(id, twins[id]);
    }
  }
  return joins;
}

/// The least cost of any sharing: every set alone or shared, all combinations, and as 'per-loop'.
double leastCost(const Kernel &kernel, const Machine &machine, const Decisions &like) {
  std::vector<std::vector<InstrId>> sets = setsOf(kernel);
  std::vector<std::pair<InstrId, InstrId>> joins = joinsOf(kernel);
  double least = HUGE_VAL;
  auto consider = [&](Decisions options) {
    for (bool step : {false, true}) {
      options.lower.stepThresholds = step;
      least = std::min(least, program(kernel, options, machine)->cost);
    }
  };
  Decisions options = like;
  options.plan.sharing.assign(kernel.instrs.size(), Sharing::Body);
  consider(options);
  for (uint64_t choice = 0; choice < uint64_t(1) << (sets.size() + joins.size()); ++choice) {
    options.plan.sharing.assign(kernel.instrs.size(), Sharing::None);
    for (size_t s = 0; s < sets.size(); ++s) {
      for (InstrId member : sets[s]) {
        options.plan.sharing[member] = choice >> s & 1 ? Sharing::Body : Sharing::None;
      }
    }
    for (size_t j = 0; j < joins.size(); ++j) {
      if (choice >> (sets.size() + j) & 1) {
        options.plan.sharing[joins[j].first] = options.plan.sharing[joins[j].second] =
            Sharing::Join;
      }
    }
    consider(options);
  }
  return least;
}

/// `count` producers of one queue in loop A, the consumer waits for each.
Kernel fan(uint32_t count, uint32_t bodies = 1) {
  KernelBuilder b("k");
  QueueId producer = b.queueOf(b.engine("p"));
  QueueId consumer = b.queueOf(b.engine("c"));
  for (uint32_t body = 0; body < bodies; ++body) {
    b.beginLoop(fmt::format("A{}", body), KernelBuilder::constant(10));
    std::vector<std::pair<InstrId, InstrId>> pairs;
    pairs.reserve(count);
    for (uint32_t i = 0; i < count; ++i) {
      pairs.push_back({b.instr(fmt::format("p{}_{}", body, i), producer),
                       b.instr(fmt::format("c{}_{}", body, i), consumer)});
    }
    b.endLoop();
    for (auto [from, to] : pairs) {
      b.dep(from, to, {});
    }
  }
  return b.finish();
}

} // namespace

/// loop A, ten times: one engine runs it, the other counts in it, too. Each operation costs one, as
/// often as its body is entered: begin 1 and end 10 of each loop, 1 to start the count, 10 to
/// count.
TEST(ChooseTest, thePriceIsThatOfAllRuns) {
  Machine machine = genericMachine();
  EXPECT_EQ(program(fan(1), optionsFor(Strategy::PerLoop), machine).value().cost,
            2 * (1 + 10) + 1 + 10);
}

TEST(ChooseTest, isNeverDearerThanPerLoop) {
  double cheaper = 0;
  double compared = 0;
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    RandomCodeCase code(seed, optionsForSeed(seed));
    for (const Machine &machine : {genericMachine(), wrappingMachine()}) {
      std::optional<Coded> perLoop = program(code.kernel, optionsFor(Strategy::PerLoop), machine);
      std::optional<Coded> best = program(code.kernel, chosen(code.kernel, machine), machine);
      ASSERT_TRUE(perLoop && best) << "seed " << seed;
      ASSERT_LE(best->cost, perLoop->cost) << "seed " << seed << "\n" << dump(code.kernel);
      cheaper += best->cost < perLoop->cost;
      ++compared;
    }
  }
  EXPECT_GE(cheaper / compared, 0.5);
}

/// As cheap as the best of all combinations of the sets' choices; hardly ever a little dearer, as
/// one set is changed after the other.
TEST(ChooseTest, isAsCheapAsAnySharing) {
  uint32_t compared = 0;
  uint32_t missed = 0;
  double worst = 1;
  for (uint64_t seed = 0; seed < 4000; ++seed) {
    RandomCodeCase code(seed, optionsForSeed(seed));
    size_t numSets = setsOf(code.kernel).size();
    if (numSets + joinsOf(code.kernel).size() == 0 || numSets > 6) {
      continue;
    }
    Machine machine = seed % 2 == 0 ? genericMachine() : wrappingMachine();
    Decisions options = chosen(code.kernel, machine);
    double cost = program(code.kernel, options, machine).value().cost;
    double least = leastCost(code.kernel, machine, options);
    ASSERT_GE(cost, least);
    ++compared;
    missed += cost > least;
    worst = std::max(worst, cost / least);
  }
  EXPECT_GE(compared, 500u);
  EXPECT_LE(missed * 500, compared) << "at worst " << worst << " times the least";
  EXPECT_LE(worst, 1.05);
}

/// The code with the sharing that was chosen waits for what the definition asks for.
TEST(ChooseTest, chosenCodeIsRight) {
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    RandomCodeCase code(seed, optionsForSeed(seed));
    Machine machine = seed % 2 == 0 ? genericMachine() : wrappingMachine();
    machine.semaphores = static_cast<uint32_t>(1 + seed % 7);
    std::optional<Coded> coded = program(code.kernel, chosen(code.kernel, machine), machine);
    ASSERT_TRUE(coded) << "seed " << seed;
    std::optional<std::string> difference =
        compareCode(code.kernel, coded->code, machine, code.bindings, code.definitions,
                    allowancesOf(code.kernel, coded->plan), /*written=*/false);
    ASSERT_FALSE(difference) << "seed " << seed << ": " << *difference;
  }
}

/// Semaphores of one's own, as long as there are enough; one fewer, and the loop shares one.
TEST(ChooseTest, semaphoresEndAndOneBodyShares) {
  Kernel kernel = fan(3, 2);
  Machine machine = genericMachine();
  machine.semaphores = 6;
  EXPECT_EQ(program(kernel, chosen(kernel, machine), machine)->code.semaphores.size(), 6u);

  machine.semaphores = 5;
  Diagnostics diagnostics;
  Search search;
  Decisions options =
      choose(kernel, {.strategy = Strategy::Auto}, {}, machine, diagnostics, search);
  EXPECT_EQ(program(kernel, options, machine)->code.semaphores.size(), 4u);
  ASSERT_EQ(diagnostics.all().size(), 1u);
  EXPECT_EQ(diagnostics.all()[0].severity, Severity::Remark);
  EXPECT_EQ(diagnostics.all()[0].message,
            "the cheapest plan needs 6 semaphores, but machine 'generic' has 5; 1 body shares one "
            "semaphore for a queue");
}

/// One for each body is too many: the queue has one for all.
TEST(ChooseTest, bodiesEndAndTheQueueShares) {
  Kernel kernel = fan(2, 4);
  Machine machine = genericMachine();
  machine.semaphores = 4;
  EXPECT_EQ(program(kernel, chosen(kernel, machine), machine)->code.semaphores.size(), 4u);

  machine.semaphores = 3;
  Diagnostics diagnostics;
  Search search;
  Decisions options =
      choose(kernel, {.strategy = Strategy::Auto}, {}, machine, diagnostics, search);
  EXPECT_EQ(program(kernel, options, machine)->code.semaphores.size(), 1u);
  ASSERT_EQ(diagnostics.all().size(), 1u);
  EXPECT_NE(diagnostics.all()[0].message.find("one counts all of queue 'p'"), std::string::npos);
}

/// A loop whose consumer waits for what is before it in the same iteration needs no operation at
/// all beside the loop.
TEST(ChooseTest, theLoopCounterIsTheThreshold) {
  Kernel kernel = fan(1);
  Machine machine = wrappingMachine();
  std::optional<Coded> coded = program(kernel, chosen(kernel, machine), machine);
  for (const EngineProgram &engine : coded->code.engines) {
    for (const Op &op : engine.ops) {
      EXPECT_NE(op.kind, OpKind::Alu);
    }
  }
}

/// How many operations compute in the innermost loop of a consumer that waits for transfers there;
/// with another wait that reads the plain count, in a loop around it or alone.
size_t numOpsWaitingForTransfers(bool isNested, bool otherReadsCount) {
  KernelBuilder b("k");
  b.engine("d");
  QueueId dma = b.queue("dma", 16);
  QueueId p = b.queueOf(b.engine("p"));
  EngineId consumer = b.engine("c");
  if (isNested) {
    b.beginLoop("O", b.value("m"));
  }
  b.beginLoop("A", b.value("n"));
  InstrId transfer = b.instr("T", dma);
  InstrId other = b.instr("P", p);
  InstrId c = b.instr("C", b.queueOf(consumer));
  b.endLoop();
  if (isNested) {
    b.endLoop();
  }
  b.dep(transfer, c, {});
  if (otherReadsCount) {
    b.dep(other, c, {});
  }
  Kernel kernel = b.finish();
  std::optional<Coded> coded = program(kernel, chosen(kernel, genericMachine()), genericMachine());
  size_t count = 0;
  size_t depth = 0;
  for (const Op &op : coded->code.engines[consumer].ops) {
    depth += op.kind == OpKind::LoopBegin;
    depth -= op.kind == OpKind::LoopEnd;
    count += op.kind == OpKind::Alu && depth == (isNested ? 2 : 1);
  }
  return count;
}

/// 16 for each transfer: counted in sixteens where nobody reads the plain count; multiplied where
/// that is at hand.
TEST(ChooseTest, aCountThatOneThresholdReadsIsSteppedInItsPlace) {
  EXPECT_EQ(numOpsWaitingForTransfers(/*isNested=*/true, /*otherReadsCount=*/false), 1u);
  EXPECT_EQ(numOpsWaitingForTransfers(/*isNested=*/true, /*otherReadsCount=*/true), 2u);
  EXPECT_EQ(numOpsWaitingForTransfers(/*isNested=*/false, /*otherReadsCount=*/false), 1u);
}

/// What is not waited for raises nothing.
TEST(ChooseTest, onlyProducersSignal) {
  KernelBuilder b("k");
  QueueId producer = b.queueOf(b.engine("p"));
  QueueId consumer = b.queueOf(b.engine("c"));
  b.beginLoop("A", b.value("n"));
  b.instr("idle", producer);
  InstrId p = b.instr("P", producer);
  InstrId c = b.instr("C", consumer);
  b.endLoop();
  b.dep(p, c, {});
  Kernel kernel = b.finish();
  std::optional<Coded> coded = program(kernel, chosen(kernel, genericMachine()), genericMachine());
  EXPECT_FALSE(coded->plan.groupOf[InstrId(0)].valid());
  EXPECT_TRUE(coded->plan.groupOf[p].valid());
}
