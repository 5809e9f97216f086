//===- ChangesTest.cpp - What may be changed, and what stays as it was ----===//

#include "tally/Advise/Changes.h"

#include "Rings.h"

#include "tally/Data/Effects.h"
#include "tally/Model/Bindings.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <map>

using namespace tally;

namespace {

Machine machineNamed(const std::string &name) {
  return *loadMachine(fmt::format("{}/{}.json", MACHINES_DIRECTORY, name)).machine;
}

/// `load` fills a ring of two, `use` reads what was written `back` iterations ago, `store` copies.
struct Pipe {
  KernelBuilder b{"pipe"};
  BufferId x;
  InstrId load, use;

  Pipe(std::string_view slotRead, std::string_view space, bool readsFirst = false) {
    EngineId sync = b.engine("sync"), vector = b.engine("vector");
    BufferId in = b.buffer("in", std::vector<uint64_t>{8, 4}, "hbm", "f32");
    BufferId out = b.buffer("out", std::vector<uint64_t>{8, 4}, "hbm", "f32");
    x = b.buffer("x", std::vector<uint64_t>{2, 4}, space, "f32");
    b.beginLoop("A", KernelBuilder::constant(8));
    auto addUse = [&] {
      use = b.instr("use", b.queueOf(vector), "tensor_copy(n=4)");
      b.access(AccessKind::Read, x, slotRead);
      b.access(AccessKind::Write, out, "out[A, 0:4]");
    };
    if (readsFirst) {
      addUse();
    }
    load = b.instr("load", b.queueOf(sync), "dma_copy(bytes=16)");
    b.access(AccessKind::Read, in, "in[A, 0:4]");
    b.access(AccessKind::Write, x, "x[A mod 2, 0:4]");
    if (!readsFirst) {
      addUse();
    }
    b.endLoop();
  }

  Kernel finish() { return b.finish(); }
};

std::vector<std::string> textsOf(const Kernel &kernel, const Machine &machine, bool applied) {
  Diagnostics none;
  std::vector<std::string> missing;
  InstrCosts costs = *instructionCosts(kernel, *Timing::of(machine, missing), none);
  std::vector<std::string> texts;
  for (const Change &change : changesOf(kernel, machine, costs, 1)) {
    if (!applied || change.kind == Change::Kind::Grow || withChange(kernel, change, machine)) {
      texts.push_back(describe(kernel, change));
    }
  }
  return texts;
}

TEST(ChangesTest, transfersMoveToEnginesThatIssueThem) {
  EXPECT_EQ(textsOf(Pipe("x[A mod 2, 0:4]", "hbm").finish(), machineNamed("trn2"), true),
            (std::vector<std::string>{"--max-code-growth=2", "--max-code-growth=4",
                                      "issue 'load' from 'scalar' instead of 'sync'"}));
}

TEST(ChangesTest, ringsOnTheChipGetMoreSlots) {
  const Kernel kernel = Pipe("x[A mod 2, 0:4]", "sbuf").finish();
  const Machine machine = machineNamed("trn2");
  std::vector<std::string> texts = textsOf(kernel, machine, true);
  ASSERT_EQ(texts.size(), 5U);
  EXPECT_EQ(texts[2], "give 'x' 3 slots");
  EXPECT_EQ(texts[3], "give 'x' 4 slots");
  const Change three{.kind = Change::Kind::Ring, .rings = {{BufferId(2), 3}}};
  std::optional<Kernel> deeper = withChange(kernel, three, machine);
  ASSERT_TRUE(deeper);
  EXPECT_EQ(deeper->buffers[BufferId(2)].shape, (std::vector<uint64_t>{3, 4}));
  EXPECT_EQ(deeper->text(deeper->accesses[AccessId(1)].text), "x[A mod 3, 0:4]");
  EXPECT_EQ(*bytesOf(kernel, three), 16U);
}

/// What others may see stays as it is.
TEST(ChangesTest, resultsKeepTheirPlaces) {
  const Machine machine = machineNamed("trn2");
  for (std::string_view space : {"hbm", "shared_hbm", "dram", ""}) {
    EXPECT_EQ(textsOf(Pipe("x[A mod 2, 0:4]", space).finish(), machine, true).size(), 3U) << space;
  }
  KernelBuilder b("out");
  EngineId sync = b.engine("sync");
  BufferId x = b.buffer("x", std::vector<uint64_t>{2, 4}, "sbuf", "f32");
  b.beginLoop("A", KernelBuilder::constant(8));
  b.instr("load", b.queueOf(sync), "dma_copy(bytes=16)");
  b.access(AccessKind::Write, x, "x[A mod 2, 0:4]");
  b.endLoop();
  EXPECT_EQ(textsOf(b.finish(), machine, true).size(), 3U); // nothing reads it here
}

/// What a slot has held for a whole turn is something else if there are more.
TEST(ChangesTest, readsOfAWholeTurnAgoKeepTheirRing) {
  const Machine machine = machineNamed("trn2");
  for (bool readsFirst : {false, true}) {
    std::vector<std::string> texts = textsOf(
        Pipe(readsFirst ? "x[A mod 2, 0:4]" : "x[(A + 1) mod 2, 0:4]", "sbuf", readsFirst).finish(),
        machine, true);
    EXPECT_EQ(texts.size(), 3U) << readsFirst; // the others are no rings
  }
  EXPECT_EQ(textsOf(Pipe("x[(A - 1) mod 2, 0:4] if A > 0", "sbuf").finish(), machine, true).size(),
            5U);
}

/// What a queue keeps is what its last instruction kept; loops may run more often on one engine.
TEST(ChangesTest, whatIsTiedToItsEngineStays) {
  const Machine machine = machineNamed("trn2");
  for (bool keeps : {true, false}) {
    KernelBuilder b("tied");
    EngineId sync = b.engine("sync");
    BufferId in = b.buffer("in", std::vector<uint64_t>{8, 4}, "hbm", "f32");
    BufferId out = b.buffer("out", std::vector<uint64_t>{8, 4}, "hbm", "f32");
    b.beginLoop("A", b.value("n", 0, 8), /*uniform=*/keeps);
    b.instr("load", b.queueOf(sync), "dma_copy(bytes=16)");
    b.computes(keeps ? "keep(r0)" : "r0");
    b.access(AccessKind::Read, in, "in[A, 0:4]");
    if (!keeps) {
      b.access(AccessKind::Write, out, "out[A, 0:4]");
    }
    b.endLoop();
    EXPECT_EQ(textsOf(b.finish(), machine, true).size(), 2U) << keeps; // code may grow
  }
}

/// An engine that is new needs a name that no queue has.
TEST(ChangesTest, noEngineIsNamedAsAQueue) {
  KernelBuilder b("named");
  EngineId sync = b.engine("sync");
  b.queue("scalar");
  BufferId in = b.buffer("in", std::vector<uint64_t>{8, 4}, "hbm", "f32");
  b.instr("load", b.queueOf(sync), "dma_copy(bytes=16)");
  b.access(AccessKind::Read, in, "in[0, 0:4]");
  EXPECT_EQ(textsOf(b.finish(), machineNamed("trn2"), true).size(), 2U);
}

/// Two chains of one body: `first`, `scale`, `store`, and then `second`, which reads some tile.
Kernel twoChains(bool readsOut, std::string_view secondReads) {
  KernelBuilder b("chains");
  EngineId sync = b.engine("sync"), vector = b.engine("vector");
  auto buffer = [&](std::string_view name, uint64_t rows, std::string_view space) {
    return b.buffer(name, std::vector<uint64_t>{rows, 4}, space, "f32");
  };
  BufferId in = buffer("in", 8, "hbm"), out = buffer("out", 9, "hbm");
  BufferId x = buffer("x", 1, "sbuf"), y = buffer("y", 1, "sbuf");
  auto copy = [&](std::string_view name, EngineId engine, BufferId from, std::string_view read,
                  BufferId to, std::string_view written) {
    b.instr(name, b.queueOf(engine), "dma_copy(bytes=16)");
    b.access(AccessKind::Read, from, read);
    b.access(AccessKind::Write, to, written);
  };
  b.beginLoop("A", KernelBuilder::constant(8));
  copy("first", sync, in, "in[A, 0:4]", x, "x");
  copy("scale", vector, x, "x", x, "x");
  copy("store", sync, x, "x", out, "out[A, 0:4]");
  copy("second", sync, readsOut ? out : in, secondReads, y, "y");
  b.endLoop();
  return b.finish();
}

TEST(ChangesTest, whatDoesNotMeetStandsEarlier) {
  const Machine machine = machineNamed("trn2");
  auto orders = [&](bool readsOut, std::string_view secondReads) {
    std::vector<std::string> found;
    for (const std::string &text : textsOf(twoChains(readsOut, secondReads), machine, true)) {
      if (text.starts_with("issue '") && text.find("from") == std::string::npos) {
        found.push_back(text);
      }
    }
    return found;
  };
  EXPECT_EQ(
      orders(false, "in[A, 0:4]"),
      (std::vector<std::string>{"issue 'second' before 'store'"})); // fetches keep their order
  // What it reads is stored in the next iteration; or in this one.
  EXPECT_EQ(orders(true, "out[A + 1, 0:4]"),
            (std::vector<std::string>{"issue 'second' before 'first'"}));
  EXPECT_EQ(orders(true, "out[A, 0:4]"), std::vector<std::string>());
}

std::vector<std::string> loopChanges(const Kernel &kernel) {
  std::vector<std::string> found;
  for (const std::string &text : textsOf(kernel, machineNamed("trn2"), true)) {
    if (text.starts_with("split") || text.find(" once") != std::string::npos) {
      found.push_back(text);
    }
  }
  return found;
}

/// A loop of `first` and `second` on two engines, which copy a row each, or more.
struct TwoCopies {
  KernelBuilder b{"copies"};
  EngineId sync = b.engine("sync"), vector = b.engine("vector");
  BufferId in = rows("in", "hbm"), out = rows("out", "hbm"), t = rows("t", "sbuf"),
           w = rows("w", "sbuf");

  BufferId rows(std::string_view name, std::string_view space) {
    return b.buffer(name, std::vector<uint64_t>{9, 4}, space, "f32");
  }

  void copy(std::string_view name, EngineId engine, BufferId from, std::string_view read,
            BufferId to, std::string_view written) {
    b.instr(name, b.queueOf(engine), "dma_copy(bytes=16)");
    b.computes("r0");
    b.access(AccessKind::Read, from, read);
    b.access(AccessKind::Write, to, written);
  }

  std::vector<std::string> changes(Trip trip, std::string_view firstWrites,
                                   std::string_view secondReads) {
    b.beginLoop("A", trip);
    copy("first", sync, in, "in[A, 0:4]", t, firstWrites);
    copy("second", vector, t, secondReads, out, "out[A, 0:4]");
    b.endLoop();
    return loopChanges(b.finish());
  }
};

/// Where no later iteration of the first part needs to see the second part as it was.
TEST(ChangesTest, loopsAreSplitWhereNothingGoesBack) {
  auto of = [](std::string_view firstWrites, std::string_view secondReads) {
    return TwoCopies().changes(KernelBuilder::constant(8), firstWrites, secondReads);
  };
  const std::vector<std::string> split = {"split loop 'A' before 'second'"}, none;
  EXPECT_EQ(of("t[A, 0:4]", "t[A, 0:4]"), split);
  EXPECT_EQ(of("t[A + 1, 0:4]", "t[A, 0:4]"), split);
  EXPECT_EQ(of("t[A, 0:4]", "t[A + 1, 0:4]"), none); // overwritten after it was read
  EXPECT_EQ(of("t[A mod 2, 0:4]", "t[A mod 2, 0:4]"), none);
  EXPECT_EQ(of("t[0, 0:4]", "t[0, 0:4]"), none);
}

/// The second loop has a name of its own, in all that is said of it.
TEST(ChangesTest, theSecondLoopHasItsOwnName) {
  TwoCopies two;
  two.b.beginLoop("O", KernelBuilder::constant(2));
  two.b.beginLoop("A", two.b.formula("$n", 0, 4));
  two.copy("first", two.sync, two.in, "in[A, 0:4]", two.t, "t[A, 0:4]");
  two.b.beginLoop("B", two.b.formula("A + 1"));
  two.b.setCondition(two.b.beginIf("c"), "B < A");
  two.copy("second", two.vector, two.t, "t[A, 0:4] if total(A) > 1", two.out, "out[B, 0:4]");
  two.b.endIf();
  two.b.endLoop();
  two.b.endLoop();
  two.b.endLoop();
  const Kernel kernel = two.b.finish();
  ASSERT_EQ(loopChanges(kernel), std::vector<std::string>{"split loop 'A' before 'second'"});
  const Change change{.kind = Change::Kind::Split, .instrs = {InstrId(1)}, .loop = LoopId(2)};
  const Kernel split = *withChange(kernel, change, machineNamed("trn2"));
  ASSERT_EQ(split.loops.size(), kernel.loops.size() + 1);
  EXPECT_EQ(split.nameOf(LoopId(3)), "A.2");
  EXPECT_EQ(split.text(split.loops[LoopId(3)].trip.symbol), "$n");
  EXPECT_EQ(split.text(split.loops[LoopId(4)].trip.symbol), "A.2 + 1");
  EXPECT_EQ(split.text(split.loops[LoopId(5)].trip.condition), "B < A.2");
  EXPECT_EQ(split.text(split.accesses[AccessId(2)].text), "t[A.2, 0:4] if total(A.2) > 1");
}

/// It is not called as a value is: `--trips` would mean that.
TEST(ChangesTest, theSecondLoopIsNotNamedAsAValue) {
  TwoCopies two;
  two.b.beginLoop("A", KernelBuilder::constant(4));
  two.copy("first", two.sync, two.in, "in[A, 0:4]", two.t, "t[A, 0:4]");
  two.copy("second", two.vector, two.t, "t[A, 0:4]", two.out, "out[A, 0:4]");
  two.b.endLoop();
  two.b.beginLoop("B", two.b.value("A.2", 0, 8));
  two.b.endLoop();
  two.b.beginLoop("C", two.b.formula("$A.3", 0, 8));
  two.b.endLoop();
  const Change change{.kind = Change::Kind::Split, .instrs = {InstrId(1)}, .loop = LoopId(1)};
  const Kernel split = *withChange(two.b.finish(), change, machineNamed("trn2"));
  EXPECT_EQ(split.nameOf(LoopId(2)), "A.4");
}

/// Both loops must run equally often.
TEST(ChangesTest, loopsStayWholeWhereTripsMightDiffer) {
  auto withTrips = [](auto trip) {
    TwoCopies two;
    return two.changes(trip(two.b), "t[A, 0:4]", "t[A, 0:4]").size();
  };
  EXPECT_EQ(withTrips([](KernelBuilder &b) { return b.formula("$n", 0, 8); }), 1U);
  EXPECT_EQ(withTrips([](KernelBuilder &b) { return b.value("n", 0, 8); }), 0U);
  EXPECT_EQ(withTrips([](KernelBuilder &b) { return b.guard(""); }), 0U);
}

/// `load` fetches the same in each iteration; something stands before or behind it.
std::vector<std::string> onceWith(Trip (*trip)(KernelBuilder &), std::string_view before,
                                  std::string_view behind, std::string_view space = "sbuf",
                                  std::string_view read = "in[3, 0:4]") {
  TwoCopies two;
  BufferId x = two.rows("x", space);
  auto add = [&](std::string_view what) {
    what == "read"    ? two.copy("use", two.vector, x, "x[0, 0:4]", two.out, "out[A, 0:4]")
    : what == "write" ? two.copy("over", two.vector, two.in, "in[A, 0:4]", x, "x[0, 0:4]")
                      : void();
  };
  two.b.beginLoop("A", trip(two.b));
  add(before);
  two.copy("load", two.sync, two.in, read, x, "x[0, 0:4]");
  add(behind);
  two.b.endLoop();
  if (behind == "outside") {
    two.copy("later", two.vector, x, "x[0, 0:4]", two.out, "out[0, 0:4]");
  }
  std::vector<std::string> found = loopChanges(two.b.finish());
  std::erase_if(found, [](const std::string &text) { return text.starts_with("split"); });
  return found;
}

TEST(ChangesTest, whatStaysTheSameIsIssuedOnce) {
  auto eight = [](KernelBuilder &) { return KernelBuilder::constant(8); };
  auto open = [](KernelBuilder &b) { return b.formula("$n", 0, 8); };
  const std::vector<std::string> once = {"issue 'load' once, before loop 'A'"}, none;
  EXPECT_EQ(onceWith(eight, "", "read"), once);
  EXPECT_EQ(onceWith(eight, "", "outside"), once);
  EXPECT_EQ(onceWith(eight, "read", ""), none); // the first one sees what was there before
  EXPECT_EQ(onceWith(eight, "write", "read"), none);
  EXPECT_EQ(onceWith(eight, "", "write"), none);
  EXPECT_EQ(onceWith(eight, "", "read", "sbuf", "in[A, 0:4]"), none);
  EXPECT_EQ(onceWith(eight, "", "read", "sbuf", "in[total(A) mod 2, 0:4]"), none);
  EXPECT_EQ(onceWith(eight, "", "read", "hbm"), once);
  // A loop that may not run leaves what it would write as it was.
  EXPECT_EQ(onceWith(open, "", "read"), once);
  EXPECT_EQ(onceWith(open, "", "outside"), none);
  EXPECT_EQ(onceWith(open, "", "read", "hbm"), none);
  EXPECT_EQ(onceWith(open, "", "read", "HBM"), none);
  EXPECT_EQ(onceWith(open, "", "read", "sbuf", "in[$n - 1, 0:4]"), none);
  // Nothing is known of `$z`: it may be another number each time.
  EXPECT_EQ(onceWith(eight, "", "read", "sbuf", "in[$z, 0:4]"), none);
  EXPECT_EQ(onceWith(eight, "", "read", "sbuf", "in[3, 0:4] if $z > 2"), none);
}

/// What its queue keeps, what no tile says, and sums.
TEST(ChangesTest, whatHasOtherEffectsStaysInItsLoop) {
  auto withCompute = [](std::string_view computes, AccessKind kind, bool reads) {
    TwoCopies two;
    two.b.beginLoop("A", KernelBuilder::constant(8));
    two.b.instr("load", two.b.queueOf(two.sync), "dma_copy(bytes=16)");
    two.b.computes(computes);
    if (reads) {
      two.b.access(AccessKind::Read, two.in, "in[3, 0:4]");
    }
    two.b.access(kind, two.w, "w[0, 0:4]");
    two.copy("use", two.vector, two.w, "w[0, 0:4]", two.out, "out[A, 0:4]");
    two.b.endLoop();
    const std::vector<std::string> found = loopChanges(two.b.finish());
    return std::ranges::count(found, "issue 'load' once, before loop 'A'");
  };
  EXPECT_EQ(withCompute("r0", AccessKind::Write, true), 1);
  EXPECT_EQ(withCompute("", AccessKind::Write, true), 1);
  EXPECT_EQ(withCompute("2.5", AccessKind::Write, false), 1);
  EXPECT_EQ(withCompute("", AccessKind::Write, false), 0); // random numbers?
  EXPECT_EQ(withCompute("r0 + A", AccessKind::Write, true), 0);
  EXPECT_EQ(withCompute("keep(r0); r0", AccessKind::Write, true), 0);
  EXPECT_EQ(withCompute("r0", AccessKind::Accumulate, true), 0);
}

/// Queues are numbered by engine: those of later engines move on.
TEST(ChangesTest, anEngineWithOtherWorkGetsAQueue) {
  KernelBuilder b("two");
  EngineId scalar = b.engine("scalar"), sync = b.engine("sync");
  b.instr("act", b.queueOf(scalar), "activation(n=4)");
  InstrId load = b.instr("load", b.queueOf(sync), "dma_copy(bytes=16)");
  BufferId x = b.buffer("x", std::vector<uint64_t>{4}, "sbuf", "f32");
  b.access(AccessKind::Write, x, "x");
  const Kernel kernel = b.finish();
  std::optional<Kernel> moved =
      withChange(kernel, {.kind = Change::Kind::Move, .instrs = {load}, .engine = "scalar"},
                 machineNamed("trn2"));
  ASSERT_TRUE(moved);
  EXPECT_EQ(moved->nameOf(moved->instrs[load].queue), "scalar_transfers");
  EXPECT_EQ(moved->nameOf(moved->engineOf(load)), "scalar");
  EXPECT_EQ(moved->nameOf(moved->engineOf(InstrId(0))), "scalar");
  EXPECT_EQ(moved->engines[EngineId(1)].queues.first, 2U);
}

//===----------------------------------------------------------------------===//
// Random kernels: whatever is changed, the same is computed
//===----------------------------------------------------------------------===//

/// After the sequential run; none if something is read that nothing has written.
std::optional<Memory> memoryAfter(const Kernel &kernel) {
  Diagnostics diagnostics;
  Memory memory = emptyMemory(kernel, diagnostics);
  for (size_t i = 0; i < memory[BufferId(0)].size(); ++i) {
    memory[BufferId(0)].set(i, static_cast<float>(7 * i + 1));
  }
  Runs runs(kernel, Bindings(kernel), diagnostics);
  std::optional<Effects> effects = Effects::of(kernel, runs, diagnostics);
  if (!effects) {
    return std::nullopt;
  }
  DataRun data(*effects, memory);
  for (Instance instance : runs.order()) {
    data.commit(instance);
  }
  return data.faults().empty() ? std::optional(data.memory()) : std::nullopt;
}

/// On the chip, and not to be changed.
size_t numBuffersLeft(const Kernel &kernel, const std::vector<Change> &changes) {
  size_t count = kernel.buffers.size() - 2;
  for (BufferId id : kernel.buffers.ids()) {
    count -= std::ranges::any_of(changes, [&](const Change &change) {
      return std::ranges::count(change.rings, id, &SlotsOf::buffer) > 0;
    });
  }
  return count;
}

TEST(ChangesTest, noneChangesWhatIsComputed) {
  const Machine machine = machineNamed("trn2");
  std::map<Change::Kind, size_t> counts;
  size_t numOthers = 0;
  for (uint64_t seed = 1; seed <= 9000; ++seed) {
    const Kernel kernel = RingDrawer(seed).draw();
    std::optional<Memory> before = memoryAfter(kernel);
    if (!before) {
      continue;
    }
    Diagnostics none;
    std::vector<std::string> missing;
    InstrCosts costs = *instructionCosts(kernel, *Timing::of(machine, missing), none);
    const std::vector<Change> changes = changesOf(kernel, machine, costs, 4);
    numOthers += numBuffersLeft(kernel, changes);
    for (const Change &change : changes) {
      std::optional<Kernel> changed = withChange(kernel, change, machine);
      ASSERT_TRUE(changed) << seed << ": " << describe(kernel, change);
      std::optional<Memory> after = memoryAfter(*changed);
      ASSERT_TRUE(after) << seed << ": " << describe(kernel, change);
      ++counts[change.kind];
      for (BufferId id : kernel.buffers.ids()) {
        if (std::ranges::count(change.rings, id, &SlotsOf::buffer) == 0) {
          EXPECT_FALSE(firstDifference((*before)[id], (*after)[id]))
              << seed << ": " << describe(kernel, change);
        }
      }
    }
  }
  for (Change::Kind kind : {Change::Kind::Ring, Change::Kind::Move}) {
    EXPECT_GT(counts[kind], 1000U) << toString(kind);
  }
  for (Change::Kind kind : {Change::Kind::Order, Change::Kind::Once, Change::Kind::Split}) {
    EXPECT_GT(counts[kind], 300U) << toString(kind);
  }
  EXPECT_GT(numOthers, 1000U);
}

/// With as few slots as a ring needs, or any number more.
TEST(ChangesTest, aRingMayBeSmaller) {
  size_t numSmaller = 0, numRefused = 0;
  for (uint64_t seed = 1; seed <= 9000; ++seed) {
    const Kernel kernel = RingDrawer(seed).draw();
    std::optional<Memory> before = memoryAfter(kernel);
    const IdVector<BufferId, std::vector<AccessId>> accesses = accessesOf(kernel);
    for (BufferId id : kernel.buffers.ids()) {
      std::optional<SlotRing> ring = before ? ringOf(kernel, accesses[id]) : std::nullopt;
      if (!ring) {
        continue;
      }
      numRefused += ring->least > 1;
      EXPECT_FALSE(withSlots(kernel, std::vector<SlotsOf>{{id, ring->least - 1}}));
      for (uint64_t slots = ring->least; slots < kernel.buffers[id].shape[ring->dim]; ++slots) {
        std::optional<Kernel> smaller = withSlots(kernel, std::vector<SlotsOf>{{id, slots}});
        ASSERT_TRUE(smaller) << seed;
        std::optional<Memory> after = memoryAfter(*smaller);
        ASSERT_TRUE(after) << seed;
        for (BufferId other : kernel.buffers.ids()) {
          EXPECT_FALSE(other != id && firstDifference((*before)[other], (*after)[other]))
              << seed << ": " << slots << " slots";
        }
        ++numSmaller;
      }
    }
  }
  EXPECT_GT(numSmaller, 1000U);
  EXPECT_GT(numRefused, 100U);
}

} // namespace
