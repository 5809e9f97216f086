//===- PageData.cpp - What the script of a page draws from ----------------===//

#include "PageData.h"

#include "Drawn.h"

#include "tally/Code/Origin.h"
#include "tally/Model/Source.h"
#include "tally/Sim/Trace.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <map>

namespace tally::report {
namespace {

/// Of bytes that are no UTF-8, what stands for them.
std::string jsonText(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// Lists of numbers, by name, in the order in which they were first named.
class Columns {
public:
  explicit Columns(std::initializer_list<const char *> names) {
    for (const char *name : names) {
      columns.push_back({name, {}});
    }
  }

  /// To the columns from `first` on.
  void add(size_t first, std::initializer_list<int64_t> numbers) {
    for (int64_t number : numbers) {
      add(first++, number);
    }
  }

  void add(size_t column, int64_t number) {
    fmt::format_to(std::back_inserter(columns[column].second), "{},", number);
  }

  std::string json() const {
    std::string text;
    for (const auto &[name, numbers] : columns) {
      std::string_view most(numbers.data(), numbers.empty() ? 0 : numbers.size() - 1);
      text += fmt::format(",\"{}\":[{}]", name, most);
    }
    return text;
  }

private:
  std::vector<std::pair<const char *, std::string>> columns;
};

/// The operations of a timeline that have pieces, and the texts about them.
class OpTable {
public:
  explicit OpTable(const Timeline &timeline)
      : timeline(timeline), kernel(*timeline.kernel), numbers(kernel.engines.size()) {
    for (EngineId engine : kernel.engines.ids()) {
      numbers[engine].resize(timeline.code.engines[engine].ops.size());
    }
  }

  /// Of a piece: code that is partly unrolled may execute one operation in several sets of loops,
  /// and each has a number of its own.
  int64_t numberOf(EngineId engine, uint32_t op, const Iterations &iterations) {
    for (int64_t number : numbers[engine][op]) {
      if (std::ranges::equal(loopsOf[size_t(number)], iterations, {}, {}, &LoopIteration::loop)) {
        return number;
      }
    }
    return add(engine, op, iterations);
  }

  /// Of an operation, whatever the loops around it.
  int64_t numberOf(EngineId engine, uint32_t op) {
    const std::vector<int64_t> &those = numbers[engine][op];
    return those.empty() ? add(engine, op, {}) : those.front();
  }

  std::string json() const {
    return fmt::format(",\"strings\":[{}],\"ops\":{{\"loops\":[{}]{}}}", strings, loops,
                       columns.json());
  }

private:
  int64_t stringOf(std::string_view text) {
    auto [found, isNew] = known.try_emplace(std::string(text), int64_t(known.size()));
    if (isNew) {
      strings += (known.size() > 1 ? "," : "") + jsonText(text);
    }
    return found->second;
  }

  int64_t add(EngineId engine, uint32_t op, const Iterations &iterations) {
    auto number = int64_t(loopsOf.size());
    numbers[engine][op].push_back(number);
    std::vector<LoopId> &around = loopsOf.emplace_back();
    std::ranges::transform(iterations, std::back_inserter(around), &LoopIteration::loop);
    describe(engine, op, around);
    return number;
  }

  void describe(EngineId engine, uint32_t index, const std::vector<LoopId> &around) {
    const Op &op = timeline.code.engines[engine].ops[index];
    bool isIssue = op.kind == OpKind::Issue;
    auto operation = isIssue ? kernel.instrs[op.instr()].operation : decltype(Instr::operation)();
    columns.add(0, {stringOf(kernel.nameOf(engine)),
                    stringOf(operationName(kernel, timeline.code, engine, index)),
                    stringOf(isIssue ? kernel.nameOf(op.instr()) : std::string_view()),
                    stringOf(operation.valid() ? kernel.text(operation) : std::string_view()),
                    stringOf(anyPlaceText(kernel, originOf(kernel, timeline.code, op).place())),
                    stringOf(op.wait.valid() ? timeline.code.semaphores[op.wait].name : ""),
                    stringOf(reasons(op))});
    loops += loops.empty() ? "[" : ",[";
    for (size_t i = 0; i < around.size(); ++i) {
      loops += fmt::format("{}{}", i > 0 ? "," : "", loopName(around[i]));
    }
    loops += "]";
  }

  /// Branches have no iterations; a text leaves out what has no name.
  int64_t loopName(LoopId loop) {
    std::string text = iterationText(kernel, std::array{LoopIteration{loop, 0}});
    return stringOf(text.substr(0, text.rfind(" = ")));
  }

  std::string reasons(const Op &op) const {
    std::string text;
    for (uint32_t i = 0; i < op.numReasons; ++i) {
      text +=
          (i > 0 ? "; " : "") + tally::describe(kernel, timeline.code.reasons[op.firstReason + i]);
    }
    return text;
  }

  const Timeline &timeline;
  const Kernel &kernel;
  IdVector<EngineId, std::vector<std::vector<int64_t>>> numbers; ///< by operation
  std::vector<std::vector<LoopId>> loopsOf;                      ///< by number
  Columns columns{"engine", "name", "instr", "does", "source", "semaphore", "why"};
  std::map<std::string, int64_t> known;
  std::string strings, loops;
};

class RunWriter {
public:
  RunWriter(const Report &report, const CauseTable &causes, const StyleTable &styles, size_t number)
      : report(report), causes(causes), styles(styles), number(number),
        timeline(report.timelines[number]), kernel(*timeline.kernel), ops(timeline) {
    for (size_t i = 0; i < timeline.lanes.size(); ++i) {
      if (isUsed(report, i)) {
        used.push_back(&timeline.lanes[i]);
      }
    }
  }

  std::string json() {
    std::string lanes;
    for (const Lane *lane : used) {
      lanes += (lanes.empty() ? "" : ",\n") + laneJson(*lane);
    }
    std::string path = timeline.result.path.empty() ? "" : pathJson();
    return fmt::format("{{\"strategy\":{},\"title\":{},\"total\":{},\"from\":{},\"until\":{},\n"
                       "\"lanes\":[{}]{}{}}}",
                       jsonText(timeline.name()), jsonText(titleOf(report, number)),
                       timeline.result.total, timeline.shownFrom,
                       std::min(timeline.shownUntil, timeline.result.total), lanes, path,
                       ops.json());
  }

private:
  /// The columns of a lane, in the order of PageData.h.
  enum Column {
    Kind,
    Gap,
    Span,
    Operation,
    StyleOf,
    At,
    First,
    Count,
    Threshold,
    Raised,
    RaisedIn,
    By,
    Began,
    Run,
    Arrived,
    Finish,
    Retire
  };

  int64_t laneOf(EngineId engine, QueueId queue) const {
    auto found = std::ranges::find_if(
        used, [&](const Lane *lane) { return lane->engine == engine && lane->queue == queue; });
    return found == used.end() ? -1 : found - used.begin();
  }

  std::string laneJson(const Lane &lane) {
    Columns columns{"kind",  "gap",   "span",      "op",     "style", "at",
                    "first", "count", "threshold", "raised", "lane",  "by",
                    "began", "run",   "arrived",   "finish", "retire"};
    std::map<int64_t, Iterations> last;
    int64_t lastOp = 0, lastRun = 0;
    Tick end = 0;
    for (size_t i = 0; i < lane.pieces.size(); ++i) {
      const Piece &piece = lane.pieces[i];
      int64_t op = ops.numberOf(lane.engine, piece.op, piece.iterations);
      bool isEndless = piece.kind == PieceKind::Wait && piece.detail == UINT32_MAX;
      columns.add(Kind, {isEndless ? 6 : int64_t(piece.kind), int64_t(piece.from - end),
                         int64_t(piece.to - piece.from), op - lastOp,
                         styleOf(report, causes, styles, number, lane, i)});
      addIterations(columns, last[op], piece.iterations);
      if (piece.kind == PieceKind::Control) {
        columns.add(First, {op - ops.numberOf(lane.engine, piece.firstOp), int64_t(piece.numOps)});
      } else if (piece.kind == PieceKind::Wait && !isEndless) {
        addRelease(columns, timeline.releases[piece.detail], op);
      } else if (piece.kind == PieceKind::Instruction) {
        const Execution &e = timeline.executions[piece.detail];
        columns.add(Run, {int64_t(e.run) - lastRun, int64_t(e.start - e.arrival),
                          int64_t(e.finish - e.occupied), int64_t(e.retire - e.finish)});
        lastRun = int64_t(e.run);
      }
      lastOp = op;
      end = piece.to;
    }
    std::string label(kernel.nameOf(lane.engine));
    std::string queue(lane.queue.valid() ? kernel.nameOf(lane.queue) : "");
    return fmt::format("{{\"engine\":{},\"queue\":{}{},\"buckets\":[{}]}}", jsonText(label),
                       jsonText(queue), columns.json(), buckets(&lane));
  }

  static void addIterations(Columns &columns, Iterations &last, const Iterations &now) {
    for (size_t i = 0; i < now.size(); ++i) {
      int64_t before = i < last.size() ? int64_t(last[i].iteration) : 0;
      columns.add(At, int64_t(now[i].iteration) - before);
    }
    last = now;
  }

  void addRelease(Columns &columns, const Release &release, int64_t op) {
    columns.add(Threshold,
                {release.threshold, int64_t(release.to - release.raisedAt),
                 laneOf(release.by, release.byQueue), ops.numberOf(release.by, release.byOp) - op,
                 int64_t(release.raisedAt - release.byStart)});
  }

  std::string buckets(const Lane *lane) const {
    std::string text;
    forEachBucket(report, causes, styles, number, lane,
                  [&](Tick from, Tick to, Tick width, const Shares &shares) {
                    text +=
                        fmt::format("{}[{},{},{}", text.empty() ? "" : ",", from, to - from, width);
                    for (auto [style, span] : shares) {
                      text += fmt::format(",{},{}", style, span);
                    }
                    text += "]";
                  });
    return text;
  }

  std::string pathJson() {
    Columns columns{"kind", "gap", "span", "op", "lane"};
    Tick end = 0;
    int64_t lastOp = 0;
    for (const PathPiece &piece : timeline.path) {
      int64_t op = ops.numberOf(piece.engine, piece.op);
      columns.add(0,
                  {int64_t(piece.kind), int64_t(piece.from - end), int64_t(piece.to - piece.from),
                   op - lastOp, laneOf(piece.engine, queueOf(timeline, piece))});
      lastOp = op;
      end = piece.to;
    }
    return fmt::format(",\n\"path\":{{\"buckets\":[{}]{}}}", buckets(nullptr), columns.json());
  }

  const Report &report;
  const CauseTable &causes;
  const StyleTable &styles;
  size_t number;
  const Timeline &timeline;
  const Kernel &kernel;
  OpTable ops;
  std::vector<const Lane *> used;
};

} // namespace

std::string pageData(const Report &report, const CauseTable &causes, const StyleTable &styles) {
  Span span = shownSpan(report);
  Tick longest = 1;
  for (const Timeline &timeline : report.timelines) {
    longest = std::max(longest, timeline.result.total);
  }
  std::string fillings, runs;
  for (const Style &style : styles.all()) {
    fillings += fmt::format("{}[{},{},{}]", fillings.empty() ? "" : ",", jsonText(style.name),
                            jsonText(style.colour), jsonText(style.meaning));
  }
  for (size_t t = 0; t < report.timelines.size(); ++t) {
    runs += (runs.empty() ? "" : ",\n") + RunWriter(report, causes, styles, t).json();
  }
  return fmt::format("{{\"longest\":{},\"view\":[{},{}],\"styles\":[{}],\n\"runs\":[{}]}}", longest,
                     span.from, span.until, fillings, runs);
}

} // namespace tally::report
