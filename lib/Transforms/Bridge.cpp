//===- Bridge.cpp - Between the dialect and the core ----------------------===//
//
// Loading is in lib/IR (the verifier needs it too); here kernels are paired with their code.
// Storing writes the text that a person would have written: the tree in order, then all
// dependences.
//
//===----------------------------------------------------------------------===//

#include "tally/Transforms/Bridge.h"
#include "tally/Sync/Plan.h"
#include "tally/Transforms/ReadModule.h"

#include "tally/IR/Load.h"
#include "tally/Written/Write.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"

#include <fmt/format.h>

namespace tally {

//===----------------------------------------------------------------------===//
// Load
//===----------------------------------------------------------------------===//

namespace {

/// The code of each kernel by name. The verifier has seen to it that there is one at most, and that
/// the kernel is there.
llvm::DenseMap<mlir::StringAttr, ir::CodeOp> codeByKernel(mlir::ModuleOp module) {
  llvm::DenseMap<mlir::StringAttr, ir::CodeOp> byKernel;
  for (ir::CodeOp code : module.getOps<ir::CodeOp>()) {
    byKernel.try_emplace(code.getKernelAttr().getAttr(), code);
  }
  return byKernel;
}

/// All kernels with their code, as `kernelOf(op)` and `codeOf(op, kernel)` give them.
template <typename KernelOf, typename CodeOf>
std::vector<LoadedKernel> loadAll(mlir::ModuleOp module, ir::FileTable &files, KernelOf kernelOf,
                                  CodeOf codeOf) {
  std::vector<LoadedKernel> loaded;
  auto codes = codeByKernel(module);
  for (ir::KernelOp op : module.getOps<ir::KernelOp>()) {
    LoadedKernel &next = loaded.emplace_back();
    next.kernel = kernelOf(op);
    if (auto found = codes.find(op.getSymNameAttr()); found != codes.end()) {
      next.codeAt = files.where(found->second);
      next.code = codeOf(found->second, next.kernel);
    }
  }
  return loaded;
}

} // namespace

std::vector<LoadedKernel> loadKernels(mlir::ModuleOp module, Diagnostics &diagnostics) {
  ir::FileTable files;
  return loadAll(
      module, files, [&](ir::KernelOp op) { return ir::loadKernel(op, files, diagnostics); },
      [&](ir::CodeOp op, const Kernel &kernel) {
        return ir::loadCode(op, kernel, files, diagnostics);
      });
}

/// What nobody looks at is not passed over: neither a verdict nor a result would have it.
static bool holdsOnlyKernels(mlir::ModuleOp module) {
  bool ok = true;
  for (mlir::Operation &op : *module.getBody()) {
    if (!mlir::isa<ir::KernelOp, ir::CodeOp>(op)) {
      mlir::emitError(op.getLoc(), "'")
          << op.getName()
          << "' is neither a kernel nor code, and nothing else is read here; take it out of the "
             "file, or let 'tally-opt' work on the whole module";
      ok = false;
    }
  }
  return ok;
}

std::optional<std::vector<LoadedKernel>> readKernels(std::unique_ptr<llvm::MemoryBuffer> buffer,
                                                     llvm::SourceMgr &sources,
                                                     mlir::MLIRContext *context) {
  auto plain = ir::readPlainText(*buffer);
  if (plain) {
    sources.AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
    return plain;
  }
  ir::LoadedOnce once(context, buffer->getBufferIdentifier());
  mlir::OwningOpRef<mlir::ModuleOp> module = readModule(std::move(buffer), sources, context);
  if (!module || !holdsOnlyKernels(*module)) {
    return std::nullopt;
  }
  return loadAll(
      *module, once.files,
      [&](ir::KernelOp op) { return std::move(once.kernels.find(op)->second); },
      [&](ir::CodeOp op, const Kernel &) { return std::move(once.code.find(op)->second); });
}

void emit(const Kernel &kernel, const Diagnostics &diagnostics, mlir::MLIRContext *context) {
  ir::emit(kernel.files, diagnostics, context);
}

/// Code that a strategy of ours made can be made again; what was written by hand cannot.
static bool isByHand(const Code &code) {
  return code.strategy == Strategy::Manual || code.strategy == Strategy::Ideal;
}

void warnOfUnusedCode(const LoadedKernel &loaded, Strategy strategy, const StrategyOption &option,
                      Diagnostics &diagnostics) {
  if (!loaded.code || loaded.code->strategy == strategy) {
    return;
  }
  const Code &code = *loaded.code;
  std::string keep =
      !isByHand(code) ? fmt::format("{}={} makes it again, ", option.name, toString(code.strategy))
      : option.knowsManual ? fmt::format("{}=manual keeps it, ", option.name)
                           : "";
  std::string text = fmt::format(
      "the {} code for kernel '{}' is not used: strategy '{}' makes its own; {}{}={} leaves out "
      "this {}",
      isByHand(code) ? "hand-written" : fmt::format("'{}'", toString(code.strategy)),
      loaded.kernel.text(loaded.kernel.name), toString(strategy), keep, option.name,
      toString(strategy), isByHand(code) ? "warning" : "remark");
  Location where = loaded.codeAt.known() ? loaded.codeAt : loaded.kernel.where;
  Diagnostic &told = diagnostics.remark(where, std::move(text));
  told.severity = isByHand(code) ? Severity::Warning : told.severity;
}

//===----------------------------------------------------------------------===//
// Store
//===----------------------------------------------------------------------===//

namespace {

/// Makes the operations of a kernel and its code, at the end of the module.
class OpForm {
public:
  OpForm(const Kernel &kernel, mlir::ModuleOp module)
      : builder(mlir::OpBuilder::atBlockEnd(module.getBody())) {
    for (const std::string &file : kernel.files) {
      files.push_back(builder.getStringAttr(file));
    }
  }

  void open(std::string_view name, const written::KernelData &data, const Origin &origin) {
    enter(ir::KernelOp::create(builder, placeOf(origin), name, data).getBody());
  }

  void open(std::string_view name, const written::CodeData &data, const Origin &origin) {
    auto kernel = mlir::FlatSymbolRefAttr::get(builder.getContext(), name);
    enter(ir::CodeOp::create(builder, placeOf(origin), kernel, data).getBody());
  }

  /// Goes on at the end of a kernel.
  void reopen(ir::KernelOp op) { builder.setInsertionPointToEnd(&op.getBody().front()); }

  template <typename Data> void add(const Data &data, const Origin &origin) {
    ir::OpOf<Data>::create(builder, placeOf(origin), data);
  }

  template <typename Data> void open(const Data &data, const Origin &origin) {
    enter(ir::OpOf<Data>::create(builder, placeOf(origin), data)->getRegion(0));
  }

  void otherwise() { enter(builder.getBlock()->getParentOp()->getRegion(1)); }

  void close() { builder.setInsertionPointAfter(builder.getBlock()->getParentOp()); }

  void startSteps() {}

  void closeProgram() { close(); }

private:
  /// Continues in a new block of an empty region.
  void enter(mlir::Region &region) { builder.setInsertionPointToEnd(&region.emplaceBlock()); }

  mlir::Location at(Location where) {
    if (!where.known() || where.file >= files.size()) {
      return builder.getUnknownLoc();
    }
    return mlir::FileLineColLoc::get(files[where.file], where.line, where.column);
  }

  mlir::Location placeOf(const Origin &origin) {
    if (!origin.where) {
      return builder.getBlock()->getParentOp()->getLoc();
    }
    return origin.behind ? builder.getFusedLoc({at(*origin.where), at(*origin.behind)})
                         : at(*origin.where);
  }

  mlir::OpBuilder builder;
  std::vector<mlir::StringAttr> files;
};

} // namespace

void storeKernel(const Kernel &kernel, const Code *code, mlir::ModuleOp module) {
  // A context that has read no text of the dialect, but JSON, may not know its operations yet.
  module.getContext()->loadDialect<ir::TallyDialect>();
  OpForm form(kernel, module);
  written::writeKernel(kernel, form);
  if (code) {
    written::writeCode(kernel, *code, form);
  }
}

void storeDeps(const Kernel &kernel, mlir::ModuleOp module) {
  for (ir::KernelOp op : module.getOps<ir::KernelOp>()) {
    if (std::string_view(op.getSymName()) == kernel.text(kernel.name)) {
      OpForm form(kernel, module);
      form.reopen(op);
      written::KernelWriter(kernel, form).dependences();
    }
  }
}

void storeCode(const Kernel &kernel, const Code &code, mlir::ModuleOp module) {
  for (auto code : llvm::make_early_inc_range(module.getOps<ir::CodeOp>())) {
    if (std::string_view(code.getKernel()) == kernel.text(kernel.name)) {
      code.erase();
    }
  }
  OpForm form(kernel, module);
  written::writeCode(kernel, code, form);
}

} // namespace tally
