//===- Markup.h - Text and times in HTML and SVG --------------------------===//

#ifndef TALLY_LIB_REPORT_MARKUP_H
#define TALLY_LIB_REPORT_MARKUP_H

#include "tally/Machine/Timing.h"

#include <string>
#include <string_view>

namespace tally::report {

/// For the content of elements, and of attributes in double quotes. What no document may hold
/// (control characters, bytes that are no UTF-8) becomes `?`.
std::string escape(std::string_view text);

/// At most `most` bytes, the end replaced by dots; never a part of a character.
std::string shorten(std::string text, size_t most);

/// Exact, in nanoseconds: the unit of the picture's coordinates.
std::string nanoseconds(Tick tick);

/// `33%`, to the nearest.
std::string percentText(Tick part, Tick whole);

/// The distance of the lines of a time axis: 1, 2 or 5 times a power of ten, at most twelve of
/// them in a span. page.js works it out in the same way.
Tick axisStep(Tick span);

/// A moment on an axis that ends at `until` and has lines every `step`: `12.5 us`.
std::string axisText(Tick at, Tick step, Tick until);

} // namespace tally::report

#endif // TALLY_LIB_REPORT_MARKUP_H
