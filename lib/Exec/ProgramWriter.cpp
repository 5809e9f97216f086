//===- ProgramWriter.cpp - Code of engines, for a target ------------------===//
//
// One walk through the operations of each engine, in their order. What an operation does is said in
// Code.h and docs/guide/json/Execution.md; here it becomes the functions of a target:
//
//   issue    the wait; then the instruction, on the engine's thread or on that of its queue, which
//            raises the semaphore when it has finished. That is one of the orders that the machine
//            allows: queues complete in the order of issue, and all parts of a completion at once
//   loop     as often as the bindings of the run, or the formula, say
//
// Code that is written out names an instruction once for each run, outside its loops. Their
// iterations are then numbers: those of the sequential run.
//
//===----------------------------------------------------------------------===//

#include "ProgramWriter.h"

#include "InstrWriter.h"

#include "tally/Data/Runs.h"

#include <fmt/format.h>

namespace tally::exec {
namespace {

class EngineWriter {
public:
  EngineWriter(const Subject &subject, Target &target, EngineId engine, const Runs *runs)
      : subject(subject), kernel(subject.kernel), target(target), engine(engine), runs(runs),
        numRuns(kernel.instrs.size(), 0) {}

  void write() {
    target.beginEngine(engine, countedLoops());
    const std::vector<Op> &ops = subject.code.engines[engine].ops;
    for (uint32_t i = 0; i < ops.size(); ++i) {
      target.at(i);
      write(ops[i]);
    }
    target.endEngine();
  }

private:
  IdVector<LoopId, bool> countedLoops() const {
    IdVector<LoopId, bool> isCounted(kernel.loops.size(), false);
    for (InstrId id : kernel.instrs.ids()) {
      if (kernel.engineOf(id) == engine) {
        for (const Count &count : subject.counts[id]) {
          isCounted[count.loop] = isCounted[count.loop] || count.kind == TileExpr::Kind::Total;
        }
      }
    }
    return isCounted;
  }

  void write(const Op &op) {
    switch (op.kind) {
    case OpKind::Issue:
      return issue(op);
    case OpKind::Wait:
      return target.wait(op.wait, operand(op.a));
    case OpKind::Signal:
      return target.raise(op.signal, op.amount);
    case OpKind::Reset:
      return target.reset(op.signal, op.amount);
    case OpKind::Drain:
      return target.drain();
    case OpKind::Alu:
      return target.setRegister(
          op.dst,
          target.compute(op.alu, operand(op.a), op.alu == AluOp::Move ? Value() : operand(op.b)));
    case OpKind::BarrierBegin:
      return target.note(fmt::format("barrier {}", op.barrier().value));
    case OpKind::BarrierEnd:
      return target.note(fmt::format("end of barrier {}", op.barrier().value));
    case OpKind::WhenBegin:
      return target.beginWhen(target.isNotZero(operand(op.a)));
    case OpKind::WhenEnd:
      return target.endWhen();
    default:
      return control(op);
    }
  }

  void control(const Op &op) {
    switch (op.kind) {
    case OpKind::LoopBegin:
      open.push_back(op.loop());
      target.beginLoop(op.loop(), trips(op.loop()));
      if (op.dst.valid()) {
        target.setRegister(op.dst, target.iterationNumber(op.loop()));
      }
      return;
    case OpKind::LoopEnd:
      open.pop_back();
      return target.endLoop();
    case OpKind::IfBegin:
      open.push_back(op.loop());
      return target.beginBranch(op.loop(), holds(op.loop()));
    case OpKind::Else:
      open.back() = kernel.loops[open.back()].otherBranch;
      return target.beginOtherBranch(open.back());
    default:
      open.pop_back();
      return target.endBranch();
    }
  }

  Value trips(LoopId loop) {
    if (kernel.loops[loop].trip.kind != Trip::Kind::Formula) {
      return target.tripsOf(loop);
    }
    const BodyTile &formula = kernel.tiles->formulaOf(loop);
    return writeIndex(formula, formula.access.dims[0].first, kernel, target);
  }

  Value holds(LoopId branch) {
    if (!kernel.loops[branch].trip.condition.valid()) {
      return target.compare(TileGuard::Relation::NotEqual, target.tripsOf(branch), target.index(0));
    }
    const BodyTile &condition = kernel.tiles->conditionOf(branch);
    const bool isEither = condition.access.isEither;
    std::optional<Value> all;
    for (size_t at = 0; at < condition.access.numGroups(); ++at) {
      std::optional<Value> group;
      for (const TileGuard &guard : condition.access.group(at)) {
        group =
            joined(group, !isEither,
                   target.compare(guard.relation, writeIndex(condition, guard.left, kernel, target),
                                  writeIndex(condition, guard.right, kernel, target)));
      }
      all = joined(all, isEither, *group);
    }
    return *all;
  }

  Value joined(std::optional<Value> all, bool isEither, Value one) {
    return !all ? one : isEither ? target.either(*all, one) : target.both(*all, one);
  }

  Value operand(Operand operand) {
    return operand.isRegister ? target.readRegister(operand.asRegister())
                              : target.word(operand.value);
  }

  void issue(const Op &op) {
    InstrId id = op.instr();
    if (op.wait.valid()) {
      target.wait(op.wait, operand(op.a));
    }
    std::vector<Value> counts;
    bool isWrittenOut = runs && (open.empty() ? rootLoop : open.back()) != kernel.instrs[id].home;
    for (const Count &count : subject.counts[id]) {
      counts.push_back(isWrittenOut ? target.index(countOf(id, count)) : target.count(count));
    }
    ++numRuns[id];
    if (!subject.effects[id]) {
      // Nothing to do; with a thread of its own, the queue still decides when that has happened.
      target.note(fmt::format("'{}' does nothing", kernel.nameOf(id)));
    }
    if (subject.hasThread(kernel.instrs[id].queue)) {
      target.enqueue(id, counts, op.signal, op.amount);
    } else {
      target.run(id, counts, op.signal, op.amount);
    }
  }

  int64_t countOf(InstrId id, const Count &count) const {
    const LoopIndex &index = runs->indices({id, numRuns[id]})[kernel.loops[count.loop].depth - 1];
    return count.kind == TileExpr::Kind::Loop    ? index.iteration
           : count.kind == TileExpr::Kind::Total ? index.total
                                                 : index.trips;
  }

  const Subject &subject;
  const Kernel &kernel;
  Target &target;
  EngineId engine;
  const Runs *runs; ///< of code that is written out
  IdVector<InstrId, uint32_t> numRuns;
  std::vector<LoopId> open;
};

} // namespace

void writeProgram(const Subject &subject, Target &target) {
  for (InstrId id : subject.kernel.instrs.ids()) {
    if (subject.effects[id]) {
      writeInstr(subject, target, id);
    }
  }
  std::optional<Runs> runs;
  Bindings usual(subject.kernel); // trips of code that is written out are constant
  if (subject.code.strategy == Strategy::Unrolled) {
    Diagnostics none;
    runs.emplace(subject.kernel, usual, none);
  }
  for (EngineId engine : subject.kernel.engines.ids()) {
    EngineWriter(subject, target, engine, runs ? &*runs : nullptr).write();
  }
}

} // namespace tally::exec
