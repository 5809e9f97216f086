//===- Completion.h - What could stand at the cursor ----------------------===//
//
// Where a line begins, the operations that may stand there. After a word that asks for a name, the
// names that are declared. In a tile, the loops and values around. Otherwise the clauses that the
// operation does not have yet. All from tokens, so also while a kernel is being typed.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LSP_SERVER_COMPLETION_H
#define TALLY_LSP_SERVER_COMPLETION_H

#include "Outline.h"

namespace tally::server {

llvm::lsp::CompletionList completionsAt(const Document &document, const Outline &outline,
                                        size_t offset);

} // namespace tally::server

#endif // TALLY_LSP_SERVER_COMPLETION_H
