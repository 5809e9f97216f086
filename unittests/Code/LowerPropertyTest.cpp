//===- LowerPropertyTest.cpp - Code against the definition ----------------===//
//
// The whole way from kernel to per-engine code, for random legal programs: every
// instruction is issued as often as in the kernel, and passes exactly the thresholds that
// enumeration asks for. On machines whose subtraction saturates or wraps and whose waits
// compare with or without sign, with every combination of hoisting, sharing and
// folding, and with few registers.
//
//===----------------------------------------------------------------------===//

#include "Counts.h"
#include "oracle/Campaign.h"
#include "oracle/CodeComparison.h"
#include "oracle/PlanComparison.h"

#include "tally/Lower/Lower.h"

#include <fmt/format.h>
#include <functional>
#include <gtest/gtest.h>

using namespace tally;
using namespace tally::oracle;

namespace {

const uint32_t numPrograms = test::numKernels(12'000, 100'000);
const uint32_t numInAllSettings = test::numKernels(20, 100);
constexpr uint32_t numUnrolled = 20000;
constexpr uint32_t numMistaken = 3000;
constexpr uint32_t enough = 100; ///< reports of one kind of mistake
constexpr Strategy strategies[] = {Strategy::PerInstruction, Strategy::PerLoop, Strategy::PerEngine,
                                   Strategy::Auto};

/// How one program is compiled; all of it follows from a number.
struct Setting {
  Strategy strategy;
  bool fold;
  LowerDecisions lower;
  Machine machine;
};

/// Of all machines and switches, the combination number `n`.
Setting settingOf(Strategy strategy, uint64_t n) {
  Setting setting{strategy, false, {}, genericMachine()};
  auto take = [&n](uint64_t choices) {
    uint64_t choice = n % choices;
    n /= choices;
    return choice;
  };
  setting.fold = take(2) == 0;
  setting.lower.licm = take(2) == 0;
  setting.lower.cse = take(2) == 0;
  setting.lower.keepCounters = take(2) == 1;
  setting.lower.nativeCounters = take(2) == 1;
  setting.lower.stepThresholds = take(2) == 1;
  setting.machine.subtraction = take(2) == 0 ? Subtraction::Saturates : Subtraction::Wraps;
  setting.machine.waitCompare = take(2) == 0 ? WaitCompare::Unsigned : WaitCompare::Signed;
  setting.machine.counterBits = take(2) == 0 ? 32 : 16;
  if (uint64_t limit = take(4); limit != 0) {
    setting.machine.registersPerEngine = static_cast<uint32_t>(3 * limit);
  }
  return setting;
}

constexpr uint64_t numSettings = uint64_t(2) * 2 * 2 * 2 * 2 * 2 * 2 * 2 * 2 * 4;

std::string describe(const Setting &setting) {
  const Machine &machine = setting.machine;
  return fmt::format(
      "{} fold={} licm={} cse={} keep={} native={} step={} {} {} {} bits, {} registers",
      toString(setting.strategy), setting.fold, setting.lower.licm, setting.lower.cse,
      setting.lower.keepCounters, setting.lower.nativeCounters, setting.lower.stepThresholds,
      machine.subtraction == Subtraction::Wraps ? "wrapping" : "saturating",
      machine.waitCompare == WaitCompare::Signed ? "signed" : "unsigned", machine.counterBits,
      machine.registersPerEngine ? std::to_string(*machine.registersPerEngine) : "any");
}

/// A program compiled, or why not.
struct Compiled {
  SyncPlan plan;
  Code code;
  std::string problem;    ///< errors of the planner, or code that is not well formed
  std::string limitError; ///< what lower() refused
};

Compiled compile(const RandomCodeCase &random, const Setting &setting) {
  const Kernel &kernel = random.kernel;
  Compiled compiled;
  PlanDecisions options = optionsOf(random, setting.strategy);
  options.fold = setting.fold;
  Diagnostics planning;
  compiled.plan = makePlan(kernel, options, planning);
  if (planning.hasErrors()) {
    compiled.problem = "no plan: " + render(planning, {});
    return compiled;
  }
  Diagnostics lowering;
  compiled.code = lower(kernel, compiled.plan, setting.machine, setting.lower, lowering);
  if (lowering.hasErrors()) {
    compiled.limitError = render(lowering, {});
    return compiled;
  }
  // Written out, a loop that runs zero times leaves nothing behind.
  bool complete = setting.strategy != Strategy::Unrolled;
  Diagnostics faults;
  verifyCode(kernel, compiled.code, faults, complete);
  if (faults.hasErrors()) {
    compiled.problem = "verifyProgram: " + render(faults, {});
  }
  return compiled;
}

/// What each wait may ask for; where loops are written out, all waits are exact.
IdVector<DepId, Allowance> allowancesIn(const Kernel &kernel, const Compiled &compiled) {
  bool written = compiled.plan.decisions.strategy == Strategy::Unrolled;
  return written ? IdVector<DepId, Allowance>(kernel.deps.size(), Allowance::Exact)
                 : allowancesOf(kernel, compiled.plan);
}

std::optional<std::string> differenceIn(const RandomCodeCase &code, const Compiled &compiled,
                                        const Setting &setting) {
  return compareCode(code.kernel, compiled.code, setting.machine, code.bindings, code.definitions,
                     allowancesIn(code.kernel, compiled), setting.strategy == Strategy::Unrolled);
}

std::string operandText(Operand operand) {
  return operand.isRegister ? fmt::format("r{}", operand.value) : fmt::format("{}", operand.value);
}

/// The compiler complains of a kind that has no name.
std::string_view nameOf(OpKind kind) {
  switch (kind) {
  case OpKind::Issue:
    return "issue";
  case OpKind::Wait:
    return "wait";
  case OpKind::Signal:
    return "signal";
  case OpKind::Reset:
    return "reset";
  case OpKind::Drain:
    return "drain";
  case OpKind::Alu:
    return "alu";
  case OpKind::LoopBegin:
    return "loop";
  case OpKind::LoopEnd:
    return "end loop";
  case OpKind::IfBegin:
    return "if";
  case OpKind::Else:
    return "else";
  case OpKind::IfEnd:
    return "end if";
  case OpKind::BarrierBegin:
    return "barrier";
  case OpKind::BarrierEnd:
    return "end barrier";
  case OpKind::WhenBegin:
    return "when";
  case OpKind::WhenEnd:
    return "end when";
  }
  return "unknown";
}

std::string_view nameOf(AluOp op) {
  switch (op) {
  case AluOp::Move:
    return "move";
  case AluOp::Add:
    return "add";
  case AluOp::Sub:
    return "sub";
  case AluOp::Mul:
    return "mul";
  case AluOp::Min:
    return "min";
  case AluOp::IsGT:
    return "gt";
  }
  return "unknown";
}

std::string opText(const Kernel &kernel, const Op &op) {
  std::string text(nameOf(op.kind));
  if (op.kind == OpKind::Alu) {
    return fmt::format("r{} = {} {} {}", op.dst.value, nameOf(op.alu), operandText(op.a),
                       operandText(op.b));
  }
  if (op.kind == OpKind::Issue) {
    text += fmt::format(" '{}'", kernel.nameOf(op.instr()));
  } else if (op.kind == OpKind::LoopBegin || op.kind == OpKind::IfBegin) {
    text += fmt::format(" '{}'", kernel.nameOf(op.loop()));
    text += op.dst.valid() ? fmt::format(" counter r{}", op.dst.value) : "";
  }
  text += op.wait.valid() ? fmt::format(" s{} >= {}", op.wait.value, operandText(op.a)) : "";
  text += op.signal.valid() ? fmt::format(" raises s{} by {}", op.signal.value, op.amount) : "";
  return text;
}

/// All operations as they are; unlike the listing for readers, also of code that is not well
/// formed.
std::string rawListing(const Kernel &kernel, const Code &code) {
  std::string text;
  for (const EngineProgram &program : code.engines) {
    text += fmt::format("code of '{}'\n", kernel.nameOf(program.engine));
    for (const Op &op : program.ops) {
      text += fmt::format("  {}\n", opText(kernel, op));
    }
  }
  return text;
}

/// Only a limit of registers is a reason to refuse; refusals are counted.
void examine(const RandomCodeCase &code, const Setting &setting, Findings &findings,
             uint64_t &refusals) {
  Compiled compiled = compile(code, setting);
  std::string what = compiled.problem;
  if (!compiled.limitError.empty()) {
    ++refusals;
    what = setting.machine.registersPerEngine ? "" : "refused: " + compiled.limitError;
  } else if (what.empty()) {
    what = differenceIn(code, compiled, setting).value_or("");
  }
  if (!what.empty()) {
    findings.add(code, describe(setting), what,
                 dump(code.kernel, compiled.plan) + rawListing(code.kernel, compiled.code));
  }
}

} // namespace

TEST(LowerPropertyTest, codeWaitsForWhatTheDefinitionAsksFor) {
  Findings findings;
  uint64_t refusals = 0;
  uint64_t compiledPrograms = 0;
  fuzz::Range seeds = seedsOf(numPrograms);
  for (uint64_t seed = seeds.min; seed <= seeds.max && !findings.enough(); ++seed) {
    RandomCodeCase code(seed, optionsForSeed(seed));
    for (Strategy strategy : strategies) {
      if (strategy == Strategy::PerEngine && !code.agreeing()) {
        continue;
      }
      examine(code, settingOf(strategy, seed), findings, refusals);
      ++compiledPrograms;
    }
  }
  EXPECT_EQ(findings.count(), 0u) << findings.report("CodeTests", "LowerPropertyTest.code*");
  // Few registers are refused now and then, but not so often that little was compared.
  EXPECT_LT(refusals * 4, compiledPrograms + 4);
}

/// Every combination of machine and switches on the same programs: one that is wrong
/// only in rare combinations does not hide behind the others.
TEST(LowerPropertyTest, everySettingAgrees) {
  Findings findings;
  uint64_t refusals = 0;
  fuzz::Range seeds = seedsOf(numInAllSettings, /*work=*/numSettings);
  for (uint64_t seed = seeds.min; seed <= seeds.max && !findings.enough(); ++seed) {
    RandomCodeCase code(seed, optionsForSeed(seed));
    for (uint64_t n = 0; n < numSettings; ++n) {
      for (Strategy strategy : strategies) {
        if (strategy != Strategy::PerEngine || code.agreeing()) {
          examine(code, settingOf(strategy, n), findings, refusals);
        }
      }
    }
  }
  EXPECT_EQ(findings.count(), 0u) << findings.report("CodeTests", "LowerPropertyTest.every*");
}

/// Written-out loops leave nothing to count, so their thresholds are numbers, and exact in
/// every class.
TEST(LowerPropertyTest, unrolledThresholdsAreExact) {
  Findings findings;
  uint64_t refusals = 0;
  fuzz::RandomKernelOptions options;
  options.constantPercent = 100;
  options.ifPercent = 0;
  fuzz::Range seeds = seedsOf(numUnrolled);
  for (uint64_t seed = seeds.min; seed <= seeds.max && !findings.enough(); ++seed) {
    RandomCodeCase code(seed, options);
    Setting setting = settingOf(Strategy::Unrolled, seed);
    setting.machine.registersPerEngine.reset();
    examine(code, setting, findings, refusals);
  }
  EXPECT_EQ(findings.count(), 0u) << findings.report("CodeTests", "LowerPropertyTest.unrolled*");
}

//===----------------------------------------------------------------------===//
// Seeded mistakes: would the comparison notice?
//===----------------------------------------------------------------------===//

namespace {

using Ops = std::vector<Op>;

/// Changes operation `at`; false if the mistake cannot be made there.
using Mistake = std::function<bool(Ops &ops, size_t at)>;

struct Score {
  uint32_t changed = 0;
  uint32_t reported = 0;
};

/// Makes the mistake at each operation in turn, in fresh copies.
void tryMistake(const RandomCodeCase &code, const Setting &setting, const Mistake &mistake,
                Score &score) {
  Compiled compiled = compile(code, setting);
  if (!compiled.problem.empty() || !compiled.limitError.empty()) {
    return;
  }
  for (EngineProgram &program : compiled.code.engines) {
    const Ops original = program.ops;
    for (size_t at = 0; at < original.size(); ++at) {
      if (mistake(program.ops, at)) {
        ++score.changed;
        score.reported += differenceIn(code, compiled, setting).has_value();
      }
      program.ops = original;
    }
  }
}

/// Caught more than once, and in one case of twenty; many lie in loops that run too rarely to
/// matter.
void expectCaught(const Mistake &mistake, const Setting &setting) {
  Score score;
  for (uint64_t seed = 0; seed < numMistaken && score.reported < enough; ++seed) {
    RandomCodeCase code(seed, {});
    tryMistake(code, setting, mistake, score);
  }
  EXPECT_GE(score.changed, 20u) << "the mistake was hardly ever made";
  EXPECT_GE(score.reported * 20, score.changed) << score.reported << " of " << score.changed;
  EXPECT_GE(score.reported, 5u) << score.reported << " of " << score.changed;
}

void expectCaught(const Mistake &mistake, Strategy strategy = Strategy::PerLoop) {
  expectCaught(mistake, settingOf(strategy, 0));
}

/// The two ways in which 'auto' counts for less.
Setting steppedSetting() {
  Setting setting = settingOf(Strategy::Auto, 0);
  setting.lower.stepThresholds = true;
  return setting;
}

Setting nativeSetting() {
  Setting setting = settingOf(Strategy::Auto, 0);
  setting.lower.nativeCounters = true;
  return setting;
}

bool isIncrement(const Op &op) {
  return op.kind == OpKind::Alu && op.alu == AluOp::Add && op.a == Operand::reg(op.dst) &&
         !op.b.isRegister;
}

bool isMove(const Op &op, bool ofRegister) {
  return op.kind == OpKind::Alu && op.alu == AluOp::Move && op.a.isRegister == ofRegister;
}

void erase(Ops &ops, size_t at) {
  ops.erase(ops.begin() + static_cast<ptrdiff_t>(at));
}

void moveTo(Ops &ops, size_t from, size_t to) {
  Op op = ops[from];
  erase(ops, from);
  ops.insert(ops.begin() + static_cast<ptrdiff_t>(to), op);
}

/// Whether `at` lies inside a loop of the code.
bool isInLoop(const Ops &ops, size_t at) {
  int depth = 0;
  for (size_t i = 0; i < at; ++i) {
    depth += ops[i].kind == OpKind::LoopBegin;
    depth -= ops[i].kind == OpKind::LoopEnd;
  }
  return depth > 0;
}

/// The end of the loop that `at` lies directly in; 0 if it lies in none.
size_t endOfLoop(const Ops &ops, size_t at) {
  int depth = 0;
  for (size_t i = at; i < ops.size(); ++i) {
    depth += ops[i].kind == OpKind::LoopBegin;
    if (ops[i].kind == OpKind::LoopEnd && depth-- == 0) {
      return i;
    }
  }
  return 0;
}

} // namespace

/// A trip counter that starts again only with the kernel takes later trips for a long one.
TEST(LowerMistakesTest, tripResetIsRemoved) {
  expectCaught([](Ops &ops, size_t at) {
    bool reset = isMove(ops[at], /*ofRegister=*/false) && isInLoop(ops, at);
    if (reset) {
      erase(ops, at);
    }
    return reset;
  });
}

TEST(LowerMistakesTest, incrementIsRemoved) {
  expectCaught([](Ops &ops, size_t at) {
    bool increment = isIncrement(ops[at]);
    if (increment) {
      erase(ops, at);
    }
    return increment;
  });
}

/// Counters lag by one where they are counted behind the work of the iteration.
TEST(LowerMistakesTest, incrementIsMovedToTheEndOfTheBody) {
  expectCaught([](Ops &ops, size_t at) {
    size_t end = endOfLoop(ops, at);
    bool increment = isIncrement(ops[at]) && end != 0;
    if (increment) {
      moveTo(ops, at, end - 1);
    }
    return increment;
  });
}

/// Counted before the statement of the loop: once per trip, not once per iteration.
TEST(LowerMistakesTest, incrementIsHoistedOutOfTheLoop) {
  expectCaught([](Ops &ops, size_t at) {
    bool first = isIncrement(ops[at]) && at > 0 && ops[at - 1].kind == OpKind::LoopBegin;
    if (first) {
      std::swap(ops[at], ops[at - 1]);
    }
    return first;
  });
}

TEST(LowerMistakesTest, ringShiftIsDropped) {
  expectCaught([](Ops &ops, size_t at) {
    bool shift = isMove(ops[at], /*ofRegister=*/true);
    if (shift) {
      erase(ops, at);
    }
    return shift;
  });
}

/// Shifted from the new end, all slots become the newest.
TEST(LowerMistakesTest, ringIsShiftedInTheWrongOrder) {
  expectCaught([](Ops &ops, size_t at) {
    bool chained = at + 1 < ops.size() && isMove(ops[at], true) && isMove(ops[at + 1], true) &&
                   ops[at].a == Operand::reg(ops[at + 1].dst);
    if (chained) {
      std::swap(ops[at], ops[at + 1]);
    }
    return chained;
  });
}

TEST(LowerMistakesTest, ringIsShiftedAfterTheCount) {
  expectCaught([](Ops &ops, size_t at) {
    size_t end = endOfLoop(ops, at);
    bool shift = isMove(ops[at], true) && end != 0;
    if (shift) {
      moveTo(ops, at, end - 1);
    }
    return shift;
  });
}

TEST(LowerMistakesTest, maskIsNotMultiplied) {
  expectCaught([](Ops &ops, size_t at) {
    Op &op = ops[at];
    bool product = op.kind == OpKind::Alu && op.alu == AluOp::Mul && op.b.isRegister;
    if (product) {
      op = Op::move(op.dst, op.b);
    }
    return product;
  });
}

TEST(LowerMistakesTest, waitIsLost) {
  expectCaught([](Ops &ops, size_t at) {
    bool waits = ops[at].wait.valid();
    if (ops[at].kind == OpKind::Wait) {
      erase(ops, at);
    } else {
      ops[at].wait = SemaId();
    }
    return waits;
  });
}

TEST(LowerMistakesTest, waitIsForOneTooMany) {
  expectCaught([](Ops &ops, size_t at) {
    Op &op = ops[at];
    bool number = op.wait.valid() && !op.a.isRegister;
    op.a.value += number;
    return number;
  });
}

TEST(LowerMistakesTest, waitIsOnAnotherSemaphore) {
  expectCaught([](Ops &ops, size_t at) {
    Op &op = ops[at];
    bool waits = op.wait.valid() && op.wait.value > 0;
    op.wait.value -= waits;
    return waits;
  });
}

/// The thresholds still count the signal that is gone.
TEST(LowerMistakesTest, signalIsLost) {
  expectCaught([](Ops &ops, size_t at) {
    bool signals = ops[at].signal.valid();
    ops[at].signal = SemaId();
    return signals;
  });
}

TEST(LowerMistakesTest, instructionIsIssuedTwice) {
  expectCaught([](Ops &ops, size_t at) {
    Op op = ops[at];
    if (op.kind == OpKind::Issue) {
      ops.insert(ops.begin() + static_cast<ptrdiff_t>(at), op);
    }
    return op.kind == OpKind::Issue;
  });
}

/// The place of a producer, taken before its block is counted, is that of the run before.
TEST(LowerMistakesTest, placeIsNotCounted) {
  auto mistake = [](Ops &ops, size_t at) {
    bool count = isIncrement(ops[at]);
    if (count) {
      erase(ops, at);
    }
    return count;
  };
  expectCaught(mistake, Strategy::PerEngine);
}

//===----------------------------------------------------------------------===//
// Stepped thresholds, native counters
//===----------------------------------------------------------------------===//

TEST(LowerMistakesTest, thresholdIsNotStepped) {
  auto mistake = [](Ops &ops, size_t at) {
    bool step = isIncrement(ops[at]) && at + 1 < ops.size() && ops[at + 1].kind == OpKind::LoopEnd;
    if (step) {
      erase(ops, at);
    }
    return step;
  };
  expectCaught(mistake, steppedSetting());
}

/// Stepped before the first wait of the body has read it.
TEST(LowerMistakesTest, thresholdIsSteppedTooEarly) {
  auto mistake = [](Ops &ops, size_t at) {
    bool step = isIncrement(ops[at]) && at + 1 < ops.size() && ops[at + 1].kind == OpKind::LoopEnd;
    size_t begin = at;
    for (int depth = 0; step && begin > 0 && depth <= 0; --begin) {
      depth -= ops[begin - 1].kind == OpKind::LoopEnd;
      depth += ops[begin - 1].kind == OpKind::LoopBegin;
    }
    if (step) {
      moveTo(ops, at, begin + 1);
    }
    return step;
  };
  expectCaught(mistake, steppedSetting());
}

TEST(LowerMistakesTest, thresholdStartsAnEntryTooLate) {
  auto mistake = [](Ops &ops, size_t at) {
    bool start = isMove(ops[at], /*ofRegister=*/false) && !isInLoop(ops, at);
    ops[at].a.value += start;
    return start;
  };
  expectCaught(mistake, steppedSetting());
}

/// Without its counter, what the loop's waits read is what the register held before.
TEST(LowerMistakesTest, loopDoesNotCount) {
  auto mistake = [](Ops &ops, size_t at) {
    bool counts = ops[at].kind == OpKind::LoopBegin && ops[at].dst.valid();
    ops[at].dst = counts ? RegId() : ops[at].dst;
    return counts;
  };
  expectCaught(mistake, nativeSetting());
}
