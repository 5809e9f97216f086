//===- Nest.h - The loops around one body, walked ---------------------------===//
//
// Formulas tie the trips of a loop to values and to iterations around it, so what each loop does by
// itself says too much of what they do together:
//
//   i trips = "$n" max 22 { j trips = "i + 1" }     j has 253 entries at most, and not 22 * 22
//   i trips = "$n" { j trips = "i - i" }            j never runs
//
// A nest is walked for chosen values, and chosen trips of the loops that no formula ties. Of a loop
// that no formula farther in names, all iterations are alike: one of them is walked.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_MODEL_NEST_H
#define TALLY_MODEL_NEST_H

#include "tally/Model/Tiles.h"
#include "tally/Support/Stop.h"

#include <functional>

namespace tally {

/// By loop, and by value: what is chosen.
struct NestChoice {
  std::vector<int64_t> values;      ///< of the kernel, by number
  IdVector<LoopId, uint64_t> trips; ///< of the free loops of the nest, at each entry
};

/// How often things happen; `endless` and all beyond it are one.
uint64_t timesOf(uint64_t a, uint64_t b);
uint64_t sumOf(uint64_t a, uint64_t b);

class Nest {
public:
  static constexpr uint64_t endless = UINT64_MAX;

  /// The loops around `body` and itself; of a branch those around it.
  Nest(const Kernel &kernel, LoopId body);

  /// Outermost first.
  const std::vector<LoopId> &loops() const { return path; }

  /// Those of them that neither a number nor a formula says how often they run.
  const std::vector<LoopId> &free() const { return chosen; }

  /// Those that formulas of these loops name.
  const std::vector<RunValueId> &values() const { return named; }

  /// Whether a formula says how often one of the loops runs.
  bool hasFormula() const { return isTied; }

  /// Whether a formula farther in names the iteration of a loop, by its place.
  bool isNamed(size_t level) const { return names[level]; }

  /// The innermost loop is reached, where each of those around it is in an iteration.
  struct Reached {
    uint64_t trips; ///< so often the innermost loop runs now
    uint64_t times; ///< this happens so often: in all iterations of loops that are not named
    /// Of the loops around, outermost first; of those that are not named, the last one.
    std::span<const uint64_t> iterations;
  };

  /// Visits all in the order of the run, until visit(reached) says no. False if it was not walked
  /// to the end.
  bool walk(const NestChoice &choice, Fuel &fuel,
            const std::function<bool(const Reached &)> &visit) const;

  /// All free loops as often as they may; all values 0.
  NestChoice mostTrips() const;

private:
  struct Walk;
  uint64_t tripsAt(const Walk &walk, size_t level) const;
  bool walkFrom(Walk &walk, size_t level, uint64_t times) const;

  const Kernel &kernel;
  std::vector<LoopId> path;
  std::vector<bool> names; ///< by level
  std::vector<LoopId> chosen;
  std::vector<RunValueId> named;
  bool isTied = false;
};

/// Calls visit(choice) for all numbers that these values may be, the last one counting fastest,
/// while it says yes. False if some were left out: as the fuel ran out, or there is no bound. Of a
/// value without `max` a few are tried, or all of them until the fuel is out if it is alone.
bool forValues(const Kernel &kernel, std::span<const RunValueId> values, NestChoice choice,
               Fuel &fuel, const std::function<bool(const NestChoice &)> &visit);

/// The most entries of a body that one run of the kernel has on an engine; none if there is no
/// bound, or too many runs to tell.
std::optional<uint64_t> mostEntries(const Kernel &kernel, LoopId body);

} // namespace tally

#endif // TALLY_MODEL_NEST_H
