//===- KernelWalk.h - One engine's way through a kernel -------------------===//
//
// Walks the control flow of a kernel as one engine does with given bindings and tells a
// visitor what it meets, in order:
//
//   reach(stmt)            a loop or `if` statement is reached; before any enter of its bodies
//   enter(loop, iteration) one entry of a body; iteration counts from 1 in each entry
//   leave(loop)
//   block(stmt)            a block of instructions
//
// The root is entered first, once. Branches are bodies that are entered zero or one times.
//
// Independent of  the cursor that Check and Data use (Run/KernelCursor.h)
// Shared          the kernel and its bindings (Model)
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_ORACLE_KERNELWALK_H
#define TALLY_ORACLE_KERNELWALK_H

#include "tally/Model/Bindings.h"

namespace tally::oracle {

template <typename Visitor> class KernelWalk {
public:
  KernelWalk(const Kernel &kernel, const Bindings &bindings, EngineId engine, Visitor &visitor)
      : kernel(kernel), bindings(bindings), engine(engine), visitor(visitor),
        reached(kernel.loops.size(), 0), now(kernel.loops.size(), 0) {}

  /// False if the walk was cut off after `fuel` entries and blocks.
  bool run(uint64_t maxSteps) {
    fuel = maxSteps;
    enter(rootLoop, 1);
    return fuel != 0;
  }

private:
  void enter(LoopId loop, uint64_t iteration) {
    if (fuel == 0) {
      return;
    }
    --fuel;
    visitor.enter(loop, iteration);
    for (StmtId stmt : kernel.loops[loop].body) {
      walk(stmt);
    }
    visitor.leave(loop);
  }

  void walk(StmtId id) {
    const Stmt &stmt = kernel.stmts[id];
    if (fuel == 0) {
      return;
    }
    if (stmt.kind == Stmt::Kind::Block) {
      --fuel;
      visitor.block(stmt);
      return;
    }
    visitor.reach(stmt);
    repeat(stmt.loop);
    if (stmt.kind == Stmt::Kind::If) {
      repeat(kernel.loops[stmt.loop].otherBranch);
    }
  }

  /// All iterations of `loop` for one time that its statement is reached.
  void repeat(LoopId loop) {
    uint64_t trips =
        bindings.trips(engine, loop, ++reached[loop], [&](LoopId around) { return now[around]; });
    for (uint64_t iteration = 1; iteration <= trips && fuel != 0; ++iteration) {
      now[loop] = iteration - 1;
      enter(loop, iteration);
    }
  }

  const Kernel &kernel;
  const Bindings &bindings;
  EngineId engine;
  Visitor &visitor;
  IdVector<LoopId, uint64_t> reached;
  IdVector<LoopId, uint64_t> now; ///< iterations, from 0
  uint64_t fuel = 0;
};

} // namespace tally::oracle

#endif // TALLY_ORACLE_KERNELWALK_H
