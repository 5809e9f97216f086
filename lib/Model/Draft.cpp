//===- Draft.cpp - From a kernel to a draft and back ----------------------===//

#include "tally/Model/Draft.h"

#include "tally/Model/AccessText.h"
#include "tally/Model/KernelBuilder.h"

namespace tally {

//===----------------------------------------------------------------------===//
// Kernel to draft
//===----------------------------------------------------------------------===//

static std::vector<DraftNode> nodesOf(const Kernel &kernel, LoopId body) {
  std::vector<DraftNode> nodes;
  for (StmtId id : kernel.loops[body].body) {
    const Stmt &stmt = kernel.stmts[id];
    for (InstrId instr : stmt.instrs) {
      DraftNode node;
      node.instr = instr;
      node.queue = kernel.instrs[instr].queue;
      nodes.push_back(std::move(node));
    }
    if (stmt.kind == Stmt::Kind::Block) {
      continue;
    }
    const Loop &loop = kernel.loops[stmt.loop];
    DraftNode node;
    node.loop = stmt.loop;
    node.trip = loop.trip;
    node.uniform = loop.uniform;
    node.sync = loop.sync;
    node.unroll = loop.unroll;
    node.body = nodesOf(kernel, stmt.loop);
    if (stmt.kind == Stmt::Kind::If) {
      node.elseBody = nodesOf(kernel, loop.otherBranch);
    }
    nodes.push_back(std::move(node));
  }
  return nodes;
}

Draft draftOf(const Kernel &kernel) {
  Draft draft;
  draft.body = nodesOf(kernel, rootLoop);
  for (const Dep &dep : kernel.deps) {
    std::span<const DistanceComponent> components = kernel.componentsOf(dep);
    draft.deps.push_back({dep, {components.begin(), components.end()}});
  }
  draft.reserved = kernel.reserved;
  for (const Engine &engine : kernel.engines) {
    draft.registers.push(engine.reserved);
  }
  draft.pins = kernel.pins;
  draft.touches.assign(kernel.accesses.size(), true);
  draft.buffers.assign(kernel.buffers.size(), true);
  draft.queues.assign(kernel.queues.size(), true);
  for (const Queue &queue : kernel.queues) {
    draft.weights.push(queue.weight);
    draft.completions.push(queue.completion);
  }
  return draft;
}

//===----------------------------------------------------------------------===//
// Draft to kernel
//===----------------------------------------------------------------------===//

namespace {

class Rebuilder {
public:
  Rebuilder(const Kernel &old, const Draft &draft)
      : old(old), draft(draft), builder(old.text(old.name), old.where), queueOf(old.queues.size()),
        loopOf(old.loops.size()), instrOf(old.instrs.size()), bufferOf(old.buffers.size()) {}

  Kernel build() {
    addQueues();
    declareValues();
    addBuffers();
    addBody(draft.body);
    for (const DraftDep &dep : draft.deps) {
      addDep(dep);
    }
    builder.reserveSemaphores(draft.reserved);
    for (const Pin &pin : draft.pins) {
      if (instrOf[pin.instr].valid()) {
        builder.pin(instrOf[pin.instr], pin.semaphore);
      }
    }
    return builder.finish();
  }

private:
  void addQueues() {
    for (const std::string &file : old.files) {
      builder.file(file); // so each keeps its number
    }
    for (const Engine &engine : old.engines) {
      bool isLeft = false;
      for (QueueId queue : engine.queues) {
        isLeft = isLeft || draft.queues[queue];
      }
      if (isLeft) {
        addEngine(engine);
      }
    }
  }

  void addEngine(const Engine &engine) {
    const QueueId own = engine.queues[0];
    EngineId id = builder.engine(old.text(engine.name), engine.where);
    builder.reserveRegisters(id, draft.registers[old.queues[own].engine]);
    queueOf[own] = builder.queueOf(id);
    builder.setQueue(queueOf[own], draft.weights[own], draft.completions[own]);
    for (QueueId queue : engine.queues) {
      if (queue != own && draft.queues[queue]) {
        queueOf[queue] = builder.queue(old.nameOf(queue), draft.weights[queue],
                                       draft.completions[queue], old.queues[queue].where);
      }
    }
  }

  std::string_view textOf(NameId name) const { return name.valid() ? old.text(name) : ""; }

  void declareValues() {
    for (const DeclaredValue &value : old.declaredValues) {
      builder.declareValue(textOf(value.name), value.min, value.max, value.where);
    }
  }

  void addBuffers() {
    for (BufferId id : old.buffers.ids()) {
      if (draft.buffers[id]) {
        addBuffer(id);
      }
    }
  }

  void addBuffer(BufferId id) {
    const Buffer &buffer = old.buffers[id];
    bufferOf[id] = builder.buffer(old.text(buffer.name), buffer.shape, textOf(buffer.space),
                                  textOf(buffer.elementType), buffer.address, buffer.where);
    if (buffer.partitions) {
      builder.partitions(bufferOf[id], *buffer.partitions);
    }
    if (buffer.ring) {
      builder.ring(bufferOf[id], *buffer.ring);
    }
    for (BufferId earlier : buffer.alias) {
      if (draft.buffers[earlier]) {
        builder.alias(bufferOf[id], bufferOf[earlier]);
      }
    }
    for (BufferId earlier : buffer.noalias) {
      if (draft.buffers[earlier]) {
        builder.noalias(bufferOf[id], bufferOf[earlier]);
      }
    }
  }

  void addBody(const std::vector<DraftNode> &nodes) {
    for (const DraftNode &node : nodes) {
      if (node.instr.valid()) {
        addInstr(node);
      } else if (old.loops[node.loop].kind == LoopKind::Loop) {
        addLoop(node);
      } else {
        addIf(node);
      }
    }
  }

  void addLoop(const DraftNode &node) {
    const std::string_view name = old.nameOf(node.loop);
    const bool isRenamed = !node.name.empty();
    const LoopId id = builder.beginLoop(isRenamed ? node.name : name, tripOf(node), node.uniform,
                                        old.loops[node.loop].where);
    loopOf[node.loop] = id;
    builder.setSync(id, node.sync);
    builder.setUnroll(id, node.unroll);
    if (isRenamed) {
      renamed.emplace_back(name, node.name);
    }
    addBody(node.body);
    if (isRenamed) {
      renamed.pop_back();
    }
    builder.endLoop();
  }

  void addIf(const DraftNode &node) {
    loopOf[node.loop] =
        builder.beginIf(old.nameOf(node.loop), node.uniform, old.loops[node.loop].where);
    builder.setSync(loopOf[node.loop], node.sync);
    builder.setCondition(loopOf[node.loop],
                         asCalledNow(node.trip.condition, parseCondition, conditionText));
    addBody(node.body);
    if (!node.elseBody.empty()) {
      loopOf[old.loops[node.loop].otherBranch] = builder.beginElse();
      addBody(node.elseBody);
    }
    builder.endIf();
  }

  /// A text, with the names that loops around have now.
  template <typename Parse, typename Print>
  std::string asCalledNow(NameId id, const Parse &parse, const Print &print) const {
    std::string text(textOf(id)), error;
    for (const auto &[from, to] : renamed) {
      std::optional<ParsedAccess> access = parse(text, error);
      if (access && rename(*access, from, to)) {
        text = print(*access);
      }
    }
    return text;
  }

  /// Whether it names the loop.
  static bool rename(ParsedAccess &access, std::string_view from, const std::string &to) {
    bool names = false;
    for (TileExpr &node : access.exprs) {
      const bool ofLoop = node.kind == TileExpr::Kind::Loop || node.kind == TileExpr::Kind::Total ||
                          node.kind == TileExpr::Kind::Trips;
      if (ofLoop && access.names[node.name] == from) {
        node.name = static_cast<uint32_t>(access.names.size());
        names = true;
      }
    }
    access.names.push_back(to);
    return names;
  }

  Trip tripOf(const DraftNode &node) {
    const Trip &trip = node.trip;
    std::string_view symbol = textOf(trip.symbol);
    switch (trip.kind) {
    case Trip::Kind::Constant:
      return builder.constant(trip.constant);
    case Trip::Kind::Value:
      return builder.value(symbol, trip.min, trip.max);
    case Trip::Kind::Guard:
      return builder.guard(symbol);
    case Trip::Kind::Formula:
      return builder.formula(asCalledNow(trip.symbol, parseFormula, formulaText), trip.min,
                             trip.max);
    }
    return {};
  }

  void addInstr(const DraftNode &node) {
    const Instr &instr = old.instrs[node.instr];
    instrOf[node.instr] = builder.instr(old.text(instr.name), queueOf[node.queue],
                                        textOf(instr.operation), instr.where);
    for (QueueId other : old.otherQueues(node.instr)) {
      if (queueOf[other].valid() && other != node.queue) {
        builder.orOn(queueOf[other]);
      }
    }
    builder.computes(textOf(instr.computes));
    for (const LoadedValue &loaded : old.loadsOf(node.instr)) {
      builder.loads(textOf(loaded.value));
    }
    for (AccessId id : instr.accesses) {
      if (draft.touches[id]) {
        const Access &access = old.accesses[id];
        builder.access(access.kind, bufferOf[access.buffer],
                       asCalledNow(access.text, parseAccess,
                                   [](const ParsedAccess &tile) { return toString(tile); }));
      }
    }
  }

  void addDep(const DraftDep &draftDep) {
    const Dep &dep = draftDep.dep;
    InstrId producer = instrOf[dep.producer];
    InstrId consumer = instrOf[dep.consumer];
    if (!producer.valid() || !consumer.valid()) {
      return;
    }
    std::vector<DistanceComponent> components;
    for (const DistanceComponent &component : draftDep.components) {
      if (loopOf[component.loop].valid()) {
        components.push_back({loopOf[component.loop], component.distance});
      }
    }
    DepId id = dep.form == DistanceForm::Vector
                   ? builder.depVector(producer, consumer, components, dep.kind)
               : dep.form == DistanceForm::Flat
                   ? builder.depFlat(producer, consumer, dep.step, dep.kind)
               : dep.table.valid()
                   ? builder.depTable(producer, consumer, tableOf(dep), components, dep.kind)
                   : builder.depElement(producer, consumer, dep.step, components, dep.kind);
    if (dep.allowDivergent) {
      builder.allowDivergent(id);
    }
  }

  RunTable tableOf(const Dep &dep) const {
    RunTable table = old.tables[dep.table];
    table.over = table.over.valid() ? loopOf[table.over] : LoopId();
    return table;
  }

  const Kernel &old;
  const Draft &draft;
  KernelBuilder builder;
  IdVector<QueueId, QueueId> queueOf;
  IdVector<LoopId, LoopId> loopOf;
  IdVector<InstrId, InstrId> instrOf;
  IdVector<BufferId, BufferId> bufferOf;
  std::vector<std::pair<std::string_view, std::string>> renamed; ///< loops around, from and to
};

} // namespace

Kernel built(const Kernel &kernel, const Draft &draft) {
  return Rebuilder(kernel, draft).build();
}

} // namespace tally
