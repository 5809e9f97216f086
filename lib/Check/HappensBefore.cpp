//===- HappensBefore.cpp - What surely comes before what ------------------===//

#include "tally/Check/HappensBefore.h"

#include <algorithm>

namespace tally {

HappensBefore::HappensBefore(const Kernel &kernel, size_t numSemaphores, const Machine &machine)
    : limit(machine.counterLimit()), modulus(uint64_t(1) << machine.counterBits),
      firstRing(kernel.queues.size()), rings(kernel.queues.size()),
      engineOfQueue(kernel.queues.size()), inFlight(kernel.queues.size()), semas(numSemaphores) {
  width = static_cast<uint32_t>(kernel.engines.size());
  for (QueueId queue : kernel.queues.ids()) {
    firstRing[queue] = width;
    rings[queue] = tally::numRings(kernel.queues[queue]);
    engineOfQueue[queue] = kernel.queues[queue].engine;
    width += rings[queue];
  }
  engineClocks.assign(kernel.engines.size() * width, 0);
  for (QueueId queue : kernel.queues.ids()) {
    InFlight &flight = inFlight[queue];
    flight.delivered.assign(rings[queue], 0);
    flight.last.assign(rings[queue], Clock(width, 0));
  }
}

void HappensBefore::join(uint32_t *into, const uint32_t *from) const {
  for (uint32_t i = 0; i < width; ++i) {
    into[i] = std::max(into[i], from[i]);
  }
}

//===----------------------------------------------------------------------===//
// Queues
//===----------------------------------------------------------------------===//

uint32_t HappensBefore::issue(QueueId queue) {
  InFlight &flight = inFlight[queue];
  const uint32_t *engine = engineClock(engineOfQueue[queue]);
  flight.starts.emplace_back(engine, engine + width);
  return ++flight.issued;
}

void HappensBefore::deliver(QueueId queue, uint32_t ring, SemaId sema, uint64_t amount,
                            uint32_t who) {
  InFlight &flight = inFlight[queue];
  uint32_t number = ++flight.delivered[ring];
  assert(number <= flight.issued && "only what was issued completes");
  Clock &clock = flight.last[ring];
  join(clock.data(), flight.starts[number - flight.first].data());
  clock[componentOf(queue, ring)] = number;
  if (sema.valid()) {
    raise(sema, amount, clock.data(), componentOf(queue, ring), who);
  }
  uint32_t everywhere = *std::min_element(flight.delivered.begin(), flight.delivered.end());
  for (; flight.first <= everywhere; ++flight.first) {
    flight.starts.pop_front();
  }
}

void HappensBefore::drain(EngineId engine) {
  for (QueueId queue : inFlight.ids()) {
    if (engineOfQueue[queue] == engine) {
      for (const Clock &clock : inFlight[queue].last) {
        join(engineClock(engine), clock.data());
      }
    }
  }
}

//===----------------------------------------------------------------------===//
// Semaphores
//===----------------------------------------------------------------------===//

/// Something happens on the semaphore after it was reset; `clock` is all that it waited for.
void HappensBefore::checkAfterReset(Unsettled::Kind kind, SemaId sema, const uint32_t *clock,
                                    uint32_t who) {
  const std::optional<Mark> &reset = semas[sema].reset;
  if (reset && clock[reset->component] < reset->tick) {
    reasons.add({kind, sema, reset->who, who});
  }
}

void HappensBefore::remember(std::vector<Mark> &marks, Mark mark) {
  auto old = std::ranges::find(marks, mark.component, &Mark::component);
  if (old == marks.end()) {
    marks.push_back(mark);
  } else {
    *old = mark;
  }
}

void HappensBefore::raise(SemaId id, uint64_t amount, const uint32_t *clock, uint32_t component,
                          uint32_t who) {
  checkAfterReset(Unsettled::Kind::ErasedRaise, id, clock, who);
  Sema &sema = semas[id];
  Mark mark{component, clock[component], who};
  sema.isOrdered &= !sema.last || clock[sema.last->component] >= sema.last->tick;
  sema.last = mark;
  remember(sema.raisers, mark);
  sema.smallestRaise = std::min(sema.smallestRaise, amount);
  if (sema.value < limit && sema.value + amount >= limit) {
    reasons.add({Unsettled::Kind::Wrapped, id, 0, who});
  }
  appendRaise(sema, amount, clock);
}

/// Each entry knows all raises before it. A counter that begins again from 0 forgets the list, but
/// not what it knew.
void HappensBefore::appendRaise(Sema &sema, uint64_t amount, const uint32_t *clock) {
  Clock known(clock, clock + width);
  if (!sema.reached.empty()) {
    join(known.data(), sema.clocks.data() + sema.clocks.size() - width);
  }
  sema.value += amount;
  if (sema.value >= modulus) {
    sema.value %= modulus;
    sema.reached.clear();
    sema.clocks.clear();
  }
  sema.reached.push_back(sema.value);
  sema.clocks.insert(sema.clocks.end(), known.begin(), known.end());
}

void HappensBefore::signal(EngineId engine, SemaId sema, uint64_t amount, uint32_t who) {
  raise(sema, amount, engineClock(engine), componentOf(engine), who);
}

void HappensBefore::wait(EngineId engine, SemaId id, uint64_t threshold, uint32_t who) {
  forcedComponent = UINT32_MAX;
  if (threshold == 0) {
    return;
  }
  uint32_t *clock = engineClock(engine);
  checkAfterReset(Unsettled::Kind::EarlyWait, id, clock, who);
  Sema &sema = semas[id];
  remember(sema.waiters, {componentOf(engine), clock[componentOf(engine)], who});
  if (threshold < sema.smallestWait) {
    sema.smallestWait = threshold;
    sema.smallestWaitBy = who;
  }
  if (sema.reached.empty()) {
    return;
  }
  auto needed = std::lower_bound(sema.reached.begin(), sema.reached.end(), threshold);
  needed -= needed == sema.reached.end();
  const uint32_t *known = sema.clocks.data() + (needed - sema.reached.begin()) * width;
  join(clock, known);
  if (sema.raisers.size() == 1) {
    forcedComponent = sema.raisers[0].component;
    forcedTick = known[forcedComponent];
  }
}

void HappensBefore::waitForNumber(EngineId engine, SemaId id, QueueId queue, uint32_t number) {
  const Sema &sema = semas[id];
  for (size_t i = 0; number != 0 && i < sema.reached.size(); ++i) {
    const uint32_t *known = sema.clocks.data() + i * width;
    if (known[firstRing[queue]] >= number) {
      join(engineClock(engine), known);
      return;
    }
  }
}

/// Raises in any order are settled if every wait needs all of them.
void HappensBefore::checkMixed(SemaId id) {
  const Sema &sema = semas[id];
  if (!sema.isOrdered && sema.smallestWait <= sema.value - sema.smallestRaise) {
    reasons.add({Unsettled::Kind::Mixed, id, sema.raisers[0].who, sema.smallestWaitBy});
  }
}

void HappensBefore::reset(EngineId engine, SemaId first, uint32_t count, uint32_t who) {
  const uint32_t *clock = engineClock(engine);
  for (uint32_t i = 0; i < count; ++i) {
    SemaId id(first.value + i);
    Sema &sema = semas[id];
    checkAfterReset(Unsettled::Kind::ErasedRaise, id, clock, who);
    for (const Mark &raise : sema.raisers) {
      if (clock[raise.component] < raise.tick) {
        reasons.add({Unsettled::Kind::LostRaise, id, who, raise.who});
      }
    }
    for (const Mark &wait : sema.waiters) {
      if (clock[wait.component] < wait.tick) {
        reasons.add({Unsettled::Kind::ErasedForWait, id, who, wait.who});
      }
    }
    checkMixed(id);
    sema = Sema();
    sema.reset = Mark{componentOf(engine), clock[componentOf(engine)], who};
  }
}

void HappensBefore::blocked(EngineId engine, SemaId sema, uint32_t who) {
  checkAfterReset(Unsettled::Kind::EarlyWait, sema, engineClock(engine), who);
}

void HappensBefore::finish() {
  for (SemaId sema : semas.ids()) {
    checkMixed(sema);
  }
}

//===----------------------------------------------------------------------===//
// Answers
//===----------------------------------------------------------------------===//

uint32_t HappensBefore::finished(QueueId queue, EngineId engine) const {
  const uint32_t *clock = engineClock(engine) + firstRing[queue];
  return *std::min_element(clock, clock + rings[queue]);
}

uint32_t HappensBefore::forcedByWait(QueueId queue) const {
  bool byQueue = rings[queue] == 1 && forcedComponent == firstRing[queue];
  return byQueue ? forcedTick : 0;
}

Clock HappensBefore::clockOf(EngineId engine) const {
  const uint32_t *clock = engineClock(engine);
  return Clock(clock, clock + width);
}

} // namespace tally
