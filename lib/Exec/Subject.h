//===- Subject.h - Code that can be executed, with all that it needs ------===//
//
// Whatever the trips are, the shapes of all tiles are numbers, and each instruction that writes
// says what. Everything that is not so is reported, all at once.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_EXEC_SUBJECT_H
#define TALLY_LIB_EXEC_SUBJECT_H

#include "Target.h"

#include "../Data/EffectTable.h"

#include "tally/Exec/ProgramOptions.h"

namespace tally::exec {

using data::Effect;
using data::Shape;

/// What a queue keeps.
struct Kept {
  Shape shape;
  Kind kind = Kind::Number;
};

/// What the thread of a queue may be told to do: an instruction, and what is raised then.
struct Task {
  InstrId instr;
  SemaId signal;
  uint32_t amount;

  auto operator<=>(const Task &) const = default;
};

struct Subject {
  const Kernel &kernel;
  const Code &code;
  Machine machine;
  ProgramOptions options;
  std::vector<int64_t> values; ///< of the kernel, to read tiles with; none of them shows
  IdVector<BufferId, Format> formats;
  IdVector<InstrId, std::optional<Effect>> effects; ///< none: it does nothing
  IdVector<InstrId, IdVector<ComputeId, Kind>> kinds;
  IdVector<InstrId, std::vector<Count>> counts; ///< what each asks of the loops around it
  IdVector<InstrId, std::optional<Kept>> kept;  ///< when each begins
  IdVector<QueueId, uint64_t> keptSizes;        ///< the most elements

  /// Whether it is a call of a function that the user writes.
  bool isCall(InstrId id) const { return options.calls && !kernel.instrs[id].computes.valid(); }

  /// Whether a queue has a thread of its own; the first of an engine runs on the engine's, mostly.
  bool hasThread(QueueId queue) const {
    return options.queueThreads || kernel.engines[kernel.queues[queue].engine].queues[0] != queue;
  }

  /// Whether each run says how often it is run; otherwise it is constant, or follows a formula or
  /// condition.
  bool isVariable(LoopId loop) const {
    const Trip &trip = kernel.loops[loop].trip;
    return trip.kind == Trip::Kind::Value || trip.isOpaque();
  }

  /// The most counts that an instruction of a queue asks for, at least 1.
  size_t numCounts(QueueId queue) const;

  /// The bits of registers and semaphores.
  uint32_t wordMask() const {
    return static_cast<uint32_t>((uint64_t(1) << machine.counterBits) - 1);
  }

  /// What has to be changed in both sides of a comparison with a sign, to compare without one.
  uint32_t waitFlip() const {
    return machine.waitCompare == WaitCompare::Signed ? (wordMask() >> 1) + 1 : 0;
  }

  const BodyTile &bodyOf(const data::Tile &tile) const { return (*kernel.tiles)[tile.access()]; }
};

/// The loop at this depth around `home`; 0 is the outermost one.
LoopId loopAt(const Kernel &kernel, LoopId home, uint32_t depth);

/// By buffer: whether it must hold something before a run, as it is read and never written, or
/// whatever is read of it first is read before anything is written.
IdVector<BufferId, bool> neededBuffers(const Subject &subject);

/// None, with the reasons reported, if it cannot be executed.
std::optional<Subject> prepare(const Kernel &kernel, const Code &code, const Machine &machine,
                               Diagnostics &diagnostics, const ProgramOptions &options = {});

} // namespace tally::exec

#endif // TALLY_LIB_EXEC_SUBJECT_H
