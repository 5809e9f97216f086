//===- Picture.cpp - Timelines as SVG -------------------------------------===//
//
//     left                                                      left + width
//     |  0          10 us        20 us        30 us                |
//     barrier: 127.756 us                                                      panel: a timeline
//     sync     sequencer  ▒▒▒▒▒▒████                                           lane
//              load             ▆▆▆▆▆▆▆▆                                       lane
//
// Pieces of time are in nanoseconds; `transform` of their group puts them on the page, so that
// zooming is only another transform (page.js). Labels and the lines of the axis are in
// points of the page, and made again by the script.
//
//===----------------------------------------------------------------------===//

#include "Picture.h"

#include "Assets.h"
#include "Markup.h"
#include "PieceText.h"
#include "Textures.h"

#include <fmt/format.h>

#include <algorithm>

namespace tally::report {
namespace {

// Points of the page; the picture is scaled to where it stands.
static constexpr uint32_t left = 150;
static constexpr uint32_t width = 1036;
static constexpr uint32_t pageWidth = 1200;
static constexpr uint32_t axisHeight = 24;
static constexpr uint32_t titleHeight = 24;
static constexpr uint32_t sequencerHeight = 12;
static constexpr uint32_t queueHeight = 17;
static constexpr uint32_t tailHeight = 3;
static constexpr uint32_t gap = 2;
static constexpr uint32_t engineGap = 5;
static constexpr uint32_t panelGap = 14;
static constexpr uint32_t legendLine = 18;
static constexpr uint32_t legendColumns = 3;
static constexpr double letterWidth = 5.8;

static std::string textAt(double x, double y, std::string_view style, std::string_view text) {
  return fmt::format("<text x=\"{:g}\" y=\"{:g}\" class=\"{}\">{}</text>\n", x, y, style,
                     escape(text));
}

class Picture {
public:
  Picture(const Report &report, const CauseTable &causes)
      : report(report), causes(causes), styles(stylesOf(causes.all())), span(shownSpan(report)) {
    placeLanes();
  }

  std::string svg(bool isAlone) const {
    std::string name = fmt::format("Timelines of kernel {} on {}",
                                   report.kernel().text(report.kernel().name), report.machine);
    std::string text = fmt::format(
        "<svg class=\"timelines\" {}viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\" "
        "data-from=\"{}\" data-until=\"{}\" data-left=\"{}\" data-width=\"{}\">\n",
        isAlone ? "xmlns=\"http://www.w3.org/2000/svg\" " : "", pageWidth, height, escape(name),
        span.from, span.until, left, width);
    if (isAlone) {
      text +=
          fmt::format("<style>\n{}</style>\n<rect class=\"paper\" width=\"{}\" height=\"{}\"/>\n",
                      assets::pictureStyle, pageWidth, height);
    }
    text += definitions() + axis();
    for (size_t t = 0; t < report.timelines.size(); ++t) {
      text += panel(t, isAlone);
    }
    return text + "<g class=\"marks\"></g>\n" + legend() + "</svg>\n";
  }

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

  /// Lanes in which nothing happens in any run are left out of all, so that panels look alike.
  bool isUsed(const Lane &lane, const Timeline &timeline) const {
    if (lane.queue.valid()) {
      return timeline.result.queues[lane.queue].instructions > 0;
    }
    const EngineStats &stats = timeline.result.engines[lane.engine];
    return stats.done < timeline.result.total;
  }

  void placeLanes() {
    uint32_t top = axisHeight;
    for (size_t t = 0; t < report.timelines.size(); ++t) {
      panelTops.push_back(top);
      top += titleHeight;
      const std::vector<Lane> &lanes = report.timelines[t].lanes;
      for (size_t i = 0; i < lanes.size(); ++i) {
        bool used = std::any_of(
            report.timelines.begin(), report.timelines.end(),
            [&](const Timeline &timeline) { return isUsed(timeline.lanes[i], timeline); });
        if (used) {
          bool isQueue = lanes[i].queue.valid();
          uint32_t laneHeight = isQueue ? queueHeight : sequencerHeight;
          top += isQueue ? 0 : engineGap;
          places.push_back({t, &lanes[i], top, laneHeight});
          top += laneHeight + gap;
        }
      }
      top += panelGap;
    }
    legendTop = top + axisHeight;
    entries = legendEntries();
    height =
        legendTop +
        static_cast<uint32_t>(entries.size() + legendColumns - 1) / legendColumns * legendLine + 6;
  }

  double scale() const { return double(width) * 1000 / double(span.until - span.from); }

  double xOf(Tick tick) const { return left + (double(tick) - double(span.from)) / 1000 * scale(); }

  std::string transform() const {
    return fmt::format("translate({:.6g} 0) scale({:.10g} 1)",
                       left - double(span.from) / 1000 * scale(), scale());
  }

  //===--- Pieces ---------------------------------------------------------------===//

  std::string classOf(const Place &place, const Piece &piece) const {
    switch (piece.kind) {
    case PieceKind::Control:
      return "c";
    case PieceKind::Instruction: // neighbours in two shades
      return (&piece - place.lane->pieces.data()) % 2 == 0 ? "i" : "i j";
    case PieceKind::QueueFull:
      return "f";
    case PieceKind::Drain:
      return "d";
    case PieceKind::Wait:
      break;
    }
    const Timeline &timeline = report.timelines[place.timeline];
    InstrId by = piece.detail == UINT32_MAX
                     ? InstrId()
                     : endedBy(timeline.code, timeline.releases[piece.detail]);
    return styles[causes.of(place.timeline, place.lane->engine, piece.op, by)];
  }

  /// A rectangle; the text stands in a `<title>`, which browsers show where the pointer rests.
  std::string rect(Tick from, Tick to, uint32_t top, uint32_t rectHeight, const std::string &rest,
                   const std::string &title) const {
    std::string head =
        fmt::format(R"(<rect x="{}" width="{}" y="{}" height="{}" {})", nanoseconds(from),
                    nanoseconds(to - from), top, rectHeight, rest);
    return title.empty() ? head + "/>\n"
                         : fmt::format("{}><title>{}</title></rect>\n", head, title);
  }

  /// Of a wait, where it was ended from: ` data-by="queue load 12.5"`, in nanoseconds.
  std::string originOf(const Place &place, const Piece &piece) const {
    if (piece.kind != PieceKind::Wait || piece.detail == UINT32_MAX) {
      return "";
    }
    const Release &release = report.timelines[place.timeline].releases[piece.detail];
    for (size_t i = 0; i < places.size(); ++i) {
      if (places[i].timeline == place.timeline && places[i].lane->engine == release.by &&
          places[i].lane->queue == release.byQueue) {
        return fmt::format(R"( data-by="{}" data-at="{}")", i, nanoseconds(release.raisedAt));
      }
    }
    return "";
  }

  std::string piece(const Place &place, const Piece &piece, bool isAlone) const {
    const Timeline &timeline = report.timelines[place.timeline];
    Tick finish =
        piece.kind == PieceKind::Instruction ? timeline.executions[piece.detail].finish : 0;
    if (piece.from >= span.until || std::max(piece.to, finish) <= span.from) {
      return "";
    }
    std::string title =
        isAlone ? "" : escape(pieceText(*timeline.kernel, timeline, *place.lane, piece));
    std::string rest = fmt::format(R"(class="{}")", classOf(place, piece));
    if (piece.kind == PieceKind::Instruction && !isAlone) {
      InstrId instr = timeline.executions[piece.detail].instr;
      rest += fmt::format(R"( data-name="{}")", escape(report.kernel().nameOf(instr)));
    }
    std::string text = rect(piece.from, piece.to, place.top, place.height,
                            rest + (isAlone ? "" : originOf(place, piece)), title);
    if (finish > piece.to) {
      text += rect(piece.to, finish, place.top + place.height - tailHeight, tailHeight,
                   R"(class="t")", "");
    }
    return text;
  }

  /// Names of the instructions that are wide enough for them.
  std::string pieceLabels(const Place &place) const {
    const Timeline &timeline = report.timelines[place.timeline];
    std::string text;
    for (const Piece &piece : place.lane->pieces) {
      if (piece.kind != PieceKind::Instruction || piece.from >= span.until ||
          piece.to <= span.from) {
        continue;
      }
      std::string_view name = report.kernel().nameOf(timeline.executions[piece.detail].instr);
      double from = xOf(std::max(piece.from, span.from)), to = xOf(std::min(piece.to, span.until));
      if (to - from > double(name.size()) * letterWidth) {
        text += fmt::format("<text x=\"{:.1f}\" y=\"{}\">{}</text>\n", (from + to) / 2,
                            place.top + place.height - 5, escape(name));
      }
    }
    return text;
  }

  //===--- Lanes and panels -----------------------------------------------------===//

  std::string laneLabel(const Place &place) const {
    const Lane &lane = *place.lane;
    double bottom = place.top + place.height - 3;
    if (!lane.queue.valid()) {
      return textAt(8, bottom, "engine", report.kernel().nameOf(lane.engine)) +
             textAt(left - 8, bottom, "lane", "sequencer");
    }
    std::string_view queue = report.kernel().nameOf(lane.queue);
    return textAt(left - 8, bottom, "lane",
                  queue == report.kernel().nameOf(lane.engine) ? "queue" : queue);
  }

  std::string lane(const Place &place, bool isAlone) const {
    const Lane &lane = *place.lane;
    std::string text =
        fmt::format("<g class=\"lane\" data-engine=\"{}\" data-queue=\"{}\" data-middle=\"{}\">\n",
                    escape(report.kernel().nameOf(lane.engine)),
                    lane.queue.valid() ? escape(report.kernel().nameOf(lane.queue)) : "",
                    place.top + place.height / 2);
    text += fmt::format("<rect class=\"ground\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>\n",
                        left, place.top, width, place.height);
    text += fmt::format("<g class=\"time\" transform=\"{}\">\n", transform());
    for (const Piece &one : lane.pieces) {
      text += piece(place, one, isAlone);
    }
    return text + "</g>\n<g class=\"names\">\n" + pieceLabels(place) + "</g>\n</g>\n";
  }

  std::string panelTitle(size_t timeline) const {
    const Timeline &line = report.timelines[timeline];
    const SimResult &first = report.timelines.front().result;
    std::string text =
        fmt::format("{}: {}", toString(line.code.strategy), timeText(line.result.total));
    if (timeline > 0 && first.total > 0) {
      text += fmt::format(", {:.3f} of {}", double(line.result.total) / double(first.total),
                          toString(report.timelines.front().code.strategy));
    }
    return line.result.outcome == SimResult::Outcome::Deadlock ? text + ", deadlock"
           : line.result.outcome == SimResult::Outcome::CutOff ? text + ", cut off"
                                                               : text;
  }

  std::string panel(size_t timeline, bool isAlone) const {
    const Timeline &line = report.timelines[timeline];
    std::string text = fmt::format("<g class=\"panel\" data-strategy=\"{}\">\n",
                                   escape(toString(line.code.strategy)));
    text += textAt(8, panelTops[timeline] + 17, "strategy", panelTitle(timeline));
    std::string lanes;
    uint32_t bottom = 0;
    for (const Place &place : places) {
      if (place.timeline == timeline) {
        text += laneLabel(place);
        lanes += lane(place, isAlone);
        bottom = place.top + place.height;
      }
    }
    text += "<g clip-path=\"url(#plot)\">\n" + lanes;
    // The end of the run, a line across its lanes.
    text += fmt::format("<g class=\"time\" transform=\"{}\">\n"
                        "<line class=\"end\" x1=\"{}\" x2=\"{}\" y1=\"{}\" y2=\"{}\"/>\n</g>\n",
                        transform(), nanoseconds(line.result.total), nanoseconds(line.result.total),
                        panelTops[timeline] + titleHeight, bottom);
    return text + "</g>\n</g>\n";
  }

  //===--- Axis and legend ------------------------------------------------------===//

  std::string axis() const {
    Tick step = axisStep(span.until - span.from);
    uint32_t bottom = legendTop - axisHeight;
    std::string text = "<g class=\"axis\">\n";
    for (Tick at = (span.from + step - 1) / step * step; at <= span.until; at += step) {
      std::string x = fmt::format("{:.1f}", xOf(at));
      std::string label = axisText(at, step, span.until);
      text += fmt::format(
          "<line x1=\"{0}\" x2=\"{0}\" y1=\"{1}\" y2=\"{2}\"/>\n"
          "<text x=\"{0}\" y=\"{3}\">{5}</text>\n<text x=\"{0}\" y=\"{4}\">{5}</text>\n",
          x, axisHeight - 6, bottom, axisHeight - 10, bottom + 12, label);
    }
    return text + "</g>\n";
  }

  /// What the fillings mean, in the order of the table; what has no filling of its own is one
  /// entry.
  std::vector<Entry> legendEntries() const {
    std::vector<Entry> entries{{"i", "instruction, until the next one can start"},
                               {"t", "until it has finished"},
                               {"c", "control"}};
    bool hasOthers = false;
    for (size_t i = 0; i < styles.size(); ++i) {
      const Cause &cause = causes.all()[i];
      if (styles[i] != otherStyle) {
        std::string verb = cause.kind == Cause::Kind::Drain ? "drains: waits for " : "waits for ";
        entries.push_back({styles[i], verb + cause.text});
      } else if (!hasOthers) {
        hasOthers = true;
        entries.push_back({otherStyle, "waits for something else"});
      }
    }
    return entries;
  }

  std::string legend() const {
    std::string text = "<g class=\"legend\">\n";
    for (size_t i = 0; i < entries.size(); ++i) {
      constexpr uint32_t columnWidth = pageWidth / legendColumns;
      size_t line = i / legendColumns;
      double x = double(8 + i % legendColumns * columnWidth);
      double y = double(legendTop + line * legendLine);
      uint32_t size = entries[i].style == "t" ? tailHeight : 11;
      text += fmt::format("<rect class=\"{}\" x=\"{:g}\" y=\"{:g}\" width=\"22\" height=\"{}\"/>\n",
                          entries[i].style, x, y + 11 - size, size) +
              textAt(x + 28, y + 10, "entry", shorten(entries[i].text, 58));
    }
    return text + "</g>\n";
  }

  std::string definitions() const {
    return fmt::format("<defs>\n<clipPath id=\"plot\"><rect x=\"{}\" y=\"0\" width=\"{}\" "
                       "height=\"{}\"/></clipPath>\n{}</defs>\n",
                       left, width, height, textures(scale()));
  }

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

} // namespace

std::string pictureOf(const Report &report, const CauseTable &causes, bool isAlone) {
  return Picture(report, causes).svg(isAlone);
}

} // namespace tally::report

namespace tally {

Span shownSpan(const Report &report) {
  Tick longest = 0;
  Span span{report.from, report.until};
  for (const Timeline &timeline : report.timelines) {
    longest = std::max(longest, timeline.result.total);
    span.until = std::min(span.until, timeline.shownUntil);
  }
  span.until = std::max(std::min(span.until, longest), span.from + 1);
  return span;
}

std::string reportSvg(const Report &report) {
  report::CauseTable causes(report);
  return report::pictureOf(report, causes, true);
}

} // namespace tally
