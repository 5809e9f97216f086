//===- Write.h - From kernels and code to what is written -----------------===//
//
// The way back of Resolve.h: walks a kernel, or code, and tells a form (JSON, text, MLIR) each
// statement as a written struct: `add` for one, `open` and `close` around a body, `otherwise`
// between two branches. One struct of each kind is filled again and again, so that a million
// statements cost no memory.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_WRITTEN_WRITE_H
#define TALLY_WRITTEN_WRITE_H

#include "tally/Code/Origin.h"
#include "tally/Model/Pins.h"
#include "tally/Model/Regions.h"
#include "tally/Written/Data.h"

#include <map>

namespace tally::written {

template <typename Form> class KernelWriter {
public:
  /// `hasPlaces`: queues say where they come from. Of statements the form is told.
  KernelWriter(const Kernel &kernel, Form &form, bool hasPlaces = true)
      : kernel(kernel), form(form), hasPlaces(hasPlaces), pins(pinnedSemaphores(kernel)) {}

  KernelData head() const { return {{kernel.reserved.begin(), kernel.reserved.end()}}; }

  void engines() {
    for (const Engine &engine : kernel.engines) {
      EngineData data;
      data.own = queue(engine.queues[0]);
      for (uint32_t i = 1; i < engine.queues.size(); ++i) {
        data.queues.push_back(queue(engine.queues[i]));
      }
      data.reserves.assign(engine.reserved.begin(), engine.reserved.end());
      form.add(data, engine.where);
    }
  }

  void values() {
    for (const DeclaredValue &declared : kernel.declaredValues) {
      const RunValue &value = kernel.values[kernel.valueNamed(text(declared.name))];
      form.add(ValueData{text(value.name), value.min, value.max}, declared.where);
    }
  }

  void buffers() {
    for (const Buffer &buffer : kernel.buffers) {
      form.add(BufferData{text(buffer.name), buffer.shape, text(buffer.elementType),
                          text(buffer.space), buffer.address, partitions(buffer),
                          names(buffer.alias), names(buffer.noalias), slots(buffer)},
               buffer.where);
    }
  }

  void body(LoopId id) {
    for (StmtId stmtId : kernel.loops[id].body) {
      const Stmt &stmt = kernel.stmts[stmtId];
      switch (stmt.kind) {
      case Stmt::Kind::Block:
        for (InstrId each : stmt.instrs) {
          instr(each);
        }
        break;
      case Stmt::Kind::Loop:
        loop(stmt.loop);
        break;
      case Stmt::Kind::If:
        branches(stmt.loop);
        break;
      }
    }
  }

  void dependences() {
    for (const Dep &dep : kernel.deps) {
      depData.producer = kernel.nameOf(dep.producer);
      depData.consumer = kernel.nameOf(dep.consumer);
      depData.kind = dep.kind;
      depData.distance.form = dep.form;
      depData.distance.step = dep.table.valid() ? kernel.tables[dep.table].each : dep.step;
      depData.distance.runs =
          dep.table.valid() ? kernel.tables[dep.table].runs : std::vector<int64_t>();
      LoopId over = dep.table.valid() ? kernel.tables[dep.table].over : LoopId();
      depData.distance.over = over.valid() ? kernel.nameOf(over) : "";
      depData.distance.components.clear();
      for (const DistanceComponent &each : kernel.componentsOf(dep)) {
        depData.distance.components.push_back(
            {std::string(kernel.nameOf(each.loop)), each.distance});
      }
      depData.allowDivergent = dep.allowDivergent;
      form.add(depData, dep.where);
    }
  }

private:
  std::string text(NameId id) const { return std::string(kernel.text(id)); }

  QueueData queue(QueueId id) const {
    const Queue &queue = kernel.queues[id];
    Location where = queue.where;
    bool isOwn = hasPlaces && where.known() && where.file < kernel.files.size() &&
                 where != kernel.engines[queue.engine].where;
    return {text(queue.name), queue.weight, queue.completion,
            isOwn ? std::optional(LocData{kernel.files[where.file], where.line, where.column})
                  : std::nullopt};
  }

  Names names(const std::vector<BufferId> &ids) const {
    Names result;
    for (BufferId id : ids) {
      result.push_back(text(kernel.buffers[id].name));
    }
    return result;
  }

  static std::optional<PartitionsData> partitions(const Buffer &buffer) {
    const std::optional<Partitions> &said = buffer.partitions;
    return said ? std::optional(PartitionsData{said->first, said->dim}) : std::nullopt;
  }

  static std::optional<SlotsData> slots(const Buffer &buffer) {
    return buffer.ring ? std::optional(SlotsData{buffer.ring->min, buffer.ring->max})
                       : std::nullopt;
  }

  /// The bounds of a value that is not declared stand at the first loop that it lets run.
  TripData formulaData(LoopId id) const {
    TripData data{Trip::Kind::Formula, 0, text(kernel.loops[id].trip.symbol), 0, {}};
    for (const RunValue &value : kernel.values) {
      if (value.isStated && value.loop == id && kernel.declarationOf(value) == nullptr) {
        data.min = value.min;
        data.max = value.max;
      }
    }
    return data;
  }

  TripData tripData(LoopId id) const {
    const Loop &loop = kernel.loops[id];
    const Trip &trip = loop.trip;
    if (trip.kind == Trip::Kind::Constant) {
      return {trip.kind, trip.constant, {}, 0, {}};
    }
    if (trip.kind == Trip::Kind::Formula) {
      return formulaData(id);
    }
    return {trip.kind, 0, text(trip.symbol.valid() ? trip.symbol : loop.name), trip.min, trip.max};
  }

  void loop(LoopId id) {
    const Loop &loop = kernel.loops[id];
    uint64_t unroll = loop.unroll == fullyUnrolled ? allIterations : loop.unroll;
    form.open(LoopData{text(loop.name), tripData(id), !loop.uniform, unroll,
                       std::string(toString(loop.sync))},
              loop.where);
    body(id);
    form.close();
  }

  void branches(LoopId thenId) {
    const Loop &loop = kernel.loops[thenId];
    form.open(IfData{text(loop.name), text(loop.trip.condition), !loop.uniform,
                     std::string(toString(loop.sync))},
              loop.where);
    body(thenId);
    if (!kernel.loops[loop.otherBranch].body.empty()) {
      form.otherwise();
      body(loop.otherBranch);
    }
    form.close();
  }

  void accesses(const Instr &instr, AccessKind kind, Names &texts) const {
    texts.clear();
    for (AccessId id : instr.accesses) {
      if (kernel.accesses[id].kind == kind) {
        texts.emplace_back(kernel.text(kernel.accesses[id].text));
      }
    }
  }

  void instr(InstrId id) {
    const Instr &instr = kernel.instrs[id];
    instrData.name = kernel.text(instr.name);
    instrData.queue = kernel.nameOf(instr.queue);
    instrData.others.clear();
    for (QueueId other : kernel.otherQueues(id)) {
      instrData.others.emplace_back(kernel.nameOf(other));
    }
    instrData.operation = kernel.text(instr.operation);
    instrData.computes = kernel.text(instr.computes);
    accesses(instr, AccessKind::Read, instrData.reads);
    accesses(instr, AccessKind::Write, instrData.writes);
    accesses(instr, AccessKind::Accumulate, instrData.accumulates);
    instrData.loads.clear();
    for (const LoadedValue &loaded : kernel.loadsOf(id)) {
      instrData.loads.emplace_back(kernel.text(loaded.value));
    }
    auto pin = pins.find(id);
    instrData.semaphore = pin == pins.end() ? std::nullopt : std::optional<uint64_t>(pin->second);
    form.add(instrData, instr.where);
  }

  const Kernel &kernel;
  Form &form;
  const bool hasPlaces;
  const std::map<InstrId, uint32_t> pins;
  InstrData instrData;
  DepData depData;
};

/// Engines, values, buffers, the tree in order, then all dependences. An empty else-branch is not
/// written.
template <typename Form> void writeKernel(const Kernel &kernel, Form &form) {
  KernelWriter<Form> writer(kernel, form);
  form.open(kernel.text(kernel.name), writer.head(), kernel.where);
  writer.engines();
  writer.values();
  writer.buffers();
  writer.body(rootLoop);
  writer.dependences();
  form.close();
}

template <typename Form> class CodeWriter {
public:
  CodeWriter(const Kernel &kernel, const Code &code, Form &form)
      : kernel(kernel), code(code), form(form) {}

  void semaphores() {
    for (const Semaphore &each : code.semaphores) {
      form.add(SemaphoreData{each.name}, {});
    }
  }

  /// Of each engine.
  void programs() {
    for (const EngineProgram &each : code.engines) {
      program = &each;
      const Engine &engine = kernel.engines[each.engine];
      form.open(ProgramData{std::string(kernel.text(engine.name))}, engine.where);
      for (const Register &reg : each.registers) {
        form.add(RegisterData{reg.name, reg.role.text}, {});
      }
      form.startSteps();
      for (const Op &op : each.ops) {
        step(op);
      }
      form.closeProgram();
    }
  }

private:
  void step(const Op &op) {
    Origin origin = originOf(kernel, code, op);
    switch (op.kind) {
    case OpKind::Issue:
      return form.add(issue(op), origin);
    case OpKind::Wait:
      return form.add(wait(op), origin);
    case OpKind::Signal:
      return form.add(signal(op), origin);
    case OpKind::Reset:
      return form.add(ResetData{semaphore(op.signal), op.amount}, origin);
    case OpKind::Drain:
      return form.add(DrainData(), origin);
    case OpKind::Alu: {
      std::optional<OperandData> b;
      if (op.alu != AluOp::Move) {
        b = operand(op.b);
      }
      return form.add(SetData{op.alu, reg(op.dst), operand(op.a), std::move(b)}, origin);
    }
    case OpKind::LoopBegin: {
      Ref counter = op.dst.valid() ? reg(op.dst) : Ref();
      return form.open(ForData{name(op.loop()), std::move(counter), op.amount}, origin);
    }
    case OpKind::IfBegin:
      return form.open(BranchData{name(op.loop())}, origin);
    case OpKind::Else:
      return form.otherwise();
    case OpKind::BarrierBegin:
      return form.open(barrier(op), origin);
    case OpKind::WhenBegin:
      return form.open(WhenData{operand(op.a)}, origin);
    case OpKind::LoopEnd:
    case OpKind::IfEnd:
    case OpKind::BarrierEnd:
    case OpKind::WhenEnd:
      return form.close();
    }
  }

  IssueData issue(const Op &op) const {
    IssueData data{name(op.instr()), {}, {}};
    if (op.wait.valid()) {
      data.wait = wait(op);
    }
    if (op.signal.valid()) {
      data.signal = signal(op);
    }
    return data;
  }

  WaitData wait(const Op &op) const {
    WaitData data{semaphore(op.wait), operand(op.a), {}, op.once};
    for (uint32_t i = 0; i < op.numReasons; ++i) {
      data.reasons.push_back(code.reasons[op.firstReason + i].value);
    }
    return data;
  }

  SignalData signal(const Op &op) const { return {semaphore(op.signal), op.amount}; }

  BarrierData barrier(const Op &op) const {
    BarrierData data{{}, op.target};
    for (EngineId each : code.barriers[op.barrier()]) {
      data.participants.push_back(name(each));
    }
    return data;
  }

  OperandData operand(Operand operand) const {
    return operand.isRegister ? OperandData{reg(operand.asRegister()), 0}
                              : OperandData{{}, operand.value};
  }

  template <typename IdT> std::string name(IdT id) const { return std::string(kernel.nameOf(id)); }

  Ref semaphore(SemaId id) const { return {code.semaphores[id].name, id.value}; }

  Ref reg(RegId id) const { return {program->registers[id].name, id.value}; }

  const Kernel &kernel;
  const Code &code;
  Form &form;
  const EngineProgram *program = nullptr;
};

/// Semaphores, then the program of each engine.
template <typename Form> void writeCode(const Kernel &kernel, const Code &code, Form &form) {
  CodeWriter<Form> writer(kernel, code, form);
  form.open(kernel.text(kernel.name), CodeData{std::string(toString(code.strategy)), code.machine},
            kernel.where);
  writer.semaphores();
  writer.programs();
  form.close();
}

} // namespace tally::written

#endif // TALLY_WRITTEN_WRITE_H
