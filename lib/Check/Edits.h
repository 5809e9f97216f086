//===- Edits.h - Changes of code, and how they are said -------------------===//
//
// What all proposals (Mends.h) are made of: places in the code of an engine, the code with
// something changed there, and the words for both.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_CHECK_EDITS_H
#define TALLY_LIB_CHECK_EDITS_H

#include "Mends.h"

#include <string>

namespace tally::check {

/// Whether an operation is one of those that may stand between a wait and its instruction.
bool isStraight(const Op &op);

bool isRaise(const Op &op);

/// The waits directly before an instruction, its own first.
std::vector<uint32_t> waitsBefore(const std::vector<Op> &ops, uint32_t at);

/// The first instruction from there on; none if there is none.
InstrId instrAfter(const std::vector<Op> &ops, uint32_t at);

/// factor * register + offset; without a register, offset.
struct Formula {
  RegId reg;
  int64_t factor = 1;
  int64_t offset = 0;
};

class Edits {
public:
  Edits(const MendSubject &subject, const TryMend &tryMend)
      : subject(subject), kernel(subject.kernel), code(subject.code), isWaitedFor(waitedFor(code)),
        tryMend(tryMend) {}

  const std::vector<Op> &opsOf(EngineId engine) const { return code.engines[engine].ops; }

  /// Where the code issues an instruction.
  std::vector<uint32_t> issuesOf(const Code &program, InstrId instr) const;

  /// By how much a semaphore is raised, each amount once.
  std::vector<uint32_t> amountsRaised(SemaId sema) const;

  /// Explains what the text names and the code that was given does not have.
  bool propose(std::string kind, std::string text, MendedCode program) const;

  /// The code with a change of one engine.
  template <typename Edit>
  bool change(std::string kind, EngineId engine, Edit edit, std::string text) const {
    MendedCode program = code;
    edit(program.engines[engine]);
    return propose(std::move(kind), std::move(text), std::move(program));
  }

  static void insert(EngineProgram &program, uint32_t at, const std::vector<Op> &ops) {
    program.ops.insert(program.ops.begin() + at, ops.begin(), ops.end());
  }

  /// Whether a register is one of the code that was given: no mend made it.
  bool isGiven(EngineId engine, RegId reg) const;

  //===--- Naming ---------------------------------------------------------===//

  /// `'load' on 'dma'`, `the wait before 'load' on 'dma'`.
  std::string waiterText(const EngineProgram &program, uint32_t at) const;

  /// `, before 'load'`: where an engine does something by itself.
  std::string placeText(EngineId engine, uint32_t at) const;

  std::string_view name(const Code &program, SemaId sema) const {
    return program.semaphores[sema].name;
  }

  const MendSubject &subject;
  const Kernel &kernel;
  const MendedCode &code;
  const IdVector<SemaId, bool> isWaitedFor;

private:
  std::string withMade(std::string text, const MendedCode &program) const;

  const TryMend &tryMend;
};

/// A register for a mend; `meaning` follows its name: `counts the runs of 'load' from 1`.
RegId addRegister(MendedCode &program, EngineId engine, std::string_view base, std::string meaning);

SemaId addSemaphore(MendedCode &program, const std::string &base);

/// `3 * "r0" - 1`
std::string formulaText(const EngineProgram &program, const Formula &formula);

std::string operandText(const EngineProgram &program, Operand operand, int64_t offset);

} // namespace tally::check

#endif // TALLY_LIB_CHECK_EDITS_H
