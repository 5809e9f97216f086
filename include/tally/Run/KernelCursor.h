//===- KernelCursor.h - One engine's way through a kernel -----------------===//
//
// What is known of control without any code: the tree, in order, with the trips that an engine is
// bound to. A cursor stops at
//
//   Enter   one entry of a body, the root first
//   Instr   one run of an instruction of this engine
//   Leave   the end of an entry
//
// and says at each stop where all loops around are.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_RUN_KERNELCURSOR_H
#define TALLY_RUN_KERNELCURSOR_H

#include "tally/Model/Bindings.h"
#include "tally/Model/Tiles.h"
#include "tally/Support/Stop.h"

namespace tally {

class KernelCursor {
public:
  enum class Stop : uint8_t { Enter, Instr, Leave, End };

  /// For a kernel that check() accepts; no engine: all of them together, where they agree on trips.
  /// Each entry and run takes one of `fuel`, and one more for each eight loops around, as vectors
  /// of iterations get longer. Several cursors may share it; without any left, nothing more is
  /// entered or run. The arguments must outlive the cursor.
  KernelCursor(const Kernel &kernel, const Bindings &bindings, EngineId engine, Fuel &fuel);

  /// Goes on to the next stop.
  Stop next();

  /// Goes on to the next run of an instruction; false at the end.
  bool nextRun() {
    Stop at = next();
    while (at != Stop::Instr && at != Stop::End) {
      at = next();
    }
    return at == Stop::Instr;
  }

  /// What is done at a stop may take fuel, too.
  void spend(uint64_t amount) { fuel.spend(amount); }

  /// Whether the fuel did not suffice, at the end.
  bool isCutOff() const { return fuel.isOut(); }

  /// Of Enter and Leave.
  LoopId body() const { return open.back().body; }

  /// Of Instr.
  InstrId instr() const { return current; }

  /// Iterations of the real loops around, and of the body itself, outermost first, without the
  /// root. They count from 1, as in distances of dependences.
  const std::vector<uint32_t> &iterations() const { return vector; }

  /// Where a loop or branch around is. Of others, where it was last.
  const LoopIndex &index(LoopId loop) const { return indices[loop]; }

  /// The values of the kernel in this run.
  std::span<const int64_t> values() const { return bindings.values(); }

  /// The same of all that are open, outermost first, without the root.
  template <typename Visit> void forIndices(Visit visit) const {
    for (size_t i = 1; i < open.size(); ++i) {
      visit(indices[open[i].body]);
    }
  }

private:
  /// An entry of a body, and what comes next in it.
  struct Entry {
    LoopId body;
    uint32_t stmt = 0;
    uint32_t instr = 0; ///< of a block
  };

  bool begin(LoopId loop);
  bool enter(LoopId loop, int64_t iteration);
  bool findInstr(const Stmt &block, Entry &entry);
  Stop goOn();
  void leave();

  const Kernel &kernel;
  const Bindings &bindings;
  const EngineId engine;
  Fuel &fuel;
  IdVector<LoopId, uint64_t> reached; ///< how often each loop's statement was
  IdVector<LoopId, LoopIndex> indices;
  std::vector<Entry> open;
  std::vector<uint32_t> vector;
  InstrId current;
  bool isLeaving = false; ///< the innermost entry is at its end, and that was said
};

} // namespace tally

#endif // TALLY_RUN_KERNELCURSOR_H
