//===- Code.h - Code for each engine --------------------------------------===//
//
// What a sequencer executes: loops and branches of the kernel, instructions
// with at most one wait and one signal, and operations on registers and
// semaphores. One flat list of operations per engine, bodies bracketed by
// begin and end, so that a pass over the code is a pass over an array.
//
//   LoopBegin A        the engine runs the kernel's loop A
//     Alu r0 = r0 + 1
//     Issue scale      waits s1 >= r0, signals s0
//   LoopEnd
//
// Code is complete with the kernel it belongs to: loops, branches and
// instructions are named by the kernel's ids. Compiled and hand-written code are the
// same thing.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_CODE_CODE_H
#define TALLY_CODE_CODE_H

#include "tally/Machine/Rules.h"
#include "tally/Model/Strategy.h"

#include <algorithm>

namespace tally {

using SemaId = Id<struct SemaTag>;
using RegId = Id<struct RegTag>; ///< numbered per engine
using BarrierId = Id<struct BarrierTag>;

enum class OpKind : uint8_t {
  Issue,     ///< instruction `target`: waits, enters its queue, signals at retirement
  Wait,      ///< blocks until semaphore `wait` >= threshold `a`
  Signal,    ///< adds `amount` to semaphore `signal` at once
  Reset,     ///< sets semaphores signal, ..., signal + amount - 1 to zero, in one operation
  Drain,     ///< blocks until all instructions of this engine have retired
  Alu,       ///< dst = a op b
  LoopBegin, ///< kernel loop `target`; `dst`, if any, is its native counter, from 1; `amount`: see
             ///< WrittenLoop
  LoopEnd,
  IfBegin, ///< kernel branch `target` (the then-branch)
  Else,
  IfEnd,
  BarrierBegin, ///< opens the operations of barrier `target`; no effect of its own
  BarrierEnd,
  WhenBegin, ///< what follows, without loops or instructions, only if `a` is not zero
  WhenEnd,
};

/// Whether an operation opens, or closes, a bracket around others.
constexpr bool opensBracket(OpKind kind) {
  return kind == OpKind::LoopBegin || kind == OpKind::IfBegin || kind == OpKind::BarrierBegin ||
         kind == OpKind::WhenBegin;
}

constexpr bool closesBracket(OpKind kind) {
  return kind == OpKind::LoopEnd || kind == OpKind::IfEnd || kind == OpKind::BarrierEnd ||
         kind == OpKind::WhenEnd;
}

enum class AluOp : uint8_t {
  Move, ///< a
  Add,
  Sub, ///< wraps or saturates, as the machine does
  Mul,
  Min,
  IsGT, ///< unsigned; 1 if a > b, otherwise 0
};
template <> // of JSON and certificates; text has signs
inline constexpr auto wordsOf<AluOp> = words("move", "add", "sub", "mul", "min", "gt");

/// A register or a number.
struct Operand {
  uint32_t value = 0;
  bool isRegister = false;

  static Operand number(uint32_t n) { return {n, false}; }

  static Operand reg(RegId r) { return {r.value, true}; }

  RegId asRegister() const { return RegId(value); }

  bool operator==(const Operand &) const = default;
};

struct Op {
  OpKind kind = OpKind::Alu;
  AluOp alu = AluOp::Move;
  /// A wait directly in an unrolled loop: only the first body of each pass tests. The others would
  /// pass in any case, since the threshold stays as it is there and semaphores only grow; so this
  /// is about how code is written, as WrittenLoop is.
  bool once = false;
  uint32_t numReasons = 0;  ///< dependences behind this operation's wait
  uint32_t firstReason = 0; ///< into Code::reasons
  uint32_t target = Id<void>::noneValue;
  SemaId wait = {};
  SemaId signal = {};
  uint32_t amount = 1;
  RegId dst = {};
  Operand a = {}; ///< left operand; the threshold of a wait
  Operand b = {};

  InstrId instr() const { return InstrId(target); }

  LoopId loop() const { return LoopId(target); }

  BarrierId barrier() const { return BarrierId(target); }

  static Op mark(OpKind kind, uint32_t target = Id<void>::noneValue) {
    return {.kind = kind, .target = target};
  }

  static Op issue(InstrId instr) { return mark(OpKind::Issue, instr.value); }

  static Op drain() { return mark(OpKind::Drain); }

  static Op ifBegin(LoopId thenBranch) { return mark(OpKind::IfBegin, thenBranch.value); }

  static Op whenBegin(Operand condition) { return {.kind = OpKind::WhenBegin, .a = condition}; }

  static Op makeWait(SemaId sema, Operand threshold) {
    return {.kind = OpKind::Wait, .wait = sema, .a = threshold};
  }

  static Op makeSignal(SemaId sema, uint32_t amount = 1) {
    return {.kind = OpKind::Signal, .signal = sema, .amount = amount};
  }

  static Op reset(SemaId first, uint32_t count) {
    return {.kind = OpKind::Reset, .signal = first, .amount = count};
  }

  static Op alu2(AluOp alu, RegId dst, Operand a, Operand b) {
    return {.kind = OpKind::Alu, .alu = alu, .dst = dst, .a = a, .b = b};
  }

  static Op move(RegId dst, Operand a) { return alu2(AluOp::Move, dst, a, {}); }

  static Op loopBegin(LoopId loop, RegId counter = {}) {
    return {.kind = OpKind::LoopBegin, .target = loop.value, .dst = counter};
  }

  bool operator==(const Op &) const = default;
};

struct Semaphore {
  std::string name; ///< unique in the code
};

/// What a register holds. The text is for listings alone: what is to be known is in the kind.
struct RegisterRole {
  enum class Kind : uint8_t {
    Temporary,     ///< nothing that lasts
    Total,         ///< entries of `loop`
    Trip,          ///< entries of `loop` in its current trip
    Slot,          ///< of a ring
    Rounds,        ///< rounds of a loop that have begun
    NextRound,     ///< after how many entries of a loop the next one begins
    Place,         ///< of the latest run of an instruction
    Running,       ///< retirements of a queue
    NextThreshold, ///< a threshold that is stepped; perhaps also other counters, in turn
    Several,       ///< other counters, in turn
    Written,       ///< what the text says, which came with the code
  };
  Kind kind = Kind::Temporary;
  LoopId loop;      ///< of Total and Trip
  std::string text; ///< "total(A)", "trip(A)", ...; empty for temporaries

  RegisterRole() = default;

  RegisterRole(Kind kind, LoopId loop, std::string text)
      : kind(kind), loop(loop), text(std::move(text)) {}

  /// As it is written.
  RegisterRole(std::string text)
      : kind(text.empty() ? Kind::Temporary : Kind::Written), text(std::move(text)) {}

  RegisterRole(const char *text) : RegisterRole(std::string(text)) {}

  bool operator==(const RegisterRole &) const = default;
};

struct Register {
  std::string name; ///< unique on the engine; `r0`, `r1`, ... without a given name
  RegisterRole role;
};

struct EngineProgram {
  EngineId engine;
  std::vector<Op> ops;
  IdVector<RegId, Register> registers;
};

struct Code {
  Strategy strategy = Strategy::Manual; ///< how it was made, or is said to have been made
  bool isCompiled = false;              ///< what bounds its counters is known
  std::string machine;
  /// The rules of that machine; none if the code was read from a form that does not hold them.
  std::optional<MachineRules> rules;
  IdVector<SemaId, Semaphore> semaphores;
  IdVector<EngineId, EngineProgram> engines;           ///< one for each engine of the kernel
  IdVector<BarrierId, std::vector<EngineId>> barriers; ///< participants
  std::vector<DepId> reasons;
};

/// Sizes of code, as the tables report them.
struct CodeSize {
  uint64_t operations = 0; ///< encoded: brackets count as the code they stand for
  uint64_t bytes = 0;
  uint32_t semaphores = 0;   ///< that some operation waits for or raises
  uint32_t maxRegisters = 0; ///< on the engine that uses most
  uint64_t waits = 0;        ///< operations that wait
};

/// The `amount` of a loop whose body only adds numbers to registers: `r0 = r0 + 1` is written as
/// `r0 = r0 + trips`, once, without a loop.
inline constexpr uint32_t atOnce = 0;

/// How a loop is written for the sequencer. What it does is the same in any case: only the encoder,
/// and code that counts the cost, need to know.
struct WrittenLoop {
  uint64_t inPass = 1;     ///< bodies for each branch back
  bool hasRest = false;    ///< a second loop, body by body, runs what is left of the last pass
  bool isStraight = false; ///< no loop: all bodies one after the other, or everything at once

  /// Bodies in the code.
  uint64_t copies() const { return inPass + hasRest; }

  /// Those of them that hold what only the first body of a pass has; a rest is body by body.
  uint64_t firstCopies() const { return 1 + hasRest; }

  /// Loops in the code.
  uint32_t loops() const { return isStraight ? 0 : 1 + hasRest; }

  /// Whether iteration `number`, from 1, of this many ends with a branch.
  bool branchesAfter(uint64_t number, uint64_t trips) const;

  /// Branches of this many iterations.
  double branches(double trips) const;

  /// Whether iteration `number`, from 1, of this many is not the first of its pass.
  bool repeats(uint64_t number, uint64_t trips) const;

  /// Iterations, of this many, that are the first of their pass.
  double passes(double trips) const { return isStraight ? std::min(trips, 1.0) : branches(trips); }
};

/// `begin` opens the loop.
WrittenLoop writtenLoop(const Kernel &kernel, const Op &begin);

/// How many machine instructions one operation is where it stands; brackets of loops count with
/// their loops.
uint32_t encodedSize(const Op &op);

/// How many machine instructions code is. A loop is its initialisation at the begin, and its
/// counter step with the branch at the end. `if` and `when` are a branch; brackets of a barrier
/// are nothing. Bodies that are written out count as often as they are.
CodeSize measure(const Kernel &kernel, const Code &code, uint32_t instructionBytes);

/// Of an engine: which operations stand inside the code of a barrier.
std::vector<bool> insideBarriers(const std::vector<Op> &ops);

/// Whether engines do the same; names, and reasons for waits, do not matter.
bool isSameCode(const Code &a, const Code &b);

/// Whether they do the same, however many bodies of a loop are written for a branch.
bool isSameButForBodies(const Code &a, const Code &b);

/// Which semaphores some engine resets.
IdVector<SemaId, bool> resetBy(const Code &code);

/// On which semaphores some engine waits; others order nothing.
IdVector<SemaId, bool> waitedFor(const Code &code);

/// Whether the code is well formed: brackets match the kernel's tree, each instruction on
/// its own engine and inside its own loops, registers and semaphores in range. With
/// `complete`, also that every engine issues each of its instructions that can run.
void verifyCode(const Kernel &kernel, const Code &code, Diagnostics &diagnostics,
                bool complete = false);

} // namespace tally

#endif // TALLY_CODE_CODE_H
