//===- RaceStory.h - What reports about races look up ---------------------===//
//
// A finding names runs of instructions and places in trajectories. A person looks for names,
// iterations, what is waited for and what should be: this class finds these.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_CHECK_RACESTORY_H
#define TALLY_LIB_CHECK_RACESTORY_H

#include "RaceRun.h"
#include "tally/Run/Interpret.h"

namespace tally::check {

/// One passed or pending wait of an engine.
struct WaitAt {
  const Op *op = nullptr;
  uint32_t at = 0; ///< in the trajectory
  uint32_t threshold = 0;
};

/// What happened to the register of a threshold before it was read.
struct RegisterStory {
  enum class Kind : uint8_t {
    Fresh,     ///< written since the last wait that read it
    NeverSet,  ///< never written: it still holds 0
    SameWait,  ///< last written before an earlier run of the same wait
    OtherWait, ///< last written before a wait on another semaphore
  };
  Kind kind = Kind::Fresh;
  WaitAt before; ///< the earlier wait
};

/// Looks things up about a subject.
class Story {
public:
  using Active = std::vector<LoopIteration>;

  explicit Story(const RaceSubject &subject)
      : subject(subject), kernel(subject.kernel), code(subject.code), system(subject.system) {}

  std::string_view sema(SemaId id) const { return code.semaphores[id].name; }

  const std::vector<ImplPoint> &points(EngineId engine) const { return system.trajectory(engine); }

  const Op &opAt(EngineId engine, uint32_t at) const;

  WaitAt waitAt(EngineId engine, uint32_t at) const;

  QueueId queueOf(InstrId instr) const { return kernel.instrs[instr].queue; }

  /// The number of an instance in its queue, from 1; 0 if it is never issued.
  uint32_t numberOf(Instance instance) const;

  uint32_t placeOf(Instance instance) const;

  /// The loops that an engine is in at a place of its trajectory; operations are counted by those
  /// that touch the outside.
  Active activeAt(EngineId engine, uint32_t at) const;

  std::string iterationAt(EngineId engine, uint32_t at) const;

  Active activeOf(Instance instance) const;

  /// `'load' (A = 2)`.
  std::string nameOf(Instance instance) const;

  /// The instruction that an operation is or comes before; none at the end.
  InstrId instrAfter(EngineId engine, uint32_t at) const;

  /// Of that instruction; at the end, of the operation itself.
  Location whereAt(EngineId engine, uint32_t at) const;

  /// `'use' on 'act'`, `the wait before 'use' on 'act'`.
  std::string operationText(EngineId engine, uint32_t at) const;

  /// Where an operation, numbered over all engines, is executed first.
  std::pair<EngineId, uint32_t> firstRunOf(uint32_t number) const;

  /// What an instruction's completion brings its semaphore to, all of its queue's counted from the
  /// start.
  uint64_t valueAfter(QueueId queue, uint32_t number, SemaId semaphore) const;

  /// Whether some engine sets it to zero: then no value stands for a run.
  bool isReset(SemaId semaphore) const;

  /// The waits directly before an instruction, its own last.
  std::vector<WaitAt> waitsBefore(EngineId engine, uint32_t at) const;

  RegisterStory registerStory(EngineId engine, uint32_t at) const;

  /// A note about the register of a wait, if there is something to say.
  std::string registerNote(EngineId engine, uint32_t at) const;

  const RaceSubject &subject;
  const Kernel &kernel;
  const Code &code;
  const ImplSystem &system;

private:
  bool isLoopCounter(EngineId engine, RegId reg) const;
};

} // namespace tally::check

#endif // TALLY_LIB_CHECK_RACESTORY_H
