//===- Explore.h - All interleavings, specification against code ----------===//
//
// Decides for given trips whether code waits exactly as long as the kernel's dependences ask: by
// walking every state that the two transition systems (Spec.h, Impl.h) can reach side by side.
//
//   related   both have issued, committed and retired the same; memory is the same
//   early     the code lets an instruction go, but a dependence of it is not satisfied
//   late      all its dependences are satisfied, but the code does not let it go
//   order     the code would issue something else than the kernel does next
//   deadlock  the code can do nothing any more, but the kernel could
//
// No early, late, order: the relation is a bisimulation, each step on one side answered on the
// other (by operations that only the code has, then the same step). No early, order, deadlock: the
// code is safe, it reaches nothing that the dependences forbid and does not get stuck on its own;
// how often it was late is counted. Where the dependences themselves let no engine go on, both
// stand still; that is not a fault of the code (`stuckTogether`).
//
// "The code lets it go" means: the engine gets there by operations of its own that can be executed
// now, several waits among them. So a consumer of many dependences passes exactly when all are
// satisfied, whatever the order of its waits.
//
// The walk leaves out interleavings that cannot show anything new (Reduced.cpp gives the
// argument), unless `reduction` says otherwise. States are kept whole: no yes rests on a hash.
//
//   ExploreResult result = explore(kernel, code, machine, bindings, options);
//   if (result.verdict == Verdict::No) print(result.text), replay result.schedule
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_CHECK_EXPLORE_H
#define TALLY_CHECK_EXPLORE_H

#include "tally/Check/Impl.h"
#include "tally/Check/Spec.h"
#include "tally/Check/Verdict.h"
#include "tally/Support/Stop.h"

#include <optional>
#include <tuple>

namespace tally {

enum class MismatchKind : uint8_t { Early, Late, Order, Deadlock };

std::string_view toString(MismatchKind kind);

/// A place where code and kernel differ.
struct Mismatch {
  MismatchKind kind = MismatchKind::Early;
  EngineId engine;
  /// What the kernel has next; instr is none where the kernel has nothing more (Order).
  Instance instance;
  DepId dep;              ///< Early: a dependence that is not satisfied
  Instance issued;        ///< Order: what the code would issue instead
  SemaId semaphore;       ///< Late, Deadlock: what the code waits on, if it waits
  uint32_t value = 0;     ///< ... what that holds
  uint32_t threshold = 0; ///< ... and would have to hold
  bool atReset = false; ///< Late: its engine meets others to reset counters; ExploreOptions::resets

  /// What it is about; equal for the same run of the same instruction in the same way.
  auto key() const { return std::tie(kind, engine, instance, atReset); }

  bool operator==(const Mismatch &other) const { return key() == other.key(); }

  auto operator<=>(const Mismatch &other) const { return key() <=> other.key(); }
};

/// How many interleavings stand for others.
enum class Reduction : uint8_t {
  None,  ///< every step of either side by itself, memory included
  Local, ///< operations that only their engine can see, and commits, happen at once
  Full,  ///< so does all whose order cannot show anything new
};

/// As a sentence: `'scale' at A=2 may be issued although 'load' has retired 1 time, not 2`.
std::string describe(const SpecSystem &spec, const ImplSystem &impl, const Mismatch &mismatch);

struct ExploreOptions {
  uint32_t inFlight = 4; ///< instructions that each queue holds, 1 to maxInFlight
  Reduction reduction = Reduction::Full;
  /// Keep a word for each state, its hash, instead of all of it. Two states may then look like one,
  /// so what finds nothing decides nothing. Not with Reduction::None.
  bool compact = false;
  bool findAll = false;                  ///< go on after the first mismatch, for `mismatches`
  uint64_t maxStates = 50'000'000;       ///< of one exploration
  uint64_t maxBytes = uint64_t(4) << 30; ///< for states, about
  uint64_t maxOperations = 20'000'000;   ///< that all engines execute; see ImplOptions
  /// By instruction: whether it may wait longer than its dependences ask. Empty: none may.
  IdVector<InstrId, bool> mayOverwait;
  /// Barriers in the code are where engines meet to reset counters: an engine held up there is
  /// late, but by design.
  bool resets = false;
  SpecReading reading = {}; ///< for tests
  const StopFlag *stop = nullptr;
};

/// Why no answer is about all instances.
inline constexpr const char *tooManyChoices =
    "there are more choices of trips than were explored; a smaller --max-trips has fewer";

/// How far a walk over states came.
struct WalkSummary {
  bool complete = false; ///< every state was seen, or stands for one that was
  std::string reason;    ///< not complete: which limit was reached, if it was not stopped by a No
  uint64_t states = 0;   ///< kept; of a reduced walk, those where something is chosen
  uint64_t transitions = 0; ///< between kept states
  uint64_t bytes = 0;       ///< for states, at most
  bool stuckTogether = false;
};

struct ExploreResult : WalkSummary {
  Verdict verdict = Verdict::Undecided;
  /// Queues that were full in some state while their engine had more for them: what shows only with
  /// more in flight was not seen.
  std::vector<QueueId> full;
  std::vector<Mismatch>
      mismatches;                  ///< those not allowed, ascending; only the first without findAll
  std::vector<Instance> overwaits; ///< runs that were late in some interleaving, but may be
  uint64_t atResets = 0;           ///< of these, because counters were reset
  /// No: the first mismatch, and a schedule of the code that ends in it, from which no step can be
  /// left out, unless finding that takes too long. Of an early instruction the last step issues it.
  std::optional<Mismatch> witness;
  std::string text; ///< what `witness` says
  Location where;   ///< ... of which instruction, or else of which operation
  std::vector<Step> schedule;
};

/// For a kernel that check() accepts, code that verifyCode() accepts, and bindings
/// of the kernel.
ExploreResult explore(const Kernel &kernel, const Code &code, const Machine &machine,
                      const Bindings &bindings, const ExploreOptions &options = {});

//===----------------------------------------------------------------------===//
// Side by side, step by step
//===----------------------------------------------------------------------===//

/// Both systems in one state each.
struct LockstepState {
  SpecState spec;
  ImplState impl;

  bool operator==(const LockstepState &) const = default;
};

/// The two systems, the specification following whatever the code does. Used by the explorer
/// without reduction (then with memory), to cut witnesses short, and to replay.
class Lockstep {
public:
  Lockstep(const Kernel &kernel, const Code &code, const Machine &machine, const Bindings &bindings,
           const ExploreOptions &options);

  Lockstep(const Lockstep &) = delete;
  Lockstep &operator=(const Lockstep &) = delete;

  /// Whether both know all that every engine does. If not, nothing may be concluded.
  bool complete() const {
    return spec.complete() && impl.complete() && (!datapath || datapath->complete());
  }

  LockstepState initial() const { return {spec.initial(), impl.initial()}; }

  /// Performs a step of the code that is enabled, and what answers it on the other side.
  void apply(LockstepState &state, const Step &step) const;

  /// All mismatches of this state, by engine; a deadlock last.
  std::vector<Mismatch> mismatches(const LockstepState &state) const;

  /// Whether the code would issue something else than the kernel does next.
  bool isOutOfOrder(const LockstepState &state, EngineId engine) const;

  /// Whether no engine can go on and not all is done, on the side of the specification.
  bool specIsStuck(const LockstepState &state) const;

  /// The operations that bring an engine to its next instruction, and the step that issues it, if
  /// they can all be executed now.
  std::vector<Step> wayToIssue(const LockstepState &state, EngineId engine) const;

  const SpecSystem &specOf() const { return spec; }

  const ImplSystem &implOf() const { return impl; }

  /// Whether an engine's point lies where counters are reset, if there is such a place.
  bool isAtReset(EngineId engine, uint32_t point) const;

  /// What an engine has next, on the side of the specification; null at its end.
  const Instance *nextOfSpec(const LockstepState &state, EngineId engine) const;

private:
  std::optional<Mismatch> mismatchOf(const LockstepState &state, EngineId engine) const;
  std::optional<Mismatch> deadlockOf(const LockstepState &state) const;
  bool getsToIssue(ImplState &state, EngineId engine, std::vector<Step> *way) const;
  bool specMayIssue(const LockstepState &state, EngineId engine) const;
  bool hasIssuedAll(const LockstepState &state) const;
  void blame(const ImplState &state, EngineId engine, Mismatch &mismatch) const;

  const Kernel &kernel;
  std::unique_ptr<Datapath> datapath; ///< only without reduction
  SpecSystem spec;
  ImplSystem impl;
  IdVector<EngineId, std::vector<bool>> resetting; ///< by operation; empty without resets
};

/// What came of performing a schedule.
struct ReplayResult {
  size_t performed = 0; ///< steps; fewer than given: the next one could not happen
  /// Of all states that were passed, in the order in which they first appeared.
  std::vector<Mismatch> mismatches;
  bool finished = false;
  LockstepState last;
};

ReplayResult replay(const Lockstep &lockstep, std::span<const Step> schedule);

//===----------------------------------------------------------------------===//
// Many instances
//===----------------------------------------------------------------------===//

struct InstanceOptions {
  uint64_t maxTrips = 3;  ///< every loop runs 0 to this many times, chosen at each entry
  bool distances = false; ///< also d-1, d and d+1 times, d = longestDistance() on the loop; a loop
                          ///< with a formula, by what its values and the loops around do
  uint64_t maxInstances = 100'000;
};

/// The longest distance that a dependence has on a loop.
uint64_t longestDistance(const Kernel &kernel, LoopId loop);

/// One choice of trips: what a loop or branch does at each of its entries, on all engines or, if it
/// is divergent, on each. Or what a value is.
struct InstanceTrips {
  LoopId loop;     ///< of a value that by which it is known
  EngineId engine; ///< none: all
  std::vector<uint64_t> trips;
  RunValueId value = {};
};

using TripChoice = std::vector<InstanceTrips>;

/// In addition to what is bound.
Bindings bindTrips(Bindings bindings, const TripChoice &choice);

/// As `--trips` options: `B=3,0,1`.
std::vector<std::string> tripsText(const Kernel &kernel, const TripChoice &choice);

/// All choices within the bounds, one after the other, in a fixed order. Loops of constant trips
/// run as they must; run-time values keep to their bounds; branches and guards are free. What is
/// given is as it is, and in no choice.
class Instances {
public:
  Instances(const Kernel &kernel, const InstanceOptions &options, Bindings given);

  /// The next choice; none after the last.
  std::optional<TripChoice> next();

  /// Whether next() ended because of maxInstances, or at one with far too many iterations.
  bool cutOff() const { return isCutOff; }

private:
  friend class InstanceWalk;

  void offerCarried();
  std::vector<uint64_t> optionsOf(LoopId loop) const;
  std::vector<uint64_t> offered(uint64_t least, std::optional<uint64_t> most, LoopId loop) const;

  const Kernel &kernel;
  InstanceOptions options;
  const Bindings given;
  IdVector<LoopId, std::vector<uint64_t>> counts;      ///< what a loop may do
  IdVector<RunValueId, std::vector<uint64_t>> numbers; ///< what a value may be

  struct Decision {
    uint32_t chosen;
    uint32_t numChoices;
  };

  std::vector<Decision> decisions; ///< of the choice returned last
  uint64_t numReturned = 0;
  bool isCutOff = false;
};

struct ExploreAllResult {
  ExploreResult total;       ///< sums, and the first failure; `overwaits` is empty if there is none
  uint64_t instances = 0;    ///< explored
  uint64_t numOverwaits = 0; ///< runs that were late and may be, over all instances
  uint64_t numAtResets = 0;  ///< of these, because counters were reset
  TripChoice failing;        ///< No: the trips of the witness

  /// What one instance gave. After a No there is nothing more to add.
  void add(ExploreResult one, TripChoice choice);

  /// Not all was looked at; of several reasons the first counts.
  void leaveOpen(const std::string &reason);
};

/// Explores one instance after the other, until one says no or a limit is reached; limits of states
/// are for each instance.
ExploreAllResult exploreAll(const Kernel &kernel, const Code &code, const Machine &machine,
                            const InstanceOptions &instances, const ExploreOptions &options = {});

} // namespace tally

#endif // TALLY_CHECK_EXPLORE_H
