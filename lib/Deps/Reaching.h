//===- Reaching.h - Which accesses of one place reach which ---------------===//
//
// Those who touch one place of memory, in the order of the text. A consumer needs a wait for a
// producer only if a run of the producer may be the last that matters there: if nothing writes
// over the place between the two in every run.
//
//   for A { W0 ; R1 ; W2 ; R3 }      R1: W0    W2: R1 W0    R3: W2    W0, one iteration on: R3 W2
//
// W0 -> R3 is left out, since R3 waits for W2, and W2 waits for W0. So is R1 -> W0.
//
// A place may be a slot of a ring, `X[A mod 4]`, or an element that moves along, `X[A]`: all slots
// look alike, so one stands for all. An access touches it in the iterations of its own *phase*, and
// the body, run through phase by phase, is that of a constant place.
//
//   what writes over     an instruction; a loop that surely runs, if its body does; an `if`, if
//                        both branches do
//   places that move     where a place is any other one in each iteration of a body, what writes
//                        over it hides what else touched it in this iteration; and of guests, which
//                        may have been elsewhere, only what meets it in this iteration
//   loops in sequence    one that runs as often as another one (LoopsAlike.h) writes over what that
//                        one touched with the same offset: `X[A + 1]` here and `X[B + 1]` there
//   back edges           what a body leaves reaches its head, with what reaches the loop
//   reads                of those of one queue in one body only the last matters: they retire in
//   order rings                in another entry of their loop they meet at an unknown phase: there
//                        nothing is left out
//
// Each body is summed up once (what it leaves, whether it writes over all before), then walked
// once. Linear in accesses and in what is found, except for accesses in branches, which hide
// nothing.
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_DEPS_REACHING_H
#define TALLY_LIB_DEPS_REACHING_H

#include "LoopsAlike.h"

#include <functional>
#include <span>

namespace tally::deps {

/// One access of the place. Those of one instruction stand together.
struct PlaceUse {
  AccessId access;
  InstrId instr;
  bool writes = false;
  bool isGuest = false;
  int64_t phase = 0; ///< of a ring: in which iterations it touches the slot, counted from any

  bool operator==(const PlaceUse &) const = default;
};

/// The loops whose iterations are the phases of a place.
struct PlaceRing {
  LoopId loop;        ///< the first of those that are alike; none: the place is constant
  int64_t length = 0; ///< 0: it never comes again
  LoopId moves = {}; ///< in each iteration of this body it may be any other place; none: in no body
};

/// Calls `visit` for producer and consumer, at least one of which writes, and at least one of which
/// is not a guest.
void forReaching(const Kernel &kernel, const LoopsAlike &alike, PlaceRing ring,
                 std::span<const PlaceUse> uses,
                 const std::function<void(const PlaceUse &, const PlaceUse &)> &visit);

} // namespace tally::deps

#endif // TALLY_LIB_DEPS_REACHING_H
