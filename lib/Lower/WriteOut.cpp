//===- WriteOut.cpp - How loops are written for the sequencer -------------===//

#include "Emit.h"

#include "tally/Model/Regions.h"

#include <algorithm>

namespace tally {

using namespace lowering;

/// Whether everything from a LoopBegin to its end are additions that can be made at once: of 1
/// where the number of iterations is a value, of any number where counters
/// hold the product.
static bool onlyCounts(const Kernel &kernel, uint64_t counterLimit, const std::vector<Op> &ops,
                       size_t begin) {
  const Loop &loop = kernel.loops[ops[begin].loop()];
  if (ops[begin].dst.valid() || loop.trip.kind == Trip::Kind::Guard) {
    return false;
  }
  uint64_t most = loop.trip.kind == Trip::Kind::Constant
                      ? (counterLimit - 1) / std::max<uint64_t>(1, loop.trip.constant)
                      : 1;
  size_t at = begin + 1;
  for (; ops[at].kind != OpKind::LoopEnd; ++at) {
    const Op &op = ops[at];
    bool adds = op.kind == OpKind::Alu && op.alu == AluOp::Add && op.a == Operand::reg(op.dst) &&
                !op.b.isRegister && op.b.value <= most;
    if (!adds) {
      return false;
    }
  }
  return at > begin + 1;
}

void lowering::writeOut(const Kernel &kernel, bool countAtOnce, uint64_t counterLimit, Code &code) {
  for (EngineProgram &program : code.engines) {
    for (size_t at = 0; at < program.ops.size(); ++at) {
      Op &op = program.ops[at];
      if (op.kind != OpKind::LoopBegin) {
        continue;
      }
      bool counts = countAtOnce && onlyCounts(kernel, counterLimit, program.ops, at);
      op.amount =
          counts ? atOnce : static_cast<uint32_t>(iterationsWrittenOut(kernel.loops[op.loop()]));
    }
  }
}

} // namespace tally
