//===- Trace.h - A run, for a trace viewer --------------------------------===//
//
// Writes the Chrome trace format, which ui.perfetto.dev opens:
//
//   engine      a process; its threads are the sequencer and the queues
//   sequencer   slices: operations (category "control") and stalls ("stall")
//   queue       slices: an instruction from its start until the next one could start
//   ("instruction"),
//               with run, arrival, start, finish and retirement as arguments
//   semaphores  a process with one counter each
//   arrows      from the instruction or signal that ended a wait to the operation that had waited
//
// Written while the run goes on, so memory does not depend on its length.
// docs/guide/simulator/Traces.md lists the fields.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_SIM_TRACE_H
#define TALLY_SIM_TRACE_H

#include "tally/Sim/Simulate.h"

#include <iosfwd>

namespace tally {

/// An operation of an engine's code by what it does: `issue load`, `set r0`, `loop A`.
std::string operationName(const Kernel &kernel, const Code &code, EngineId engine, uint32_t index);

class TraceWriter : public SimObserver {
public:
  /// The arguments must outlive the writer. If it would have more than `maxBytes`, its end
  /// included, it ends before that with an event that says so.
  /// `facts`: what else it says of the run, as further members of JSON: `,"seed":0`.
  TraceWriter(std::ostream &out, const Kernel &kernel, const Code &code,
              uint64_t maxBytes = 256'000'000, std::string facts = {});

  void onOperation(EngineId engine, uint32_t op, Tick from, Tick to) override;
  void onStall(EngineId engine, uint32_t op, Stall kind, Tick from, Tick to) override;
  void onRelease(const Release &release) override;
  void onExecution(const Execution &execution) override;
  void onSemaphore(SemaId semaphore, Tick at, uint32_t value) override;

  /// The end of the document. Returns whether it holds all events.
  bool finish(const SimResult &result);

  /// What a trace without any event has; a smaller limit cannot be kept.
  uint64_t leastBytes() const { return minBytes; }

  /// When the last event that was written begins.
  Tick lastTick() const { return last; }

private:
  void name(std::string_view what, uint32_t process, uint32_t thread, std::string_view text);
  void slice(EngineId engine, uint32_t index, uint32_t thread, std::string_view category,
             std::string_view text, Tick from, Tick to, std::string_view arguments);
  void event(std::string_view text, Tick at);
  void endlessWaits(const SimResult &result);
  std::string endText(const SimResult &result, uint64_t events, Tick at, bool full) const;
  uint32_t threadOf(QueueId queue) const;

  uint32_t semaphoreProcess() const { return static_cast<uint32_t>(kernel.engines.size()) + 1; }

  std::ostream &out;
  const Kernel &kernel;
  const Code &code;
  const IdVector<EngineId, std::vector<Location>> places; ///< of operations
  IdVector<EngineId, Tick> now; ///< up to when it is known what the engine did
  uint64_t maxBytes;
  const std::string facts;
  uint64_t numBytes = 0; ///< so far, with those of the longest end
  uint64_t minBytes = 0;
  uint64_t numEvents = 0; ///< written
  bool isFull = false;
  Tick last = 0;
  uint64_t numArrows = 0;
};

} // namespace tally

#endif // TALLY_SIM_TRACE_H
