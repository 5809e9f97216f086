//===- Lines.cpp - Offsets, and the places that editors and messages name -===//

#include "Lines.h"

#include <algorithm>

namespace tally::server {

Lines::Lines(std::string_view given) : text(given), starts{0}, messageStarts{0} {
  for (size_t at = 0; at < text.size(); ++at) {
    bool isPair = text[at] == '\r' && at + 1 < text.size() && text[at + 1] == '\n';
    if (text[at] == '\n' || (text[at] == '\r' && !isPair)) {
      starts.push_back(at + 1);
    }
    if (text[at] == '\n') {
      messageStarts.push_back(at + 1);
    }
  }
}

/// How many UTF-16 units the character has that begins with this byte; 0 inside a character.
static size_t unitsOf(char byte) {
  auto bits = static_cast<unsigned char>(byte);
  bool isInside = (bits & 0xC0) == 0x80;
  return isInside ? 0 : bits >= 0xF0 ? 2 : 1;
}

size_t Lines::offsetOf(llvm::lsp::Position position) const {
  if (position.line < 0) {
    return 0;
  }
  auto line = static_cast<size_t>(position.line);
  if (line >= starts.size()) {
    return text.size();
  }
  size_t end = line + 1 < starts.size() ? starts[line + 1] : text.size();
  auto left = static_cast<size_t>(std::max(position.character, 0));
  size_t at = starts[line];
  while (at < end && text[at] != '\n' && text[at] != '\r' && unitsOf(text[at]) <= left) {
    left -= unitsOf(text[at]);
    ++at;
  }
  return at;
}

llvm::lsp::Position Lines::positionOf(size_t offset) const {
  offset = std::min(offset, text.size());
  auto line = std::ranges::upper_bound(starts, offset) - starts.begin() - 1;
  size_t units = 0;
  for (size_t at = starts[static_cast<size_t>(line)]; at < offset; ++at) {
    units += unitsOf(text[at]);
  }
  return {static_cast<int>(line), static_cast<int>(units)};
}

llvm::lsp::Range Lines::rangeOf(Span span) const {
  return {positionOf(span.begin), positionOf(span.end)};
}

size_t Lines::offsetOfMessage(uint32_t line, uint32_t column) const {
  if (line == 0 || line > messageStarts.size()) {
    return line == 0 ? 0 : text.size();
  }
  return std::min(messageStarts[line - 1] + std::max(column, 1u) - 1, text.size());
}

} // namespace tally::server
