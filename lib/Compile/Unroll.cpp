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

#include "tally/Support/Counted.h"

#include <fmt/format.h>

#include <algorithm>
#include <queue>
#include <tuple>

namespace tally::compiling {

BodySize bodySize(const Kernel &kernel, const EngineProgram &program, size_t begin) {
  BodySize size;
  std::vector<uint64_t> copies{1}; // of what is written at that depth
  for (size_t at = begin + 1; !copies.empty(); ++at) {
    const Op &op = program.ops[at];
    if (op.kind == OpKind::LoopEnd) {
      copies.pop_back();
      continue;
    }
    const bool isOnce = op.once && op.kind == OpKind::Wait;
    if (op.kind == OpKind::LoopBegin) {
      copies.push_back(copies.back() * writtenLoop(kernel, op).copies());
    } else {
      (isOnce ? size.once : size.always) += (isOnce ? 1 : copies.back()) * encodedSize(op);
    }
  }
  return size;
}

int64_t LoopPrices::sizeOf(const Op &begin, const BodySize &body) const {
  WrittenLoop written = writtenLoop(kernel, begin);
  return static_cast<int64_t>(written.copies() * body.always + written.firstCopies() * body.once +
                              2 * written.loops());
}

double LoopPrices::costOf(const Op &begin) const {
  const Loop &loop = kernel.loops[begin.loop()];
  return entries[loop.parent] * loopCost(prices, writtenLoop(kernel, begin), expectedTrips(loop));
}

namespace {

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
  BodySize body = {};

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
      : kernel(kernel), code(code), prices(kernel, machine) {}

  /// `size` and `most` are numbers of operations: of the code as it is, and as it may become.
  void run(int64_t size, int64_t most) {
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
            consider(program.engine, innermost, bodySize(kernel, program, innermost));
          }
          innermost = none;
        }
      }
    }
  }

  /// The next step of a loop, if there is one that saves something.
  void consider(EngineId engine, size_t at, const BodySize &body) {
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
    Candidate candidate{.engine = engine,
                        .begin = at,
                        .next = further.amount,
                        .added = prices.sizeOf(further, body) - prices.sizeOf(begin, body),
                        .saved = prices.costOf(begin) - prices.costOf(further),
                        .body = body};
    if (candidate.saved > 0) {
      candidates.push(candidate);
    }
  }

  const Kernel &kernel;
  Code &code;
  const LoopPrices prices;
  std::priority_queue<Candidate> candidates;
};

std::vector<std::string> unrolledLoops(const Kernel &kernel, const Code &code) {
  std::vector<std::string> names;
  for (const EngineProgram &program : code.engines) {
    for (const Op &op : program.ops) {
      if (op.kind == OpKind::LoopBegin && op.amount > kernel.loops[op.loop()].unroll) {
        names.push_back(fmt::format("'{}' on '{}' with {}", kernel.nameOf(op.loop()),
                                    kernel.nameOf(program.engine), op.amount));
      }
    }
  }
  return names;
}

/// Adds to the search that loops were unrolled by what that saves of control.
void record(const Kernel &kernel, const Request &request, const Machine &machine, const Code &code,
            Search &search) {
  std::optional<CodeCost> before = search.found();
  std::vector<std::string> names =
      before ? unrolledLoops(kernel, code) : std::vector<std::string>();
  if (names.empty()) {
    return;
  }
  CodeCost after = *before;
  after.time =
      before->time ? Stopwatch(kernel, machine, request.assumedTrips).timeOf(code) : std::nullopt;
  after.control = controlCost(kernel, code, machine);
  after.operations = measure(kernel, code, 1).operations;
  search.attempts.push_back({Attempt::Step::Unroll,
                             fmt::format("{} bodies for a branch", listed(names)), true, before,
                             after});
}

} // namespace

Code unrolled(const Kernel &kernel, const Request &request, const Machine &machine, Code code,
              Search &search) {
  markOncePerPass(code);
  Stopwatch stopwatch(kernel, machine, request.assumedTrips, request.effort,
                      search.numIssued ? Stopwatch::Long::Beginnings : Stopwatch::Long::None);
  const int64_t size = static_cast<int64_t>(measure(kernel, code, 1).operations);
  const int64_t most = static_cast<int64_t>(request.codeGrowth * static_cast<double>(size));
  const bool isByTime = request.codeGrowth > 1 && stopwatch.timeOf(code);
  // What adds no code needs no search.
  Unroller(kernel, machine, code).run(size, isByTime ? size : most);
  record(kernel, request, machine, code, search);
  if (isByTime) {
    unrollByTime(kernel, request, machine, stopwatch, most, code, search);
  }
  dropIdleMarks(code);
  return code;
}

} // namespace tally::compiling
