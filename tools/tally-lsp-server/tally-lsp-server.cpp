//===- tally-lsp-server.cpp - Kernels in an editor ------------------------===//
//
// Diagnostics come from the verifier of the kernel, which asks the core, so an editor shows
// what `tally check` would say.
//
// MLIR's parser recurses into every bracket, and no message says before how deep a document is. A
// document that nests too deep must not end the server, so that all runs on a stack that is larger
// than documents are.
//
//===----------------------------------------------------------------------===//

#include "tally/IR/Tally.h"
#include "tally/Transforms/Passes.h"

#include "mlir/IR/Dialect.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "llvm/Support/LogicalResult.h"

#include <cstdlib>
#include <pthread.h>
#include <unistd.h>

namespace {

struct Server {
  int argc;
  char **argv;
  bool failed = true;

  void run();
};

void Server::run() {
  mlir::DialectRegistry registry;
  tally::registerDialects(registry);
  // The editor shows the operation itself.
  registry.addExtension(+[](mlir::MLIRContext *context, tally::ir::TallyDialect *) {
    context->printOpOnDiagnostic(false);
  });
  failed = llvm::failed(mlir::MlirLspServerMain(argc, argv, registry));
}

void *runServer(void *server) {
  static_cast<Server *>(server)->run();
  return nullptr;
}

/// A stack takes no memory before it is used. False if there cannot be one of this size.
bool runOnStack(size_t bytes, Server &server) {
  pthread_attr_t attributes;
  pthread_t thread{};
  pthread_attr_init(&attributes);
  bool isRunning = pthread_attr_setstacksize(&attributes, bytes) == 0 &&
                   pthread_create(&thread, &attributes, runServer, &server) == 0;
  pthread_attr_destroy(&attributes);
  return isRunning && pthread_join(thread, nullptr) == 0;
}

} // namespace

/// LLVM ends a program by itself if it does not know an option, with status 1. As of every program
/// of tally, wrong use is 2.
static void endAsTally(int status, void *) {
  if (status == 1) {
    _exit(2);
  }
}

int main(int argc, char **argv) {
  on_exit(endAsTally, nullptr);
  constexpr size_t largest = size_t(16) << 30;
  constexpr size_t smallest = size_t(8) << 20;
  Server server{argc, argv};
  for (size_t bytes = largest; bytes >= smallest; bytes /= 2) {
    if (runOnStack(bytes, server)) {
      return server.failed;
    }
  }
  server.run();
  return server.failed;
}
