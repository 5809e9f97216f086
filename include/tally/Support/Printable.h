//===- Printable.h - Texts that cannot steer what shows them --------------===//
//
// A name goes into messages, reports and generated code as it is. One with a line break in it could
// write a line of its own there (a verdict that is none), one with an escape sequence could command
// the terminal. So names hold no control characters, and messages, which also quote what was
// refused, show them as MLIR writes them in strings: `\0A` is a line break.
//
// Messages quote names as 'NAME', so a name holds no apostrophe either: one with it could end its
// quotation and go on in words that seem to be the tool's.
//
// Letters of other scripts stay, as UTF-8. Bytes that are no UTF-8 are shown as `\FF`, too: JSON
// cannot hold them, and what reads our text may stop at them.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_SUPPORT_PRINTABLE_H
#define TALLY_SUPPORT_PRINTABLE_H

#include <string>
#include <string_view>

namespace tally {

/// Whether `c` is below 0x20, or 0x7F.
constexpr bool isControl(char c) {
  auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7F;
}

/// How many bytes the character at the beginning of `text` has; 0 if it is a control character, or
/// no UTF-8.
size_t printableSize(std::string_view text);

/// Whether `text` is UTF-8 and holds no control character.
bool isPrintable(std::string_view text);

/// `text` with each byte of what is not printable as `\` and two hexadecimal digits.
std::string printable(std::string_view text);

/// Whether `text` is printable and cannot end a quotation: what a name, and any other short text
/// that messages quote, has to be.
bool isQuotable(std::string_view text);

/// What is wrong with a name or another short text that is not quotable: `the engine 'a\0A' holds
/// ...`.
std::string unquotableName(std::string_view kind, std::string_view name);

} // namespace tally

#endif // TALLY_SUPPORT_PRINTABLE_H
