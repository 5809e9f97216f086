//===- Datapath.h - What instructions do to memory, opaquely --------------===//
//
// What an instruction computes is none of a synchroniser's business; whether it saw the
// right operands is. So a value is the story of its making:
//
//   value = (instruction, its run, the values of all that it read)
//
// and two runs of a kernel computed the same if and only if the values in memory are the same.
// Effects of instructions that touch different memory commute; effects that conflict do not.
//
// Memory is cut into *cells*: the coarsest pieces, box by box, such that every access touches a
// cell wholly or not at all. A kernel without accesses gets one cell for each dependence, which
// the producer writes and the consumer reads. A tile whose place is not known (`X[@]`, or an index
// with a `$n`) touches the whole dimension.
//
// An accumulation reads what it writes.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_CHECK_DATAPATH_H
#define TALLY_CHECK_DATAPATH_H

#include "tally/Check/Step.h"
#include "tally/Model/Bindings.h"
#include "tally/Model/Outside.h"
#include "tally/Support/Stop.h"

#include <map>
#include <memory>
#include <span>

namespace tally {

using CellId = Id<struct CellTag>;
using ValueId = Id<struct ValueTag>;

/// What one run of an instruction touches; cells in ascending order, each once.
struct Footprint {
  std::vector<CellId> reads;
  std::vector<CellId> writes;
  std::vector<CellId> accumulates;

  /// Calls visit(cell, kind).
  template <typename Visit> void forEach(Visit visit) const {
    for (auto [cells, kind] : {std::pair(&reads, AccessKind::Read),
                               {&writes, AccessKind::Write},
                               {&accumulates, AccessKind::Accumulate}}) {
      for (CellId cell : *cells) {
        visit(cell, kind);
      }
    }
  }
};

/// That an access touches a cell: in which runs, from 0.
struct CellTouch {
  CellId cell;
  uint32_t first = 0;
  uint32_t last = 0;
};

class Datapath {
public:
  /// Walks every engine of a kernel that check() accepts. Stops after this many runs
  /// of instructions; then complete() says no. `withTouches`: touches() is asked for.
  Datapath(const Kernel &kernel, const Bindings &bindings, const Fuel &fuel = 20'000'000,
           bool withTouches = false);
  Datapath(const Datapath &) = delete;
  Datapath &operator=(const Datapath &) = delete;

  /// Whether all runs of all instructions are known.
  bool complete() const { return isComplete; }

  /// The first run of each access that leaves its buffer. Its tile is taken for memory of its own.
  const std::vector<OutsideRun> &outside() const { return outsideRuns; }

  /// Whether some run touches its tile.
  bool isTouched(AccessId access) const { return touched[access]; }

  /// What an access touches; cells in ascending order.
  std::span<const CellTouch> touches(AccessId access) const { return cellTouches[access]; }

  size_t numCells() const { return cellTexts.size(); }

  /// `X[1, 0:128]`, or `'load' -> 'scale'` for the cell of a dependence.
  std::string_view describe(CellId cell) const { return cellTexts[cell]; }

  /// Runs that the datapath does not know (those that only wrong code has) touch nothing.
  const Footprint &footprint(Instance instance) const;

  /// What every cell holds at first: a value of its own.
  std::vector<ValueId> initial() const;

  /// Lets a run of an instruction have its effect.
  void commit(std::vector<ValueId> &memory, Instance instance);

private:
  friend class DatapathBuilder;

  ValueId valueOf(Instance instance, const std::vector<ValueId> &operands);

  const Kernel &kernel;
  bool isComplete = true;
  std::vector<OutsideRun> outsideRuns;
  IdVector<AccessId, bool> touched;
  IdVector<AccessId, std::vector<CellTouch>> cellTouches;
  IdVector<CellId, std::string> cellTexts;
  std::vector<Footprint> footprints;
  IdVector<InstrId, std::vector<uint32_t>> footprintOf; ///< by run
  Footprint nothing;
  std::map<std::pair<Instance, std::vector<ValueId>>, ValueId> values; ///< by story
};

} // namespace tally

#endif // TALLY_CHECK_DATAPATH_H
