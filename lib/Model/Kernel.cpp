//===- Kernel.cpp - Questions to the loop tree, and the dump --------------===//

#include "tally/Model/Kernel.h"

#include "tally/Model/Regions.h"

#include <fmt/format.h>

#include <iterator>

namespace tally {

int64_t Kernel::distanceOn(const Dep &dep, LoopId loop) const {
  for (const DistanceComponent *c = componentsBegin(dep); c != componentsEnd(dep); ++c) {
    if (c->loop == loop) {
      return c->distance;
    }
  }
  return 0;
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

std::string_view toString(DepKind kind) {
  switch (kind) {
  case DepKind::Unspecified:
    return "";
  case DepKind::RAW:
    return "raw";
  case DepKind::WAR:
    return "war";
  case DepKind::WAW:
    return "waw";
  }
  return "";
}

//===----------------------------------------------------------------------===//
// Dump
//===----------------------------------------------------------------------===//

namespace {

/// Prints the tree with two blanks of indentation a level.
class Dumper {
public:
  explicit Dumper(const Kernel &kernel) : kernel(kernel) {}

  std::string run() {
    line(0, "kernel '{}'", kernel.text(kernel.name));
    for (QueueId q : kernel.queues.ids()) {
      const Queue &queue = kernel.queues[q];
      line(1, "queue '{}' of '{}' weight {}", kernel.nameOf(q), kernel.nameOf(queue.engine),
           queue.weight);
    }
    body(rootLoop, 1);
    for (DepId d : kernel.deps.ids()) {
      dependence(d);
    }
    return std::move(text);
  }

private:
  template <typename... Args>
  void line(size_t level, fmt::format_string<Args...> format, Args &&...args) {
    text.append(2 * level, ' ');
    fmt::format_to(std::back_inserter(text), format, std::forward<Args>(args)...);
    text += '\n';
  }

  std::string tripText(const Loop &loop) const {
    switch (loop.trip.kind) {
    case Trip::Kind::Constant:
      return fmt::format("{}", loop.trip.constant);
    case Trip::Kind::Value:
      return fmt::format("'{}'", kernel.text(loop.trip.symbol));
    case Trip::Kind::Guard:
      return "guard";
    }
    return "";
  }

  void body(LoopId loop, unsigned level) {
    for (StmtId s : kernel.loops[loop].body) {
      statement(kernel.stmts[s], level);
    }
  }

  void statement(const Stmt &stmt, unsigned level) {
    if (stmt.kind == Stmt::Kind::Block) {
      for (InstrId i : stmt.instrs) {
        line(level, "{} '{}' on '{}'", i.value, kernel.nameOf(i),
             kernel.nameOf(kernel.instrs[i].queue));
      }
      return;
    }
    nested(stmt.loop, level);
    if (stmt.kind == Stmt::Kind::If) {
      nested(kernel.loops[stmt.loop].otherBranch, level);
    }
  }

  void nested(LoopId id, unsigned level) {
    const Loop &loop = kernel.loops[id];
    std::string unroll = loop.unroll == 1               ? ""
                         : loop.unroll == fullyUnrolled ? " unroll full"
                                                        : fmt::format(" unroll {}", loop.unroll);
    std::string sync =
        loop.sync == RegionSync::AsAround ? "" : fmt::format(" sync {}", toString(loop.sync));
    line(level, "{} '{}' trips {}{}{}{}", loop.isBranch() ? "branch" : "loop", kernel.nameOf(id),
         tripText(loop), loop.uniform ? "" : " divergent", unroll, sync);
    body(id, level + 1);
  }

  void dependence(DepId id) {
    const Dep &dep = kernel.deps[id];
    std::string distance;
    if (dep.form != DistanceForm::Vector) {
      distance =
          fmt::format(" {} {}", dep.form == DistanceForm::Flat ? "flat" : "element", dep.step);
    }
    for (const DistanceComponent *c = kernel.componentsBegin(dep); c != kernel.componentsEnd(dep);
         ++c) {
      distance += fmt::format(" {}={}", kernel.nameOf(c->loop), c->distance);
    }
    line(1, "dep {} '{}' -> '{}'{}{}", id.value, kernel.nameOf(dep.producer),
         kernel.nameOf(dep.consumer), distance, dep.allowDivergent ? " allow_divergent" : "");
  }

  const Kernel &kernel;
  std::string text;
};

} // namespace

std::string dump(const Kernel &kernel) {
  return Dumper(kernel).run();
}

std::string describe(const Kernel &kernel, DepId id) {
  const Dep &dep = kernel.deps[id];
  std::string text =
      fmt::format("'{}' -> '{}'", kernel.nameOf(dep.producer), kernel.nameOf(dep.consumer));
  if (dep.form != DistanceForm::Vector) {
    text += fmt::format(" {} {}", dep.form == DistanceForm::Flat ? "flat" : "element", dep.step);
  }
  std::string_view separator = " at ";
  for (const DistanceComponent *c = kernel.componentsBegin(dep); c != kernel.componentsEnd(dep);
       ++c) {
    text += fmt::format("{}'{}' = {}", separator, kernel.nameOf(c->loop), c->distance);
    separator = ", ";
  }
  return text;
}

} // namespace tally
