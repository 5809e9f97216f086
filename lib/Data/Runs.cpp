//===- Runs.cpp - Every run of every instruction, one after the other -----===//

#include "tally/Data/Runs.h"

#include "tally/Model/Place.h"
#include "tally/Run/KernelCursor.h"

#include <fmt/format.h>

namespace tally {

void checkSequential(const Kernel &kernel, Diagnostics &diagnostics) {
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
    bool isZero = dep.table.valid()                  ? placeOf(kernel, dep).offset == 0
                  : dep.form == DistanceForm::Vector ? dep.numComponents == 0
                                                     : dep.step == 0;
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
    : kernel(kernel), known(bindings.values().begin(), bindings.values().end()),
      counts(kernel.instrs.size(), 0), indicesOf(kernel.instrs.size()) {
  checkSequential(kernel, diagnostics);
  if (!diagnostics.hasErrors() && !walk(bindings, maxRuns)) {
    diagnostics.error(kernel.where,
                      fmt::format("kernel '{}' runs more than {} instructions and iterations, too "
                                  "many to follow their data; bind smaller trips",
                                  kernel.text(kernel.name), maxRuns));
  }
}

bool Runs::walk(const Bindings &bindings, Fuel fuel) {
  using Stop = KernelCursor::Stop;
  KernelCursor cursor(kernel, bindings, EngineId(), fuel);
  for (Stop at = cursor.next(); at != Stop::End; at = cursor.next()) {
    if (at == Stop::Instr) {
      InstrId id = cursor.instr();
      inOrder.push_back({id, counts[id]++});
      cursor.forIndices([&](const LoopIndex &index) { indicesOf[id].push_back(index); });
    }
  }
  return !cursor.isCutOff();
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
