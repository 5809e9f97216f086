//===- Timeline.cpp - What a run looks like -------------------------------===//

#include "tally/Report/Timeline.h"

#include <algorithm>

namespace tally {

/// The innermost loop of the code around each operation; the root where there is none.
static std::vector<LoopId> loopsAround(const std::vector<Op> &ops) {
  std::vector<LoopId> around;
  std::vector<LoopId> open{rootLoop};
  for (const Op &op : ops) {
    around.push_back(open.back());
    if (op.kind == OpKind::LoopBegin) {
      open.push_back(op.loop());
    } else if (op.kind == OpKind::LoopEnd) {
      open.pop_back();
    }
  }
  return around;
}

std::string Timeline::name() const {
  return std::string(toString(code.strategy)) + (measuredOn.empty() ? "" : " on " + measuredOn);
}

TimelineRecorder::TimelineRecorder(const Kernel &kernel, const Code &code, Window window)
    : kernel(kernel), code(code), window(window), tracks(kernel.engines.size()),
      inFlight(kernel.queues.size()) {
  for (EngineId engine : kernel.engines.ids()) {
    tracks[engine].around = loopsAround(code.engines[engine].ops);
    tracks[engine].waits.resize(code.engines[engine].ops.size());
    tracks[engine].current.assign(kernel.loops.size(), 0);
    firstLane.push(static_cast<uint32_t>(timeline.lanes.size()));
    timeline.lanes.push_back({engine, {}, {}, {}, 0});
    for (QueueId queue : kernel.engines[engine].queues) {
      timeline.lanes.push_back({engine, queue, {}, {}, 0});
    }
  }
}

Lane &TimelineRecorder::sequencer(EngineId engine) {
  return timeline.lanes[firstLane[engine]];
}

Lane &TimelineRecorder::laneOf(QueueId queue) {
  EngineId engine = kernel.queues[queue].engine;
  return timeline.lanes[firstLane[engine] + 1 + queue.value - kernel.engines[engine].queues.first];
}

bool TimelineRecorder::isSeen(Tick from, Tick to) const {
  return from < to && from < window.until && to > window.from;
}

/// Loops that the code does not have, because they were unrolled, have no iteration.
Iterations TimelineRecorder::iterationsAt(EngineId engine, uint32_t op) const {
  Iterations iterations;
  const Track &track = tracks[engine];
  for (LoopId loop = track.around[op]; loop != rootLoop; loop = kernel.loops[loop].parent) {
    if (track.current[loop] > 0) {
      iterations.insert(iterations.begin(), {loop, track.current[loop] - 1});
    }
  }
  return iterations;
}

void TimelineRecorder::onIteration(EngineId engine, LoopId loop, uint64_t number) {
  tracks[engine].current[loop] = number;
}

void TimelineRecorder::onOperation(EngineId engine, uint32_t op, Tick from, Tick to) {
  Track &track = tracks[engine];
  const Op &program = code.engines[engine].ops[op];
  bool isIssue = program.kind == OpKind::Issue;
  bool joins = track.mayJoin && track.now == from;
  track.now = to;
  sequencer(engine).overview.add({PieceKind::Control}, from, to);
  if (isIssue) {
    bool mayBeSeen = from < window.until;
    inFlight[kernel.instrs[program.instr()].queue].push_back(mayBeSeen ? iterationsAt(engine, op)
                                                                       : Iterations());
  }
  std::vector<Piece> &pieces = sequencer(engine).pieces;
  if (joins && !pieces.empty() && pieces.back().to == from) {
    Piece &piece = pieces.back();
    piece.to = to;
    piece.op = op;
    piece.numOps += to > from;
    track.mayJoin = !isIssue;
    if (isIssue) {
      piece.iterations = iterationsAt(engine, op);
    }
  } else if (isSeen(from, to)) {
    track.mayJoin = !isIssue;
    add(sequencer(engine), {PieceKind::Control, from, to, op, op, 1, iterationsAt(engine, op)});
  }
}

void TimelineRecorder::onStall(EngineId engine, uint32_t op, Stall kind, Tick from, Tick to) {
  tracks[engine].now = to;
  tracks[engine].mayJoin = false;
  static constexpr PieceKind kinds[] = {PieceKind::Wait, PieceKind::QueueFull, PieceKind::Drain};
  PieceKind piece = kinds[static_cast<size_t>(kind)];
  if (piece != PieceKind::Wait) { // of a wait, onRelease() knows what ended it
    sequencer(engine).overview.add({piece}, from, to);
  }
  if (isSeen(from, to)) {
    add(sequencer(engine), {piece, from, to, op, op, 1, iterationsAt(engine, op)});
  }
}

/// Adds to the sum of the same ender.
static void addTo(std::vector<WaitSum> &sums, const WaitSum &more) {
  auto same = std::ranges::find(sums, more.by, &WaitSum::by);
  if (same != sums.end()) {
    same->span += more.span;
  } else if (more.span > 0) {
    sums.push_back(more);
  }
}

InstrId endedBy(const Code &code, const Release &release) {
  bool isSignal = !release.byQueue.valid();
  return isSignal ? InstrId() : code.engines[release.by].ops[release.byOp].instr();
}

void TimelineRecorder::onRelease(const Release &release) {
  InstrId by = endedBy(code, release);
  addTo(tracks[release.engine].waits[release.op],
        {release.engine, release.op, by, release.to - release.from});
  sequencer(release.engine)
      .overview.add({PieceKind::Wait, release.op, by.value}, release.from, release.to);
  std::vector<Piece> &pieces = sequencer(release.engine).pieces;
  bool isHeld = !pieces.empty() && pieces.back().kind == PieceKind::Wait &&
                pieces.back().from == release.from && pieces.back().to == release.to;
  if (isHeld) {
    pieces.back().detail = static_cast<uint32_t>(timeline.releases.size());
    timeline.releases.push_back(release);
  }
}

void TimelineRecorder::onExecution(const Execution &execution) {
  Iterations iterations = std::move(inFlight[execution.queue].front());
  inFlight[execution.queue].pop_front();
  Lane &lane = laneOf(execution.queue);
  lane.overview.add({PieceKind::Instruction}, execution.start, execution.occupied);
  if (isSeen(execution.start, std::max(execution.occupied, execution.finish))) {
    Piece piece{PieceKind::Instruction, execution.start, execution.occupied,
                execution.op,           execution.op,    1,
                std::move(iterations)};
    piece.detail = static_cast<uint32_t>(timeline.executions.size());
    timeline.executions.push_back(execution);
    add(lane, std::move(piece));
  } else if (lane.pieces.empty()) {
    ++lane.numBefore;
  }
}

/// The path is told after all else of its time, so that it does not count towards the limit.
void TimelineRecorder::onPath(const PathPiece &piece) {
  timeline.pathOverview.add({PieceKind::Path, static_cast<uint32_t>(piece.kind)}, piece.from,
                            piece.to);
  if (isSeen(piece.from, piece.to)) {
    timeline.path.push_back(piece);
  }
}

/// Twice as many as wanted may be held, so that forgetting costs little per piece.
void TimelineRecorder::add(Lane &lane, Piece piece) {
  lane.pieces.push_back(std::move(piece));
  if (++numPieces / 2 >= window.maxPieces) {
    forgetLatest();
  }
}

/// Keeps the `maxPieces` that start first; nothing that starts with the first of the others.
void TimelineRecorder::forgetLatest() {
  if (numPieces <= window.maxPieces) {
    return;
  }
  std::vector<Tick> starts;
  for (const Lane &lane : timeline.lanes) {
    for (const Piece &piece : lane.pieces) {
      starts.push_back(piece.from);
    }
  }
  auto firstLeftOut = starts.begin() + static_cast<std::ptrdiff_t>(window.maxPieces);
  std::nth_element(starts.begin(), firstLeftOut, starts.end());
  window.until = std::min(window.until, *firstLeftOut);
  numPieces = 0;
  std::vector<Release> releases;
  std::vector<Execution> executions;
  for (Lane &lane : timeline.lanes) {
    std::erase_if(lane.pieces, [&](const Piece &piece) { return piece.from >= window.until; });
    numPieces += lane.pieces.size();
    for (Piece &piece : lane.pieces) {
      if (piece.kind == PieceKind::Instruction) {
        executions.push_back(timeline.executions[piece.detail]);
        piece.detail = static_cast<uint32_t>(executions.size() - 1);
      } else if (piece.detail != UINT32_MAX) {
        releases.push_back(timeline.releases[piece.detail]);
        piece.detail = static_cast<uint32_t>(releases.size() - 1);
      }
    }
  }
  timeline.releases = std::move(releases);
  timeline.executions = std::move(executions);
  std::erase_if(timeline.path, [&](const PathPiece &piece) { return piece.from >= window.until; });
}

/// What a run that was cut off has of waits that had not ended belongs to nobody in particular.
void TimelineRecorder::sumUpWaits(const SimResult &result) {
  for (EngineId engine : kernel.engines.ids()) {
    for (uint32_t op = 0; op < tracks[engine].waits.size(); ++op) {
      std::vector<WaitSum> &sums = tracks[engine].waits[op];
      Tick left = result.engines[engine].ops[op].waiting;
      for (const WaitSum &sum : sums) {
        left -= sum.span;
      }
      addTo(sums, {engine, op, {}, left});
      timeline.waits.insert(timeline.waits.end(), sums.begin(), sums.end());
    }
  }
}

/// Waits that still last at the end, as in a deadlock, were told to nobody.
void TimelineRecorder::addEndlessWaits(const SimResult &result) {
  for (const StuckEngine &stuck : result.stuck) {
    Tick from = tracks[stuck.engine].now;
    sequencer(stuck.engine)
        .overview.add({PieceKind::Wait, stuck.op, InstrId().value}, from, result.total);
    if (isSeen(from, result.total)) {
      add(sequencer(stuck.engine), {PieceKind::Wait, from, result.total, stuck.op, stuck.op, 1,
                                    iterationsAt(stuck.engine, stuck.op)});
    }
  }
}

Timeline TimelineRecorder::finish(SimResult result) {
  sumUpWaits(result);
  addEndlessWaits(result);
  forgetLatest();
  for (Lane &lane : timeline.lanes) {
    lane.overview.finish(result.total);
  }
  timeline.pathOverview.finish(result.total);
  timeline.shownFrom = window.from;
  timeline.shownUntil = window.until;
  timeline.kernel = &kernel;
  timeline.code = code;
  timeline.result = std::move(result);
  return std::move(timeline);
}

} // namespace tally
