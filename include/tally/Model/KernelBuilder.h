//===- KernelBuilder.h - Builds a kernel, statement by statement ----------===//
//
// The one way to make a Kernel, used by every reader (MLIR, JSON) and by
// programs that have neither.
//
//   KernelBuilder b("double_buffer");
//   EngineId act = b.engine("act"), dma = b.engine("dma");
//   LoopId a = b.beginLoop("A", b.value("n"));
//   InstrId load = b.instr("load", b.queueOf(dma));
//   InstrId scale = b.instr("scale", b.queueOf(act));
//   b.endLoop();
//   b.dep(load, scale);                      // same iteration
//   b.dep(scale, load, {{a, 2}});            // two iterations of A later
//   Kernel kernel = b.finish();
//
// A builder accepts what check() (Check.h) then judges: duplicate names, wrong
// distances and the like are not its business. Only calls that make no tree at
// all (endLoop without beginLoop) are programming errors and assert.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_MODEL_KERNELBUILDER_H
#define TALLY_MODEL_KERNELBUILDER_H

#include "tally/Model/Kernel.h"

#include <initializer_list>
#include <span>

namespace tally {

class KernelBuilder {
public:
  explicit KernelBuilder(std::string_view name, Location where = {});

  /// The number of `path` for Location::file; equal paths have one. The first is what is read.
  uint32_t file(std::string_view path);

  /// An engine with one queue of its own name.
  EngineId engine(std::string_view name, Location where = {});

  /// A further queue of the engine declared last; only before any instruction.
  QueueId queue(std::string_view name, uint32_t weight = 1,
                Completion completion = Completion::Whole, Location where = {});

  /// The engine's own queue (the one with its name).
  QueueId queueOf(EngineId engine) const { return kernel.engines[engine].queues[0]; }

  /// Sets weight and completion of a queue, an engine's own one included.
  void setQueue(QueueId queue, uint32_t weight, Completion completion);

  static Trip constant(uint64_t trips) { return {Trip::Kind::Constant, trips, {}, 0, {}}; }

  Trip value(std::string_view symbol, uint64_t min = 0, std::optional<uint64_t> max = {});
  Trip guard(std::string_view symbol);

  /// An expression in canonical text; only `$n` alone may have bounds, which are those of the
  /// value.
  Trip formula(std::string_view text, uint64_t min = 0, std::optional<uint64_t> max = {});

  LoopId beginLoop(std::string_view name, Trip trip, bool uniform = true, Location where = {});
  void endLoop();

  /// Opens the then-branch; its sibling is opened by beginElse. The branches are
  /// named `name` and `name.else`. An `if` without beginElse gets an empty else-branch.
  LoopId beginIf(std::string_view name, bool uniform = true, Location where = {});
  LoopId beginElse();
  void endIf();

  /// What decides about an `if`, as canonical text (AccessText.h); without it, only the run knows.
  void setCondition(LoopId then, std::string_view text);

  /// How a loop, or both branches of an `if`, are synchronised.
  void setSync(LoopId id, RegionSync sync);

  /// How many iterations of a loop code writes out for each branch back.
  void setUnroll(LoopId loop, uint32_t iterations) { kernel.loops[loop].unroll = iterations; }

  BufferId buffer(std::string_view name, std::span<const uint64_t> shape = {},
                  std::string_view space = {}, std::string_view elementType = {},
                  std::optional<uint64_t> address = {}, Location where = {});

  /// Declares a run-time value: `$name` is one number throughout a run, within these bounds.
  void declareValue(std::string_view name, uint64_t min, std::optional<uint64_t> max,
                    Location where = {});

  /// A dimension of a buffer goes over partitions of memory, from one of them on.
  void partitions(BufferId buffer, Partitions said) { kernel.buffers[buffer].partitions = said; }

  /// Says that two buffers may share memory, or that they do not; `earlier` was added first.
  void alias(BufferId later, BufferId earlier);
  void noalias(BufferId later, BufferId earlier);

  /// Leaves open how many slots a buffer has; its shape says how many it has as it stands.
  void ring(BufferId buffer, SlotBounds slots) { kernel.buffers[buffer].ring = slots; }

  /// An instruction at the current place. Accesses follow by `access`.
  InstrId instr(std::string_view name, QueueId queue, std::string_view operation = {},
                Location where = {});

  /// The instruction added last may be issued to this queue, too.
  void orOn(QueueId queue);

  /// What the instruction added last computes (ComputeText.h).
  void computes(std::string_view text);

  /// The instruction added last loads this run-time value for its engine (Loads.h).
  void loads(std::string_view value);

  /// A tile of the instruction added last, already in canonical text.
  AccessId access(AccessKind kind, BufferId buffer, std::string_view canonicalText);

  /// A dependence; components in any order, zeros dropped. `step` is that of the other forms.
  DepId dep(InstrId producer, InstrId consumer, DistanceForm form, int64_t step,
            std::span<const DistanceComponent> components, DepKind kind = DepKind::Unspecified,
            Location where = {});

  /// The same for one form of distance.
  DepId dep(InstrId producer, InstrId consumer,
            std::initializer_list<DistanceComponent> components = {},
            DepKind kind = DepKind::Unspecified, Location where = {}) {
    return depVector(producer, consumer, {components.begin(), components.size()}, kind, where);
  }

  DepId depVector(InstrId producer, InstrId consumer, std::span<const DistanceComponent> components,
                  DepKind kind = DepKind::Unspecified, Location where = {}) {
    return dep(producer, consumer, DistanceForm::Vector, 0, components, kind, where);
  }

  DepId depFlat(InstrId producer, InstrId consumer, int64_t runs,
                DepKind kind = DepKind::Unspecified, Location where = {}) {
    return dep(producer, consumer, DistanceForm::Flat, runs, {}, kind, where);
  }

  DepId depElement(InstrId producer, InstrId consumer, int64_t element,
                   std::span<const DistanceComponent> components,
                   DepKind kind = DepKind::Unspecified, Location where = {}) {
    return dep(producer, consumer, DistanceForm::Element, element, components, kind, where);
  }

  /// Element by element, by a table.
  DepId depTable(InstrId producer, InstrId consumer, RunTable table,
                 std::span<const DistanceComponent> components = {},
                 DepKind kind = DepKind::Unspecified, Location where = {}) {
    DepId id = depElement(producer, consumer, 0, components, kind, where);
    kernel.deps[id].table = kernel.tables.push(std::move(table));
    return id;
  }

  void allowDivergent(DepId dep) { kernel.deps[dep].allowDivergent = true; }

  /// Semaphores, or registers of one engine, that code leaves alone.
  void reserveSemaphores(std::span<const uint32_t> numbers);
  void reserveRegisters(EngineId engine, std::span<const uint32_t> numbers);

  /// Which semaphore an instruction raises, and the wait of a dependence waits for: that of its
  /// producer.
  void pin(InstrId instr, uint32_t semaphore) {
    kernel.pins.push_back({instr, semaphore, kernel.instrs[instr].where});
  }

  void pin(DepId dep, uint32_t semaphore) {
    kernel.pins.push_back({kernel.deps[dep].producer, semaphore, kernel.deps[dep].where});
  }

  /// How deep the current place is nested.
  uint32_t depth() const { return static_cast<uint32_t>(open.size()) - 1; }

  /// Room for this many, to build large kernels without regrowth.
  void reserve(size_t instrs, size_t deps);

  const Kernel &peek() const { return kernel; }

  /// The finished kernel; the builder is empty afterwards.
  Kernel finish();

private:
  struct OpenBody {
    LoopId loop;
    size_t firstPending; ///< its statements so far: pending[firstPending...]
  };

  LoopId addLoop(std::string_view name, LoopKind kind, Trip trip, bool uniform, Location where);
  void closeBody();
  void flushBlock();
  NameId said(std::string_view text);

  Kernel kernel;
  std::vector<OpenBody> open;
  std::vector<Stmt> pending; ///< statements of open bodies
  uint32_t blockStart = 0;   ///< first instruction of the current block
};

} // namespace tally

#endif // TALLY_MODEL_KERNELBUILDER_H
