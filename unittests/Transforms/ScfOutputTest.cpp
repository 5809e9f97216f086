//===- ScfOutputTest.cpp - The scf form does what the code does -----------===//
//
// For random legal programs: each engine waits, issues, signals, resets and drains in scf
// form exactly as in its code, with the same values; as written by storeScf(), and
// again after upstream passes have improved it. For the code of every strategy and for code that
// no strategy makes, on machines whose subtraction saturates or wraps, whose counters
// have 32 or 16 bits, and with few registers.
//
//===----------------------------------------------------------------------===//

#include "Counts.h"
#include "RandomCode.h"
#include "oracle/Campaign.h"
#include "oracle/Outside.h"

#include "tally/Compile/Compile.h"
#include "tally/IR/Tally.h"
#include "tally/Transforms/Passes.h"
#include "tally/Transforms/ScfOutput.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

using namespace tally;
using namespace tally::oracle;

namespace {

const uint32_t numPrograms = test::numKernels(400, 2'000);
constexpr uint32_t numUnrolled = 500;
constexpr uint32_t numMistaken = 500;

/// How one program is compiled; all of it follows from a number.
struct Setting {
  Request options;
  Machine machine;
};

Setting settingOf(Strategy strategy, uint64_t n) {
  Setting setting{{}, genericMachine()};
  auto take = [&n](uint64_t choices) {
    uint64_t choice = n % choices;
    n /= choices;
    return choice;
  };
  setting.options.strategy = strategy;
  setting.machine.subtraction = take(2) == 0 ? Subtraction::Saturates : Subtraction::Wraps;
  setting.machine.waitCompare = take(2) == 0 ? WaitCompare::Unsigned : WaitCompare::Signed;
  const uint32_t narrow = strategy == Strategy::Unrolled ? 16 : 8; // no counter is ever reset
  setting.machine.counterBits = take(2) == 0 ? 32 : narrow;
  setting.options.licm = take(2) == 0;
  setting.options.cse = take(2) == 0;
  setting.options.fold = take(2) == 0;
  setting.options.participants = take(2) == 0 ? Participants::Work : Participants::All;
  if (take(2) != 0 && strategy != Strategy::Unrolled) {
    setting.machine.registersPerEngine = 8;
  }
  return setting;
}

std::string describe(const Setting &setting) {
  const Machine &machine = setting.machine;
  return fmt::format(
      "{} fold={} licm={} cse={} {} {} {} bits, {} registers", toString(setting.options.strategy),
      setting.options.fold, setting.options.licm, setting.options.cse,
      machine.subtraction == Subtraction::Wraps ? "wrapping" : "saturating",
      machine.waitCompare == WaitCompare::Signed ? "signed" : "unsigned", machine.counterBits,
      machine.registersPerEngine ? std::to_string(*machine.registersPerEngine) : "any");
}

std::string printed(mlir::Operation *op) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  op->print(stream);
  return text;
}

uint64_t sizeOf(mlir::Operation *op) {
  uint64_t size = 0;
  op->walk([&](mlir::Operation *) { ++size; });
  return size;
}

mlir::func::FuncOp functionOf(const Kernel &kernel, EngineId engine, mlir::ModuleOp module) {
  std::string name = fmt::format("{}_{}", kernel.text(kernel.name), kernel.nameOf(engine));
  return module.lookupSymbol<mlir::func::FuncOp>(name);
}

/// One program in both forms.
struct Forms {
  const Kernel &kernel;
  const Bindings &bindings;
  const Code &code;
  const Machine &machine;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

/// Where the functions of the module part from the code.
std::optional<std::string> differenceIn(const Forms &forms) {
  for (EngineId engine : forms.kernel.engines.ids()) {
    mlir::func::FuncOp function = functionOf(forms.kernel, engine, *forms.module);
    if (!function) {
      return fmt::format("no function for engine '{}'", forms.kernel.nameOf(engine));
    }
    Trace program = runCode(forms.kernel, forms.code, forms.machine, forms.bindings, engine);
    Trace scf = runScf(forms.kernel, forms.bindings, engine, function);
    if (std::optional<std::string> difference = differenceOf(program, scf)) {
      return fmt::format("engine '{}', {}", forms.kernel.nameOf(engine), *difference);
    }
  }
  return std::nullopt;
}

/// Compiles, writes the scf form, runs both, and again after the passes.
class Examiner {
public:
  Examiner() : context(mlir::MLIRContext::Threading::DISABLED), passes(&context) {
    mlir::DialectRegistry registry;
    registerDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    passes.addPass(mlir::createCSEPass());
    passes.addPass(mlir::createLoopInvariantCodeMotionPass());
    passes.addPass(mlir::createCanonicalizerPass());
    passes.addPass(mlir::createSCCPPass());
    passes.addPass(mlir::createCSEPass());
  }

  void examine(const RandomCodeCase &code, const Setting &setting);
  void examine(const RandomCodeCase &code, const Code &program, const Setting &setting);

  /// The scf form of a program; none if the setting's machine has too little for it.
  std::optional<Compiled> compileFor(const RandomCodeCase &code, const Setting &setting);
  mlir::OwningOpRef<mlir::ModuleOp> scfOf(const RandomCodeCase &code, const Code &program,
                                          const Setting &setting);

  Findings findings;
  uint64_t numCompiled = 0;
  uint64_t numRefused = 0;
  uint64_t numImproved = 0; ///< programs that the passes made smaller

private:
  void compareForms(const RandomCodeCase &code, const Setting &setting, const Forms &forms,
                    std::string_view when);

  mlir::MLIRContext context;
  mlir::PassManager passes;
};

/// Only a limit of registers is a reason to refuse.
std::optional<Compiled> Examiner::compileFor(const RandomCodeCase &code, const Setting &setting) {
  Diagnostics diagnostics;
  Request options = setting.options;
  options.overflow = code.agreeing() ? options.overflow : Overflow::Assume;
  std::optional<Compiled> compiled = compile(code.kernel, options, setting.machine, diagnostics);
  ++(compiled ? numCompiled : numRefused);
  if (!compiled && !setting.machine.registersPerEngine) {
    findings.add(code, describe(setting), "refused: " + render(diagnostics, {}), "");
  }
  return compiled;
}

mlir::OwningOpRef<mlir::ModuleOp> Examiner::scfOf(const RandomCodeCase &code, const Code &program,
                                                  const Setting &setting) {
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
  storeScf(code.kernel, program, setting.machine, *module);
  return module;
}

void Examiner::compareForms(const RandomCodeCase &code, const Setting &setting, const Forms &forms,
                            std::string_view when) {
  std::optional<std::string> what = mlir::succeeded(mlir::verify(*forms.module))
                                        ? differenceIn(forms)
                                        : "the scf form is not valid";
  if (what) {
    findings.add(code, describe(setting), fmt::format("{}: {}", when, *what),
                 printed(*forms.module));
  }
}

void Examiner::examine(const RandomCodeCase &code, const Setting &setting) {
  if (std::optional<Compiled> compiled = compileFor(code, setting)) {
    examine(code, compiled->code, setting);
  }
}

void Examiner::examine(const RandomCodeCase &code, const Code &program, const Setting &setting) {
  Forms forms{code.kernel, code.bindings, program, setting.machine, scfOf(code, program, setting)};
  compareForms(code, setting, forms, "as written");
  uint64_t before = sizeOf(*forms.module);
  if (mlir::failed(passes.run(*forms.module))) {
    findings.add(code, describe(setting), "the passes fail", printed(*forms.module));
    return;
  }
  compareForms(code, setting, forms, "after passes");
  numImproved += sizeOf(*forms.module) < before;
}

std::vector<Strategy> strategiesFor(const RandomCodeCase &code) {
  std::vector<Strategy> strategies{Strategy::PerInstruction, Strategy::PerLoop};
  if (code.agreeing()) {
    strategies.push_back(Strategy::PerEngine);
    strategies.push_back(Strategy::Barrier);
  }
  return strategies;
}

} // namespace

TEST(ScfOutputTest, doesWhatTheCodeDoes) {
  Examiner examiner;
  fuzz::Range seeds = seedsOf(numPrograms);
  for (uint64_t seed = seeds.min; seed <= seeds.max && !examiner.findings.enough(); ++seed) {
    RandomCodeCase code(seed, optionsForSeed(seed));
    for (Strategy strategy : strategiesFor(code)) {
      examiner.examine(code, settingOf(strategy, seed));
    }
  }
  EXPECT_EQ(examiner.findings.count(), 0u)
      << examiner.findings.report("TransformsTests", "ScfOutputTest.does*");
  // Neither too few programs nor passes that have nothing to do.
  if (!seedsAreChosen()) {
    EXPECT_GT(examiner.numCompiled, 3 * numPrograms - numPrograms / 2);
    EXPECT_LT(examiner.numRefused, examiner.numCompiled / 5);
    EXPECT_GT(examiner.numImproved, examiner.numCompiled / 2);
  }
}

/// Constant loops only, so that loops can also be written out.
TEST(ScfOutputTest, doesWhatUnrolledCodeDoes) {
  Examiner examiner;
  fuzz::RandomKernelOptions options;
  options.constantPercent = 100;
  options.ifPercent = 0;
  fuzz::Range seeds = seedsOf(numUnrolled);
  for (uint64_t seed = seeds.min; seed <= seeds.max && !examiner.findings.enough(); ++seed) {
    RandomCodeCase code(seed, options);
    for (Strategy strategy : {Strategy::Unrolled, Strategy::PerLoop}) {
      examiner.examine(code, settingOf(strategy, seed));
    }
  }
  EXPECT_EQ(examiner.findings.count(), 0u)
      << examiner.findings.report("TransformsTests", "ScfOutputTest.doesWhatUnrolled*");
  EXPECT_GT(examiner.numCompiled, 0u);
}

TEST(ScfOutputTest, doesWhatAnyCodeDoes) {
  Examiner examiner;
  fuzz::Range seeds = seedsOf(numPrograms);
  for (uint64_t seed = seeds.min; seed <= seeds.max && !examiner.findings.enough(); ++seed) {
    RandomCodeCase code(seed, optionsForSeed(seed));
    Code program = randomCode(code.kernel, seed);
    Diagnostics faults;
    verifyCode(code.kernel, program, faults);
    ASSERT_FALSE(faults.hasErrors()) << render(faults, {});
    examiner.examine(code, program, settingOf(Strategy::Manual, seed));
  }
  EXPECT_EQ(examiner.findings.count(), 0u)
      << examiner.findings.report("TransformsTests", "ScfOutputTest.doesWhatAny*");
}

//===----------------------------------------------------------------------===//
// Seeded mistakes: would the comparison notice?
//===----------------------------------------------------------------------===//

namespace {

/// A change of the scf form.
struct Mistake {
  bool (*applies)(mlir::Operation *op);
  void (*make)(mlir::Operation *op);
};

struct Score {
  uint32_t changed = 0;
  uint32_t noticed = 0;
};

/// The operations, in order, where the mistake can be made.
std::vector<mlir::Operation *> placesOf(mlir::ModuleOp module, const Mistake &mistake) {
  std::vector<mlir::Operation *> places;
  module->walk([&](mlir::Operation *op) {
    if (mistake.applies(op)) {
      places.push_back(op);
    }
  });
  return places;
}

/// Makes the mistake at each place in turn, in fresh copies.
void tryMistake(Examiner &examiner, const RandomCodeCase &code, const Setting &setting,
                const Mistake &mistake, Score &score) {
  std::optional<Compiled> compiled = examiner.compileFor(code, setting);
  if (!compiled) {
    return;
  }
  mlir::OwningOpRef<mlir::ModuleOp> original = examiner.scfOf(code, compiled->code, setting);
  size_t numPlaces = placesOf(*original, mistake).size();
  for (size_t at = 0; at < numPlaces; ++at) {
    Forms forms{code.kernel, code.bindings, compiled->code, setting.machine,
                mlir::OwningOpRef<mlir::ModuleOp>(original->clone())};
    mistake.make(placesOf(*forms.module, mistake)[at]);
    ++score.changed;
    score.noticed += differenceIn(forms).has_value();
  }
}

Score scoreOf(const Mistake &mistake) {
  Examiner examiner;
  Score score;
  for (uint64_t seed = 0; seed < numMistaken; ++seed) {
    RandomCodeCase code(seed, optionsForSeed(seed));
    Setting setting = settingOf(Strategy::PerLoop, seed);
    setting.options.overflow = Overflow::Assume; // code for resets hardly ever runs
    tryMistake(examiner, code, setting, mistake, score);
  }
  return score;
}

bool isOutside(mlir::Operation *op) {
  return mlir::isa<ir::RunOp, ir::AwaitOp, ir::SignalOp, ir::ResetOp, ir::DrainOp>(op);
}

/// A yield of at least two values, the first two different.
bool canSwap(mlir::Operation *op) {
  return mlir::isa<mlir::scf::YieldOp>(op) && op->getNumOperands() >= 2 &&
         op->getOperand(0) != op->getOperand(1);
}

void swapOperands(mlir::Operation *op) {
  mlir::Value first = op->getOperand(0);
  op->setOperand(0, op->getOperand(1));
  op->setOperand(1, first);
}

} // namespace

// What is noticed of a mistake depends on how often its place is run, and on whether the
// values differ there. The bounds are somewhat below what was measured.

TEST(ScfMistakesTest, lostEffectIsNoticed) {
  Score score = scoreOf({isOutside, [](mlir::Operation *op) { op->erase(); }});
  EXPECT_GT(score.changed, 1000u);
  EXPECT_GT(score.noticed * 2, score.changed);
}

TEST(ScfMistakesTest, effectOutOfOrderIsNoticed) {
  Score score = scoreOf({[](mlir::Operation *op) {
                           if (!isOutside(op)) {
                             return false;
                           }
                           mlir::Operation *next = op->getNextNode();
                           return next && isOutside(next);
                         },
                         [](mlir::Operation *op) { op->getNextNode()->moveBefore(op); }});
  EXPECT_GT(score.changed, 1000u);
  EXPECT_GT(score.noticed * 2, score.changed);
}

TEST(ScfMistakesTest, swappedIterationArgumentsAreNoticed) {
  Score score = scoreOf({[](mlir::Operation *op) {
                           return canSwap(op) && !mlir::isa<mlir::scf::IfOp>(op->getParentOp());
                         },
                         swapOperands});
  EXPECT_GT(score.changed, 100u);
  EXPECT_GT(score.noticed * 6, score.changed);
}

TEST(ScfMistakesTest, swappedBranchResultsAreNoticed) {
  Score score = scoreOf({[](mlir::Operation *op) {
                           return canSwap(op) && mlir::isa<mlir::scf::IfOp>(op->getParentOp());
                         },
                         swapOperands});
  EXPECT_GT(score.changed, 50u);
  EXPECT_GT(score.noticed * 6, score.changed);
}

/// A trip count or guard asked for once outside, as if the question had no effect.
TEST(ScfMistakesTest, hoistedQuestionIsNoticed) {
  Score score = scoreOf({[](mlir::Operation *op) {
                           return mlir::isa<ir::TripsOp, ir::GuardOp>(op) &&
                                  mlir::isa<mlir::scf::ForOp>(op->getParentOp());
                         },
                         [](mlir::Operation *op) { op->moveBefore(op->getParentOp()); }});
  EXPECT_GT(score.changed, 100u);
  EXPECT_GT(score.noticed * 6, score.changed);
}
