//===- Recording.cpp - A run that was measured, told as a simulated one ---===//

#include "tally/Sim/Recording.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace tally {

//===----------------------------------------------------------------------===//
// Telling it
//===----------------------------------------------------------------------===//

namespace {

/// What raised a semaphore.
struct Raise {
  Tick at;
  EngineId engine;
  uint32_t op;
  QueueId queue; ///< none: an operation of the sequencer
  Tick start;
};

class Replay {
public:
  Replay(const Kernel &kernel, const Code &code, const Recording &recording, SimObserver &observer)
      : kernel(kernel), code(code), recording(recording), observer(observer),
        raises(code.semaphores.size()) {
    result.total = recording.total;
    result.engines.resize(kernel.engines.size());
    result.queues.resize(kernel.queues.size());
    for (EngineId engine : kernel.engines.ids()) {
      result.engines[engine].ops.resize(code.engines[engine].ops.size());
    }
    findRaises();
  }

  SimResult run() {
    std::vector<Spell> spells = recording.spells;
    std::ranges::stable_sort(spells, {}, &Spell::from);
    std::vector<Execution> executions = recording.executions;
    std::ranges::stable_sort(executions, {}, &Execution::arrival);
    auto execution = executions.begin();
    for (const Spell &spell : spells) {
      for (; execution != executions.end() && execution->arrival < spell.from; ++execution) {
        tell(*execution);
      }
      tell(spell);
    }
    for (; execution != executions.end(); ++execution) {
      tell(*execution);
    }
    // The rest of the time, an engine did its own work, up to the end of its code.
    for (EngineId engine : kernel.engines.ids()) {
      EngineStats &stats = result.engines[engine];
      stats.done = result.total - std::min(ends(engine), result.total);
      stats.control = result.total - std::min(result.total, stats.done + stats.waiting +
                                                                stats.queueFull + stats.draining);
    }
    return result;
  }

private:
  using Spell = Recording::Spell;

  const Op &opOf(EngineId engine, uint32_t op) const { return code.engines[engine].ops[op]; }

  void findRaises() {
    for (const Execution &each : recording.executions) {
      EngineId engine = kernel.queues[each.queue].engine;
      addRaise(engine, each.op, each.queue, each.start, each.retire);
    }
    for (const Spell &spell : recording.spells) {
      if (!spell.stall) {
        addRaise(spell.engine, spell.op, QueueId(), spell.from, spell.to);
      }
    }
    for (std::vector<Raise> &each : raises) {
      std::ranges::stable_sort(each, {}, &Raise::at);
    }
  }

  void addRaise(EngineId engine, uint32_t op, QueueId queue, Tick start, Tick at) {
    SemaId semaphore = opOf(engine, op).signal;
    if (semaphore.valid()) {
      raises[semaphore].push_back({at, engine, op, queue, start});
    }
  }

  void tell(const Spell &spell) {
    Tick span = spell.to - spell.from;
    OpStats &op = result.engines[spell.engine].ops[spell.op];
    if (!spell.stall) {
      observer.onOperation(spell.engine, spell.op, spell.from, spell.to);
      op.control += span;
      ++op.runs;
      ++result.operations;
      return;
    }
    observer.onStall(spell.engine, spell.op, *spell.stall, spell.from, spell.to);
    Tick OpStats::*sums[] = {&OpStats::waiting, &OpStats::queueFull, &OpStats::draining};
    op.*sums[static_cast<size_t>(*spell.stall)] += span;
    result.engines[spell.engine].*sums[static_cast<size_t>(*spell.stall)] += span;
    if (*spell.stall == Stall::Wait) {
      tellRelease(spell);
    }
  }

  void tellRelease(const Spell &spell) {
    SemaId semaphore = opOf(spell.engine, spell.op).wait;
    const std::vector<Raise> &all = raises[semaphore];
    auto after = std::ranges::upper_bound(all, spell.to, {}, &Raise::at);
    if (after != all.begin()) {
      const Raise &raise = *std::prev(after);
      observer.onRelease({spell.engine, spell.op, spell.from, spell.to, semaphore, raise.engine,
                          raise.op, raise.queue, raise.start, raise.at});
    }
  }

  void tell(const Execution &execution) {
    EngineId engine = kernel.queues[execution.queue].engine;
    observer.onOperation(engine, execution.op, execution.arrival, execution.arrival);
    observer.onExecution(execution);
    ++result.engines[engine].ops[execution.op].runs;
    ++result.operations;
    ++result.instructions;
    QueueStats &queue = result.queues[execution.queue];
    ++queue.instructions;
    queue.busy += execution.finish - execution.start;
    queue.occupied += execution.occupied - execution.start;
    queue.lastRetire = std::max(queue.lastRetire, execution.retire);
  }

  Tick ends(EngineId engine) const {
    Tick end = 0;
    for (const Spell &spell : recording.spells) {
      end = spell.engine == engine ? std::max(end, spell.to) : end;
    }
    return std::max(end, result.queues[QueueId(kernel.engines[engine].queues.first)].lastRetire);
  }

  const Kernel &kernel;
  const Code &code;
  const Recording &recording;
  SimObserver &observer;
  IdVector<SemaId, std::vector<Raise>> raises; ///< by time
  SimResult result;
};

} // namespace

SimResult replay(const Kernel &kernel, const Code &code, const Recording &recording,
                 SimObserver &observer) {
  return Replay(kernel, code, recording, observer).run();
}

//===----------------------------------------------------------------------===//
// Reading it
//===----------------------------------------------------------------------===//

namespace {

using Json = nlohmann::json;

class TraceReader {
public:
  TraceReader(const Kernel &kernel, const Code &code) : kernel(kernel), code(code) {}

  Recording read(const Json &trace) {
    const Json &facts = trace.at("otherData");
    if (facts.at("schema") != "tally-trace" || facts.at("complete") != true) {
      throw std::runtime_error("it is not a whole trace");
    }
    recording.total = facts.at("total_ps").get<Tick>();
    for (const Json &event : trace.at("traceEvents")) {
      if (event.at("ph") == "X") {
        readSlice(event);
      }
    }
    return std::move(recording);
  }

private:
  void readSlice(const Json &event) {
    EngineId engine(event.at("pid").get<uint32_t>() - 1);
    const Json &arguments = event.at("args");
    auto op = arguments.at("op").get<uint32_t>();
    if (engine.value >= kernel.engines.size() || op >= code.engines[engine].ops.size()) {
      throw std::runtime_error("it is of other code");
    }
    auto text = event.at("name").get<std::string>();
    std::string category = event.at("cat");
    Tick from = ticks(event.at("ts")), to = from + ticks(event.at("dur"));
    if (category == "instruction") {
      return addExecution(engine, op, event, from, to);
    }
    if (category == "control" && code.engines[engine].ops[op].kind == OpKind::Issue) {
      return; // its instruction tells it
    }
    if (from > to || to > recording.total) {
      throw std::runtime_error("it is not whole");
    }
    std::optional<Stall> stall;
    if (category == "stall") {
      stall = text == "queue full" ? Stall::QueueFull
              : text == "drains"   ? Stall::Drain
                                   : Stall::Wait;
      if (*stall == Stall::Wait && !code.engines[engine].ops[op].wait.valid()) {
        throw std::runtime_error("it is of other code");
      }
    }
    recording.spells.push_back({engine, op, stall, from, to});
  }

  void addExecution(EngineId engine, uint32_t op, const Json &event, Tick from, Tick to) {
    const Op &issue = code.engines[engine].ops[op];
    if (issue.kind != OpKind::Issue || event.at("name") != kernel.nameOf(issue.instr())) {
      throw std::runtime_error("it is of other code");
    }
    const Json &arguments = event.at("args");
    auto arrival = arguments.at("arrival_ps").get<Tick>();
    auto finish = arguments.at("finish_ps").get<Tick>();
    auto retire = arguments.at("retire_ps").get<Tick>();
    if (arrival > from || from > to || from > finish || finish > retire ||
        std::max(to, retire) > recording.total) {
      throw std::runtime_error("it is not whole");
    }
    recording.executions.push_back({issue.instr(), kernel.instrs[issue.instr()].queue, op,
                                    arguments.at("run").get<uint64_t>(), arrival, from, to, finish,
                                    retire});
  }

  /// From microseconds.
  static Tick ticks(const Json &time) {
    return static_cast<Tick>(std::llround(time.get<double>() * 1e6));
  }

  const Kernel &kernel;
  const Code &code;
  Recording recording;
};

} // namespace

std::optional<TraceFacts> readTraceFacts(std::string_view text) {
  try {
    const Json facts = Json::parse(text).at("otherData");
    return TraceFacts{facts.at("kernel"), facts.at("strategy"), facts.at("machine"),
                      facts.value("measured_on", "")};
  } catch (const Json::exception &) {
    return std::nullopt;
  }
}

std::optional<Recording> readTrace(std::string_view text, const Kernel &kernel, const Code &code,
                                   std::string &problem) {
  try {
    return TraceReader(kernel, code).read(Json::parse(text));
  } catch (const Json::exception &) {
    problem = "it is not a trace of tally";
  } catch (const std::runtime_error &error) {
    problem = error.what();
  }
  return std::nullopt;
}

} // namespace tally
