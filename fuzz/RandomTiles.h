//===- RandomTiles.h - What instructions touch, from a seed ---------------===//
//
// A few small buffers, so that nearly all instructions conflict, some of them over one another; and
// tiles whose indices, sizes and guards take every form that the language has.
//
// Unless they may, no tile leaves its buffer in a run that keeps to the bounds of its loops. The
// range of each index is computed while it is drawn, and an index that could leave is taken modulo
// the room. Loops with a run-time value and no bound are taken to run at most
// `assumedTrips` times; of while-loops nothing is assumed.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_FUZZ_RANDOMTILES_H
#define TALLY_FUZZ_RANDOMTILES_H

#include "Random.h"

#include "tally/Model/KernelBuilder.h"

#include <optional>

namespace tally::fuzz {

/// The trips that a run may give to a loop whose value has no upper bound.
inline constexpr int64_t assumedTrips = 6;

enum class Tiles : uint8_t {
  None,
  Inside,   ///< their buffers
  MayLeave, ///< their buffers: then kernels are not legal
  Computed, ///< inside, always equally large, and instructions say what they compute
};

/// Draws buffers, then tiles for one instruction after the other.
class TileDrawer {
public:
  /// Adds the buffers to `builder`, which must outlive the drawer.
  /// `ties`: tiles name the values `$t` and `$s` of trips, too.
  TileDrawer(KernelBuilder &builder, uint64_t seed, Tiles tiles, bool ties = false);

  virtual ~TileDrawer() = default;

  /// One or two tiles for the instruction that was added last.
  virtual void draw(InstrId instr);

protected:
  /// An expression and the values that it may have; `unbounded` where there is no limit.
  struct Term {
    std::string text;
    int64_t min = 0;
    int64_t max = 0;
  };

  static constexpr int64_t unbounded = INT64_MAX / 16;

  /// A loop or branch around the instruction.
  struct Body {
    std::string name;
    bool isLoop = true;
    int64_t maxTrips = 0;   ///< or `unbounded`
    int64_t maxEntries = 0; ///< over the whole run; or `unbounded`
  };

  void addBuffers();
  void setBodies(LoopId home);
  Body bodyOf(LoopId loop, int64_t entriesAround) const;
  std::string tile(size_t buffer);
  std::string guard();
  std::string place(size_t buffer);
  std::string dim(int64_t extent);
  Term size();
  Term within(Term term, int64_t room);
  Term index();
  Term leaf(bool mayTie = true);

  static int64_t saturatingProduct(int64_t a, int64_t b); ///< of numbers that are not negative
  static Term number(int64_t value);
  static Term sum(const Term &a, const Term &b);
  static Term difference(int64_t from, const Term &term);
  static Term product(int64_t factor, const Term &term);
  static Term quotient(const Term &term, int64_t divisor);
  static Term remainder(const Term &term, int64_t modulus);

  KernelBuilder &builder;
  Random random;
  bool mayLeave;
  bool ties;
  std::vector<BufferId> buffers;
  std::vector<std::vector<uint64_t>> shapes;
  std::vector<Body> bodies; ///< around the current instruction, outermost first
};

} // namespace tally::fuzz

#endif // TALLY_FUZZ_RANDOMTILES_H
