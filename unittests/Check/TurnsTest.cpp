//===- TurnsTest.cpp - Where code goes on otherwise beyond a number -------===//
//
// Code with a number and a step is built for many of both. The fewest trips that pass the number
// are computed by division here, and found by following the code there.
//
//===----------------------------------------------------------------------===//

#include "tally/Check/Turns.h"
#include "tally/Model/KernelBuilder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

using namespace tally;

namespace {

constexpr uint64_t mostOfA = 3000;

/// for A { P }, with as many branches in front.
Kernel oneLoop(uint32_t numBranches = 0, std::optional<uint64_t> most = mostOfA) {
  KernelBuilder b("k");
  EngineId engine = b.engine("e");
  for (uint32_t i = 0; i < numBranches; ++i) {
    b.beginIf(fmt::format("c{}", i));
    b.instr(fmt::format("N{}", i), b.queueOf(engine));
    b.endIf();
  }
  b.beginLoop("A", b.value("n", 0, most));
  b.instr("P", b.queueOf(engine));
  b.endLoop();
  return b.finish();
}

/// for A { r0 = r0 + step; r1 = r0 alu number; P waits s >= r1, raises s by step }
Code counting(const Kernel &kernel, AluOp alu, uint32_t number, uint32_t step) {
  Code code;
  code.semaphores.push({"s"});
  LoopId loop;
  for (LoopId id : kernel.loops.ids()) {
    loop = kernel.loops[id].kind == LoopKind::Loop ? id : loop;
  }
  const RegId counter(0), made(1);
  Op issue = Op::issue(InstrId(static_cast<uint32_t>(kernel.instrs.size() - 1)));
  issue.signal = issue.wait = SemaId(0);
  issue.amount = step;
  issue.a = Operand::reg(made);
  EngineProgram program;
  program.engine = EngineId(0);
  program.registers.push({"t", {}});
  program.registers.push({"u", {}});
  program.ops = {Op::loopBegin(loop),
                 Op::alu2(AluOp::Add, counter, Operand::reg(counter), Operand::number(step)),
                 Op::alu2(alu, made, Operand::reg(counter), Operand::number(number)), issue,
                 Op::mark(OpKind::LoopEnd, loop.value)};
  code.engines.push(std::move(program));
  return code;
}

std::vector<uint64_t> tripsTried(const Kernel &kernel, const Turns &turns) {
  std::vector<RunChoice> runs;
  addTurningRuns(turns, kernel, runs);
  std::vector<uint64_t> trips;
  for (const RunChoice &run : runs) {
    trips.push_back(run.bindings.tripRange(LoopId(1)).second);
  }
  return trips;
}

TEST(Turns, TheFewestTripsThatPassANumberAreTriedWithTheirNeighbours) {
  const Kernel kernel = oneLoop();
  const Machine machine = genericMachine();
  for (uint32_t step : {1u, 2u, 7u, 64u}) {
    for (uint32_t number : {20u, 21u, 100u, 999u}) {
      for (AluOp alu : {AluOp::Min, AluOp::IsGT, AluOp::Sub}) {
        const Code code = counting(kernel, alu, number, step);
        const Turns turns(kernel, code, machine, nothingGiven(kernel));
        ASSERT_EQ(turns.all().size(), 1u);
        const uint64_t fewest = number / step + 1;
        std::vector<uint64_t> expected = {fewest - 1, fewest, fewest + 1};
        expected = fewest < 3 ? std::vector<uint64_t>() : expected;
        EXPECT_EQ(tripsTried(kernel, turns), expected) << number << " by " << step;
      }
    }
  }
}

TEST(Turns, ANumberThatNoRunOfTheKernelComesToIsNone) {
  const Kernel kernel = oneLoop();
  const Machine machine = genericMachine();
  EXPECT_TRUE(Turns(kernel, counting(kernel, AluOp::Min, 3000, 1), machine, nothingGiven(kernel))
                  .all()
                  .empty());
  EXPECT_EQ(Turns(kernel, counting(kernel, AluOp::Min, 2999, 1), machine, nothingGiven(kernel))
                .all()
                .size(),
            1u);
  const Kernel open = oneLoop(0, std::nullopt);
  EXPECT_EQ(
      Turns(open, counting(open, AluOp::Min, 3000, 1), machine, nothingGiven(open)).all().size(),
      1u);
}

TEST(Turns, CountersOfEightBitsAreRunBeyondTheirLimit) {
  const Kernel kernel = oneLoop();
  Machine machine = genericMachine();
  machine.counterBits = 8;
  const Code code = counting(kernel, AluOp::Min, 100'000, 1);
  const Turns turns(kernel, code, machine, nothingGiven(kernel));
  ASSERT_EQ(turns.all().size(), 2u); // of the semaphore and of the register
  EXPECT_EQ(tripsTried(kernel, turns), (std::vector<uint64_t>{255, 256, 257}));
  Code compiled = code;
  compiled.isCompiled = true;
  EXPECT_TRUE(Turns(kernel, compiled, machine, nothingGiven(kernel)).all().empty());
}

TEST(Turns, FewBranchesAreDecidedInAllWays) {
  for (uint32_t count : {1u, 4u, 6u, 9u}) {
    const Kernel kernel = oneLoop(count);
    std::set<std::vector<bool>> ways;
    for (const RunChoice &run :
         chooseRuns(kernel, kernel, genericMachine(), nothingGiven(kernel)).runs) {
      std::vector<bool> taken;
      for (const Decision &decision : decisionsOf(kernel, Bindings(kernel))) {
        taken.push_back(run.bindings.trips(EngineId(0), decision.branch, 1) != 0);
      }
      ways.insert(std::move(taken));
    }
    EXPECT_TRUE(ways.contains(std::vector<bool>(count, true)));
    EXPECT_TRUE(ways.contains(std::vector<bool>(count, false)));
    if (count <= 6) {
      EXPECT_EQ(ways.size(), size_t(1) << count);
    }
  }
}

} // namespace
