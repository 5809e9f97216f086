//===- Interpret.h - One engine's way through its code --------------------===//
//
// What an engine does by itself, with given trips: loops, branches, registers. A run stands at an
// operation, registers up to date, and goes on to the next. No other engine runs and no wait
// blocks: this answers "which value does it wait for the 7th time", not "does it get through".
// Those who follow several engines (Check, Sim) decide when each goes on.
//
// Control never reads what instructions write, so trips decide all of it.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_RUN_INTERPRET_H
#define TALLY_RUN_INTERPRET_H

#include "tally/Code/Code.h"
#include "tally/Machine/Machine.h"
#include "tally/Model/Bindings.h"
#include "tally/Model/Iterations.h"

namespace tally {

/// dst = a op b on the machine.
uint64_t aluValue(AluOp op, uint64_t a, uint64_t b, const Machine &machine);

/// Whether an operation does anything that others can see, or waits for others.
inline bool touchesOutside(OpKind kind) {
  return kind == OpKind::Issue || kind == OpKind::Wait || kind == OpKind::Signal ||
         kind == OpKind::Reset || kind == OpKind::Drain;
}

/// For each bracket its partner: begins know their end (an IfBegin its `Else`, if there is one, and
/// the `Else` its IfEnd), ends their begin. Only for code that verifyCode() accepts.
std::vector<uint32_t> matchBrackets(const std::vector<Op> &ops);

class EngineRun {
public:
  /// For code that verifyCode() accepts. The arguments must outlive the run.
  EngineRun(const Kernel &kernel, const Code &code, const Machine &machine,
            const Bindings &bindings, EngineId engine);

  bool atEnd() const { return place == program->ops.size(); }

  /// Index of the operation that comes next; the number of operations at the end.
  uint32_t at() const { return place; }

  const Op &head() const { return program->ops[place]; }

  uint32_t partnerOf(uint32_t op) const { return match[op]; }

  /// Executes the head and goes on.
  void advance() {
    const Op &op = head();
    switch (op.kind) {
    case OpKind::Alu:
      registers[op.dst.value] =
          static_cast<uint32_t>(aluValue(op.alu, value(op.a), value(op.b), *machine));
      ++place;
      return;
    case OpKind::LoopBegin:
      return beginLoop(op);
    case OpKind::LoopEnd:
      return endLoop();
    case OpKind::IfBegin:
      return beginIf(op);
    case OpKind::Else: // from the then-branch only, as beginIf() jumps past it
      leave();
      place = match[place] + 1;
      return;
    case OpKind::IfEnd:
      leave();
      ++place;
      return;
    case OpKind::WhenBegin:
      place = value(op.a) != 0 ? place + 1 : match[place] + 1;
      return;
    default: // what touches the outside is for others; other brackets do nothing by themselves
      ++place;
      return;
    }
  }

  /// Executes control and register operations up to the next one that touches the outside (Issue,
  /// Wait, Signal, Reset, Drain) and returns it; null at the end of the code. Operations already
  /// returned are passed on the next call.
  const Op *next();

  /// The value of an operand now.
  uint64_t value(Operand operand) const {
    return operand.isRegister ? registers[operand.value] : operand.value;
  }

  /// The kernel loops and branches being run, root excluded, outermost first.
  const std::vector<LoopIteration> &active() const { return stack; }

  /// How often the innermost of them runs this time.
  uint64_t tripsNow() const { return trips.back(); }

  /// Whether `limit` loop iterations and operations were exceeded; next() then returns null.
  bool exhausted() const { return outOfFuel; }

  void setFuel(uint64_t operations) { fuel = operations; }

private:
  void beginLoop(const Op &op);
  void beginIf(const Op &op);
  void setCounter(const Op &loopBegin);

  void endLoop() {
    if (stack.back().iteration + 1 == trips.back()) {
      leave();
      ++place;
      return;
    }
    ++stack.back().iteration;
    place = match[place];
    setCounter(head());
    ++place;
  }

  uint64_t tripsOf(LoopId loop) {
    auto iterationOf = [&](LoopId around) {
      return stack[kernel->loops[around].depth - 1].iteration;
    };
    return bindings->trips(program->engine, loop, ++reached[loop], iterationOf);
  }

  void enter(LoopId loop, uint64_t tripsOfIt) {
    stack.push_back({loop, 0});
    trips.push_back(tripsOfIt);
  }

  void leave() {
    stack.pop_back();
    trips.pop_back();
  }

  const Kernel *kernel;
  const Machine *machine;
  const Bindings *bindings;
  const EngineProgram *program;
  std::vector<uint32_t> match;
  std::vector<uint32_t> registers;
  std::vector<LoopIteration> stack;
  std::vector<uint64_t> trips;        ///< of each in the stack
  IdVector<LoopId, uint64_t> reached; ///< how often each loop's statement was reached
  uint32_t place = 0;
  bool pending = false;
  uint64_t fuel = UINT64_MAX;
  bool outOfFuel = false;
};

} // namespace tally

#endif // TALLY_RUN_INTERPRET_H
