//===- Unroll.cpp - Which loops are written out to save branches ----------===//
//
// A loop that is unrolled does what it did, with fewer branches: the same waits, for the same
// values of the same semaphores. So nothing else has to know: not the plan, whose dependences cross
// the edges of the loop as before, and not what runs or checks the code.
//
// A loop is unrolled step by step, each step writing twice as many bodies and saving half of the
// branches that are left.
//===----------------------------------------------------------------------===//

#include "Unroll.h"

#include "tally/Code/ControlCost.h"

#include <algorithm>
#include <queue>
#include <tuple>

namespace tally::compiling {
namespace {

/// The most bodies that are written for one branch by cost.
constexpr uint32_t mostInPass = 64;

bool knowsTrips(const Loop &loop) {
  return loop.trip.kind != Trip::Kind::Guard;
}

/// A loop of one engine's code that may be unrolled one step further.
struct Candidate {
  EngineId engine;
  size_t begin = 0;  ///< its LoopBegin
  uint32_t next = 1; ///< bodies in a pass after this step
  int64_t added = 0; ///< instructions
  double saved = 0;  ///< cost
  uint64_t body = 0; ///< size of one body

  double worth() const { return saved / static_cast<double>(std::max<int64_t>(1, added)); }

  /// The best is the largest; of equal ones the first.
  bool operator<(const Candidate &other) const {
    return std::tuple(worth(), other.engine, other.begin) <
           std::tuple(other.worth(), engine, begin);
  }
};

class Unroller {
public:
  Unroller(const Kernel &kernel, const Machine &machine, Code &code)
      : kernel(kernel), code(code), entries(expectedEntries(kernel)), prices(machine) {}

  void run(double growth) {
    int64_t size = static_cast<int64_t>(measure(kernel, code, 1).operations);
    int64_t most = static_cast<int64_t>(growth * static_cast<double>(size));
    findInnermost();
    while (!candidates.empty()) {
      Candidate best = candidates.top();
      candidates.pop();
      if (size + best.added <= most) {
        size += best.added;
        beginOf(best).amount = best.next;
        consider(best.engine, best.begin, best.body);
      }
    }
  }

private:
  Op &beginOf(const Candidate &candidate) {
    return code.engines[candidate.engine].ops[candidate.begin];
  }

  /// Loops without others in them, about which the kernel says nothing.
  void findInnermost() {
    for (const EngineProgram &program : code.engines) {
      const size_t none = program.ops.size();
      size_t innermost = none; // that has begun last
      for (size_t at = 0; at < program.ops.size(); ++at) {
        const Op &op = program.ops[at];
        if (op.kind == OpKind::LoopBegin) {
          innermost = at;
        } else if (op.kind == OpKind::LoopEnd && innermost != none) {
          const Op &begin = program.ops[innermost];
          if (begin.amount == 1 && kernel.loops[begin.loop()].unroll == 1 &&
              knowsTrips(kernel.loops[begin.loop()])) {
            consider(program.engine, innermost, bodySize(program, innermost));
          }
          innermost = none;
        }
      }
    }
  }

  static uint64_t bodySize(const EngineProgram &program, size_t begin) {
    uint64_t size = 0;
    for (size_t at = begin + 1; program.ops[at].kind != OpKind::LoopEnd; ++at) {
      size += encodedSize(program.ops[at]);
    }
    return size;
  }

  /// The next step of a loop, if there is one that saves something.
  void consider(EngineId engine, size_t at, uint64_t body) {
    const Op &begin = code.engines[engine].ops[at];
    const Trip &trip = kernel.loops[begin.loop()].trip;
    Op further = begin;
    further.amount *= 2;
    if (trip.kind == Trip::Kind::Constant) {
      further.amount = static_cast<uint32_t>(std::min<uint64_t>(further.amount, trip.constant));
    }
    if (further.amount <= begin.amount || further.amount > mostInPass) {
      return;
    }
    Candidate candidate{engine, at, further.amount};
    candidate.body = body;
    candidate.added = sizeOf(further, body) - sizeOf(begin, body);
    candidate.saved = costOf(begin) - costOf(further);
    if (candidate.saved > 0) {
      candidates.push(candidate);
    }
  }

  int64_t sizeOf(const Op &begin, uint64_t body) const {
    WrittenLoop written = writtenLoop(kernel, begin);
    return static_cast<int64_t>(written.copies() * body + 2 * written.loops());
  }

  double costOf(const Op &begin) const {
    const Loop &loop = kernel.loops[begin.loop()];
    return entries[loop.parent] * loopCost(prices, writtenLoop(kernel, begin), expectedTrips(loop));
  }

  const Kernel &kernel;
  Code &code;
  const IdVector<LoopId, double> entries;
  const ControlPrices prices;
  std::priority_queue<Candidate> candidates;
};

} // namespace

Code unrolled(const Kernel &kernel, double growth, const Machine &machine, Code code) {
  Unroller(kernel, machine, code).run(growth);
  return code;
}

} // namespace tally::compiling
