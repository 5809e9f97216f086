//===- Table.h - What each strategy costs on each kernel ------------------===//
//
// Compiles kernels with every strategy, runs them on a machine in time, and puts the results side
// by side: latency against the barrier code of the same kernel, sizes, and where the time goes.
// In addition to the strategies there are variants of two, as the paper has them, and two bounds:
//
//   barrier-all         all engines meet, at each entry and back edge (but see Sync/Barriers.cpp)
//   published           per-loop, but each wait computes all of its value again, in one temporary,
//                       and subtraction stops at zero
//   ideal               the order of instructions and what loops cost are kept; nothing that
//                       synchronises takes time
//   floor               only engines, bandwidth and true dependences count (Sim/Bounds.h)
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_BENCH_TABLE_H
#define TALLY_BENCH_TABLE_H

#include "tally/Kernels/Catalogue.h"
#include "tally/Machine/Timing.h"
#include "tally/Model/Strategy.h"
#include "tally/Support/Diagnostics.h"
#include "tally/Support/Stop.h"

#include <functional>

namespace tally {

/// How a row differs from its strategy.
enum class Variant : uint8_t { None, AllEngines, Published, Floor };

/// What a row measures: a strategy, a variant of it, or a bound.
struct Measured {
  Strategy strategy = Strategy::Barrier;
  Variant variant = Variant::None;

  std::string_view name() const;

  bool operator==(const Measured &) const = default;
};

/// All, in the order of the table: bounds last, and before them what makes no plan.
inline constexpr std::array<Measured, 11> allMeasured{{{Strategy::Barrier},
                                                       {Strategy::Barrier, Variant::AllEngines},
                                                       {Strategy::PerInstruction},
                                                       {Strategy::PerLoop},
                                                       {Strategy::PerLoop, Variant::Published},
                                                       {Strategy::PerEngine},
                                                       {Strategy::Auto},
                                                       {Strategy::Manual},
                                                       {Strategy::Unrolled},
                                                       {Strategy::Ideal},
                                                       {Strategy::Ideal, Variant::Floor}}};

struct BenchOptions {
  KernelSize size = KernelSize::Small;
  std::vector<std::string> kernels; ///< empty: all
  std::vector<Measured> strategies; ///< empty: all
  double codeGrowth = 1;            ///< how much larger unrolling may make code under `auto`
  /// Told before each row.
  std::function<void(std::string_view kernel, std::string_view strategy)> progress;
  const StopFlag *stop = nullptr; ///< ends with the rows that are there
};

/// One kernel under one strategy.
struct BenchRow {
  std::string kernel;
  Measured measured;
  std::string strategy; ///< its name, and after it the one to which 'auto' fell back
  std::string
      problem;        ///< not empty: there is no such code, for this reason; the rest means nothing
  uint32_t loops = 0; ///< of the kernel
  std::vector<std::string> offsets; ///< distances that occur: `0`, `2`, `(1,-14)`, `flat 2`
  std::vector<std::string> trips;   ///< with which it was run, as `--trips` options
  std::string what;                 ///< of a bound: what it keeps
  Tick latency = 0;
  double normalized = 0; ///< latency / latency of `barrier`; 0 if that was not measured
  uint64_t codeBytes = 0;
  std::vector<uint32_t> registers; ///< by engine
  uint32_t semaphores = 0;
  uint64_t waits = 0; ///< executed
  Tick waiting = 0;   ///< sum over sequencers
  Tick control = 0;   ///< of operations that issue nothing

  uint32_t maxRegisters() const;
};

/// All rows, kernel by kernel. Errors only if the machine does not say what things cost.
std::vector<BenchRow> benchTable(const BenchOptions &options, const Machine &machine,
                                 Diagnostics &diagnostics);

/// How far one number of the machine moves the latency of a strategy against barriers.
struct Sensitivity {
  std::string kernel;
  std::string strategy;
  double normal = 0; ///< with the machine as it is
  double least = 0;  ///< over all parameters, each alone at either end of its range
  double most = 0;
  std::string leastAt; ///< `ctl.alu=15`
  std::string mostAt;
};

/// For each chosen row but `barrier`, every parameter that has a range moved to both of its
/// ends.
std::vector<Sensitivity> benchSensitivity(const BenchOptions &options, const Machine &machine,
                                          Diagnostics &diagnostics);

} // namespace tally

#endif // TALLY_BENCH_TABLE_H
