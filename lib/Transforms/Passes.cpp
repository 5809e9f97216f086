//===- Passes.cpp - The compiler as passes --------------------------------===//
#include "tally/Transforms/Passes.h"

#include "tally/Compile/Compile.h"
#include "tally/Compile/Prepare.h"
#include "tally/Compile/Settle.h"
#include "tally/Deps/Extract.h"
#include "tally/IR/Load.h"
#include "tally/Model/Check.h"
#include "tally/Model/Open.h"
#include "tally/Support/Names.h"
#include "tally/Support/Printable.h"
#include "tally/Sync/Plan.h"
#include "tally/Transforms/Bridge.h"
#include "tally/Transforms/ScfOutput.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"

#include <fmt/format.h>

namespace tally {
namespace {

/// What is wrong with an option has no place in the module.
mlir::InFlightDiagnostic optionError(mlir::MLIRContext *context) {
  return mlir::emitError(mlir::UnknownLoc::get(context));
}

std::optional<Machine> orErrors(MachineResult result, mlir::MLIRContext *context) {
  ir::emit(result.files, result.errors, context);
  return std::move(result.machine);
}

/// The machine of this name, or errors.
std::optional<Machine> machineNamed(const std::string &name, mlir::MLIRContext *context) {
  return orErrors(loadMachine(name), context);
}

/// Whether the name is one of `known`, which are `plural`; or an error.
bool isKnown(const std::string &name, std::string_view kind, std::string_view plural,
             const std::vector<std::string> &known, mlir::MLIRContext *context) {
  bool isThere = llvm::is_contained(known, name);
  if (!isThere) {
    optionError(context) << printable(
        unknownName(kind, plural, name, {known.begin(), known.end()}));
  }
  return isThere;
}

/// All kernels; none, if there were errors, which have then been reported.
std::optional<std::vector<LoadedKernel>> loadLegal(mlir::ModuleOp module) {
  Diagnostics diagnostics;
  std::vector<LoadedKernel> loaded = loadKernels(module, diagnostics);
  if (!loaded.empty()) {
    emit(loaded.back().kernel, diagnostics, module.getContext());
  }
  if (diagnostics.hasErrors()) {
    return std::nullopt;
  }
  return loaded;
}

class SyncPass : public mlir::PassWrapper<SyncPass, mlir::OperationPass<mlir::ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SyncPass)

  SyncPass() = default;

  SyncPass(const SyncPass &other) : PassWrapper(other) {}

  llvm::StringRef getArgument() const final { return "tally-sync"; }

  llvm::StringRef getDescription() const final {
    return "compile each tally.kernel to one program per engine";
  }

protected:
  void runOnOperation() final {
    std::optional<Machine> machine;
    if (!machineName.empty()) {
      machine = machineNamed(machineName, &getContext());
    }
    if (!hasGoodOptions() || (!machine && !machineName.empty())) {
      return signalPassFailure();
    }
    std::optional<std::vector<LoadedKernel>> loaded = loadLegal(getOperation());
    if (loaded && !machine) {
      machine = usualFor(*loaded);
    }
    if (!loaded || !machine) {
      return signalPassFailure();
    }
    if (request().strategy == Strategy::Manual) {
      return; // the code is what the input says
    }
    for (LoadedKernel &each : *loaded) {
      each.kernel = onMachine(std::move(each.kernel), *machine);
      remark(each, *machine);
      if (std::optional<Kernel> kernel = withDeps(each.kernel, *machine)) {
        compile(*kernel, *machine);
      }
    }
  }

private:
  std::optional<Machine> usualFor(const std::vector<LoadedKernel> &loaded) {
    std::vector<std::string_view> engines;
    for (const LoadedKernel &each : loaded) {
      for (EngineId engine : each.kernel.engines.ids()) {
        engines.push_back(each.kernel.nameOf(engine));
      }
    }
    return orErrors(usualMachine(engines).result, &getContext());
  }

  void compile(const Kernel &kernel, const Machine &machine) {
    Diagnostics diagnostics;
    std::optional<Compiled> compiled = tally::compile(kernel, request(), machine, diagnostics);
    emit(kernel, diagnostics, &getContext());
    if (!compiled) {
      return signalPassFailure();
    }
    storeCode(kernel, compiled->code, getOperation());
  }

  /// All errors at once.
  bool hasGoodOptions() {
    constexpr double mostGrowth = 1000;
    bool isGood = isKnown(strategyName, "strategy", "strategies", strategyNames(), &getContext());
    isGood &= isKnown(overflowName, "'overflow'", "choices", allWords<Overflow>(), &getContext());
    if (!(codeGrowth >= 1 && codeGrowth <= mostGrowth)) {
      optionError(&getContext()) << fmt::format(
          "max-code-growth: expected a number from 1 to {}, found '{}'", mostGrowth,
          codeGrowth.getValue());
      isGood = false;
    }
    return isGood;
  }

  void remark(const LoadedKernel &loaded, const Machine &machine) {
    Diagnostics diagnostics;
    remarkKernel(loaded.kernel, machine, diagnostics);
    if (!strategyName.hasValue()) { // code goes unused, and nobody asked for it
      warnOfUnusedCode(loaded, request().strategy, {"strategy"}, diagnostics);
    }
    emit(loaded.kernel, diagnostics, &getContext());
  }

  Request request() const {
    return {.findDeps = findsDeps,
            .keepImplied = keepImplied,
            .strategy = *fromWord<Strategy>(strategyName.getValue()),
            .participants = allParticipants ? Participants::All : Participants::Work,
            .fold = fold,
            .licm = licm,
            .cse = cse,
            .keepCounters = keepCounters,
            .codeGrowth = codeGrowth,
            .overflow = *fromWord<Overflow>(overflowName.getValue())};
  }

  /// The kernel with the dependences that are found, which are stored; or as it is. None if they
  /// are not legal.
  std::optional<Kernel> withDeps(const Kernel &kernel, const Machine &machine) {
    Diagnostics diagnostics;
    if (leavesOpen(kernel)) {
      remarkOpen(kernel, "nothing is chosen by passes", diagnostics);
    }
    if (!asksForDeps(kernel)) {
      remarkUncovered(kernel, request(), machine, extractor, diagnostics);
      emit(kernel, diagnostics, &getContext());
      return kernel;
    }
    Kernel found = findAsked(kernel, request(), machine, extractor, diagnostics);
    emit(found, diagnostics, &getContext());
    if (diagnostics.hasErrors()) {
      signalPassFailure();
      return std::nullopt;
    }
    storeDeps(found, getOperation());
    return found;
  }

  Option<std::string> strategyName{*this, "strategy",
                                   llvm::cl::desc("how dependences are synchronised"),
                                   llvm::cl::init("auto")};
  Option<std::string> machineName{*this, "machine",
                                  llvm::cl::desc("name or JSON file of the target; if none is "
                                                 "named: trn2 if it has all engines, teaching if "
                                                 "not")};
  Option<std::string> overflowName{*this, "overflow",
                                   llvm::cl::desc("reset, refuse, or assume that counters fit"),
                                   llvm::cl::init("reset")};
  Option<double> codeGrowth{
      *this, "max-code-growth",
      llvm::cl::desc("auto: unroll loops; the code may get at most this many times as large"),
      llvm::cl::init(1.0)};
  Option<bool> allParticipants{*this, "all-participants",
                               llvm::cl::desc("every engine meets at every barrier"),
                               llvm::cl::init(false)};
  Option<bool> fold{*this, "fold", llvm::cl::desc("evaluate constants in wait values"),
                    llvm::cl::init(true)};
  Option<bool> licm{*this, "licm", llvm::cl::desc("compute values at the outermost place"),
                    llvm::cl::init(true)};
  Option<bool> cse{*this, "cse", llvm::cl::desc("compute equal values once"), llvm::cl::init(true)};
  Option<bool> keepCounters{
      *this, "keep-counters",
      llvm::cl::desc(
          "count each loop on every engine that runs it, even if no wait reads the count"),
      llvm::cl::init(false)};
  Option<bool> findsDeps{*this, "find-deps",
                         llvm::cl::desc("find the dependences of kernels that say what "
                                        "instructions touch, and none"),
                         llvm::cl::init(true)};
  Option<bool> keepImplied{*this, "keep-implied",
                           llvm::cl::desc("keep those that the others imply"),
                           llvm::cl::init(false)};

  Extractor extractor;
};

class ToScfPass : public mlir::PassWrapper<ToScfPass, mlir::OperationPass<mlir::ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ToScfPass)

  llvm::StringRef getArgument() const final { return "tally-to-scf"; }

  llvm::StringRef getDescription() const final {
    return "replace each tally.code by one function per engine, in scf and arith";
  }

  void getDependentDialects(mlir::DialectRegistry &registry) const final {
    registry.insert<mlir::arith::ArithDialect, mlir::func::FuncDialect, mlir::scf::SCFDialect>();
  }

protected:
  void runOnOperation() final {
    mlir::ModuleOp module = getOperation();
    std::optional<std::vector<LoadedKernel>> loaded = loadLegal(module);
    if (!loaded) {
      return signalPassFailure();
    }
    for (const LoadedKernel &each : *loaded) {
      if (!each.code) {
        continue;
      }
      const std::string &name = each.code->machine;
      std::optional<Machine> machine = machineNamed(name.empty() ? "generic" : name, &getContext());
      if (!machine) {
        return signalPassFailure();
      }
      if (machine->counterBits > 32) {
        mlir::emitError(ir::toMlir(&getContext(), each.kernel.files, each.codeAt))
            << "machine '" << machine->name << "' has counters of " << machine->counterBits
            << " bits; the scf form has at most 32";
        return signalPassFailure();
      }
      storeScf(each.kernel, *each.code, *machine, module);
    }
    for (auto code : llvm::make_early_inc_range(module.getOps<ir::CodeOp>())) {
      code.erase();
    }
  }
};

class NormalizePass : public mlir::PassWrapper<NormalizePass, mlir::OperationPass<mlir::ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(NormalizePass)

  llvm::StringRef getArgument() const final { return "tally-normalize"; }

  llvm::StringRef getDescription() const final {
    return "write each kernel, with its code, as the core understands it";
  }

protected:
  void runOnOperation() final {
    mlir::ModuleOp module = getOperation();
    std::optional<std::vector<LoadedKernel>> loaded = loadLegal(module);
    if (!loaded) {
      return signalPassFailure();
    }
    for (mlir::Operation &op : llvm::make_early_inc_range(*module.getBody())) {
      if (mlir::isa<ir::KernelOp, ir::CodeOp>(op)) {
        op.erase();
      }
    }
    for (const LoadedKernel &each : *loaded) {
      storeKernel(each.kernel, each.code ? &*each.code : nullptr, module);
    }
  }
};

} // namespace

void registerPasses() {
  mlir::PassRegistration<NormalizePass>();
  mlir::PassRegistration<SyncPass>();
  mlir::PassRegistration<ToScfPass>();
}

void registerDialects(mlir::DialectRegistry &registry) {
  registry.insert<ir::TallyDialect, mlir::arith::ArithDialect, mlir::func::FuncDialect,
                  mlir::memref::MemRefDialect, mlir::scf::SCFDialect>();
}

} // namespace tally
