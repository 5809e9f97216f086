//===- MutantCampaign.h - Do the checks notice mistakes? ------------------===//
//
// Compiles random kernels under every strategy, makes one mistake at a time in the code
// (Mutate.h), and asks the checks. A mutant is
//
//   killed      if a check says no for some trips: verifyCode(), the race check, or, where it
//               only waits too long, the explorer
//   equivalent  if for *all* trips up to a bound (Instances in Explore.h) it is as right as the
//               code it was made of: the order of its waits (Order.h) is the same, or the explorer
//               says yes to all interleavings; and some trips beyond the bound show nothing else
//   survived    otherwise: a hole in the checks
//
// As right as the original: exact where that was exact, and for each instruction that may wait too
// long by its plan, never too early. The order of waits, which knows nothing of race check and
// explorer, tells which trips they are asked about; what it alone sees is counted apart and should
// be none.
//
// Kernels are small enough that all trips up to the bound can be gone through; those that are not
// are passed over. Some mutants are put to all three, which must agree; where they do not, one of
// them is wrong.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_FUZZ_MUTANTCAMPAIGN_H
#define TALLY_FUZZ_MUTANTCAMPAIGN_H

#include "Mutate.h"
#include "Workers.h"

#include <array>
#include <string>

namespace tally::fuzz {

enum class Killer : uint8_t {
  Verifier,
  Races,
  Explorer,
  OrderAlone, ///< the other two had nothing to say: the run is too large for the explorer
};
inline constexpr size_t numKillers = 4;

std::string_view toString(Killer killer);

/// Why a mutant is as right as its original.
enum class Proof : uint8_t { SameOrder, Explored };
inline constexpr size_t numProofs = 2;

std::string_view toString(Proof proof);

struct MutantScore {
  uint64_t killed = 0;
  uint64_t survived = 0;
  uint64_t equivalent = 0;

  uint64_t total() const { return killed + survived + equivalent; }

  bool operator==(const MutantScore &) const = default;
};

struct MutantReport {
  uint64_t firstSeed = 0;
  uint64_t kernels = 0;  ///< with all their mutants
  uint64_t programs = 0; ///< kernels under a strategy
  std::array<MutantScore, numMutantKinds> kinds{};
  std::array<uint64_t, numKillers> killedBy{};
  uint64_t beyondBound = 0; ///< killed, but by no trips up to the bound
  std::array<uint64_t, numProofs> equivalentBy{};
  uint64_t compared = 0;                  ///< mutants that several checks were asked about
  std::vector<std::string> survivors;     ///< each with the command that repeats it
  std::vector<std::string> disagreements; ///< between checks

  MutantScore total() const;

  /// No survivor, no disagreement.
  bool clean() const { return survivors.empty() && disagreements.empty(); }

  bool operator==(const MutantReport &) const = default;
};

/// At least `extent.count` mutants: whole kernels, until there are enough.
MutantReport fuzzMutants(const Extent &extent);

/// A table.
std::string toText(const MutantReport &report);

/// One JSON object: totals under `killed`, `survived`, `equivalent`, then each kind.
std::string toJson(const MutantReport &report);

} // namespace tally::fuzz

#endif // TALLY_FUZZ_MUTANTCAMPAIGN_H
