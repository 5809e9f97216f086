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
//   random            random speeds; or random priorities that change a few times
//
// Queues commit in order: when the effect of an instruction comes makes no difference to what is
// ordered with what.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_CHECK_SCHEDULERS_H
#define TALLY_LIB_CHECK_SCHEDULERS_H

#include "tally/Check/Impl.h"
#include "tally/Support/Mix.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

namespace tally::check {

class Scheduler {
public:
  /// Schedule `number`, from 0. The first ones are the same for every seed. In this order: three
  /// general ones; each engine first, then each starved; each queue likewise; then delays and
  /// chance in alternation.
  Scheduler(const Kernel &kernel, uint32_t number, uint64_t seed)
      : state(seed * 0x2545f4914f6cdd1du + number) {
    makeActors(kernel);
    enabled.resize(actors.size());
    uint32_t numSystematic = 3 + 2 * static_cast<uint32_t>(actors.size());
    if (number < numSystematic) {
      chooseSystematic(kernel, number);
    } else if (uint32_t rest = number - numSystematic; rest % 3 == 0) {
      chooseDelay(kernel, rest / 3);
    } else if (rest % 3 == 1) {
      chooseSpeeds();
    } else {
      choosePriorities();
    }
  }

  /// `engine 'act' first`, for messages.
  const std::string &name() const { return text; }

  /// The next step; none if nothing can happen any more.
  std::optional<Step> next(const ImplSystem &system, const ImplState &at) {
    bool any = false;
    for (size_t i = 0; i < actors.size(); ++i) {
      enabled[i] = stepOf(system, at, actors[i]);
      any |= enabled[i].has_value();
    }
    if (!any) {
      return {};
    }
    lastActor = pick();
    ++now;
    return enabled[lastActor];
  }

private:
  /// What can move: engines, then the rings of each queue (a whole queue is one ring).
  struct Actor {
    EngineId engine;
    QueueId queue; ///< none: the engine itself
    uint32_t ring = 0;
  };

  void makeActors(const Kernel &kernel) {
    for (EngineId engine : kernel.engines.ids()) {
      actors.push_back({engine, {}, 0});
    }
    for (QueueId id : kernel.queues.ids()) {
      const Queue &queue = kernel.queues[id];
      for (uint32_t ring = 0; ring < numRings(queue); ++ring) {
        actors.push_back({queue.engine, id, ring});
      }
    }
    rank.assign(actors.size(), 1);
  }

  void chooseSystematic(const Kernel &kernel, uint32_t number) {
    if (number < 3) {
      static constexpr const char *names[] = {"in turn", "late retirement", "early retirement"};
      text = names[number];
      for (size_t i = 0; i < actors.size(); ++i) {
        bool goesFirst = actors[i].queue.valid() == (number == 2);
        rank[i] = number == 0 || goesFirst ? 0 : 1;
      }
      return;
    }
    const uint32_t which = (number - 3) / 2;
    bool first = number % 2 == 1;
    rank[which] = first ? 0 : 2;
    text = actorName(kernel, actors[which]) + (first ? " first" : " starved");
  }

  /// Delay `number` holds one actor after another, ever longer and later.
  void chooseDelay(const Kernel &kernel, uint32_t number) {
    held = number % actors.size();
    uint64_t round = number / actors.size();
    holdFrom = actors.size() * round;
    holdUntil = holdFrom + 4 * actors.size() * (round + 1);
    text = fmt::format("{} delayed from step {} to {}", actorName(kernel, actors[held]), holdFrom,
                       holdUntil);
  }

  void chooseSpeeds() {
    way = Way::Speeds;
    text = "random speeds";
    for (size_t i = 0; i < actors.size(); ++i) {
      speeds.push_back(random(2) == 0 ? 100 : 1 + static_cast<uint32_t>(random(100)));
    }
  }

  void choosePriorities() {
    way = Way::Priorities;
    text = "random priorities";
    std::iota(rank.begin(), rank.end(), 0);
    for (size_t i = rank.size(); i > 1; --i) {
      std::swap(rank[i - 1], rank[random(i)]);
    }
  }

  std::string actorName(const Kernel &kernel, const Actor &actor) const {
    if (!actor.queue.valid()) {
      return fmt::format("engine '{}'", kernel.nameOf(actor.engine));
    }
    std::string_view queue = kernel.nameOf(actor.queue);
    return numRings(kernel.queues[actor.queue]) > 1
               ? fmt::format("ring {} of '{}'", actor.ring, queue)
               : fmt::format("queue '{}'", queue);
  }

  /// The step that an actor would take now. A queue commits before it delivers.
  std::optional<Step> stepOf(const ImplSystem &system, const ImplState &at,
                             const Actor &actor) const {
    if (!actor.queue.valid()) {
      if (!system.head(at, actor.engine)) {
        return {};
      }
      Step step = system.stepOf(at, actor.engine);
      return system.isEnabled(at, step) ? std::optional(step) : std::nullopt;
    }
    Step completion = system.completionOf(actor.queue, actor.ring);
    if (system.isEnabled(at, completion)) {
      return completion;
    }
    const QueueState &queue = at.queues[actor.queue];
    uint32_t place = system.nextOf(at, actor.queue, actor.ring) - queue.retired;
    bool owes = place < queue.inFlight();
    return owes ? std::optional(Step::commit(actor.engine, actor.queue, place)) : std::nullopt;
  }

  size_t pick() {
    if (way == Way::Priorities && random(64) == 0) {
      std::swap(rank[random(rank.size())], rank[random(rank.size())]);
    }
    able.clear();
    uint32_t best = UINT32_MAX;
    for (size_t i = 0; i < actors.size(); ++i) {
      if (enabled[i]) {
        able.push_back(i);
        best = isHeld(i) ? best : std::min(best, rank[i]);
      }
    }
    if (way == Way::Speeds) {
      size_t actor = able[random(able.size())];
      for (int tries = 0; tries < 100 && random(100) >= speeds[actor]; ++tries) {
        actor = able[random(able.size())];
      }
      return actor;
    }
    return pickInTurn(best);
  }

  /// The next actor after the last one, among those of this rank.
  size_t pickInTurn(uint32_t wanted) {
    for (size_t i = 1; i <= actors.size(); ++i) {
      size_t actor = (lastActor + i) % actors.size();
      if (enabled[actor] && rank[actor] == wanted && !isHeld(actor)) {
        return actor;
      }
    }
    return held; // it is the only one
  }

  bool isHeld(size_t actor) const { return actor == held && now >= holdFrom && now < holdUntil; }

  uint64_t random(uint64_t below) {
    uint64_t drawn = mix(state);
    state += 0x9e3779b97f4a7c15u;
    return drawn % below;
  }

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

} // namespace tally::check

#endif // TALLY_LIB_CHECK_SCHEDULERS_H
