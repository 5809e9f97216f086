//===- ImpliedTest.cpp - What is removed, and what must not be ------------===//

#include "tally/Deps/Implied.h"
#include "tally/Deps/Extract.h"
#include "tally/Deps/Render.h"
#include "tally/Model/KernelBuilder.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

using namespace tally;
using testing::ElementsAre;

namespace {

/// Engines a, b, c; an instruction is one line: its engine, what it reads and writes.
struct ImpliedTest : testing::Test {
  KernelBuilder b{"k"};
  std::vector<QueueId> queues;
  std::vector<std::pair<std::string, BufferId>> buffers;

  void TestBody() override {}

  ImpliedTest() {
    for (const char *name : {"a", "b", "c"}) {
      queues.push_back(b.queueOf(b.engine(name)));
    }
    for (const char *name : {"X", "Y"}) {
      buffers.emplace_back(name, b.buffer(name));
    }
  }

  void access(AccessKind kind, const std::string &name) {
    for (const auto &[known, id] : buffers) {
      if (known == name) {
        b.access(kind, id, name);
      }
    }
  }

  void op(char engine, const std::string &name, const std::string &reads,
          const std::string &writes) {
    b.instr(name, queues[static_cast<size_t>(engine - 'a')]);
    access(AccessKind::Read, reads);
    access(AccessKind::Write, writes);
  }

  /// `first -> last` for each that is removed.
  std::vector<std::string> removed() {
    Kernel kernel = b.finish();
    Extractor extractor;
    Extraction extraction = extractor.extract(kernel, {.queueOverlap = false});
    markImplied(kernel, extraction);
    std::vector<std::string> texts;
    for (const DerivedDep &derived : extraction.deps) {
      if (derived.isImplied()) {
        texts.push_back(fmt::format("{} -> {}", kernel.nameOf(derived.dep.producer),
                                    kernel.nameOf(derived.dep.consumer)));
      }
    }
    return texts;
  }
};

/// Who waits for the result made from X need not wait for X.
TEST_F(ImpliedTest, chainOfWaits) {
  op('a', "load", "", "X");
  op('b', "use", "X", "Y");
  op('c', "last", "Y", "X");
  EXPECT_THAT(removed(), ElementsAre("load -> last"));
}

/// The same in a loop. "use" has waited for "load", and "load" for the store before. (That the next
/// "load" need not wait for "use" does not even have to be removed: "store" has written over X.)
TEST_F(ImpliedTest, chainInALoop) {
  b.beginLoop("A", b.value("n"));
  op('a', "load", "", "X");
  op('b', "use", "X", "Y");
  op('c', "store", "Y", "X");
  b.endLoop();
  EXPECT_THAT(removed(), ElementsAre("store -> use", "load -> store"));
}

/// Loops `A` and, in it, `B` of so many trips at least, that goes through a row.
struct RowTest : ImpliedTest {
  void row(uint64_t least, const std::vector<std::pair<char, std::string>> &ops) {
    const uint64_t shape[] = {8};
    BufferId rows[] = {b.buffer("R", shape), b.buffer("S", shape)};
    b.beginLoop("A", b.value("n"));
    b.beginLoop("B", b.value("m", least, 7));
    for (const auto &[engine, text] : ops) { // "load: =R" reads what is before, writes what follows
      size_t colon = text.find(':');
      b.instr(text.substr(0, colon), queues[static_cast<size_t>(engine - 'a')]);
      AccessKind kind = AccessKind::Read;
      for (char c : text.substr(colon + 1)) {
        if (c == '=') {
          kind = AccessKind::Write;
        } else if (c != ' ') {
          b.access(kind, rows[c == 'S'], fmt::format("{}[B]", c));
        }
      }
    }
    b.endLoop();
    b.endLoop();
  }
};

/// An element of the row is waited for, not the whole row; a chain for the element is enough.
TEST_F(RowTest, chainsBetweenElements) {
  row(0, {{'a', "load: =R"}, {'b', "use: R=S"}, {'c', "store: S=R"}});
  EXPECT_THAT(removed(), ElementsAre("store -> use", "load -> store"));
}

/// In each run, "read" comes after the "see" of the run before, which waited for "mid", and that
/// comes after the "last" of two runs before. The same element of the row before is as far away,
/// if rows have two.
TEST_F(RowTest, aRowIsSoManyRuns) {
  row(2, {{'b', "read: R"}, {'a', "mid: =S"}, {'b', "see: S"}, {'a', "last: =R"}});
  EXPECT_THAT(removed(), ElementsAre("last -> read", "see -> mid"));
}

TEST_F(RowTest, aShortRowIsNot) {
  row(1, {{'b', "read: R"}, {'a', "mid: =S"}, {'b', "see: S"}, {'a', "last: =R"}});
  EXPECT_THAT(removed(), testing::IsEmpty());
}

/// What a branch does may not happen.
TEST_F(ImpliedTest, branchBreaksTheChain) {
  op('a', "load", "", "X");
  b.beginIf("c");
  op('b', "use", "X", "Y");
  b.endIf();
  op('c', "store", "Y", "X");
  EXPECT_THAT(removed(), testing::IsEmpty());
}

/// Unless the producer is in it as well.
TEST_F(ImpliedTest, branchAroundProducerToo) {
  b.beginIf("c");
  op('a', "load", "", "X");
  op('b', "use", "X", "Y");
  b.endIf();
  op('c', "store", "Y", "X");
  EXPECT_THAT(removed(), ElementsAre("load -> store"));
}

/// One of two branches happens.
TEST_F(ImpliedTest, bothBranchesKeepTheChain) {
  op('a', "load", "", "X");
  b.beginIf("c");
  op('b', "use", "X", "Y");
  b.beginElse();
  op('b', "use2", "X", "Y");
  b.endIf();
  op('c', "store", "Y", "X");
  EXPECT_THAT(removed(), ElementsAre("load -> store"));
}

/// A loop may run zero times ...
TEST_F(ImpliedTest, loopOfNoTripsBreaksTheChain) {
  op('a', "load", "", "X");
  b.beginLoop("A", b.value("n"));
  op('b', "use", "X", "Y");
  b.endLoop();
  op('c', "store", "Y", "X");
  EXPECT_THAT(removed(), testing::IsEmpty());
}

/// ... if it is not said that it runs.
TEST_F(ImpliedTest, loopThatRunsKeepsTheChain) {
  op('a', "load", "", "X");
  b.beginLoop("A", b.value("n", 1));
  op('b', "use", "X", "Y");
  b.endLoop();
  op('c', "store", "Y", "X");
  EXPECT_THAT(removed(), ElementsAre("load -> store"));
}

/// "first" waits for the "last" before by two distances on L and M, "last" for "first": so each
/// "last" waits for the one before. But not over the end of a third loop.
TEST_F(ImpliedTest, distancesOnTwoLoopsEndWithTheThird) {
  for (bool isDeep : {false, true}) {
    KernelBuilder k("k");
    QueueId a = k.queueOf(k.engine("a"));
    QueueId c = k.queueOf(k.engine("c"));
    if (isDeep) {
      k.beginLoop("K", k.value("k"));
    }
    LoopId outer = k.beginLoop("L", k.value("n"));
    LoopId inner = k.beginLoop("M", KernelBuilder::constant(4));
    InstrId first = k.instr("first", a);
    InstrId last = k.instr("last", c);
    k.endLoop();
    k.endLoop();
    if (isDeep) {
      k.endLoop();
    }
    Kernel kernel = k.finish();
    Extraction given;
    given.components = {{inner, 1}, {outer, 1}, {inner, -3}};
    auto add = [&](InstrId producer, InstrId consumer) -> Dep & {
      given.deps.emplace_back().dep.producer = producer;
      given.deps.back().dep.consumer = consumer;
      return given.deps.back().dep;
    };
    add(last, first).numComponents = 1;
    add(last, first).firstComponent = 1;
    given.deps.back().dep.numComponents = 2;
    add(first, last);
    add(last, last).form = DistanceForm::Flat;
    given.deps.back().dep.step = 1;
    markImplied(kernel, given);
    EXPECT_EQ(given.deps.back().isImplied(), !isDeep);
  }
}

/// Engines that count differently imply nothing to one another.
TEST_F(ImpliedTest, divergentLoopKeepsAll) {
  b.beginLoop("A", b.value("n"), /*uniform=*/false);
  op('a', "load", "", "X");
  op('b', "use", "X", "Y");
  op('c', "store", "Y", "X");
  b.endLoop();
  EXPECT_THAT(removed(), testing::IsEmpty());
}

/// Where branches leave something to the search, and there is too much to look at, that is said.
TEST_F(ImpliedTest, searchesThatWereCutShortAreCounted) {
  for (int count : {2, 400}) {
    ImpliedTest kernel;
    kernel.b.beginLoop("A", kernel.b.value("n"));
    kernel.b.beginIf("c");
    kernel.op('a', "sometimes", "", "X");
    kernel.b.endIf();
    for (int i = 0; i < count; ++i) {
      kernel.op('b', fmt::format("b{}", i), "X", "Y");
      kernel.op('c', fmt::format("c{}", i), "Y", "X");
    }
    kernel.b.endLoop();
    Kernel finished = kernel.b.finish();
    Extractor extractor;
    Extraction extraction = extractor.extract(finished, {.queueOverlap = false});
    markImplied(finished, extraction);
    EXPECT_EQ(extraction.numUnsearched != 0, count == 400);
    EXPECT_EQ(renderText(finished, extraction, "machine 'm'", false).find("was cut short") !=
                  std::string::npos,
              count == 400);
  }
}

} // namespace
