//===- ChainSearch.cpp - Why one dependence follows from others -----------===//

#include "ChainSearch.h"

#include "tally/Model/RunNumbers.h"

#include <algorithm>

namespace tally::deps {
namespace {

/// Statements looked at for one dependence: fewer in large kernels, so that the whole stays linear.
size_t maxStatements(size_t numDeps) {
  constexpr size_t inAll = 4'000'000;
  return std::clamp<size_t>(inAll / std::max<size_t>(numDeps, 1), 32, 1024);
}

/// Neighbours on an engine that are looked at in each direction.
ptrdiff_t maxNeighbours(size_t maxStatements) {
  return static_cast<ptrdiff_t>(maxStatements / 4);
}

/// Links followed from each statement, on average: an instruction may wait for all others.
constexpr size_t linksPerStatement = 64;

/// Of the runs that there are in some iteration: all of them, or the first ones.
constexpr int64_t all = INT64_MAX;

struct Statement {
  InstrId instr;
  uint32_t level = 0;
  int64_t back = 0;
  bool hasRetired = false;
  bool exists = false;
  bool goesOn = false; ///< it has retired once more, in the iteration after
  int64_t upTo = all;  ///< run of a nest in `within`, in the last iteration that is spoken of
  LoopId within = {};
  size_t from = SIZE_MAX; ///< the statement before it
  uint32_t next = 0;      ///< another one about the same instruction
  DerivationStep step;
};

/// What is looked for, and the levels that statements count on.
class Goal {
public:
  /// `number` of a dependence.
  Goal(const Places &places, const Extraction &extraction, size_t number)
      : number(number), producer(extraction.deps[number].dep.producer),
        consumer(extraction.deps[number].dep.consumer), places(places), kernel(places.kernel),
        extraction(extraction), dep(extraction.deps[number].dep),
        flat(dep.form == DistanceForm::Flat) {
    if (flat) {
      levels = {places.home(consumer)};
      goalLevel = 1;
      goalBack = dep.step;
      return;
    }
    for (LoopId l = places.home(consumer); l != rootLoop; l = kernel.loops[l].parent) {
      if (kernel.loops[l].kind == LoopKind::Loop) {
        levels.insert(levels.begin(), l);
      }
    }
    goalLevel = levelsAround(producer);
    goalBack = 0;
    if (dep.numComponents != 0) {
      const DistanceComponent &carrier = extraction.components[dep.firstComponent];
      goalLevel = levelOf(carrier.loop);
      goalBack = carrier.distance;
    }
  }

  /// Counts runs of the body instead, if it can.
  bool makeFlat() {
    LoopId body = places.home(consumer);
    int64_t runs = flat ? 0 : runsOf(dep, body);
    if (runs == 0 || !kernel.encloses(body, places.home(producer))) {
      return false;
    }
    flat = true;
    goalBack = runs;
    levels = {body};
    goalLevel = 1;
    return true;
  }

  bool isFlat() const { return flat; }

  /// The first run of the consumer that asks, as runs are counted in `body`, at least.
  int64_t fromRun(LoopId body) const {
    bool isLater = dep.form == DistanceForm::Element && dep.step > 0 &&
                   kernel.encloses(body, places.commonBody(producer, consumer));
    return isLater ? dep.step : 0;
  }

  uint32_t numLevels() const { return static_cast<uint32_t>(levels.size()); }

  uint32_t level() const { return goalLevel; }

  int64_t back() const { return goalBack; }

  /// The trips of the body whose runs are counted, if it is a loop directly in another one and they
  /// are constant; else 0. A flat goal reaches over the ends of all loops, but distances on the two
  /// do not reach over the end of a third.
  int64_t constantTrips(LoopId body) const {
    const Loop &loop = kernel.loops[body];
    bool isNested = loop.knownTrips() && kernel.loops[loop.parent].kind == LoopKind::Loop;
    bool reaches = dep.form != DistanceForm::Flat ||
                   (isNested && kernel.realLoop(kernel.loops[loop.parent].parent) == rootLoop);
    return isNested && reaches ? static_cast<int64_t>(*loop.knownTrips()) : 0;
  }

  /// The distance in runs of `body`, for one on it and the loop around it; 0 if it is no such.
  int64_t runsOf(const Dep &dep, LoopId body) const {
    int64_t trips = constantTrips(body);
    int64_t runs = 0;
    for (uint32_t i = 0; i < dep.numComponents; ++i) {
      const DistanceComponent &c = extraction.components[dep.firstComponent + i];
      bool isOuter = c.loop == kernel.loops[body].parent;
      if (trips == 0 || (c.loop != body && !isOuter) || (i > 0 && c.distance > 0)) {
        return 0;
      }
      runs += isOuter ? c.distance * trips : c.distance;
    }
    return dep.form == DistanceForm::Vector ? std::max<int64_t>(runs, 0) : 0;
  }

  /// How many of the levels are around an instruction.
  uint32_t levelsAround(InstrId instr) const {
    uint32_t count = 0;
    while (count < numLevels() && kernel.encloses(levels[count], places.home(instr))) {
      ++count;
    }
    return count;
  }

  /// 0 if it is none.
  uint32_t levelOf(LoopId loop) const {
    auto found = std::find(levels.begin(), levels.end(), loop);
    return found == levels.end() ? 0 : static_cast<uint32_t>(found - levels.begin()) + 1;
  }

  LoopId bodyOf(uint32_t level) const { return level == 0 ? rootLoop : levels[level - 1]; }

  bool isMetBy(const Statement &s) const {
    if (s.instr != producer || !s.hasRetired || s.upTo != all) {
      return false;
    }
    return s.level == goalLevel  ? s.back <= goalBack
           : s.level > goalLevel ? goalBack >= 1
                                 : s.back == 0;
  }

  /// Whether a statement is about runs so early that no chain leads from them to the producer: each
  /// link leads to earlier ones.
  bool isBeforeProducer(const Statement &s) const {
    bool isLastIteration = s.level == goalLevel  ? s.back == goalBack
                           : s.level > goalLevel ? goalBack == 0
                                                 : true;
    return isLastIteration && s.instr < producer && !s.goesOn;
  }

  /// In the iteration before on the level of the goal, which lies farther out.
  Statement oneBack(Statement s) const {
    s.goesOn = false;
    s.upTo = all;
    s.level = goalLevel;
    s.back = 1;
    s.exists = places.isSure(s.instr, bodyOf(goalLevel));
    return s;
  }

  const size_t number;
  const InstrId producer;
  const InstrId consumer;

private:
  const Places &places;
  const Kernel &kernel;
  const Extraction &extraction;
  const Dep &dep;
  bool flat;
  std::vector<LoopId> levels; ///< around the consumer, outermost first
  uint32_t goalLevel = 0;
  int64_t goalBack = 0;
};

/// What a statement says of others: of those that came before, and of those that were waited for.
class Inference {
public:
  Inference(const ChainProblem &problem, const Goal &goal)
      : places(problem.places), kernel(places.kernel), index(problem.index),
        extraction(problem.extraction), removed(problem.removed), goal(goal) {}

  /// Runs of `other` that came before the run that a statement speaks of, in the same queue or on
  /// the same engine; `exists`, level and back are filled in. False if nothing is known of them.
  bool before(const Statement &s, InstrId other, Statement &result) const {
    uint32_t around = goal.levelsAround(other);
    bool goesOn = s.goesOn && around >= s.level;
    bool isEarlier = other < s.instr || goesOn;
    LoopId common = places.commonBody(other, s.instr);
    result.instr = other;
    result.goesOn = false;
    if (!s.exists) {
      // Every run of `other` has a run of s.instr behind it in the same iteration of the common
      // body.
      result.level = s.level;
      result.back = s.back;
      result.exists = false;
      return isEarlier && around >= s.level && places.isSure(s.instr, common);
    }
    result.level = std::min(around, s.level);
    result.back = around >= s.level ? s.back : 0;
    result.back += isEarlier ? 0 : 1;
    result.exists =
        places.isSure(other, isEarlier && !goesOn ? common : goal.bodyOf(result.level)) &&
        other != s.instr;
    return result.back == 0 || result.level >= 1;
  }

  /// Whether a run waits for nothing if too few iterations lie behind it. On the level of the goal
  /// enough do.
  static bool isMasked(const Dep &dep) {
    return dep.form == DistanceForm::Flat ? dep.step > 1 : dep.numComponents != 0;
  }

  bool waited(const Statement &s, const Dep &dep, Statement &next) const {
    next.instr = dep.producer;
    bool isZero = dep.form == DistanceForm::Vector && dep.numComponents == 0;
    if (dep.table.valid()) {
      return false;
    }
    if (isZero) {
      return waitedInSame(s, dep, next);
    }
    if (!s.exists) {
      return false;
    }
    bool known = dep.form == DistanceForm::Flat      ? waitedFlat(s, dep, next)
                 : dep.form == DistanceForm::Element ? waitedElement(s, dep, next)
                                                     : waitedVector(s, dep, next);
    next.exists = known && next.level >= 1 && places.isSure(next.instr, goal.bodyOf(next.level));
    return known;
  }

  /// Up to one run of a nest, as a run of what stands next to it waits for it.
  bool waitedUpToRun(const Statement &s, const Dep &dep, Statement &next) const {
    LoopId within = places.commonBody(dep.producer, s.instr);
    uint32_t around = goal.levelsAround(dep.producer);
    bool isWaited = s.exists && dep.form == DistanceForm::Element && !dep.table.valid() &&
                    dep.step <= 0 && places.home(s.instr) == within && !goal.isFlat() &&
                    around == goal.levelsAround(s.instr) && around <= s.level;
    if (!isWaited) {
      return false;
    }
    next.instr = dep.producer;
    next.level = around;
    next.back = distanceOf(dep) + (around == s.level ? s.back : 0);
    next.upTo = -dep.step;
    next.within = within;
    next.exists = places.isSure(dep.producer, goal.bodyOf(around)) &&
                  RunNumbers::below(kernel, within, places.home(dep.producer))->least(kernel) >
                      static_cast<uint64_t>(next.upTo);
    return next.exists;
  }

  /// That run has waited for what each run waits for, or those from an earlier one on.
  bool waitedByRun(const Statement &s, const Dep &dep, Statement &next) const {
    LoopId common = places.commonBody(dep.producer, s.instr);
    bool isFromRun = dep.form == DistanceForm::Element && !dep.table.valid() &&
                     dep.step <= s.upTo && common == s.within &&
                     places.home(dep.producer) == common;
    bool isZero = dep.form == DistanceForm::Vector && dep.numComponents == 0 &&
                  kernel.encloses(common, s.within);
    if (!isFromRun && !isZero) {
      return false;
    }
    uint32_t around = goal.levelsAround(dep.producer);
    next.instr = dep.producer;
    next.level = std::min(around, s.level);
    next.back = around >= s.level ? s.back + distanceOf(dep) : 0;
    next.exists = places.isSure(dep.producer, goal.bodyOf(next.level));
    return isZero || around >= s.level;
  }

private:
  int64_t distanceOf(const Dep &dep) const {
    return dep.numComponents == 0 ? 0 : extraction.components[dep.firstComponent].distance;
  }

  /// In the same iteration of all loops around both; the producer is earlier there.
  bool waitedInSame(const Statement &s, const Dep &dep, Statement &next) const {
    LoopId common = places.commonBody(dep.producer, s.instr);
    uint32_t around = goal.levelsAround(dep.producer);
    next.level = std::min(around, s.level);
    next.back = around >= s.level ? s.back : 0;
    next.exists = s.exists && places.isSure(dep.producer, common);
    return s.exists || (around >= s.level && places.isSure(s.instr, common));
  }

  /// Some runs earlier: that many iterations of the loop that is the body itself. Of a body farther
  /// in, one run earlier is at least all that was before this iteration.
  bool waitedFlat(const Statement &s, const Dep &dep, Statement &next) const {
    LoopId body = places.home(s.instr);
    bool isOnLevel = s.level >= 1 && goal.bodyOf(s.level) == body;
    if (!isOnLevel && dep.step > 1) {
      return waitedInside(s, dep, {body, dep.step}, next);
    }
    next.level = s.level;
    next.back = s.back + dep.step;
    return s.level >= 1;
  }

  /// All earlier iterations of the loop around the two loops, at least.
  bool waitedElement(const Statement &s, const Dep &dep, Statement &next) const {
    if (dep.step > 0 && (waitedByLast(s, dep, next) || waitedFromRun(s, dep, next))) {
      return true;
    }
    uint32_t around = std::min(goal.levelsAround(dep.producer), goal.levelsAround(s.instr));
    if (goal.isFlat() || dep.step > 0 || around == 0 || around > s.level) {
      return false;
    }
    next.level = around;
    next.back = distanceOf(dep) + (around == s.level ? s.back : 0) + 1;
    return true;
  }

  /// The run that the goal is about has waited for what each run from an earlier one on waits for.
  bool waitedFromRun(const Statement &s, const Dep &dep, Statement &next) const {
    LoopId common = places.commonBody(dep.producer, s.instr);
    bool isThatRun = s.level == goal.numLevels() && s.back == 0 && !goal.isFlat() &&
                     places.home(s.instr) == places.home(goal.consumer);
    if (!isThatRun || places.home(dep.producer) != common || dep.step > goal.fromRun(common)) {
      return false;
    }
    next.level = goal.levelsAround(dep.producer);
    next.back = distanceOf(dep);
    return true;
  }

  /// The last run of a nest has waited for what runs there from an earlier one on wait for.
  bool waitedByLast(const Statement &s, const Dep &dep, Statement &next) const {
    LoopId common = places.commonBody(dep.producer, s.instr);
    uint32_t around = goal.levelsAround(dep.producer);
    bool isOneRun = places.home(dep.producer) == common && !goal.isFlat() && around == s.level;
    if (!isOneRun || !places.isSure(s.instr, common) ||
        RunNumbers::below(kernel, common, places.home(s.instr))->least(kernel) <=
            static_cast<uint64_t>(dep.step)) {
      return false;
    }
    next.level = around;
    next.back = distanceOf(dep) + s.back;
    return true;
  }

  /// Up to the iteration that the carrying loop is at; less one if loops farther in, around both,
  /// have iterations there that are not waited for.
  bool waitedVector(const Statement &s, const Dep &dep, Statement &next) const {
    if (goal.isFlat()) {
      return waitedRuns(s, dep, next);
    }
    auto components = extraction.components.begin() + dep.firstComponent;
    uint32_t level = goal.levelOf(components->loop);
    bool needsInner = std::any_of(components + 1, components + dep.numComponents,
                                  [](const DistanceComponent &c) { return c.distance > 0; });
    if (needsInner) {
      return false;
    }
    if (level == 0 || level > s.level) {
      return waitedInside(s, dep, *components, next);
    }
    bool isWhole = places.numCommonLoops(dep.producer, dep.consumer) == level;
    next.level = level;
    next.back = components->distance + (level == s.level ? s.back : 0) + (isWhole ? 0 : 1);
    return true;
  }

  /// On a loop inside the level, by its last iteration: if it has enough of them, up to one of the
  /// same iteration of the level; and so for all earlier ones.
  bool waitedInside(const Statement &s, const Dep &dep, const DistanceComponent &carrier,
                    Statement &next) const {
    next.level = s.level;
    next.back = s.back + 1;
    next.goesOn = places.isSure(dep.producer, carrier.loop);
    return s.level >= 1 && kernel.encloses(goal.bodyOf(s.level), carrier.loop) &&
           places.minTrips(carrier.loop) > carrier.distance;
  }

  /// In runs of the body: one distance on its loop, and for the first iterations another one, which
  /// reaches into the run of the loop before.
  bool waitedRuns(const Statement &s, const Dep &dep, Statement &next) const {
    LoopId body = goal.bodyOf(1);
    bool isInner = dep.numComponents == 1 && extraction.components[dep.firstComponent].loop == body;
    if (!isInner || places.home(s.instr) != body || goal.levelsAround(dep.producer) == 0 ||
        goal.constantTrips(body) == 0) {
      return false;
    }
    for (size_t d : index.depsOf[s.instr]) {
      const Dep &other = extraction.deps[d].dep;
      bool isOuter = d != goal.number && !removed[d] && other.producer == dep.producer &&
                     other.form == DistanceForm::Vector && other.numComponents != 0 &&
                     extraction.components[other.firstComponent].loop == kernel.loops[body].parent;
      int64_t runs = isOuter ? goal.runsOf(other, body) : 0;
      if (runs > 0) {
        // The second may end with the run of the loop that it reaches into.
        int64_t own = extraction.components[dep.firstComponent].distance;
        int64_t outer = extraction.components[other.firstComponent].distance;
        next.level = 1;
        next.back = s.back + std::max(runs, own + (outer - 1) * goal.constantTrips(body));
        return true;
      }
    }
    return false;
  }

  const Places &places;
  const Kernel &kernel;
  const WaitIndex &index;
  const Extraction &extraction;
  const std::vector<bool> &removed;
  const Goal &goal;
};

/// The search for one dependence.
class ChainSearch {
public:
  ChainSearch(const ChainProblem &problem, size_t number)
      : places(problem.places), kernel(places.kernel), index(problem.index),
        extraction(problem.extraction), removed(problem.removed), scratch(problem.scratch),
        limit(maxStatements(extraction.deps.size())), goal(places, extraction, number),
        inference(problem, goal) {}

  Chain run() {
    if (!places.isAgreed(goal.producer) || !places.isAgreed(goal.consumer)) {
      return {};
    }
    search();
    if (found == SIZE_MAX && goal.makeFlat()) {
      search();
    }
    return {chain(), found == SIZE_MAX && wasBounded};
  }

private:
  void search() {
    statements.clear();
    scratch.clear();
    linksLeft = limit * linksPerStatement;
    know({.instr = goal.consumer, .level = goal.numLevels(), .exists = true, .step = {}});
    // Issue order fans out widely, so waits are followed as far as they go before each use of it.
    size_t followed = 0;
    for (size_t i = 0; i < statements.size() && !isOver(); ++i) {
      for (; followed < statements.size() && !isOver(); ++followed) {
        if (statements[followed].upTo != all) {
          waitsOfRun(followed);
          continue;
        }
        queue(followed);
        waits(followed);
        branches(followed);
      }
      if (statements[i].upTo == all) {
        engine(i);
      }
    }
  }

  bool isOver() const { return found != SIZE_MAX || linksLeft == 0; }

  /// Counts a link that is looked at; false if no more are.
  bool mayFollow() {
    wasBounded |= linksLeft == 0;
    linksLeft -= linksLeft != 0;
    return linksLeft != 0;
  }

  /// Adds a statement, or what is left of it on the only level on which we look back.
  void know(Statement s) {
    wasBounded |= statements.size() >= limit;
    if (found != SIZE_MAX || !places.isAgreed(s.instr) || statements.size() >= limit) {
      return;
    }
    if (goal.isMetBy(s)) {
      found = statements.size();
      return add(s);
    }
    bool isTooFar = s.back > (s.level == goal.level() ? goal.back() : 0);
    if (isTooFar && s.level > goal.level()) {
      return know(goal.oneBack(s));
    }
    if (isTooFar || goal.isBeforeProducer(s) || isKnown(s)) {
      return;
    }
    add(s);
    if (s.level > goal.level() && goal.back() >= 1) {
      know(goal.oneBack(s));
    }
  }

  bool isKnown(const Statement &s) const {
    for (uint32_t at = scratch.first(s.instr); at != Scratch::none; at = statements[at].next) {
      const Statement &known = statements[at];
      if (known.level == s.level && known.back <= s.back && known.hasRetired >= s.hasRetired &&
          known.exists >= s.exists && known.upTo >= s.upTo) {
        return true;
      }
    }
    return false;
  }

  void add(Statement s) {
    s.next = scratch.push(s.instr, static_cast<uint32_t>(statements.size()));
    statements.push_back(s);
  }

  //===--- Steps ----------------------------------------------------------===//

  /// All that entered the queue before has retired.
  void queue(size_t at) {
    Statement s = statements[at];
    Statement next = s;
    if (s.hasRetired && goal.producer != s.instr &&
        kernel.instrs[s.instr].queue == kernel.instrs[goal.producer].queue &&
        inference.before(s, goal.producer, next)) {
      next.from = at;
      next.step = {DerivationStep::Kind::Queue, 0, s.instr, goal.producer};
      know(next);
    }
  }

  /// All that the engine issued before has passed its waits.
  void engine(size_t at) {
    bool isRepeated =
        statements[at].step.kind == DerivationStep::Kind::Engine && statements[at].from != SIZE_MAX;
    if (isRepeated) {
      return; // what came before this came before that as well
    }
    const InstrId instr = statements[at].instr;
    const std::vector<InstrId> &waiters = index.waiters[kernel.engineOf(instr)];
    auto middle = std::lower_bound(waiters.begin(), waiters.end(), instr);
    auto first = middle - std::min(middle - waiters.begin(), maxNeighbours(limit));
    auto last = middle + std::min(waiters.end() - middle, maxNeighbours(limit));
    wasBounded |= first != waiters.begin() || last != waiters.end();
    for (auto other = first; other != last && mayFollow(); ++other) {
      Statement s = statements[at];
      Statement next = s;
      if (*other != instr && inference.before(s, *other, next)) {
        next.hasRetired = s.hasRetired && kernel.instrs[instr].queue == kernel.instrs[*other].queue;
        next.from = at;
        next.step = {DerivationStep::Kind::Engine, 0, instr, *other};
        know(next);
      }
    }
  }

  /// What a run waited for has retired.
  void waits(size_t at) {
    const InstrId instr = statements[at].instr;
    for (size_t d : index.depsOf[instr]) {
      if (!mayFollow()) {
        return;
      }
      if (d == goal.number || removed[d]) {
        continue;
      }
      Statement s = statements[at];
      Statement next;
      const Dep &dep = extraction.deps[d].dep;
      if (inference.waited(s, dep, next)) {
        knowWaited(at, d, next);
      }
      Statement part;
      if (inference.waitedUpToRun(s, dep, part)) {
        knowWaited(at, d, part);
      }
    }
  }

  /// The same, of one run of a nest.
  void waitsOfRun(size_t at) {
    for (size_t d : index.depsOf[statements[at].instr]) {
      if (!mayFollow()) {
        return;
      }
      Statement s = statements[at];
      Statement next;
      if (d != goal.number && !removed[d] &&
          inference.waitedByRun(s, extraction.deps[d].dep, next)) {
        knowWaited(at, d, next);
      }
    }
  }

  /// What instruction `at` waited for, as a dependence says.
  void knowWaited(size_t at, size_t dep, Statement next) {
    if (next.level == goal.level() || !Inference::isMasked(extraction.deps[dep].dep)) {
      next.hasRetired = true;
      next.from = at;
      next.step = {DerivationStep::Kind::Wait, static_cast<uint32_t>(dep), statements[at].instr,
                   next.instr};
      know(next);
    }
  }

  /// One of two branches is taken. So what instructions of both had waited for in the same
  /// iteration has retired, if what is known of the two goes as far.
  void branches(size_t at) {
    const Statement s = statements[at];
    const Loop &branch = kernel.loops[places.home(s.instr)];
    bool isTaken = branch.isBranch() && goal.levelsAround(s.instr) >= s.level &&
                   places.isSureBody(branch.parent, goal.bodyOf(s.level));
    if (!isTaken) {
      return;
    }
    for (size_t d : index.depsOf[s.instr]) {
      for (StmtId stmt : kernel.loops[branch.otherBranch].body) {
        for (InstrId other : kernel.stmts[stmt].instrs) {
          bothWaited(at, d, other);
        }
      }
    }
  }

  bool isUsable(size_t dep) const {
    const Dep &d = extraction.deps[dep].dep;
    return dep != goal.number && !removed[dep] && d.form == DistanceForm::Vector &&
           d.numComponents == 0;
  }

  void bothWaited(size_t at, size_t dep, InstrId other) {
    const Statement s = statements[at];
    InstrId awaited = extraction.deps[dep].dep.producer;
    for (size_t o : index.depsOf[other]) {
      if (!mayFollow()) {
        return;
      }
      if (!isUsable(dep) || !isUsable(o) || extraction.deps[o].dep.producer != awaited ||
          goal.levelsAround(awaited) < s.level) {
        continue;
      }
      for (uint32_t i = scratch.first(other); i != Scratch::none; i = statements[i].next) {
        if (statements[i].level == s.level) {
          Statement next{.instr = awaited, .level = s.level, .hasRetired = true, .step = {}};
          next.back = std::max(s.back, statements[i].back);
          next.exists = places.isSure(awaited, goal.bodyOf(s.level));
          next.from = at;
          next.step = {DerivationStep::Kind::Branches, static_cast<uint32_t>(dep), s.instr, other};
          return know(next);
        }
      }
    }
  }

  /// The result, from the consumer on.
  std::vector<DerivationStep> chain() const {
    std::vector<DerivationStep> steps;
    for (size_t at = found; at != SIZE_MAX && statements[at].from != SIZE_MAX;
         at = statements[at].from) {
      steps.push_back(statements[at].step);
    }
    std::reverse(steps.begin(), steps.end());
    return steps;
  }

  const Places &places;
  const Kernel &kernel;
  const WaitIndex &index;
  const Extraction &extraction;
  const std::vector<bool> &removed;
  Scratch &scratch;
  size_t limit;
  size_t linksLeft = 0;
  Goal goal;
  const Inference inference;
  std::vector<Statement> statements;
  size_t found = SIZE_MAX;
  bool wasBounded = false; ///< something was not looked at
};

} // namespace

Chain findChain(const ChainProblem &problem, size_t goal) {
  if (problem.extraction.deps[goal].dep.table.valid()) {
    return {}; // chains do not tell up to which run
  }
  return ChainSearch(problem, goal).run();
}

} // namespace tally::deps
