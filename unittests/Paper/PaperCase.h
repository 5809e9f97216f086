//===- PaperCase.h - A small kernel, compiled, and what its engines do ----===//
//
// The tests of this directory write down, for a kernel of a few lines, the value that each
// run of a consumer waits for. A Case compiles the kernel, runs the code of one engine at a time
// with given trip counts, and reports
//
//   thresholds("C")   what each run of C waits for; 0: it does not wait
//   raised("P")       what P's semaphore reads when exactly the first run, the first two, ... of P
//                     (and what its queue runs before) have retired
//
// so that "C waits for the n-th run of P, neither for less nor for more" is
// `thresholds("C")[i] == raised("P")[n - 1]`, whatever other instructions share the semaphore.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_UNITTESTS_PAPER_PAPERCASE_H
#define TALLY_UNITTESTS_PAPER_PAPERCASE_H

#include "tally/Compile/Compile.h"
#include "tally/Model/Bindings.h"
#include "tally/Model/KernelBuilder.h"

#include <functional>
#include <string>
#include <vector>

namespace tally {

class EngineRun;

namespace paper {

using Values = std::vector<uint64_t>;
using Lines = std::vector<std::string>;

/// A kernel in the making, on engines "e0", "e1" and so on.
class Writer : public KernelBuilder {
public:
  explicit Writer(uint32_t numEngines = 2);

  /// A loop whose trips a Case sets; at most 1000, so that no counter overflows.
  LoopId loop(std::string_view name) { return beginLoop(name, value(name, 0, 1000)); }

  LoopId divergentLoop(std::string_view name) {
    return beginLoop(name, value(name, 0, 1000), false);
  }

  InstrId on(uint32_t engine, std::string_view name) {
    return instr(name, queueOf(engines[engine]));
  }

  const std::vector<EngineId> engines;
};

/// Options by what the paper calls them.
Request with(Strategy strategy);

/// Nothing folded, hoisted or shared: the formulas as the paper prints them.
Request literal(Strategy strategy);

/// The baseline: barriers of all engines.
Request baseline();

/// Machines that differ only in what `a - b` gives for b > a, and how waits compare.
Machine saturatingMachine();
Machine wrappingMachine();
Machine signedMachine();

class Case {
public:
  explicit Case(Kernel kernel, const Request &options = {.strategy = Strategy::PerLoop},
                Machine machine = saturatingMachine());
  Case(const Case &) = delete;
  Case &operator=(const Case &) = delete;

  bool accepted() const { return compiled.has_value(); }

  /// Everything that was reported, as text.
  std::string messages() const { return render(diagnostics, {"k"}); }

  const Diagnostics &reports() const { return diagnostics; }

  /// Trips of a loop or branch by entry, on one engine or on all.
  void trips(std::string_view loop, Values byEntry, std::string_view engine = {});

  /// What each run of the instruction `name` waits for. Of a run with several waits, all are
  /// listed.
  Values thresholds(std::string_view name) const;

  /// The same as text, the semaphores named and the waits of one run together:
  /// "A.e0 >= 1, A.e1 >= 2".
  Lines waits(std::string_view name) const;

  /// What the semaphore of `name` reads after each of its runs, resets of its own engine included.
  Values raised(std::string_view name) const;

  /// What the semaphore of `name` reads in the end: a wait for more would never pass.
  uint64_t raisedInTheEnd(std::string_view name) const;

  /// How often an engine executes an operation of this kind.
  uint64_t executed(std::string_view engine, OpKind kind) const;

  /// The listing of an engine: one line each, spaces collapsed, without remarks and indentation.
  Lines program(std::string_view engine) const;

  /// Operations of an engine's code that compute values, counters not included.
  uint64_t computations(std::string_view engine) const;

  uint32_t registers(std::string_view engine) const;
  uint32_t semaphores() const;

  /// How the wait of the n-th dependence was found, and whether it is exact.
  const Wait &wait(uint32_t dep) const { return program().plan.waits[DepId(dep)]; }

  const Kernel &kernelOf() const { return kernel; }

  const Code &code() const { return program().code; }

private:
  struct Waited {
    SemaId semaphore;
    uint64_t threshold;
  };

  /// What was compiled. If nothing was, the test ends here with the reasons.
  const Compiled &program() const;

  /// The waits before each run of an instruction, its own one last.
  std::vector<std::vector<Waited>> waitsOf(InstrId instr) const;

  using Visit = std::function<void(const EngineRun &, const Op &)>;
  void run(EngineId engine, const Visit &visit) const;
  EngineId engineNamed(std::string_view name) const;
  InstrId instrNamed(std::string_view name) const;
  SemaId semaphoreOf(InstrId instr) const;
  uint64_t thresholdOf(const EngineRun &at, const Op &op) const;

  const Kernel kernel;
  const Machine machine;
  Bindings bindings;
  Diagnostics diagnostics;
  std::optional<Compiled> compiled;
};

} // namespace paper
} // namespace tally

#endif // TALLY_UNITTESTS_PAPER_PAPERCASE_H
