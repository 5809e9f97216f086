//===- RandomKernel.cpp - Legal kernels and bindings from a seed ----------===//
//
// The tree is grown twice from one seed: first without dependences, to have its
// tables to choose pairs from, then again with the chosen dependences. Both
// times the tree comes from its own stream of draws, so the ids are the same.
//
//===----------------------------------------------------------------------===//

#include "RandomKernel.h"

#include "RandomComputes.h"

#include "tally/Model/Place.h"
#include "tally/Model/RunNumbers.h"

#include <algorithm>
#include <cassert>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <numeric>
#include <utility>

namespace tally::fuzz {

namespace {

/// Separates the streams of one seed, so that a draw more in one does not shift the others.
enum Stream : uint64_t {
  TreeStream = 0x9e3779b97f4a7c15,
  DependenceStream = 0xc2b2ae3d27d4eb4f,
  BindingStream = 0x165667b19e3779f9,
  NumberStream = 0x27d4eb2f165667c5,
  TileStream = 0x85ebca77c2b2ae63,
  TableStream = 0xa24baed4963ee407,
  OverStream = 0x9fb21c651e98df25,
  TwinStream = 0xd6e8feb86659fd93,
  ValueStream = 0xa0761d6478bd642f,
  LoadStream = 0xe7037ed1a0b428db,
};

/// A dependence before it is handed to a builder.
struct Draft {
  InstrId producer;
  InstrId consumer;
  DistanceForm form = DistanceForm::Vector;
  DepKind kind = DepKind::Unspecified;
  std::vector<DistanceComponent> components;
  int64_t step = 0;
  RunTable table; ///< instead, if it has runs
  bool allowDivergent = false;
};

/// See RandomKernelOptions::trips.
uint32_t drawTripCount(Random &random, Range range) {
  uint32_t count = random.in(range);
  return count == 0 && random.percent(50) ? random.in(range) : count;
}

/// Grows engines, bodies and instructions into a builder.
class TreeGrower {
public:
  TreeGrower(KernelBuilder &builder, uint64_t seed, const RandomKernelOptions &options)
      : builder(builder), seed(seed), options(options), random(seed ^ TreeStream),
        randomTwins(seed ^ TwinStream ^ TreeStream) {}

  void grow() {
    addQueues();
    bool ties = options.formulaPercent != 0;
    if (ties) {
      declareValues();
    }
    if (options.tiles == Tiles::Computed) {
      tiles = std::make_unique<ComputesDrawer>(builder, seed ^ TileStream);
    } else if (options.tiles != Tiles::None) {
      tiles = std::make_unique<TileDrawer>(builder, seed ^ TileStream, options.tiles, ties);
    }
    wanted = random.in(options.instructions);
    const bool loads = ties && Random(seed ^ LoadStream).percent(12);
    if (loads) {
      addLoads("t");
    }
    while (numInstrs < wanted) {
      addStatement(0);
    }
    if (loads) {
      addLoopOfLoaded();
      addWhileOfLoaded();
    }
  }

private:
  /// Of those that formulas, conditions and tiles name. Loops state bounds within these.
  void declareValues() {
    Random draw(seed ^ ValueStream);
    for (std::string_view name : {"t", "s", "m"}) {
      if (draw.percent(15)) {
        std::optional<uint64_t> max;
        if (draw.percent(60)) {
          max = std::max<uint64_t>(options.trips.max, 1) + draw.below(3);
        }
        builder.declareValue(name, draw.below(2), max);
      }
    }
  }

  /// Each engine has what may need the value, or count a loop that does.
  void addLoads(std::string_view value) {
    for (EngineId engine : builder.peek().engines.ids()) {
      builder.instr(fmt::format("i{}", numInstrs++), builder.queueOf(engine));
      builder.loads(value);
    }
  }

  void addLoopOfLoaded() {
    current.push_back(
        builder.beginLoop(fmt::format("L{}", numLoops++), builder.formula("$t", 0, {})));
    addBlock();
    current.pop_back();
    builder.endLoop();
  }

  /// It is known when the loop is reached, and loaded by each engine for what comes next.
  void addWhileOfLoaded() {
    current.push_back(builder.beginLoop(fmt::format("L{}", numLoops++), builder.guard("more")));
    addBlock();
    addLoads("more");
    current.pop_back();
    builder.endLoop();
  }

  void addQueues() {
    uint32_t numEngines = random.in(options.engines);
    uint32_t numExtra = random.in(options.extraQueues);
    for (uint32_t e = 0; e < numEngines; ++e) {
      EngineId engine = builder.engine(fmt::format("e{}", e));
      queues.push_back(builder.queueOf(engine));
      // Further queues go to engines in turn, the last engine taking what is left.
      uint32_t here = e + 1 == numEngines ? numExtra : std::min(numExtra, random.in({0, 1}));
      for (uint32_t q = 0; q < here; ++q) {
        queues.push_back(builder.queue(fmt::format("e{}.q{}", e, q)));
      }
      numExtra -= here;
    }
    for (QueueId queue : queues) {
      Completion completion =
          random.percent(options.splitPercent) ? Completion::Split : Completion::Whole;
      uint32_t weight = random.in(options.weight);
      if (options.heavyPercent != 0 && completion == Completion::Whole &&
          random.percent(options.heavyPercent)) {
        weight = random.in(options.heavyWeight);
      }
      builder.setQueue(queue, weight, completion);
    }
  }

  void addBody(uint32_t depth) {
    uint32_t count = random.in(options.statements);
    for (uint32_t i = 0; i < count && numInstrs < wanted; ++i) {
      addStatement(depth);
    }
  }

  void addStatement(uint32_t depth) {
    uint64_t roll = random.below(100);
    if (depth < options.maxDepth && roll < options.loopPercent) {
      addLoop(depth);
    } else if (depth < options.maxDepth && roll < options.loopPercent + options.ifPercent) {
      addIf(depth);
    } else {
      addBlock();
    }
  }

  void addBlock() {
    uint32_t count = random.in(options.blockSize);
    for (uint32_t i = 0; i < count; ++i) {
      QueueId queue = queues[random.below(queues.size())];
      queue = twinQueue.valid() && randomTwins.percent(options.twinPercent / 2) ? twinQueue : queue;
      InstrId instr = builder.instr(fmt::format("i{}", numInstrs++), queue);
      lastQueue = queue;
      if (tiles) {
        tiles->draw(instr);
      }
    }
  }

  Trip drawTrip(const std::string &name) {
    if (options.formulaPercent != 0 && random.percent(options.formulaPercent)) {
      isLong = false;
      return drawFormula();
    }
    uint64_t roll = random.below(100);
    Range trips = drawRange();
    if (roll < options.constantPercent) {
      uint64_t count = drawTripCount(random, trips);
      bool byBounds = options.boundsPercent != 0 && random.percent(options.boundsPercent);
      return byBounds ? builder.value("n." + name, count, count) : KernelBuilder::constant(count);
    }
    if (roll < options.constantPercent + options.guardPercent) {
      return builder.guard("while." + name);
    }
    uint64_t min = std::min(options.trips.max, options.trips.min + random.in({0, 1}));
    std::optional<uint64_t> max;
    if (random.percent(50)) {
      max = trips.max;
    }
    return builder.value("n." + name, min, max);
  }

  std::vector<std::string> loopsAround() const {
    std::vector<std::string> around;
    for (LoopId l = current.back(); l != rootLoop; l = builder.peek().loops[l].parent) {
      if (!builder.peek().loops[l].isBranch()) {
        around.emplace_back(builder.peek().nameOf(l));
      }
    }
    return around;
  }

  /// Of one iteration, of two, or of a value; first and last ones, every other one, one of two.
  std::string drawCondition() {
    const std::vector<std::string> around = loopsAround();
    auto draw = [&] {
      constexpr std::string_view ofLoop[] = {
          "{0} == 0",       "{0} > 0",    "{0} != 1",   "{0} < 2",   "{0} >= 2",
          "{0} mod 2 == 0", "{0} == {1}", "{0} <= {1}", "{1} < {0}", "{0} + {1} != 2",
          "{0} < $t - 1",   "{0} == $s",  "{0} > $s"};
      constexpr std::string_view ofValue[] = {"$t > 1", "$s == $t", "$t != 2", "$s < $t"};
      if (around.empty()) {
        return std::string(ofValue[random.below(std::size(ofValue))]);
      }
      const std::string &one = around[random.below(around.size())];
      const std::string &other = around[random.below(around.size())];
      return fmt::format(fmt::runtime(ofLoop[random.below(std::size(ofLoop))]), one, other);
    };
    std::string text = draw();
    const bool isOr = text.size() % 2 == 0;
    if (random.percent(40)) {
      text += (isOr ? " or " : " and ") + draw();
      if (random.percent(50)) {
        text = fmt::format("{} {} ({})", draw(), isOr ? "and" : "or", text);
      }
    }
    text = random.percent(15) ? fmt::format("not ({})", text) : text;
    std::string error;
    return conditionText(*parseCondition(text, error));
  }

  /// Of two values, so that loops have one in common, and the loops around.
  Trip drawFormula() {
    std::string value = random.percent(70) ? "$t" : "$s";
    const std::vector<std::string> around = loopsAround();
    if (around.empty() || random.percent(35)) {
      bool isAlone = random.percent(70);
      uint64_t min = isAlone ? random.in({0, 1}) : 0;
      std::optional<uint64_t> max;
      if (isAlone && random.percent(40)) {
        max = std::max<uint64_t>(options.trips.max, min);
      }
      constexpr std::string_view forms[] = {"{} + 1", "{} - 1", "5 - {}", "{} * 2"};
      return isAlone ? builder.formula(value, min, max)
                     : builder.formula(
                           fmt::format(fmt::runtime(forms[random.below(std::size(forms))]), value));
    }
    // Those before the last three grow with the loop around, which must not be long then.
    constexpr std::string_view forms[] = {
        "{1} + 1",   "{1}",       "{0} - {1}",     "{1} * 2", "{0} - {1} - 1", "{1} floordiv 2 + 1",
        "{0} + {1}", "{1} mod 2", "{1} mod 2 + 1", "4 - {1}"};
    size_t first = insideLong ? std::size(forms) - 3 : 0;
    std::string_view form = forms[first + random.below(std::size(forms) - first)];
    std::string text = fmt::format(fmt::runtime(form), value, around[random.below(around.size())]);
    std::string error;
    return builder.formula(formulaText(*parseFormula(text, error)));
  }

  /// Of the trips of one loop; long ones only where no loop around is long.
  Range drawRange() {
    isLong = options.longPercent != 0 && !insideLong && random.percent(options.longPercent);
    return isLong ? Range{options.longTrips.min, random.in(options.longTrips)} : options.trips;
  }

  void addLoop(uint32_t depth) {
    std::string name = fmt::format("L{}", numLoops++);
    Trip trip = drawTrip(name);
    bool mayDiverge = trip.kind != Trip::Kind::Constant && trip.kind != Trip::Kind::Formula;
    bool diverges = random.percent(options.divergentPercent) && mayDiverge;
    if (diverges && options.islands && trip.kind == Trip::Kind::Value) {
      trip.max = options.trips.max;
    }
    LoopId loop = builder.beginLoop(name, trip, !diverges);
    drawRegion(loop);
    drawUnrolling(loop, trip);
    bool around = std::exchange(insideLong, insideLong || isLong);
    current.push_back(loop);
    addBody(depth + 1);
    current.pop_back();
    insideLong = around;
    builder.endLoop();
  }

  void addIf(uint32_t depth) {
    std::string name = fmt::format("c{}", numIfs++);
    const bool diverges = random.percent(options.divergentPercent);
    const bool isDecided =
        options.conditionPercent != 0 && random.percent(options.conditionPercent);
    const LoopId then = builder.beginIf(name, !diverges || isDecided);
    drawRegion(then);
    if (isDecided) {
      builder.setCondition(then, drawCondition());
    }
    addBody(depth + 1);
    if (random.percent(70)) {
      builder.beginElse();
      QueueId around = std::exchange(twinQueue, lastQueue);
      addBody(depth + 1);
      twinQueue = around;
    }
    builder.endIf();
  }

  /// Draws nothing where there are to be no regions: kernels of older seeds stay what they are.
  void drawRegion(LoopId id) {
    if (options.regionPercent == 0 || !random.percent(options.regionPercent)) {
      return;
    }
    builder.setSync(id, static_cast<RegionSync>(random.in({1, 4})));
  }

  void drawUnrolling(LoopId loop, const Trip &trip) {
    if (options.unrollPercent == 0 || !random.percent(options.unrollPercent) ||
        trip.kind == Trip::Kind::Guard) {
      return;
    }
    bool full = trip.kind == Trip::Kind::Constant && random.percent(50);
    builder.setUnroll(loop, full ? fullyUnrolled : random.in({2, 4}));
  }

  KernelBuilder &builder;
  uint64_t seed;
  const RandomKernelOptions &options;
  Random random;
  Random randomTwins; ///< so that these change nothing else that is drawn
  std::unique_ptr<TileDrawer> tiles;
  std::vector<QueueId> queues;
  std::vector<LoopId> current{rootLoop}; ///< loops around, outermost first
  QueueId lastQueue;                     ///< of the instruction that was drawn last
  QueueId twinQueue;                     ///< in an else-branch: of one in the other branch
  uint32_t wanted = 0;
  uint32_t numInstrs = 0;
  uint32_t numLoops = 0;
  uint32_t numIfs = 0;
  bool isLong = false;     ///< the loop whose trips were drawn last
  bool insideLong = false; ///< the current place
};

/// Draws dependences for a kernel that has none.
class DependenceDrawer {
public:
  DependenceDrawer(const Kernel &kernel, uint64_t seed, const RandomKernelOptions &options)
      : kernel(kernel), options(options), random(seed ^ DependenceStream),
        randomTables(seed ^ TableStream), randomOver(seed ^ OverStream),
        randomTwins(seed ^ TwinStream) {}

  std::vector<Draft> draw() {
    uint32_t count = random.in(options.dependences);
    for (uint32_t i = 0; i < count; ++i) {
      Shape shape = drawShape();
      collectPairs(shape);
      if (options.sharedPercent != 0 && !drafts.empty() && random.percent(options.sharedPercent)) {
        keepConsumer(drafts.back().consumer);
      }
      if (!pairs.empty()) {
        addDraft(shape, pairs[random.below(pairs.size())]);
      }
    }
    return std::move(drafts);
  }

private:
  struct Pair {
    InstrId producer;
    InstrId consumer;
    DepPlace place;
  };

  Shape drawShape() {
    uint64_t total = std::accumulate(options.shapes.begin(), options.shapes.end(), uint64_t(0));
    uint64_t roll = random.below(total);
    size_t shape = 0;
    while (roll >= options.shapes[shape]) {
      roll -= options.shapes[shape++];
    }
    return static_cast<Shape>(shape);
  }

  /// All pairs that can have this shape.
  void collectPairs(Shape shape) {
    pairs.clear();
    for (InstrId producer : kernel.instrs.ids()) {
      for (InstrId consumer : kernel.instrs.ids()) {
        Dep dep;
        dep.producer = producer;
        dep.consumer = consumer;
        Pair pair{producer, consumer, placeOf(kernel, dep)};
        if ((shape == Shape::Self) == (producer == consumer) && sameIsland(pair) &&
            fits(shape, pair)) {
          pairs.push_back(pair);
        }
      }
    }
  }

  bool sameIsland(const Pair &pair) const {
    uint32_t producer = kernel.engineOf(pair.producer).value;
    return !options.islands || producer / 2 == kernel.engineOf(pair.consumer).value / 2;
  }

  /// Only pairs with this consumer, if there are any.
  void keepConsumer(InstrId consumer) {
    auto other = [consumer](const Pair &pair) { return pair.consumer != consumer; };
    if (!std::all_of(pairs.begin(), pairs.end(), other)) {
      std::erase_if(pairs, other);
    }
  }

  bool fits(Shape shape, const Pair &pair) const {
    LoopId real = kernel.realLoop(pair.place.shared);
    switch (shape) {
    case Shape::Zero:
      return canBeZero(pair);
    case Shape::OneLoop:
      return real != rootLoop;
    case Shape::Self:
      return true;
    case Shape::MultiLevel:
      return real != rootLoop && outerLoop(real) != rootLoop;
    case Shape::Conditional:
      return kernel.loops[pair.place.shared].isBranch() && real != rootLoop;
    case Shape::Opposite:
      return pair.place.order == Order::Opposite;
    case Shape::Backward:
      return pair.place.order == Order::Backward && real != rootLoop;
    case Shape::Flat:
      return pair.place.producerHome == pair.place.consumerHome;
    case Shape::Element:
      return fitsElement(pair, real) && !isOneRun(pair);
    case Shape::OneRun:
      return fitsElement(pair, real) && isOneRun(pair);
    }
    return false;
  }

  static bool isOneRun(const Pair &pair) {
    return pair.place.producerHome == pair.place.shared ||
           pair.place.consumerHome == pair.place.shared;
  }

  /// Ends in loops, or nests, of one body, or one there; backward only with a loop to carry it.
  bool fitsElement(const Pair &pair, LoopId real) const {
    return sideBySide(kernel, pair.place.shared, pair.place.producerHome,
                      pair.place.consumerHome) &&
           (pair.place.order == Order::Forward || real != rootLoop);
  }

  bool canBeZero(const Pair &pair) const {
    switch (pair.place.order) {
    case Order::Forward:
    case Order::Opposite:
      return true;
    case Order::SameBlock:
      return !reaches(pair.consumer, pair.producer);
    case Order::Backward:
      return false;
    }
    return false;
  }

  /// Whether `from` comes before `to`, or is it, by the orders of engines and distances 0 of their
  /// block.
  bool reaches(InstrId from, InstrId to) const {
    IdRange<InstrId> block = kernel.stmts[kernel.instrs[from].block].instrs;
    std::vector<bool> reached(block.size(), false);
    std::vector<InstrId> work{from};
    while (!work.empty()) {
      InstrId instr = work.back();
      work.pop_back();
      if (reached[instr.value - block.first]) {
        continue;
      }
      reached[instr.value - block.first] = true;
      for (InstrId next : block) {
        if (precedes(instr, next)) {
          work.push_back(next);
        }
      }
    }
    return reached[to.value - block.first];
  }

  bool precedes(InstrId a, InstrId b) const {
    bool inOrder = a < b && kernel.engineOf(a) == kernel.engineOf(b);
    return inOrder ||
           std::find(zeroEdges.begin(), zeroEdges.end(), std::pair(a, b)) != zeroEdges.end();
  }

  LoopId outerLoop(LoopId real) const { return kernel.realLoop(kernel.loops[real].parent); }

  void addDraft(Shape shape, const Pair &pair) {
    Draft draft;
    draft.producer = pair.producer;
    draft.consumer = pair.consumer;
    draft.kind = static_cast<DepKind>(random.below(4));
    drawDistance(shape, pair, draft);
    drawTableOverLoop(pair, draft);
    draft.allowDivergent = needsDivergent(pair);
    bool zero = draft.components.empty() && draft.step == 0 &&
                (draft.table.runs.empty() || draft.table.shortestDistance() == 0);
    if (zero && pair.place.order == Order::SameBlock) {
      zeroEdges.emplace_back(pair.producer, pair.consumer);
    }
    drafts.push_back(std::move(draft));
    drawTwin(drafts.back());
  }

  /// Whoever waits for an instruction in a branch may wait for one in the other branch just so, as
  /// where both write one buffer.
  void drawTwin(Draft twin) {
    LoopId home = kernel.instrs[twin.producer].home;
    LoopId other = kernel.loops[home].otherBranch;
    LoopId consumer = kernel.instrs[twin.consumer].home;
    bool isIn =
        !other.valid() || kernel.encloses(home, consumer) || kernel.encloses(other, consumer);
    if (isIn || twin.form != DistanceForm::Vector || !randomTwins.percent(options.twinPercent)) {
      return;
    }
    for (InstrId instr : kernel.instrs.ids()) {
      bool isTwin = kernel.instrs[instr].home == other &&
                    kernel.instrs[instr].queue == kernel.instrs[twin.producer].queue;
      if (isTwin) {
        twin.producer = instr;
        drafts.push_back(std::move(twin));
        return;
      }
    }
  }

  void drawDistance(Shape shape, const Pair &pair, Draft &draft) {
    LoopId real = kernel.realLoop(pair.place.shared);
    switch (shape) {
    case Shape::Zero:
      return;
    case Shape::OneLoop:
    case Shape::Conditional:
      draft.components = {{real, drawOffset()}};
      drawTableOfLoop(pair, draft);
      return;
    case Shape::Self:
      drawSelf(real, draft);
      return;
    case Shape::MultiLevel:
      drawLevels(real, draft);
      return;
    case Shape::Opposite:
      drawOpposite(real, draft);
      return;
    case Shape::Backward:
      draft.components = {{real, drawNearOffset()}};
      return;
    case Shape::Flat:
      draft.form = DistanceForm::Flat;
      draft.step = canBeZero(pair) && random.percent(25) ? 0 : drawOffset();
      return;
    case Shape::Element:
    case Shape::OneRun:
      drawElement(real, pair, draft);
      return;
    }
  }

  /// Outside of loops, on the run before, of which there is none.
  void drawSelf(LoopId real, Draft &draft) {
    if (real != rootLoop) {
      draft.components = {{real, drawOffset()}};
      return;
    }
    draft.form = DistanceForm::Flat;
    draft.step = drawOffset();
  }

  /// Distance 1, the common one, half of the time.
  int64_t drawNearOffset() { return random.percent(50) ? 1 : drawOffset(); }

  int64_t drawOffset() {
    bool isFar = options.farPercent != 0 && random.percent(options.farPercent);
    return random.in(isFar ? options.farOffset : options.offset);
  }

  void drawOpposite(LoopId real, Draft &draft) {
    if (real == rootLoop || random.percent(30)) {
      return;
    }
    draft.components = {{real, drawNearOffset()}};
  }

  void drawElement(LoopId real, const Pair &pair, Draft &draft) {
    draft.form = DistanceForm::Element;
    draft.step = random.in(-3, 3);
    bool forward = pair.place.order == Order::Forward;
    if (real != rootLoop && (!forward || random.percent(50))) {
      draft.components = {{real, drawOffset()}};
    }
    // The other way to be legal is distance 0 on the shared loop, forward.
    assert((forward || !draft.components.empty()) && "backward pairs fit only with a carrier");
    if (options.tables && !isOneRun(pair) && randomTables.percent(15)) {
      draft.table = drawTable();
      draft.step = 0;
    }
  }

  /// Instead of a distance, where both are directly in one loop.
  void drawTableOfLoop(const Pair &pair, Draft &draft) {
    LoopId home = pair.place.producerHome;
    bool areInOne = home == pair.place.consumerHome && kernel.loops[home].kind == LoopKind::Loop;
    if (!options.tables || !areInOne || pair.producer == pair.consumer ||
        !randomTables.percent(10)) {
      return;
    }
    RunTable table = drawTable();
    int64_t least = pair.producer < pair.consumer && canBeZero(pair) ? 0 : 1;
    table.each = std::min(table.each, static_cast<int64_t>(table.runs.size()));
    int64_t back = std::max<int64_t>(least - table.shortestDistance(), 0);
    for (int64_t &run : table.runs) {
      run -= back;
    }
    if (table.runs.back() > table.runs.front() + table.each || !table.firstNeeding()) {
      return;
    }
    draft.form = DistanceForm::Element;
    draft.components.clear();
    draft.table = std::move(table);
  }

  /// Instead of a distance, where runs of both are numbered in a loop around them.
  void drawTableOverLoop(const Pair &pair, Draft &draft) {
    LoopId shared = pair.place.shared;
    LoopId over =
        pair.place.producerHome == pair.place.consumerHome ? kernel.loops[shared].parent : shared;
    if (!options.tables || shared == rootLoop || over == rootLoop ||
        pair.producer == pair.consumer || pair.place.order == Order::Opposite ||
        !randomOver.percent(25)) {
      return;
    }
    while (kernel.loops[over].parent != rootLoop && randomOver.percent(30)) {
      over = kernel.loops[over].parent;
    }
    LoopId outer = kernel.loops[over].parent;
    auto nests = sideBySide(kernel, outer, pair.place.producerHome, pair.place.consumerHome);
    bool isNumbered = nests && kernel.loops[over].kind == LoopKind::Loop &&
                      kernel.loops[shared].kind == LoopKind::Loop;
    if (!isNumbered) {
      return;
    }
    uint64_t producers = nests->producer.runsPerIterationOf(shared);
    uint64_t consumers = nests->consumer.runsPerIterationOf(shared);
    if (producers == 0 || consumers == 0) {
      return;
    }
    RunTable table = drawTable(randomOver);
    auto period = static_cast<int64_t>(table.runs.size() * producers / consumers);
    table.each = std::min(table.each, period);
    bool isBefore =
        pair.place.order == Order::Forward ||
        (pair.place.order == Order::SameBlock && pair.producer < pair.consumer && canBeZero(pair));
    int64_t back = (isBefore ? 0 : 1) - table.iterationsBack(producers, consumers);
    for (int64_t &run : table.runs) {
      run -= std::max<int64_t>(back, 0) * static_cast<int64_t>(producers);
    }
    if (table.runs.back() > table.runs.front() + table.each || !table.firstNeeding()) {
      return;
    }
    table.over = over;
    draft.form = DistanceForm::Element;
    draft.step = 0;
    draft.components.clear();
    draft.table = std::move(table);
  }

  RunTable drawTable() { return drawTable(randomTables); }

  /// One that rises, by which some run needs another.
  static RunTable drawTable(Random &randomTables) {
    RunTable table;
    int64_t run = randomTables.in(-2, 2);
    for (uint32_t i = randomTables.in({1, 4}); i > 0; --i) {
      table.runs.push_back(run);
      run += randomTables.in(0, 2);
    }
    table.each = run - table.runs.front() + randomTables.in(0, 1);
    if (!table.firstNeeding()) {
      table.each = 1;
    }
    return table;
  }

  /// A carrier outside `innermost`, and components of either sign from there inwards.
  void drawLevels(LoopId innermost, Draft &draft) {
    std::vector<LoopId> loops;
    for (LoopId loop = innermost; loop != rootLoop; loop = outerLoop(loop)) {
      loops.push_back(loop);
    }
    size_t carrier = 1 + random.below(loops.size() - 1);
    draft.components.push_back({loops[carrier], drawOffset()});
    for (size_t i = carrier; i-- > 0;) {
      int64_t distance = random.in(-2, 2);
      if (distance != 0) {
        draft.components.push_back({loops[i], distance});
      }
    }
  }

  bool needsDivergent(const Pair &pair) const {
    if (kernel.engineOf(pair.producer) == kernel.engineOf(pair.consumer)) {
      return false;
    }
    for (LoopId loop = pair.place.producerHome; loop.valid(); loop = kernel.loops[loop].parent) {
      if (!kernel.loops[loop].uniform) {
        return true;
      }
    }
    return false;
  }

  const Kernel &kernel;
  const RandomKernelOptions &options;
  Random random;
  Random randomTables; ///< so that tables change nothing else that is drawn
  Random randomOver;   ///< nor those over a loop other tables
  Random randomTwins;  ///< nor these anything else
  std::vector<Pair> pairs;
  std::vector<std::pair<InstrId, InstrId>> zeroEdges; ///< distances 0 inside a block
  std::vector<Draft> drafts;
};

} // namespace

namespace {

/// Reserves numbers, and pins instructions and dependences to others.
class NumberDrawer {
public:
  NumberDrawer(KernelBuilder &builder, uint64_t seed, const RandomKernelOptions &options)
      : builder(builder), options(options), random(seed ^ NumberStream) {}

  void draw() {
    if (random.percent(options.reservePercent)) {
      builder.reserveSemaphores(drawReserved(options.numbers));
    }
    for (EngineId engine : builder.peek().engines.ids()) {
      if (random.percent(options.reservePercent)) {
        builder.reserveRegisters(engine, drawReserved(options.registers));
      }
    }
    for (InstrId instr : builder.peek().instrs.ids()) {
      if (random.percent(options.pinPercent)) {
        pin(instr);
      }
    }
  }

private:
  struct Pinned {
    InstrId instr;
    uint32_t semaphore;
  };

  std::vector<uint32_t> drawReserved(Range range) {
    std::vector<uint32_t> numbers;
    uint32_t count = random.in({1, 2});
    for (uint32_t i = 0; i < count; ++i) {
      uint32_t number = random.in(range);
      if (std::ranges::find(numbers, number) == numbers.end()) {
        numbers.push_back(number);
      }
    }
    std::ranges::sort(numbers);
    return numbers;
  }

  /// At the instruction, or at a dependence on it if there is one.
  void pin(InstrId instr) {
    std::optional<uint32_t> number = drawNumber(instr);
    if (!number) {
      return;
    }
    pinned.push_back({instr, *number});
    const Kernel &kernel = builder.peek();
    auto dep = std::ranges::find(kernel.deps, instr, &Dep::producer);
    if (dep != kernel.deps.end() && random.percent(30)) {
      builder.pin(DepId(static_cast<uint32_t>(dep - kernel.deps.begin())), *number);
    } else {
      builder.pin(instr, *number);
    }
  }

  /// That of another instruction that may share with this one, or one that nothing else has; none
  /// if there is no such number.
  std::optional<uint32_t> drawNumber(InstrId instr) {
    for (const Pinned &other : pinned) {
      if (mayShare(other.instr, instr) && random.percent(60)) {
        return other.semaphore;
      }
    }
    uint32_t number = random.in(options.numbers);
    bool taken =
        std::ranges::find(pinned, number, &Pinned::semaphore) != pinned.end() ||
        std::ranges::find(builder.peek().reserved, number) != builder.peek().reserved.end();
    return taken ? std::nullopt : std::optional(number);
  }

  bool mayShare(InstrId a, InstrId b) const {
    const Kernel &kernel = builder.peek();
    const Instr &first = kernel.instrs[a];
    const Instr &second = kernel.instrs[b];
    return first.queue == second.queue && first.home == second.home &&
           kernel.queues[first.queue].completion == Completion::Whole;
  }

  KernelBuilder &builder;
  const RandomKernelOptions &options;
  Random random;
  std::vector<Pinned> pinned;
};

} // namespace

static DepId addDependence(KernelBuilder &builder, const Draft &draft) {
  switch (draft.form) {
  case DistanceForm::Vector:
    return builder.depVector(draft.producer, draft.consumer, draft.components, draft.kind);
  case DistanceForm::Flat:
    return builder.depFlat(draft.producer, draft.consumer, draft.step, draft.kind);
  case DistanceForm::Element:
    if (!draft.table.runs.empty()) {
      return builder.depTable(draft.producer, draft.consumer, draft.table, draft.components,
                              draft.kind);
    }
    return builder.depElement(draft.producer, draft.consumer, draft.step, draft.components,
                              draft.kind);
  }
  return {};
}

static std::string nameOfSeed(uint64_t seed) {
  return fmt::format("seed{}", seed);
}

static std::vector<Draft> drawDependences(uint64_t seed, const RandomKernelOptions &options) {
  KernelBuilder builder(nameOfSeed(seed));
  TreeGrower(builder, seed, options).grow();
  Kernel tree = builder.finish();
  return DependenceDrawer(tree, seed, options).draw();
}

Kernel randomKernel(uint64_t seed, const RandomKernelOptions &options) {
  std::vector<Draft> drafts = drawDependences(seed, options);
  KernelBuilder builder(nameOfSeed(seed));
  TreeGrower(builder, seed, options).grow();
  for (const Draft &draft : drafts) {
    DepId dep = addDependence(builder, draft);
    if (draft.allowDivergent) {
      builder.allowDivergent(dep);
    }
  }
  NumberDrawer(builder, seed, options).draw();
  return builder.finish();
}

/// A few trip counts within the bounds of `trip`.
static std::vector<uint64_t> drawTrips(Random &random, const Trip &trip, Range range) {
  uint64_t least = std::max<uint64_t>(trip.min, range.min);
  auto min = static_cast<uint32_t>(std::min(least, trip.max.value_or(least)));
  uint64_t bound = std::min<uint64_t>(trip.max.value_or(range.max), range.max);
  uint32_t max = std::max(min, static_cast<uint32_t>(bound));
  std::vector<uint64_t> trips(1 + random.below(3));
  for (uint64_t &count : trips) {
    count = drawTripCount(random, {min, max});
  }
  return trips;
}

Choices randomChoices(const Kernel &kernel, uint64_t seed, Range trips) {
  Random random(seed ^ BindingStream);
  Choices choices;
  choices.guardSeed = random.below(UINT32_MAX);
  for (LoopId id : kernel.loops.ids()) {
    const Loop &loop = kernel.loops[id];
    if (loop.kind != LoopKind::Loop || loop.trip.kind == Trip::Kind::Constant ||
        loop.trip.kind == Trip::Kind::Formula) {
      continue;
    }
    choices.trips.push_back({id, {}, drawTrips(random, loop.trip, trips)});
    for (EngineId engine : kernel.engines.ids()) {
      if (!loop.uniform) {
        choices.trips.push_back({id, engine, drawTrips(random, loop.trip, trips)});
      }
    }
  }
  for (const RunValue &value : kernel.values) {
    uint64_t number = random.in(trips);
    choices.values.push_back(std::max(std::min(number, value.max.value_or(number)), value.min));
  }
  return choices;
}

Bindings Choices::bind(const Kernel &kernel) const {
  Bindings bindings(kernel);
  bindings.setGuardSeed(guardSeed);
  for (const Trips &chosen : trips) {
    bindings.set(chosen.loop, chosen.byEntry, chosen.engine);
  }
  for (RunValueId id : kernel.values.ids()) {
    bindings.setValue(id, values[id.value]);
  }
  return bindings;
}

std::string Choices::text(const Kernel &kernel) const {
  std::string text;
  for (const Trips &chosen : trips) {
    std::string on = chosen.engine.valid() ? fmt::format("@{}", kernel.nameOf(chosen.engine)) : "";
    text += fmt::format("{}--trips={}{}={}", text.empty() ? "" : " ", kernel.nameOf(chosen.loop),
                        on, fmt::join(chosen.byEntry, ","));
  }
  for (RunValueId id : kernel.values.ids()) {
    text += fmt::format("{}--trips={}={}", text.empty() ? "" : " ", kernel.nameOf(id),
                        values[id.value]);
  }
  bool anyGuard = std::any_of(kernel.loops.begin(), kernel.loops.end(), [](const Loop &loop) {
    return loop.isBranch() || loop.trip.kind == Trip::Kind::Guard;
  });
  return anyGuard ? text + fmt::format("{}--guards={}", text.empty() ? "" : " ", guardSeed) : text;
}

Bindings randomBindings(const Kernel &kernel, uint64_t seed, Range trips) {
  return randomChoices(kernel, seed, trips).bind(kernel);
}

} // namespace tally::fuzz
