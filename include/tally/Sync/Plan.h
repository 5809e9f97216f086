//===- Plan.h - What each dependence waits for ----------------------------===//
//
// A plan is the answer to "how is this kernel synchronised", as data and without code:
// which instructions raise which semaphore, and for each dependence the value
// that the consumer's engine must see there.
//
//   group   instructions of one body on one queue that raise one semaphore (or of all bodies,
//           as in the per-engine strategy); N of them, the producer is the K-th. Or two of both
//           branches of an `if`, of which each entry runs one: they count in the body around it
//   ring    copies of a counter taken at each entry of a loop: slot m is what
//           it was m entries ago
//   wait    semaphore >= mask * w*(N*x - (N-K)), w the weight of the queue
//
// makePlan() decides; verifyPlan() decides again, independently, whether the plan holds
// together. Neither changes the kernel.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_SYNC_PLAN_H
#define TALLY_SYNC_PLAN_H

#include "tally/Machine/Machine.h"
#include "tally/Model/Strategy.h"
#include "tally/Sync/Expr.h"

#include <algorithm>
#include <span>

namespace tally {

using GroupId = Id<struct GroupTag>;

/// Which engines meet at a barrier.
enum class Participants : uint8_t {
  Work, ///< engines with work in the loop; at entry and exit also those a dependence links to it
  All,  ///< every engine of the kernel
};

/// With which others an instruction shares its semaphore.
enum class Sharing : uint8_t {
  None,  ///< it has its own
  Body,  ///< with those of its queue in its body that share so, too
  Queue, ///< with those of its queue that share so, too; K then counts within a block
  Join,  ///< with its twin in the other branch of its `if` (Joins.h)
};
template <> inline constexpr auto wordsOf<Sharing> = words("none", "body", "queue", "join");

/// How instructions share in a region; none: as around it.
std::optional<Sharing> sharingIn(RegionSync sync);

/// The most iterations that a ring remembers, each in a register of its own.
inline constexpr uint32_t mostRemembered = 64;

/// A loop between whose iterations all counters of bodies in it are set back to zero, and so is
/// everything that any engine has made of them. (So are semaphores that count a whole queue.)
struct ResetPoint {
  LoopId loop;
  uint32_t every = 0; ///< iterations, counted over the whole run

  bool operator==(const ResetPoint &) const = default;
};

/// All that a plan depends on in addition to its kernel.
struct PlanDecisions {
  Strategy strategy = Strategy::PerLoop;
  Participants participants = Participants::Work;
  bool fold = true;                        ///< evaluate constants in wait expressions
  IdVector<InstrId, Sharing> sharing = {}; ///< Auto; empty: all with their bodies
  IdVector<InstrId, InstrId> twins = {};   ///< of those that share so (Joins.h); empty: none do
  /// Where trips are constant, runs in nests of them are counted from the loops around; under
  /// 'auto', instead of all loops in them.
  bool constantTrips = true;
  bool followTables = true;        ///< count what a dependence by a table asks for
  std::vector<DepId> leftOut = {}; ///< Auto: not waited for, as others imply them; in order
  /// Copies of a counter that the wait of a dependence may read; empty: as many as it needs, up to
  /// `mostRemembered`. With fewer, it waits longer than it has to.
  IdVector<DepId, uint32_t> remembered = {};

  uint32_t rememberedFor(DepId dep) const {
    return remembered.empty() ? mostRemembered : remembered[dep];
  }

  std::vector<ResetPoint> resets = {}; ///< so that no counter overflows; in text order
  /// The first value that no counter holds; see Machine::counterLimit().
  uint64_t counterLimit = maxCount + 1;
};

/// How a wait value is found: docs/internals/allocation/Classes.md has the condition and
/// the formula of each.
enum class WaitClass : uint8_t {
  InShared,
  Nested,
  SameBranch,
  Ring,
  Flat,
  Element,
  Nest,             ///< a distance over whole runs of loops of constant trips
  Conservative,     ///< longer than the dependence asks
  Static,           ///< a constant (barrier, unrolled)
  CoveredByBarrier, ///< no wait: a barrier stands between
  Implied,          ///< no wait: other dependences imply it
  Never,            ///< no wait: nothing is ever owed
};
template <>
inline constexpr auto wordsOf<WaitClass> =
    words("in-shared", "nested", "same-branch", "ring", "flat", "element", "nest", "conservative",
          "static", "barrier", "implied", "never");

/// Instructions that raise one semaphore.
struct Group {
  LoopId body; ///< in whose entries it counts; none: all bodies
  QueueId queue;
  uint32_t numSignals = 0;             ///< N: members, each raising once per entry of the body
  InstrId sole;                        ///< the one member, if the strategy gives each its own
  std::optional<uint32_t> pinned = {}; ///< number of its semaphore, if the kernel says so
  /// Of a join: its two members, each in a branch of one `if`; the body is that around it.
  InstrId inThen, inElse;

  bool isJoin() const { return inThen.valid(); }
};

/// Of a distance in a nest of constant trips: what one loop of it adds to a wait.
struct NestLevel {
  LoopId loop;
  uint32_t skipped = 0; ///< of its iterations, the first ones in which nothing is owed
  uint32_t times = 0;   ///< at most times * (total(loop) - minus) runs are owed; 0: no such limit
  uint32_t minus = 0;
};

/// What one dependence waits for. With the threshold stand the parts it was made of,
/// for comparing and explaining:  mask * w*(N*(times*(counter - minus) - less) - (N-K)). Element by
/// element, the counter is the younger of two, min(slot + 1 plus an inner index, slot), and slot 0
/// is the live one. In a nest, times*(counter - minus) has limits and further masks: its levels.
struct Wait {
  WaitClass waitClass = WaitClass::Never;
  bool exact = true; ///< never longer than the dependence asks
  GroupId group;     ///< none: no wait
  ExprId threshold;
  LoopId maskLoop; ///< mask = isGT(trip(maskLoop), maskOffset); none: 1
  uint32_t maskOffset = 0;
  bool maskTotal = false; ///< the mask compares total(maskLoop) instead (Flat)
  RingId ring;            ///< the counter is slot `slot` of this ring; none: the live counter
  uint32_t slot = 0;
  uint32_t minus = 0;
  uint32_t times = 1;      ///< runs of the producer in each entry of `outer`
  LoopId outer;            ///< whose entries are counted instead of the producer's body's; or none
  uint32_t less = 0;       ///< of the runs in the last of them, those that are not needed
  LoopId innerLoop;        ///< whose runs are the consumer's inner index; the root's: 1; or none
  LoopId innerAround;      ///< they are numbered in each iteration of it
  int64_t innerStep = 0;   ///< by how much the producer's index lies before it; a mask if above 0
  RunTableId table;        ///< says instead which index it needs
  uint32_t firstLevel = 0; ///< Nest: into SyncPlan::nestLevels, outermost first
  uint32_t numLevels = 0;
};

/// A barrier that stands at one of the three places of a loop.
struct LoopBarriers {
  std::vector<EngineId> entry; ///< before the loop; empty: no barrier there
  std::vector<EngineId> back;  ///< at the end of each iteration
  std::vector<EngineId> exit;  ///< after the loop
};

struct SyncPlan {
  PlanDecisions decisions;
  ExprPool exprs;
  IdVector<GroupId, Group> groups;
  IdVector<RingId, Ring> rings;
  IdVector<RoundsId, Rounds> rounds;
  IdVector<InstrId, GroupId> groupOf;  ///< whose semaphore an instruction raises; none: none
  IdVector<InstrId, uint32_t> placeOf; ///< K, from 1
  IdVector<DepId, Wait> waits;
  std::vector<NestLevel> nestLevels;

  std::span<const NestLevel> levelsOf(const Wait &wait) const {
    return std::span(nestLevels).subspan(wait.firstLevel, wait.numLevels);
  }

  /// Empty where no engines meet. Of code that counts, only barrier regions do, only at back edges.
  IdVector<LoopId, LoopBarriers> barriers;

  /// The reset point at `loop`; null if there is none.
  const ResetPoint *resetAt(LoopId loop) const {
    auto found = std::ranges::lower_bound(decisions.resets, loop, {}, &ResetPoint::loop);
    return found != decisions.resets.end() && found->loop == loop ? &*found : nullptr;
  }

  /// Whether an instruction raises a semaphore that counts its queue in all bodies.
  bool sharesQueue(InstrId instr) const {
    return groupOf[instr].valid() && !groups[groupOf[instr]].body.valid();
  }

  /// The body of whose entries each makes one run of an instruction, as its semaphore counts them.
  LoopId countedIn(const Kernel &kernel, InstrId instr) const {
    bool isJoined = groupOf[instr].valid() && groups[groupOf[instr]].isJoin();
    return isJoined ? groups[groupOf[instr]].body : kernel.instrs[instr].home;
  }
};

/// The plan for a legal kernel. Adds an error for what the strategy cannot do,
/// and a remark for each dependence that will wait longer than it has to. With
/// errors, the returned plan is not to be used.
SyncPlan makePlan(const Kernel &kernel, const PlanDecisions &decisions, Diagnostics &diagnostics);

/// Whether the plan holds together: members, N and K counted afresh, every dependence
/// waited for on its producer's semaphore or covered, expressions only over
/// what the consumer's engine can count. Reports what does not.
void verifyPlan(const Kernel &kernel, const SyncPlan &plan, Diagnostics &diagnostics);

/// Whether passing wait `a` (of dependence `da`) implies that `b` passes too; both at
/// one consumer. False if that cannot be shown.
bool dominates(const Kernel &kernel, const SyncPlan &plan, DepId a, DepId b);

/// How many dependences wait longer than they ask.
uint32_t numInexact(const SyncPlan &plan);

/// Which consumers a plan lets wait longer than they must: those of inexact dependences; all, where
/// the strategy promises no exactness (barrier, manual).
IdVector<InstrId, bool> overwaitAllowed(const Kernel &kernel, const SyncPlan &plan);

std::string dump(const Kernel &kernel, const SyncPlan &plan);

} // namespace tally

#endif // TALLY_SYNC_PLAN_H
