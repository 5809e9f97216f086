//===- Runs.cpp - Every run of every instruction, one after the other -----===//

#include "tally/Data/Runs.h"

#include <fmt/format.h>

namespace tally {

class Runs::Walk {
public:
  Walk(Runs &runs, const Bindings &bindings, uint64_t fuel)
      : runs(runs), kernel(runs.kernel), bindings(bindings), fuel(fuel),
        reached(kernel.loops.size(), 0), entered(kernel.loops.size(), 0) {}

  /// Whether the fuel sufficed.
  bool run() {
    body(rootLoop);
    return fuel != 0;
  }

private:
  void body(LoopId loop) {
    for (StmtId id : kernel.loops[loop].body) {
      const Stmt &stmt = kernel.stmts[id];
      if (stmt.kind == Stmt::Kind::Block) {
        block(stmt);
        continue;
      }
      repeat(stmt.loop);
      if (stmt.kind == Stmt::Kind::If) {
        repeat(kernel.loops[stmt.loop].otherBranch);
      }
    }
  }

  void repeat(LoopId loop) {
    uint64_t trips = bindings.trips(EngineId(0), loop, ++reached[loop]);
    for (uint64_t i = 0; i < trips && fuel != 0; ++i) {
      --fuel;
      active.push_back({static_cast<int64_t>(i), entered[loop]++, static_cast<int64_t>(trips)});
      body(loop);
      active.pop_back();
    }
  }

  void block(const Stmt &stmt) {
    for (InstrId id : stmt.instrs) {
      if (fuel == 0) {
        return;
      }
      --fuel;
      runs.inOrder.push_back({id, runs.counts[id]++});
      std::vector<LoopIndex> &indices = runs.indicesOf[id];
      indices.insert(indices.end(), active.begin(), active.end());
    }
  }

  Runs &runs;
  const Kernel &kernel;
  const Bindings &bindings;
  uint64_t fuel;
  IdVector<LoopId, uint64_t> reached;
  IdVector<LoopId, int64_t> entered;
  std::vector<LoopIndex> active;
};

/// Loops and dependences that leave open what the sequential run is.
static void checkOrder(const Kernel &kernel, Diagnostics &diagnostics) {
  for (const Loop &loop : kernel.loops) {
    if (!loop.uniform) {
      diagnostics.error(loop.where,
                        fmt::format("engines may disagree how often '{}' runs, so there is no "
                                    "sequential run whose data could be compared; make it uniform",
                                    kernel.text(loop.name)));
    }
  }
  for (const Dep &dep : kernel.deps) {
    bool sameBlock = kernel.instrs[dep.producer].block == kernel.instrs[dep.consumer].block;
    bool isZero = dep.form == DistanceForm::Vector ? dep.numComponents == 0 : dep.step == 0;
    if (sameBlock && isZero && dep.consumer < dep.producer) {
      diagnostics.error(dep.where,
                        fmt::format("'{}' needs '{}', which stands after it; the sequential run "
                                    "follows the text: write '{}' first",
                                    kernel.nameOf(dep.consumer), kernel.nameOf(dep.producer),
                                    kernel.nameOf(dep.producer)));
    }
  }
}

Runs::Runs(const Kernel &kernel, const Bindings &bindings, Diagnostics &diagnostics,
           uint64_t maxRuns)
    : kernel(kernel), counts(kernel.instrs.size(), 0), indicesOf(kernel.instrs.size()) {
  checkOrder(kernel, diagnostics);
  if (!diagnostics.hasErrors() && !Walk(*this, bindings, maxRuns).run()) {
    diagnostics.error(kernel.where,
                      fmt::format("kernel '{}' runs more than {} instructions and iterations, too "
                                  "many to follow their data; bind smaller trips",
                                  kernel.text(kernel.name), maxRuns));
  }
}

std::span<const LoopIndex> Runs::indices(Instance instance) const {
  size_t depth = kernel.loops[kernel.instrs[instance.instr].home].depth;
  return {indicesOf[instance.instr].data() + depth * instance.run, depth};
}

std::string iterationText(const Kernel &kernel, const Runs &runs, Instance instance) {
  std::span<const LoopIndex> indices = runs.indices(instance);
  std::vector<LoopIteration> around(indices.size());
  LoopId loop = kernel.instrs[instance.instr].home;
  for (size_t i = indices.size(); i-- > 0; loop = kernel.loops[loop].parent) {
    around[i] = {loop, static_cast<uint64_t>(indices[i].iteration)};
  }
  return iterationText(kernel, around);
}

} // namespace tally
