//===- Timeline.h - What a run looks like ---------------------------------===//
//
// The pieces of time of one simulated run, lane by lane, for pictures:
//
//   sequencer   control (neighbouring operations, up to an issue, are one piece) and stalls
//   queue       instructions, from their start until the next one could start
//
// Pieces are kept of a window, and at most `maxPieces` of them: what starts after these is
// forgotten, and `shownUntil` says from when on. Of the whole run there is an overview of each
// lane. So memory depends on the limit, not on the run. The sums in `result` are always those of
// the whole run. If the simulator is asked for the critical path, its pieces are a lane, too.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_REPORT_TIMELINE_H
#define TALLY_REPORT_TIMELINE_H

#include "tally/Model/Iterations.h"
#include "tally/Report/Overview.h"
#include "tally/Sim/Simulate.h"

#include <deque>
#include <string>
#include <utility>
#include <vector>

namespace tally {

/// Of each loop around an operation, outermost first.
using Iterations = std::vector<LoopIteration>;

struct Piece {
  PieceKind kind = PieceKind::Control;
  Tick from = 0;
  Tick to = 0;          ///< Instruction: until the next one of the queue could start
  uint32_t firstOp = 0; ///< Control: of `numOps` operations
  uint32_t op = 0;      ///< in the engine's code; the last of them
  uint64_t numOps = 1;
  Iterations iterations;
  uint32_t detail = UINT32_MAX; ///< Wait: in Timeline::releases, none if it never ended;
                                ///< Instruction: in Timeline::executions
};

/// A sequencer, or one of its queues.
struct Lane {
  EngineId engine;
  QueueId queue; ///< none: the sequencer
  std::vector<Piece> pieces;
  Overview overview;
  uint64_t numBefore = 0; ///< instructions of a queue before the first that is held
};

/// How long all runs of one wait lasted that one instruction ended.
struct WaitSum {
  EngineId engine;
  uint32_t op = 0;
  InstrId by; ///< none: a signal, or it never ended
  Tick span = 0;
};

struct Timeline {
  const Kernel *kernel = nullptr; ///< whose dependences the code's reasons number; outlives this
  Code code;
  std::string measuredOn = {}; ///< "threads"; empty: it is simulated
  SimResult result;
  std::vector<Lane> lanes; ///< by engine: its sequencer, then its queues
  std::vector<Release> releases;
  std::vector<Execution> executions;
  std::vector<WaitSum> waits;  ///< of the whole run, in the order of engines and operations
  std::vector<PathPiece> path; ///< of the critical path, as far as pieces are held
  Overview pathOverview;
  Tick shownFrom = 0;  ///< pieces that end before are not held ...
  Tick shownUntil = 0; ///< nor those that start later

  /// Of what the run is: its strategy, and where it was measured.
  std::string name() const;

  /// Whether all pieces of the run are there.
  bool isWhole() const { return shownFrom == 0 && shownUntil >= result.total; }
};

/// The instruction whose retirement ended a wait; none if a signal did.
InstrId endedBy(const Code &code, const Release &release);

/// Watches a run and keeps its pieces.
class TimelineRecorder : public SimObserver {
public:
  struct Window {
    Tick from = 0;
    Tick until = UINT64_MAX;
    size_t maxPieces = SIZE_MAX;
  };

  /// The arguments must outlive the recorder.
  TimelineRecorder(const Kernel &kernel, const Code &code, Window window);

  void onIteration(EngineId engine, LoopId loop, uint64_t number) override;
  void onOperation(EngineId engine, uint32_t op, Tick from, Tick to) override;
  void onStall(EngineId engine, uint32_t op, Stall kind, Tick from, Tick to) override;
  void onRelease(const Release &release) override;
  void onExecution(const Execution &execution) override;
  void onPath(const PathPiece &piece) override;

  /// The pieces of the run that has ended.
  Timeline finish(SimResult result);

private:
  /// What is known of an engine.
  struct Track {
    std::vector<LoopId> around;              ///< by operation: the innermost loop of the code
    std::vector<std::vector<WaitSum>> waits; ///< by operation: a few enders each
    IdVector<LoopId, uint64_t> current;      ///< iterations begun in each loop of the kernel
    Tick now = 0;                            ///< the end of what it did last
    bool mayJoin = false;                    ///< its last piece is control that did not issue
  };

  bool isSeen(Tick from, Tick to) const;
  Lane &sequencer(EngineId engine);
  Lane &laneOf(QueueId queue);
  Iterations iterationsAt(EngineId engine, uint32_t op) const;
  void add(Lane &lane, Piece piece);
  void forgetLatest();
  void sumUpWaits(const SimResult &result);
  void addEndlessWaits(const SimResult &result);

  const Kernel &kernel;
  const Code &code;
  Window window;
  Timeline timeline;
  IdVector<EngineId, Track> tracks;
  IdVector<EngineId, uint32_t> firstLane;
  IdVector<QueueId, std::deque<Iterations>> inFlight; ///< of instructions issued
  size_t numPieces = 0;
};

} // namespace tally

#endif // TALLY_REPORT_TIMELINE_H
