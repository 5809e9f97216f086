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
//         2. knots   strongly connected parts (Tarjan, iterative)
//         3. report  a shortest cycle through the first dependence of each knot of several
// Linear in instructions + dependences, except for the sorting of edges. Few kernels come here: one
// of the dependences must go against the order of the text.
//
//===----------------------------------------------------------------------===//

#include "OrderCycles.h"

#include "../Support/Report.h"

#include <algorithm>
#include <numeric>
#include <span>

namespace tally::model {

namespace {

class OrderGraph {
public:
  OrderGraph(const Kernel &kernel, const std::vector<DepId> &deps);

  void report(Diagnostics &diagnostics);

private:
  struct Edge {
    InstrId from, to;
    DepId by; ///< none: the order of the engine
  };

  std::span<const Edge> successors(InstrId instr) const {
    return std::span(edges).subspan(firstEdge[instr.value],
                                    firstEdge[instr.value + 1] - firstEdge[instr.value]);
  }

  void findKnots(InstrId root);
  void closeKnot(InstrId root);
  void reportKnot(DepId first, Diagnostics &diagnostics);
  void noteHops(InstrId from, InstrId to, Diagnostic &error) const;

  static constexpr uint32_t unseen = UINT32_MAX;

  const Kernel &kernel;
  const std::vector<DepId> &deps; ///< in order of the text
  std::vector<Edge> edges;
  std::vector<size_t> firstEdge; ///< by instruction
  // Tarjan: order of discovery, earliest reachable, and the knot once closed.
  IdVector<InstrId, uint32_t> index;
  IdVector<InstrId, uint32_t> low;
  IdVector<InstrId, uint32_t> knot;
  std::vector<InstrId> stack;
  uint32_t numIndices = 0;
  uint32_t numKnots = 0;
  /// Search of step 3: how each instruction was reached.
  IdVector<InstrId, Edge> cameBy;
};

/// Steps out of a block close no cycle, so the next of an engine may stand anywhere.
OrderGraph::OrderGraph(const Kernel &kernel, const std::vector<DepId> &deps)
    : kernel(kernel), deps(deps), firstEdge(kernel.instrs.size() + 1),
      index(kernel.instrs.size(), unseen), low(kernel.instrs.size(), unseen),
      knot(kernel.instrs.size(), unseen), cameBy(kernel.instrs.size()) {
  for (DepId d : deps) {
    edges.push_back({kernel.deps[d].producer, kernel.deps[d].consumer, d});
  }
  IdVector<EngineId, InstrId> last(kernel.engines.size());
  for (InstrId i : kernel.instrs.ids()) {
    InstrId &before = last[kernel.engineOf(i)];
    if (before.valid()) {
      edges.push_back({before, i, {}});
    }
    before = i;
  }
  std::ranges::stable_sort(edges, {}, &Edge::from);
  for (const Edge &edge : edges) {
    ++firstEdge[edge.from.value + 1];
  }
  std::partial_sum(firstEdge.begin(), firstEdge.end(), firstEdge.begin());
}

void OrderGraph::findKnots(InstrId root) {
  struct Frame {
    InstrId instr;
    size_t edge;
  };

  std::vector<Frame> frames;
  auto enter = [&](InstrId i) {
    index[i] = low[i] = numIndices++;
    stack.push_back(i);
    frames.push_back({i, 0});
  };
  enter(root);
  while (!frames.empty()) {
    auto &[instr, edge] = frames.back();
    if (edge < successors(instr).size()) {
      InstrId s = successors(instr)[edge++].to;
      if (index[s] == unseen) {
        enter(s);
      } else if (knot[s] == unseen) {
        low[instr] = std::min(low[instr], index[s]);
      }
      continue;
    }
    if (low[instr] == index[instr]) {
      closeKnot(instr);
    }
    uint32_t lowest = low[instr];
    frames.pop_back();
    if (!frames.empty()) {
      uint32_t &around = low[frames.back().instr];
      around = std::min(around, lowest);
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
  for (size_t head = 0; head < queue.size() && !cameBy[dep.producer].to.valid(); ++head) {
    for (const Edge &edge : successors(queue[head])) {
      if (knot[edge.to] == knot[edge.from] && edge.to != dep.consumer &&
          !cameBy[edge.to].to.valid()) {
        cameBy[edge.to] = edge;
        queue.push_back(edge.to);
      }
    }
  }
  Diagnostic &error = tally::report(
      diagnostics, dep.where,
      "'{0}' waits for '{1}' at distance 0, but '{1}' cannot run before '{0}': dependences "
      "and the order of the engines form a cycle; give one dependence a distance of "
      "at least 1 on a loop around them, or reorder",
      kernel.nameOf(dep.consumer), kernel.nameOf(dep.producer));
  noteHops(dep.consumer, dep.producer, error);
}

/// A note for each hop from `from` to `to`, last first, as the error names `to` as the one that
/// cannot run; steps along one engine count as one hop.
void OrderGraph::noteHops(InstrId from, InstrId to, Diagnostic &error) const {
  while (to != from) {
    auto [before, reached, by] = cameBy[to];
    if (by.valid()) {
      error.note(kernel.deps[by].where,
                 fmt::format("'{}' waits for '{}'", kernel.nameOf(to), kernel.nameOf(before)));
    } else {
      while (before != from && !cameBy[before].by.valid()) {
        before = cameBy[before].from;
      }
      error.note(kernel.instrs[to].where,
                 fmt::format("'{}' comes after '{}' on engine '{}'", kernel.nameOf(to),
                             kernel.nameOf(before), kernel.nameOf(kernel.engineOf(to))));
    }
    to = before;
  }
}

void OrderGraph::report(Diagnostics &diagnostics) {
  for (InstrId i : kernel.instrs.ids()) {
    if (index[i] == unseen) {
      findKnots(i);
    }
  }
  std::vector<bool> reported(numKnots, false);
  for (DepId d : deps) {
    uint32_t k = knot[kernel.deps[d].producer];
    if (k == knot[kernel.deps[d].consumer] && !reported[k]) {
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

} // namespace tally::model
