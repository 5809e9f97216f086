//===- RandomKernel.h - Legal kernels and bindings from a seed ------------===//
//
// A seed and a record of ranges make a small kernel that is legal by construction: no
// draw is thrown away because check() would refuse it. The same seed gives the same kernel
// on every platform, so that a failing seed is a complete bug report.
//
// Which kernels come out is decided in two steps. First the tree grows: bodies,
// instructions, trip counts. Then dependences are drawn: a shape, then a pair of instructions that
// can have this shape, then the distance. Shapes are weighted so that rare ones (opposite branches,
// element-wise) appear as often as a test asks for.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_FUZZ_RANDOMKERNEL_H
#define TALLY_FUZZ_RANDOMKERNEL_H

#include "RandomTiles.h"

#include "tally/Model/Bindings.h"
#include "tally/Model/KernelBuilder.h"

#include <array>

namespace tally::fuzz {

/// How the two ends of a dependence lie to each other, and what its distance looks like.
enum class Shape : uint8_t {
  Zero,        ///< any pair, distance 0
  OneLoop,     ///< any pair, a distance on the innermost loop around both
  MultiLevel,  ///< a distance on an outer loop, inner components of either sign
  Conditional, ///< both in one branch, a distance on the loop around it
  Opposite,    ///< in the two branches of one `if`
  Backward, ///< the producer's statement after the consumer's, a distance on the loop around both
  Flat,     ///< both in one body, counted over the whole run
  Element,  ///< in two loops or nests of one body, element by element
  OneRun,   ///< the same, but one of them is directly in that body
  Self,     ///< an instruction and an earlier run of itself
};
inline constexpr size_t numShapes = 10;

struct RandomKernelOptions {
  Range engines{1, 4};
  Range extraQueues{0, 2};
  Range weight{1, 3};            ///< of one retirement, for each queue
  uint32_t twinPercent = 85;     ///< dependences on one branch, of which the other has one, too
  bool tables = true;            ///< some distances within and between loops go by a table
  uint32_t splitPercent = 0;     ///< queues whose retirements arrive one by one: plans refuse them
  uint32_t maxDepth = 4;         ///< loops and branches around an instruction
  Range statements{1, 3};        ///< of one body
  Range blockSize{1, 3};         ///< instructions of one block
  Range instructions{2, 12};     ///< of the kernel; the last block may add a few
  Range dependences{1, 8};       ///< drawn; fewer where the tree has no room for a shape
  Range trips{0, 4};             ///< constants and bounds of run-time values; 0 comes half as often
                                 ///< as the others, for it hides all that lies inside
  Range offset{1, 3};            ///< distance on the carrying loop, and flat
  uint32_t loopPercent = 40;     ///< statements that are loops ...
  uint32_t ifPercent = 20;       ///< ... and `if`s; the rest are blocks
  uint32_t constantPercent = 30; ///< loops with a constant trip count ...
  uint32_t boundsPercent = 0;    ///< ... of these, as a value whose bounds agree ...
  uint32_t guardPercent = 15;    ///< ... and with a guard; the rest have a run-time value
  uint32_t formulaPercent = 0;   ///< loops whose trips follow from values and from loops around
  uint32_t conditionPercent = 0; ///< `if`s that iterations around and values decide
  uint32_t divergentPercent = 0; ///< loops and `if`s on which engines may disagree
  bool islands = false;          ///< engines depend on one other at most, in pairs; loops on which
                                 ///< they may disagree are short
  uint32_t regionPercent = 0;    ///< loops and `if`s that are synchronised in their own way
  uint32_t unrollPercent = 0;    ///< loops of which several iterations are written out
  uint32_t sharedPercent = 0;    ///< dependences with the consumer of the one drawn before
  uint32_t farPercent = 0;       ///< distances on the carrying loop, and flat, from `farOffset`
  Range farOffset{60, 300};
  uint32_t heavyPercent = 0; ///< queues that complete whole with a weight from `heavyWeight`
  Range heavyWeight{16, 100};
  uint32_t longPercent = 0; ///< loops, one inside the other at most once, with trips from
                            ///< `longTrips` for a constant or an upper bound
  Range longTrips{50, 300};
  Tiles tiles = Tiles::None;   ///< what instructions touch
  uint32_t pinPercent = 0;     ///< instructions that say which semaphore they raise, and
                               ///< dependences that say it of their producer
  uint32_t reservePercent = 0; ///< kernels and engines that reserve numbers
  Range numbers{0, 9};         ///< of semaphores that are pinned or reserved
  Range registers{0, 3};       ///< numbers of registers that are reserved
  /// Relative frequency of each Shape.
  std::array<uint32_t, numShapes> shapes{4, 5, 4, 2, 4, 4, 3, 6, 2, 1};
};

/// The kernel of this seed.
Kernel randomKernel(uint64_t seed, const RandomKernelOptions &options);

/// What one run of a kernel leaves open, as data: it can be bound, and written down.
struct Choices {
  struct Trips {
    LoopId loop;
    EngineId engine; ///< none: all
    std::vector<uint64_t> byEntry;
  };

  std::vector<Trips> trips;
  std::vector<uint64_t> values; ///< of the kernel, by number
  uint64_t guardSeed = 0;

  /// The kernel must outlive the bindings.
  Bindings bind(const Kernel &kernel) const;

  /// As options of a command: `--trips=A=3,0 --trips=B@e1=2 --guards=7`; empty if nothing is open.
  std::string text(const Kernel &kernel) const;
};

/// Choices for `kernel`: for each loop without a constant or formula a few trip counts within
/// `trips` and its bounds, for each value a number, for divergent loops other ones on each engine,
/// and a seed for guards.
Choices randomChoices(const Kernel &kernel, uint64_t seed, Range trips = {0, 4});

/// The bindings of randomChoices().
Bindings randomBindings(const Kernel &kernel, uint64_t seed, Range trips = {0, 4});

} // namespace tally::fuzz

#endif // TALLY_FUZZ_RANDOMKERNEL_H
