//===- KernelCursor.cpp - One engine's way through a kernel ---------------===//

#include "tally/Run/KernelCursor.h"

namespace tally {

KernelCursor::KernelCursor(const Kernel &kernel, const Bindings &bindings, EngineId engine,
                           Fuel &fuel)
    : kernel(kernel), bindings(bindings), engine(engine), fuel(fuel),
      reached(kernel.loops.size(), 0), indices(kernel.loops.size(), {0, -1, 0}) {}

/// The statement of a loop is reached; whether that makes an entry.
bool KernelCursor::begin(LoopId loop) {
  EngineId who = engine.valid() ? engine : EngineId(0);
  indices[loop].trips = static_cast<int64_t>(bindings.trips(
      who, loop, ++reached[loop], [&](LoopId around) { return indices[around].iteration; }));
  return enter(loop, 0);
}

bool KernelCursor::enter(LoopId loop, int64_t iteration) {
  LoopIndex &index = indices[loop];
  if (iteration >= index.trips || fuel.isOut()) {
    return false;
  }
  spend(1 + vector.size() / 8);
  index.iteration = iteration;
  ++index.total;
  if (kernel.loops[loop].kind == LoopKind::Loop) {
    vector.push_back(static_cast<uint32_t>(iteration + 1));
  }
  open.push_back({loop});
  return true;
}

void KernelCursor::leave() {
  if (kernel.loops[open.back().body].kind == LoopKind::Loop) {
    vector.pop_back();
  }
  open.pop_back();
}

bool KernelCursor::findInstr(const Stmt &block, Entry &entry) {
  while (entry.instr < block.instrs.size() && !fuel.isOut()) {
    current = block.instrs[entry.instr++];
    if (!engine.valid() || kernel.engineOf(current) == engine) {
      spend(1 + vector.size() / 8);
      return true;
    }
  }
  ++entry.stmt;
  entry.instr = 0;
  return false;
}

/// From the innermost entry's next statement.
KernelCursor::Stop KernelCursor::goOn() {
  for (;;) {
    Entry &entry = open.back();
    const auto &body = kernel.loops[entry.body].body;
    if (entry.stmt == body.size()) {
      isLeaving = true;
      return Stop::Leave;
    }
    const Stmt &stmt = kernel.stmts[body[entry.stmt]];
    if (stmt.kind == Stmt::Kind::Block) {
      if (findInstr(stmt, entry)) {
        return Stop::Instr;
      }
      continue;
    }
    ++entry.stmt;
    if (begin(stmt.loop) ||
        (stmt.kind == Stmt::Kind::If && begin(kernel.loops[stmt.loop].otherBranch))) {
      return Stop::Enter;
    }
  }
}

KernelCursor::Stop KernelCursor::next() {
  if (!isLeaving) {
    if (!open.empty()) {
      return goOn();
    }
    open.push_back({rootLoop});
    indices[rootLoop] = {0, 0, 1};
    return Stop::Enter;
  }
  LoopId left = body();
  if (left == rootLoop) {
    return Stop::End;
  }
  leave();
  isLeaving = false;
  bool again = enter(left, indices[left].iteration + 1);
  bool other =
      !again && kernel.loops[left].kind == LoopKind::Then && begin(kernel.loops[left].otherBranch);
  return again || other ? Stop::Enter : goOn();
}

} // namespace tally
