//===- Picture.h - Timelines as SVG ---------------------------------------===//
//
//     left                                                      left + width
//     |  0          10 us        20 us        30 us                |
//     barrier: 127.756 us                                                      panel: a timeline
//     sync     sequencer  ▒▒▒▒▒▒████                                           lane
//              load             ▆▆▆▆▆▆▆▆                                       lane
//
// Pieces of time are in nanoseconds; `transform` of their group puts them on the page, so that
// zooming is nothing but another transform (page.js). Labels and the lines of the axis are in
// points of the page, and made anew by the script.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_REPORT_PICTURE_H
#define TALLY_LIB_REPORT_PICTURE_H

#include "Causes.h"

namespace tally::report {

class Picture {
public:
  Picture(const Report &report, const CauseTable &causes);

  /// The element. With `isAlone` it is a document of its own: style inside, nothing to ask.
  std::string svg(bool isAlone) const;

private:
  struct Place {
    size_t timeline;
    const Lane *lane;
    uint32_t top;
    uint32_t height;
  };

  /// A filling and what it means.
  struct Entry {
    std::string style, text;
  };

  void placeLanes();
  bool isUsed(const Lane &lane, const Timeline &timeline) const;
  std::string definitions() const;
  std::string axis() const;
  std::string panel(size_t timeline, bool isAlone) const;
  std::string lane(const Place &place, bool isAlone) const;
  std::string laneLabel(const Place &place) const;
  std::string piece(const Place &place, const Piece &piece, bool isAlone) const;
  std::string rect(Tick from, Tick to, uint32_t top, uint32_t height, const std::string &rest,
                   const std::string &title) const;
  std::string pieceLabels(const Place &place) const;
  std::vector<Entry> legendEntries() const;
  std::string legend() const;
  std::string panelTitle(size_t timeline) const;
  std::string classOf(const Place &place, const Piece &piece) const;
  std::string originOf(const Place &place, const Piece &piece) const;
  std::string transform() const;
  double scale() const;
  double xOf(Tick tick) const;

  const Report &report;
  const CauseTable &causes;
  std::vector<std::string> styles; ///< by cause
  Span span;
  std::vector<Place> places;
  std::vector<Entry> entries; ///< of the legend
  std::vector<uint32_t> panelTops;
  uint32_t legendTop = 0;
  uint32_t height = 0;
};

} // namespace tally::report

#endif // TALLY_LIB_REPORT_PICTURE_H
