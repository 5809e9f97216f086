//===- Queues.cpp - Instructions on their way through queues --------------===//
//
// Without transfers, all of an instruction's times follow from its arrival:
//
//   start   = max(arrival + startup, start of the one before + its interval)
//   finish  = start + duration
//   retire  = max(finish + visible, retire of the one before)
//
// Transfers share the bandwidth: while n of them are active, each has done 1/n of a picosecond's
// work in a picosecond. Work is counted in parts of a picosecond, so many that up to 16 shares
// are whole numbers; for more, shares are rounded down and a transfer ends less than a picosecond
// late.
//
//===----------------------------------------------------------------------===//

#include "Simulator.h"

#include <algorithm>

namespace tally::sim {

static constexpr uint64_t partsPerTick = 720'720; // the least common multiple of 1 to 16
static_assert(maxSpan <= UINT64_MAX / partsPerTick / maxEngines,
              "work fits, times all its sharers");

/// By a hash, so that what one instruction gets does not depend on the others.
Tick Simulator::jitter(Tick span, InstrId instr, uint64_t run, uint64_t salt) const {
  if (options.seed == 0) {
    return 0;
  }
  uint64_t hash = options.seed;
  for (uint64_t word : {uint64_t(instr.value), run, salt}) {
    hash += word + 0x9E3779B97F4A7C15;
    hash = (hash ^ (hash >> 30)) * 0xBF58476D1CE4E5B9;
    hash = (hash ^ (hash >> 27)) * 0x94D049BB133111EB;
    hash ^= hash >> 31;
  }
  Tick most = span * options.jitterPercent / 100;
  return hash % (most + 1);
}

void Simulator::arrive(SimEngine &engine, QueueId id, InstrId instr, Tick arrivalTime) {
  SimQueue &queue = queues[id];
  const InstrCost &cost = costs[instr];
  Arrival arrival{instr, engine.at(), runs[instr]++, arrivalTime, {}};
  Tick startup = cost.startup + jitter(cost.startup, instr, arrival.run, 1);
  arrival.ready = {arrivalTime + startup,
                   pathNode(here(engine), PathKind::Startup, queue.engine, engine.at(), startup)};
  if (queue.hasTransfers) {
    queue.waiting.push(arrival);
    schedule(transferActor(), std::min(arrival.ready.at, nextTransfer));
    nextTransfer = std::min(arrival.ready.at, nextTransfer);
    return;
  }
  Due start = queue.next.at > arrival.ready.at ? queue.next : arrival.ready;
  Execution execution = startNow(queue, id, arrival, start);
  queue.starts.push(start);
  if (queue.starts.count() > queue.depth) {
    queue.starts.pop();
  }
  Tick span = execution.finish - start.at;
  complete(
      queue, id, execution,
      {execution.finish, pathNode(start.node, PathKind::Execute, queue.engine, arrival.op, span)});
}

/// An instruction that is no transfer starts: its finish is known, and when the next one may start.
Execution Simulator::startNow(SimQueue &queue, QueueId id, const Arrival &arrival, Due start) {
  const InstrCost &cost = costs[arrival.instr];
  Tick duration = cost.duration + jitter(cost.duration, arrival.instr, arrival.run, 2);
  Tick interval = machine.queueOverlap ? cost.interval : std::max(cost.interval, duration);
  queue.next = {start.at + interval,
                pathNode(start.node, PathKind::Occupied, queue.engine, arrival.op, interval)};
  return {arrival.instr,
          id,
          arrival.op,
          arrival.run,
          arrival.arrival,
          start.at,
          start.at + interval,
          start.at + duration,
          0};
}

/// Counts the instruction, retires it in order, and sends off what it raises.
void Simulator::complete(SimQueue &queue, QueueId id, const Execution &known, Due finish) {
  Execution execution = known;
  QueueStats &stats = result.queues[id];
  ++stats.instructions;
  Tick uncounted = std::max(execution.start, queue.coveredUntil);
  stats.busy += execution.finish - std::min(uncounted, execution.finish);
  queue.coveredUntil = std::max(queue.coveredUntil, execution.finish);
  stats.occupied += execution.occupied - execution.start;

  Tick ready = finish.at + timing.visible;
  if (ready > queue.lastRetire.at) {
    queue.lastRetire = {ready, pathNode(finish.node, PathKind::Visible, queue.engine, execution.op,
                                        timing.visible)};
  }
  execution.retire = queue.lastRetire.at;
  stats.lastRetire = execution.retire + (queue.numShares - 1) * timing.spacing;
  if (stats.lastRetire > end.at) {
    end = {stats.lastRetire, lastShareNode(queue, execution.op, queue.numShares - 1)};
  }
  if (observer) {
    observer->onExecution(execution);
  }
  const Op &op = code.engines[queue.engine].ops[execution.op];
  if (op.signal.valid()) {
    sendOff(queue, id, op, execution);
  }
}

PathNode Simulator::lastShareNode(const SimQueue &queue, uint32_t op, uint32_t share) {
  return pathNode(queue.lastRetire.node, PathKind::Visible, queue.engine, op,
                  share * timing.spacing);
}

/// The shares of a split completion come one by one, and may come between those of the next one.
void Simulator::sendOff(SimQueue &queue, QueueId id, const Op &op, const Execution &execution) {
  for (uint32_t share = 0; share < queue.numShares; ++share) {
    uint32_t amount = op.amount / queue.numShares + (share < op.amount % queue.numShares ? 1 : 0);
    if (amount == 0) {
      break;
    }
    Raise raise{execution.retire + share * timing.spacing, op.signal,    amount,
                lastShareNode(queue, execution.op, share), execution.op, execution.start};
    queue.raises.push(raise);
    for (size_t i = queue.raises.count() - 1; i > 0 && queue.raises[i - 1].at > raise.at; --i) {
      std::swap(queue.raises[i - 1], queue.raises[i]);
    }
  }
  schedule(actorOf(id), queue.raises.front().at);
}

//===----------------------------------------------------------------------===//
// Transfers
//===----------------------------------------------------------------------===//

bool Simulator::isDone(const SimQueue &queue, Tick now) const {
  return queue.isActive &&
         (costs[queue.current.instr].isTransfer ? queue.remaining == 0 : queue.until <= now);
}

/// Whether it is known when the last instruction retires.
bool Simulator::isSettled(const SimQueue &queue) const {
  return queue.waiting.empty() && !(queue.isActive && costs[queue.current.instr].isTransfer);
}

/// When the oldest arrival may start, if nothing is active.
Tick Simulator::nextStart(SimQueue &queue) const {
  return queue.waiting.empty() ? never : std::max(queue.waiting.front().ready.at, queue.next.at);
}

/// Ends before starts, so that what starts finds the bandwidth free; queues by their numbers.
void Simulator::runTransfers(Tick now) {
  advanceTransfers(now);
  for (QueueId id : transferQueues) {
    if (isDone(queues[id], now)) {
      endOne(queues[id], id, now);
    }
  }
  for (QueueId id : transferQueues) {
    SimQueue &queue = queues[id];
    // Without work, an instruction leaves room at once.
    while (!queue.isActive && nextStart(queue) <= now) {
      beginOne(queue, id, now);
      if (isDone(queue, now)) {
        endOne(queue, id, now);
      }
    }
  }
  scheduleTransfers(now);
}

void Simulator::advanceTransfers(Tick now) {
  uint64_t share = numSharing > 0 ? (now - transfersAt) * partsPerTick / numSharing : 0;
  transfersAt = now;
  for (QueueId id : transferQueues) {
    SimQueue &queue = queues[id];
    if (queue.isActive && costs[queue.current.instr].isTransfer) {
      queue.remaining -= std::min(share, queue.remaining);
    }
  }
}

void Simulator::beginOne(SimQueue &queue, QueueId id, Tick now) {
  queue.current = queue.waiting.front();
  queue.waiting.pop();
  queue.isActive = true;
  bool wasLate = queue.next.at > queue.current.ready.at;
  queue.start = wasLate ? queue.next : queue.current.ready;
  assert(queue.start.at == now && "it starts when it can");
  const InstrCost &cost = costs[queue.current.instr];
  if (cost.isTransfer) {
    queue.remaining = cost.interval * partsPerTick;
    numSharing += cost.interval > 0;
  } else {
    Execution execution = startNow(queue, id, queue.current, queue.start);
    queue.until = execution.occupied;
    Tick span = execution.finish - now;
    complete(queue, id, execution,
             {execution.finish,
              pathNode(queue.start.node, PathKind::Execute, queue.engine, queue.current.op, span)});
    resumeDrain(queue.engine, now);
  }
  if (queue.blocked.valid()) {
    SimEngine &engine = engines[queue.blocked];
    stall(engine, queue.blocked, Stall::QueueFull, queue.start);
    engine.state = EngineState::Ready;
    events.set(actorOf(queue.blocked), now);
    queue.blocked = EngineId();
  }
}

void Simulator::endOne(SimQueue &queue, QueueId id, Tick now) {
  queue.isActive = false;
  const InstrCost &cost = costs[queue.current.instr];
  if (cost.isTransfer) {
    numSharing -= cost.interval > 0;
    PathNode lastByte = pathNode(queue.start.node, PathKind::Execute, queue.engine,
                                 queue.current.op, now - queue.start.at);
    Tick tail = cost.duration + jitter(cost.duration, queue.current.instr, queue.current.run, 2);
    Due finish{now + tail,
               pathNode(lastByte, PathKind::Execute, queue.engine, queue.current.op, tail)};
    queue.next = machine.queueOverlap ? Due{now, lastByte} : finish;
    Execution execution{queue.current.instr,
                        id,
                        queue.current.op,
                        queue.current.run,
                        queue.current.arrival,
                        queue.start.at,
                        now,
                        finish.at,
                        0};
    complete(queue, id, execution, finish);
    resumeDrain(queue.engine, now);
  }
}

/// Lets a drain go on once all retirements of its engine are known. The last of them is not in the
/// past, as it has just become known.
void Simulator::resumeDrain(EngineId id, Tick now) {
  SimEngine &engine = engines[id];
  for (QueueId q : kernel.engines[id].queues) {
    if (engine.state != EngineState::Draining || !isSettled(queues[q])) {
      return;
    }
  }
  engine.state = EngineState::Ready;
  Due last;
  for (QueueId q : kernel.engines[id].queues) {
    last = queues[q].lastRetire.at >= last.at ? queues[q].lastRetire : last;
  }
  assert(last.at >= now && "what has just started or ended retires later");
  (void)now;
  stall(engine, id, Stall::Drain, last);
  events.set(actorOf(id), engine.now);
}

void Simulator::scheduleTransfers(Tick now) {
  nextTransfer = never;
  for (QueueId id : transferQueues) {
    SimQueue &queue = queues[id];
    Tick next = never;
    if (!queue.isActive) {
      next = nextStart(queue);
    } else if (!costs[queue.current.instr].isTransfer) {
      next = queue.until;
    } else {
      next = now + (queue.remaining * numSharing + partsPerTick - 1) / partsPerTick;
    }
    nextTransfer = std::min(nextTransfer, next);
  }
  assert(nextTransfer > now && "what is due has been done");
  events.set(transferActor(), nextTransfer);
}

} // namespace tally::sim
