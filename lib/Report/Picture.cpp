//===- Picture.cpp - Timelines as SVG -------------------------------------===//
//
//     left                                                      left + width
//     |  0          10 us        20 us        30 us                |
//     barrier: 127.756 us                                                      panel: a timeline
//              critical path   ▆▆▆▆▒▒▆▆▆▆                                      lane
//     sync     sequencer       ▒▒▒▒▒▒████                                      lane
//              load                ▆▆▆▆▆▆▆▆                                    lane
//
// page.js draws the same for any other view of the runs, from the data of the page.
//
//===----------------------------------------------------------------------===//

#include "Picture.h"

#include "Assets.h"
#include "Drawn.h"
#include "Markup.h"
#include "Shapes.h"

#include <fmt/format.h>

#include <algorithm>

namespace tally::report {
namespace {

// Points of the page; the picture is scaled to where it stands.
static constexpr uint32_t left = 150;
static constexpr uint32_t width = 1024;
static constexpr uint32_t pageWidth = 1200;
static constexpr uint32_t axisHeight = 24;
static constexpr uint32_t titleHeight = 24;
static constexpr uint32_t sequencerHeight = 12;
static constexpr uint32_t queueHeight = 17;
static constexpr uint32_t gap = 2;
static constexpr uint32_t engineGap = 5;
static constexpr uint32_t panelGap = 14;
static constexpr uint32_t legendLine = 18;
static constexpr uint32_t legendColumns = 2;
static constexpr double letterWidth = 5.8;
static constexpr uint32_t wayDepth = 3;      ///< above the names in a lane
static constexpr size_t mostWayPieces = 400; ///< of the critical path, drawn across lanes

static std::string textAt(double x, double y, std::string_view style, std::string_view text) {
  return fmt::format("<text x=\"{:g}\" y=\"{:g}\" class=\"{}\">{}</text>\n", x, y, style,
                     escape(text));
}

class Picture {
public:
  explicit Picture(const Report &report)
      : report(report), causes(report), styles(causes.all()), span(shownSpan(report)),
        view{span.from, span.until, left, width} {
    placeLanes();
  }

  std::string svg(bool isAlone) const {
    std::string name = fmt::format("Timelines of kernel {} on {}",
                                   report.kernel().text(report.kernel().name), report.machine);
    std::string text = fmt::format("<svg class=\"timelines\" {}viewBox=\"0 0 {} {}\" role=\"img\" "
                                   "aria-label=\"{}\">\n",
                                   isAlone ? "xmlns=\"http://www.w3.org/2000/svg\" " : "",
                                   pageWidth, height, escape(name));
    if (isAlone) {
      text += fmt::format("<desc>\n{}</desc>\n<style>\n{}</style>\n<defs>\n{}</defs>\n"
                          "<rect class=\"paper\" width=\"{}\" height=\"{}\"/>\n",
                          escape(conditionsOf(report)), assets::pictureStyle, textures(), pageWidth,
                          height);
    }
    text += axis();
    for (size_t t = 0; t < report.timelines.size(); ++t) {
      text += panel(t);
    }
    return text + (isAlone ? legend() : "") + "</svg>\n";
  }

private:
  struct Place {
    size_t timeline;
    const Lane *lane; ///< none: the critical path
    uint32_t top;
    uint32_t height;
  };

  void placeLanes() {
    uint32_t top = axisHeight;
    for (size_t t = 0; t < report.timelines.size(); ++t) {
      panelTops.push_back(top);
      top += titleHeight;
      if (!report.timelines[t].result.path.empty()) {
        places.push_back({t, nullptr, top, sequencerHeight});
        top += sequencerHeight + gap;
      }
      const std::vector<Lane> &lanes = report.timelines[t].lanes;
      for (size_t i = 0; i < lanes.size(); ++i) {
        if (isUsed(report, i)) {
          bool isQueue = lanes[i].queue.valid();
          uint32_t laneHeight = isQueue ? queueHeight : sequencerHeight;
          top += isQueue ? 0 : engineGap;
          places.push_back({t, &lanes[i], top, laneHeight});
          top += laneHeight + gap;
        }
      }
      top += panelGap;
    }
    plotBottom = top;
    height = plotBottom + axisHeight +
             static_cast<uint32_t>(legendEntries().size() + legendColumns - 1) / legendColumns *
                 legendLine +
             6;
  }

  //===--- Lanes ----------------------------------------------------------------===//

  /// Pieces where they are held, and the overview elsewhere.
  std::string shapes(const Place &place) const {
    const Timeline &timeline = report.timelines[place.timeline];
    LaneShapes shapes(view, place.top, place.height);
    forEachBucket(report, causes, styles, place.timeline, place.lane,
                  [&](Tick from, Tick to, Tick bucketWidth, const Shares &shares) {
                    shapes.addBucket(from, to, bucketWidth, shares);
                  });
    if (!place.lane) {
      for (const PathPiece &piece : timeline.path) {
        shapes.addPiece(piece.from, piece.to, StyleTable::ofPath(piece.kind));
      }
      return shapes.svg(styles.all());
    }
    const std::vector<Piece> &pieces = place.lane->pieces;
    for (size_t i = 0; i < pieces.size(); ++i) {
      shapes.addPiece(pieces[i].from, pieces[i].to,
                      styleOf(report, causes, styles, place.timeline, *place.lane, i));
    }
    return shapes.svg(styles.all()) + tails(place);
  }

  /// Thin lines from where the next instruction could start up to the finish.
  std::string tails(const Place &place) const {
    std::string path;
    const Timeline &timeline = report.timelines[place.timeline];
    for (const Piece &piece : place.lane->pieces) {
      if (piece.kind != PieceKind::Instruction) {
        continue;
      }
      double from = std::max(view.offsetOf(piece.to), 0.0);
      double to = std::min(view.offsetOf(timeline.executions[piece.detail].finish), double(width));
      if (to - from >= 2) {
        path += fmt::format("M{} {}H{}", tenths(left + from),
                            tenths(place.top + place.height - 1.5), tenths(left + to));
      }
    }
    return path.empty() ? path : fmt::format("<path class=\"tail\" d=\"{}\"/>\n", path);
  }

  /// Names of the instructions that are wide enough for them.
  std::string pieceLabels(const Place &place) const {
    std::string text;
    for (const Piece &piece : place.lane ? place.lane->pieces : std::vector<Piece>()) {
      if (piece.kind != PieceKind::Instruction || piece.from >= span.until ||
          piece.to <= span.from) {
        continue;
      }
      const Timeline &timeline = report.timelines[place.timeline];
      std::string_view name = report.kernel().nameOf(timeline.executions[piece.detail].instr);
      double from = view.xOf(std::max(piece.from, span.from));
      double to = view.xOf(std::min(piece.to, span.until));
      if (to - from > double(name.size()) * letterWidth) {
        text += fmt::format("<text x=\"{}\" y=\"{}\">{}</text>\n", tenths((from + to) / 2),
                            place.top + place.height - 5, escape(name));
      }
    }
    return text;
  }

  std::string laneLabel(const Place &place) const {
    double bottom = place.top + place.height - 3;
    if (!place.lane) {
      return textAt(left - 8, bottom, "lane", "critical path");
    }
    const Lane &lane = *place.lane;
    if (!lane.queue.valid()) {
      return textAt(8, bottom, "engine", report.kernel().nameOf(lane.engine)) +
             textAt(left - 8, bottom, "lane", "sequencer");
    }
    std::string_view queue = report.kernel().nameOf(lane.queue);
    return textAt(left - 8, bottom, "lane",
                  queue == report.kernel().nameOf(lane.engine) ? "queue" : queue);
  }

  std::string lane(const Place &place) const {
    return fmt::format("<g class=\"lane\">\n<rect class=\"ground\" x=\"{}\" y=\"{}\" width=\"{}\" "
                       "height=\"{}\"/>\n{}<g class=\"names\">\n{}</g>\n</g>\n",
                       left, place.top, width, place.height, shapes(place), pieceLabels(place));
  }

  //===--- Panels ---------------------------------------------------------------===//

  /// The lane in which a piece of the critical path lies.
  const Place &placeOf(size_t timeline, const PathPiece &piece) const {
    QueueId queue = queueOf(report.timelines[timeline], piece);
    return *std::ranges::find_if(places, [&](const Place &place) {
      return place.timeline == timeline && place.lane && place.lane->engine == piece.engine &&
             place.lane->queue == queue;
    });
  }

  /// The critical path as one line across the lanes, unless it would be a thicket.
  std::string way(size_t timeline) const {
    std::string path;
    size_t numPieces = 0;
    for (const PathPiece &piece : report.timelines[timeline].path) {
      if (piece.from >= span.until || piece.to <= span.from) {
        continue;
      }
      uint32_t y = placeOf(timeline, piece).top + wayDepth;
      path += fmt::format("{}{} {}H{}", path.empty() ? "M" : "L",
                          tenths(view.xOf(std::max(piece.from, span.from))), y,
                          tenths(view.xOf(std::min(piece.to, span.until))));
      ++numPieces;
    }
    return path.empty() || numPieces > mostWayPieces
               ? ""
               : fmt::format("<path class=\"way\" d=\"{}\"/>\n", path);
  }

  std::string panel(size_t timeline) const {
    const Timeline &line = report.timelines[timeline];
    std::string text =
        fmt::format("<g class=\"panel\" data-strategy=\"{}\">\n", escape(line.name()));
    text += textAt(8, panelTops[timeline] + 17, "strategy", titleOf(report, timeline));
    uint32_t bottom = 0;
    for (const Place &place : places) {
      if (place.timeline == timeline) {
        text += laneLabel(place) + lane(place);
        bottom = place.top + place.height;
      }
    }
    text += way(timeline);
    // The end of the run, a line across its lanes.
    if (line.result.total >= span.from && line.result.total <= span.until) {
      std::string x = tenths(view.xOf(line.result.total));
      text += fmt::format("<line class=\"end\" x1=\"{0}\" x2=\"{0}\" y1=\"{1}\" y2=\"{2}\"/>\n", x,
                          panelTops[timeline] + titleHeight, bottom);
    }
    return text + "</g>\n";
  }

  //===--- Axis and legend ------------------------------------------------------===//

  std::string axis() const {
    Tick step = axisStep(span.until - span.from);
    std::string text = "<g class=\"axis\">\n";
    for (Tick at = (span.from + step - 1) / step * step; at <= span.until; at += step) {
      text += fmt::format(
          "<line x1=\"{0}\" x2=\"{0}\" y1=\"{1}\" y2=\"{2}\"/>\n"
          "<text x=\"{0}\" y=\"{3}\">{5}</text>\n<text x=\"{0}\" y=\"{4}\">{5}</text>\n",
          tenths(view.xOf(at)), axisHeight - 6, plotBottom, axisHeight - 10, plotBottom + 12,
          axisText(at, step, span.until));
    }
    return text + "</g>\n";
  }

  std::vector<const Style *> legendEntries() const {
    std::vector<const Style *> entries;
    for (const Style &style : styles.all()) {
      if (!style.meaning.empty()) {
        entries.push_back(&style);
      }
    }
    return entries;
  }

  std::string legend() const {
    std::string text = "<g class=\"legend\">\n";
    std::vector<const Style *> entries = legendEntries();
    for (size_t i = 0; i < entries.size(); ++i) {
      constexpr uint32_t columnWidth = pageWidth / legendColumns;
      double x = double(8 + i % legendColumns * columnWidth);
      double y = double(plotBottom + axisHeight + i / legendColumns * legendLine);
      std::string entry = fmt::format("{}: {}", entries[i]->colour, entries[i]->meaning);
      text += fmt::format("<rect class=\"{}\" x=\"{:g}\" y=\"{:g}\" width=\"22\" height=\"11\"/>\n",
                          entries[i]->name, x, y) +
              textAt(x + 28, y + 10, "entry", shorten(entry, 90));
    }
    return text + "</g>\n";
  }

  const Report &report;
  CauseTable causes;
  StyleTable styles;
  Span span;
  View view;
  std::vector<Place> places;
  std::vector<uint32_t> panelTops;
  uint32_t plotBottom = 0;
  uint32_t height = 0;
};

} // namespace

std::string pictureOf(const Report &report, bool isAlone) {
  return Picture(report).svg(isAlone);
}

} // namespace tally::report

namespace tally {

Span shownSpan(const Report &report) {
  Tick longest = 0;
  for (const Timeline &timeline : report.timelines) {
    longest = std::max(longest, timeline.result.total);
  }
  Span span{report.from, std::min(report.until, longest)};
  span.until = std::max(span.until, span.from + 1);
  return span;
}

std::string conditionsOf(const Report &report) {
  std::string machine =
      report.machineReason.empty()
          ? ""
          : fmt::format("machine: {} (not given: {})\n", report.machine, report.machineReason);
  return machine + report.conditions + (report.command.empty() ? "" : report.command + "\n");
}

std::string reportSvg(const Report &report) {
  return report::pictureOf(report, true);
}

} // namespace tally
