//===- Code.cpp - The size of code ----------------------------------------===//

#include "tally/Code/Origin.h"

#include <algorithm>
#include <cmath>

namespace tally {

bool WrittenLoop::branchesAfter(uint64_t number, uint64_t trips) const {
  if (isStraight) {
    return false;
  }
  uint64_t inPasses = trips - trips % inPass;
  return number > inPasses || number % inPass == 0;
}

bool WrittenLoop::repeats(uint64_t number, uint64_t trips) const {
  if (isStraight) {
    return number > 1;
  }
  return number <= trips - trips % inPass && (number - 1) % inPass != 0;
}

double WrittenLoop::branches(double trips) const {
  if (isStraight) {
    return 0;
  }
  double passes = std::floor(trips / static_cast<double>(inPass));
  return passes + (trips - passes * static_cast<double>(inPass));
}

WrittenLoop writtenLoop(const Kernel &kernel, const Op &begin) {
  const Trip &trip = kernel.loops[begin.loop()].trip;
  bool constant = trip.kind == Trip::Kind::Constant;
  WrittenLoop written;
  if (begin.amount == atOnce) {
    written.isStraight = true;
  } else if (begin.amount > 1) {
    written.inPass = begin.amount;
    written.isStraight = constant && trip.constant == begin.amount;
    written.hasRest = !constant || trip.constant % begin.amount != 0;
  }
  return written;
}

uint32_t encodedSize(const Op &op) {
  switch (op.kind) {
  case OpKind::LoopBegin:
  case OpKind::LoopEnd:
  case OpKind::IfEnd:
  case OpKind::BarrierBegin:
  case OpKind::BarrierEnd:
  case OpKind::WhenEnd:
    return 0;
  default:
    return 1;
  }
}

CodeSize measure(const Kernel &kernel, const Code &code, uint32_t instructionBytes) {
  CodeSize size;
  IdVector<SemaId, bool> used(code.semaphores.size(), false);
  for (const EngineProgram &engine : code.engines) {
    size.maxRegisters = std::max(size.maxRegisters, static_cast<uint32_t>(engine.registers.size()));

    struct Copies {
      uint64_t all = 1;
      uint64_t first = 1; ///< of a pass
    };

    std::vector<Copies> copies{{}}; // of the body, by depth of loops
    for (const Op &op : engine.ops) {
      if (op.kind == OpKind::LoopBegin) {
        WrittenLoop written = writtenLoop(kernel, op);
        uint64_t around = copies.back().all;
        size.operations += around * 2 * written.loops();
        copies.push_back({around * written.copies(), around * written.firstCopies()});
      } else if (op.kind == OpKind::LoopEnd) {
        copies.pop_back();
      }
      uint64_t waits = op.once ? copies.back().first : copies.back().all;
      size.operations += (op.kind == OpKind::Wait ? waits : copies.back().all) * encodedSize(op);
      size.waits += waits * op.wait.valid();
      for (SemaId sema : {op.wait, op.signal}) {
        if (sema.valid()) {
          used[sema] = true;
        }
      }
    }
  }
  size.semaphores = static_cast<uint32_t>(std::count(used.begin(), used.end(), true));
  size.bytes = size.operations * instructionBytes;
  return size;
}

Origin originOf(const Kernel &kernel, const Code &code, const Op &op) {
  switch (op.kind) {
  case OpKind::Issue:
    return kernel.instrs[op.instr()].where;
  case OpKind::LoopBegin:
  case OpKind::IfBegin:
    return kernel.loops[op.loop()].where;
  default:
    break;
  }
  if (op.numReasons == 0) {
    return {};
  }
  const Dep &dep = kernel.deps[code.reasons[op.firstReason]];
  return {kernel.instrs[dep.consumer].where, dep.where};
}

static std::vector<Location> placesOn(const Kernel &kernel, const Code &code, EngineId engine) {
  std::vector<Location> places;
  std::vector<LoopId> bodies{rootLoop};
  for (const Op &op : code.engines[engine].ops) {
    bool isForBody = op.kind == OpKind::BarrierBegin || op.kind == OpKind::Wait ||
                     op.kind == OpKind::Signal || op.kind == OpKind::Reset ||
                     op.kind == OpKind::Drain;
    Location around = isForBody ? kernel.loops[bodies.back()].where : Location();
    places.push_back(originOf(kernel, code, op).where.value_or(around));
    if (op.kind == OpKind::LoopBegin || op.kind == OpKind::IfBegin) {
      bodies.push_back(op.loop());
    } else if (op.kind == OpKind::Else) {
      bodies.back() = kernel.loops[bodies.back()].otherBranch;
    } else if (op.kind == OpKind::LoopEnd || op.kind == OpKind::IfEnd) {
      bodies.pop_back();
    }
  }
  return places;
}

IdVector<EngineId, std::vector<Location>> placesOf(const Kernel &kernel, const Code &code) {
  IdVector<EngineId, std::vector<Location>> places;
  for (EngineId engine : code.engines.ids()) {
    places.push(placesOn(kernel, code, engine));
  }
  return places;
}

Location placeOrEngine(const Kernel &kernel, const Code &code, EngineId engine, uint32_t op) {
  Location place = placesOn(kernel, code, engine)[op];
  bool isInLoop = place.known() && place != kernel.loops[rootLoop].where;
  return isInLoop ? place : kernel.engines[engine].where;
}

std::vector<bool> insideBarriers(const std::vector<Op> &ops) {
  std::vector<bool> inside;
  bool isInside = false;
  for (const Op &op : ops) {
    isInside = op.kind == OpKind::BarrierBegin || (isInside && op.kind != OpKind::BarrierEnd);
    inside.push_back(isInside);
  }
  return inside;
}

bool isSameCode(const Code &a, const Code &b) {
  auto doesSame = [&](Op x, Op y) {
    x.numReasons = y.numReasons = 0;
    x.firstReason = y.firstReason = 0;
    bool isBarrier = x.kind == OpKind::BarrierBegin || x.kind == OpKind::BarrierEnd;
    if (isBarrier && x.kind == y.kind) { // code that is read numbers them in the order of the text
      return a.barriers[x.barrier()] == b.barriers[y.barrier()];
    }
    return x == y;
  };
  auto isSameProgram = [&](const EngineProgram &x, const EngineProgram &y) {
    return x.engine == y.engine && std::ranges::equal(x.ops, y.ops, doesSame);
  };
  return std::ranges::equal(a.engines, b.engines, isSameProgram);
}

/// As if no loop was unrolled.
static Code withoutBodies(Code code) {
  for (EngineProgram &program : code.engines) {
    for (Op &op : program.ops) {
      op.once = false;
      if (op.kind == OpKind::LoopBegin && op.amount != atOnce) {
        op.amount = 1;
      }
    }
  }
  return code;
}

bool isSameButForBodies(const Code &a, const Code &b) {
  return isSameCode(withoutBodies(a), withoutBodies(b));
}

IdVector<SemaId, bool> resetBy(const Code &code) {
  const uint32_t size = static_cast<uint32_t>(code.semaphores.size());
  IdVector<SemaId, bool> isReset(size, false);
  for (const EngineProgram &program : code.engines) {
    for (const Op &op : program.ops) {
      bool resets = op.kind == OpKind::Reset && op.signal.value < size;
      uint32_t count = resets ? std::min(op.amount, size - op.signal.value) : 0;
      for (uint32_t i = 0; i < count; ++i) {
        isReset[SemaId(op.signal.value + i)] = true;
      }
    }
  }
  return isReset;
}

IdVector<SemaId, bool> waitedFor(const Code &code) {
  IdVector<SemaId, bool> waited(code.semaphores.size(), false);
  for (const EngineProgram &program : code.engines) {
    for (const Op &op : program.ops) {
      if (op.wait.valid()) {
        waited[op.wait] = true;
      }
    }
  }
  return waited;
}

} // namespace tally
