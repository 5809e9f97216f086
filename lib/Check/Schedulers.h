//===- Schedulers.h - Orders in which a run may happen --------------------===//
//
// Picks one enabled step after the other. What a schedule is like follows from its number and a
// seed alone, so that a number can be run again:
//
//   in turn           every engine and queue moves once, then again
//   late retirement   nothing finishes while an engine can still go on
//   early retirement  everything finishes as soon as it can
//   first, starved    one engine or queue before all others, or only when no other can move;
//                     one ring of a split queue starved
//   delayed           in turn, but one engine or queue stands still for a while
//   random            speeds by chance; or priorities by chance that change a few times
//
// Queues commit in order: when the effect of an instruction comes makes no difference to what is
// ordered with what.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_CHECK_SCHEDULERS_H
#define TALLY_LIB_CHECK_SCHEDULERS_H

#include "tally/Check/Impl.h"

#include <optional>

namespace tally {

class Scheduler {
public:
  /// Schedule `number`, from 0. The first ones are the same for every seed.
  Scheduler(const Kernel &kernel, uint32_t number, uint64_t seed);

  /// `engine 'act' first`, for messages.
  const std::string &name() const { return text; }

  /// The next step; none if nothing can happen any more.
  std::optional<Step> next(const ImplSystem &system, const ImplState &state);

private:
  /// Who can move: engines, then the rings of each queue (a whole queue is one ring).
  struct Actor {
    EngineId engine;
    QueueId queue; ///< none: the engine itself
    uint32_t ring = 0;
  };

  void makeActors(const Kernel &kernel);
  void chooseSystematic(const Kernel &kernel, uint32_t number);
  void chooseDelay(const Kernel &kernel, uint32_t number);
  void chooseSpeeds();
  void choosePriorities();
  std::string actorName(const Kernel &kernel, const Actor &actor) const;
  std::optional<Step> stepOf(const ImplSystem &system, const ImplState &state,
                             const Actor &actor) const;
  size_t pick();
  size_t pickInTurn(uint32_t rank);
  bool isHeld(size_t actor) const;
  uint64_t random(uint64_t below);

  enum class Way : uint8_t { InTurn, Speeds, Priorities };

  Way way = Way::InTurn;
  std::string text;
  std::vector<Actor> actors;
  std::vector<uint32_t> rank;   ///< of each actor: the lowest that can move goes first
  std::vector<uint32_t> speeds; ///< Speeds: per cent of its chances that an actor takes
  uint64_t state;
  uint64_t now = 0;
  size_t lastActor = 0;
  size_t held = SIZE_MAX; ///< the delayed actor
  uint64_t holdFrom = 0, holdUntil = 0;
  std::vector<std::optional<Step>> enabled; ///< by actor
  std::vector<size_t> able;                 ///< those that can move
};

} // namespace tally

#endif // TALLY_LIB_CHECK_SCHEDULERS_H
