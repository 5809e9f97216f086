//===- Places.h - Messages, at the words that they are about --------------===//
//
// A message of the libraries has one place: where an operation begins, or a token. An editor
// underlines a range: all of the operation before its body, or a name or tile in it that the
// message begins with.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LSP_SERVER_PLACES_H
#define TALLY_LSP_SERVER_PLACES_H

#include "Outline.h"

#include "tally/Support/Diagnostics.h"

#include <string>
#include <vector>

namespace tally::server {

class Places {
public:
  Places(const Document &document, const Outline &outline, llvm::lsp::URIForFile uri)
      : document(document), outline(outline), uri(std::move(uri)) {}

  /// The document as messages name it.
  std::string file() const { return uri.file().str(); }

  /// A place in another file stands in the words of the message.
  llvm::lsp::Diagnostic inEditor(const Diagnostic &message,
                                 const std::vector<std::string> &files) const;

private:
  bool isHere(Location where, const std::vector<std::string> &files) const;
  Span spanOf(Location where, std::string_view message) const;
  Span spanIn(const Operation &op, std::string_view message) const;
  std::optional<Span> findIn(const Operation &op, std::string_view text) const;

  const Document &document;
  const Outline &outline;
  llvm::lsp::URIForFile uri;
};

} // namespace tally::server

#endif // TALLY_LSP_SERVER_PLACES_H
