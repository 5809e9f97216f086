//===- Features.cpp - Which features of tally met in one program ----------===//

#include "Features.h"

#include "tally/Model/AccessText.h"
#include "tally/Model/Loads.h"
#include "tally/Model/Overlap.h"
#include "tally/Model/Place.h"
#include "tally/Model/Regions.h"
#include "tally/Sync/Divergence.h"
#include "tally/Sync/Split.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <set>
#include <span>

namespace tally::fuzz {

//===----------------------------------------------------------------------===//
// What predicates ask
//===----------------------------------------------------------------------===//

namespace {

using Predicate = bool (*)(const Sight &);

template <typename List, typename Test> bool any(const List &list, Test test) {
  bool found = false;
  for (auto &&item : list) {
    found = found || test(item);
  }
  return found;
}

template <Strategy strategy> bool isStrategy(const Sight &s) {
  return s.strategy == strategy;
}

template <Overflow overflow> bool isOverflow(const Sight &s) {
  return s.drawn.how.overflow == overflow;
}

template <uint32_t bits> bool hasBits(const Sight &s) {
  return s.drawn.machine.counterBits == bits;
}

/// A limit of the machine that lies in a range; none is UINT32_MAX.
template <std::optional<uint32_t> Machine::*limit, uint32_t from, uint32_t to>
bool limitIn(const Sight &s) {
  uint32_t value = (s.drawn.machine.*limit).value_or(UINT32_MAX);
  return from <= value && value <= to;
}

template <bool (*test)(const Queue &)> bool anyQueue(const Sight &s) {
  return any(s.kernel.queues, test);
}

template <bool (*test)(const Loop &)> bool anyLoop(const Sight &s) {
  return any(s.kernel.loops, test);
}

template <bool (*test)(const Kernel &, const Dep &)> bool anyDep(const Sight &s) {
  return any(s.kernel.deps, [&](const Dep &dep) { return test(s.kernel, dep); });
}

template <bool (*test)(const ParsedAccess &)> bool anyTile(const Sight &s) {
  return any(s.kernel.accesses, [&](const Access &access) {
    std::string error;
    return test(*parseAccess(s.kernel.text(access.text), error));
  });
}

template <bool (*test)(const Op &)> bool anyOp(const Sight &s) {
  return any(s.code.engines, [](const EngineProgram &program) { return any(program.ops, test); });
}

template <WaitClass waitClass> bool anyWait(const Sight &s) {
  return any(s.plan.waits, [](const Wait &wait) { return wait.waitClass == waitClass; });
}

template <RegionSync sync> bool anyRegion(const Sight &s) {
  return any(s.kernel.loops, [](const Loop &loop) { return loop.sync == sync; });
}

template <TileExpr::Kind kind> bool inTile(const ParsedAccess &tile) {
  return any(tile.exprs, [](const TileExpr &e) { return e.kind == kind; });
}

/// From run to run of two nests, one of them of several loops.
bool isOfNests(const Kernel &kernel, const Dep &dep) {
  DepPlace place = placeOf(kernel, dep);
  auto isDeeper = [&](LoopId home) {
    return home != place.shared && kernel.loops[home].parent != place.shared;
  };
  bool inOneLoop = place.producerHome == place.consumerHome;
  return dep.form == DistanceForm::Element && !inOneLoop &&
         (isDeeper(place.producerHome) || isDeeper(place.consumerHome));
}

/// From run to run of a nest and of what is directly in the body around it.
bool isOfOneRun(const Kernel &kernel, const Dep &dep) {
  DepPlace place = placeOf(kernel, dep);
  return dep.form == DistanceForm::Element && !dep.table.valid() &&
         (place.producerHome == place.shared || place.consumerHome == place.shared);
}

bool hasTable(const Kernel &, const Dep &dep) {
  return dep.table.valid();
}

template <DistanceForm form> bool hasForm(const Kernel &, const Dep &dep) {
  return dep.form == form;
}

bool isNegative(const Kernel &kernel, const Dep &dep) {
  return (dep.form == DistanceForm::Element && dep.step < 0) ||
         any(kernel.componentsOf(dep), [](const DistanceComponent &c) { return c.distance < 0; });
}

/// Farther than rings remember.
bool isFar(const Kernel &kernel, const Dep &dep) {
  return dep.step > mostRemembered || any(kernel.componentsOf(dep), [](const DistanceComponent &c) {
           return c.distance > mostRemembered;
         });
}

bool isVector(const Kernel &kernel, const Dep &dep, size_t least, size_t most) {
  size_t components = kernel.componentsOf(dep).size();
  return dep.form == DistanceForm::Vector && least <= components && components <= most;
}

/// Ends of a dependence: on one queue, on one engine, or neither.
bool isOneQueue(const Kernel &kernel, const Dep &dep) {
  return kernel.instrs[dep.producer].queue == kernel.instrs[dep.consumer].queue;
}

bool isOneEngine(const Kernel &kernel, const Dep &dep) {
  return kernel.engineOf(dep.producer) == kernel.engineOf(dep.consumer);
}

bool isTrip(const Loop &loop, Trip::Kind kind) {
  return !loop.isBranch() && loop.trip.kind == kind && loop.parent.valid();
}

/// In the loop that it gives.
bool loadsInside(const Kernel &kernel) {
  return std::ranges::any_of(kernel.loads, [&](const LoadedValue &loaded) {
    return isGivenBy(kernel, kernel.instrs[loaded.instr].home, kernel.text(loaded.value));
  });
}

/// Two loops that follow from one value.
bool hasTiedLoops(const Kernel &kernel) {
  std::set<RunValueId> seen;
  for (LoopId id : kernel.loops.ids()) {
    if (isTrip(kernel.loops[id], Trip::Kind::Formula)) {
      for (RunValueId value : kernel.tiles->formulaOf(id).values) {
        if (value.valid() && !seen.insert(value).second) {
          return true;
        }
      }
    }
  }
  return false;
}

bool isRunTime(const Loop &loop) {
  return !loop.isBranch() && loop.parent.valid() && loop.trip.kind == Trip::Kind::Value;
}

/// Loops, not branches, around an instruction at most.
uint32_t depthOf(const Kernel &kernel) {
  uint32_t most = 0;
  for (const Instr &instr : kernel.instrs) {
    uint32_t depth = 0;
    for (LoopId l = instr.home; l != rootLoop; l = kernel.loops[l].parent) {
      depth += !kernel.loops[l].isBranch();
    }
    most = std::max(most, depth);
  }
  return most;
}

template <uint32_t depth> bool isDeep(const Sight &s) {
  return std::min(depthOf(s.kernel), 3u) == depth;
}

bool asksForAll(const Sight &s) {
  return s.drawn.kernel.deps.empty() && !s.drawn.kernel.accesses.empty();
}

bool isCountedApart(const Sight &s) {
  const Divergence divergence(s.kernel);
  return any(s.kernel.deps.ids(), [&](DepId dep) { return divergence.apartOn(dep).valid(); });
}

/// The end of a dependence in a region has another way of synchronising than the other end.
bool acrossRegions(const Sight &s) {
  IdVector<LoopId, RegionSync> regions = regionSyncs(s.kernel);
  return any(s.kernel.deps, [&](const Dep &dep) {
    return regions[s.kernel.instrs[dep.producer].home] !=
           regions[s.kernel.instrs[dep.consumer].home];
  });
}

/// Semaphores of the plan: `whole` queues, or shared in a body, or of one instruction.
bool sharesQueue(const Sight &s) {
  return any(s.plan.groups, [](const Group &group) { return !group.body.valid(); });
}

bool sharesBody(const Sight &s) {
  return any(s.plan.groups,
             [](const Group &group) { return group.body.valid() && group.numSignals > 1; });
}

bool mixesJoints(const Sight &s) {
  return any(s.kernel.loops, [&](const Loop &loop) {
    std::string error;
    return loop.trip.condition.valid() &&
           !parseCondition(s.kernel.text(loop.trip.condition), error)->groupEnds.empty();
  });
}

bool joinsBranches(const Sight &s) {
  return any(s.plan.groups, [](const Group &group) { return group.isJoin(); });
}

bool givesCopiesUp(const Sight &s) {
  return any(s.kernel.deps.ids(), [&](DepId dep) {
    return !s.plan.waits[dep].exact && s.plan.decisions.rememberedFor(dep) < mostRemembered;
  });
}

/// Buffers that share memory, surely or perhaps, and that are both touched.
bool anyShared(const Sight &s, InCommon wanted) {
  SharedMemory memory(s.kernel);
  return any(s.kernel.accesses, [&](const Access &a) {
    return any(s.kernel.accesses, [&](const Access &b) {
      return a.buffer < b.buffer && memory.between(a.buffer, b.buffer) == wanted;
    });
  });
}

/// Unrolled in the code, though not in the kernel.
bool growsLoops(const Sight &s) {
  return any(s.code.engines, [&](const EngineProgram &program) {
    return any(program.ops, [&](const Op &op) {
      return op.kind == OpKind::LoopBegin && op.amount != atOnce && op.amount > 1 &&
             s.kernel.loops[op.loop()].unroll == 1;
    });
  });
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

struct Axis {
  std::string_view name;
  std::string_view oneAnswer; ///< why there is one in each program; empty if there may be more
};

constexpr Axis strategies{"strategy", "a program is made in one way"};
constexpr Axis options{"options", ""};
constexpr Axis overflows{"overflow", "it is one option"};
constexpr Axis bits{"counters", "a machine has counters of one width"};
constexpr Axis subtraction{"subtraction", "a machine subtracts in one way"};
constexpr Axis comparison{"comparison", "a machine compares in one way"};
constexpr Axis semaphores{"semaphores", "a machine has one number of them"};
constexpr Axis registers{"registers", "a machine has one number of them"};
constexpr Axis queues{"queues", ""};
constexpr Axis nesting{"nesting", "it is the deepest that counts"};
constexpr Axis loops{"loops", ""};
constexpr Axis branches{"branches", ""};
constexpr Axis divergence{"divergence", ""};
constexpr Axis unrolling{"unrolling", ""};
constexpr Axis regions{"regions", ""};
constexpr Axis numbers{"numbers", ""};
constexpr Axis origin{"dependences", "they have one origin"};
constexpr Axis ends{"ends", ""};
constexpr Axis distance{"distance", ""};
constexpr Axis waits{"waits", ""};
constexpr Axis program{"code", ""};
constexpr Axis accesses{"accesses", ""};

struct Feature {
  const Axis *axis;
  std::string_view name;
  Predicate isThere;
};

using Kind = TileExpr::Kind;

// clang-format off
constexpr Feature featureTable[] = {
    {&strategies, "barrier", isStrategy<Strategy::Barrier>},
    {&strategies, "unrolled", isStrategy<Strategy::Unrolled>},
    {&strategies, "per-instruction", isStrategy<Strategy::PerInstruction>},
    {&strategies, "per-loop", isStrategy<Strategy::PerLoop>},
    {&strategies, "per-engine", isStrategy<Strategy::PerEngine>},
    {&strategies, "auto", isStrategy<Strategy::Auto>},
    {&strategies, "by hand", [](const Sight &s) { return s.strategy == Strategy::Manual && !s.edited; }},
    {&strategies, "by hand, edited", [](const Sight &s) { return s.edited; }},
    {&options, "all engines meet", [](const Sight &s) { return s.drawn.how.participants == Participants::All; }},
    {&options, "constants not folded", [](const Sight &s) { return !s.drawn.how.fold; }},
    {&options, "values not hoisted", [](const Sight &s) { return !s.drawn.how.licm; }},
    {&options, "values not shared", [](const Sight &s) { return !s.drawn.how.cse; }},
    {&options, "all counters kept", [](const Sight &s) { return s.drawn.how.keepCounters; }},
    {&options, "growth allowed", [](const Sight &s) { return s.drawn.how.codeGrowth > 1; }},
    {&options, "implied dependences kept", [](const Sight &s) { return asksForAll(s) && s.drawn.how.keepImplied; }},
    {&overflows, "reset", isOverflow<Overflow::Reset>},
    {&overflows, "refuse", isOverflow<Overflow::Refuse>},
    {&overflows, "assume", isOverflow<Overflow::Assume>},
    {&bits, "8 bits", hasBits<8>},
    {&bits, "9 bits", hasBits<9>},
    {&bits, "16 bits", hasBits<16>},
    {&bits, "32 bits", hasBits<32>},
    {&subtraction, "wraps", [](const Sight &s) { return s.drawn.machine.subtraction == Subtraction::Wraps; }},
    {&subtraction, "saturates", [](const Sight &s) { return s.drawn.machine.subtraction == Subtraction::Saturates; }},
    {&comparison, "unsigned", [](const Sight &s) { return s.drawn.machine.waitCompare == WaitCompare::Unsigned; }},
    {&comparison, "signed", [](const Sight &s) { return s.drawn.machine.waitCompare == WaitCompare::Signed; }},
    {&semaphores, "1", limitIn<&Machine::semaphores, 1, 1>},
    {&semaphores, "2 to 4", limitIn<&Machine::semaphores, 2, 4>},
    {&semaphores, "5 to 12", limitIn<&Machine::semaphores, 5, 12>},
    {&semaphores, "more than 12", limitIn<&Machine::semaphores, 13, UINT32_MAX - 1>},
    {&semaphores, "unlimited", limitIn<&Machine::semaphores, UINT32_MAX, UINT32_MAX>},
    {&registers, "2", limitIn<&Machine::registersPerEngine, 2, 2>},
    {&registers, "3 or 4", limitIn<&Machine::registersPerEngine, 3, 4>},
    {&registers, "5 to 8", limitIn<&Machine::registersPerEngine, 5, 8>},
    {&registers, "more than 8", limitIn<&Machine::registersPerEngine, 9, UINT32_MAX - 1>},
    {&registers, "unlimited", limitIn<&Machine::registersPerEngine, UINT32_MAX, UINT32_MAX>},
    {&queues, "in order", [](const Sight &s) { return !s.drawn.machine.queueOverlap; }},
    {&queues, "several on an engine", [](const Sight &s) { return s.kernel.queues.size() > s.kernel.engines.size(); }},
    {&queues, "weight 1", anyQueue<[](const Queue &queue) { return queue.weight == 1; }>},
    {&queues, "whole, weight 2 or more", anyQueue<[](const Queue &queue) { return queue.weight >= 2 && !mayMix(queue); }>},
    {&queues, "whole, weight 16 or more", anyQueue<[](const Queue &queue) { return queue.weight >= 16 && !mayMix(queue); }>},
    {&queues, "split", anyQueue<mayMix>},
    {&queues, "split on the whole machine", [](const Sight &s) { return s.drawn.machine.completion == Completion::Split; }},
    {&queues, "sums out of order", [](const Sight &s) { return s.drawn.machine.sumsInOrder.has_value(); }},
    {&nesting, "no loop", isDeep<0>},
    {&nesting, "one loop", isDeep<1>},
    {&nesting, "two loops", isDeep<2>},
    {&nesting, "three loops or more", isDeep<3>},
    {&loops, "constant trips", anyLoop<[](const Loop &loop) { return isTrip(loop, Trip::Kind::Constant); }>},
    {&loops, "bounded trips", anyLoop<[](const Loop &loop) { return isRunTime(loop) && loop.trip.max; }>},
    {&loops, "trips without a bound", anyLoop<[](const Loop &loop) { return isRunTime(loop) && !loop.trip.max; }>},
    {&loops, "while", anyLoop<[](const Loop &loop) { return isTrip(loop, Trip::Kind::Guard); }>},
    {&loops, "trips by a formula", anyLoop<[](const Loop &loop) { return isTrip(loop, Trip::Kind::Formula); }>},
    {&loops, "one value for two loops", [](const Sight &s) { return hasTiedLoops(s.kernel); }},
    {&loops, "a value that is loaded", [](const Sight &s) { return !s.kernel.loads.empty(); }},
    {&loops, "a value that its loop loads", [](const Sight &s) { return loadsInside(s.kernel); }},
    {&branches, "if", anyLoop<[](const Loop &loop) { return loop.isBranch() && loop.trip.isOpaque(); }>},
    {&branches, "if by a condition", anyLoop<[](const Loop &loop) { return loop.trip.condition.valid(); }>},
    {&branches, "a condition of 'and' and 'or'", mixesJoints},
    {&divergence, "loop", anyLoop<[](const Loop &loop) { return !loop.uniform && !loop.isBranch(); }>},
    {&divergence, "branch", anyLoop<[](const Loop &loop) { return !loop.uniform && loop.isBranch(); }>},
    {&divergence, "counted apart", isCountedApart},
    {&unrolling, "by a number", anyLoop<[](const Loop &loop) { return loop.unroll != 1 && loop.unroll != fullyUnrolled; }>},
    {&unrolling, "fully", anyLoop<[](const Loop &loop) { return loop.unroll == fullyUnrolled; }>},
    {&regions, "per-instruction", anyRegion<RegionSync::PerInstruction>},
    {&regions, "per-loop", anyRegion<RegionSync::PerLoop>},
    {&regions, "per-engine", anyRegion<RegionSync::PerEngine>},
    {&regions, "barrier", anyRegion<RegionSync::Barrier>},
    {&regions, "left or entered", acrossRegions},
    {&numbers, "pinned semaphores", [](const Sight &s) { return !s.kernel.pins.empty(); }},
    {&numbers, "reserved semaphores", [](const Sight &s) { return !s.kernel.reserved.empty(); }},
    {&numbers, "reserved registers", [](const Sight &s) { return any(s.kernel.engines, [](const Engine &e) { return !e.reserved.empty(); }); }},
    {&origin, "written", [](const Sight &s) { return !asksForAll(s) && !s.drawn.foundAndWritten; }},
    {&origin, "found", asksForAll},
    {&origin, "some found, some written", [](const Sight &s) { return s.drawn.foundAndWritten; }},
    {&ends, "on one queue", anyDep<isOneQueue>},
    {&ends, "on two queues of one engine", anyDep<[](const Kernel &k, const Dep &d) { return isOneEngine(k, d) && !isOneQueue(k, d); }>},
    {&ends, "on two engines", anyDep<[](const Kernel &k, const Dep &d) { return !isOneEngine(k, d); }>},
    {&ends, "one instruction", anyDep<[](const Kernel &, const Dep &d) { return d.producer == d.consumer; }>},
    {&ends, "backward", anyDep<[](const Kernel &k, const Dep &d) { return placeOf(k, d).order == tally::Order::Backward; }>},
    {&ends, "two branches", anyDep<[](const Kernel &k, const Dep &d) { return placeOf(k, d).order == tally::Order::Opposite; }>},
    {&distance, "0", anyDep<[](const Kernel &k, const Dep &d) { return isVector(k, d, 0, 0); }>},
    {&distance, "on one loop", anyDep<[](const Kernel &k, const Dep &d) { return isVector(k, d, 1, 1); }>},
    {&distance, "on several loops", anyDep<[](const Kernel &k, const Dep &d) { return isVector(k, d, 2, SIZE_MAX); }>},
    {&distance, "flat", anyDep<hasForm<DistanceForm::Flat>>},
    {&distance, "element", anyDep<hasForm<DistanceForm::Element>>},
    {&distance, "element, of nests", anyDep<isOfNests>},
    {&distance, "element, of one run", anyDep<isOfOneRun>},
    {&distance, "element, by a table", anyDep<hasTable>},
    {&distance, "negative in part", anyDep<isNegative>},
    {&distance, "more than 64", anyDep<isFar>},
    {&waits, "in the shared body", anyWait<WaitClass::InShared>},
    {&waits, "nested", anyWait<WaitClass::Nested>},
    {&waits, "in the same branch", anyWait<WaitClass::SameBranch>},
    {&waits, "ring", anyWait<WaitClass::Ring>},
    {&waits, "flat", anyWait<WaitClass::Flat>},
    {&waits, "element", anyWait<WaitClass::Element>},
    {&waits, "nest", anyWait<WaitClass::Nest>},
    {&waits, "conservative", anyWait<WaitClass::Conservative>},
    {&waits, "constant", anyWait<WaitClass::Static>},
    {&waits, "covered by a barrier", anyWait<WaitClass::CoveredByBarrier>},
    {&waits, "implied by others", anyWait<WaitClass::Implied>},
    {&program, "a semaphore for a queue", sharesQueue},
    {&program, "a semaphore shared in a body", sharesBody},
    {&program, "a semaphore of both branches", joinsBranches},
    {&program, "counters reset", [](const Sight &s) { return !s.plan.decisions.resets.empty(); }},
    {&program, "copies given up", givesCopiesUp},
    {&program, "loops counted at once", anyOp<[](const Op &op) { return op.kind == OpKind::LoopBegin && op.amount == atOnce; }>},
    {&program, "a loop's own counter", anyOp<[](const Op &op) { return op.kind == OpKind::LoopBegin && op.dst.valid(); }>},
    {&program, "loops unrolled by growth", growsLoops},
    {&program, "waits once in a pass", anyOp<[](const Op &op) { return op.once; }>},
    {&accesses, "whole buffer", anyTile<[](const ParsedAccess &tile) { return tile.dims.empty() && !tile.anywhere; }>},
    {&accesses, "anywhere", anyTile<[](const ParsedAccess &tile) { return tile.anywhere; }>},
    {&accesses, "counter of a loop", anyTile<inTile<Kind::Loop>>},
    {&accesses, "mod", anyTile<inTile<Kind::Mod>>},
    {&accesses, "floordiv", anyTile<inTile<Kind::FloorDiv>>},
    {&accesses, "total", anyTile<inTile<Kind::Total>>},
    {&accesses, "trips", anyTile<inTile<Kind::Trips>>},
    {&accesses, "run-time value", anyTile<inTile<Kind::Symbol>>},
    {&accesses, "several elements", anyTile<[](const ParsedAccess &tile) { return any(tile.dims, [](const TileDim &dim) { return dim.size.valid(); }); }>},
    {&accesses, "stride", anyTile<[](const ParsedAccess &tile) { return any(tile.dims, [](const TileDim &dim) { return dim.stride != 1; }); }>},
    {&accesses, "size that varies", anyTile<[](const ParsedAccess &tile) { return any(tile.dims, [&](const TileDim &dim) { return dim.size.valid() && tile.exprs[dim.size].kind != Kind::Constant; }); }>},
    {&accesses, "guard", anyTile<[](const ParsedAccess &tile) { return !tile.guards.empty(); }>},
    {&accesses, "one buffer over another", [](const Sight &s) { return anyShared(s, InCommon::Known); }},
    {&accesses, "over partitions", [](const Sight &s) { return any(s.kernel.accesses, [&](const Access &a) { return s.kernel.buffers[a.buffer].partitions.has_value(); }); }},
    {&accesses, "perhaps over another", [](const Sight &s) { return anyShared(s, InCommon::Unknown); }},
    {&accesses, "accumulate", [](const Sight &s) { return any(s.kernel.accesses, [](const Access &a) { return a.kind == AccessKind::Accumulate; }); }},
};
// clang-format on

static_assert(std::size(featureTable) <= maxFeatures);

/// Pairs that cannot meet, beside those of an axis with one answer. Each side is an axis, or one
/// feature with its axis before a colon.
struct Impossible {
  std::string_view a;
  std::string_view b;
  std::string_view reason;
};

constexpr std::string_view needsLoop = "it takes a loop";
constexpr std::string_view onlyConstant = "'unrolled' needs constant trips, and no branches";
constexpr std::string_view noCounts = "code of constants counts nothing";
constexpr std::string_view onlyAuto = "only 'auto' chooses it";
constexpr std::string_view noPins = "pins are for strategies that count";
constexpr std::string_view onlyReset = "it is the answer 'reset'";
constexpr std::string_view noDoubt = "barriers refuse engines that count apart";
constexpr std::string_view onlyFound = "it says what becomes of dependences that are found";

constexpr Impossible impossible[] = {
    {"strategy: barrier", "divergence: counted apart", noDoubt},
    {"strategy: barrier", "numbers: pinned semaphores", noPins},
    {"strategy: barrier", "code: counters reset", noCounts},
    {"strategy: barrier", "code: copies given up", noCounts},
    {"strategy: barrier", "code: loops counted at once", onlyAuto},
    {"strategy: barrier", "code: a semaphore of both branches", onlyAuto},
    {"strategy: barrier", "code: a loop's own counter", onlyAuto},
    {"strategy: barrier", "code: loops unrolled by growth", onlyAuto},
    {"strategy: unrolled", "loops: bounded trips", onlyConstant},
    {"strategy: unrolled", "loops: trips without a bound", onlyConstant},
    {"strategy: unrolled", "loops: while", onlyConstant},
    {"strategy: unrolled", "loops: trips by a formula", onlyConstant},
    {"strategy: unrolled", "loops: one value for two loops", onlyConstant},
    {"strategy: unrolled", "loops: a value that is loaded", onlyConstant},
    {"strategy: unrolled", "loops: a value that its loop loads", onlyConstant},
    {"strategy: unrolled", "branches", onlyConstant},
    {"strategy: unrolled", "divergence", onlyConstant},
    {"strategy: unrolled", "ends: two branches", onlyConstant},
    {"strategy: unrolled", "numbers: pinned semaphores", noPins},
    {"strategy: unrolled", "waits: covered by a barrier", "it has none"},
    {"strategy: unrolled", "code: a semaphore shared in a body",
     "it has one for a queue, or for an instruction"},
    {"registers: unlimited", "code: copies given up", "it is for want of registers"},
    {"strategy: unrolled", "code: counters reset", noCounts},
    {"strategy: unrolled", "code: copies given up", noCounts},
    {"strategy: unrolled", "code: loops counted at once", onlyAuto},
    {"strategy: unrolled", "code: a semaphore of both branches", onlyAuto},
    {"strategy: unrolled", "code: a loop's own counter", onlyAuto},
    {"strategy: unrolled", "code: loops unrolled by growth", onlyAuto},
    {"strategy: barrier", "waits: in the shared body", noCounts},
    {"strategy: barrier", "waits: nested", noCounts},
    {"strategy: barrier", "waits: in the same branch", noCounts},
    {"strategy: barrier", "waits: ring", noCounts},
    {"strategy: barrier", "waits: flat", noCounts},
    {"strategy: barrier", "waits: element", noCounts},
    {"strategy: barrier", "waits: conservative", noCounts},
    {"strategy: unrolled", "waits: in the shared body", noCounts},
    {"strategy: unrolled", "waits: nested", noCounts},
    {"strategy: unrolled", "waits: in the same branch", noCounts},
    {"strategy: unrolled", "waits: ring", noCounts},
    {"strategy: unrolled", "waits: flat", noCounts},
    {"strategy: unrolled", "waits: element", noCounts},
    {"strategy: unrolled", "waits: conservative", noCounts},
    {"strategy: per-instruction", "waits: constant", "it counts"},
    {"strategy: per-loop", "waits: constant", "it counts"},
    {"strategy: per-engine", "waits: constant", "it counts"},
    {"strategy: per-instruction", "code: loops counted at once", onlyAuto},
    {"strategy: per-instruction", "code: a semaphore of both branches", onlyAuto},
    {"strategy: per-instruction", "code: a loop's own counter", onlyAuto},
    {"strategy: per-instruction", "code: loops unrolled by growth", onlyAuto},
    {"strategy: per-loop", "code: loops counted at once", onlyAuto},
    {"strategy: per-loop", "code: a semaphore of both branches", onlyAuto},
    {"strategy: per-loop", "code: a loop's own counter", onlyAuto},
    {"strategy: per-loop", "code: loops unrolled by growth", onlyAuto},
    {"strategy: per-engine", "code: loops counted at once", onlyAuto},
    {"strategy: per-engine", "code: a semaphore of both branches", onlyAuto},
    {"strategy: per-engine", "code: a loop's own counter", onlyAuto},
    {"strategy: per-engine", "code: loops unrolled by growth", onlyAuto},
    {"options: implied dependences kept", "dependences: written", onlyFound},
    {"options: implied dependences kept", "dependences: some found, some written", onlyFound},
    {"options: implied dependences kept", "divergence: counted apart", onlyFound},
    {"overflow: refuse", "code: counters reset", onlyReset},
    {"overflow: assume", "code: counters reset", onlyReset},
    {"queues: split on the whole machine", "queues: whole, weight 2 or more", "all are split"},
    {"queues: split on the whole machine", "queues: whole, weight 16 or more", "all are split"},
    {"nesting: no loop", "loops", needsLoop},
    {"nesting: no loop", "divergence: loop", needsLoop},
    {"nesting: no loop", "unrolling", needsLoop},
    {"nesting: no loop", "distance: on one loop", needsLoop},
    {"nesting: no loop", "distance: on several loops", needsLoop},
    {"nesting: no loop", "distance: element", needsLoop},
    {"nesting: no loop", "distance: negative in part", needsLoop},
    {"nesting: no loop", "waits: in the same branch", needsLoop},
    {"nesting: no loop", "waits: ring", needsLoop},
    {"nesting: no loop", "waits: element", needsLoop},
    {"nesting: no loop", "code: counters reset", needsLoop},
    {"nesting: no loop", "code: loops counted at once", needsLoop},
    {"nesting: no loop", "code: a loop's own counter", needsLoop},
    {"nesting: no loop", "code: loops unrolled by growth", needsLoop},
    {"nesting: no loop", "accesses: counter of a loop", needsLoop},
    {"nesting: no loop", "accesses: trips", needsLoop},
    {"nesting: one loop", "distance: on several loops", "it takes two"},
    {"dependences: found", "divergence: counted apart", "what is found is refused there"},
    {"waits: constant", "divergence: counted apart", noDoubt},
    {"waits: constant", "numbers: pinned semaphores", noPins},
    {"waits: constant", "waits: in the shared body", noCounts},
    {"waits: constant", "waits: nested", noCounts},
    {"waits: constant", "waits: in the same branch", noCounts},
    {"waits: constant", "waits: ring", noCounts},
    {"waits: constant", "waits: flat", noCounts},
    {"waits: constant", "waits: element", noCounts},
    {"waits: constant", "waits: conservative", noCounts},
    {"waits: constant", "code: counters reset", noCounts},
    {"waits: constant", "code: copies given up", noCounts},
    {"waits: constant", "code: loops counted at once", onlyAuto},
    {"waits: constant", "code: a semaphore of both branches", onlyAuto},
    {"waits: constant", "code: a loop's own counter", onlyAuto},
    {"waits: constant", "code: loops unrolled by growth", onlyAuto},
};

bool matches(std::string_view pattern, size_t feature) {
  bool isAxis = pattern.find(':') == std::string_view::npos;
  return pattern == (isAxis ? std::string(featureTable[feature].axis->name) : featureName(feature));
}

} // namespace

size_t numFeatures() {
  return std::size(featureTable);
}

std::string featureName(size_t feature) {
  return fmt::format("{}: {}", featureTable[feature].axis->name, featureTable[feature].name);
}

FeatureSet featuresOf(const Sight &sight) {
  FeatureSet features;
  for (size_t i = 0; i < numFeatures(); ++i) {
    features.set(i, featureTable[i].isThere(sight));
  }
  return features;
}

//===----------------------------------------------------------------------===//
// Pairs
//===----------------------------------------------------------------------===//

void PairTable::add(const FeatureSet &met) {
  for (size_t i = met._Find_first(); i < met.size(); i = met._Find_next(i)) {
    for (size_t j = met._Find_first(); j < met.size(); j = met._Find_next(j)) {
      ++counts[i][j];
    }
  }
}

static std::string_view findReason(size_t a, size_t b) {
  if (featureTable[a].axis == featureTable[b].axis && !featureTable[a].axis->oneAnswer.empty()) {
    return featureTable[a].axis->oneAnswer;
  }
  for (const Impossible &pair : impossible) {
    if ((matches(pair.a, a) && matches(pair.b, b)) || (matches(pair.a, b) && matches(pair.b, a))) {
      return pair.reason;
    }
  }
  return {};
}

std::string_view whyImpossible(FeaturePair pair) {
  static const auto reasons = [] {
    std::array<std::array<std::string_view, maxFeatures>, maxFeatures> all;
    for (size_t a = 0; a < numFeatures(); ++a) {
      for (size_t b = 0; b < numFeatures(); ++b) {
        all[a][b] = findReason(a, b);
      }
    }
    return all;
  }();
  return reasons[pair.first][pair.second];
}

std::vector<std::string> impossibleWithoutFeature() {
  std::vector<std::string> unknown;
  for (const Impossible &pair : impossible) {
    for (std::string_view pattern : {pair.a, pair.b}) {
      bool isKnown = false;
      for (size_t i = 0; i < numFeatures(); ++i) {
        isKnown |= matches(pattern, i);
      }
      if (!isKnown) {
        unknown.push_back(std::string(pattern));
      }
    }
  }
  return unknown;
}

/// All pairs of which `test` says yes.
template <typename Test> static std::vector<FeaturePair> pairsWhere(const Test &test) {
  std::vector<FeaturePair> pairs;
  for (size_t a = 0; a < numFeatures(); ++a) {
    for (size_t b = a + 1; b < numFeatures(); ++b) {
      if (test(FeaturePair(a, b))) {
        pairs.push_back({a, b});
      }
    }
  }
  return pairs;
}

static std::vector<FeaturePair> possiblePairs() {
  return pairsWhere([](FeaturePair pair) { return whyImpossible(pair).empty(); });
}

std::vector<FeaturePair> missingPairs(const PairTable &table) {
  return pairsWhere([&](FeaturePair pair) {
    return table.at(pair.first, pair.second) == 0 && whyImpossible(pair).empty();
  });
}

std::vector<FeaturePair> contradictions(const PairTable &table) {
  return pairsWhere([&](FeaturePair pair) {
    return table.at(pair.first, pair.second) != 0 && !whyImpossible(pair).empty();
  });
}

//===----------------------------------------------------------------------===//
// Text and JSON
//===----------------------------------------------------------------------===//

static std::string pairsText(const std::vector<FeaturePair> &pairs, const PairTable &table) {
  std::string text;
  for (FeaturePair pair : pairs) {
    text += fmt::format("  {:>8}  {} with {}\n", table.at(pair.first, pair.second),
                        featureName(pair.first), featureName(pair.second));
  }
  return text;
}

/// The rarest of those that met.
static std::vector<FeaturePair> rarestPairs(const PairTable &table, size_t most) {
  std::vector<FeaturePair> pairs = possiblePairs();
  auto count = [&](FeaturePair pair) { return table.at(pair.first, pair.second); };
  std::erase_if(pairs, [&](FeaturePair pair) { return count(pair) == 0; });
  std::ranges::stable_sort(pairs, {}, count);
  pairs.resize(std::min(pairs.size(), most));
  return pairs;
}

std::string toText(const PairTable &table) {
  size_t possible = possiblePairs().size();
  std::vector<FeaturePair> missing = missingPairs(table);
  std::vector<FeaturePair> wrong = contradictions(table);
  std::string text = fmt::format("features: {}; of {} possible pairs {} met; the rarest:\n",
                                 numFeatures(), possible, possible - missing.size()) +
                     pairsText(rarestPairs(table, 10), table);
  text += missing.empty() ? "" : "never met:\n" + pairsText(missing, table);
  return text + (wrong.empty() ? "" : "met, although listed as impossible:\n") +
         pairsText(wrong, table);
}

std::string toJson(const PairTable &table) {
  nlohmann::ordered_json features = nlohmann::ordered_json::array();
  nlohmann::ordered_json pairs = nlohmann::ordered_json::array();
  for (size_t i = 0; i < numFeatures(); ++i) {
    features.push_back({{"name", featureName(i)}, {"programs", table.at(i, i)}});
  }
  for (FeaturePair pair : pairsWhere([](FeaturePair) { return true; })) {
    pairs.push_back(
        {{"a", pair.first}, {"b", pair.second}, {"programs", table.at(pair.first, pair.second)}});
    if (!whyImpossible(pair).empty()) {
      pairs.back()["impossible"] = whyImpossible(pair);
    }
  }
  return nlohmann::ordered_json{{"features", features}, {"pairs", pairs}}.dump();
}

} // namespace tally::fuzz
