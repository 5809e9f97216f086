//===- Symbols.h - What a document holds, as a tree -----------------------===//
#ifndef TALLY_LSP_SERVER_SYMBOLS_H
#define TALLY_LSP_SERVER_SYMBOLS_H

#include "Outline.h"

namespace tally::server {

/// Kernels with their engines, buffers, loops and instructions; code with its semaphores and
/// programs.
std::vector<llvm::lsp::DocumentSymbol> symbolsOf(const Document &document, const Outline &outline);

} // namespace tally::server

#endif // TALLY_LSP_SERVER_SYMBOLS_H
