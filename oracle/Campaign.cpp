//===- Campaign.cpp - Many random programs, one report --------------------===//

#include "oracle/Campaign.h"

#include "oracle/PlanComparison.h"

#include "tally/Model/Place.h"
#include "tally/Model/RunNumbers.h"
#include "tally/Sync/Joins.h"
#include "tally/Written/Text.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fmt/format.h>

namespace tally::oracle {

/// The kernel of a seed; the same one with engines that agree, if a plan is refused because they
/// do not.
static Kernel acceptedKernel(uint64_t seed, const fuzz::RandomKernelOptions &options) {
  Kernel kernel = fuzz::randomKernel(seed, options);
  Diagnostics refused;
  PlanDecisions withoutTrips;
  withoutTrips.constantTrips = false;
  makePlan(kernel, {}, refused);
  makePlan(kernel, withoutTrips, refused);
  if (!refused.hasErrors()) {
    return kernel;
  }
  fuzz::RandomKernelOptions agreeing = options;
  agreeing.divergentPercent = 0;
  return fuzz::randomKernel(seed, agreeing);
}

RandomCodeCase::RandomCodeCase(uint64_t seed, const fuzz::RandomKernelOptions &options,
                               fuzz::Range trips)
    : seed(seed), kernel(acceptedKernel(seed, options)),
      bindings(fuzz::randomBindings(kernel, seed, trips)),
      definitions(defineAll(kernel, bindings)) {}

bool RandomCodeCase::cutOff() const {
  return anyCutOff(definitions);
}

bool RandomCodeCase::agreeing() const {
  return std::all_of(kernel.loops.begin(), kernel.loops.end(),
                     [](const Loop &loop) { return loop.uniform; });
}

size_t RandomCodeCase::size() const {
  return kernel.instrs.size() + kernel.loops.size() + kernel.deps.size() + kernel.engines.size();
}

fuzz::RandomKernelOptions optionsForSeed(uint64_t seed) {
  fuzz::RandomKernelOptions options;
  options.divergentPercent = seed % 3 == 0 ? 30 : 0;
  if (seed % 4 == 1) { // nests of constant trips
    options.constantPercent = 90;
    options.ifPercent = 5;
    options.trips = {1, 4};
  }
  return options;
}

static std::optional<uint32_t> numberFrom(const char *variable) {
  const char *text = std::getenv(variable);
  if (!text) {
    return {};
  }
  return static_cast<uint32_t>(std::strtoul(text, nullptr, 10));
}

bool seedsAreChosen() {
  return numberFrom("TALLY_SEED") || numberFrom("TALLY_COUNT");
}

fuzz::Range seedsOf(uint32_t count, uint32_t work) {
  if (std::optional<uint32_t> seed = numberFrom("TALLY_SEED")) {
    return {*seed, *seed};
  }
  if (std::optional<uint32_t> programs = numberFrom("TALLY_COUNT")) {
    count = std::max(1u, *programs / work);
  }
  return {0, count - 1};
}

std::string_view toString(DepClass depClass) {
  static constexpr std::array<std::string_view, numDepClasses> names{
      "shared-zero",     "shared-forward",
      "shared-backward", "nested-zero",
      "nested-forward",  "nested-backward-1",
      "nested-backward", "opposite-zero",
      "opposite-1",      "opposite-far",
      "same-branch-1",   "same-branch-far",
      "two-levels",      "nest",
      "levels",          "flat",
      "element-forward", "element-backward",
      "element-nests",   "element-one-run",
      "element-table",   "loop-table",
      "over-table"};
  return names[static_cast<size_t>(depClass)];
}

PlanDecisions optionsOf(const RandomCodeCase &code, Strategy strategy) {
  PlanDecisions options;
  options.strategy = strategy;
  fuzz::Random random(code.seed);
  options.constantTrips = random.percent(75);
  if (strategy != Strategy::Auto) {
    return options;
  }
  uint64_t choices = code.agreeing() ? 3 : 2;
  for ([[maybe_unused]] const Instr &instr : code.kernel.instrs) {
    options.sharing.push(static_cast<Sharing>(random.below(choices)));
  }
  options.twins = findJoins(code.kernel);
  for (InstrId instr : options.twins.ids()) {
    InstrId twin = options.twins[instr];
    if (twin.valid() && instr < twin && random.percent(75)) {
      options.sharing[instr] = options.sharing[twin] = Sharing::Join;
    }
  }
  return options;
}

static DepClass classOfOpposite(int64_t offset) {
  return offset == 0   ? DepClass::OppositeZero
         : offset == 1 ? DepClass::Opposite1
                       : DepClass::OppositeFar;
}

static DepClass classOfShared(const DepPlace &place, bool branches) {
  if (place.offset == 0) {
    return DepClass::SharedZero;
  }
  if (branches) {
    return place.offset == 1 ? DepClass::SameBranch1 : DepClass::SameBranchFar;
  }
  return place.order == Order::Backward ? DepClass::SharedBackward : DepClass::SharedForward;
}

static DepClass classOfNested(const DepPlace &place) {
  if (place.offset == 0) {
    return DepClass::NestedZero;
  }
  if (place.order != Order::Backward) {
    return DepClass::NestedForward;
  }
  return place.offset == 1 ? DepClass::NestedBackward1 : DepClass::NestedBackward;
}

/// Whether all that lies between two bodies are loops that run a constant number of times, at least
/// once.
static bool isConstantNest(const Kernel &kernel, LoopId outer, LoopId inner) {
  for (LoopId l = inner; l != outer; l = kernel.loops[l].parent) {
    const Loop &loop = kernel.loops[l];
    if (loop.kind != LoopKind::Loop || loop.trip.kind != Trip::Kind::Constant ||
        loop.trip.constant == 0) {
      return false;
    }
  }
  return true;
}

DepClass classOf(const Kernel &kernel, const Dep &dep) {
  DepPlace place = placeOf(kernel, dep);
  if (dep.form == DistanceForm::Flat) {
    return DepClass::Flat;
  }
  if (dep.table.valid()) {
    return kernel.tables[dep.table].over.valid()      ? DepClass::OverTable
           : place.producerHome == place.consumerHome ? DepClass::LoopTable
                                                      : DepClass::ElementTable;
  }
  if (dep.form == DistanceForm::Element) {
    if (place.producerHome == place.shared || place.consumerHome == place.shared) {
      return DepClass::ElementOneRun;
    }
    bool isOfLoops = kernel.loops[place.producerHome].parent == place.shared &&
                     kernel.loops[place.consumerHome].parent == place.shared;
    if (!isOfLoops) {
      return DepClass::ElementNests;
    }
    return place.order == Order::Forward ? DepClass::ElementForward : DepClass::ElementBackward;
  }
  LoopId real = kernel.realLoop(place.shared);
  if (place.carrier.valid() && place.carrier != real) {
    const Loop &shared = kernel.loops[place.shared];
    bool two = place.producerInShared() && shared.kind == LoopKind::Loop &&
               kernel.realLoop(shared.parent) == place.carrier;
    return two                                                         ? DepClass::TwoLevels
           : isConstantNest(kernel, place.carrier, place.producerHome) ? DepClass::Nest
                                                                       : DepClass::Levels;
  }
  if (place.order == Order::Opposite) {
    return classOfOpposite(place.offset);
  }
  bool branches = place.shared != real;
  return place.producerInShared() ? classOfShared(place, branches) : classOfNested(place);
}

bool expectsExact(DepClass depClass, bool sharesQueue, bool constantTrips) {
  switch (depClass) {
  case DepClass::Nest:
  case DepClass::ElementNests:
  case DepClass::ElementOneRun:
  case DepClass::ElementTable:
  case DepClass::LoopTable:
  case DepClass::OverTable:
    return constantTrips && !sharesQueue;
  case DepClass::TwoLevels:
  case DepClass::ElementForward:
  case DepClass::ElementBackward:
    return !sharesQueue;
  default:
    return depClass != DepClass::Levels;
  }
}

void Coverage::add(const RandomCodeCase &code) {
  for (DepId id : code.kernel.deps.ids()) {
    const Dep &dep = code.kernel.deps[id];
    EngineId engine = code.kernel.engineOf(dep.consumer);
    size_t numRuns = code.definitions[engine.value].needs(id).size();
    counts[static_cast<size_t>(classOf(code.kernel, dep))] += numRuns != 0;
    runs += numRuns;
  }
}

std::string Coverage::text() const {
  std::string text = fmt::format("{} runs of consumers; dependences of each class:\n", runs);
  for (size_t i = 0; i < numDepClasses; ++i) {
    text += fmt::format("  {:18} {}\n", toString(static_cast<DepClass>(i)), counts[i]);
  }
  return text;
}

/// The first line without what is between quotes, and without digits.
static std::string kindOf(std::string_view text) {
  std::string kind;
  bool quoted = false;
  for (char c : text.substr(0, text.find('\n'))) {
    quoted ^= c == '\'';
    if (!quoted && !std::isdigit(static_cast<unsigned char>(c))) {
      kind += c;
    }
  }
  return kind;
}

void Findings::add(const RandomCodeCase &code, const std::string &setting, const std::string &what,
                   const std::string &context) {
  ++total;
  Finding &finding = kinds[kindOf(what)];
  ++finding.count;
  if (code.size() >= finding.size) {
    return;
  }
  finding.size = code.size();
  finding.seed = code.seed;
  finding.text = fmt::format("{}: {}\n{}{}", setting, what, dump(code.kernel), context);
}

std::string Findings::report(std::string_view code, std::string_view test) const {
  std::string text = fmt::format("{} disagreements of {} kinds\n", total, kinds.size());
  for (const auto &[kind, finding] : kinds) {
    text += fmt::format("\n{} like this:\n{}repeat: TALLY_SEED={} bin/{} --gtest_filter='{}'\n",
                        finding.count, finding.text, finding.seed, code, test);
  }
  return text;
}

} // namespace tally::oracle
