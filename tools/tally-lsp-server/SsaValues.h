//===- SsaValues.h - `%v` of the scf form, and where it is made -----------===//
#ifndef TALLY_LSP_SERVER_SSAVALUES_H
#define TALLY_LSP_SERVER_SSAVALUES_H

#include "Document.h"

namespace tally::server {

/// Where the value under a cursor is made: the last place before it at which a value of this name
/// is. Nothing if there is no value, or none is made.
std::optional<Span> madeAt(const Document &document, size_t offset);

} // namespace tally::server

#endif // TALLY_LSP_SERVER_SSAVALUES_H
