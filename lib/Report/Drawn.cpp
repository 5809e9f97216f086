//===- Drawn.cpp - What of a report is drawn, and how ---------------------===//

#include "Drawn.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <ranges>

namespace tally::report {

bool isUsed(const Report &report, size_t lane) {
  return std::ranges::any_of(report.timelines, [&](const Timeline &timeline) {
    const Lane &one = timeline.lanes[lane];
    return one.queue.valid() ? timeline.result.queues[one.queue].instructions > 0
                             : timeline.result.engines[one.engine].done < timeline.result.total;
  });
}

std::optional<double> ratioToFirst(const Report &report, size_t timeline) {
  const SimResult &first = report.timelines.front().result;
  const SimResult &other = report.timelines[timeline].result;
  bool areWhole = first.outcome == SimResult::Outcome::Finished &&
                  other.outcome == SimResult::Outcome::Finished && first.total > 0;
  return areWhole ? std::optional(double(other.total) / double(first.total)) : std::nullopt;
}

std::string titleOf(const Report &report, size_t timeline) {
  const Timeline &line = report.timelines[timeline];
  const Timeline &first = report.timelines.front();
  std::string text = fmt::format("{}: {}", line.name(), timeText(line.result.total));
  if (std::optional<double> ratio = ratioToFirst(report, timeline); ratio && timeline > 0) {
    text += fmt::format(", {:.3f} of {}", *ratio, first.name());
  }
  return line.result.outcome == SimResult::Outcome::Deadlock ? text + ", deadlock"
         : line.result.outcome == SimResult::Outcome::CutOff ? text + ", cut off"
                                                             : text;
}

QueueId queueOf(const Timeline &timeline, const PathPiece &piece) {
  const Op &op = timeline.code.engines[piece.engine].ops[piece.op];
  bool isInQueue = piece.kind != PathKind::Control && piece.kind != PathKind::Wake;
  return isInQueue && op.kind == OpKind::Issue ? timeline.kernel->instrs[op.instr()].queue
                                               : QueueId();
}

/// Stalls that are not waits have one cause each. It stands at the end of a table that may be long,
/// and pieces ask by the million.
static StyleId styleOfStall(const CauseTable &causes, const StyleTable &styles, Cause::Kind kind) {
  auto found = std::ranges::find(causes.all() | std::views::reverse, kind, &Cause::kind);
  return styles.ofCause(static_cast<size_t>(found.base() - causes.all().begin()) - 1);
}

/// `lane`: that of a wait.
static StyleId styleOf(const CauseTable &causes, const StyleTable &styles, size_t timeline,
                       const Lane *lane, const PieceClass &of) {
  switch (of.kind) {
  case PieceKind::Control:
    return StyleTable::control;
  case PieceKind::QueueFull:
    return styleOfStall(causes, styles, Cause::Kind::QueueFull);
  case PieceKind::Drain:
    return styleOfStall(causes, styles, Cause::Kind::Drain);
  case PieceKind::Wait:
    return styles.ofCause(causes.of(timeline, lane->engine, of.detail, InstrId(of.by)));
  case PieceKind::Path:
    return StyleTable::ofPath(static_cast<PathKind>(of.detail));
  case PieceKind::Instruction:
    break;
  }
  return StyleTable::instruction;
}

StyleId styleOf(const Report &report, const CauseTable &causes, const StyleTable &styles,
                size_t timeline, const Lane &lane, size_t number) {
  const Piece &piece = lane.pieces[number];
  if (piece.kind == PieceKind::Instruction && (lane.numBefore + number) % 2 != 0) {
    return StyleTable::neighbour;
  }
  const Timeline &line = report.timelines[timeline];
  bool hasEnded = piece.kind == PieceKind::Wait && piece.detail != UINT32_MAX;
  InstrId by = hasEnded ? endedBy(line.code, line.releases[piece.detail]) : InstrId();
  return styleOf(causes, styles, timeline, &lane, {piece.kind, piece.op, by.value});
}

void forEachBucket(const Report &report, const CauseTable &causes, const StyleTable &styles,
                   size_t timeline, const Lane *lane,
                   const std::function<void(Tick, Tick, Tick, const Shares &)> &tell) {
  const Timeline &line = report.timelines[timeline];
  const Overview &overview = lane ? lane->overview : line.pathOverview;
  Tick width = overview.bucketWidth();
  Tick begin = 0;
  for (const Overview::Bucket &bucket : overview.buckets()) {
    Tick end = begin + width;
    std::map<StyleId, Tick> shares;
    for (const Overview::Share &share : bucket) {
      shares[styleOf(causes, styles, timeline, lane, share.of)] += share.span;
    }
    Shares list(shares.begin(), shares.end());
    if (!list.empty() && begin < line.shownFrom) {
      tell(begin, std::min(end, line.shownFrom), width, list);
    }
    if (!list.empty() && end > line.shownUntil) {
      tell(std::max(begin, line.shownUntil), end, width, list);
    }
    begin = end;
  }
}

} // namespace tally::report
