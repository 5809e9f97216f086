//===- HoistWaits.cpp - Waits that stand before a loop, not in it ---------===//
//
// A wait in a loop for the same value of the same semaphore in each iteration passes at once in all
// but the first: semaphores only grow. Where nothing that others could see comes between the head
// of the loop and the wait, it does the same before the loop, and costs nothing in the iterations.
//
//   loop A:                          wait p >= 1
//     wait p >= 1                    loop A:
//     issue x, q >= total(A)           issue x, q >= total(A)
//
// That delays nothing: of all that others could see, x comes next in either place, and needs the
// wait. It takes that the loop is entered; or else that nothing comes after it and what is waited
// for stands outside of it, when the wait passes in any case, as all engines agree on what runs.
//
// A wait that goes with an instruction costs nothing once it holds. It moves only if another one
// can take its place.
//
// Inner loops come first: what stands before one of these may move on. Positions of all but the
// moved waits, and those before them in the body, stay.
//===----------------------------------------------------------------------===//

#include "Trial.h"
#include "Unroll.h"
#include "tally/Support/Counted.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace tally::compiling {
namespace {

/// A bracket of code, by the operation that opens it.
struct Bracket {
  size_t end = 0; ///< where it closes
  bool isOutermost = false;
};

std::vector<Bracket> bracketsOf(const std::vector<Op> &ops) {
  std::vector<Bracket> brackets(ops.size());
  std::vector<size_t> open;
  for (size_t at = 0; at < ops.size(); ++at) {
    if (opensBracket(ops[at].kind)) {
      brackets[at].isOutermost = open.empty();
      open.push_back(at);
    } else if (closesBracket(ops[at].kind)) {
      brackets[open.back()].end = at;
      open.pop_back();
    }
  }
  return brackets;
}

/// Moves waits of one engine's code.
class Hoister {
public:
  Hoister(const Kernel &kernel, const IdVector<SemaId, bool> &isReset,
          const std::vector<DepId> &reasons, EngineProgram &program)
      : kernel(kernel), isReset(isReset), reasons(reasons), ops(program.ops),
        brackets(bracketsOf(ops)), writtenNext(program.registers.size(), ops.size()),
        endOfVisible(findEndOfVisible()),
        enginesAgree(std::ranges::all_of(kernel.loops, &Loop::uniform)) {}

  /// Before each loop for which wanted(begin) holds. The loops before which something was moved.
  template <typename Wanted> std::vector<LoopId> run(const Wanted &wanted) {
    std::vector<LoopId> loops;
    for (size_t at = ops.size(); at-- > 0;) {
      if (ops[at].dst.valid()) {
        writtenNext[ops[at].dst] = at;
      }
      if (ops[at].kind != OpKind::LoopBegin || !mayWaitBefore(at) || !wanted(at)) {
        continue;
      }
      const LoopId loop = ops[at].loop();
      if (moveBefore(at)) {
        loops.push_back(loop);
      }
    }
    return loops;
  }

private:
  bool knowsTrips(const Op &begin) const {
    return kernel.loops[begin.loop()].trip.kind != Trip::Kind::Guard;
  }

  /// Whether an operation neither waits, nor does something that others could see.
  bool isQuiet(const Op &op) const {
    return op.kind == OpKind::Alu || op.kind == OpKind::WhenBegin || op.kind == OpKind::WhenEnd ||
           op.kind == OpKind::LoopEnd || (op.kind == OpKind::LoopBegin && knowsTrips(op));
  }

  /// Behind this, all is quiet.
  size_t findEndOfVisible() const {
    size_t end = ops.size();
    while (end > 0 && isQuiet(ops[end - 1])) {
      --end;
    }
    return end;
  }

  /// Whether nothing is delayed by what waits before the loop instead of in its first iteration.
  bool mayWaitBefore(size_t begin) const {
    const Trip &trip = kernel.loops[ops[begin].loop()].trip;
    bool isLast = brackets[begin].isOutermost && endOfVisible <= brackets[begin].end;
    return knowsTrips(ops[begin]) && (trip.least() > 0 || (isLast && enginesAgree));
  }

  /// Whether a wait in a loop that ends there waits for the same in all of its iterations.
  bool staysSame(LoopId loop, size_t end, const Op &wait) const {
    bool isSet = wait.a.isRegister && writtenNext[wait.a.asRegister()] <= end;
    return !isSet && !isReset[wait.wait] && passesBefore(loop, wait);
  }

  /// Whether a wait passes before the loop, entered or not.
  bool passesBefore(LoopId loop, const Op &wait) const {
    auto isInside = [&](DepId dep) {
      return kernel.encloses(loop, kernel.instrs[kernel.deps[dep].producer].home);
    };
    std::span why = std::span(reasons).subspan(wait.firstReason, wait.numReasons);
    return kernel.loops[loop].trip.least() > 0 ||
           (!why.empty() && std::ranges::none_of(why, isInside));
  }

  /// The waits directly in the body of the loop at `begin` that come first in it; the last one may
  /// go with an instruction.
  std::vector<size_t> firstWaits(size_t begin) const {
    std::vector<size_t> waits;
    uint32_t depth = 0; // of brackets in the body
    for (size_t at = begin + 1; at < brackets[begin].end; ++at) {
      const Op &op = ops[at];
      if (depth == 0 && op.wait.valid()) {
        waits.push_back(at);
      }
      if (!isQuiet(op) && (depth > 0 || op.kind != OpKind::Wait)) {
        break;
      }
      depth += opensBracket(op.kind) ? 1 : 0;
      depth -= closesBracket(op.kind) ? 1 : 0;
    }
    return waits;
  }

  /// Whether something was moved.
  bool moveBefore(size_t begin) {
    const LoopId loop = ops[begin].loop(); // which does not stay there
    const size_t end = brackets[begin].end;
    std::vector<size_t> waits = firstWaits(begin);
    freeFromInstr(begin, waits);
    size_t before = begin;
    for (size_t at : waits) {
      if (ops[at].kind == OpKind::Wait && staysSame(loop, end, ops[at])) {
        std::rotate(place(before), place(at), place(at + 1));
        ++before;
      }
    }
    return before > begin;
  }

  /// If the last of these waits goes with an instruction and waits for the same in all iterations,
  /// one that does not takes its place.
  void freeFromInstr(size_t begin, const std::vector<size_t> &waits) {
    const LoopId loop = ops[begin].loop();
    const size_t end = brackets[begin].end;
    if (waits.empty() || ops[waits.back()].kind != OpKind::Issue ||
        !staysSame(loop, end, ops[waits.back()])) {
      return;
    }
    auto other = std::ranges::find_if_not(waits.rbegin(), waits.rend(),
                                          [&](size_t at) { return staysSame(loop, end, ops[at]); });
    if (other != waits.rend() && !isSetBetween(ops[*other].a, *other, waits.back())) {
      exchangeWaits(ops[*other], ops[waits.back()]);
    }
  }

  bool isSetBetween(Operand operand, size_t begin, size_t end) const {
    return operand.isRegister && std::any_of(place(begin), place(end), [&](const Op &op) {
             return op.dst == operand.asRegister();
           });
  }

  static void exchangeWaits(Op &a, Op &b) {
    std::swap(a.wait, b.wait);
    std::swap(a.a, b.a);
    std::swap(a.firstReason, b.firstReason);
    std::swap(a.numReasons, b.numReasons);
  }

  std::vector<Op>::iterator place(size_t at) const {
    return ops.begin() + static_cast<ptrdiff_t>(at);
  }

  const Kernel &kernel;
  const IdVector<SemaId, bool> &isReset;
  const std::vector<DepId> &reasons; ///< of the code's waits
  std::vector<Op> &ops;
  const std::vector<Bracket> brackets;
  IdVector<RegId, size_t> writtenNext; ///< at the current operation or later
  const size_t endOfVisible;
  const bool enginesAgree;
};

/// What can be moved in one code.
class Moves {
public:
  Moves(const Kernel &kernel, const Code &code) : kernel(kernel), isReset(resetBy(code)) {}

  /// All that pay. The loops before which waits stand now, in words.
  std::vector<std::string> all(Code &target) const {
    std::vector<std::string> names;
    for (EngineProgram &program : target.engines) {
      auto anywhere = [](size_t) { return true; };
      std::ranges::move(before(anywhere, target, program), std::back_inserter(names));
    }
    return names;
  }

  /// Only before the loop that begins there, if that pays.
  std::vector<std::string> one(Code &target, EngineId engine, size_t at) const {
    auto there = [&](size_t begin) { return begin == at; };
    return before(there, target, target.engines[engine]);
  }

private:
  template <typename Where>
  std::vector<std::string> before(const Where &where, const Code &target,
                                  EngineProgram &program) const {
    auto wanted = [&](size_t begin) { return where(begin) && pays(program.ops[begin]); };
    std::vector<std::string> names;
    for (LoopId loop : Hoister(kernel, isReset, target.reasons, program).run(wanted)) {
      names.push_back(
          fmt::format("'{}' on '{}'", kernel.nameOf(loop), kernel.nameOf(program.engine)));
    }
    return names;
  }

  /// Whether iterations save more than one wait.
  bool pays(const Op &begin) const { return expectedTrips(kernel.loops[begin.loop()]) > 1; }

  const Kernel &kernel;
  const IdVector<SemaId, bool> isReset;
};

/// Decides which waits are moved.
class HoistChooser {
public:
  HoistChooser(const Kernel &kernel, const Request &request, const Machine &machine, Code &code,
               Search &search)
      : code(code), moves(kernel, code), trial(kernel, request, machine, search) {}

  /// By control, where runs cannot be timed: it gets cheaper. By time, all at once if that pays,
  /// or one loop of an engine after the other. Whether the code has changed.
  bool run() {
    std::optional<Tick> time = trial.timeOf(code);
    Code moved = code;
    std::vector<std::string> names = moves.all(moved);
    return !names.empty() &&
           (take(std::move(moved), names, time) || (names.size() > 1 && oneByOne(time)));
  }

private:
  bool oneByOne(std::optional<Tick> &time) {
    bool haveMoved = false;
    for (EngineId engine : code.engines.ids()) {
      for (size_t at = code.engines[engine].ops.size(); at-- > 0 && !trial.isSpent();) {
        Code moved = code;
        std::vector<std::string> names = moves.one(moved, engine, at);
        haveMoved |= !names.empty() && take(std::move(moved), names, time);
      }
    }
    return haveMoved;
  }

  /// Whether the moved code is the better one.
  bool take(Code moved, const std::vector<std::string> &names, std::optional<Tick> &time) {
    std::optional<Tick> then = time ? trial.timeOf(moved) : std::nullopt;
    const bool isBetter = !time || (then && *then <= *time);
    trial.record(Attempt::Step::Hoist, fmt::format("waits before {}", listed(names)), isBetter,
                 {code, time}, {moved, then});
    if (isBetter) {
      code = std::move(moved);
      time = then;
    }
    return isBetter;
  }

  Code &code;
  const Moves moves;
  Trial trial;
};

} // namespace

bool hoistAllWaits(const Kernel &kernel, Code &code) {
  return !Moves(kernel, code).all(code).empty();
}

bool hoistWaits(const Kernel &kernel, const Request &request, const Machine &machine, Code &code,
                Search &search) {
  return HoistChooser(kernel, request, machine, code, search).run();
}

} // namespace tally::compiling
