//===- Shapes.h - What a lane looks like at one view of time --------------===//
//
// The level of detail: a piece that is at least one column wide is a shape of its own. Narrower
// ones are put together column by column, as a stack whose heights are the shares of the column's
// time. So a picture has as many shapes as it has columns, however many pieces there are, and no
// piece is left out. Coordinates are whole tenths of points.
//
// page.js does the same, so that a view it draws looks as if it was drawn here.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_REPORT_SHAPES_H
#define TALLY_LIB_REPORT_SHAPES_H

#include "Styles.h"

namespace tally::report {

/// A part of time, and where on the page it is drawn, in points.
struct View {
  Tick from = 0;
  Tick until = 1;
  uint32_t left = 0;
  uint32_t width = 1;

  double scale() const { return double(width) / double(until - from); }

  /// From the left of the view, which what lies outside of it exceeds.
  double offsetOf(Tick tick) const { return (double(tick) - double(from)) * scale(); }

  double xOf(Tick tick) const { return left + offsetOf(tick); }
};

/// To the nearest tenth.
std::string tenths(double points);

class LaneShapes {
public:
  LaneShapes(const View &view, uint32_t top, uint32_t height)
      : view(view), top(top), height(height) {}

  void addPiece(Tick from, Tick to, StyleId style);

  /// A part of an overview's bucket that is `width` wide.
  void addBucket(Tick from, Tick to, Tick width,
                 const std::vector<std::pair<StyleId, Tick>> &shares);

  std::string svg(const std::vector<Style> &styles) const;

private:
  struct Box {
    double left, right;   ///< from the left of the view
    double below, height; ///< shares of the lane's height
  };

  /// What of a span lies in the view: nothing, if it ends before it begins.
  struct Part {
    double left, right;
    bool isWide; ///< the span is at least one column wide
  };

  Part partOf(Tick from, Tick to) const;
  void addShares(double from, double to, StyleId style, double share);
  void addBox(StyleId style, const Box &box);
  std::string boxPath(const Box &box) const;
  std::string columnPath(const std::vector<double> &shares, std::vector<double> &levels) const;

  View view;
  uint32_t top, height;
  std::vector<std::vector<double>> columns; ///< by style: the share of each column
  std::vector<std::vector<Box>> boxes;      ///< by style
};

} // namespace tally::report

#endif // TALLY_LIB_REPORT_SHAPES_H
