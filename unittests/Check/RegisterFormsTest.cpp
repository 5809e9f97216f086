//===- RegisterFormsTest.cpp - What a register's value depends on ---------===//
//
// Small pieces of code, as lists of operations: which comparisons only longer runs decide, and
// which waits no run tells of.
//
//===----------------------------------------------------------------------===//

#include "RegisterForms.h"

#include <gtest/gtest.h>

using namespace tally;
using namespace tally::check;

namespace {

const RegId t(0), a(1), b(2), u(3), v(4);

Operand reg(RegId id) {
  return Operand::reg(id);
}

Operand number(uint32_t value) {
  return Operand::number(value);
}

Op set(RegId into, AluOp alu, Operand x, Operand y) {
  return Op::alu2(alu, into, x, y);
}

Op count(RegId counter) {
  return set(counter, AluOp::Add, reg(counter), number(1));
}

Op waitFor(RegId threshold) {
  return Op::makeWait(SemaId(0), reg(threshold));
}

RegisterForms formsOf(std::vector<Op> before, std::vector<Op> body, std::set<RegId> wrapping = {}) {
  static Machine machine;
  EngineProgram program;
  for (const char *name : {"t", "a", "b", "u", "v"}) {
    program.registers.push({name, {}});
  }
  program.ops = std::move(before);
  program.ops.push_back(Op::loopBegin(LoopId(1)));
  program.ops.insert(program.ops.end(), body.begin(), body.end());
  program.ops.push_back(Op::mark(OpKind::LoopEnd, 1));
  std::vector<bool> mayWrap;
  for (RegId id : program.registers.ids()) {
    mayWrap.push_back(wrapping.contains(id));
  }
  return RegisterForms(program, machine, mayWrap);
}

bool isOpen(std::vector<Op> body, std::set<RegId> wrapping = {}) {
  return !formsOf({}, std::move(body), std::move(wrapping)).openUses().empty();
}

TEST(RegisterForms, SumsOfCountersAreRegular) {
  EXPECT_FALSE(isOpen({count(t), set(u, AluOp::Mul, number(4), reg(t)), waitFor(u)}));
  EXPECT_FALSE(isOpen({count(t), count(a), set(u, AluOp::Add, reg(a), reg(t)), waitFor(u)}));
}

TEST(RegisterForms, WhatBendsByOneSumIsRegular) {
  // max(t - 2, 0), as code for machines whose subtraction wraps has it
  EXPECT_FALSE(isOpen({count(t), set(u, AluOp::IsGT, reg(t), number(2)),
                       set(v, AluOp::Sub, reg(t), number(2)), set(u, AluOp::Mul, reg(u), reg(v)),
                       waitFor(u)}));
  // 2t bends where t does
  EXPECT_FALSE(isOpen({count(t), set(v, AluOp::Mul, number(2), reg(t)),
                       set(u, AluOp::IsGT, reg(v), number(8)), set(u, AluOp::Mul, reg(u), reg(t)),
                       waitFor(u)}));
}

TEST(RegisterForms, WhatBendsByTwoSumsIsOpen) {
  EXPECT_TRUE(isOpen({count(t), count(a), set(u, AluOp::IsGT, reg(t), number(2)),
                      set(v, AluOp::IsGT, reg(a), number(2)), set(u, AluOp::Mul, reg(u), reg(v)),
                      waitFor(u)}));
  // but each by itself is not, also in one sum
  EXPECT_FALSE(isOpen({count(t), count(a), set(u, AluOp::IsGT, reg(t), number(2)),
                       set(v, AluOp::IsGT, reg(a), number(2)), set(u, AluOp::Add, reg(u), reg(v)),
                       waitFor(u)}));
}

TEST(RegisterForms, RegistersThatAreHandedOn) {
  EXPECT_FALSE(isOpen({set(a, AluOp::Sub, number(1), reg(a)), waitFor(a)})) << "a phase";
  EXPECT_FALSE(isOpen({Op::move(b, reg(a)), count(a), waitFor(b)})) << "a copy";
  EXPECT_FALSE(isOpen({count(a), set(u, AluOp::IsGT, reg(a), number(3)), Op::whenBegin(reg(u)),
                       Op::move(a, number(0)), Op::mark(OpKind::WhenEnd), waitFor(a)}))
      << "a slot of a ring";
  EXPECT_TRUE(isOpen({set(a, AluOp::Add, reg(a), reg(a)), waitFor(a)})) << "doubled";
  EXPECT_TRUE(isOpen({count(t), set(a, AluOp::Add, reg(a), reg(t)), waitFor(a)})) << "squares";
  EXPECT_FALSE(isOpen({set(a, AluOp::Add, reg(a), reg(a)), count(t), waitFor(t)})) << "not used";
}

TEST(RegisterForms, BranchesChoose) {
  const Op then = Op::ifBegin(LoopId(2)), end = Op::mark(OpKind::IfEnd);
  EXPECT_FALSE(isOpen({then, count(a), end, waitFor(a)})) << "counts where it is taken";
  EXPECT_TRUE(
      isOpen({then, Op::move(a, number(0)), Op::mark(OpKind::Else), count(a), end, waitFor(a)}))
      << "begins again where it is taken";
}

TEST(RegisterForms, TheSmallerOfTwoGoesOn) {
  const Op further = set(b, AluOp::Add, reg(t), number(1));
  const RegisterForms forms = formsOf({}, {count(t), further, set(a, AluOp::Min, reg(t), reg(b)),
                                           set(u, AluOp::Min, reg(a), number(40))});
  EXPECT_FALSE(forms.sidesAt(3).any());
  EXPECT_TRUE(forms.sidesAt(4).more);
  // What two counters decide together, and a number, is open; without the number, it is not.
  const std::vector<Op> two = {count(t), count(b), set(a, AluOp::Min, reg(t), reg(b)), waitFor(a)};
  EXPECT_FALSE(isOpen(two));
  EXPECT_TRUE(isOpen({count(t), count(b), set(a, AluOp::Min, reg(t), reg(b)),
                      set(u, AluOp::Min, reg(a), number(40)), waitFor(u)}));
}

TEST(RegisterForms, WhatMayBeginAgainIsNotCompared) {
  const std::vector<Op> capped = {count(t), set(a, AluOp::Mul, reg(t), number(3197)),
                                  set(u, AluOp::Min, reg(t), reg(a)), waitFor(u)};
  EXPECT_FALSE(isOpen(capped));
  EXPECT_TRUE(isOpen(capped, {a}));
  const std::vector<Op> switched = {count(a), Op::whenBegin(reg(a)), count(t),
                                    Op::mark(OpKind::WhenEnd, 1), waitFor(t)};
  EXPECT_FALSE(isOpen({count(a), waitFor(a)}, {a})); // it is seen where it begins again
  EXPECT_TRUE(isOpen(switched, {a}));
}

TEST(RegisterForms, ANumberThatBeganAgainIsKnown) {
  const std::vector<Op> before = {set(a, AluOp::Add, number(UINT32_MAX), number(501))};
  const std::vector<Op> body = {count(t), set(u, AluOp::Min, reg(t), reg(a)), waitFor(u)};
  EXPECT_TRUE(formsOf(before, body, {a}).openUses().empty());
}

TEST(RegisterForms, ACounterIsLessInShortRuns) {
  const RegisterForms forms =
      formsOf({}, {count(t), set(u, AluOp::IsGT, reg(t), number(20)),
                   set(v, AluOp::IsGT, number(20), reg(t)), set(v, AluOp::Sub, reg(t), reg(t))});
  EXPECT_TRUE(forms.sidesAt(2).more);
  EXPECT_FALSE(forms.sidesAt(2).less);
  EXPECT_TRUE(forms.sidesAt(3).less);
  EXPECT_FALSE(forms.sidesAt(3).more);
  EXPECT_FALSE(forms.sidesAt(4).any());
}

TEST(RegisterForms, WhatFallsMayBeginOnEitherSide) {
  const RegisterForms forms =
      formsOf({Op::move(a, number(400))},
              {set(a, AluOp::Sub, reg(a), number(1)), set(u, AluOp::IsGT, number(1), reg(a))});
  EXPECT_TRUE(forms.sidesAt(3).less);
  EXPECT_TRUE(forms.sidesAt(3).more);
}

TEST(RegisterForms, NumbersAreComputed) {
  const RegisterForms forms =
      formsOf({set(a, AluOp::Add, number(60), number(60)), set(b, AluOp::Mul, reg(a), number(2))},
              {set(u, AluOp::IsGT, reg(b), reg(a))});
  EXPECT_FALSE(forms.sidesAt(3).any());
}

} // namespace
