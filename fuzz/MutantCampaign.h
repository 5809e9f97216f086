//===- MutantCampaign.h - Do the checks notice mistakes? ------------------===//
//
// Compiles random kernels under every strategy, makes one mistake at a time in the code
// (Mutate.h), and asks the checks. A mutant is
//
//   killed      if verifyProgram(), the order of its waits (Order.h), the race check or the
//   explorer
//               says no for some trips
//   equivalent  if for *all* trips up to a bound (Instances in Explore.h) it is as right as the
//   code
//               it was made of: its order is the one asked for, or the explorer says yes
//   survived    otherwise: a hole in the checks
//
// As right as the original: exact where that was exact, safe where that was safe, judged by the
// definition of the dependences in either case. Kernels are small enough that all trips up to
// the bound can be gone through; those that are not are passed over.
//
// Some mutants are put to several checks, which must agree; where they do not, one of them is
// wrong.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_FUZZ_MUTANTCAMPAIGN_H
#define TALLY_FUZZ_MUTANTCAMPAIGN_H

#include "Workers.h"

#include "tally/Check/Mutate.h"

#include <array>
#include <string>

namespace tally::fuzz {

enum class Killer : uint8_t { Verifier, Order, Races, Explorer };
inline constexpr size_t numKillers = 4;

std::string_view toString(Killer killer);

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
  uint64_t compared = 0;                  ///< mutants that several checks were asked about
  std::vector<std::string> survivors;     ///< each with the command that repeats it
  std::vector<std::string> disagreements; ///< between checks

  MutantScore total() const;

  /// No survivor, no disagreement.
  bool clean() const { return survivors.empty() && disagreements.empty(); }

  bool operator==(const MutantReport &) const = default;
};

/// At least `extent.count` mutants: whole kernels, until there are so many.
MutantReport fuzzMutants(const Extent &extent);

/// A table.
std::string toText(const MutantReport &report);

/// One JSON object: totals under `killed`, `survived`, `equivalent`, then each kind.
std::string toJson(const MutantReport &report);

} // namespace tally::fuzz

#endif // TALLY_FUZZ_MUTANTCAMPAIGN_H
