//===- Shapes.cpp - What a lane looks like at one view of time ------------===//

#include "Shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tally::report {

static constexpr double columnWidth = 2;

static int64_t inTenths(double points) {
  return static_cast<int64_t>(std::floor(points * 10 + 0.5));
}

static std::string decimal(int64_t number) {
  return number % 10 == 0 ? fmt::format("{}", number / 10)
                          : fmt::format("{}.{}", number / 10, number % 10);
}

std::string tenths(double points) {
  return decimal(inTenths(points));
}

LaneShapes::Part LaneShapes::partOf(Tick from, Tick to) const {
  double left = view.offsetOf(from), right = view.offsetOf(to);
  return {std::max(left, 0.0), std::min(right, double(view.width)), right - left >= columnWidth};
}

void LaneShapes::addPiece(Tick from, Tick to, StyleId style) {
  auto [left, right, isWide] = partOf(from, to);
  if (left >= right) {
    return;
  }
  if (isWide) {
    addBox(style, {left, right, 0, 1});
  } else {
    addShares(left, right, style == StyleTable::neighbour ? StyleTable::instruction : style, 1);
  }
}

void LaneShapes::addBucket(Tick from, Tick to, Tick width,
                           const std::vector<std::pair<StyleId, Tick>> &shares) {
  auto [left, right, isWide] = partOf(from, to);
  if (left >= right) {
    return;
  }
  double below = 0;
  for (auto [style, span] : shares) {
    double share = double(span) / double(width);
    if (isWide) {
      addBox(style, {left, right, below, share});
    } else {
      addShares(left, right, style, share);
    }
    below += share;
  }
}

void LaneShapes::addBox(StyleId style, const Box &box) {
  boxes.resize(std::max<size_t>(boxes.size(), style + 1));
  boxes[style].push_back(box);
}

void LaneShapes::addShares(double from, double to, StyleId style, double share) {
  columns.resize(std::max<size_t>(columns.size(), style + 1));
  auto numColumns = static_cast<size_t>(std::ceil(double(view.width) / columnWidth));
  columns[style].resize(numColumns, 0);
  for (auto column = static_cast<size_t>(from / columnWidth); double(column) * columnWidth < to;
       ++column) {
    double start = double(column) * columnWidth;
    double overlap = std::min(to, start + columnWidth) - std::max(from, start);
    columns[style][column] += overlap * share / columnWidth;
  }
}

std::string LaneShapes::boxPath(const Box &box) const {
  int64_t left = inTenths(view.left + box.left);
  int64_t width = inTenths(view.left + box.right) - left;
  int64_t upper = inTenths(top + height * (1 - std::min(1.0, box.below + box.height)));
  int64_t lower = inTenths(top + height * (1 - std::min(1.0, box.below)));
  return lower == upper ? std::string()
                        : fmt::format("M{} {}h{}v{}h-{}z", decimal(left), decimal(upper),
                                      decimal(width), decimal(lower - upper), decimal(width));
}

/// Puts the shares on what stands in the columns. Neighbours that look alike are one shape.
std::string LaneShapes::columnPath(const std::vector<double> &shares,
                                   std::vector<double> &levels) const {
  std::string text;
  int64_t upper = 0, lower = 0;
  size_t first = 0;
  auto end = [&](size_t column) {
    auto width = static_cast<size_t>(columnWidth) * (column - first);
    if (lower > upper) {
      text += fmt::format("M{} {}h{}v{}h-{}z", view.left + size_t(columnWidth) * first,
                          decimal(upper), width, decimal(lower - upper), width);
    }
  };
  for (size_t column = 0; column < shares.size(); ++column) {
    int64_t bottom = inTenths(top + height * (1 - std::min(1.0, levels[column])));
    levels[column] += shares[column];
    int64_t level = inTenths(top + height * (1 - std::min(1.0, levels[column])));
    if (level != upper || bottom != lower) {
      end(column);
      first = column;
      upper = level;
      lower = bottom;
    }
  }
  end(shares.size());
  return text;
}

std::string LaneShapes::svg(const std::vector<Style> &styles) const {
  std::string text;
  auto append = [&](StyleId style, const std::string &path) {
    if (!path.empty()) {
      text += fmt::format("<path class=\"{}\" d=\"{}\"/>\n", styles[style].name, path);
    }
  };
  std::vector<double> levels(static_cast<size_t>(std::ceil(double(view.width) / columnWidth)), 0);
  for (StyleId style = 0; style < columns.size(); ++style) {
    append(style, columnPath(columns[style], levels));
  }
  for (StyleId style = 0; style < boxes.size(); ++style) {
    std::string path;
    for (const Box &box : boxes[style]) {
      path += boxPath(box);
    }
    append(style, path);
  }
  return text;
}

} // namespace tally::report
