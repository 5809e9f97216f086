//===- Advice.cpp - What advice commands give -----------------------------===//

#include "Advice.h"

#include "Interrupt.h"
#include "Progress.h"
#include "Table.h"

#include "tally/Model/Source.h"
#include "tally/Support/Counted.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tally::tool {
namespace {

Cell totalCell(Tick total) {
  return {timeText(total), total};
}

Cell savedCell(Tick before, Tick after) {
  double part = before == 0 ? 0 : 1 - double(after) / double(before);
  return {fmt::format("{:.1f}%", 100 * part), part};
}

Cell bytesCell(const Tried &tried) {
  return tried.bytes && *tried.bytes != 0
             ? Cell(fmt::format(", {} bytes more", *tried.bytes), *tried.bytes)
             : Cell();
}

Cell raceCell(const Tried &tried) {
  const bool isYes = tried.race == Verdict::Yes;
  return Cell(isYes ? std::nullopt : std::optional<std::string>(" (race check: could not decide)"),
              isYes ? "yes" : "could not decide");
}

Cell placeCell(const Kernel &kernel, const Tried &tried) {
  Cell where = sourceCell(kernel, tried.where);
  where.text = tried.where.known()
                   ? std::optional(fmt::format(" [{}]", anyPlaceText(kernel, tried.where)))
                   : std::nullopt;
  return where;
}

Table changesTable(const Kernel &kernel, const std::vector<Tried> &changes, Tick before) {
  Table table({{"kind"},
               {"total_ps", "total", 14},
               {"saves", "saves", 7},
               {"change", "", 0, "  "},
               {"bytes", "", 0, ""},
               {"race", "", 0, ""},
               {"loc", "", 0, ""}});
  for (const Tried &tried : changes) {
    table.add({Cell::hidden(toString(tried.change.kind)), totalCell(tried.total),
               savedCell(before, tried.total), tried.text, bytesCell(tried), raceCell(tried),
               placeCell(kernel, tried)});
  }
  return table;
}

std::string nameOf(const Kernel &kernel, const Part &part) {
  switch (part.kind) {
  case Part::Kind::Instr:
    return fmt::format("'{}'", kernel.nameOf(part.instr));
  case Part::Kind::Dep:
    return fmt::format("waiting of '{}' for '{}'", kernel.nameOf(part.consumer),
                       kernel.nameOf(part.instr));
  case Part::Kind::Control:
    return "all that synchronises";
  case Part::Kind::Queue:
    return fmt::format("all instructions of queue '{}'", kernel.nameOf(part.queue));
  case Part::Kind::Operations:
    return std::string(part.what);
  case Part::Kind::Bandwidth:
    break;
  }
  return "bytes of all transfers";
}

Table partsTable(const Kernel &kernel, const std::vector<Part> &parts, Tick before) {
  Table table({{"kind"}, {"total_ps", "total", 14}, {"saves", "saves", 7}, {"part", "", 0, "  "}});
  for (const Part &part : parts) {
    table.add({Cell::hidden(toString(part.kind)), totalCell(part.total),
               savedCell(before, part.total), nameOf(kernel, part)});
  }
  return table;
}

} // namespace

ShownAdvice shown(const Kernel &kernel, const Advice &advice, size_t mostRows) {
  ShownAdvice result{{{"total_ps", advice.total},
                      {"tried", advice.numTried},
                      {"not_tried", advice.numLeft},
                      {"interrupted", advice.isStopped}},
                     ""};
  auto put = [&](const char *key, std::string_view title, const Table &table, bool isInText) {
    result.members[key] = table.json();
    if (isInText && table.size() != 0) {
      result.text += std::string(title) + table.text(mostRows);
    }
    if (isInText && table.size() > mostRows) {
      result.text +=
          fmt::format("  {} more with --top={}\n", table.size() - mostRows, table.size());
    }
  };
  put("changes", "\nwhat helps, each by itself\n",
      changesTable(kernel, advice.single, advice.total), true);
  put("together", "\ntogether, one on top of the other\n",
      changesTable(kernel, advice.steps, advice.total), advice.steps.size() > 1);
  put("parts", "\nwhat binds: the total if this took no time\n",
      partsTable(kernel, advice.parts, advice.total), true);
  if (advice.floor) {
    result.members["floor_ps"] = advice.floor->total;
    result.members["floor_by"] = toString(advice.floor->by);
    result.text += fmt::format("\n{:>14}  is what these instructions take at least: {}\n",
                               timeText(advice.floor->total), describe(kernel, *advice.floor));
  }
  result.text += fmt::format("\n{} tried{}\n", counted(advice.numTried, "change"),
                             advice.single.empty() ? ", and none helps" : "");
  if (advice.numLeft != 0) {
    result.text += fmt::format("{} not tried, or not in full: 'tally advise' with a "
                               "larger --effort tries more\n",
                               counted(advice.numLeft, "change"));
  }
  return result;
}

ReportAdvice forPage(const Kernel &kernel, const Advice &advice, const std::string &strategy) {
  ReportAdvice page{strategy, advice.total, {}};
  auto put = [&](const char *title, std::vector<ReportAdvice::Row> rows) {
    if (!rows.empty()) {
      page.lists.push_back({title, std::move(rows)});
    }
  };
  auto changes = [&](const std::vector<Tried> &all) {
    std::vector<ReportAdvice::Row> rows;
    for (const Tried &tried : all) {
      const std::vector<std::optional<std::string>> parts{
          tried.text, bytesCell(tried).text, raceCell(tried).text, placeCell(kernel, tried).text};
      ReportAdvice::Row &row = rows.emplace_back(ReportAdvice::Row{tried.total, ""});
      for (const std::optional<std::string> &part : parts) {
        row.what += part.value_or("");
      }
    }
    return rows;
  };
  std::vector<ReportAdvice::Row> parts;
  for (const Part &part : advice.parts) {
    parts.push_back({part.total, nameOf(kernel, part)});
  }
  put("each by itself", changes(advice.single));
  put("together, one on top of the other",
      advice.steps.size() > 1 ? changes(advice.steps) : std::vector<ReportAdvice::Row>());
  put("what binds: if this took no time", std::move(parts));
  return page;
}

void refuseAdvice(const std::vector<Subject> &subjects) {
  const std::vector<std::string> planned = plannedStrategies();
  for (const Subject &one : subjects) {
    const std::string strategy(toString(one.code.strategy));
    if (!one.code.isCompiled || std::ranges::find(planned, strategy) == planned.end()) {
      fail(fmt::format("--advise is about code that is compiled, by {}; kernel '{}' has {}",
                       fmt::join(planned, ", "), one.kernel.text(one.kernel.name),
                       one.code.isCompiled ? fmt::format("that of strategy '{}'", strategy)
                                           : "code that is written"));
    }
  }
}

std::optional<Advice> adviceOn(const LoadedKernel &loaded, Session &session, const BoundRun &bound,
                               const TimeOptions &time, uint64_t effort) {
  std::vector<std::string> trips = bound.given;
  trips.insert(trips.end(), bound.chosen.begin(), bound.chosen.end());
  AdviseOptions options;
  options.request = time.subject.common.request();
  options.effort = effort;
  options.progress = [](const std::string &doing) { nowDoing(doing); };
  options.stop = stopOnSignals();
  options.run = time.simOptions({});
  options.bindings = [&](const Kernel &kernel) {
    Diagnostics ignored; // they were all right for the kernel as it is
    return Bindings::parse(kernel, trips, bound.guards, ignored);
  };
  LoadedKernel chosen = loaded;
  session.choose(chosen);
  Diagnostics diagnostics;
  std::optional<Advice> advice = advise(chosen.kernel, session.machine(), options, diagnostics);
  session.report(chosen.kernel, diagnostics);
  if (!advice) {
    return std::nullopt;
  }
  if (loaded.code) {
    tellNote("the file has code; advice is about code that is compiled for it");
  }
  if (!loaded.kernel.deps.empty()) {
    tellNote(
        "the dependences of this kernel are written, and would not be right for other engines, "
        "more slots, another order or other loops; without them, they are found, and these changes "
        "are "
        "tried, too");
  }
  return advice;
}

} // namespace tally::tool
