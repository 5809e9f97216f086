//===- Advise.h - What would make a kernel faster -------------------------===//
//
// Two questions, both answered by trying: which changes (Changes.h) shorten a simulated run, and
// what the run would take if one of its parts took no time.
//
// A change is told only after it has been made: dependences are found again, the code is compiled,
// the race check does not object, and a run of it is shorter. Of all that are possible, those are
// made in full that promise most by code that is made quickly. Then the best is kept, and all are
// tried again on top of it, as long as that helps.
//
// Work is counted, not timed: the same input gets the same advice on every computer.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_ADVISE_ADVISE_H
#define TALLY_ADVISE_ADVISE_H

#include "tally/Advise/Changes.h"
#include "tally/Check/Verdict.h"
#include "tally/Compile/Compile.h"
#include "tally/Sim/Bounds.h"
#include "tally/Sim/Simulate.h"

#include <functional>

namespace tally {

struct AdviseOptions {
  Request request;
  /// The trips of a run, for kernels with the loops of this one.
  std::function<Bindings(const Kernel &)> bindings;
  SimOptions run = {}; ///< of each run: its delays, and how long it may be
  uint64_t effort = 1; ///< times as much work as usual
  std::function<void(const std::string &doing)> progress; ///< told what is tried
  const StopFlag *stop = nullptr;
};

/// A change that helps.
struct Tried {
  Change change;
  std::string text; ///< as describe() says it
  Location where;   ///< of what is to be edited
  std::optional<uint64_t> bytes;
  Tick total = 0; ///< of a run with it
  Verdict race = Verdict::Undecided;
};

/// A part of a run, and what the run takes if it takes no time.
struct Part {
  enum class Kind : uint8_t { Instr, Dep, Control, Bandwidth, Queue, Operations };
  Kind kind = Kind::Instr;
  InstrId instr = {}; ///< Instr; of a Dep its producer
  InstrId consumer = {};
  QueueId queue = {};         ///< Queue
  std::string_view what = {}; ///< Operations of sequencers: `register operations`
  Tick total = 0;
};

template <>
inline constexpr auto wordsOf<Part::Kind> =
    words("instruction", "dependence", "control", "bandwidth", "queue", "operations");

struct Advice {
  Tick total = 0;             ///< as it is
  std::vector<Tried> single;  ///< each by itself, the best first
  std::vector<Tried> steps;   ///< one on top of the other
  std::vector<Part> parts;    ///< what binds most first
  std::optional<Floor> floor; ///< of the kernel as it is; none: too many runs
  Kernel changed;             ///< with all moves and rings of `steps`
  double growth = 1;          ///< with which it is compiled then
  size_t numTried = 0;
  size_t numLeft = 0; ///< not tried, or promising and not in full: too much work
  bool isStopped = false;
};

/// Of a kernel that check() accepts, as it is on the machine: one that asks for its dependences, or
/// has them. None, with the reasons reported, if there is no code, or its run does not end.
std::optional<Advice> advise(const Kernel &kernel, const Machine &machine,
                             const AdviseOptions &options, Diagnostics &diagnostics);

} // namespace tally

#endif // TALLY_ADVISE_ADVISE_H
