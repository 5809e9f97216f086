//===- Load.cpp - From operations to kernels and code ---------------------===//
//
// A door to the resolvers (Resolve.h). It goes over the operations of a kernel, and of code,
// several times, so that their order in the text is free where it means nothing. First come
// declarations (engines and buffers; semaphores, registers), then the tree in order, then
// dependences.
//
//===----------------------------------------------------------------------===//

#include "tally/IR/Load.h"

namespace tally::ir {
namespace {

template <typename... Ops> struct Kinds {};

/// Hands operations over as what they say. What may not stand here is skipped: the verifier
/// reports it.
template <typename Resolver> class Door {
public:
  Door(FileTable &files, Resolver &resolver) : files(files), resolver(resolver) {}

  /// Those of these kinds, with all inside.
  template <typename... Ops> void body(mlir::Region &region, Kinds<Ops...> kinds) {
    for (mlir::Operation &nested : region.getOps()) {
      (handOver(mlir::dyn_cast<Ops>(nested), kinds) || ...);
    }
  }

  std::vector<DepOp> deps; ///< that stood there; all names are known after them

private:
  template <typename OpT, typename All> bool handOver(OpT op, All kinds) {
    if (!op) {
      return false;
    }
    Location where = files.where(op);
    if constexpr (std::is_same_v<OpT, DepOp>) {
      deps.push_back(op);
    } else if constexpr (HasBranches<OpT>) {
      resolver.open(op.getData(), where);
      body(op.getThenBody(), kinds);
      if (!op.getElseBody().empty()) {
        resolver.otherwise();
        body(op.getElseBody(), kinds);
      }
      resolver.close();
    } else if constexpr (HasBody<OpT>) {
      resolver.open(op.getData(), where);
      body(op.getBody(), kinds);
      resolver.close();
    } else {
      resolver.add(op.getData(), where);
    }
    return true;
  }

  FileTable &files;
  Resolver &resolver;
};

} // namespace

struct LoadedOnce::Keeper : mlir::DialectInterface::Base<Keeper> {
  explicit Keeper(mlir::Dialect *dialect) : Base(dialect) {}

  static Keeper &of(mlir::Dialect *dialect) {
    auto *known = dialect->getRegisteredInterface<Keeper>();
    return known ? *known : dialect->addInterface<Keeper>();
  }

  LoadedOnce *now = nullptr;
};

LoadedOnce::LoadedOnce(mlir::MLIRContext *context, llvm::StringRef file)
    : files(mlir::StringAttr::get(context, file)),
      keeper(Keeper::of(context->getOrLoadDialect<TallyDialect>())) {
  keeper.now = this;
}

LoadedOnce::~LoadedOnce() {
  keeper.now = nullptr;
}

LoadedOnce *LoadedOnce::find(mlir::Operation *op) {
  auto *keeper = op->getDialect()->getRegisteredInterface<Keeper>();
  return keeper ? keeper->now : nullptr;
}

Kernel loadKernel(KernelOp op, FileTable &files, Diagnostics &diagnostics) {
  ErrorsAtStatements errors(diagnostics);
  KernelResolver resolver(errors);
  files.startKernel(resolver);
  Door door(files, resolver);
  resolver.open(std::string_view(op.getSymName()), op.getData(), files.where(op));
  door.body(op.getBody(), Kinds<EngineOp, ValueOp, BufferOp>());
  door.body(op.getBody(), Kinds<InstrOp, DepOp, LoopOp, IfOp>());
  for (DepOp dep : door.deps) {
    resolver.add(dep.getData(), files.where(dep));
  }
  files.endKernel(op.getContext());
  return resolver.finish();
}

Code loadCode(CodeOp op, const Kernel &kernel, FileTable &files, Diagnostics &diagnostics) {
  ErrorsAtStatements errors(diagnostics);
  CodeResolver resolver(kernel, errors);
  Door door(files, resolver);
  resolver.begin(op.getData(), files.where(op));
  door.body(op.getBody(), Kinds<SemaphoreOp>());
  for (ProgramOp program : op.getBody().getOps<ProgramOp>()) {
    if (resolver.open(program.getData(), files.where(program))) {
      door.body(program.getBody(), Kinds<RegisterOp>());
      door.body(program.getBody(), Kinds<IssueOp, SetOp, WaitOp, ForOp, BranchOp, SignalOp, ResetOp,
                                         DrainOp, BarrierOp, WhenOp>());
    }
  }
  return resolver.finish();
}

} // namespace tally::ir
