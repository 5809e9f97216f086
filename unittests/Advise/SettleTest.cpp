//===- SettleTest.cpp - Choices that a kernel leaves open -----------------===//

#include "tally/Compile/Settle.h"

#include "Rings.h"

#include "tally/Check/Race.h"
#include "tally/Compile/Compile.h"
#include "tally/Compile/Prepare.h"
#include "tally/Compile/Stopwatch.h"
#include "tally/Model/Check.h"
#include "tally/Model/Open.h"
#include "tally/Model/Rings.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

using namespace tally;

namespace {

Machine machineNamed(const std::string &name) {
  return *loadMachine(fmt::format("{}/{}.json", MACHINES_DIRECTORY, name)).machine;
}

std::optional<Compiled> quickly(const Kernel &kernel, const Machine &machine) {
  Diagnostics diagnostics;
  Extractor extractor;
  Kernel found = findAsked(kernel, {}, machine, extractor, diagnostics);
  return compile(found, {.improve = false}, machine, diagnostics);
}

Tick timeOf(const Kernel &kernel, const Machine &machine) {
  std::optional<Compiled> compiled = quickly(kernel, machine);
  EXPECT_TRUE(compiled);
  return *Stopwatch(kernel, machine).timeOf(compiled->code);
}

/// Leaves open what can be: queues of some instructions, and slots.
Kernel opened(Kernel kernel, fuzz::Random &random, uint32_t percent) {
  const IdVector<InstrId, bool> tied = tiedInstrs(kernel);
  for (InstrId id : kernel.instrs.ids()) {
    if (tied[id] || !random.percent(percent)) {
      continue;
    }
    std::vector<QueueId> others;
    for (QueueId queue : kernel.queues.ids()) {
      if (queue != kernel.instrs[id].queue && (others.empty() || random.percent(50))) {
        others.push_back(queue);
      }
    }
    kernel.openQueues.push_back({id, others});
  }
  const IdVector<BufferId, std::vector<AccessId>> accesses = accessesOf(kernel);
  for (BufferId id : kernel.buffers.ids()) {
    std::optional<SlotRing> ring = ringOf(kernel, accesses[id]);
    if (ring && random.percent(percent)) {
      const uint64_t slots = kernel.buffers[id].shape[ring->dim];
      kernel.buffers[id].ring =
          SlotBounds{random.percent(50) ? ring->least : slots, slots + random.in({0, 3})};
    }
  }
  return kernel;
}

Settled settle(const Kernel &kernel, const Machine &machine, const Request &request = {}) {
  Extractor extractor;
  Diagnostics diagnostics;
  return settle(kernel, request, machine, extractor, diagnostics);
}

std::string remarks(const Kernel &kernel, const Machine &machine, const Request &request) {
  Extractor extractor;
  Diagnostics diagnostics;
  settle(kernel, request, machine, extractor, diagnostics);
  return diagnostics.all().empty() ? "" : diagnostics.all()[0].message;
}

Verdict raceOf(const Kernel &kernel, const Machine &machine) {
  Diagnostics diagnostics;
  Extractor extractor;
  Kernel found = findAsked(kernel, {}, machine, extractor, diagnostics);
  std::optional<Compiled> compiled = compile(found, {}, machine, diagnostics);
  RaceOptions options;
  options.schedules = 2;
  return compiled ? checkRaces(found, compiled->code, machine, Bindings(found), options).verdict
                  : Verdict::Undecided;
}

/// Whatever is chosen was open, is legal and free of races, and each choice is as fast as it says.
TEST(SettleTest, choicesAreOpenAndHelp) {
  const Machine machine = machineNamed("trn2");
  size_t numChosen = 0, numKept = 0;
  for (uint64_t seed = 1; seed <= 80; ++seed) {
    fuzz::Random random(seed);
    const Kernel kernel = opened(RingDrawer(seed).draw(), random, 40);
    Diagnostics problems;
    check(kernel, problems);
    ASSERT_FALSE(problems.hasErrors()) << seed << problems.reason();
    const Settled settled = settle(kernel, machine);
    check(settled.kernel, problems);
    EXPECT_FALSE(problems.hasErrors()) << seed;
    Tick time = timeOf(kernel, machine);
    for (const Choice &choice : settled.choices) {
      EXPECT_EQ(choice.before, time) << seed << choice.what;
      EXPECT_LT(choice.after, choice.before) << seed << choice.what;
      time = choice.after;
    }
    EXPECT_EQ(time, timeOf(settled.kernel, machine)) << seed;
    const Kernel again = chosenAs(kernel, settled.kernel);
    for (InstrId id : kernel.instrs.ids()) {
      EXPECT_EQ(again.instrs[id].queue, settled.kernel.instrs[id].queue) << seed;
      EXPECT_TRUE(std::ranges::equal(again.otherQueues(id), settled.kernel.otherQueues(id)))
          << seed;
    }
    for (BufferId id : kernel.buffers.ids()) {
      EXPECT_EQ(again.buffers[id].shape, settled.kernel.buffers[id].shape) << seed;
    }
    if (settled.choices.empty()) {
      ++numKept;
    } else {
      ++numChosen;
      EXPECT_EQ(raceOf(settled.kernel, machine), Verdict::Yes) << seed;
    }
  }
  EXPECT_GT(numChosen, 20U);
  EXPECT_GT(numKept, 5U);
}

/// Where one thing is open, all that it can be is compared here.
TEST(SettleTest, aSingleChoiceIsTheBest) {
  const Machine machine = machineNamed("trn2");
  size_t numCompared = 0;
  for (uint64_t seed = 1; seed <= 120; ++seed) {
    fuzz::Random random(seed);
    Kernel kernel = opened(RingDrawer(seed).draw(), random, 100);
    kernel.openQueues.resize(seed % 2 == 0 ? std::min<size_t>(1, kernel.openQueues.size()) : 0);
    size_t numRings = seed % 2;
    std::vector<Kernel> others;
    for (Buffer &buffer : kernel.buffers) {
      if (buffer.ring && numRings == 0) {
        buffer.ring.reset();
      }
      numRings -= buffer.ring ? 1 : 0;
    }
    for (const OpenQueues &open : kernel.openQueues) {
      for (QueueId queue : open.others) {
        others.push_back(onQueue(kernel, open.instr, queue));
      }
    }
    for (BufferId id : kernel.buffers.ids()) {
      const std::optional<SlotBounds> bounds = kernel.buffers[id].ring;
      for (uint64_t slots = bounds ? bounds->min : 1; bounds && slots <= bounds->max; ++slots) {
        others.push_back(*withSlots(kernel, std::vector<SlotsOf>{{id, slots}}));
      }
    }
    if (others.empty()) {
      continue;
    }
    Tick best = timeOf(kernel, machine);
    for (const Kernel &other : others) {
      best = std::min(best, timeOf(other, machine));
    }
    EXPECT_EQ(timeOf(settle(kernel, machine).kernel, machine), best) << seed;
    ++numCompared;
  }
  EXPECT_GT(numCompared, 40U);
}

TEST(SettleTest, nothingIsChosenWithoutAReason) {
  const Machine machine = machineNamed("trn2");
  fuzz::Random random(2);
  Kernel kernel = opened(RingDrawer(2).draw(), random, 100);
  ASSERT_TRUE(leavesOpen(kernel));
  auto isKept = [&](const Settled &settled) { return settled.choices.empty(); };
  EXPECT_TRUE(isKept(settle(kernel, machine, {.strategy = Strategy::PerLoop})));
  EXPECT_TRUE(isKept(settle(kernel, machine, {.findDeps = false})));
  EXPECT_TRUE(isKept(settle(kernel, machineNamed("generic"))));
  EXPECT_NE(remarks(kernel, machine, {.strategy = Strategy::PerLoop}).find("only 'auto' chooses"),
            std::string::npos);
  EXPECT_NE(remarks(kernel, machineNamed("generic"), {}).find("no run of it could be timed"),
            std::string::npos);
  EXPECT_NE(remarks(kernel, machine, {}).find("this is best by simulated time"), std::string::npos);
  Kernel closed = RingDrawer(2).draw();
  EXPECT_EQ(remarks(closed, machine, {}), "");
}

/// Instructions change places only where the request says so; what is made then is free of races.
TEST(SettleTest, orderChangesWhereItMay) {
  const Machine machine = machineNamed("trn2");
  size_t numChanged = 0;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    const Kernel kernel = RingDrawer(seed).draw();
    EXPECT_TRUE(settle(kernel, machine).choices.empty()) << seed;
    const Settled settled = settle(kernel, machine, {.reorder = true});
    if (settled.choices.empty()) {
      continue;
    }
    ++numChanged;
    EXPECT_TRUE(settled.choices[0].isOrder) << seed;
    EXPECT_EQ(settled.choices.back().after, timeOf(settled.kernel, machine)) << seed;
    EXPECT_LT(settled.choices.back().after, timeOf(kernel, machine)) << seed;
    EXPECT_EQ(raceOf(settled.kernel, machine), Verdict::Yes) << seed;
  }
  EXPECT_GT(numChanged, 10U);
}

/// What a branch says of its tiles is no part of their texts.
TEST(SettleTest, conditionsStayWhereTheyAre) {
  KernelBuilder b("k");
  EngineId sync = b.engine("sync"), vector = b.engine("vector");
  BufferId x = b.buffer("x", std::vector<uint64_t>{2}, "sbuf", "f32");
  b.beginLoop("A", KernelBuilder::constant(8));
  b.instr("load", b.queueOf(sync));
  b.access(AccessKind::Write, x, "x[A mod 2]");
  b.setCondition(b.beginIf("odd"), "A mod 2 == 1");
  b.instr("use", b.queueOf(vector));
  AccessId read = b.access(AccessKind::Read, x, "x[A mod 2] if A < 6");
  b.endIf();
  b.endLoop();
  std::optional<Kernel> larger = withSlots(b.finish(), std::vector<SlotsOf>{{x, 3}});
  ASSERT_TRUE(larger);
  EXPECT_EQ(larger->text(larger->accesses[read].text), "x[A mod 3] if A < 6");
  EXPECT_EQ((*larger->tiles)[read].access.guards.size(), 2U);
}

/// The same input gets the same answer.
TEST(SettleTest, isTheSameEachTime) {
  const Machine machine = machineNamed("trn2");
  fuzz::Random random(5);
  const Kernel kernel = opened(RingDrawer(5).draw(), random, 100);
  const Settled once = settle(kernel, machine), again = settle(kernel, machine);
  ASSERT_EQ(once.choices.size(), again.choices.size());
  for (size_t i = 0; i < once.choices.size(); ++i) {
    EXPECT_EQ(once.choices[i].what, again.choices[i].what);
  }
}

} // namespace
