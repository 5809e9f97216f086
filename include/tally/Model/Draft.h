//===- Draft.h - A kernel as a tree that can be edited --------------------===//
//
// A kernel is never edited. It is turned into a draft, a tree of nodes that name what they were in
// it; the draft is edited, and a kernel is built of what is left:
//
//   Draft draft = draftOf(kernel);
//   draft.body.erase(...);
//   Kernel less = built(kernel, draft);
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_MODEL_DRAFT_H
#define TALLY_MODEL_DRAFT_H

#include "tally/Model/Kernel.h"

namespace tally {

/// An instruction, a loop, or an `if` with two bodies.
struct DraftNode {
  InstrId instr; ///< none for loops and `if`s
  LoopId loop;   ///< the loop, or the then-branch
  Trip trip;
  bool uniform = true;
  RegionSync sync = RegionSync::AsAround;
  uint32_t unroll = 1;
  std::string name; ///< of a loop that gets another one, also in all that its body says of it
  QueueId queue;    ///< of the instruction
  std::vector<DraftNode> body;
  std::vector<DraftNode> elseBody;
};

struct DraftDep {
  Dep dep; ///< ends, kind, form, step; its components follow
  std::vector<DistanceComponent> components;
};

struct Draft {
  std::vector<DraftNode> body;
  std::vector<DraftDep> deps;                          ///< go with their ends
  std::vector<uint32_t> reserved;                      ///< semaphores
  IdVector<EngineId, std::vector<uint32_t>> registers; ///< reserved
  std::vector<Pin> pins;                               ///< go with their instructions
  IdVector<AccessId, bool> touches;                    ///< accesses that are left
  IdVector<BufferId, bool> buffers;                    ///< that are left; all that are touched are
  IdVector<QueueId, bool> queues; ///< that are left; an engine with one always has its own
  IdVector<QueueId, uint32_t> weights;
  IdVector<QueueId, Completion> completions;
};

Draft draftOf(const Kernel &kernel);

/// `kernel` is what the draft was made of. What its loops are called now must not be taken.
Kernel built(const Kernel &kernel, const Draft &draft);

} // namespace tally

#endif // TALLY_MODEL_DRAFT_H
