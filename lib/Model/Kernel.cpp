//===- Kernel.cpp - Questions to the loop tree ----------------------------===//

#include "tally/Model/Kernel.h"

#include <fmt/format.h>

namespace tally {

RunValueId Kernel::valueNamed(std::string_view wanted) const {
  auto found = std::ranges::find_if(
      values, [&](const RunValue &value) { return text(value.name) == wanted; });
  return found == values.end() ? RunValueId()
                               : RunValueId(static_cast<uint32_t>(found - values.begin()));
}

std::span<const LoadedValue> Kernel::loadsOf(InstrId id) const {
  auto found = std::ranges::equal_range(loads, id, {}, &LoadedValue::instr);
  return {found.begin(), found.end()};
}

std::span<const QueueId> Kernel::otherQueues(InstrId id) const {
  auto found = std::ranges::lower_bound(openQueues, id, {}, &OpenQueues::instr);
  return found == openQueues.end() || found->instr != id ? std::span<const QueueId>()
                                                         : std::span(found->others);
}

int64_t Kernel::distanceOn(const Dep &dep, LoopId loop) const {
  std::span<const DistanceComponent> all = componentsOf(dep);
  auto found = std::ranges::find(all, loop, &DistanceComponent::loop);
  return found == all.end() ? 0 : found->distance;
}

LoopId Kernel::commonLoop(LoopId a, LoopId b) const {
  while (loops[a].depth > loops[b].depth) {
    a = loops[a].parent;
  }
  while (loops[b].depth > loops[a].depth) {
    b = loops[b].parent;
  }
  while (a != b) {
    a = loops[a].parent;
    b = loops[b].parent;
  }
  return a;
}

LoopId Kernel::sharedBody(const Dep &dep) const {
  LoopId producer = instrs[dep.producer].home, consumer = instrs[dep.consumer].home;
  if (dep.table.valid() && tables[dep.table].over.valid()) {
    return loops[tables[dep.table].over].parent;
  }
  return dep.table.valid() && producer == consumer && producer != rootLoop
             ? loops[producer].parent
             : commonLoop(producer, consumer);
}

bool Kernel::encloses(LoopId outer, LoopId inner) const {
  while (loops[inner].depth > loops[outer].depth) {
    inner = loops[inner].parent;
  }
  return inner == outer;
}

LoopId Kernel::childTowards(LoopId ancestor, LoopId inner) const {
  LoopId child;
  while (inner != ancestor) {
    child = inner;
    inner = loops[inner].parent;
  }
  return child;
}

StmtId Kernel::stmtTowards(LoopId ancestor, InstrId instr) const {
  LoopId child = childTowards(ancestor, instrs[instr].home);
  return child.valid() ? loops[child].stmt : instrs[instr].block;
}

LoopId Kernel::realLoop(LoopId loop) const {
  while (loops[loop].isBranch()) {
    loop = loops[loop].parent;
  }
  return loop;
}

std::vector<LoopId> Kernel::realLoops(LoopId inner, LoopId outer) const {
  std::vector<LoopId> found;
  for (LoopId l = inner; l != outer; l = loops[l].parent) {
    if (loops[l].kind == LoopKind::Loop) {
      found.push_back(l);
    }
  }
  std::ranges::reverse(found);
  return found;
}

std::string distanceText(const Kernel &kernel, const Dep &dep,
                         std::span<const DistanceComponent> components,
                         const IdVector<RunTableId, RunTable> &tables) {
  std::string text;
  if (dep.form != DistanceForm::Vector) {
    std::string step =
        dep.table.valid() ? toString(tables[dep.table]) : fmt::format("{}", dep.step);
    text += fmt::format(" {} {}", toString(dep.form), step);
    if (dep.table.valid() && tables[dep.table].over.valid()) {
      text += fmt::format(" over '{}'", kernel.nameOf(tables[dep.table].over));
    }
  }
  std::string_view separator = " at ";
  for (const DistanceComponent &c : components) {
    // As far as trips can go stands for any number of them.
    bool isAny = c.distance <= -int64_t(maxCount - 1);
    text += isAny ? fmt::format("{}all of '{}'", separator, kernel.nameOf(c.loop))
                  : fmt::format("{}'{}' = {}", separator, kernel.nameOf(c.loop), c.distance);
    separator = ", ";
  }
  return text;
}

std::string describe(const Kernel &kernel, DepId id) {
  const Dep &dep = kernel.deps[id];
  return fmt::format("'{}' -> '{}'{}", kernel.nameOf(dep.producer), kernel.nameOf(dep.consumer),
                     distanceText(kernel, dep, kernel.componentsOf(dep), kernel.tables));
}

} // namespace tally
