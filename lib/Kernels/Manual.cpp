//===- Manual.cpp - The kernels' code as an expert would place it ---------===//
//
// A dependence at distance k between instructions around whose bodies S is the innermost loop: in
// the i-th iteration of S over the whole run, the producer must have run r*(i-k) times, r its runs
// in one iteration of S. With a semaphore of its own, and w for each run, that is the threshold:
//
//   k = 0, w*r = 1, S outermost   the loop counter
//   k = 0                         a register, from w*r, stepped by w*r
//   k > 0                         a register, from 0, stepped by w*r once i >= k
//
// Registers that would be equal are one.
//===----------------------------------------------------------------------===//

#include "tally/Kernels/Manual.h"

#include "tally/Model/Place.h"

#include <fmt/format.h>

#include <map>

namespace tally {
namespace {

/// What a person waits for instead of a dependence.
struct ManualWait {
  DepId dep;
  LoopId loop;       ///< S
  uint32_t back = 0; ///< k
  uint32_t step = 0; ///< w*r
};

class ManualWriter {
public:
  explicit ManualWriter(const Kernel &kernel)
      : kernel(kernel), waitsOf(kernel.instrs.size()), semaphoreOf(kernel.instrs.size()) {}

  Code run() {
    code.strategy = Strategy::Manual;
    for (DepId dep : kernel.deps.ids()) {
      addWait(dep);
    }
    for (EngineId engine : kernel.engines.ids()) {
      writeEngine(engine);
    }
    return std::move(code);
  }

private:
  void addWait(DepId id) {
    const Dep &dep = kernel.deps[id];
    DepPlace place = placeOf(kernel, dep);
    if (dep.numComponents > 1) {
      return; // from one trip to the next, the distance within the trip goes on
    }
    ManualWait wait{id, kernel.realLoop(place.shared), 0, 0};
    if (dep.form == DistanceForm::Flat) {
      wait.back = static_cast<uint32_t>(dep.step);
    } else if (place.carrier.valid()) {
      wait.loop = place.carrier;
      wait.back = static_cast<uint32_t>(place.offset);
    }
    const Instr &producer = kernel.instrs[dep.producer];
    wait.step = kernel.queues[producer.queue].weight;
    for (LoopId l = producer.home; l != wait.loop; l = kernel.loops[l].parent) {
      wait.step *= static_cast<uint32_t>(kernel.loops[l].trip.constant);
    }
    if (!semaphoreOf[dep.producer].valid()) {
      semaphoreOf[dep.producer] = code.semaphores.push({std::string(kernel.nameOf(dep.producer))});
    }
    waitsOf[dep.consumer].push_back(wait);
  }

  //===--- One engine -----------------------------------------------------===//

  /// A register that holds a threshold.
  struct Threshold {
    RegId reg;
    uint32_t back;
    uint32_t step;
  };

  void writeEngine(EngineId id) {
    engine = id;
    EngineProgram empty;
    empty.engine = id;
    program = &code.engines[code.engines.push(std::move(empty))];
    thresholds.assign(kernel.loops.size(), {});
    counters.assign(kernel.loops.size(), RegId());
    enters.assign(kernel.loops.size(), false);
    for (InstrId instr : kernel.instrs.ids()) {
      if (kernel.engineOf(instr) == id) {
        prepare(instr);
      }
    }
    for (LoopId loop : kernel.loops.ids()) {
      for (const Threshold &t : thresholds[loop]) {
        program->ops.push_back(Op::move(t.reg, Operand::number(t.back == 0 ? t.step : 0)));
      }
      if (counters[loop].valid() && !isOutermost(loop)) {
        program->ops.push_back(Op::move(counters[loop], Operand::number(1)));
      }
    }
    walk(rootLoop);
  }

  bool isOutermost(LoopId loop) const { return kernel.loops[loop].parent == rootLoop; }

  RegId newRegister(std::string role) {
    return program->registers.push(
        {fmt::format("r{}", program->registers.size()), std::move(role)});
  }

  void prepare(InstrId instr) {
    for (LoopId l = kernel.instrs[instr].home; l.valid(); l = kernel.loops[l].parent) {
      enters[l] = true;
    }
    for (const ManualWait &wait : waitsOf[instr]) {
      if (wait.loop == rootLoop) {
        continue;
      }
      bool native = wait.back == 0 && wait.step == 1 && isOutermost(wait.loop);
      if ((native || wait.back > 0) && !counters[wait.loop].valid()) {
        counters[wait.loop] = newRegister(fmt::format("iteration({})", kernel.nameOf(wait.loop)));
      }
      if (!native && !thresholdOf(wait)) {
        thresholds[wait.loop].push_back({newRegister("threshold"), wait.back, wait.step});
      }
    }
  }

  const Threshold *thresholdOf(const ManualWait &wait) const {
    for (const Threshold &t : thresholds[wait.loop]) {
      if (t.back == wait.back && t.step == wait.step) {
        return &t;
      }
    }
    return nullptr;
  }

  void walk(LoopId body) {
    for (StmtId s : kernel.loops[body].body) {
      const Stmt &stmt = kernel.stmts[s];
      if (stmt.kind == Stmt::Kind::Block) {
        for (InstrId instr : stmt.instrs) {
          if (kernel.engineOf(instr) == engine) {
            issue(instr);
          }
        }
      } else if (enters[stmt.loop]) {
        walkLoop(stmt.loop);
      }
    }
  }

  void walkLoop(LoopId loop) {
    program->ops.push_back(Op::loopBegin(loop, isOutermost(loop) ? counters[loop] : RegId()));
    walk(loop);
    step(loop);
    program->ops.push_back(Op::mark(OpKind::LoopEnd));
  }

  /// At the end of the i-th iteration: thresholds of the next one.
  void step(LoopId loop) {
    std::map<uint32_t, RegId> begun; // by distance: whether there is something to wait for
    for (const Threshold &t : thresholds[loop]) {
      if (t.back == 0) {
        add(t.reg, Operand::number(t.step));
        continue;
      }
      RegId &gate = begun[t.back];
      if (!gate.valid()) {
        gate = newRegister("");
        program->ops.push_back(
            Op::alu2(AluOp::IsGT, gate, Operand::reg(counters[loop]), Operand::number(t.back - 1)));
      }
      if (t.step == 1) {
        add(t.reg, Operand::reg(gate));
        continue;
      }
      RegId scaled = newRegister("");
      program->ops.push_back(
          Op::alu2(AluOp::Mul, scaled, Operand::reg(gate), Operand::number(t.step)));
      add(t.reg, Operand::reg(scaled));
    }
    if (counters[loop].valid() && !isOutermost(loop)) {
      add(counters[loop], Operand::number(1));
    }
  }

  void add(RegId reg, Operand more) {
    program->ops.push_back(Op::alu2(AluOp::Add, reg, Operand::reg(reg), more));
  }

  /// All waits but the last stand before the instruction.
  void issue(InstrId instr) {
    Op op = Op::issue(instr);
    for (const ManualWait &wait : waitsOf[instr]) {
      if (op.wait.valid()) {
        Op before = Op::makeWait(op.wait, op.a);
        before.firstReason = op.firstReason;
        before.numReasons = op.numReasons;
        program->ops.push_back(before);
      }
      op.wait = semaphoreOf[kernel.deps[wait.dep].producer];
      op.a = operandOf(wait);
      op.firstReason = static_cast<uint32_t>(code.reasons.size());
      op.numReasons = 1;
      code.reasons.push_back(wait.dep);
    }
    op.signal = semaphoreOf[instr];
    op.amount = kernel.queues[kernel.instrs[instr].queue].weight;
    program->ops.push_back(op);
  }

  Operand operandOf(const ManualWait &wait) const {
    if (wait.loop == rootLoop) {
      return Operand::number(wait.step);
    }
    const Threshold *threshold = thresholdOf(wait);
    return Operand::reg(threshold ? threshold->reg : counters[wait.loop]);
  }

  const Kernel &kernel;
  Code code;
  IdVector<InstrId, std::vector<ManualWait>> waitsOf;
  IdVector<InstrId, SemaId> semaphoreOf;

  EngineId engine;
  EngineProgram *program = nullptr;
  IdVector<LoopId, std::vector<Threshold>> thresholds; ///< stepped by each loop
  IdVector<LoopId, RegId> counters;                    ///< iterations of a loop, from 1
  IdVector<LoopId, bool> enters;
};

} // namespace

Code manualCode(const Kernel &kernel) {
  return ManualWriter(kernel).run();
}

} // namespace tally
