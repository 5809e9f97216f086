//===- CheckDeps.cpp - Are these legal dependences? -----------------------===//
//
// A table of the innermost divergent loop replaces every walk, so that all is linear in dependences
// (times the depth, where a loop must be found around an instruction).
//
// Of one dependence, all independent mistakes are reported, but none that only
// follows from another: where a component names a wrong loop, its sign says
// nothing.
//
//===----------------------------------------------------------------------===//

#include "CheckDeps.h"

#include "OrderCycles.h"
#include "tally/Model/Place.h"
#include "tally/Model/RunNumbers.h"

#include <fmt/format.h>

#include <algorithm>

namespace tally::model {

namespace {

class DepChecker {
public:
  DepChecker(const Kernel &kernel, Diagnostics &diagnostics)
      : kernel(kernel), diagnostics(diagnostics), divergent(divergentLoops(kernel)),
        usedBy(kernel.loops.size()) {}

  void run();

private:
  void dependence(DepId id);
  void vectorDistance(DepId id);
  bool component(DepId id, const DistanceComponent &component);
  bool componentLoop(const Dep &dep, LoopId loop);
  void wrongEnd(const Dep &dep, LoopId loop, InstrId end);
  void flatDistance(DepId id);
  void elementDistance(DepId id);
  bool tableLoop(const Dep &dep);
  bool runTable(const Dep &dep);
  bool standsInOrder(const Dep &dep) const;
  bool comesBefore(const Dep &dep);
  void elementEndsError(const Dep &dep);
  void elementOffset(const Dep &dep, LoopId shared, int64_t offset);
  void zeroDistance(DepId id);
  void backwardError(const Dep &dep, const std::string &where);
  void divergence(const Dep &dep);

  // Wording
  std::string wayOut(const Dep &dep) const;
  Diagnostic &errorAt(const Dep &dep, std::string message);

  /// `'consumer' waits for 'producer'`, and what is wrong with that.
  template <typename... Args>
  Diagnostic &error(const Dep &dep, fmt::format_string<Args...> what, Args &&...args) {
    return errorAt(dep, fmt::format("'{}' waits for '{}'{}", kernel.nameOf(dep.consumer),
                                    kernel.nameOf(dep.producer),
                                    fmt::format(what, std::forward<Args>(args)...)));
  }

  const Kernel &kernel;
  Diagnostics &diagnostics;
  IdVector<LoopId, LoopId> divergent; ///< innermost divergent loop at or around
  IdVector<LoopId, uint32_t> usedBy;  ///< last dependence with a component there, plus one
  std::vector<DepId> inOneBlock;      ///< distance 0, both ends in one block
  bool needsCycleCheck = false;       ///< one of them goes against the order of the text
};

void DepChecker::run() {
  for (DepId id : kernel.deps.ids()) {
    dependence(id);
  }
  if (needsCycleCheck) {
    reportOrderCycles(kernel, inOneBlock, diagnostics);
  }
}

//===----------------------------------------------------------------------===//
// Wording
//===----------------------------------------------------------------------===//

/// What would make a backward dependence legal.
std::string DepChecker::wayOut(const Dep &dep) const {
  LoopId shared =
      kernel.commonLoop(kernel.instrs[dep.producer].home, kernel.instrs[dep.consumer].home);
  LoopId real = kernel.realLoop(shared);
  if (real == rootLoop) {
    return "no loop is around both, so it could never be met";
  }
  return fmt::format("a backward dependence needs a distance of at least 1 on '{}'",
                     kernel.nameOf(real));
}

/// Readers without places get no notes that say nothing else.
Diagnostic &DepChecker::errorAt(const Dep &dep, std::string message) {
  Diagnostic &error = diagnostics.error(dep.where, std::move(message));
  auto noteEnd = [&](std::string note, InstrId end) {
    if (Location where = kernel.instrs[end].where; where.known()) {
      error.note(where, std::move(note));
    }
  };
  noteEnd("producer is here", dep.producer);
  if (dep.consumer != dep.producer) {
    noteEnd("consumer is here", dep.consumer);
  }
  return error;
}

//===----------------------------------------------------------------------===//
// Dependences
//===----------------------------------------------------------------------===//

void DepChecker::dependence(DepId id) {
  const Dep &dep = kernel.deps[id];
  switch (dep.form) {
  case DistanceForm::Vector:
    vectorDistance(id);
    break;
  case DistanceForm::Flat:
    flatDistance(id);
    break;
  case DistanceForm::Element:
    elementDistance(id);
    break;
  }
  divergence(dep);
}

void DepChecker::vectorDistance(DepId id) {
  const Dep &dep = kernel.deps[id];
  if (dep.numComponents == 0) {
    return zeroDistance(id);
  }
  bool legal = true;
  for (const DistanceComponent &c : kernel.componentsOf(dep)) {
    legal &= component(id, c);
  }
  const DistanceComponent &outermost = kernel.componentsOf(dep).front();
  if (legal && outermost.distance < 0) {
    error(dep,
          " at distance {} on '{}', a run that is still to come; the outermost distance that is "
          "not 0 must be positive",
          outermost.distance, kernel.nameOf(outermost.loop));
  }
}

/// Whether this component is legal by itself.
bool DepChecker::component(DepId id, const DistanceComponent &component) {
  const Dep &dep = kernel.deps[id];
  if (!componentLoop(dep, component.loop)) {
    return false;
  }
  if (usedBy[component.loop] == id.value + 1) {
    error(dep, " at two distances on '{}'; give one", kernel.nameOf(component.loop));
    return false;
  }
  usedBy[component.loop] = id.value + 1;
  int64_t limit = static_cast<int64_t>(maxCount);
  if (component.distance > limit || component.distance < -limit) {
    error(dep, " at distance {} on '{}'; a distance is at most {}", component.distance,
          kernel.nameOf(component.loop), limit);
    return false;
  }
  return true;
}

/// Whether `loop` may have a component: a real loop around both ends.
bool DepChecker::componentLoop(const Dep &dep, LoopId loop) {
  if (loop == rootLoop) {
    error(dep, " at a distance on the whole kernel, which runs once; name a loop around both");
    return false;
  }
  if (kernel.loops[loop].isBranch()) {
    LoopId real = kernel.realLoop(loop);
    std::string around = real == rootLoop
                             ? std::string("no loop is around it")
                             : fmt::format("name the loop around it, '{}'", kernel.nameOf(real));
    error(dep,
          " at a distance on '{}', a branch; branches have no iterations and do not count in "
          "distances: {}",
          kernel.nameOf(loop), around)
        .note(kernel.loops[loop].where, "the branch is here");
    return false;
  }
  for (InstrId end : {dep.producer, dep.consumer}) {
    if (!kernel.encloses(loop, kernel.instrs[end].home)) {
      wrongEnd(dep, loop, end);
      return false;
    }
  }
  return true;
}

void DepChecker::wrongEnd(const Dep &dep, LoopId loop, InstrId end) {
  error(dep,
        " at a distance on '{}', but '{}' is not inside '{}'; a distance is on loops around both",
        kernel.nameOf(loop), kernel.nameOf(end), kernel.nameOf(loop))
      .note(kernel.loops[loop].where, fmt::format("loop '{}' is here", kernel.nameOf(loop)));
}

void DepChecker::flatDistance(DepId id) {
  const Dep &dep = kernel.deps[id];
  if (dep.step < 0 || dep.step > static_cast<int64_t>(maxCount)) {
    error(dep, " at flat distance {}; a flat distance lies between 0 and {}", dep.step, maxCount);
    return;
  }
  if (dep.numComponents != 0) {
    error(dep, " at a flat distance, which counts runs and takes no distance on a loop; drop one "
               "of the two");
    return;
  }
  if (kernel.instrs[dep.producer].home != kernel.instrs[dep.consumer].home) {
    error(dep, " at a flat distance, which needs both directly in one body, as only then they run "
               "equally often; use a distance on the loops around both");
    return;
  }
  if (dep.step == 0) {
    zeroDistance(id);
  }
}

//===----------------------------------------------------------------------===//
// Element-wise distances
//===----------------------------------------------------------------------===//

void DepChecker::elementEndsError(const Dep &dep) {
  LoopId p = kernel.instrs[dep.producer].home;
  LoopId c = kernel.instrs[dep.consumer].home;
  LoopId around = kernel.realLoop(kernel.commonLoop(p, c));
  if (kernel.realLoop(p) == kernel.realLoop(c) && around != rootLoop) {
    error(dep,
          " element by element, but both are in the loop '{}'; write the distance as one on '{}'",
          kernel.nameOf(around), kernel.nameOf(around));
    return;
  }
  error(dep,
        " element by element, which needs the two in two loops, or nests of loops, of one "
        "body, or one of them directly there (in a nest, all inner loops have constant trips); "
        "use a distance on the loops around both");
}

/// Of the table of a dependence; in one loop, only a run that has been may be needed.
bool DepChecker::runTable(const Dep &dep) {
  const RunTable &table = kernel.tables[dep.table];
  int64_t limit = static_cast<int64_t>(maxCount);
  auto isLarge = [&](int64_t number) { return number > limit || number < -limit; };
  if (table.runs.empty() || table.runs.size() > mostTableRuns) {
    error(dep, " by a table of {} runs; it has 1 to {}", table.runs.size(), mostTableRuns);
    return false;
  }
  if (isLarge(table.each) || std::ranges::any_of(table.runs, isLarge)) {
    error(dep, " by a table with a number that is not between {} and {}", -limit, limit);
    return false;
  }
  bool falls = !std::ranges::is_sorted(table.runs) || table.at(0) + table.each < table.runs.back();
  if (falls) {
    error(dep,
          " by a table {} in which a run needs an earlier one than the run before it; what is "
          "needed must not fall, since a run that has waited has waited for all before",
          toString(table));
    return false;
  }
  if (!table.firstNeeding()) {
    error(dep, " by a table {} by which no run needs any", toString(table));
    return false;
  }
  std::optional<SideBySide> nests = sideBySide(kernel, dep);
  if (nests->producer.isSingle() || nests->consumer.isSingle()) {
    error(dep, " by a table, but one of them is not in a loop that the other is not in; write "
               "'element' and the one run that is needed");
    return false;
  }
  return standsInOrder(dep) ? comesBefore(dep) : true;
}

/// Whether a table may lead to runs that are still to come: the same iteration of a loop holds runs
/// of both.
bool DepChecker::standsInOrder(const Dep &dep) const {
  return kernel.tables[dep.table].over.valid() ||
         kernel.instrs[dep.producer].home == kernel.instrs[dep.consumer].home;
}

bool DepChecker::comesBefore(const Dep &dep) {
  const RunTable &table = kernel.tables[dep.table];
  if (dep.numComponents != 0) {
    error(dep, " by a table and a distance; {}, a table stands alone",
          table.over.valid() ? "over a loop" : "of two in one loop");
    return false;
  }
  LoopId producer = kernel.instrs[dep.producer].home, consumer = kernel.instrs[dep.consumer].home;
  LoopId shared = kernel.commonLoop(producer, consumer);
  bool isBefore = producer == consumer ? dep.producer < dep.consumer
                                       : placeOf(kernel, dep).order == Order::Forward;
  if (iterationsBack(kernel, dep, shared) < (isBefore ? 0 : 1)) {
    error(dep,
          " by a table {} in which a run needs one that is still to come; iteration i of the loop "
          "'{}', which is around both, may need runs of iteration {} at most",
          toString(table), kernel.nameOf(shared), isBefore ? "i" : "i - 1");
    return false;
  }
  return true;
}

/// What a table may go over.
bool DepChecker::tableLoop(const Dep &dep) {
  LoopId over = kernel.tables[dep.table].over;
  LoopId producer = kernel.instrs[dep.producer].home, consumer = kernel.instrs[dep.consumer].home;
  LoopId shared = kernel.commonLoop(producer, consumer);
  if (kernel.loops[over].kind != LoopKind::Loop || !kernel.encloses(over, shared)) {
    error(dep, " by a table over '{}', which is not a loop around both", kernel.nameOf(over));
    return false;
  }
  return true;
}

void DepChecker::elementDistance(DepId id) {
  const Dep &dep = kernel.deps[id];
  int64_t limit = static_cast<int64_t>(maxCount);
  if (dep.step > limit || dep.step < -limit) {
    error(dep, " at element distance {}; it lies between {} and {}", dep.step, -limit, limit);
  }
  if (dep.table.valid() && kernel.tables[dep.table].over.valid() && !tableLoop(dep)) {
    return;
  }
  if (!sideBySide(kernel, dep)) {
    return elementEndsError(dep);
  }
  if (dep.table.valid()) {
    bool isRight = runTable(dep);
    if (standsInOrder(dep)) {
      if (isRight && placeOf(kernel, dep).offset == 0) {
        zeroDistance(id);
      }
      return;
    }
  }
  LoopId shared = kernel.realLoop(placeOf(kernel, dep).shared);
  for (const DistanceComponent &c : kernel.componentsOf(dep)) {
    if (!component(id, c)) {
      return;
    }
    if (c.loop != shared) {
      error(dep,
            " element by element at a distance on '{}'; in addition to the elements, only the "
            "innermost "
            "loop around both, '{}', may have a distance",
            kernel.nameOf(c.loop), kernel.nameOf(shared));
      return;
    }
  }
  elementOffset(dep, shared, dep.numComponents == 0 ? 0 : kernel.componentsOf(dep)[0].distance);
}

/// At offset 0 the producer's loop must come first; no run of a later iteration is ever waited for.
void DepChecker::elementOffset(const Dep &dep, LoopId shared, int64_t offset) {
  bool forward = placeOf(kernel, dep).order == Order::Forward;
  if (offset >= (forward ? 0 : 1)) {
    return;
  }
  if (forward) {
    error(dep,
          " element by element at distance {} on '{}', an iteration that is still to come; the "
          "distance must not be negative",
          offset, kernel.nameOf(shared));
    return;
  }
  error(dep, " element by element at distance {}, but '{}' comes after '{}'; {}", offset,
        kernel.nameOf(dep.producer), kernel.nameOf(dep.consumer), wayOut(dep));
}

//===----------------------------------------------------------------------===//
// Distance 0, and divergence
//===----------------------------------------------------------------------===//

void DepChecker::zeroDistance(DepId id) {
  const Dep &dep = kernel.deps[id];
  if (dep.producer == dep.consumer) {
    errorAt(dep, fmt::format("'{}' waits for itself at distance 0; {}", kernel.nameOf(dep.consumer),
                             wayOut(dep)));
    return;
  }
  Order order = placeOf(kernel, dep).order;
  bool textBackward = dep.consumer < dep.producer;
  if (order == Order::Backward) {
    LoopId shared =
        kernel.commonLoop(kernel.instrs[dep.producer].home, kernel.instrs[dep.consumer].home);
    backwardError(dep, shared == rootLoop
                           ? std::string("in the kernel")
                           : fmt::format("in the body of '{}'", kernel.nameOf(shared)));
  } else if (order == Order::SameBlock && textBackward &&
             kernel.engineOf(dep.producer) == kernel.engineOf(dep.consumer)) {
    backwardError(dep, fmt::format("on engine '{}'", kernel.nameOf(kernel.engineOf(dep.producer))));
  } else if (order == Order::SameBlock) {
    inOneBlock.push_back(id);
    needsCycleCheck |= textBackward;
  }
}

void DepChecker::backwardError(const Dep &dep, const std::string &where) {
  error(dep, " at distance 0, but '{}' comes after '{}' {}; {}", kernel.nameOf(dep.producer),
        kernel.nameOf(dep.consumer), where, wayOut(dep));
}

/// The consumer counts the producer's runs on its own engine, so the two engines must agree on
/// every loop on the way to the producer.
void DepChecker::divergence(const Dep &dep) {
  LoopId loop = divergent[kernel.instrs[dep.producer].home];
  if (!loop.valid() || dep.allowDivergent ||
      kernel.engineOf(dep.producer) == kernel.engineOf(dep.consumer)) {
    return;
  }
  error(dep,
        ", whose runs engine '{0}' cannot count: '{1}' around '{2}' is divergent, so engines may "
        "disagree how often it runs; make it uniform or add allow_divergent",
        kernel.nameOf(kernel.engineOf(dep.consumer)), kernel.nameOf(loop),
        kernel.nameOf(dep.producer))
      .note(kernel.loops[loop].where, fmt::format("divergent '{}' is here", kernel.nameOf(loop)));
}

} // namespace

void checkDeps(const Kernel &kernel, Diagnostics &diagnostics) {
  DepChecker(kernel, diagnostics).run();
}

} // namespace tally::model
