//===- CatalogueCase.h - A small kernel with its code and its data --------===//
#ifndef TALLY_UNITTESTS_DATA_CATALOGUECASE_H
#define TALLY_UNITTESTS_DATA_CATALOGUECASE_H

#include "tally/Compile/Compile.h"
#include "tally/Data/Effects.h"
#include "tally/Data/Inputs.h"
#include "tally/Kernels/Catalogue.h"
#include "tally/Kernels/Manual.h"
#include "tally/Sim/Commits.h"

#include <gtest/gtest.h>

namespace tally {

inline constexpr std::array strategies{
    Strategy::PerInstruction, Strategy::PerLoop,  Strategy::PerEngine, Strategy::Auto,
    Strategy::Barrier,        Strategy::Unrolled, Strategy::Manual};

/// One kernel of the catalogue, ready to be run by any code.
class CatalogueCase {
public:
  explicit CatalogueCase(const CatalogueEntry &entry)
      : written(entry.write(KernelSize::Small)), machine(*loadMachine("trn2").machine),
        bindings(Bindings::parse(written.kernel, written.trips, 0, problems)),
        runs(written.kernel, bindings, problems),
        effects(Effects::of(written.kernel, runs, problems)),
        memory(initialMemory(written.kernel, written.contents, 1, problems)) {
    EXPECT_FALSE(problems.hasErrors()) << entry.name << "\n" << render(problems, {});
  }

  CatalogueCase(const CatalogueCase &) = delete;
  CatalogueCase &operator=(const CatalogueCase &) = delete;

  const Kernel &kernel() const { return written.kernel; }

  /// None for what cannot be unrolled.
  std::optional<Code> program(Strategy strategy) const {
    if (strategy == Strategy::Manual) {
      return manualCode(written.kernel);
    }
    Request options;
    options.strategy = strategy;
    Diagnostics diagnostics;
    std::optional<Compiled> compiled = compile(written.kernel, options, machine, diagnostics);
    EXPECT_TRUE(compiled || (strategy == Strategy::Unrolled && !written.trips.empty()))
        << render(diagnostics, {});
    return compiled ? std::optional(std::move(compiled->code)) : std::nullopt;
  }

  /// The order of commits of one simulated run; seed 0 is the nominal one.
  std::vector<Instance> simulated(const Code &code, uint64_t seed, bool freeSync = false) const {
    std::vector<std::string> errors;
    std::optional<Timing> timing = Timing::of(machine, errors);
    Diagnostics diagnostics;
    std::optional<InstrCosts> costs = instructionCosts(written.kernel, *timing, diagnostics);
    CommitRecorder recorder(written.kernel, *timing);
    SimOptions options;
    options.seed = seed;
    options.jitterPercent = 300;
    options.freeSync = freeSync;
    options.observer = &recorder;
    SimResult result = simulate(written.kernel, code, machine, *timing, *costs, bindings, options);
    EXPECT_EQ(result.outcome, SimResult::Outcome::Finished);
    return recorder.inOrder();
  }

  /// The same inputs, but every index is 0: whatever goes by indices meets in one row.
  Memory crowdedMemory() const {
    Memory crowded = memory;
    for (BufferData &data : crowded) {
      if (data.format() == Format::I32 && data.numPoison() == 0) {
        fill(data, {}, 0);
      }
    }
    return crowded;
  }

  /// Memory and faults after these commits.
  DataRun after(const std::vector<Instance> &commits) const { return after(commits, memory); }

  DataRun after(const std::vector<Instance> &commits, const Memory &inputs) const {
    DataRun run(*effects, inputs);
    for (Instance instance : commits) {
      run.commit(instance);
    }
    return run;
  }

  bool sameMemory(const DataRun &a, const DataRun &b) const {
    for (BufferId id : memory.ids()) {
      if (firstDifference(a.memory()[id], b.memory()[id])) {
        return false;
      }
    }
    return true;
  }

  std::string faultsOf(const DataRun &run) const {
    std::string text;
    for (const DataFault &fault : run.faults()) {
      text += describe(written.kernel, runs, fault) + "\n";
    }
    return text;
  }

  Diagnostics problems;
  WrittenKernel written;
  Machine machine;
  Bindings bindings;
  Runs runs;
  std::optional<Effects> effects;
  Memory memory;
};

} // namespace tally

#endif // TALLY_UNITTESTS_DATA_CATALOGUECASE_H
