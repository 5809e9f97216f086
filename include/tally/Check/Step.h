//===- Step.h - The smallest thing that can happen ------------------------===//
//
// A run of a kernel is a sequence of steps. Between them nothing happens, so that a
// sequence says everything about a run: it is what witnesses, schedules and
// replays are made of.
//
//   control e      engine e executes the one operation at its head that is not an instruction
//   issue e        engine e puts the instruction at its head into that instruction's queue
//   commit q i     the i-th oldest instruction in flight on q has its effect on memory
//   deliver q r    ring r of q delivers its share for the oldest instruction it still owes;
//                  an instruction whose last ring has delivered retires with that
//   retire q       the oldest instruction in flight on q leaves and signals
//
// Deliver only happens on queues of split completion, Retire only on the others.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_CHECK_STEP_H
#define TALLY_CHECK_STEP_H

#include "tally/Model/Kernel.h"

#include <array>
#include <string>

namespace tally {

enum class StepKind : uint8_t { Control, Issue, Commit, Deliver, Retire };

inline constexpr std::array<std::string_view, 5> stepNames{"control", "issue", "commit", "deliver",
                                                           "retire"};

constexpr std::string_view toString(StepKind kind) {
  return stepNames[static_cast<size_t>(kind)];
}

/// Whether Step::index says something.
constexpr bool hasIndex(StepKind kind) {
  return kind == StepKind::Commit || kind == StepKind::Deliver;
}

struct Step {
  StepKind kind = StepKind::Control;
  EngineId engine;    ///< that executes, or whose queue it is
  QueueId queue;      ///< none for Control
  uint32_t index = 0; ///< Commit: place in flight, 0 is the oldest; Deliver: the ring

  static Step control(EngineId engine) { return {StepKind::Control, engine, {}, 0}; }

  static Step issue(EngineId engine, QueueId queue) { return {StepKind::Issue, engine, queue, 0}; }

  static Step commit(EngineId engine, QueueId queue, uint32_t place) {
    return {StepKind::Commit, engine, queue, place};
  }

  static Step deliver(EngineId engine, QueueId queue, uint32_t ring) {
    return {StepKind::Deliver, engine, queue, ring};
  }

  static Step retire(EngineId engine, QueueId queue) {
    return {StepKind::Retire, engine, queue, 0};
  }

  bool operator==(const Step &) const = default;
};

/// The most instructions that one queue may hold: their commits are the bits of a word.
inline constexpr uint32_t maxInFlight = 64;

/// The instructions issued to a queue are numbered; those in [retired, issued) are in flight.
struct QueueState {
  uint32_t issued = 0;
  uint32_t retired = 0;
  uint64_t committed = 0; ///< bit i: instruction retired + i has committed

  uint32_t inFlight() const { return issued - retired; }

  bool hasCommitted(uint32_t place) const { return (committed >> place & 1) != 0; }

  /// Whether the instruction at this place may have its effect now: without overlap, all before it
  /// have had theirs.
  bool mayCommit(uint32_t place, bool overlap) const {
    if (place >= inFlight() || hasCommitted(place)) {
      return false;
    }
    uint64_t older = (uint64_t(1) << place) - 1;
    return overlap || (committed & older) == older;
  }

  bool operator==(const QueueState &) const = default;
};

/// What completes the instructions of a queue: a queue of whole completion is one ring.
inline uint32_t numRings(const Queue &queue) {
  return queue.completion == Completion::Split ? queue.weight : 1;
}

/// `commit 'q' 0`: a step by the names of the kernel.
std::string describe(const Kernel &kernel, const Step &step);

} // namespace tally

#endif // TALLY_CHECK_STEP_H
