//===- Verify.cpp - What may stand where, and legality --------------------===//
//
// An operation outside any kernel or code is reported by its own verifier. Everything inside is
// reported by the verifier of the kernel or code around it, all in one run. First come
// operations that may not stand where they stand, then what the core says about the meaning
// (Check.h, Bounds.h, verifyCode), each at its own place.
//
// So an editor that runs the verifier shows every mistake of a kernel at once. It is linear in the
// kernel, like the core's checks.
//
//===----------------------------------------------------------------------===//

#include "Assembly.h"
#include "tally/IR/Load.h"

#include "tally/Deps/Bounds.h"
#include "tally/Support/Printable.h"

#include "mlir/IR/BuiltinOps.h"

namespace tally::ir {
namespace {

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

template <typename... Ops> bool is(mlir::Operation *op) {
  return mlir::isa<Ops...>(op);
}

constexpr auto isStatement = is<InstrOp, LoopOp, IfOp, DepOp>;
constexpr auto isStep =
    is<SetOp, ForOp, BranchOp, WaitOp, IssueOp, SignalOp, ResetOp, DrainOp, BarrierOp, WhenOp>;

/// A body of the dialect: whose it is, and what it may hold.
struct BodyRule {
  bool (*isOf)(mlir::Operation *op);
  bool (*holds)(mlir::Operation *op);
  bool (*alsoHolds)(mlir::Operation *op);
  const char *allowed;
};

constexpr BodyRule bodyRules[] = {
    {is<KernelOp>, isStatement, is<EngineOp, ValueOp, BufferOp>,
     "engine, value, buffer, loop, if, instr and dep"},
    {is<LoopOp, IfOp>, isStatement, isStatement, "loop, if, instr and dep"},
    {is<CodeOp>, is<SemaphoreOp>, is<ProgramOp>, "semaphore and program"},
    {is<ProgramOp>, isStep, is<RegisterOp>,
     "register, set, for, branch, wait, issue, signal, reset, drain, barrier and when"},
    {is<ForOp, BranchOp, BarrierOp, WhenOp>, isStep, isStep,
     "set, for, branch, wait, issue, signal, reset, drain, barrier and when"},
};

/// Of the bodies of an operation; null if it has none.
const BodyRule *ruleOf(mlir::Operation *op) {
  const BodyRule *rule = llvm::find_if(bodyRules, [&](const BodyRule &r) { return r.isOf(op); });
  return rule == std::end(bodyRules) ? nullptr : rule;
}

/// Where an operation belongs that stands in no body of the dialect.
const char *homeOf(mlir::Operation *op) {
  if (mlir::isa<KernelOp, CodeOp>(op)) {
    return "directly in a module";
  }
  if (mlir::isa<EngineOp, ValueOp, BufferOp>(op)) {
    return "directly in a 'tally.kernel'";
  }
  if (isStatement(op)) {
    return "in the body of a 'tally.kernel'";
  }
  if (mlir::isa<SemaphoreOp, ProgramOp>(op)) {
    return "directly in a 'tally.code'";
  }
  return "in a 'tally.program'";
}

/// Reports everything nested in `op` that may not stand where it does.
mlir::LogicalResult verifyBodies(mlir::Operation *op) {
  const BodyRule *rule = ruleOf(op);
  bool ok = true;
  for (mlir::Region &region : op->getRegions()) {
    for (mlir::Operation &nested : region.getOps()) {
      if (!rule || !(rule->holds(&nested) || rule->alsoHolds(&nested))) {
        mlir::InFlightDiagnostic error = nested.emitOpError("may not stand in a '");
        error << op->getName() << "'; allowed there are " << (rule ? rule->allowed : "");
        error.attachNote(op->getLoc()) << "the body is here";
        ok = false;
        continue;
      }
      ok &= mlir::succeeded(verifyBodies(&nested));
    }
  }
  return mlir::success(ok);
}

} // namespace

/// Outside bodies of the dialect; inside them verifyBodies() looks.
mlir::LogicalResult verifyPlace(mlir::Operation *op) {
  mlir::Operation *parent = op->getParentOp();
  bool isTop = mlir::isa<KernelOp, CodeOp>(op);
  if (!parent || (isTop && mlir::isa<mlir::ModuleOp>(parent))) {
    return mlir::success();
  }
  bool inBody = ruleOf(parent) != nullptr;
  bool anywhere = mlir::isa<SignalOp, ResetOp, DrainOp>(op);
  if (!isTop && (inBody || anywhere)) {
    return mlir::success();
  }
  return op->emitOpError("must stand ") << homeOf(op);
}

mlir::LogicalResult RunOp::verify() {
  if (getData().wait.has_value() == static_cast<bool>(getThreshold())) {
    return mlir::success();
  }
  return emitOpError("has ") << (getThreshold() ? "a threshold but no semaphore to wait for"
                                                : "a semaphore to wait for but no threshold");
}

//===----------------------------------------------------------------------===//
// Meaning
//===----------------------------------------------------------------------===//

mlir::LogicalResult KernelOp::verifyRegions() {
  bool isSound = mlir::succeeded(verifyBodies(*this));
  LoadedOnce *once = LoadedOnce::find(*this);
  FileTable files;
  Diagnostics diagnostics;
  Kernel kernel = loadKernel(*this, once ? once->files : files, diagnostics);
  checkAsRead(kernel, diagnostics);
  emit(kernel.files, diagnostics, getContext());
  isSound &= !diagnostics.hasErrors();
  if (isSound && once) {
    once->kernels.try_emplace(*this, std::move(kernel));
  }
  return mlir::success(isSound);
}

mlir::LogicalResult CodeOp::verifyRegions() {
  return verifyBodies(*this);
}

/// Whether each kernel has at most one code, if this is the first code of its block: it looks at
/// all of them, so that a module of many kernels is gone through once.
static mlir::LogicalResult verifyOneEach(CodeOp first) {
  for (mlir::Operation *op = first->getPrevNode(); op; op = op->getPrevNode()) {
    if (mlir::isa<CodeOp>(op)) {
      return mlir::success();
    }
  }
  bool ok = true;
  llvm::DenseMap<mlir::StringAttr, CodeOp> codeOf;
  for (CodeOp code : first->getBlock()->getOps<CodeOp>()) {
    auto [known, isNew] = codeOf.try_emplace(code.getKernelAttr().getAttr(), code);
    if (!isNew) {
      mlir::InFlightDiagnostic error = mlir::emitError(code.getLoc(), "kernel '");
      error << printable(std::string_view(code.getKernel()))
            << "' has code twice; one 'tally.code' is allowed for each kernel";
      error.attachNote(known->second.getLoc()) << "the first is here";
      ok = false;
    }
  }
  return mlir::success(ok);
}

/// Code means something only with its kernel, which stands elsewhere in the module. When this is
/// called, the kernel has been found legal.
mlir::LogicalResult CodeOp::verifySymbolUses(mlir::SymbolTableCollection &symbolTable) {
  LoadedOnce *once = LoadedOnce::find(*this);
  if (once && once->code.contains(*this)) {
    return mlir::success(); // MLIR asks for each symbol table around
  }
  bool isSound = mlir::succeeded(verifyOneEach(*this));
  auto kernelOp = symbolTable.lookupNearestSymbolFrom<KernelOp>(*this, getKernelAttr());
  if (!kernelOp) {
    return emitOpError("is for kernel '")
           << printable(std::string_view(getKernel()))
           << "', which is not in this module; write the kernel and its code in the same file";
  }
  FileTable own;
  FileTable &files = once ? once->files : own;
  Diagnostics diagnostics;
  bool isLoaded = once && once->kernels.contains(kernelOp);
  Kernel loaded = isLoaded ? Kernel() : loadKernel(kernelOp, files, diagnostics);
  const Kernel &kernel = isLoaded ? once->kernels.find(kernelOp)->second : loaded;
  Code code = loadCode(*this, kernel, files, diagnostics);
  if (!diagnostics.hasErrors()) {
    verifyCode(kernel, code, diagnostics);
  }
  emit(kernel.files, diagnostics, getContext());
  isSound &= !diagnostics.hasErrors();
  if (isSound && once) {
    once->code.try_emplace(*this, std::move(code));
  }
  return mlir::success(isSound);
}

} // namespace tally::ir
