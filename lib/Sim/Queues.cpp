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

#include "tally/Support/Mix.h"

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
    hash = mix(hash + word);
  }
  Tick most = span * options.jitterPercent / 100;
  return hash % (most + 1);
}

void Simulator::arrive(SimEngine &engine, SimQueue &queue, InstrId instr, Tick arrivalTime) {
  const InstrCost &cost = costs[instr];
  Arrival arrival;
  Execution &execution = arrival.execution;
  execution.instr = instr;
  execution.queue = queue.id;
  execution.op = engine.at();
  execution.run = runs[instr]++;
  execution.arrival = arrivalTime;
  Tick startup = cost.startup + jitter(cost.startup, instr, execution.run, 1);
  arrival.ready = {arrivalTime + startup,
                   pathNode(here(engine), PathKind::Startup, engine.id, engine.at(), startup)};
  if (queue.hasTransfers) {
    queue.waiting.push_back(arrival);
    nextTransfer = std::min(arrival.ready.at, nextTransfer);
    schedule(transferActor(), nextTransfer);
    return;
  }
  Due start = queue.next.at > arrival.ready.at ? queue.next : arrival.ready;
  queue.starts.push_back(start);
  if (queue.starts.size() > queue.depth) {
    queue.starts.pop_front();
  }
  startNow(queue, execution, start);
}

/// An instruction that is no transfer starts: its finish is known, and when the next one may start.
void Simulator::startNow(SimQueue &queue, Execution &execution, Due start) {
  const InstrCost &cost = costs[execution.instr];
  Tick duration = cost.duration + jitter(cost.duration, execution.instr, execution.run, 2);
  Tick interval = machine.queueOverlap ? cost.interval : std::max(cost.interval, duration);
  queue.next = {start.at + interval,
                pathNode(start.node, PathKind::Occupied, queue.engine, execution.op, interval)};
  execution.start = start.at;
  execution.occupied = start.at + interval;
  execution.finish = start.at + duration;
  complete(queue, execution,
           {execution.finish,
            pathNode(start.node, PathKind::Execute, queue.engine, execution.op, duration)});
}

/// Counts the instruction, retires it in order, and sends off what it raises.
void Simulator::complete(SimQueue &queue, Execution &execution, Due finish) {
  QueueStats &stats = result.queues[queue.id];
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
    sendOff(queue, op, execution);
  }
}

PathNode Simulator::lastShareNode(const SimQueue &queue, uint32_t op, uint32_t share) {
  return pathNode(queue.lastRetire.node, PathKind::Visible, queue.engine, op,
                  share * timing.spacing);
}

/// The shares of a split completion come one by one, and may come between those of the next one.
void Simulator::sendOff(SimQueue &queue, const Op &op, const Execution &execution) {
  for (uint32_t share = 0; share < queue.numShares; ++share) {
    uint32_t amount = op.amount / queue.numShares + (share < op.amount % queue.numShares ? 1 : 0);
    if (amount == 0) {
      break;
    }
    Raise raise{execution.retire + share * timing.spacing, op.signal,    amount,
                lastShareNode(queue, execution.op, share), execution.op, execution.start};
    queue.raises.push_back(raise);
    for (size_t i = queue.raises.size() - 1; i > 0 && queue.raises[i - 1].at > raise.at; --i) {
      std::swap(queue.raises[i - 1], queue.raises[i]);
    }
  }
  schedule(actorOf(queue.id), queue.raises.front().at);
}

//===----------------------------------------------------------------------===//
// Transfers
//===----------------------------------------------------------------------===//

bool Simulator::isDone(const SimQueue &queue, Tick now) const {
  return queue.isActive &&
         (isTransferring(queue) ? queue.remaining == 0 : queue.current.execution.occupied <= now);
}

/// Whether it is known when the last instruction retires.
bool Simulator::isSettled(const SimQueue &queue) const {
  return queue.waiting.empty() && !isTransferring(queue);
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
      endOne(queues[id], now);
    }
  }
  for (QueueId id : transferQueues) {
    SimQueue &queue = queues[id];
    // Without work, an instruction leaves room at once.
    while (!queue.isActive && nextStart(queue) <= now) {
      beginOne(queue, now);
      if (isDone(queue, now)) {
        endOne(queue, now);
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
    if (isTransferring(queue)) {
      queue.remaining -= std::min(share, queue.remaining);
    }
  }
}

void Simulator::beginOne(SimQueue &queue, Tick now) {
  queue.current = queue.waiting.front();
  queue.waiting.pop_front();
  queue.isActive = true;
  Execution &execution = queue.current.execution;
  bool wasLate = queue.next.at > queue.current.ready.at;
  queue.start = wasLate ? queue.next : queue.current.ready;
  assert(queue.start.at == now && "it starts when it can");
  if (isTransferring(queue)) {
    Tick work = costs[execution.instr].interval;
    execution.start = queue.start.at;
    queue.remaining = work * partsPerTick;
    numSharing += work > 0;
  } else {
    startNow(queue, execution, queue.start);
    resumeDrain(engines[queue.engine], now);
  }
  if (queue.blocked.valid()) {
    goOn(engines[queue.blocked], Stall::QueueFull, queue.start);
    queue.blocked = EngineId();
  }
}

void Simulator::endOne(SimQueue &queue, Tick now) {
  Execution &execution = queue.current.execution;
  const InstrCost &cost = costs[execution.instr];
  queue.isActive = false;
  if (!cost.isTransfer) {
    return;
  }
  numSharing -= cost.interval > 0;
  PathNode lastByte = pathNode(queue.start.node, PathKind::Execute, queue.engine, execution.op,
                               now - queue.start.at);
  Tick tail = cost.duration + jitter(cost.duration, execution.instr, execution.run, 2);
  Due finish{now + tail, pathNode(lastByte, PathKind::Execute, queue.engine, execution.op, tail)};
  queue.next = machine.queueOverlap ? Due{now, lastByte} : finish;
  execution.occupied = now;
  execution.finish = finish.at;
  complete(queue, execution, finish);
  resumeDrain(engines[queue.engine], now);
}

/// Lets a drain go on once all retirements of its engine are known. The last of them is not in the
/// past, as it has just become known.
void Simulator::resumeDrain(SimEngine &engine, [[maybe_unused]] Tick now) {
  if (engine.state != EngineState::Draining) {
    return;
  }
  Due last;
  for (QueueId q : engine.drains) {
    if (!isSettled(queues[q])) {
      return;
    }
    last = queues[q].lastRetire.at >= last.at ? queues[q].lastRetire : last;
  }
  assert(last.at >= now && "what has just started or ended retires later");
  goOn(engine, Stall::Drain, last);
}

void Simulator::scheduleTransfers(Tick now) {
  nextTransfer = never;
  for (QueueId id : transferQueues) {
    SimQueue &queue = queues[id];
    Tick next = !queue.isActive ? nextStart(queue)
                : isTransferring(queue)
                    ? now + (queue.remaining * numSharing + partsPerTick - 1) / partsPerTick
                    : queue.current.execution.occupied;
    nextTransfer = std::min(nextTransfer, next);
  }
  assert(nextTransfer > now && "what is due has been done");
  events.set(transferActor(), nextTransfer);
}

} // namespace tally::sim
