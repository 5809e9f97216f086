//===- MutateTest.cpp - Code with one mistake -----------------------------===//

#include "Mutate.h"
#include "RandomKernel.h"

#include "tally/Lower/Lower.h"

#include <array>
#include <gtest/gtest.h>

using namespace tally;
using namespace tally::fuzz;

namespace {

Code programOf(const Kernel &kernel, Strategy strategy = Strategy::PerLoop) {
  PlanDecisions options;
  options.strategy = strategy;
  Diagnostics diagnostics;
  SyncPlan plan = makePlan(kernel, options, diagnostics);
  Code code = lower(kernel, plan, genericMachine(), {}, diagnostics);
  EXPECT_FALSE(diagnostics.hasErrors()) << render(diagnostics, {});
  return code;
}

/// Two producers in one loop, waited for from outside the loop around it: N = 2, and
/// thresholds in registers.
Kernel twoProducers() {
  KernelBuilder b("two_producers");
  EngineId dma = b.engine("dma"), act = b.engine("act");
  LoopId a = b.beginLoop("A", b.value("n"));
  InstrId first = b.instr("first", b.queueOf(dma));
  InstrId second = b.instr("second", b.queueOf(dma));
  InstrId use = b.instr("use", b.queueOf(act));
  InstrId other = b.instr("other", b.queueOf(act));
  b.endLoop();
  b.dep(first, use);
  b.dep(second, other, {{a, 1}});
  return b.finish();
}

std::vector<Mutation> ofKind(const Code &code, MutantKind kind) {
  std::vector<Mutation> found;
  for (const Mutation &mutation : findMutations(code)) {
    if (mutation.kind == kind) {
      found.push_back(mutation);
    }
  }
  return found;
}

/// The operations of 'act' after the first mutation of this kind there.
std::vector<Op> firstOnAct(const Code &code, MutantKind kind) {
  for (const Mutation &mutation : ofKind(code, kind)) {
    if (mutation.engine == EngineId(1)) {
      return mutate(code, mutation).engines[EngineId(1)].ops;
    }
  }
  ADD_FAILURE() << "no " << toString(kind);
  return {};
}

} // namespace

/// 'act' is:  r0 := 0 | loop | r0++ | r1 := 2*r0 | r2 := r1 - 1 | use, wait r2 | ... | other | end
class MutateTest : public ::testing::Test {
protected:
  Kernel kernel = twoProducers();
  Code code = programOf(kernel);
  const std::vector<Op> &act = code.engines[EngineId(1)].ops;

  size_t find(const std::vector<Op> &ops, auto matches) const {
    return static_cast<size_t>(std::find_if(ops.begin(), ops.end(), matches) - ops.begin());
  }
};

/// 2*r - 1, with N = 2 and K = 1, becomes 1*r + 1.
TEST_F(MutateTest, placesAreSwapped) {
  auto isProduct = [](const Op &op) { return op.kind == OpKind::Alu && op.alu == AluOp::Mul; };
  std::vector<Op> ops = firstOnAct(code, MutantKind::SwappedNK);
  size_t product = find(act, isProduct);
  ASSERT_LT(product + 1, act.size());
  EXPECT_EQ(act[product].a, Operand::number(2));
  EXPECT_EQ(act[product + 1].alu, AluOp::Sub);
  EXPECT_EQ(act[product + 1].b, Operand::number(1));
  EXPECT_EQ(ops[product].a, Operand::number(1));
  EXPECT_EQ(ops[product + 1].alu, AluOp::Add);
  EXPECT_EQ(ops[product + 1].b, Operand::number(1));
}

TEST_F(MutateTest, aWaitIsShifted) {
  std::vector<Op> ops = firstOnAct(code, MutantKind::WaitPlusOne);
  size_t use = find(act, [](const Op &op) { return op.wait.valid(); });
  ASSERT_EQ(ops.size(), act.size() + 1);
  EXPECT_EQ(ops[use].alu, AluOp::Add);
  EXPECT_EQ(ops[use].a, act[use].a);
  EXPECT_EQ(ops[use].b, Operand::number(1));
  EXPECT_EQ(ops[use + 1].a, Operand::reg(ops[use].dst));
}

/// The wait goes ahead of the last operation that computes its value; its instruction stays.
TEST_F(MutateTest, aWaitIsHoisted) {
  std::vector<Op> ops;
  for (const Mutation &mutation : ofKind(code, MutantKind::HoistedWait)) {
    if (mutation.engine == EngineId(1) && mutation.variant == 0 && ops.empty()) {
      ops = mutate(code, mutation).engines[EngineId(1)].ops;
    }
  }
  size_t wait = find(ops, [](const Op &op) { return op.kind == OpKind::Wait; });
  ASSERT_LT(wait + 1, ops.size());
  EXPECT_EQ(ops[wait + 1].kind, OpKind::Alu);
  EXPECT_EQ(ops[wait + 1].dst, ops[wait].a.asRegister());
  size_t issue = find(ops, [](const Op &op) { return op.kind == OpKind::Issue; });
  EXPECT_FALSE(ops[issue].wait.valid());
}

TEST_F(MutateTest, operationsAreLost) {
  EXPECT_EQ(firstOnAct(code, MutantKind::LostRegisterOperation).size(), act.size() - 1);
}

TEST_F(MutateTest, updatesAreLostAndDoubled) {
  Mutation lost = ofKind(code, MutantKind::LostUpdate).front();
  EXPECT_FALSE(mutate(code, lost).engines[lost.engine].ops[lost.at].signal.valid());
  Mutation doubled = ofKind(code, MutantKind::DoubledUpdate).front();
  EXPECT_EQ(mutate(code, doubled).engines[doubled.engine].ops[doubled.at].amount, 2u);
}

TEST_F(MutateTest, mutationsNameKindAndPlace) {
  EXPECT_EQ(describe(kernel, code, ofKind(code, MutantKind::LostUpdate).front()),
            "lost-update on 'dma' in operation 1, at or before 'first'");
}

/// Each changes something, keeps the code well formed, and all kinds occur.
TEST(MutateRandomTest, everyMutationChangesTheCode) {
  std::array<uint32_t, numMutantKinds> seen{};
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Kernel kernel = randomKernel(seed, {});
    for (Strategy strategy : {Strategy::Barrier, Strategy::PerLoop}) {
      Code code = programOf(kernel, strategy);
      for (const Mutation &mutation : findMutations(code)) {
        Code mutant = mutate(code, mutation);
        ++seen[static_cast<size_t>(mutation.kind)];
        EXPECT_NE(mutant.engines[mutation.engine].ops, code.engines[mutation.engine].ops)
            << describe(kernel, code, mutation);
        Diagnostics faults;
        verifyCode(kernel, mutant, faults);
        EXPECT_FALSE(faults.hasErrors()) << describe(kernel, code, mutation) << "\n"
                                         << render(faults, {});
      }
    }
  }
  for (size_t k = 0; k < numMutantKinds; ++k) {
    EXPECT_GT(seen[k], 20u) << toString(static_cast<MutantKind>(k));
  }
}
