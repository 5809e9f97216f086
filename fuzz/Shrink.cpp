//===- Shrink.cpp - The smallest kernel that still shows it ---------------===//
//
// A kernel is never edited. It is turned into a draft, a tree of nodes that name what they were in
// the original; an edit changes the draft, and a kernel is built of what is left. The
// edits of a draft are numbered by walking it, so that "try number n" needs no list.
//
//===----------------------------------------------------------------------===//

#include "Shrink.h"

#include "tally/Model/Check.h"
#include "tally/Model/KernelBuilder.h"

#include <algorithm>

namespace tally::fuzz {

namespace {

/// An instruction, a loop, or an `if` with two bodies.
struct Node {
  InstrId instr; ///< none for loops and `if`s
  LoopId loop;   ///< the loop, or the then-branch
  Trip trip;
  bool uniform = true;
  RegionSync sync = RegionSync::AsAround;
  uint32_t unroll = 1;
  QueueId queue; ///< of the instruction
  std::vector<Node> body;
  std::vector<Node> elseBody;
};

struct DepDraft {
  Dep dep; ///< ends, kind, form, step; the components are beside it
  std::vector<DistanceComponent> components;
};

struct Draft {
  std::vector<Node> body;
  std::vector<DepDraft> deps;
  std::vector<uint32_t> reserved;                      ///< semaphores
  IdVector<EngineId, std::vector<uint32_t>> registers; ///< reserved
  std::vector<Pin> pins;
  IdVector<AccessId, bool> touches; ///< accesses that are left
  IdVector<QueueId, uint32_t> weights;
  IdVector<QueueId, Completion> completions;
};

} // namespace

//===----------------------------------------------------------------------===//
// Kernel to draft
//===----------------------------------------------------------------------===//

static std::vector<Node> nodesOf(const Kernel &kernel, LoopId body) {
  std::vector<Node> nodes;
  for (StmtId id : kernel.loops[body].body) {
    const Stmt &stmt = kernel.stmts[id];
    for (InstrId instr : stmt.instrs) {
      Node node;
      node.instr = instr;
      node.queue = kernel.instrs[instr].queue;
      nodes.push_back(std::move(node));
    }
    if (stmt.kind == Stmt::Kind::Block) {
      continue;
    }
    const Loop &loop = kernel.loops[stmt.loop];
    Node node;
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

static Draft draftOf(const Kernel &kernel) {
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
      : old(old), draft(draft), builder(old.text(old.name)), queueOf(old.queues.size()),
        loopOf(old.loops.size()), instrOf(old.instrs.size()), bufferOf(old.buffers.size()) {}

  Kernel build() {
    addQueues();
    declareValues();
    addBuffers();
    addBody(draft.body);
    for (const DepDraft &dep : draft.deps) {
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
  void markUsed(const std::vector<Node> &nodes, IdVector<QueueId, bool> &used) const {
    for (const Node &node : nodes) {
      if (node.queue.valid()) {
        used[node.queue] = true;
      }
      markUsed(node.body, used);
      markUsed(node.elseBody, used);
    }
  }

  /// Only engines and queues that still have instructions; an engine always has its own queue.
  void addQueues() {
    IdVector<QueueId, bool> used(old.queues.size(), false);
    markUsed(draft.body, used);
    for (const Engine &engine : old.engines) {
      bool any = false;
      for (QueueId queue : engine.queues) {
        any |= used[queue];
      }
      if (any) {
        addEngine(engine, used);
      }
    }
  }

  void addEngine(const Engine &engine, const IdVector<QueueId, bool> &used) {
    EngineId id = builder.engine(old.text(engine.name));
    EngineId was = old.queues[engine.queues[0]].engine;
    builder.reserveRegisters(id, draft.registers[was]);
    QueueId own = engine.queues[0];
    queueOf[own] = builder.queueOf(id);
    builder.setQueue(queueOf[own], draft.weights[own], draft.completions[own]);
    for (QueueId queue : engine.queues) {
      if (queue != own && used[queue]) {
        queueOf[queue] =
            builder.queue(old.nameOf(queue), draft.weights[queue], draft.completions[queue]);
      }
    }
  }

  std::string_view textOf(NameId name) const { return name.valid() ? old.text(name) : ""; }

  /// Only buffers that are still touched.
  void declareValues() {
    for (const DeclaredValue &value : old.declaredValues) {
      builder.declareValue(textOf(value.name), value.min, value.max);
    }
  }

  void addBuffers() {
    IdVector<BufferId, bool> used(old.buffers.size(), false);
    for (AccessId id : old.accesses.ids()) {
      used[old.accesses[id].buffer] = used[old.accesses[id].buffer] || draft.touches[id];
    }
    for (BufferId id : old.buffers.ids()) {
      if (!used[id]) {
        continue;
      }
      const Buffer &buffer = old.buffers[id];
      bufferOf[id] = builder.buffer(old.text(buffer.name), buffer.shape, textOf(buffer.space),
                                    textOf(buffer.elementType), buffer.address);
      if (buffer.partitions) {
        builder.partitions(bufferOf[id], *buffer.partitions);
      }
      for (BufferId earlier : buffer.alias) {
        if (used[earlier]) {
          builder.alias(bufferOf[id], bufferOf[earlier]);
        }
      }
      for (BufferId earlier : buffer.noalias) {
        if (used[earlier]) {
          builder.noalias(bufferOf[id], bufferOf[earlier]);
        }
      }
    }
  }

  void addBody(const std::vector<Node> &nodes) {
    for (const Node &node : nodes) {
      if (node.instr.valid()) {
        addInstr(node);
      } else if (old.loops[node.loop].kind == LoopKind::Loop) {
        loopOf[node.loop] = builder.beginLoop(old.nameOf(node.loop), tripOf(node), node.uniform);
        builder.setSync(loopOf[node.loop], node.sync);
        builder.setUnroll(loopOf[node.loop], node.unroll);
        addBody(node.body);
        builder.endLoop();
      } else {
        addIf(node);
      }
    }
  }

  void addIf(const Node &node) {
    loopOf[node.loop] = builder.beginIf(old.nameOf(node.loop), node.uniform);
    builder.setSync(loopOf[node.loop], node.sync);
    builder.setCondition(loopOf[node.loop], textOf(node.trip.condition));
    addBody(node.body);
    if (!node.elseBody.empty()) {
      loopOf[old.loops[node.loop].otherBranch] = builder.beginElse();
      addBody(node.elseBody);
    }
    builder.endIf();
  }

  Trip tripOf(const Node &node) {
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
      return builder.formula(symbol, trip.min, trip.max);
    }
    return {};
  }

  void addInstr(const Node &node) {
    const Instr &instr = old.instrs[node.instr];
    instrOf[node.instr] =
        builder.instr(old.text(instr.name), queueOf[node.queue], textOf(instr.operation));
    builder.computes(textOf(instr.computes));
    for (AccessId id : instr.accesses) {
      if (draft.touches[id]) {
        const Access &access = old.accesses[id];
        builder.access(access.kind, bufferOf[access.buffer], old.text(access.text));
      }
    }
  }

  void addDep(const DepDraft &draftDep) {
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
};

//===----------------------------------------------------------------------===//
// Edits
//===----------------------------------------------------------------------===//

/// Makes edit number `number` of a draft. Large ones come first, and outer before inner.
class Editor {
public:
  Editor(const Kernel &kernel, Draft &draft, size_t number)
      : kernel(kernel), draft(draft), left(number) {}

  /// False if there are not so many edits.
  bool edit() {
    removeNodes(draft.body);
    openNodes(draft.body);
    removeFrom(draft.deps);
    removeFrom(draft.pins);
    removeFrom(draft.reserved);
    for (std::vector<uint32_t> &registers : draft.registers) {
      removeFrom(registers);
    }
    for (AccessId id : draft.touches.ids()) {
      if (draft.touches[id] && take()) {
        draft.touches[id] = false;
      }
    }
    simplifyNodes(draft.body);
    for (DepDraft &dep : draft.deps) {
      simplifyDep(dep);
    }
    for (uint32_t &weight : draft.weights) {
      set(weight, weight > 1, 1u);
      set(weight, weight > 3, weight / 2);
      set(weight, weight > 2, weight - 1);
    }
    for (Completion &completion : draft.completions) {
      set(completion, completion != Completion::Whole, Completion::Whole);
    }
    return done;
  }

private:
  /// Whether the edit that could be made here is the one to make.
  bool take() {
    if (done || left-- != 0) {
      return false;
    }
    done = true;
    return true;
  }

  template <typename T> void set(T &place, bool applies, T value) {
    if (applies && take()) {
      place = value;
    }
  }

  void removeNodes(std::vector<Node> &nodes) {
    for (size_t i = 0; i < nodes.size() && !done; ++i) {
      if (take()) {
        nodes.erase(nodes.begin() + static_cast<ptrdiff_t>(i));
        return;
      }
      removeNodes(nodes[i].body);
      removeNodes(nodes[i].elseBody);
    }
  }

  void openNodes(std::vector<Node> &nodes) {
    for (size_t i = 0; i < nodes.size() && !done; ++i) {
      if (!nodes[i].loop.valid()) {
        continue;
      }
      for (std::vector<Node> Node::*body : {&Node::body, &Node::elseBody}) {
        if (!(nodes[i].*body).empty() && take()) {
          replace(nodes, i, std::move(nodes[i].*body));
          return;
        }
      }
      openNodes(nodes[i].body);
      openNodes(nodes[i].elseBody);
    }
  }

  static void replace(std::vector<Node> &nodes, size_t at, std::vector<Node> by) {
    nodes.erase(nodes.begin() + static_cast<ptrdiff_t>(at));
    nodes.insert(nodes.begin() + static_cast<ptrdiff_t>(at), std::make_move_iterator(by.begin()),
                 std::make_move_iterator(by.end()));
  }

  template <typename T> void removeFrom(std::vector<T> &list) {
    for (size_t i = 0; i < list.size() && !done; ++i) {
      if (take()) {
        list.erase(list.begin() + static_cast<ptrdiff_t>(i));
        return;
      }
    }
  }

  void simplifyNodes(std::vector<Node> &nodes) {
    for (Node &node : nodes) {
      if (node.loop.valid()) {
        set(node.uniform, !node.uniform, true);
        set(node.sync, node.sync != RegionSync::AsAround, RegionSync::AsAround);
        set(node.unroll, node.unroll != 1, 1u);
        simplifyTrip(node);
        simplifyNodes(node.body);
        simplifyNodes(node.elseBody);
      } else {
        QueueId own = kernel.engines[kernel.queues[node.queue].engine].queues[0];
        set(node.queue, node.queue != own, own);
        QueueId first(0);
        set(node.queue, node.queue != first, first);
      }
    }
  }

  void simplifyTrip(Node &node) {
    Trip &trip = node.trip;
    if (kernel.loops[node.loop].kind != LoopKind::Loop) {
      return set(trip.condition, trip.condition.valid(), NameId());
    }
    if (trip.kind == Trip::Kind::Constant) {
      for (uint64_t smaller : {uint64_t(1), trip.constant / 2, trip.constant - 1}) {
        set(trip.constant, smaller < trip.constant && smaller > 0, smaller);
      }
      return;
    }
    for (uint64_t constant : {1, 2, 3, 4}) {
      set(trip, true, KernelBuilder::constant(constant));
    }
    if (trip.kind == Trip::Kind::Formula) {
      return; // its bounds follow
    }
    set(trip.min, trip.min > 0, uint64_t(0));
    set(trip.max, trip.max.has_value(), std::optional<uint64_t>());
  }

  void simplifyDep(DepDraft &dep) {
    for (size_t c = 0; c < dep.components.size() && !done; ++c) {
      if (take()) {
        dep.components.erase(dep.components.begin() + static_cast<ptrdiff_t>(c));
        return;
      }
      int64_t &distance = dep.components[c].distance;
      set(distance, distance > 3, distance / 2);
      set(distance, distance > 1, distance - 1);
      set(distance, distance < 0, distance + 1);
    }
    set(dep.dep.step, dep.dep.step > 3, dep.dep.step / 2);
    set(dep.dep.step, dep.dep.step > 0, dep.dep.step - 1);
    set(dep.dep.step, dep.dep.step < 0, dep.dep.step + 1);
    bool plain = dep.dep.form == DistanceForm::Vector;
    if (!plain && take()) {
      dep.dep.form = DistanceForm::Vector;
      dep.dep.step = 0;
    }
    set(dep.dep.allowDivergent, dep.dep.allowDivergent, false);
    set(dep.dep.kind, dep.dep.kind != DepKind::Unspecified, DepKind::Unspecified);
  }

  const Kernel &kernel;
  Draft &draft;
  size_t left;
  bool done = false;
};

} // namespace

static bool isLegal(const Kernel &kernel) {
  Diagnostics diagnostics;
  check(kernel, diagnostics);
  return !diagnostics.hasErrors();
}

Kernel shrink(const Kernel &kernel, const Fails &fails, uint32_t maxQuestions) {
  Draft best = draftOf(kernel);
  bool shrunk = false;
  for (bool again = true; again && maxQuestions > 0;) {
    again = false;
    for (size_t number = 0; maxQuestions > 0;) {
      Draft smaller = best;
      if (!Editor(kernel, smaller, number).edit()) {
        break;
      }
      Kernel candidate = Rebuilder(kernel, smaller).build();
      if (!candidate.instrs.empty() && isLegal(candidate) && (--maxQuestions, fails(candidate))) {
        best = std::move(smaller);
        again = shrunk = true; // what was behind this edit now has its number
      } else {
        ++number;
      }
    }
  }
  return shrunk ? Rebuilder(kernel, best).build() : kernel;
}

} // namespace tally::fuzz
