//===- Quotes.h - What messages quote, at a length that people read -------===//
//
// Messages quote names, expressions and paths, which may be as long as the input. One place cuts
// them, where a message is shown, so that no place that writes one has to think of it.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_SUPPORT_QUOTES_H
#define TALLY_SUPPORT_QUOTES_H

#include <string>
#include <string_view>

namespace tally {

/// Longer quotations are cut.
inline constexpr size_t mostQuoted = 300;

/// A message whose quotations, `'...'`, are cut to their beginnings and ends.
std::string withShortQuotes(std::string_view message);

} // namespace tally

#endif // TALLY_SUPPORT_QUOTES_H
