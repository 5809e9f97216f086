//===- Features.h - Which features of tally met in one program ------------===//
//
// Mistakes hide where two features meet: queues that complete in parts and nested loops, pins and
// regions. A campaign therefore counts, for each pair of features, the programs in which both were
// there and that were judged. What counts is what is there (in the kernel, the machine, the
// options, the plan, the code), not what the generator wished for.
//
// One table lists all features, each with a predicate. Those of one axis answer one question: how
// wide are counters? 8, 9, 16, 32 bits. Some axes have one answer in each program.
//
// Pairs that cannot meet are listed with the reason, and a pair of that list that does meet is a
// mistake in the list or in tally.
//
// Cost: linear in the program for each feature; a campaign spends it once a program.
//===----------------------------------------------------------------------===//

#ifndef TALLY_FUZZ_FEATURES_H
#define TALLY_FUZZ_FEATURES_H

#include "Case.h"

#include <bitset>
#include <string>
#include <string_view>
#include <vector>

namespace tally::fuzz {

inline constexpr size_t maxFeatures = 128;

/// By number in the table.
using FeatureSet = std::bitset<maxFeatures>;

size_t numFeatures();

/// `queue: split`; unique.
std::string featureName(size_t feature);

/// A program and where it comes from.
struct Sight {
  const Case &drawn;
  const Kernel &kernel; ///< that of the case with its dependences, as on the machine
  Strategy strategy;    ///< that was asked for; Manual: by hand
  const SyncPlan &plan; ///< of the code, or of that which it was made of
  const Code &code;
  bool edited = false; ///< other than any strategy makes it
};

FeatureSet featuresOf(const Sight &sight);

/// For each pair of features, in how many programs it met; for each feature, in how many it was.
class PairTable {
public:
  void add(const FeatureSet &met);

  /// Symmetric; `at(f, f)` is the number of programs with `f`.
  uint64_t at(size_t a, size_t b) const { return counts[a][b]; }

  bool operator==(const PairTable &) const = default;

private:
  std::vector<std::vector<uint64_t>> counts{maxFeatures, std::vector<uint64_t>(maxFeatures)};
};

/// Two features, that of the smaller number first.
using FeaturePair = std::pair<size_t, size_t>;

/// Why two features cannot meet; empty if they can.
std::string_view whyImpossible(FeaturePair pair);

/// What the list of impossible pairs names and the table does not.
std::vector<std::string> impossibleWithoutFeature();

/// Possible pairs that never met.
std::vector<FeaturePair> missingPairs(const PairTable &table);

/// Pairs that met although they cannot.
std::vector<FeaturePair> contradictions(const PairTable &table);

/// How many pairs there are and met, the ten rarest, those that never did, those that did although
/// they cannot.
std::string toText(const PairTable &table);

/// All of it, and the impossible pairs with their reasons: one JSON object, in which a pair has the
/// numbers of its features.
std::string toJson(const PairTable &table);

} // namespace tally::fuzz

#endif // TALLY_FUZZ_FEATURES_H
