//===- Styles.h - How pieces are filled, and what each filling is called --===//
//
// Work is darker than waits. What is waited for has one of six hues (picture.css); when they run
// out, the same hues with stripes, then with dots, then with dark stripes. Barriers, draining, full
// queues and the two kinds of pieces that only the critical path has, have fillings of their own.
// Every filling has a name, so that it can be spoken of, and told apart without colour.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_REPORT_STYLES_H
#define TALLY_LIB_REPORT_STYLES_H

#include "tally/Report/Report.h"

namespace tally::report {

using StyleId = uint32_t; ///< in the order in which shares of a column are stacked

struct Style {
  std::string name;    ///< the class in picture.css
  std::string colour;  ///< `orange, striped`
  std::string meaning; ///< `waits for 'load' -> 'use'`; empty: that of the style before it
};

class StyleTable {
public:
  static constexpr StyleId instruction = 0;
  static constexpr StyleId neighbour = 1; ///< every second instruction of a queue
  static constexpr StyleId control = 2;
  static constexpr StyleId beforeStart = 3;
  static constexpr StyleId beforeGoing = 4;

  explicit StyleTable(const std::vector<Cause> &causes);

  const std::vector<Style> &all() const { return styles; }

  StyleId ofCause(size_t cause) const { return byCause[cause]; }

  static StyleId ofPath(PathKind kind);

private:
  void add(const std::string &name, const std::string &colour, const Cause &cause);

  std::vector<Style> styles;
  std::vector<StyleId> byCause;
};

/// Patterns, and the rules for the classes that are filled with them.
std::string textures();

} // namespace tally::report

#endif // TALLY_LIB_REPORT_STYLES_H
