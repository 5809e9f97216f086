//===- Effects.h - What each run of an instruction does to memory ---------===//
//
// An instruction has its effect when it commits: at that moment it reads its operands, computes
// (ComputeText.h) and writes. So an order of commits says all about the data of a run, wherever it
// comes from: the sequential run, a simulated one, a schedule.
//
//   Diagnostics problems;
//   Runs runs(kernel, bindings, problems);
//   std::optional<Effects> effects = Effects::of(kernel, runs, problems);
//   DataRun data(*effects, memory);
//   for (Instance instance : runs.order()) {
//     data.commit(instance);
//   }
//
// Nothing stops at a fault (poison that is read, an index that leads nowhere): what comes of it is
// poison, and the fault is told.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_DATA_EFFECTS_H
#define TALLY_DATA_EFFECTS_H

#include "tally/Data/Memory.h"
#include "tally/Data/Runs.h"

#include <memory>
#include <optional>

namespace tally {

/// Something that a run should not have come to. One for each kind, instruction and buffer: the
/// first.
struct DataFault {
  enum class Kind : uint8_t {
    PoisonRead,  ///< of an element that is not written yet
    PoisonIndex, ///< of rows, or where they go
    BadIndex,    ///< beyond the rows of `buffer`
    NothingKept, ///< `kept`, but no tile of its shape is
  };
  Kind kind = Kind::PoisonRead;
  Instance instance;    ///< the first
  BufferId buffer;      ///< that was read; of an index: whose rows were meant; NothingKept: none
  size_t element = 0;   ///< PoisonRead
  float index = 0;      ///< BadIndex
  uint64_t count = 0;   ///< runs in which it happened
  Instance latest = {}; ///< of them
};

struct Effects {
  /// For a kernel that check() accepts. Errors: instructions that write and do not say what;
  /// tiles beyond their buffers; shapes that do not fit; places that are not known.
  static std::optional<Effects> of(const Kernel &kernel, const Runs &runs,
                                   Diagnostics &diagnostics);

  struct Table;
  std::shared_ptr<const Table> table;
};

class DataRun {
public:
  /// Starts with this memory, one buffer of the right format for each of the kernel.
  DataRun(const Effects &effects, Memory memory);
  DataRun(DataRun &&) noexcept;
  ~DataRun();

  /// Remembers which run writes this element last.
  void watch(BufferId buffer, size_t element);

  /// Lets a run of an instruction have its effect. Runs that the kernel does not have do nothing.
  void commit(Instance instance);

  const Memory &memory() const { return contents; }

  /// In the order in which they were first seen.
  const std::vector<DataFault> &faults() const { return found; }

  std::optional<Instance> lastWriter() const { return writer; }

  /// Whether any element was written: guards that do not hold write none.
  bool hasWritten() const { return written; }

private:
  class Computation;
  class Step;
  struct Scratch;

  const Effects &effects;
  Memory contents;
  std::vector<DataFault> found;
  BufferId watchedBuffer;
  size_t watchedElement = 0;
  std::optional<Instance> writer;
  bool written = false;
  std::unique_ptr<Scratch> scratch;
};

/// `'scale' at A=2 reads X[1, 5], which nothing has written yet`
std::string describe(const Kernel &kernel, const Runs &runs, const DataFault &fault);

/// How a run ended and what the sequential one holds instead.
struct DataDifference {
  BufferId buffer;
  size_t element = 0;
  std::optional<Instance> writer;           ///< of the differing element; none: never written
  std::optional<Instance> sequentialWriter; ///< whose number should be there
  std::string value;                        ///< as text; `poison`
  std::string sequentialValue;
};

/// The first element in each buffer that differs after these commits and after those of the
/// sequential run, both from this memory; and which run wrote it.
std::vector<DataDifference> compareWithSequential(const Effects &effects, const Runs &runs,
                                                  const Memory &memory,
                                                  const std::vector<Instance> &commits);

} // namespace tally

#endif // TALLY_DATA_EFFECTS_H
