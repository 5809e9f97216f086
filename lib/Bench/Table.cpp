//===- Table.cpp - What each strategy costs on each kernel ----------------===//

#include "tally/Bench/Table.h"

#include "tally/Compile/Compile.h"
#include "tally/Kernels/Manual.h"
#include "tally/Sim/Bounds.h"
#include "tally/Sim/Simulate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace tally {

std::string_view Measured::name() const {
  switch (variant) {
  case Variant::None:
    break;
  case Variant::AllEngines:
    return "barrier-all";
  case Variant::Published:
    return "published";
  case Variant::Floor:
    return "floor";
  }
  return toString(strategy);
}

uint32_t BenchRow::maxRegisters() const {
  return registers.empty() ? 0 : *std::max_element(registers.begin(), registers.end());
}

template <typename T, typename U> static bool isChosen(const std::vector<T> &chosen, const U &one) {
  return chosen.empty() || std::ranges::find(chosen, one) != chosen.end();
}

//===----------------------------------------------------------------------===//
// What a kernel looks like
//===----------------------------------------------------------------------===//

static uint32_t numLoops(const Kernel &kernel) {
  return static_cast<uint32_t>(
      std::count_if(kernel.loops.begin(), kernel.loops.end(),
                    [](const Loop &loop) { return loop.kind == LoopKind::Loop; }));
}

static std::string offsetOf(const Kernel &kernel, const Dep &dep) {
  if (dep.form == DistanceForm::Flat) {
    return fmt::format("flat {}", dep.step);
  }
  std::vector<int64_t> distances;
  for (const DistanceComponent &c : kernel.componentsOf(dep)) {
    distances.push_back(c.distance);
  }
  std::string vector = distances.empty()       ? "0"
                       : distances.size() == 1 ? fmt::format("{}", distances[0])
                                               : fmt::format("({})", fmt::join(distances, ","));
  std::string step =
      dep.table.valid() ? toString(kernel.tables[dep.table]) : fmt::format("{}", dep.step);
  return dep.form == DistanceForm::Element ? fmt::format("element {} at {}", step, vector) : vector;
}

static std::vector<std::string> offsetsOf(const Kernel &kernel) {
  std::set<std::string> offsets;
  for (const Dep &dep : kernel.deps) {
    offsets.insert(offsetOf(kernel, dep));
  }
  return {offsets.begin(), offsets.end()};
}

//===----------------------------------------------------------------------===//
// One row after the other
//===----------------------------------------------------------------------===//

namespace {

class Bench {
public:
  Bench(const Machine &nominal, const Timing &timing, const BenchOptions &options,
        const Measured &measured)
      : machine(nominal), timing(timing), measured(measured), codeGrowth(options.codeGrowth),
        stop(options.stop) {
    if (measured.variant == Variant::Published) {
      machine.subtraction = Subtraction::Saturates;
    }
  }

  BenchRow row(const CatalogueEntry &entry, WrittenKernel written) const {
    written.kernel = onMachine(std::move(written.kernel), machine);
    BenchRow row;
    row.kernel = entry.name;
    row.measured = measured;
    row.strategy = measured.name();
    row.loops = numLoops(written.kernel);
    row.offsets = offsetsOf(written.kernel);
    row.trips = written.trips;
    Diagnostics diagnostics;
    if (measured.variant == Variant::Floor) {
      findFloor(written, row, diagnostics);
    } else if (std::optional<Compiled> compiled = programOf(written.kernel, diagnostics)) {
      measure(written, compiled->code, numInexact(compiled->plan), row, diagnostics);
      row.strategy = strategyLabel(measured.name(), compiled->code);
    }
    if (diagnostics.hasErrors()) {
      row.problem = diagnostics.reason();
    }
    return row;
  }

private:
  std::optional<Compiled> programOf(const Kernel &kernel, Diagnostics &diagnostics) const {
    Request options;
    options.strategy = measured.strategy;
    options.codeGrowth = codeGrowth;
    if (measured.variant == Variant::AllEngines) {
      options.participants = Participants::All;
    }
    options.fold = options.cse = measured.variant != Variant::Published;
    options.keepCounters = measured.variant == Variant::Published;
    Code manual = manualCode(kernel);
    return compile(kernel, options, machine, diagnostics, &manual);
  }

  void findFloor(const WrittenKernel &written, BenchRow &row, Diagnostics &diagnostics) const {
    Bindings bindings = Bindings::parse(written.kernel, written.trips, 0, diagnostics);
    std::optional<InstrCosts> costs = instructionCosts(written.kernel, timing, diagnostics);
    if (!costs || diagnostics.hasErrors()) {
      return;
    }
    std::optional<Floor> floor = floorOf(written.kernel, *costs, bindings, {UINT64_MAX, stop});
    if (!floor) {
      diagnostics.error(written.kernel.where, stopReason);
      return;
    }
    row.latency = floor->total;
    row.what = describeFloor(written.kernel, *floor);
  }

  void measure(const WrittenKernel &written, const Code &code, uint32_t numInexact, BenchRow &row,
               Diagnostics &diagnostics) const {
    Bindings bindings = Bindings::parse(written.kernel, written.trips, 0, diagnostics);
    std::optional<InstrCosts> costs = instructionCosts(written.kernel, timing, diagnostics);
    if (!costs || diagnostics.hasErrors()) {
      return;
    }
    SimOptions options;
    options.freeSync = measured.strategy == Strategy::Ideal;
    options.stop = stop;
    SimResult result = simulate(written.kernel, code, machine, timing, *costs, bindings, options);
    if (isSet(stop)) {
      diagnostics.error(written.kernel.where, stopReason);
      return;
    }
    if (result.outcome != SimResult::Outcome::Finished) {
      diagnostics.error(written.kernel.where, "it does not come to its end");
      return;
    }
    row.latency = result.total;
    if (measured.strategy == Strategy::Ideal) {
      row.what = describeIdeal({.ideal = result.total, .numInexact = numInexact, .floor = {}});
    }
    addTimes(code, result, row);
    addSizes(written.kernel, code, row);
  }

  static void addTimes(const Code &code, const SimResult &result, BenchRow &row) {
    for (EngineId engine : result.engines.ids()) {
      const std::vector<OpStats> &stats = result.engines[engine].ops;
      for (uint32_t i = 0; i < stats.size(); ++i) {
        const Op &op = code.engines[engine].ops[i];
        row.waits += op.wait.valid() ? stats[i].runs : 0;
        row.waiting += stats[i].waiting;
        row.control += op.kind == OpKind::Issue ? 0 : stats[i].control;
      }
    }
  }

  /// Bounds are no code: they have no size.
  void addSizes(const Kernel &kernel, const Code &code, BenchRow &row) const {
    if (measured.strategy == Strategy::Ideal) {
      return;
    }
    CodeSize size = tally::measure(kernel, code, machine.instructionBytes);
    row.codeBytes = size.bytes;
    row.semaphores = size.semaphores;
    for (const EngineProgram &program : code.engines) {
      row.registers.push_back(static_cast<uint32_t>(program.registers.size()));
    }
  }

  Machine machine;
  Timing timing;
  const Measured measured;
  const double codeGrowth;
  const StopFlag *stop;
};

} // namespace

static void normalize(std::vector<BenchRow> &rows, size_t first) {
  auto barrier = std::ranges::find(rows.begin() + static_cast<std::ptrdiff_t>(first), rows.end(),
                                   Measured{Strategy::Barrier}, &BenchRow::measured);
  if (barrier == rows.end() || barrier->latency == 0) {
    return;
  }
  double base = static_cast<double>(barrier->latency);
  for (size_t i = first; i < rows.size(); ++i) {
    rows[i].normalized = static_cast<double>(rows[i].latency) / base;
  }
}

std::vector<BenchRow> benchTable(const BenchOptions &options, const Machine &machine,
                                 Diagnostics &diagnostics) {
  std::vector<std::string> errors;
  std::optional<Timing> timing = Timing::of(machine, errors);
  for (const std::string &error : errors) {
    diagnostics.error({}, error);
  }
  if (!timing) {
    return {};
  }
  std::vector<BenchRow> rows;
  for (const CatalogueEntry &entry : catalogue()) {
    if (!isChosen(options.kernels, entry.name)) {
      continue;
    }
    const WrittenKernel written = entry.write(options.size);
    size_t first = rows.size();
    for (const Measured &measured : allMeasured) {
      if (!isChosen(options.strategies, measured) || isSet(options.stop)) {
        continue;
      }
      if (options.progress) {
        options.progress(entry.name, measured.name());
      }
      rows.push_back(Bench(machine, *timing, options, measured).row(entry, written));
    }
    normalize(rows, first);
  }
  return rows;
}

} // namespace tally
