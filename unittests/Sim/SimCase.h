//===- SimCase.h - Small kernels and what is seen of their runs -----------===//
#ifndef TALLY_UNITTESTS_SIM_SIMCASE_H
#define TALLY_UNITTESTS_SIM_SIMCASE_H

#include "tally/Model/KernelBuilder.h"
#include "tally/Sim/Simulate.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

namespace tally {

/// A machine of round, pairwise different prices; `changes` are assignments of its parameters.
inline Machine testMachine(std::initializer_list<std::string_view> changes = {}) {
  MachineResult teaching = loadMachine(MACHINES_DIRECTORY "/teaching.json");
  EXPECT_TRUE(teaching.machine);
  for (std::string_view change :
       {"ctl.dispatch=7ns", "ctl.alu=3ns", "ctl.loop_begin=11ns", "ctl.loop_end=13ns",
        "ctl.branch=17ns", "ctl.wait=19ns", "ctl.signal=23ns", "ctl.reset=29ns", "ctl.drain=31ns",
        "sem.visible=2ns", "sem.wake=5ns", "latency=100ns", "queue.depth=4", "dma.depth=4"}) {
    EXPECT_EQ(setParameter(*teaching.machine, change), "");
  }
  for (std::string_view change : changes) {
    EXPECT_EQ(setParameter(*teaching.machine, change), "");
  }
  return *teaching.machine;
}

inline constexpr Tick ns = 1000;

/// Everything that one run shows.
class Recorder : public SimObserver {
public:
  struct Stalled {
    EngineId engine;
    uint32_t op;
    Stall kind;
    Tick from, to;
  };

  void onOperation(EngineId engine, uint32_t op, Tick from, Tick to) override {
    operations[{engine, op}].push_back({from, to});
  }

  void onStall(EngineId engine, uint32_t op, Stall kind, Tick from, Tick to) override {
    stalls.push_back({engine, op, kind, from, to});
  }

  void onRelease(const Release &release) override { releases.push_back(release); }

  void onExecution(const Execution &execution) override {
    executions[execution.instr].push_back(execution);
  }

  std::map<std::pair<EngineId, uint32_t>, std::vector<std::pair<Tick, Tick>>> operations;
  std::vector<Stalled> stalls;
  std::vector<Release> releases;
  std::map<InstrId, std::vector<Execution>> executions;
};

/// A kernel with code that a test writes: one `ops` list for each engine.
struct SimCase {
  explicit SimCase(Kernel built, Machine onMachine = testMachine())
      : kernel(std::move(built)), machine(std::move(onMachine)) {
    for (EngineId id : kernel.engines.ids()) {
      code.engines.push({id, {}, {}});
    }
  }

  SemaId semaphore(std::string name) { return code.semaphores.push({std::move(name)}); }

  std::vector<Op> &ops(uint32_t engine) { return code.engines[EngineId(engine)].ops; }

  static Op issue(uint32_t instr, SemaId signal = {}, uint32_t amount = 1) {
    Op op = Op::issue(InstrId(instr));
    op.signal = signal;
    op.amount = amount;
    return op;
  }

  static Op issueAfter(uint32_t instr, SemaId wait, uint32_t threshold, SemaId signal = {}) {
    Op op = issue(instr, signal);
    op.wait = wait;
    op.a = Operand::number(threshold);
    return op;
  }

  SimResult run(SimOptions options = {}) {
    Diagnostics diagnostics;
    verifyCode(kernel, code, diagnostics);
    std::vector<std::string> errors;
    std::optional<Timing> timing = Timing::of(machine, errors);
    EXPECT_TRUE(timing) << fmt::format("{}", fmt::join(errors, "\n"));
    std::optional<InstrCosts> costs = instructionCosts(kernel, *timing, diagnostics);
    EXPECT_TRUE(costs && !diagnostics.hasErrors()) << render(diagnostics, kernel.files);
    seen = Recorder();
    options.observer = &seen;
    options.criticalPath = true;
    SimResult result = simulate(kernel, code, machine, *timing, *costs, bindings, options);
    if (result.outcome == SimResult::Outcome::Finished) {
      expectSums(result);
    }
    return result;
  }

  /// The parts of a sequencer's time, and those of the critical path, add up to the total.
  static void expectSums(const SimResult &result) {
    for (const EngineStats &stats : result.engines) {
      EXPECT_EQ(stats.control + stats.waiting + stats.queueFull + stats.draining + stats.done,
                result.total);
    }
    Tick path = 0;
    for (const PathShare &share : result.path) {
      path += share.sum();
    }
    EXPECT_EQ(path, result.total);
  }

  Kernel kernel;
  Machine machine;
  Code code;
  Bindings bindings{kernel};
  Recorder seen;
};

} // namespace tally

#endif // TALLY_UNITTESTS_SIM_SIMCASE_H
