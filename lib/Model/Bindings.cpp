//===- Bindings.cpp - Run-time values for one run of a kernel -------------===//

#include "tally/Model/Bindings.h"

#include "../Support/Report.h"

#include "tally/Model/Values.h"
#include "tally/Support/Mix.h"
#include "tally/Support/Names.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace tally {

static uint64_t nearest(uint64_t usual, uint64_t min, std::optional<uint64_t> max) {
  return std::max(min, std::min(usual, max.value_or(usual)));
}

/// What was not said: 2, or the nearest number within bounds.
static uint64_t usualCount(uint64_t min, std::optional<uint64_t> max) {
  return nearest(2, min, max);
}

Bindings::Bindings(const Kernel &kernel) : kernel(&kernel), byLoop(kernel.loops.size()) {
  for (const RunValue &value : kernel.values) {
    known.push_back(static_cast<int64_t>(usualCount(value.min, value.max)));
    isBound.push_back(false);
  }
}

void Bindings::set(LoopId loop, std::vector<uint64_t> tripsByEntry, EngineId engine) {
  assert(kernel->loops[loop].kind != LoopKind::Else && "an else-branch follows its then-branch");
  std::vector<std::vector<uint64_t>> &lists = byLoop[loop];
  size_t slot = engine.valid() ? engine.value + 1 : 0;
  lists.resize(std::max(lists.size(), slot + 1));
  lists[slot] = std::move(tripsByEntry);
}

std::vector<std::string> Bindings::bindOpen(uint64_t usual) {
  std::vector<std::string> chosen;
  for (RunValueId id : kernel->values.ids()) {
    if (!isBound[id.value]) {
      const RunValue &value = kernel->values[id];
      setValue(id, nearest(usual, value.min, value.max));
      chosen.push_back(fmt::format("{}={}", kernel->nameOf(id), known[id.value]));
    }
  }
  std::map<NameId, uint64_t> bySymbol; // the first loop with it speaks for those that agree
  std::set<NameId> isShared;           // with a loop that was set
  for (LoopId id : kernel->loops.ids()) {
    if (!byLoop[id].empty()) {
      isShared.insert(kernel->loops[id].trip.symbol);
    }
  }
  for (LoopId id : kernel->loops.ids()) {
    const Trip &trip = kernel->loops[id].trip;
    if (kernel->loops[id].kind != LoopKind::Loop || trip.kind != Trip::Kind::Value || isSet(id)) {
      continue;
    }
    uint64_t count = nearest(usual, trip.min, trip.max);
    set(id, {count});
    bool isOwn = !trip.symbol.valid() || isShared.contains(trip.symbol);
    bool speaks = !isOwn && bySymbol.try_emplace(trip.symbol, count).second;
    if (speaks || isOwn || bySymbol.at(trip.symbol) != count) {
      chosen.push_back(
          fmt::format("{}={}", speaks ? kernel->text(trip.symbol) : kernel->nameOf(id), count));
    }
  }
  return chosen;
}

bool Bindings::isSet(LoopId loop) const {
  if (kernel->loops[loop].kind == LoopKind::Else) {
    return isSet(kernel->loops[loop].otherBranch);
  }
  const std::vector<std::vector<uint64_t>> &lists = byLoop[loop];
  bool onAll = !lists.empty() && !lists[0].empty();
  bool onEach =
      lists.size() == kernel->engines.size() + 1 &&
      std::ranges::none_of(lists.begin() + 1, lists.end(),
                           [](const std::vector<uint64_t> &list) { return list.empty(); });
  return onAll || onEach || (guardSeed && kernel->loops[loop].trip.isOpaque());
}

bool Bindings::isSet(LoopId loop, EngineId engine) const {
  size_t slot = engine.valid() ? engine.value + 1 : 0;
  return isSet(loop) || (slot < byLoop[loop].size() && !byLoop[loop][slot].empty());
}

bool Bindings::leavesOpen(LoopId id) const {
  const Loop &loop = kernel->loops[id];
  bool isChosen = loop.trip.kind == Trip::Kind::Value || loop.trip.isOpaque();
  bool isOwn = loop.kind == LoopKind::Loop || loop.kind == LoopKind::Then;
  return isChosen && isOwn && !isSet(id);
}

bool Bindings::leavesGuardsOpen() const {
  bool isOpen = false;
  for (LoopId id : kernel->loops.ids()) {
    isOpen |= kernel->loops[id].trip.isOpaque() && leavesOpen(id);
  }
  return isOpen;
}

bool Bindings::isComplete() const {
  bool isOpen = std::ranges::find(isBound, false) != isBound.end();
  for (LoopId id : kernel->loops.ids()) {
    isOpen |= leavesOpen(id);
  }
  return !isOpen;
}

bool Bindings::keepsOut(LoopId body) const {
  for (LoopId id = body; id != rootLoop; id = kernel->loops[id].parent) {
    if (isSet(id)) {
      bool isElse = kernel->loops[id].kind == LoopKind::Else;
      auto [fewest, most] = tripRange(isElse ? kernel->loops[id].otherBranch : id);
      if (isElse ? fewest != 0 : most == 0) {
        return true;
      }
    }
  }
  return false;
}

void Bindings::narrow(Kernel &bounded) const {
  for (RunValueId id : kernel->values.ids()) {
    if (isSet(id)) {
      auto number = static_cast<uint64_t>(known[id.value]);
      bounded.values[id].min = number;
      bounded.values[id].max = number;
    }
  }
  for (LoopId id : kernel->loops.ids()) {
    Trip &trip = bounded.loops[id].trip;
    if (trip.kind == Trip::Kind::Value && isSet(id)) {
      std::tie(trip.min, trip.max) = tripRange(id);
    }
  }
  boundFormulas(bounded);
}

//===----------------------------------------------------------------------===//
// Asking
//===----------------------------------------------------------------------===//

/// So many numbers of trips are possible where a condition decides, from 0.
static constexpr uint64_t numGuardTrips = 4;

/// A guard's decision: 0 or 1 for branches, trips for loops.
static uint64_t decide(uint64_t seed, LoopId loop, uint64_t entry, uint64_t engine,
                       uint64_t choices) {
  return mix(mix(mix(seed ^ mix(loop.value)) ^ entry) ^ engine) % choices;
}

uint64_t Bindings::trips(EngineId engine, LoopId id, uint64_t entry) const {
  assert(entry >= 1 && "entries count from 1");
  const Loop &loop = kernel->loops[id];
  if (loop.kind == LoopKind::Root) {
    return 1;
  }
  if (loop.kind == LoopKind::Else && loop.trip.isOpaque()) {
    return 1 - std::min<uint64_t>(trips(engine, loop.otherBranch, entry), 1);
  }
  const std::vector<std::vector<uint64_t>> &lists = byLoop[id];
  for (size_t slot : {size_t(engine.value) + 1, size_t(0)}) {
    if (slot < lists.size() && !lists[slot].empty()) {
      return lists[slot][(entry - 1) % lists[slot].size()];
    }
  }
  switch (loop.trip.kind) {
  case Trip::Kind::Constant:
    return loop.trip.constant;
  case Trip::Kind::Value:
    return usualCount(loop.trip.min, loop.trip.max);
  case Trip::Kind::Guard:
    assert(!loop.trip.condition.valid() && "the iterations around decide about a condition");
    return decide(guardSeed.value_or(0), id, entry, loop.uniform ? 0 : engine.value + 1u,
                  loop.isBranch() ? 2 : numGuardTrips);
  case Trip::Kind::Formula:
    assert(false && "the iterations around decide about a formula");
    break;
  }
  return 0;
}

std::pair<uint64_t, uint64_t> Bindings::tripRange(LoopId id) const {
  std::vector<uint64_t> counts;
  const std::vector<std::vector<uint64_t>> &lists = byLoop[id];
  for (const std::vector<uint64_t> &list : lists) {
    counts.insert(counts.end(), list.begin(), list.end());
  }
  if (lists.empty() || lists[0].empty()) {
    bool isOpen = kernel->loops[id].trip.kind == Trip::Kind::Guard; // a condition may be either
    uint64_t last = kernel->loops[id].isBranch() ? 1 : numGuardTrips - 1;
    counts.push_back(isOpen ? 0 : trips(EngineId(0), id, 1));
    counts.push_back(isOpen ? last : counts.back());
  }
  auto [fewest, most] = std::minmax_element(counts.begin(), counts.end());
  return {*fewest, *most};
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {

/// One `A@act=1,2`.
class TripsReader {
public:
  struct Given {
    std::set<std::pair<LoopId, EngineId>> loops;
    std::set<RunValueId> values;
  };

  /// `input`: the kernels whose names are told where one is unknown; `given`: what other options
  /// have bound.
  TripsReader(const Kernel &kernel, std::span<const Kernel *const> input, std::string_view option,
              Given &given, Diagnostics &diagnostics)
      : kernel(kernel), input(input), option(option), given(given), diagnostics(diagnostics) {}

  void readInto(Bindings &bindings);

  /// Whether the option is for this kernel, rightly or not.
  bool isForKernel();

private:
  template <typename... Args> void error(fmt::format_string<Args...> format, Args &&...args) {
    ok = false;
    report(diagnostics, {}, "in '--trips={}': {}", option,
           fmt::format(format, std::forward<Args>(args)...));
  }

  bool isFound() const { return value.valid() || !loops.empty(); }

  void split();
  void findLoops();
  std::vector<std::string_view> boundNames() const;
  void findEngine();
  void readCounts();
  void bindValue(Bindings &bindings);
  void checkLoop(LoopId id);
  void checkFormula(LoopId id);
  std::string wayToBind(const BodyTile &decides) const;
  void checkCount(const Loop &loop, uint64_t count);

  const Kernel &kernel;
  std::span<const Kernel *const> input;
  std::string_view option;
  Given &given;
  Diagnostics &diagnostics;
  bool ok = true;
  std::string_view name, engineName, counts;
  bool hasEngine = false;
  RunValueId value; ///< or else loops
  std::vector<LoopId> loops;
  EngineId engine;
  std::vector<uint64_t> values;
};

} // namespace

/// Names may hold any character, so the last '=' and '@' count.
void TripsReader::split() {
  size_t equals = option.rfind('=');
  if (equals == std::string_view::npos) {
    return error("expected LOOP=COUNT[,COUNT...] or LOOP@ENGINE=COUNT[,COUNT...]");
  }
  name = option.substr(0, equals);
  counts = option.substr(equals + 1);
  findLoops();
  size_t at = name.rfind('@');
  if (!isFound() && at != std::string_view::npos) {
    engineName = name.substr(at + 1);
    name = name.substr(0, at);
    hasEngine = true;
    findLoops();
  }
  if (!isFound()) {
    bool several = name.find('=') != std::string_view::npos;
    error("{}{}",
          unknownName("loop, branch or run-time value",
                      fmt::format("loops, branches and run-time values of {}",
                                  input.size() == 1 ? "this kernel" : "these kernels"),
                      name, boundNames()),
          several ? "; give each its own option: --trips=A=64 --trips=B=8" : "");
  }
}

bool TripsReader::isForKernel() {
  split();
  return isFound() || option.find('=') == std::string_view::npos;
}

/// What may stand before the '=', in the order of the input.
std::vector<std::string_view> TripsReader::boundNames() const {
  std::vector<std::string_view> names;
  std::set<std::string_view> seen;
  auto add = [&](std::string_view added) {
    if (seen.insert(added).second) {
      names.push_back(added);
    }
  };
  for (const Kernel *each : input) {
    for (const Loop &loop : each->loops) {
      if (loop.kind == LoopKind::Loop || loop.kind == LoopKind::Then) {
        add(each->text(loop.name));
      }
      bool isFormula = loop.trip.kind == Trip::Kind::Formula;
      if (loop.kind == LoopKind::Loop && loop.trip.symbol.valid() && !isFormula) {
        add(each->text(loop.trip.symbol));
      }
    }
    for (const RunValue &value : each->values) {
      add(each->text(value.name));
    }
  }
  return names;
}

/// The value `$name`; or else the loop called `name`, or all loops with that run-time value.
void TripsReader::findLoops() {
  value = kernel.valueNamed(name);
  if (value.valid()) {
    return;
  }
  std::vector<LoopId> bySymbol;
  for (LoopId id : kernel.loops.ids()) {
    const Loop &loop = kernel.loops[id];
    if (id != rootLoop && kernel.nameOf(id) == name) {
      loops = {id};
      return;
    }
    bool isNamed = loop.trip.kind == Trip::Kind::Value || loop.trip.kind == Trip::Kind::Guard;
    if (loop.kind == LoopKind::Loop && isNamed && loop.trip.symbol.valid() &&
        kernel.text(loop.trip.symbol) == name) {
      bySymbol.push_back(id);
    }
  }
  loops = std::move(bySymbol);
}

void TripsReader::findEngine() {
  std::vector<std::string_view> known;
  for (EngineId id : kernel.engines.ids()) {
    known.push_back(kernel.nameOf(id));
    engine = known.back() == engineName && !engine.valid() ? id : engine;
  }
  if (!engine.valid()) {
    error("{}", unknownName("engine", "engines of this kernel", engineName, known));
  }
}

void TripsReader::readCounts() {
  for (size_t start = 0; start <= counts.size();) {
    size_t end = std::min(counts.find(',', start), counts.size());
    std::string_view text = counts.substr(start, end - start);
    uint64_t value = 0;
    auto [stop, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failure != std::errc() || stop != text.data() + text.size() || value > maxCount) {
      error("'{}' is not a trip count; expected an integer from 0 to {}", text, maxCount);
    } else {
      values.push_back(value);
    }
    start = end + 1;
  }
}

void TripsReader::checkLoop(LoopId id) {
  const Loop &loop = kernel.loops[id];
  if (loop.kind == LoopKind::Else) {
    return error("an else-branch runs when its condition does not hold; give '{}' 0 or 1 instead",
                 kernel.nameOf(loop.otherBranch));
  }
  if (loop.trip.kind == Trip::Kind::Formula) {
    return checkFormula(id);
  }
  if (loop.trip.condition.valid()) {
    return error("whether branch '{}' is taken follows from 'when \"{}\"'; {}", kernel.nameOf(id),
                 kernel.text(loop.trip.condition), wayToBind(kernel.tiles->conditionOf(id)));
  }
  if (hasEngine && loop.uniform) {
    error("'{}' is uniform, so it runs equally often on all engines; drop '@{}', or make it "
          "divergent in the kernel",
          kernel.nameOf(id), engineName);
  }
  for (uint64_t value : values) {
    checkCount(loop, value);
  }
}

/// Whatever is given, it runs as often as its formula says.
void TripsReader::checkFormula(LoopId id) {
  const BodyTile &formula = kernel.tiles->formulaOf(id);
  error("how often loop '{}' runs follows from 'trips = \"{}\"'; {}", kernel.nameOf(id),
        kernel.text(formula.text), wayToBind(formula));
}

/// Which values what decides about a loop or branch names.
std::string TripsReader::wayToBind(const BodyTile &decides) const {
  std::string names;
  for (RunValueId each : decides.values) {
    if (each.valid()) {
      names += fmt::format("{}'{}'", names.empty() ? "" : ", ", kernel.nameOf(each));
    }
  }
  return names.empty() ? "it needs no number" : "bind " + names;
}

/// One number for the whole run.
void TripsReader::bindValue(Bindings &bindings) {
  const RunValue &bounds = kernel.values[value];
  if (hasEngine || values.size() > 1) {
    return error("'${}' is one number for the whole run and all engines; expected '{}=COUNT'", name,
                 name);
  }
  if (values[0] < bounds.min || values[0] > bounds.max.value_or(maxCount)) {
    return values[0] < bounds.min
               ? error("'${}' is at least {}, not {}", name, bounds.min, values[0])
               : error("'${}' is at most {}, not {}", name, *bounds.max, values[0]);
  }
  if (!given.values.insert(value).second) {
    return error("'${}' is given twice", name);
  }
  bindings.setValue(value, values[0]);
}

/// `once`, `5 times`
static std::string times(uint64_t count) {
  return count == 1 ? "once" : fmt::format("{} times", count);
}

void TripsReader::checkCount(const Loop &loop, uint64_t count) {
  std::string_view loopName = kernel.text(loop.name);
  const Trip &trip = loop.trip;
  if (loop.isBranch() && count > 1) {
    error("branch '{0}' runs once or not at all, not {1} times; '{0}=1,0' takes it at every "
          "second entry",
          loopName, count);
  } else if (!loop.isBranch() && trip.kind == Trip::Kind::Constant && count != trip.constant) {
    error("loop '{}' always runs {}, not {}", loopName, times(trip.constant), times(count));
  } else if (trip.kind == Trip::Kind::Value && count < trip.min) {
    error("loop '{}' runs at least {}, not {}", loopName, times(trip.min), times(count));
  } else if (trip.kind == Trip::Kind::Value && trip.max && count > *trip.max) {
    error("loop '{}' runs at most {}, not {}", loopName, times(*trip.max), times(count));
  }
}

void TripsReader::readInto(Bindings &bindings) {
  split();
  if (!ok) {
    return;
  }
  if (hasEngine) {
    findEngine();
  }
  readCounts();
  if (value.valid()) {
    return ok ? bindValue(bindings) : void();
  }
  for (LoopId loop : loops) {
    checkLoop(loop);
  }
  if (!ok) {
    return;
  }
  for (LoopId loop : loops) {
    if (!given.loops.insert({loop, engine}).second) {
      return error(
          "the trips of '{}' are given twice; for one entry after another, list them: '{}=2,3'",
          name, name);
    }
    bindings.set(loop, values, engine);
  }
}

Bindings Bindings::parse(const Kernel &kernel, std::span<const std::string> trips,
                         std::optional<uint64_t> guardSeed, Diagnostics &diagnostics) {
  Bindings bindings(kernel);
  bindings.guardSeed = guardSeed;
  TripsReader::Given given;
  const Kernel *alone[] = {&kernel};
  for (const std::string &option : trips) {
    TripsReader(kernel, alone, option, given, diagnostics).readInto(bindings);
  }
  return bindings;
}

std::vector<std::vector<std::string>> Bindings::divide(std::span<const Kernel *const> kernels,
                                                       std::span<const std::string> trips,
                                                       Diagnostics &diagnostics) {
  if (kernels.size() == 1) {
    return {{trips.begin(), trips.end()}}; // parse() reports all that is wrong with them
  }
  std::vector<std::vector<std::string>> divided(kernels.size());
  for (const std::string &option : trips) {
    TripsReader::Given none;
    bool isFound = false;
    for (size_t i = 0; i < kernels.size(); ++i) {
      Diagnostics ignored;
      if (TripsReader(*kernels[i], {}, option, none, ignored).isForKernel()) {
        divided[i].push_back(option);
        isFound = true;
      }
    }
    if (!isFound && !kernels.empty()) {
      TripsReader(*kernels[0], kernels, option, none, diagnostics).isForKernel();
    }
  }
  return divided;
}

} // namespace tally
