//===- ReportCase.h - Recorded runs of small kernels ----------------------===//
#ifndef TALLY_UNITTESTS_REPORT_REPORTCASE_H
#define TALLY_UNITTESTS_REPORT_REPORTCASE_H

#include "Sim/SimCase.h"

#include "tally/Report/Report.h"

#include <algorithm>
#include <numeric>

namespace tally {

/// What SimCase runs, recorded.
inline Timeline record(SimCase &c, TimelineRecorder::Window window = {}, SimOptions options = {}) {
  std::vector<std::string> errors;
  Diagnostics diagnostics;
  std::optional<Timing> timing = Timing::of(c.machine, errors);
  std::optional<InstrCosts> costs = instructionCosts(c.kernel, *timing, diagnostics);
  EXPECT_FALSE(diagnostics.hasErrors()) << render(diagnostics, c.kernel.files);
  TimelineRecorder recorder(c.kernel, c.code, window);
  options.observer = &recorder;
  return recorder.finish(
      simulate(c.kernel, c.code, c.machine, *timing, *costs, c.bindings, options));
}

/// Two engines: `e0` runs `a`, whose retirements `e1` waits for before each `b`, in a loop of
/// `trips`. With a prologue `p` on `e0` that no instruction waits for.
struct Pipe : SimCase {
  explicit Pipe(uint64_t trips) : SimCase(kernelOf(trips)) {
    SemaId s = semaphore("s");
    RegId counter = code.engines[EngineId(1)].registers.push({"i", ""});
    code.reasons = {DepId(0)};
    ops(0) = {issue(0), Op::loopBegin(LoopId(1)), issue(1, s), Op::mark(OpKind::LoopEnd)};
    Op use = issueAfter(2, s, 0);
    use.a = Operand::reg(counter);
    use.numReasons = 1;
    ops(1) = {Op::loopBegin(LoopId(1), counter), use, Op::mark(OpKind::LoopEnd)};
    code.strategy = Strategy::Manual;
  }

  static Kernel kernelOf(uint64_t trips) {
    KernelBuilder b("pipe");
    EngineId e0 = b.engine("e0"), e1 = b.engine("e1");
    b.instr("p", b.queueOf(e0), "f(interval=40ns, duration=100ns)");
    b.beginLoop("A", KernelBuilder::constant(trips));
    InstrId produce = b.instr("a", b.queueOf(e0), "f(interval=400ns, duration=500ns)");
    InstrId use = b.instr("b", b.queueOf(e1), "f(interval=40ns, duration=100ns)");
    b.endLoop();
    b.dep(produce, use);
    return b.finish();
  }
};

/// The time of all pieces of one kind on the sequencer of an engine.
inline Tick sumOf(const Timeline &timeline, EngineId engine, PieceKind kind) {
  Tick sum = 0;
  for (const Lane &lane : timeline.lanes) {
    for (const Piece &piece : lane.pieces) {
      bool counts = lane.engine == engine && !lane.queue.valid() && piece.kind == kind;
      sum += counts ? piece.to - piece.from : 0;
    }
  }
  return sum;
}

inline const Lane &laneOf(const Timeline &timeline, EngineId engine, bool isQueue) {
  return *std::find_if(timeline.lanes.begin(), timeline.lanes.end(), [&](const Lane &lane) {
    return lane.engine == engine && lane.queue.valid() == isQueue;
  });
}

} // namespace tally

#endif // TALLY_UNITTESTS_REPORT_REPORTCASE_H
