//===- Timing.h - What each operation costs, in picoseconds ---------------===//
//
// The parameters of a machine, read as times. A sequencer and the queues that it feeds are
// separate resources:
//
//   sequencer   executes one operation after the other; each kind has its price
//   queue       starts an instruction when it has arrived and the one before it has left room
//               (interval), finishes it some time later (duration), retires in order
//   transfers   instructions that move bytes; all queues share one bandwidth
//
//   ctl.dispatch ctl.alu ctl.loop_begin ctl.loop_end ctl.branch
//   ctl.wait ctl.signal ctl.reset ctl.drain               one operation of a sequencer
//   ctl.carried     an instruction's wait, which holds, more than one without (0 if not said)
//   sem.visible     from the end of what raises a semaphore until it is raised
//   sem.wake        from then until a sequencer that was blocked goes on
//   sem.spacing     between two shares of a split completion
//   queue.depth     instructions of a queue that have been issued and not yet started ...
//   dma.depth       ... of a queue that holds transfers
//   clock[.E]       of engine E                                                   (GHz)
//   latency[.O|.E]  what an instruction takes beyond its work until it has finished
//   cost.O          work of operation O: a formula over its sizes, in cycles, `ns`, or
//                   `transfer ns` at full bandwidth; `cost.default` for what has none of its own
//   issue.O         the time that the sequencer needs before the instruction is in its queue
//   startup.O       from there until it can start
//
// What an instruction is, its `op` says in the kernel: `tensor_copy(n=512)` gives the formula the
// size n. An operation `a.b` that has no parameter of its own takes that of `a`. Where a formula
// names `min_ii`, that is the least interval of an engine; it does not lengthen the duration.
// `interval=`, `duration=` and `issue=` override: in cycles, or with a unit (`interval=80ns`).
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_MACHINE_TIMING_H
#define TALLY_MACHINE_TIMING_H

#include "tally/Machine/Machine.h"

namespace tally {

/// A time or a span of time in picoseconds.
using Tick = uint64_t;

/// The longest span that one parameter or instruction may have: a tenth of a second.
inline constexpr Tick maxSpan = 100'000'000'000;

/// Reads a moment, as in `12.5us`: a number with ps, ns, us or ms. Nothing if it is not one.
std::optional<Tick> parseTime(std::string_view text);

/// For people: `12.345 us`.
std::string timeText(Tick tick);

/// What one instruction costs.
struct InstrCost {
  Tick issue = 0;    ///< sequencer, until the instruction is in its queue
  Tick dispatch = 0; ///< sequencer, from then until it goes on
  Tick startup = 0;  ///< from the queue until it may start
  Tick interval = 0; ///< from its start until the next one of the queue may start; a transfer: its
                     ///< work, at full bandwidth
  Tick duration = 0; ///< from its start until it has finished; a transfer: from its last byte on
  bool isTransfer = false;
  bool isAssumed = false; ///< by `cost.default`: the operation is unknown, or lacks its sizes

  bool operator==(const InstrCost &) const = default;
};

/// An operation as kernels write it: a name and sizes.
struct Operation {
  struct Size {
    std::string name;
    double number = 0;
    std::string unit; ///< empty: none given
  };

  std::string name;
  std::vector<Size> sizes;
};

/// Reads `name` or `name(size=1, size=2.5ns)`; nothing, with the reason in `error`, if it is
/// neither.
std::optional<Operation> parseOperation(std::string_view text, std::string &error);

class Timing {
public:
  /// The machine must outlive the timing. Nothing, with all that is missing or wrong in `errors`,
  /// if the machine does not say enough.
  static std::optional<Timing> of(const Machine &machine, std::vector<std::string> &errors);

  Tick alu = 0;
  Tick loopBegin = 0;
  Tick loopEnd = 0;
  Tick branch = 0;
  Tick wait = 0;
  Tick carried = 0;
  Tick signal = 0;
  Tick reset = 0;
  Tick drain = 0;
  Tick dispatch = 0;
  Tick visible = 0;
  Tick wake = 0;
  Tick spacing = 0;
  uint32_t queueDepth = 1;
  uint32_t transferDepth = 1;

  /// What an operation costs on an engine; nothing, with the reasons in `errors`, if that cannot be
  /// said. An operation that the machine does not know, or only a name whose formula asks for
  /// sizes, costs as `cost.default`.
  std::optional<InstrCost> costOf(std::string_view engine, std::string_view operation,
                                  std::vector<std::string> &errors) const;

  /// The sizes of an operation that no cost of it asks for. None of one that costs as
  /// `cost.default`.
  std::vector<std::string> idleSizes(std::string_view engine, std::string_view operation) const;

  /// The names of the operations whose cost the machine knows.
  std::vector<std::string_view> operations() const;

  /// The same machine, but all that synchronises is free: waits, signals, registers, wakes.
  Timing withFreeSync() const;

private:
  explicit Timing(const Machine &machine) : machine(&machine) {}

  const Machine *machine;
};

} // namespace tally

#endif // TALLY_MACHINE_TIMING_H
