//===- Turns.h - Where code goes on otherwise beyond a number -------------===//
//
// Code may be right until a counter passes a number, and wrong from then on:
//
//   "u" = "t" min 20          waits for less than it should, from the 21st iteration
//   "u" = "t" gt 20, - 20     something else begins there
//   255 in 8 bits             a semaphore or a register begins again at 0
//
// Each such place is a *turn*. It is passed in a run in which the counter goes beyond the number;
// which runs do is found by following each engine alone (Run/Interpret.h). A number is written, or
// lies in a register that no loop or branch changes. Two counters that are compared with each other
// make no turn.
//
// Counters of compiled code have the bounds that its plan states, so the width of the machine is a
// turn of hand-written code alone.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_CHECK_TURNS_H
#define TALLY_CHECK_TURNS_H

#include "tally/Check/Choices.h"
#include "tally/Code/Code.h"

namespace tally {

struct Turn {
  EngineId engine; ///< none: of a semaphore
  uint32_t op = 0;
  SemaId sema;
  bool isLimit = false; ///< of the machine; otherwise of the code
  /// Whether the bounds of the kernel let the counter get there. For the limit of a machine, loops
  /// without a `max` do not count.
  bool isReached = false;
  bool isFar = false; ///< no run that is short enough gets there
};

class Turns {
public:
  /// For code that verifyCode() accepts. The arguments must outlive this.
  Turns(const Kernel &kernel, const Code &code, const Machine &machine);

  const std::vector<Turn> &all() const { return turns; }

  /// Which of them a run passes; none if it takes more than `fuel` operations, which it uses up.
  std::optional<std::vector<bool>> passedIn(const Bindings &bindings, uint64_t &fuel) const;

  /// `"t" on 'act' was never beyond 20, where "u" is made of it`
  std::string neverText(const Turn &turn) const;

private:
  class Bounds;

  void addNumbers(const Bounds &bounds, EngineId engine);
  void addLimits(const Bounds &bounds, EngineId engine);
  void addSemaphores(const Bounds &bounds);
  void add(Turn turn);
  bool passes(const Turn &turn, uint64_t a, uint64_t b) const;
  bool isSteady(EngineId engine, Operand operand) const;

  const Kernel &kernel;
  const Code &code;
  const Machine &machine;
  std::vector<Turn> turns;
  IdVector<EngineId, std::vector<uint32_t>> turnAt; ///< by operation; none: UINT32_MAX
  /// By register: no loop, branch or condition is around what changes it.
  IdVector<EngineId, std::vector<bool>> steady;
};

/// Adds runs that pass each turn, and those of one iteration fewer and more: of each loop alone,
/// and of all loops. The work of the search is counted, so it may leave turns out.
void addTurningRuns(const Turns &turns, const Kernel &kernel, std::vector<RunChoice> &runs,
                    const StopFlag *stop = nullptr);

} // namespace tally

#endif // TALLY_CHECK_TURNS_H
