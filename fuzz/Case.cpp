//===- Case.cpp - A kernel, a machine, and how code is made ---------------===//
//
// Of a mixed case each group of features is switched on or off as a whole, then drawn thickly: two
// groups meet in every tenth case or so, and there on one dependence.
//
//===----------------------------------------------------------------------===//

#include "Case.h"

#include "RandomTiles.h"

#include "tally/Compile/Prepare.h"
#include "tally/Model/Check.h"
#include "tally/Model/KernelBuilder.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace tally::fuzz {

namespace {

constexpr uint64_t caseStream = 0xd6e8feb86659fd93;

/// Trips of loops that are neither long nor bound to something else.
constexpr Range shortTrips{0, 4};

class CaseDrawer {
public:
  explicit CaseDrawer(uint64_t seed) : seed(seed), random(seed ^ caseStream) {}

  Case draw() {
    drawn.isMixed = true;
    drawMachine();
    drawHow();
    drawKernelOptions();
    bool isRing = options.tiles != Tiles::None && random.percent(15);
    drawn.kernel = isRing ? longRing() : randomKernel(seed, options);
    shareBuffers();
    if (drawn.foundAndWritten) {
      drawn.foundAndWritten = addFound();
    }
    return std::move(drawn);
  }

private:
  /// None, the least, or a number from one of three ranges.
  std::optional<uint32_t> drawLimit(uint32_t least, Range few, Range some, Range many) {
    uint64_t roll = random.below(100);
    return roll < 45   ? std::nullopt
           : roll < 58 ? std::optional(least)
           : roll < 69 ? std::optional(random.in(few))
           : roll < 86 ? std::optional(random.in(some))
                       : std::optional(random.in(many));
  }

  void drawMachine() {
    Machine &machine = drawn.machine;
    static constexpr uint32_t bits[] = {32, 32, 16, 9, 8};
    machine.counterBits = bits[random.below(std::size(bits))];
    machine.subtraction = random.percent(50) ? Subtraction::Wraps : Subtraction::Saturates;
    machine.waitCompare = random.percent(50) ? WaitCompare::Signed : WaitCompare::Unsigned;
    machine.semaphores = drawLimit(1, {2, 4}, {5, 12}, {13, 256});
    machine.registersPerEngine = drawLimit(2, {3, 4}, {5, 8}, {9, 64});
    if (seed % 8 == 5) {
      machine.registersPerEngine = 2; // little fits, so there have to be many
    }
    if (seed % 16 == 9) {
      machine.counterBits = 8; // so that those who disagree have to reset
    }
    machine.queueOverlap = random.percent(80);
    machine.completion = random.percent(10) ? Completion::Split : Completion::Whole;
    if (seed % 8 == 3) {
      machine.sumsInOrder =
          seed % 16 == 3 ? std::vector<std::string>() : std::vector<std::string>{"e0"};
    }
  }

  void drawHow() {
    Request &how = drawn.how;
    how.fold = random.percent(80);
    how.licm = random.percent(80);
    how.cse = random.percent(80);
    how.keepCounters = random.percent(10);
    how.participants = random.percent(30) ? Participants::All : Participants::Work;
    how.overflow = seed % 16 == 9 ? Overflow::Reset : static_cast<Overflow>(random.below(3));
    static constexpr double growths[] = {1, 1, 1.5, 4};
    how.codeGrowth = growths[random.below(std::size(growths))];
  }

  /// `much` in so many of a hundred cases, otherwise 0.
  uint32_t sometimes(uint32_t chance, uint32_t much) { return random.percent(chance) ? much : 0; }

  /// In turn small ones for the explorer, such as they come, and loops of constant trips.
  void drawKernelOptions() {
    options.sharedPercent = 30;
    if (seed % 4 == 0) {
      options.engines = {1, 3};
      options.maxDepth = 2;
      options.instructions = {2, 6};
      options.trips = {0, 3};
      options.offset = {1, 2};
    }
    if (seed % 4 == 3) {
      options.constantPercent = 100;
      options.ifPercent = 0;
    }
    options.formulaPercent = seed % 7 == 2 && seed % 4 != 3 ? 50 : 0;
    options.conditionPercent = seed % 5 == 2 ? 60 : 0;
    options.boundsPercent = seed % 7 == 3 ? 50 : 0;
    options.splitPercent = sometimes(35, 50);
    if (options.splitPercent != 0 && random.percent(50)) {
      drawParts();
    }
    options.shapes[random.below(numShapes)] += sometimes(60, 15);
    options.divergentPercent = sometimes(seed % 16 == 9 ? 100 : 35, 40);
    if (options.divergentPercent != 0 && random.percent(60)) {
      options.engines = {3, 4};
      options.islands = true; // so that some engines are sure of what others are not
    }
    options.regionPercent = sometimes(35, 40);
    options.unrollPercent = sometimes(35, 40);
    drawReach();
    drawNumbers();
    if (random.percent(25)) {
      drawTiles();
    }
    if (isTight() && random.percent(drawn.machine.registersPerEngine == 2u ? 90 : 70)) {
      drawLittle();
    }
  }

  /// Whether little fits.
  bool isTight() const {
    return drawn.machine.semaphores.value_or(5) < 5 ||
           drawn.machine.registersPerEngine.value_or(5) < 5;
  }

  /// What may fit all the same, in half of the cases without anything else that takes room.
  void drawLittle() {
    options.engines = {1, 3};
    options.instructions = {1, 4};
    options.dependences.min = 0;
    options.dependences.max = std::min(options.dependences.max, 2u);
    auto often = static_cast<Shape>(random.below(numShapes));
    if (drawn.machine.registersPerEngine.value_or(5) == 2 && random.percent(50)) {
      often = random.percent(60) ? Shape::Conditional : Shape::Element; // these hardly ever fit
    }
    options.shapes[static_cast<size_t>(often)] += 40;
    if (often == Shape::Conditional && options.dependences.max != 0) { // fits if others imply it
      options.ifPercent = options.sharedPercent = 50;
      options.dependences.max = std::min(options.dependences.max + 1, 4u);
    }
    if (random.percent(50)) {
      options.dependences.min = std::min(options.dependences.max, 1u);
      options.splitPercent = options.heavyPercent = options.farPercent = 0;
      options.pinPercent = options.reservePercent = 0;
    }
  }

  /// What waits for parts hinges on: near distances in loops inside loops, on few engines.
  void drawParts() {
    options.splitPercent = 100;
    options.weight = {2, 3};
    options.engines = {1, 3};
    options.maxDepth = 3;
    options.statements = {1, 2};
    options.instructions = {2, 6};
    options.offset = {1, random.in({1, 2})};
    options.shapes = {5, 6, 1, 1, 2, 4, 5, 1, 1, 1};
  }

  /// Few of them, for to find dependences takes long. In turn they have yet to be found, were found
  /// and written, and have others beside them.
  void drawTiles() {
    options.tiles = Tiles::Inside;
    options.instructions = {2, 4};
    options.maxDepth = random.percent(80) ? 2 : 3;
    drawn.how.keepImplied = random.percent(40);
    drawn.foundAndWritten = random.percent(options.divergentPercent != 0 ? 85 : 55);
    bool others = drawn.foundAndWritten && random.percent(70);
    options.dependences = others ? Range{1, 4} : Range{0, 0};
  }

  /// Distances, weights and trips about as large as counters are.
  void drawReach() {
    uint64_t limit = std::min<uint64_t>(drawn.machine.counterLimit(), 600);
    options.farPercent = sometimes(30, 30);
    options.farOffset = {60, static_cast<uint32_t>(limit) + 40};
    options.longPercent = sometimes(30, 40);
    options.longTrips = {50, static_cast<uint32_t>(limit) + 40};
    if (drawn.machine.completion == Completion::Whole) {
      options.heavyPercent = sometimes(30, 50);
      uint64_t heaviest = drawn.machine.counterLimit() >> random.in({1, 5});
      options.heavyWeight = {4, static_cast<uint32_t>(std::min(heaviest, maxCount / 8))};
    }
    drawn.longRuns = drawn.machine.counterBits <= 9 || options.farPercent != 0;
  }

  void drawNumbers() {
    options.pinPercent = sometimes(35, 30);
    options.reservePercent = sometimes(30, 40);
    uint32_t most = std::min(drawn.machine.semaphores.value_or(10), 10u);
    options.numbers = {0, most - 1};
    options.registers = {0, std::min(drawn.machine.registersPerEngine.value_or(4), 4u) - 1};
  }

  /// Tiles that are used again after many iterations: dependences that are found reach as far.
  /// Others beside them now and then.
  Kernel longRing() {
    KernelBuilder builder(fmt::format("seed{}", seed));
    QueueId first = builder.queueOf(builder.engine("e0"));
    QueueId second = builder.queueOf(builder.engine("e1"));
    uint32_t size = random.percent(50) ? random.in({2, 8}) : random.in({60, 80});
    BufferId ring = builder.buffer("R", std::array<uint64_t, 1>{size});
    TileDrawer others(builder, seed, Tiles::Inside);
    auto touch = [&](InstrId instr, AccessKind kind, const std::string &tile) {
      builder.access(kind, ring, tile);
      if (random.percent(30)) {
        others.draw(instr);
      }
    };
    uint32_t ahead = random.in({0, size - 1});
    builder.beginLoop("A", builder.value("n", 0, random.in({size, 2 * size})));
    bool isNested = random.percent(60);
    if (isNested) {
      builder.beginLoop("B", builder.value("m", 0, 2));
    }
    touch(builder.instr("i0", first), AccessKind::Write,
          fmt::format("R[(A + {}) mod {}]", ahead, size));
    if (isNested) {
      builder.endLoop();
    }
    touch(builder.instr("i1", second), AccessKind::Read, fmt::format("R[A mod {}]", size));
    builder.endLoop();
    return builder.finish();
  }

  /// A buffer may lie over another one, for all that is said.
  void shareBuffers() {
    IdVector<BufferId, Buffer> &buffers = drawn.kernel.buffers;
    if (buffers.size() > 1 && buffers[BufferId(1)].alias.empty() &&
        buffers[BufferId(1)].noalias.empty() && random.percent(25)) {
      buffers[BufferId(1)].alias.push_back(BufferId(0));
    }
  }

  /// All dependences that follow from tiles, beside those that were drawn, whatever engines
  /// disagree on; false if the two form a circle, and only what was found is kept.
  bool addFound() {
    Extractor extractor;
    Extraction extraction = extractor.extract(onMachine(drawn.kernel, drawn.machine),
                                              {.queueOverlap = drawn.machine.queueOverlap});
    Kernel found = withDeps(drawn.kernel, extraction);
    for (DepId dep : found.deps.ids()) {
      found.deps[dep].allowDivergent = true;
    }
    Kernel both = found;
    for (Dep dep : drawn.kernel.deps) {
      std::span<const DistanceComponent> components = drawn.kernel.componentsOf(dep);
      dep.firstComponent = static_cast<uint32_t>(both.components.size());
      both.components.insert(both.components.end(), components.begin(), components.end());
      if (dep.table.valid()) {
        dep.table = both.tables.push(drawn.kernel.tables[dep.table]);
      }
      both.deps.push(dep);
    }
    Diagnostics diagnostics;
    check(both, diagnostics);
    bool hasOthers = !drawn.kernel.deps.empty() && !diagnostics.hasErrors();
    drawn.kernel = diagnostics.hasErrors() ? std::move(found) : std::move(both);
    return hasOthers;
  }

  uint64_t seed;
  Random random;
  RandomKernelOptions options;
  Case drawn;
};

} // namespace

Case mixedCase(uint64_t seed) {
  return CaseDrawer(seed).draw();
}

/// In turn: small ones for the explorer, large ones, divergent ones, and loops of constant trips;
/// one in five has regions.
Kernel kernelOfSeed(uint64_t seed) {
  RandomKernelOptions options;
  options.sharedPercent = 30;
  options.regionPercent = seed % 5 == 0 ? 40 : 0;
  options.unrollPercent = options.regionPercent;
  switch (seed % 4) {
  case 0:
    options.engines = {1, 3};
    options.maxDepth = 2;
    options.instructions = {2, 6};
    options.trips = {0, 3};
    options.offset = {1, 2};
    break;
  case 2:
    options.divergentPercent = 30;
    break;
  case 3:
    options.constantPercent = 100;
    options.ifPercent = 0;
    break;
  default:
    break;
  }
  return randomKernel(seed, options);
}

/// Nothing is said about overflow: trips are few, and nothing is given up or held back for it.
Case plainCase(uint64_t seed) {
  Case drawn(kernelOfSeed(seed));
  drawn.how.fold = seed % 3 != 0;
  drawn.how.licm = seed % 5 != 0;
  drawn.how.cse = seed % 7 != 0;
  drawn.how.keepCounters = seed % 11 == 0;
  drawn.how.overflow = Overflow::Assume;
  Machine &machine = drawn.machine;
  machine.subtraction = seed % 2 != 0 ? Subtraction::Wraps : Subtraction::Saturates;
  machine.waitCompare = seed / 2 % 2 != 0 ? WaitCompare::Signed : WaitCompare::Unsigned;
  machine.counterBits = seed / 4 % 4 == 0 ? 16 : 32;
  return drawn;
}

/// Every third machine has small counters, which long loops and heavy queues fill:
/// so counters are reset.
Case threadCase(uint64_t seed) {
  Random random(seed ^ caseStream);
  Case drawn;
  Machine &machine = drawn.machine;
  bool isSmall = seed % 3 == 0;
  machine.counterBits = !isSmall ? 32 : random.percent(60) ? 8 : 16;
  machine.subtraction = random.percent(50) ? Subtraction::Wraps : Subtraction::Saturates;
  machine.waitCompare = random.percent(50) ? WaitCompare::Signed : WaitCompare::Unsigned;
  if (random.percent(20)) {
    machine.semaphores = random.in({3, 8});
  }
  drawn.how.fold = random.percent(80);
  drawn.how.licm = random.percent(80);
  drawn.how.cse = random.percent(80);
  drawn.how.participants = random.percent(30) ? Participants::All : Participants::Work;
  drawn.how.overflow = Overflow::Reset;
  RandomKernelOptions options;
  options.tiles = Tiles::Computed;
  options.dependences = {0, 0};
  options.engines = {2, 4};
  options.instructions = {2, 6}; // to find dependences takes long
  options.maxDepth = random.percent(70) ? 2 : 3;
  options.trips = {seed % 4 == 0 ? 0u : 1u, 4};
  options.constantPercent = seed % 5 == 0 ? 100 : 40;
  options.ifPercent = seed % 5 == 0 ? 0 : 20;
  options.formulaPercent = seed % 7 == 2 ? 40 : 0;
  options.conditionPercent = seed % 6 == 2 ? 60 : 0;
  options.boundsPercent = seed % 7 == 3 ? 50 : 0;
  options.regionPercent = seed % 6 == 1 ? 40 : 0;
  options.unrollPercent = options.regionPercent;
  options.splitPercent = random.percent(15) ? 50 : 0;
  options.longPercent = random.percent(40) ? 40 : 0;
  options.longTrips = {20, 60};
  options.heavyPercent = isSmall ? 50 : 0;
  options.heavyWeight = {4, 40};
  drawn.kernel = randomKernel(seed, options);
  return drawn;
}

std::optional<Kernel> finishedKernel(const Case &drawn, std::string &reason) {
  Kernel kernel = onMachine(drawn.kernel, drawn.machine);
  if (!asksForDeps(kernel)) {
    return kernel;
  }
  Extractor extractor;
  Diagnostics diagnostics;
  Kernel found = findAsked(kernel, drawn.how, drawn.machine, extractor, diagnostics);
  reason = diagnostics.reason();
  return diagnostics.hasErrors() ? std::nullopt : std::optional(std::move(found));
}

//===----------------------------------------------------------------------===//
// Plainer ones
//===----------------------------------------------------------------------===//

namespace {

template <typename T> bool setTo(T &place, const T &value) {
  return place != value && (place = value, true);
}

/// Of a machine, what makes it another one than `generic`.
const Machine generic = genericMachine();

} // namespace

const std::vector<Simplification> &simplifications() {
  static const std::vector<Simplification> all = {
      [](Case &c) { return setTo(c.machine.counterBits, generic.counterBits); },
      [](Case &c) { return setTo(c.machine.subtraction, generic.subtraction); },
      [](Case &c) { return setTo(c.machine.waitCompare, generic.waitCompare); },
      [](Case &c) { return setTo(c.machine.semaphores, generic.semaphores); },
      [](Case &c) { return setTo(c.machine.registersPerEngine, generic.registersPerEngine); },
      [](Case &c) { return setTo(c.machine.queueOverlap, generic.queueOverlap); },
      [](Case &c) { return setTo(c.machine.completion, generic.completion); },
      [](Case &c) { return setTo(c.machine.sumsInOrder, generic.sumsInOrder); },
      [](Case &c) { return setTo(c.how.fold, true); },
      [](Case &c) { return setTo(c.how.licm, true); },
      [](Case &c) { return setTo(c.how.cse, true); },
      [](Case &c) { return setTo(c.how.keepCounters, false); },
      [](Case &c) { return setTo(c.how.codeGrowth, 1.0); },
      [](Case &c) { return setTo(c.how.participants, Participants::Work); },
      [](Case &c) { return setTo(c.how.overflow, Overflow::Reset); },
      [](Case &c) { return setTo(c.how.keepImplied, false); },
      [](Case &c) { return setTo(c.longRuns, false); },
  };
  return all;
}

//===----------------------------------------------------------------------===//
// As commands
//===----------------------------------------------------------------------===//

/// Of the limit that has this name in the file.
static std::string limitEdit(std::string_view name, std::optional<uint32_t> limit) {
  return limit ? fmt::format(R"(/"{}": {{/,/value/ s/null/{}/; )", name, *limit) : "";
}

std::string machineCommand(const Machine &machine) {
  std::string edits;
  if (machine.counterBits != generic.counterBits) {
    edits += fmt::format(R"(s/\("counter_bits": {{"value": \)32/\1{}/; )", machine.counterBits);
  }
  edits += machine.subtraction == Subtraction::Wraps ? R"(s/"saturates"/"wraps"/; )" : "";
  edits += machine.waitCompare == WaitCompare::Signed ? R"(s/"unsigned"/"signed"/; )" : "";
  edits += limitEdit("semaphores", machine.semaphores);
  edits += limitEdit("registers_per_engine", machine.registersPerEngine);
  edits += machine.queueOverlap ? "" : R"(s/"overlap": true/"overlap": false/; )";
  edits += machine.completion == Completion::Split
               ? R"(s/"queue": {/"queue": {"completion": "split", /; )"
               : "";
  if (machine.sumsInOrder) {
    edits += fmt::format(R"(s/"engines": \[\],/"engines": [], "sums_in_order": [{}],/; )",
                         machine.sumsInOrder->empty() ? "" : R"("e0")");
  }
  return edits.empty() ? ""
                       : fmt::format("sed '{}' %source_dir/machines/generic.json > "
                                     "%t.machine.json",
                                     edits.substr(0, edits.size() - 2));
}

std::string optionsText(const Case &drawn) {
  const Request &how = drawn.how;
  std::string text;
  text += how.participants == Participants::All ? " --barrier-participants=all" : "";
  text +=
      how.overflow != Overflow::Reset ? fmt::format(" --overflow={}", toString(how.overflow)) : "";
  text += how.codeGrowth != 1 ? fmt::format(" --max-code-growth={}", how.codeGrowth) : "";
  text += how.fold ? "" : " --no-fold";
  text += how.licm ? "" : " --no-licm";
  text += how.cse ? "" : " --no-cse";
  text += how.keepCounters ? " --keep-counters" : "";
  text += drawn.how.keepImplied ? " --keep-implied" : "";
  return text;
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

/// One loop runs far, the others once or twice. Tiles stay in their buffers.
static Choices longChoices(const Case &drawn, const Kernel &kernel, uint64_t seed) {
  Choices choices = randomChoices(kernel, seed, {1, 2});
  if (choices.trips.empty()) {
    return choices;
  }
  Random random(seed);
  Choices::Trips &chosen = choices.trips[random.below(choices.trips.size())];
  const Trip &trip = kernel.loops[chosen.loop].trip;
  uint64_t limit = std::min<uint64_t>(drawn.machine.counterLimit(), 512);
  uint64_t most =
      std::min(trip.max.value_or(kernel.accesses.empty() ? maxCount : assumedTrips), limit + 50);
  uint64_t trips = std::max(most - random.below(most / 2 + 1), trip.min);
  for (Choices::Trips &other : choices.trips) {
    if (other.loop == chosen.loop && (other.engine == chosen.engine || random.percent(50))) {
      other.byEntry = {trips};
    }
  }
  return choices;
}

Choices choicesOf(const Case &drawn, const Kernel &kernel, uint64_t seed, uint64_t number) {
  bool isLong = drawn.longRuns && number % 3 == 2;
  return isLong ? longChoices(drawn, kernel, seed) : randomChoices(kernel, seed, shortTrips);
}

} // namespace tally::fuzz
