//===- Trace.cpp - A run, for a trace viewer ------------------------------===//

#include "tally/Sim/Trace.h"

#include "tally/Code/Origin.h"
#include "tally/Model/Source.h"

#include "../Support/StrictJson.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

namespace tally {

static constexpr uint32_t sequencerThread = 1;

/// The format counts in microseconds.
static std::string microseconds(Tick tick) {
  return fmt::format("{}.{:06}", tick / 1'000'000, tick % 1'000'000);
}

TraceWriter::TraceWriter(std::ostream &out, const Kernel &kernel, const Code &code,
                         uint64_t maxBytes, std::string facts)
    : out(out), kernel(kernel), code(code), places(placesOf(kernel, code)),
      now(kernel.engines.size(), 0), maxBytes(maxBytes), facts(std::move(facts)) {
  constexpr std::string_view head = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";
  out << head;
  SimResult longest;
  longest.total = UINT64_MAX;
  minBytes = numBytes =
      head.size() + endText(longest, UINT64_MAX, UINT64_MAX, /*full=*/true).size();
  for (EngineId engine : kernel.engines.ids()) {
    name("process_name", engine.value + 1, 0, kernel.nameOf(engine));
    name("thread_name", engine.value + 1, sequencerThread, "sequencer");
    for (QueueId queue : kernel.engines[engine].queues) {
      name("thread_name", engine.value + 1, threadOf(queue),
           fmt::format("queue {}", kernel.nameOf(queue)));
    }
  }
  name("process_name", semaphoreProcess(), 0, "semaphores");
}

uint32_t TraceWriter::threadOf(QueueId queue) const {
  return sequencerThread + 1 + queue.value -
         kernel.engines[kernel.queues[queue].engine].queues.first;
}

/// What does not fit ends the trace, also for later events that would.
void TraceWriter::event(std::string_view text, Tick at) {
  std::string_view separator = numEvents == 0 ? "\n" : ",\n";
  isFull |= numBytes + separator.size() + text.size() > maxBytes;
  if (isFull) {
    return;
  }
  out << separator << text;
  numBytes += separator.size() + text.size();
  ++numEvents;
  last = std::max(last, at);
}

void TraceWriter::name(std::string_view what, uint32_t process, uint32_t thread,
                       std::string_view text) {
  event(fmt::format(R"({{"ph":"M","name":"{}","pid":{},"tid":{},"args":{{"name":{}}}}})", what,
                    process, thread, quoteJson(text)),
        0);
}

/// Of an operation; its number and where it comes from lead the arguments.
void TraceWriter::slice(EngineId engine, uint32_t index, uint32_t thread, std::string_view category,
                        std::string_view text, Tick from, Tick to, std::string_view arguments) {
  std::string source = sourceJson(kernel, places[engine][index]);
  event(
      fmt::format(
          R"({{"ph":"X","cat":"{}","name":{},"pid":{},"tid":{},"ts":{},"dur":{},"args":{{"op":{}{}{}{}}}}})",
          category, quoteJson(text), engine.value + 1, thread, microseconds(from),
          microseconds(to - from), index, source.empty() ? "" : ",\"loc\":", source, arguments),
      from);
}

std::string operationName(const Kernel &kernel, const Code &code, EngineId engine, uint32_t index) {
  const Op &op = code.engines[engine].ops[index];
  switch (op.kind) {
  case OpKind::Issue:
    return fmt::format("issue {}", kernel.nameOf(op.instr()));
  case OpKind::Wait:
    return fmt::format("wait {}", code.semaphores[op.wait].name);
  case OpKind::Signal:
    return fmt::format("signal {}", code.semaphores[op.signal].name);
  case OpKind::Reset:
    return fmt::format("reset {}", code.semaphores[op.signal].name);
  case OpKind::Drain:
    return "drain";
  case OpKind::Alu:
    return fmt::format("set {}", code.engines[engine].registers[op.dst].name);
  case OpKind::LoopBegin:
    return fmt::format("loop {}", kernel.nameOf(op.loop()));
  case OpKind::LoopEnd:
    return "loop end";
  case OpKind::IfBegin:
    return fmt::format("if {}", kernel.nameOf(op.loop()));
  case OpKind::WhenBegin:
    return "when";
  default:
    return "branch";
  }
}

void TraceWriter::onOperation(EngineId engine, uint32_t op, Tick from, Tick to) {
  now[engine] = to;
  if (to > from) {
    slice(engine, op, sequencerThread, "control", operationName(kernel, code, engine, op), from, to,
          "");
  }
}

/// The dependences behind a wait, as an array.
static std::string reasonsOf(const Kernel &kernel, const Code &code, const Op &op) {
  std::string list;
  for (uint32_t i = 0; i < op.numReasons; ++i) {
    const Dep &dep = kernel.deps[code.reasons[op.firstReason + i]];
    list +=
        (list.empty() ? "" : ",") + quoteJson(fmt::format("{} -> {}", kernel.nameOf(dep.producer),
                                                          kernel.nameOf(dep.consumer)));
  }
  return "[" + list + "]";
}

void TraceWriter::onStall(EngineId engine, uint32_t index, Stall kind, Tick from, Tick to) {
  now[engine] = to;
  const Op &op = code.engines[engine].ops[index];
  std::string text = kind == Stall::QueueFull ? "queue full" : "drains";
  std::string arguments;
  if (kind == Stall::Wait) {
    text = fmt::format("waits for {}", code.semaphores[op.wait].name);
    arguments = R"(,"dependences":)" + reasonsOf(kernel, code, op);
  }
  slice(engine, index, sequencerThread, "stall", text, from, to, arguments);
}

void TraceWriter::onRelease(const Release &release) {
  constexpr const char *arrow =
      R"({{"ph":"{}","cat":"dependence","name":{},"id":{},"pid":{},"tid":{},"ts":{}{}}})";
  std::string text = quoteJson(code.semaphores[release.semaphore].name);
  uint32_t thread = release.byQueue.valid() ? threadOf(release.byQueue) : sequencerThread;
  ++numArrows;
  event(fmt::format(arrow, "s", text, numArrows, release.by.value + 1, thread,
                    microseconds(release.byStart), ""),
        release.byStart);
  event(fmt::format(arrow, "f", text, numArrows, release.engine.value + 1, sequencerThread,
                    microseconds(release.to), R"(,"bp":"e")"),
        release.to);
}

void TraceWriter::onExecution(const Execution &e) {
  slice(kernel.queues[e.queue].engine, e.op, threadOf(e.queue), "instruction",
        kernel.nameOf(e.instr), e.start, e.occupied,
        fmt::format(R"(,"run":{},"arrival_ps":{},"start_ps":{},"finish_ps":{},"retire_ps":{})",
                    e.run, e.arrival, e.start, e.finish, e.retire));
}

void TraceWriter::onSemaphore(SemaId semaphore, Tick at, uint32_t value) {
  event(fmt::format(R"({{"ph":"C","name":{},"pid":{},"tid":0,"ts":{},"args":{{"value":{}}}}})",
                    quoteJson(code.semaphores[semaphore].name), semaphoreProcess(),
                    microseconds(at), value),
        at);
}

std::string TraceWriter::endText(const SimResult &result, uint64_t events, Tick at,
                                 bool full) const {
  std::string text;
  if (full) {
    std::string reason = fmt::format("the trace ends here: its limit of {} bytes is met", maxBytes);
    text = fmt::format("{}{{\"ph\":\"i\",\"s\":\"g\",\"name\":{},\"pid\":1,\"tid\":{},\"ts\":{}}}",
                       events == 0 ? "\n" : ",\n", quoteJson(reason), sequencerThread,
                       microseconds(at));
  }
  constexpr std::string_view outcomes[] = {"finished", "deadlock", "cut off"};
  return text + fmt::format("\n],\n\"otherData\":{{\"schema\":\"tally-trace\",\"version\":1,"
                            R"("kernel":{},"strategy":{},"machine":{},"outcome":"{}",)"
                            "\"total_ps\":{},\"events\":{},\"complete\":{}{}}}}}\n",
                            quoteJson(kernel.text(kernel.name)), quoteJson(toString(code.strategy)),
                            quoteJson(code.machine), outcomes[static_cast<size_t>(result.outcome)],
                            result.total, events, !full, facts);
}

/// Waits that still last at the end of a deadlock have not been told.
void TraceWriter::endlessWaits(const SimResult &result) {
  for (const StuckEngine &stuck : result.stuck) {
    if (now[stuck.engine] < result.total) {
      onStall(stuck.engine, stuck.op, Stall::Wait, now[stuck.engine], result.total);
    }
  }
}

bool TraceWriter::finish(const SimResult &result) {
  endlessWaits(result);
  out << endText(result, numEvents, last, isFull);
  out.flush();
  return !isFull;
}

} // namespace tally
