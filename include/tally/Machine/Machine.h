//===- Machine.h - What a target has and costs ----------------------------===//
//
// A machine is data: `machines/*.json`, each number with its unit, source and
// confidence. This header holds what planning and code generation read, and the numbers
// that Timing.h makes costs of.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_MACHINE_MACHINE_H
#define TALLY_MACHINE_MACHINE_H

#include "tally/Model/Kernel.h"
#include "tally/Support/Diagnostics.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tally {

/// What `a - b` gives on a sequencer when b > a.
enum class Subtraction : uint8_t {
  Wraps,     ///< modulo 2^bits
  Saturates, ///< 0
};
template <> inline constexpr auto wordsOf<Subtraction> = words("wraps", "saturates");

/// How a wait compares the semaphore with its threshold.
enum class WaitCompare : uint8_t { Unsigned, Signed };
template <> inline constexpr auto wordsOf<WaitCompare> = words("unsigned", "signed");

/// A number or formula that costs are made of.
struct Parameter {
  std::string name;
  double number = 0;
  std::string formula; ///< not empty: a formula, and `number` means nothing
  std::string unit;
  std::string source;
  std::string confidence;
  std::optional<std::pair<double, double>> range; ///< the smallest and the largest likely value

  bool operator==(const Parameter &) const = default;
};

/// One of the memories that buffers lie in: some bytes in each of its partitions.
struct MemorySize {
  std::string space;
  uint64_t partitions = 1;
  uint64_t bytes = 0;

  bool operator==(const MemorySize &) const = default;
};

struct Machine {
  std::string name;
  std::string description;
  std::vector<std::string> engines; ///< empty: any engine name will do
  /// Engines whose queues add accumulations up in the order of issue; without a value: all, so that
  /// the kernel alone is trusted.
  std::optional<std::vector<std::string>> sumsInOrder;
  /// Engines that may issue transfers at their usual price; without a value: all, as far as is
  /// known. Kernels may let others do it.
  std::optional<std::vector<std::string>> issuesTransfers;

  std::vector<MemorySize> memories; ///< those that have a limit

  std::optional<uint32_t> semaphores;         ///< in all; none: no limit
  std::optional<uint32_t> registersPerEngine; ///< none: no limit
  uint32_t counterBits = 32;                  ///< of registers and semaphores
  Subtraction subtraction = Subtraction::Wraps;
  WaitCompare waitCompare = WaitCompare::Unsigned;
  uint32_t instructionBytes = 64;
  /// Whether an instruction may start before the one before it in its queue has finished. Two
  /// queues of one engine always run side by side.
  bool queueOverlap = true;
  /// How completions of weight above 1 reach a semaphore. Split: on all queues; whole: on those of
  /// which the kernel does not say otherwise.
  Completion completion = Completion::Whole;
  std::vector<Parameter> parameters; ///< by name; empty: nothing is known about time

  /// The first value that a counter cannot hold.
  uint64_t counterLimit() const {
    return uint64_t(1) << (waitCompare == WaitCompare::Signed ? counterBits - 1 : counterBits);
  }

  bool hasEngine(std::string_view engine) const;

  bool addsInOrder(std::string_view engine) const;

  /// How large a memory is; null if nothing is said of it.
  const MemorySize *memory(std::string_view space) const;

  /// The parameter of this name; null if there is none.
  const Parameter *parameter(std::string_view parameterName) const;

  bool operator==(const Machine &) const = default;
};

/// A machine, or the reasons why the text describes none.
struct MachineResult {
  std::optional<Machine> machine;
  Diagnostics errors;
  std::vector<std::string> files; ///< that places in `errors` refer to
};

/// Whether a queue of the kernel completes in parts only because the machine says so.
bool changesCompletion(const Kernel &kernel, const Machine &machine);

/// The kernel as it is on this machine: its queues complete and add up as they do there.
Kernel onMachine(Kernel kernel, const Machine &machine);

/// Reads the JSON text of a machine; `source` names it in errors.
MachineResult parseMachine(std::string_view json, std::string_view source);

/// Reads a machine by file name, or by the name of one that comes with tally
/// (`generic`, `teaching`, `trn1`, `trn2`, `free-control`), looked up in $TALLY_MACHINES and with
/// the program.
MachineResult loadMachine(std::string_view nameOrPath);

/// The machine where none was named, and why it is this one.
struct UsualMachine {
  MachineResult result;
  std::string reason;
};

/// trn2, if it has all of these engines; teaching, if it does not.
UsualMachine usualMachine(std::span<const std::string_view> engines);

/// Changes one number: a parameter (`dma.bandwidth=300`, in its own unit, or `sem.wake=0.1us`), or
/// what planning reads (`limits.semaphores=none`, `alu.subtraction=saturates`). Returns what is
/// wrong, or nothing.
std::string setParameter(Machine &machine, std::string_view assignment);

/// For each parameter with a range, both of its ends, as setParameter() takes them.
std::vector<std::string> endsOfRanges(const Machine &machine);

/// What to say of a parameter that the machine does not have.
std::string unknownParameter(const Machine &machine, std::string_view name);

/// The machine of `machines/generic.json`, without reading a file: no limits, saturating.
Machine genericMachine();

} // namespace tally

#endif // TALLY_MACHINE_MACHINE_H
