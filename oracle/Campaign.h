//===- Campaign.h - Many random programs, one report ----------------------===//
//
// What the property tests share: programs by seed, the classes of dependences they
// cover, and a report of the smallest failing program with the command that
// repeats it.
//
//   TALLY_SEED=123   run this seed alone        TALLY_COUNT=5000   run that many
//
// Independent of  whatever is compared: it draws and reports, and judges nothing
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_ORACLE_CAMPAIGN_H
#define TALLY_ORACLE_CAMPAIGN_H

#include "RandomKernel.h"
#include "oracle/Definition.h"

#include "tally/Sync/Plan.h"

#include <array>
#include <map>

namespace tally::oracle {

/// A kernel, its run-time values, and what the definition says about them. They
/// refer to one another, so a program stays where it is.
struct RandomCodeCase {
  RandomCodeCase(uint64_t seed, const fuzz::RandomKernelOptions &options,
                 fuzz::Range trips = {0, 4});
  RandomCodeCase(const RandomCodeCase &) = delete;
  RandomCodeCase &operator=(const RandomCodeCase &) = delete;

  uint64_t seed;
  Kernel kernel;
  Bindings bindings;
  std::vector<Definition> definitions; ///< by engine

  bool cutOff() const;

  /// Whether all engines take the same way.
  bool agreeing() const;

  /// Instructions, loops and dependences: what a reader has to look through.
  size_t size() const;
};

/// Options for a seed: two programs in three agree, the third has divergent loops, unless a wait
/// might then never end.
fuzz::RandomKernelOptions optionsForSeed(uint64_t seed);

/// Plan options for a strategy; for 'auto', sharing is drawn by the program's seed, with whole
/// queues only where all engines agree.
PlanDecisions optionsOf(const RandomCodeCase &code, Strategy strategy);

/// The seeds of a campaign of `count` programs, unless the environment says otherwise. A campaign
/// that does `work` times as much for each program runs that many times fewer of $TALLY_COUNT.
fuzz::Range seedsOf(uint32_t count, uint32_t work = 1);

/// Whether the environment chose the seeds, so that coverage says nothing.
bool seedsAreChosen();

/// Classes of dependences, read off the kernel alone.
enum class DepClass : uint8_t {
  SharedZero,      ///< producer directly in the shared body, distance 0
  SharedForward,   ///< ... before the consumer, in an earlier iteration
  SharedBackward,  ///< ... after it
  NestedZero,      ///< producer below the shared body, distance 0
  NestedForward,   ///< ... before the consumer, in an earlier iteration
  NestedBackward1, ///< ... after it, in the last iteration
  NestedBackward,  ///< ... after it, earlier
  OppositeZero,
  Opposite1,
  OppositeFar,
  SameBranch1, ///< branches between the carrier and both ends
  SameBranchFar,
  TwoLevels, ///< one real loop below the carrier, the producer directly in it
  Nest,      ///< other loops below the carrier, all of constant trips down to the producer
  Levels,    ///< others
  Flat,
  ElementForward,
  ElementBackward,
  ElementNests,  ///< one end in a nest of several loops
  ElementOneRun, ///< one end directly in the shared body
  ElementTable,  ///< by a table, of two loops or nests
  LoopTable,     ///< ... of two in one loop
  OverTable,     ///< ... over a loop around both
};
inline constexpr size_t numDepClasses = 23;

std::string_view toString(DepClass depClass);
DepClass classOf(const Kernel &kernel, const Dep &dep);

/// Whether a plan with these decisions has an exact wait for a producer with such a semaphore.
bool expectsExact(DepClass depClass, bool sharesQueue, bool constantTrips);

/// How many dependences of each class had at least one run of their consumer.
class Coverage {
public:
  void add(const RandomCodeCase &code);

  uint64_t of(DepClass depClass) const { return counts[static_cast<size_t>(depClass)]; }

  std::string text() const;

private:
  std::array<uint64_t, numDepClasses> counts{};
  uint64_t runs = 0;
};

/// Collects disagreements. Those that read alike up to names and numbers are one kind; of each kind
/// the one in the smallest program is kept.
class Findings {
public:
  /// `setting` says how the program was compiled; `context` is shown below the kernel: a plan,
  /// or code.
  void add(const RandomCodeCase &code, const std::string &setting, const std::string &what,
           const std::string &context);

  uint64_t count() const { return total; }

  /// Whether enough was found to stop.
  bool enough() const { return total >= 200; }

  /// The smallest finding of each kind with the command that repeats it; `test` filters the tests.
  std::string report(std::string_view code, std::string_view test) const;

private:
  struct Finding {
    uint64_t count = 0;
    uint64_t seed = 0;
    size_t size = SIZE_MAX;
    std::string text;
  };

  uint64_t total = 0;
  std::map<std::string, Finding> kinds;
};

} // namespace tally::oracle

#endif // TALLY_ORACLE_CAMPAIGN_H
