//===- Turns.h - Where code goes on otherwise beyond a number -------------===//
//
// Code may be right until a counter passes a number, and wrong from then on:
//
//   "u" = "t" min 20          waits for less than it should, from the 21st iteration
//   "u" = "t" gt 20, - 20     something else begins there
//   255 in 8 bits             a semaphore or a register begins again at 0
//
//   "u" = 15 * "t"            and a queue that raises by 16: the wait falls behind, and is too
//                             little from the 16th iteration on
//
// Each such place is a *turn*. It is passed in a run that sees both sides of it: values that are
// compared have been less and more, or as far apart as counts. Which runs do is found by following
// each engine alone (Run/Interpret.h). What two comparisons decide together, or what is counted in
// no regular way, has no such place; it is *open* (RegisterForms.h).
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
  enum class Kind : uint8_t {
    Number, ///< two values that are compared
    Limit,  ///< of the machine
    Drift,  ///< a wait that goes on by another number than its semaphore
  };
  Kind kind = Kind::Number;
  EngineId engine = {}; ///< none: of a semaphore
  uint32_t op = 0;
  SemaId sema = {};
  bool needsLess = false, needsMore = false; ///< Number: sides that a run has to see
  uint64_t far = 0;                          ///< Drift: how far apart they have to be
  bool isFar = false;                        ///< no run that is short enough gets there
};

class Turns {
public:
  /// For code that verifyCode() accepts. `longest` is the longest distance of what it is held to;
  /// `given`: what all runs have in common. The arguments must outlive this.
  Turns(const Kernel &kernel, const Code &code, const Machine &machine, RunChoice given,
        uint64_t longest = 0);

  const std::vector<Turn> &all() const { return turns; }

  /// `one` so often, and those that it is not once; none: all of them. Branches are taken or not.
  RunChoice choiceWith(LoopId one, bool taken, uint64_t count) const;

  /// Whether each run chooses how often a loop runs.
  bool isLeftOpen(LoopId loop) const;

  bool leavesGuardsOpen() const { return given.bindings.leavesGuardsOpen(); }

  /// Waits whose values no run tells of, as sentences.
  const std::vector<std::string> &open() const { return openTexts; }

  /// Which of them a run passes; none if it takes more than `fuel` operations, which it uses up.
  std::optional<std::vector<bool>> passedIn(const Bindings &bindings, uint64_t &fuel) const;

  /// `"t" on 'act' was never beyond 20, where "u" is made of it`
  std::string neverText(const Turn &turn) const;

private:
  class Bounds;
  class Following;

  void addNumbers(const Bounds &bounds, EngineId engine);
  void addOpen(EngineId engine, uint32_t op);
  void addLimits(const Bounds &bounds, EngineId engine);
  void addSemaphores(const Bounds &bounds);
  void addDrifts(uint64_t longest);
  void addDrift(LoopId loop, uint64_t longest, uint64_t &fuel);
  void addDrifts(const Following &one, const Following &other, uint64_t more, uint64_t longest);
  void add(Turn turn);

  const Kernel &kernel;
  const Code &code;
  const Machine &machine;
  const RunChoice given;
  std::vector<Turn> turns;
  std::vector<std::string> openTexts;
  /// By operation; none: UINT32_MAX. An operation has one place where values are compared, or one
  /// that waits.
  IdVector<EngineId, std::vector<uint32_t>> turnAt;
};

/// Adds runs that pass each turn, and those of one iteration fewer and more: of each loop alone,
/// and of all loops. The work of the search is counted, so it may leave turns out.
void addTurningRuns(const Turns &turns, const Kernel &kernel, std::vector<RunChoice> &runs,
                    const StopFlag *stop = nullptr);

} // namespace tally

#endif // TALLY_CHECK_TURNS_H
