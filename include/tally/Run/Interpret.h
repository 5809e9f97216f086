//===- Interpret.h - Runs one engine's code, control only -----------------===//
//
// Walks the code of one engine with given trip counts and calls back at each
// operation, registers up to date. No other engine runs and no wait blocks: this answers
// "which value does it wait for the 7th time", not "does it get through".
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_RUN_INTERPRET_H
#define TALLY_RUN_INTERPRET_H

#include "tally/Code/Code.h"
#include "tally/Machine/Machine.h"
#include "tally/Model/Bindings.h"
#include "tally/Model/Iterations.h"

#include <functional>

namespace tally {

class EngineRun {
public:
  /// For code that verifyCode() accepts. The arguments must outlive the run.
  EngineRun(const Kernel &kernel, const Code &code, const Machine &machine,
            const Bindings &bindings, EngineId engine);

  /// Executes control and register operations up to the next one that touches the outside (Issue,
  /// Wait, Signal, Reset, Drain) and returns it; null at the end of the code. Operations already
  /// returned are passed on the next call.
  const Op *next();

  /// The value of an operand now.
  uint64_t value(Operand operand) const;

  /// The kernel loops and branches being run, root excluded, outermost first.
  const std::vector<LoopIteration> &active() const { return stack; }

  /// Whether `limit` loop iterations and operations were exceeded; next() then returns null.
  bool exhausted() const { return outOfFuel; }

  void setFuel(uint64_t operations) { fuel = operations; }

private:
  void step();
  void beginLoop(const Op &op);
  void endLoop();
  void beginIf(const Op &op);
  void enter(LoopId loop, uint64_t trips);
  void leave();
  void setCounter(const Op &loopBegin);

  const Kernel &kernel;
  const Machine &machine;
  const Bindings &bindings;
  const EngineProgram &program;
  std::vector<uint32_t> match; ///< index of the matching begin/end of each bracket
  std::vector<uint64_t> registers;
  std::vector<uint64_t> remaining; ///< iterations left, for each active loop
  std::vector<LoopIteration> stack;
  IdVector<LoopId, uint64_t> reached; ///< how often each loop's statement was reached
  size_t at = 0;
  bool pending = false;
  uint64_t fuel = UINT64_MAX;
  bool outOfFuel = false;
};

/// dst = a op b on the machine.
uint64_t aluValue(AluOp op, uint64_t a, uint64_t b, const Machine &machine);

} // namespace tally

#endif // TALLY_RUN_INTERPRET_H
