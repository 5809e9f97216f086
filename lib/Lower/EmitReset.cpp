//===- EmitReset.cpp - Counters go back to zero ---------------------------===//
//
// What is set back at a reset point: the counters of all bodies in the loop, thresholds stepped
// there, copies of these counters wherever they are kept, and all that counts whole queues. A value
// computed of them is computed anew before it is used, for its inputs have changed.
//===----------------------------------------------------------------------===//

#include "EmitReset.h"

namespace tally {
namespace {

class ResetWriter {
public:
  ResetWriter(const EmitContext &context, const CounterDemand &counters, KnownExprs &known,
              EngineId engine, ValueWriter &writer)
      : context(context), kernel(context.kernel), plan(context.plan), counters(counters),
        known(known), engine(engine), writer(writer) {}

  void run(const ResetSite &site) {
    LoopId loop = site.point.loop;
    std::vector<Op> &ops = writer.code().ops;
    Operand due = Operand::reg(
        writer.compute(AluOp::IsGT, Operand::reg(counters.totals[loop].value),
                       Operand::number(site.point.every - 1), kernel.loops[loop].depth));
    writer.touch(due);
    ops.push_back(Op::whenBegin(due));
    context.meetings->barriers().write(site.barrier, engine, ops);
    setBackCountersOf(loop);
    ops.push_back(Op::mark(OpKind::WhenEnd));
  }

private:
  void setBackCountersOf(LoopId loop) {
    setBack(counters.trips[loop]);
    uint32_t numLoops = static_cast<uint32_t>(kernel.loops.size());
    for (LoopId inner = loop; inner.value < numLoops && kernel.encloses(loop, inner);
         inner = LoopId(inner.value + 1)) {
      setBack(counters.totals[inner]);
      for (const Stepped &stepped : counters.steppedAt[inner]) {
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
  void setBackRingsAt(LoopId loop, LoopId reset) {
    for (RingId id : counters.ringsAt[loop]) {
      LoopId counted = plan.rings[id].total;
      if (counted.valid() && kernel.encloses(reset, counted)) {
        setBackRing(counters.rings[id]);
      }
    }
  }

  /// Everything that counts whole queues.
  void setBackPlaces(uint32_t here) {
    for (InstrId producer : counters.followed) {
      if (isAlive(counters.places[producer], here)) {
        set(counters.places[producer].value, 0);
      }
    }
    for (const Counter &running : counters.running) {
      if (isAlive(running, here)) {
        set(running.value, 0);
      }
    }
    if (counters.running.empty()) {
      return; // nothing to look for in all rings of a large kernel
    }
    for (RingId id : counters.rings.ids()) {
      if (plan.rings[id].ordinal.valid() && isAlive(counters.rings[id], here)) {
        setBackRing(counters.rings[id]);
      }
    }
  }

  void setBackRing(const Counter &ring) {
    for (uint32_t slot = 0; slot < ring.slots; ++slot) {
      set(RegId(ring.value.value + slot), 0);
    }
  }

  /// Whether a counter has started and is still read, in a statement of the root or later.
  static bool isAlive(const Counter &counter, uint32_t here) {
    return counter.wanted && counter.value.valid() && here <= counter.lastStmt;
  }

  void setBack(const Counter &counter) {
    if (counter.wanted) {
      set(counter.value, 0);
    }
  }

  void set(RegId counter, uint32_t to) {
    writer.code().ops.push_back(Op::move(counter, Operand::number(to)));
  }

  const EmitContext &context;
  const Kernel &kernel;
  const SyncPlan &plan;
  const CounterDemand &counters;
  KnownExprs &known;
  const EngineId engine;
  ValueWriter &writer;
};

} // namespace

void emitReset(const EmitContext &context, const CounterDemand &counters, KnownExprs &known,
               const ResetSite &site, EngineId engine, ValueWriter &writer) {
  ResetWriter(context, counters, known, engine, writer).run(site);
}

} // namespace tally
