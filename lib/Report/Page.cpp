//===- Page.cpp - A report as HTML ----------------------------------------===//
//
// Numbers first, in tables of all runs; then the picture; then what waited for what, and the
// time of each engine. Every number of time carries its exact value (`data-ps`).
//
//===----------------------------------------------------------------------===//

#include "Assets.h"
#include "Drawn.h"
#include "Markup.h"
#include "Pack.h"
#include "PageData.h"
#include "Picture.h"

#include "tally/Sim/Trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <span>

namespace tally {
namespace report {
namespace {

/// `<td class="number" data-ps="66913676">66.913 us</td>`
std::string timeCell(Tick time, std::string_view key, const std::string &more = {}) {
  if (time == 0) {
    return fmt::format("<td class=\"number faint\" data-key=\"{}\" data-ps=\"0\">-</td>", key);
  }
  return fmt::format("<td class=\"number\" data-key=\"{}\" data-ps=\"{}\">{}{}</td>", key, time,
                     timeText(time), more);
}

/// With its share of a whole run.
std::string shareCell(Tick time, Tick whole, std::string_view key) {
  return timeCell(time, key,
                  fmt::format(" <span class=\"faint\">{}</span>", percentText(time, whole)));
}

class Page {
public:
  explicit Page(const Report &report)
      : report(report), kernel(report.kernel()), causes(report), styles(causes.all()),
        span(shownSpan(report)) {
    for (const Timeline &timeline : report.timelines) {
      longest = std::max(longest, timeline.result.total);
    }
  }

  std::string text() const {
    return head() + "<body>\n" + fillings() + summary() + adviceSection() + pictureSection() +
           causeTable() + pathTable() + engineTables() + parameterTable() + notes() +
           fmt::format("<script type=\"application/octet-stream\" id=\"data\">{}</script>\n"
                       "<script>\n{}</script>\n</body>\n</html>\n",
                       pack(pageData(report, causes, styles)), assets::pageScript);
  }

private:
  std::string title() const {
    return fmt::format("{} on {}", escape(kernel.text(kernel.name)), escape(report.machine));
  }

  /// The policy lets nothing in from outside, whatever a name in the kernel may look like.
  std::string head() const {
    return fmt::format("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                       "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                       "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                       "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
                       "<meta name=\"generator\" content=\"tally report 1\">\n"
                       "<title>{}</title>\n<style>\n{}{}</style>\n</head>\n",
                       title(), assets::pageStyle, assets::pictureStyle);
  }

  std::string strategyOf(const Timeline &timeline) const { return escape(timeline.name()); }

  static std::string outcomeOf(const SimResult &result) {
    static constexpr const char *names[] = {"finished", "deadlock", "cut off"};
    return names[static_cast<size_t>(result.outcome)];
  }

  /// How long each run takes.
  std::string summary() const {
    bool isMeasured = std::ranges::any_of(
        report.timelines, [](const Timeline &one) { return !one.measuredOn.empty(); });
    std::string text = fmt::format(
        "<h1>{}</h1>\n<p>Simulated{}, {} {} of the same kernel. Times are of whole runs.</p>\n"
        "<div class=\"scroll\"><table id=\"summary\">\n<tr><th>strategy</th><th "
        "class=\"number\">time</th>"
        "<th class=\"number\">of {}</th><th></th><th class=\"number\">operations</th>"
        "<th class=\"number\">instructions</th><th>outcome</th></tr>\n",
        title(), isMeasured ? " and measured" : "", report.timelines.size(),
        report.timelines.size() == 1 ? "run" : "runs", strategyOf(report.timelines.front()));
    for (size_t i = 0; i < report.timelines.size(); ++i) {
      const SimResult &result = report.timelines[i].result;
      std::optional<double> ratio = ratioToFirst(report, i);
      text += fmt::format("<tr data-strategy=\"{0}\"><td>{0}</td>{1}<td class=\"number\">{2}</td>"
                          "<td><span class=\"bar\" style=\"width:calc({3} * "
                          "var(--unit))\"></span></td><td class=\"number\">{4}</td>"
                          "<td class=\"number\">{5}</td><td>{6}</td></tr>\n",
                          strategyOf(report.timelines[i]), timeCell(result.total, "total"),
                          ratio ? fmt::format("{:.3f}", *ratio) : "-",
                          longest == 0 ? 0 : result.total * 300 / longest, result.operations,
                          result.instructions, outcomeOf(result));
    }
    if (std::ranges::none_of(report.timelines, [](const Timeline &timeline) {
          return timeline.code.strategy == Strategy::Ideal;
        })) {
      text += boundRow("ideal", report.bounds.ideal, describeIdeal(report.bounds));
    }
    if (report.bounds.floor) {
      text += boundRow("floor", report.bounds.floor->total,
                       describeFloor(report.kernel(), *report.bounds.floor));
    }
    text += "</table></div>\n" + conditions();
    for (const std::string &leftOut : report.leftOut) {
      text += fmt::format("<p>{}</p>\n", escape(leftOut));
    }
    for (const Timeline &timeline : report.timelines) {
      if (timeline.result.outcome == SimResult::Outcome::Deadlock) {
        text +=
            fmt::format("<p>{} ends in a deadlock; {}</p>\n", strategyOf(timeline),
                        escape(describeDeadlock(*timeline.kernel, timeline.code, timeline.result)));
      }
    }
    return text;
  }

  /// What no code falls below: no timeline has this row.
  std::string boundRow(std::string_view name, std::optional<Tick> bound,
                       std::string_view keeps) const {
    const SimResult &first = report.timelines.front().result;
    if (!bound) {
      return "";
    }
    bool isWhole = first.outcome == SimResult::Outcome::Finished && first.total > 0;
    return fmt::format("<tr class=\"bound\"><td>{}</td>{}<td class=\"number\">{}</td>"
                       "<td><span class=\"bar\" style=\"width:calc({} * "
                       "var(--unit))\"></span></td><td colspan=\"3\">{}</td></tr>\n",
                       name, timeCell(*bound, "total"),
                       isWhole ? fmt::format("{:.3f}", double(*bound) / double(first.total)) : "-",
                       longest == 0 ? 0 : *bound * 300 / longest, escape(keeps));
  }

  std::string conditions() const {
    std::string text = conditionsOf(report);
    return text.empty() ? "" : fmt::format("<pre id=\"conditions\">{}</pre>\n", escape(text));
  }

  /// What was tried, and what it saves.
  std::string adviceSection() const {
    if (!report.advice) {
      return "";
    }
    const ReportAdvice &advice = *report.advice;
    std::string text = fmt::format("<h2>What would make it faster</h2>\n<p>Tried on code of "
                                   "strategy {}, which takes {}.</p>\n",
                                   escape(advice.strategy), timeText(advice.total));
    if (advice.lists.empty()) {
      return text + "<p>Nothing that was tried helps.</p>\n";
    }
    text += "<div class=\"scroll\"><table id=\"advice\">\n";
    for (const ReportAdvice::List &list : advice.lists) {
      text += fmt::format("<tr><th>{}</th><th class=\"number\">time</th>"
                          "<th class=\"number\">saves</th></tr>\n",
                          escape(list.title));
      for (const ReportAdvice::Row &row : list.rows) {
        text += fmt::format("<tr><td>{}</td>{}<td class=\"number\">{:.1f}%</td></tr>\n",
                            escape(row.what), timeCell(row.total, "total"),
                            100 * (1 - double(row.total) / double(advice.total)));
      }
    }
    return text + "</table></div>\n";
  }

  /// Patterns that the picture and the tables refer to.
  static std::string fillings() {
    return fmt::format("<svg class=\"timelines\" width=\"0\" height=\"0\" aria-hidden=\"true\" "
                       "style=\"position: absolute\"><defs>\n{}</defs></svg>\n",
                       textures());
  }

  /// What part of the runs the picture shows, and of what part the page has all pieces.
  std::string windowText() const {
    std::string text =
        span.from == 0 && span.until >= longest
            ? "The picture shows whole runs."
            : fmt::format("<strong>At first, the picture shows {} to {} of {}.</strong>",
                          timeText(span.from), timeText(span.until), timeText(longest));
    for (const Timeline &timeline : report.timelines) {
      if (!timeline.isWhole()) {
        text += fmt::format(" Of {}, the page has each piece from {} to {}, and of the rest "
                            "only sums for each thousandth of the run.",
                            strategyOf(timeline), timeText(timeline.shownFrom),
                            timeText(std::min(timeline.shownUntil, timeline.result.total)));
      }
    }
    return text + " All numbers are of whole runs.";
  }

  std::string pictureSection() const {
    return fmt::format(
        "<h2>Timelines</h2>\n<p id=\"window\">{}</p>\n"
        "<p class=\"tools\"><button data-action=\"in\">zoom in</button>"
        "<button data-action=\"out\">zoom out</button><button data-action=\"left\">left</button>"
        "<button data-action=\"right\">right</button><button data-action=\"all\">all</button>"
        "<button data-action=\"back\">piece before</button>"
        "<button data-action=\"next\">next piece</button>"
        "<button data-action=\"ender\">what ended it</button>"
        "<button data-action=\"way\" aria-pressed=\"true\" title=\"drawn where at most 400 of its "
        "pieces are in view\">critical path</button>"
        "<label>search <input id=\"search\" type=\"search\" size=\"14\"></label>"
        "<button data-action=\"match\">next match</button>"
        "<span id=\"found\" role=\"status\"></span></p>\n"
        "<p class=\"tools faint\" id=\"keys\">Drag, or Ctrl and the wheel. Keys: + - zoom, 0 shows "
        "all, "
        "&larr; &rarr; move, &uarr; &darr; go from lane to lane, n and p from piece to piece, e to "
        "what ended a wait, c shows the critical path, / searches. The path is drawn where at "
        "most 400 of its pieces are in view: zoom in.</p>\n"
        "<div id=\"piece\" role=\"status\" aria-live=\"polite\">Click a piece to see what it is, "
        "and what ended a wait.</div>\n<div id=\"picture\">\n"
        "<svg id=\"overview\" class=\"timelines\" viewBox=\"0 0 1200 1\" role=\"img\" "
        "aria-label=\"How busy the queues are over the whole runs, and which part is shown\">"
        "</svg>\n<svg id=\"timelines\" class=\"timelines\" viewBox=\"0 0 1200 1\" tabindex=\"0\" "
        "role=\"application\" aria-label=\"Timelines\" aria-describedby=\"keys\"></svg>\n"
        "<noscript>\n{}</noscript>\n</div>\n<div id=\"tip\" hidden></div>\n{}",
        windowText(), pictureOf(report, false), legend());
  }

  static std::string swatchOf(std::string_view shape) {
    return fmt::format("<svg class=\"timelines swatch\" viewBox=\"0 0 22 11\" aria-hidden=\"true\">"
                       "{}</svg>",
                       shape);
  }

  static std::string swatch(std::string_view style) {
    return swatchOf(fmt::format("<rect class=\"{}\" width=\"22\" height=\"11\"/>", style));
  }

  std::string legend() const {
    std::string text = "<ul id=\"legend\">\n";
    for (const Style &style : styles.all()) {
      if (!style.meaning.empty()) {
        text += fmt::format("<li>{}<b>{}</b>: {}</li>\n", swatch(style.name), style.colour,
                            escape(style.meaning));
      }
    }
    return text +
           fmt::format(
               "<li class=\"scripted-only\">{}<b>red line</b>: the critical path</li>\n</ul>\n",
               swatchOf("<path class=\"way\" d=\"M0 5.5H22\"/>"));
  }

  std::string strategyHeads() const {
    std::string text;
    for (const Timeline &timeline : report.timelines) {
      text += fmt::format("<th class=\"number\">{}</th>", strategyOf(timeline));
    }
    return text;
  }

  std::string causeTable() const {
    std::string text =
        "<h2>What sequencers waited for</h2>\n<div class=\"scroll\"><table id=\"causes\">\n"
        "<caption>all engines together, longest first</caption>\n"
        "<tr><th></th><th>for</th>" +
        strategyHeads() + "</tr>\n";
    constexpr size_t most = 100;
    const size_t shown = std::min(most, causes.all().size());
    for (size_t i = 0; i < shown; ++i) {
      const Cause &cause = causes.all()[i];
      const Style &style = styles.all()[styles.ofCause(i)];
      text += fmt::format("<tr><td>{}</td><td>{}</td>", swatch(style.name), escape(cause.text));
      for (size_t t = 0; t < report.timelines.size(); ++t) {
        text += timeCell(cause.span[t], report.timelines[t].name());
      }
      text += "</tr>\n";
    }
    return text + otherCauses(shown) + "</table></div>\n";
  }

  /// The sum of those that are not shown, in a row.
  std::string otherCauses(size_t shown) const {
    std::span<const Cause> others = std::span(causes.all()).subspan(shown);
    if (others.empty()) {
      return "";
    }
    std::string text = fmt::format("<tr><td></td><td>{} more</td>", others.size());
    for (size_t t = 0; t < report.timelines.size(); ++t) {
      Tick sum = 0;
      for (const Cause &cause : others) {
        sum += cause.span[t];
      }
      text += timeCell(sum, report.timelines[t].name());
    }
    return text + "</tr>\n";
  }

  /// What the length of each run is due to: operations by what they do, the largest first.
  std::string pathTable() const {
    constexpr size_t most = 12;
    std::string text;
    for (const Timeline &timeline : report.timelines) {
      std::map<std::string, Tick> spans;
      for (const PathShare &share : timeline.result.path) {
        for (size_t kind = 0; kind < numPathKinds; ++kind) {
          std::string what = fmt::format(
              "{}: {}", operationName(*timeline.kernel, timeline.code, share.engine, share.op),
              toString(static_cast<PathKind>(kind)));
          spans[what] += share.spans[kind];
        }
      }
      std::vector<std::pair<std::string, Tick>> longest(spans.begin(), spans.end());
      std::ranges::stable_sort(longest, std::greater(), &std::pair<std::string, Tick>::second);
      std::string rows;
      for (size_t i = 0; i < std::min(most, longest.size()) && longest[i].second > 0; ++i) {
        rows += row(longest[i].first, shareCell(longest[i].second, timeline.result.total, "span"));
      }
      if (!rows.empty()) {
        text += tableOf(timeline, "critical path", "what", {"time"}, rows);
      }
    }
    return text.empty() ? text
                        : "<h2>What the length of each run is due to</h2>\n"
                          "<p>The longest parts of the critical path: each began when the one "
                          "before it ended, from the beginning of the run to its end.</p>\n"
                          "<div class=\"tables\">\n" +
                              text + "</div>\n";
  }

  std::string engineTables() const {
    std::string text = "<h2>How engines, queues and the bandwidth are used</h2>\n"
                       "<div class=\"tables\">\n";
    for (const Timeline &timeline : report.timelines) {
      text += sequencerTable(timeline) + queueTable(timeline) + bandwidthTable(timeline);
    }
    return text + "</div>\n";
  }

  /// Each transfer needs its interval at full bandwidth, and all queues share that.
  std::string bandwidthTable(const Timeline &timeline) const {
    Tick needed = 0;
    uint64_t transfers = 0;
    for (EngineId engine : kernel.engines.ids()) {
      const std::vector<Op> &ops = timeline.code.engines[engine].ops;
      for (uint32_t op = 0; op < ops.size(); ++op) {
        if (ops[op].kind == OpKind::Issue && !report.costs.empty() &&
            report.costs[ops[op].instr()].isTransfer) {
          uint64_t runs = timeline.result.engines[engine].ops[op].runs;
          transfers += runs;
          needed += runs * report.costs[ops[op].instr()].interval;
        }
      }
    }
    if (transfers == 0) {
      return "";
    }
    Tick total = timeline.result.total;
    return tableOf(timeline, "bandwidth", "shared by all queues", {"transfers", "busy", "idle"},
                   row("bandwidth", fmt::format("<td class=\"number\">{}</td>", transfers) +
                                        shareCell(needed, total, "busy") +
                                        shareCell(total - std::min(needed, total), total, "idle")));
  }

  /// What the machine says of time, folded away.
  std::string parameterTable() const {
    if (report.parameters.empty()) {
      return "";
    }
    std::string rows;
    for (const Parameter &parameter : report.parameters) {
      std::string value =
          parameter.formula.empty() ? fmt::format("{:g}", parameter.number) : parameter.formula;
      rows += fmt::format("<tr data-name=\"{0}\"><td>{0}</td><td>{1}</td><td>{2}</td></tr>\n",
                          escape(parameter.name), escape(value), escape(parameter.unit));
    }
    return fmt::format(
        "<details id=\"parameters\"><summary>Parameters of the machine: {}</summary>\n"
        "<div class=\"scroll\"><table>\n<tr><th>parameter</th><th>value</th>"
        "<th>unit</th></tr>\n{}</table></div></details>\n",
        report.parameters.size(), rows);
  }

  /// `name` and what there is about it, of one run.
  std::string tableOf(const Timeline &timeline, std::string_view what, std::string_view name,
                      std::initializer_list<std::string_view> columns,
                      const std::string &rows) const {
    std::string heads;
    for (std::string_view column : columns) {
      heads += fmt::format("<th class=\"number\">{}</th>", column);
    }
    return fmt::format("<div class=\"scroll\"><table class=\"{1}\" data-strategy=\"{0}\">\n"
                       "<caption>{0}: {1}</caption>\n<tr><th>{2}</th>{3}</tr>\n{4}</table></div>\n",
                       strategyOf(timeline), what, name, heads, rows);
  }

  static std::string row(std::string_view name, const std::string &cells) {
    return fmt::format("<tr data-name=\"{0}\"><td>{0}</td>{1}</tr>\n", escape(name), cells);
  }

  std::string sequencerTable(const Timeline &timeline) const {
    std::string rows;
    Tick total = timeline.result.total;
    for (EngineId id : kernel.engines.ids()) {
      const EngineStats &stats = timeline.result.engines[id];
      rows += row(kernel.nameOf(id), shareCell(stats.control, total, "control") +
                                         shareCell(stats.waiting, total, "waiting") +
                                         shareCell(stats.queueFull, total, "queue_full") +
                                         shareCell(stats.draining, total, "draining") +
                                         shareCell(stats.done, total, "done"));
    }
    return tableOf(timeline, "sequencers", "engine",
                   {"control", "waiting", "queue full", "draining", "idle at the end"}, rows);
  }

  std::string queueTable(const Timeline &timeline) const {
    std::string rows;
    Tick total = timeline.result.total;
    for (QueueId id : kernel.queues.ids()) {
      const QueueStats &stats = timeline.result.queues[id];
      if (stats.instructions > 0) {
        rows += row(kernel.nameOf(id),
                    fmt::format("<td class=\"number\">{}</td>", stats.instructions) +
                        shareCell(stats.busy, total, "busy") +
                        shareCell(total - std::min(stats.busy, total), total, "idle"));
      }
    }
    return tableOf(timeline, "queues", "queue", {"instructions", "busy", "idle"}, rows);
  }

  std::string notes() const {
    return "<h2>How to read this</h2>\n"
           "<p>An engine has a sequencer, which executes its code in order and hands instructions "
           "to queues, and queues, in which instructions run one after the other and overlap. "
           "Where a sequencer's lane is empty, it is at the end of its code. The vertical line is "
           "the end of the run. Where pieces are narrower than the picture can show, their shares "
           "of the time are stacked, work at the bottom. The strip above the lanes shows how "
           "busy the queues are over the whole runs.</p>\n";
  }

  const Report &report;
  const Kernel &kernel;
  CauseTable causes;
  StyleTable styles;
  Span span;
  Tick longest = 0;
};

} // namespace
} // namespace report

std::string reportHtml(const Report &report) {
  return report::Page(report).text();
}

} // namespace tally
