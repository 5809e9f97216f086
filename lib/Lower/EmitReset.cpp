//===- EmitReset.cpp - Counters go back to zero ---------------------------===//
//
// What is set back at a reset point: the counters of all bodies in the loop, thresholds stepped
// there, copies of these counters wherever they are kept, and all that counts whole queues. A value
// computed of them is computed again before it is used, for its inputs have changed.
//===----------------------------------------------------------------------===//

#include "CounterCode.h"

#include <algorithm>

namespace tally {

using namespace lowering;

void CounterCode::reset(const ResetSite &site, EngineId engine) {
  LoopId loop = site.point.loop;
  std::vector<Op> &ops = writer.code().ops;
  Operand due =
      Operand::reg(writer.compute(AluOp::IsGT, Operand::reg(demand.totals[loop].value),
                                  Operand::number(site.point.every - 1), kernel.loops[loop].depth));
  writer.touch(due);
  ops.push_back(Op::whenBegin(due));
  context.meetings.barriers().write(site.barrier, engine, ops);
  setBackCountersOf(loop);
  ops.push_back(Op::mark(OpKind::WhenEnd));
}

void CounterCode::setBackCountersOf(LoopId loop) {
  setBack(demand.trips[loop]);
  uint32_t numLoops = static_cast<uint32_t>(kernel.loops.size());
  for (LoopId inner = loop; inner.value < numLoops && kernel.encloses(loop, inner);
       inner = LoopId(inner.value + 1)) {
    setBack(demand.totals[inner]);
    for (const Stepped &stepped : demand.steppedAt[inner]) {
      set(known[stepped.expr].stepped, stepped.form.first());
    }
    setBackRingsAt(inner, loop);
  }
  for (LoopId outer = kernel.loops[loop].parent; outer.valid();
       outer = kernel.loops[outer].parent) {
    setBackRingsAt(outer, loop);
  }
  setBackPlaces(context.rootPosition[loop]);
}

/// Copies over one loop of what is counted in `reset`.
void CounterCode::setBackRingsAt(LoopId loop, LoopId reset) {
  for (RingId id : demand.ringsAt[loop]) {
    LoopId counted = plan.rings[id].total;
    if (counted.valid() && kernel.encloses(reset, counted)) {
      setBack(demand.rings[id]);
    }
  }
}

/// Everything that counts whole queues, if it has started and is still read.
void CounterCode::setBackPlaces(uint32_t here) {
  auto setBackAlive = [&](const Counter &counter) {
    if (counter.value.valid() && here <= counter.lastStmt) {
      setBack(counter);
    }
  };
  for (InstrId producer : demand.followed) {
    setBackAlive(demand.places[producer]);
  }
  std::ranges::for_each(demand.running, setBackAlive);
  if (demand.running.empty()) {
    return; // nothing to look for in all rings of a large kernel
  }
  for (RingId id : demand.rings.ids()) {
    if (plan.rings[id].ordinal.valid()) {
      setBackAlive(demand.rings[id]);
    }
  }
}

/// A counter, or all copies of a ring.
void CounterCode::setBack(const Counter &counter) {
  for (uint32_t slot = 0; counter.wanted && slot < std::max(counter.slots, 1u); ++slot) {
    set(RegId(counter.value.value + slot), 0);
  }
}

void CounterCode::set(RegId counter, uint32_t to) {
  writer.code().ops.push_back(Op::move(counter, Operand::number(to)));
}

} // namespace tally
