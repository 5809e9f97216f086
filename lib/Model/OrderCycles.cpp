//===- OrderCycles.cpp - Dependences that wait for one another ------------===//
//
// Inside one block, an instruction issues after those before it on its own
// engine and after the producers of its distance-0 dependences. A cycle of
// these can never be started:
//
//   act: c2, p1       dep "p1" -> "c1"      c1 after p1 after c2 after p2 after c1
//   dma: c1, p2       dep "p2" -> "c2"
//
// Steps:  1. graph   an edge for each dependence, one to the next of the engine
//         2. peel    take away, again and again, what waits for nothing; the
//                    rest is empty in almost every kernel
//         3. knots   strongly connected parts of the rest (Tarjan, iterative)
//         4. report  a shortest cycle through the first dependence of each knot
// Each step is linear in instructions + dependences.
//
//===----------------------------------------------------------------------===//

#include "OrderCycles.h"

#include <fmt/format.h>

#include <algorithm>

namespace tally {

namespace {

class OrderGraph {
public:
  OrderGraph(const Kernel &kernel, const std::vector<DepId> &deps);

  void report(Diagnostics &diagnostics);

private:
  /// Runs `visit(successor, dependence)`; the dependence is none for engine order.
  template <typename Visit> void forSuccessors(InstrId instr, Visit visit) const {
    for (uint32_t e = firstEdge[instr.value]; e < firstEdge[instr.value + 1]; ++e) {
      visit(kernel.deps[edges[e]].consumer, edges[e]);
    }
    if (next[instr].valid()) {
      visit(next[instr], DepId());
    }
  }

  /// The e-th successor of `instr`, none past the end.
  InstrId successor(InstrId instr, uint32_t e) const {
    uint32_t count = firstEdge[instr.value + 1] - firstEdge[instr.value];
    return e < count    ? kernel.deps[edges[firstEdge[instr.value] + e]].consumer
           : e == count ? next[instr]
                        : InstrId();
  }

  void linkEngines();
  void linkDeps();
  bool peel();
  void findKnots();
  void visitFrom(InstrId root);
  void closeKnot(InstrId root);
  void reportKnot(DepId first, Diagnostics &diagnostics);
  void noteHops(InstrId from, InstrId to, Diagnostic &error) const;

  static constexpr uint32_t unseen = UINT32_MAX;

  const Kernel &kernel;
  const std::vector<DepId> &deps;  ///< in order of the text
  std::vector<uint32_t> firstEdge; ///< by producer, into edges
  std::vector<DepId> edges;
  IdVector<InstrId, InstrId> next;  ///< on the same engine; steps out of a block close no cycle
  IdVector<InstrId, uint32_t> open; ///< predecessors not yet peeled; 0: peeled
  // Tarjan: order of discovery, earliest reachable, and the knot once closed.
  IdVector<InstrId, uint32_t> index;
  IdVector<InstrId, uint32_t> low;
  IdVector<InstrId, uint32_t> knot;
  std::vector<InstrId> stack;
  uint32_t numIndices = 0;
  uint32_t numKnots = 0;
  // Search of step 4: how each instruction was reached.
  IdVector<InstrId, InstrId> cameFrom;
  IdVector<InstrId, DepId> cameBy;
};

OrderGraph::OrderGraph(const Kernel &kernel, const std::vector<DepId> &deps)
    : kernel(kernel), deps(deps) {
  size_t n = kernel.instrs.size();
  next.assign(n, {});
  open.assign(n, 0);
  linkEngines();
  linkDeps();
}

void OrderGraph::linkEngines() {
  IdVector<EngineId, InstrId> last(kernel.engines.size());
  for (InstrId i : kernel.instrs.ids()) {
    InstrId &before = last[kernel.engineOf(i)];
    if (before.valid()) {
      next[before] = i;
      ++open[i];
    }
    before = i;
  }
}

void OrderGraph::linkDeps() {
  firstEdge.assign(kernel.instrs.size() + 2, 0);
  for (DepId d : deps) {
    ++firstEdge[kernel.deps[d].producer.value + 2];
    ++open[kernel.deps[d].consumer];
  }
  for (size_t i = 2; i < firstEdge.size(); ++i) {
    firstEdge[i] += firstEdge[i - 1];
  }
  edges.resize(deps.size());
  for (DepId d : deps) {
    edges[firstEdge[kernel.deps[d].producer.value + 1]++] = d;
  }
}

/// Whether anything is left.
bool OrderGraph::peel() {
  std::vector<InstrId> ready;
  for (InstrId i : kernel.instrs.ids()) {
    if (open[i] == 0) {
      ready.push_back(i);
    }
  }
  size_t numPeeled = 0;
  while (!ready.empty()) {
    InstrId i = ready.back();
    ready.pop_back();
    ++numPeeled;
    forSuccessors(i, [&](InstrId s, DepId) {
      if (--open[s] == 0) {
        ready.push_back(s);
      }
    });
  }
  return numPeeled < kernel.instrs.size();
}

void OrderGraph::findKnots() {
  size_t n = kernel.instrs.size();
  index.assign(n, unseen);
  low.assign(n, unseen);
  knot.assign(n, unseen);
  for (InstrId i : kernel.instrs.ids()) {
    if (open[i] != 0 && index[i] == unseen) {
      visitFrom(i);
    }
  }
}

void OrderGraph::visitFrom(InstrId root) {
  struct Frame {
    InstrId instr;
    uint32_t edge;
  };

  std::vector<Frame> frames;
  auto enter = [&](InstrId i) {
    index[i] = low[i] = numIndices++;
    stack.push_back(i);
    frames.push_back({i, 0});
  };
  enter(root);
  while (!frames.empty()) {
    InstrId instr = frames.back().instr;
    InstrId s = successor(instr, frames.back().edge++);
    if (!s.valid()) {
      if (low[instr] == index[instr]) {
        closeKnot(instr);
      }
      frames.pop_back();
      if (!frames.empty()) {
        InstrId parent = frames.back().instr;
        low[parent] = std::min(low[parent], low[instr]);
      }
    } else if (index[s] == unseen) {
      enter(s);
    } else if (knot[s] == unseen) {
      low[instr] = std::min(low[instr], index[s]);
    }
  }
}

void OrderGraph::closeKnot(InstrId root) {
  InstrId member;
  do {
    member = stack.back();
    stack.pop_back();
    knot[member] = numKnots;
  } while (member != root);
  ++numKnots;
}

/// Shortest way from the consumer of `first` back to its producer inside the knot.
void OrderGraph::reportKnot(DepId first, Diagnostics &diagnostics) {
  const Dep &dep = kernel.deps[first];
  std::vector<InstrId> queue = {dep.consumer};
  for (size_t head = 0; head < queue.size() && !cameFrom[dep.producer].valid(); ++head) {
    InstrId i = queue[head];
    forSuccessors(i, [&](InstrId s, DepId by) {
      if (knot[s] == knot[i] && s != dep.consumer && !cameFrom[s].valid()) {
        cameFrom[s] = i;
        cameBy[s] = by;
        queue.push_back(s);
      }
    });
  }
  Diagnostic &error = diagnostics.error(
      dep.where,
      fmt::format("'{0}' waits for '{1}' at distance 0, but '{1}' cannot run before '{0}': "
                  "dependences and the order of the engines form a cycle; give one of the "
                  "dependences a distance of at least 1 on a loop around them, or reorder",
                  kernel.nameOf(dep.consumer), kernel.nameOf(dep.producer)));
  noteHops(dep.consumer, dep.producer, error);
}

/// A note for each hop from `from` to `to`, last first, as the error names `to` as the one that
/// cannot run; steps along one engine count as one hop.
void OrderGraph::noteHops(InstrId from, InstrId to, Diagnostic &error) const {
  while (to != from) {
    InstrId before = cameFrom[to];
    if (cameBy[to].valid()) {
      error.note(kernel.deps[cameBy[to]].where,
                 fmt::format("'{}' waits for '{}'", kernel.nameOf(to), kernel.nameOf(before)));
    } else {
      while (before != from && !cameBy[before].valid()) {
        before = cameFrom[before];
      }
      error.note(kernel.instrs[to].where,
                 fmt::format("'{}' comes after '{}' on engine '{}'", kernel.nameOf(to),
                             kernel.nameOf(before), kernel.nameOf(kernel.engineOf(to))));
    }
    to = before;
  }
}

void OrderGraph::report(Diagnostics &diagnostics) {
  if (!peel()) {
    return;
  }
  findKnots();
  cameFrom.assign(kernel.instrs.size(), {});
  cameBy.assign(kernel.instrs.size(), {});
  std::vector<bool> reported(numKnots, false);
  for (DepId d : deps) {
    uint32_t k = knot[kernel.deps[d].producer];
    if (k != unseen && k == knot[kernel.deps[d].consumer] && !reported[k]) {
      reported[k] = true;
      reportKnot(d, diagnostics);
    }
  }
}

} // namespace

void reportOrderCycles(const Kernel &kernel, const std::vector<DepId> &deps,
                       Diagnostics &diagnostics) {
  OrderGraph(kernel, deps).report(diagnostics);
}

} // namespace tally
