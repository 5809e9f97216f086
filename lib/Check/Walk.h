//===- Walk.h - One engine's way through a kernel -------------------------===//
//
// What the specification and the datapath know of control: the tree, walked with
// the trips that an engine is bound to. The visitor is told
//
//   enter(loop, iteration, trips)   one entry of a body, the root first; iterations count from 1,
//                                   up to the trips of this time
//   leave(loop)
//   instr(id)                       one run of an instruction of this engine
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_CHECK_WALK_H
#define TALLY_LIB_CHECK_WALK_H

#include "tally/Model/Bindings.h"

namespace tally {

template <typename Visitor> class Walk {
public:
  Walk(const Kernel &kernel, const Bindings &bindings, EngineId engine, Visitor &visitor,
       uint64_t &fuel)
      : kernel(kernel), bindings(bindings), engine(engine), visitor(visitor), fuel(fuel),
        reached(kernel.loops.size(), 0) {}

  /// False if the walk was cut off because `fuel` entries and runs did not suffice.
  bool run() {
    enter(rootLoop, 1, 1);
    return fuel != 0;
  }

private:
  void enter(LoopId loop, uint64_t iteration, uint64_t trips) {
    visitor.enter(loop, iteration, trips);
    for (StmtId s : kernel.loops[loop].body) {
      const Stmt &stmt = kernel.stmts[s];
      if (stmt.kind == Stmt::Kind::Block) {
        block(stmt);
        continue;
      }
      repeat(stmt.loop);
      if (stmt.kind == Stmt::Kind::If) {
        repeat(kernel.loops[stmt.loop].otherBranch);
      }
    }
    visitor.leave(loop);
  }

  void block(const Stmt &stmt) {
    for (InstrId id : stmt.instrs) {
      if (kernel.engineOf(id) == engine && fuel != 0) {
        --fuel;
        visitor.instr(id);
      }
    }
  }

  void repeat(LoopId loop) {
    uint64_t trips = bindings.trips(engine, loop, ++reached[loop]);
    for (uint64_t i = 1; i <= trips && fuel != 0; ++i) {
      --fuel;
      enter(loop, i, trips);
    }
  }

  const Kernel &kernel;
  const Bindings &bindings;
  EngineId engine;
  Visitor &visitor;
  uint64_t &fuel;
  IdVector<LoopId, uint64_t> reached;
};

} // namespace tally

#endif // TALLY_LIB_CHECK_WALK_H
