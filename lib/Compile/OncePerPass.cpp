//===- OncePerPass.cpp - Waits that bodies of one pass share --------------===//
//
// A semaphore that no engine resets only grows. So what has waited for it in the first body of a
// pass passes in the others, too, if the threshold is the same there: they need not test.
//
// Steps:  1. mark   what may be tested once in a pass, as if every loop were unrolled
//         2. drop   the marks in loops that are not
//===----------------------------------------------------------------------===//

#include "Unroll.h"

namespace tally::compiling {

/// Calls visit(begin, end) for each loop of a program: where its operations begin and end.
template <typename Visit> static void forEachLoop(const std::vector<Op> &ops, const Visit &visit) {
  std::vector<size_t> open;
  for (size_t at = 0; at < ops.size(); ++at) {
    if (ops[at].kind == OpKind::LoopBegin) {
      open.push_back(at);
    } else if (ops[at].kind == OpKind::LoopEnd) {
      visit(open.back(), at);
      open.pop_back();
    }
  }
}

/// Calls visit(op) for each wait that stands directly in a loop.
template <typename Visit>
static void forEachWaitIn(std::vector<Op> &ops, size_t begin, size_t end, const Visit &visit) {
  uint32_t depth = 0; // of brackets in the loop
  for (size_t at = begin + 1; at < end; ++at) {
    if (opensBracket(ops[at].kind)) {
      ++depth;
    } else if (closesBracket(ops[at].kind)) {
      --depth;
    } else if (depth == 0 && ops[at].wait.valid()) {
      visit(ops[at]);
    }
  }
}

void markOncePerPass(Code &code) {
  const IdVector<SemaId, bool> isReset = resetBy(code);
  for (EngineProgram &program : code.engines) {
    std::vector<Op> &ops = program.ops;
    IdVector<RegId, size_t> writtenAt(program.registers.size(), 0); // last, from 1
    size_t seen = 0;
    forEachLoop(ops, [&](size_t begin, size_t end) {
      for (; seen < end; ++seen) { // loops come in the order of their ends
        if (ops[seen].dst.valid()) {
          writtenAt[ops[seen].dst] = seen + 1;
        }
      }
      forEachWaitIn(ops, begin, end, [&](Op &wait) {
        bool stays = !wait.a.isRegister || writtenAt[wait.a.asRegister()] <= begin;
        wait.once = stays && !isReset[wait.wait];
      });
    });
  }
}

void dropIdleMarks(Code &code) {
  for (EngineProgram &program : code.engines) {
    forEachLoop(program.ops, [&](size_t begin, size_t end) {
      if (program.ops[begin].amount <= 1) {
        forEachWaitIn(program.ops, begin, end, [](Op &wait) { wait.once = false; });
      }
    });
  }
}

} // namespace tally::compiling
