//===- Hover.h - What is under the cursor, in words -----------------------===//
//
// Of an instruction and of a dependence, what was found out (Facts.h). Of other names, where they
// are declared and what uses them. Of words, what they mean (Language.h).
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LSP_SERVER_HOVER_H
#define TALLY_LSP_SERVER_HOVER_H

#include "Examine.h"

namespace tally::server {

/// Nothing where there is nothing to say. `areOld`: the facts are those of an earlier text.
std::optional<llvm::lsp::Hover> hoverAt(const Document &document, const Outline &outline,
                                        const Facts &facts, bool areOld, size_t offset);

} // namespace tally::server

#endif // TALLY_LSP_SERVER_HOVER_H
