//===- Lines.h - Offsets, and the places that editors and messages name ---===//
//
// A text has three ways to name a place: an offset in bytes, which everything here works with; the
// line and UTF-16 unit of the protocol, from 0; and the line and byte of a message, from 1.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LSP_SERVER_LINES_H
#define TALLY_LSP_SERVER_LINES_H

#include "llvm/Support/LSP/Protocol.h"

#include <cstddef>
#include <string_view>
#include <vector>

namespace tally::server {

/// Bytes of a text, from `begin` to before `end`.
struct Span {
  size_t begin = 0;
  size_t end = 0;

  /// Also right after the last byte, as a cursor stands.
  bool touches(size_t offset) const { return begin <= offset && offset <= end; }
};

class Lines {
public:
  explicit Lines(std::string_view text);

  /// Where there is no such place, the nearest one before it.
  size_t offsetOf(llvm::lsp::Position position) const;

  llvm::lsp::Position positionOf(size_t offset) const;

  llvm::lsp::Range rangeOf(Span span) const;

  /// The offset of a line and column of a message.
  size_t offsetOfMessage(uint32_t line, uint32_t column) const;

private:
  std::string_view text;
  std::vector<size_t> starts;        ///< of lines as editors count them: after \n, \r\n and \r
  std::vector<size_t> messageStarts; ///< as messages do: after \n
};

} // namespace tally::server

#endif // TALLY_LSP_SERVER_LINES_H
