//===- Timing.cpp - What each operation costs, in picoseconds -------------===//

#include "tally/Machine/Timing.h"

#include "Formula.h"
#include "Properties.h"
#include "tally/Machine/Costs.h"
#include "tally/Support/Names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

namespace tally {

using namespace machines;

//===----------------------------------------------------------------------===//
// Units
//===----------------------------------------------------------------------===//

namespace {

struct Unit {
  std::string_view name;
  char quantity; ///< units of one quantity can be converted
  double factor;
};

constexpr std::array units{Unit{"ps", 't', 1e-3}, Unit{"ns", 't', 1},     Unit{"us", 't', 1e3},
                           Unit{"ms", 't', 1e6},  Unit{"GHz", 'f', 1},    Unit{"MHz", 'f', 1e-3},
                           Unit{"GB/s", 'b', 1},  Unit{"TB/s", 'b', 1e3}, Unit{"B/ns", 'b', 1}};

const Unit *unitOf(std::string_view name) {
  auto found = std::ranges::find(units, name, &Unit::name);
  return found != units.end() ? &*found : nullptr;
}

/// Nanoseconds as picoseconds; nothing if that is no span of time.
std::optional<Tick> ticksOf(double nanoseconds) {
  double ticks = std::nearbyint(nanoseconds * 1000);
  if (!(ticks >= 0 && ticks <= double(maxSpan))) {
    return std::nullopt;
  }
  return static_cast<Tick>(ticks);
}

/// A number of this unit as picoseconds; nothing if that is no span of time.
std::optional<Tick> ticksOf(double number, std::string_view unitName) {
  const Unit *unit = unitOf(unitName);
  return unit && unit->quantity == 't' ? ticksOf(number * unit->factor) : std::nullopt;
}

} // namespace

std::optional<Tick> parseTime(std::string_view text) {
  std::optional<double> number = takeNumber(text);
  const Unit *unit = unitOf(text);
  if (!number || !unit || unit->quantity != 't') {
    return std::nullopt;
  }
  double ticks = std::nearbyint(*number * unit->factor * 1000);
  constexpr double exact = 9e15; // beyond, a double skips whole numbers
  return ticks >= 0 && ticks <= exact ? std::optional(static_cast<Tick>(ticks)) : std::nullopt;
}

std::string timeText(Tick tick) {
  return fmt::format("{}.{:03} us", tick / 1'000'000, tick % 1'000'000 / 1000);
}

std::string unknownParameter(const Machine &machine, std::string_view name) {
  if (findProperty(name)) {
    return fmt::format("'{}' is not a price, so it cannot be swept; --set changes it for one run",
                       name);
  }
  std::vector<std::string_view> known;
  for (const Parameter &parameter : machine.parameters) {
    known.push_back(parameter.name);
  }
  std::vector<std::string> names;
  for (const Property &property : properties()) {
    names.push_back(property.name());
  }
  known.insert(known.end(), names.begin(), names.end());
  return unknownName("parameter", fmt::format("parameters of machine '{}'", machine.name), name,
                     known);
}

std::vector<std::string> endsOfRanges(const Machine &machine) {
  std::vector<std::string> settings;
  for (const Parameter &parameter : machine.parameters) {
    if (parameter.range) {
      for (double end : {parameter.range->first, parameter.range->second}) {
        settings.push_back(fmt::format("{}={}", parameter.name, end));
      }
    }
  }
  return settings;
}

std::string setParameter(Machine &machine, std::string_view assignment) {
  size_t equals = assignment.find('=');
  if (equals == std::string_view::npos) {
    return fmt::format("'{}' sets nothing; write it as 'ctl.alu=40ns'", assignment);
  }
  std::string_view name = assignment.substr(0, equals);
  std::string_view rest = assignment.substr(equals + 1);
  if (const Property *property = findProperty(name)) {
    return setProperty(machine, *property, rest);
  }
  if (!machine.parameter(name)) {
    return unknownParameter(machine, name);
  }
  Parameter &parameter =
      machine.parameters[static_cast<size_t>(machine.parameter(name) - machine.parameters.data())];
  std::string_view formula = rest;
  std::optional<double> number = takeNumber(rest);
  const Unit *own = unitOf(parameter.unit);
  const Unit *given = unitOf(rest);
  bool fits =
      rest.empty() || rest == parameter.unit || (own && given && own->quantity == given->quantity);
  if (!parameter.formula.empty() && !(number && fits)) {
    parameter.formula = formula;
    return formula.empty() ? fmt::format("'{}' needs a formula or a number", name)
                           : noFormula(formula);
  }
  if (!number || !fits) {
    return fmt::format("'{}' is not a value of '{}', which is a number of {}",
                       assignment.substr(equals + 1), name, parameter.unit);
  }
  parameter.formula.clear();
  parameter.number =
      rest.empty() || rest == parameter.unit ? *number : *number * given->factor / own->factor;
  return "";
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

static std::optional<Operation::Size> takeSize(std::string_view &text) {
  skipSpaces(text);
  Operation::Size size;
  size.name = takeName(text);
  if (size.name.empty() || !text.starts_with('=')) {
    return std::nullopt;
  }
  text.remove_prefix(1);
  std::optional<double> number = takeNumber(text);
  if (!number) {
    return std::nullopt;
  }
  size.number = *number;
  size.unit = takeName(text);
  skipSpaces(text);
  return size;
}

/// Sizes that are times, and what they take the place of; the others are mere numbers.
static constexpr std::array<std::pair<std::string_view, Tick InstrCost::*>, 3> timeSizes{
    {{"interval", &InstrCost::interval},
     {"duration", &InstrCost::duration},
     {"issue", &InstrCost::issue}}};

/// The time that a size gives; null if it is a mere number.
static Tick InstrCost::*timeGivenBy(std::string_view size) {
  const auto *found = std::ranges::find(timeSizes, size, &decltype(timeSizes)::value_type::first);
  return found != timeSizes.end() ? found->second : nullptr;
}

/// What is wrong with the unit of a size; empty if nothing is.
static std::string unitProblem(const Operation::Size &size) {
  if (size.unit.empty()) {
    return "";
  }
  if (!timeGivenBy(size.name)) {
    return fmt::format("'{}' is a number in digits, and '{}' follows it", size.name, size.unit);
  }
  const Unit *unit = unitOf(size.unit);
  bool isTime = size.unit == "cycles" || (unit && unit->quantity == 't');
  return isTime ? ""
                : fmt::format("'{}' is in ps, ns, us, ms or cycles, not in '{}'", size.name,
                              size.unit);
}

std::optional<Operation> parseOperation(std::string_view text, std::string &error) {
  Operation operation;
  size_t bracket = text.find('(');
  operation.name = text.substr(0, bracket);
  if (operation.name.find('=') != std::string::npos) {
    error = fmt::format("the operation '{}' is not understood; its sizes are written in "
                        "parentheses, as in 'copy(n=512, bytes=64)'",
                        text);
    return std::nullopt;
  }
  if (bracket == std::string_view::npos) {
    return operation;
  }
  std::string_view rest = text.substr(bracket);
  do {
    rest.remove_prefix(1);
    std::optional<Operation::Size> size = takeSize(rest);
    if (!size) {
      error = fmt::format("the operation '{}' is not understood; its sizes are written as in "
                          "'copy(n=512, bytes=64)'",
                          text);
      return std::nullopt;
    }
    if (std::string problem = unitProblem(*size); !problem.empty()) {
      error = fmt::format("the operation '{}' is not understood: {}", text, problem);
      return std::nullopt;
    }
    operation.sizes.push_back(std::move(*size));
  } while (rest.starts_with(','));
  if (rest != ")") {
    error = fmt::format("the operation '{}' does not end in ')'", text);
    return std::nullopt;
  }
  return operation;
}

//===----------------------------------------------------------------------===//
// Timing
//===----------------------------------------------------------------------===//

namespace {

/// What one operation of a sequencer, or one step of a semaphore, takes.
struct Price {
  std::string_view name;
  Tick Timing::*field;
  bool isSync;             ///< of what synchronises, as opposed to loops and issuing
  bool isOptional = false; ///< 0 if the machine does not say it
};

constexpr std::array prices{Price{"ctl.dispatch", &Timing::dispatch, false},
                            Price{"ctl.alu", &Timing::alu, true},
                            Price{"ctl.loop_begin", &Timing::loopBegin, false},
                            Price{"ctl.loop_end", &Timing::loopEnd, false},
                            Price{"ctl.branch", &Timing::branch, false},
                            Price{"ctl.wait", &Timing::wait, true},
                            Price{"ctl.carried", &Timing::carried, true, /*isOptional=*/true},
                            Price{"ctl.signal", &Timing::signal, true},
                            Price{"ctl.reset", &Timing::reset, true},
                            Price{"ctl.drain", &Timing::drain, true},
                            Price{"sem.visible", &Timing::visible, true},
                            Price{"sem.wake", &Timing::wake, true},
                            Price{"sem.spacing", &Timing::spacing, true}};

/// `cost.add` is what `add` costs; nothing, if a parameter is not about operations.
std::optional<std::string_view> operationOf(std::string_view parameter) {
  for (std::string_view prefix : {"cost.", "issue.", "startup.", "latency."}) {
    if (parameter.starts_with(prefix)) {
      return parameter.substr(prefix.size());
    }
  }
  return parameter == "latency" ? std::optional<std::string_view>("") : std::nullopt;
}

/// Reads what every machine must say.
class TimingReader {
public:
  TimingReader(const Machine &machine, std::vector<std::string> &errors)
      : machine(machine), errors(errors) {}

  void span(std::string_view name, Tick &ticks) {
    if (const Parameter *parameter = need(name)) {
      std::optional<Tick> read = ticksOf(parameter->number, parameter->unit);
      if (!read || !parameter->formula.empty()) {
        bad(name, "a time from 0 to 0.1 s, in ps, ns, us or ms");
      }
      ticks = read.value_or(0);
    }
  }

  void count(std::string_view name, uint32_t &number) {
    const Parameter *parameter = need(name);
    if (!parameter) {
      return;
    }
    double value = parameter->formula.empty() ? parameter->number : 0;
    if (!(value >= 1 && value <= 1 << 16) || value != std::floor(value)) {
      bad(name, "a whole number from 1 to 65536");
      return;
    }
    number = static_cast<uint32_t>(value);
  }

  void clocks() {
    for (const Parameter &parameter : machine.parameters) {
      bool isClock = parameter.name == "clock" || parameter.name.starts_with("clock.");
      if (isClock && (!parameter.formula.empty() || !(parameter.number > 0))) {
        bad(parameter.name, "a positive number of GHz");
      }
    }
    need("clock");
    need("latency");
    need("cost.default");
  }

  void finish() {
    if (!missing.empty()) {
      errors.push_back(fmt::format("machine '{}' does not say how long things take: it has no {}; "
                                   "'teaching' and 'trn2' have",
                                   machine.name, fmt::join(missing, ", ")));
    }
  }

private:
  const Parameter *need(std::string_view name) {
    const Parameter *parameter = machine.parameter(name);
    if (!parameter) {
      missing.push_back(fmt::format("'{}'", name));
    }
    return parameter;
  }

  void bad(std::string_view name, std::string_view expected) {
    errors.push_back(
        fmt::format("parameter '{}' of machine '{}' must be {}", name, machine.name, expected));
  }

  const Machine &machine;
  std::vector<std::string> &errors;
  std::vector<std::string> missing;
};

} // namespace

bool machines::isTimingParameter(std::string_view name) {
  constexpr std::array<std::string_view, 3> others{"queue.depth", "dma.depth", "clock"};
  return operationOf(name) || std::ranges::find(prices, name, &Price::name) != prices.end() ||
         std::ranges::find(others, name) != others.end();
}

std::optional<Timing> Timing::of(const Machine &machine, std::vector<std::string> &errors) {
  Timing timing(machine);
  size_t errorsBefore = errors.size();
  TimingReader reader(machine, errors);
  for (const Price &price : prices) {
    if (!price.isOptional || machine.parameter(price.name)) {
      reader.span(price.name, timing.*price.field);
    }
  }
  reader.count("queue.depth", timing.queueDepth);
  reader.count("dma.depth", timing.transferDepth);
  reader.clocks();
  reader.finish();
  return errors.size() == errorsBefore ? std::optional(timing) : std::nullopt;
}

Timing Timing::withFreeSync() const {
  Timing free = *this;
  for (const Price &price : prices) {
    free.*price.field = price.isSync ? 0 : free.*price.field;
  }
  return free;
}

namespace {

/// The names in a formula that are formulas themselves, the first of them.
const Parameter *firstNested(const Machine &machine, const Parameter &parameter) {
  const Parameter *first = nullptr;
  auto lookup = [&](std::string_view name) -> std::optional<double> {
    const Parameter *known = machine.parameter(name);
    first = first || !known || known->formula.empty() ? first : known;
    return 1;
  };
  std::string ignored;
  evaluateFormula(parameter.formula, lookup, ignored);
  return first;
}

/// A formula names numbers only. If it names formulas, then perhaps in a circle.
std::string nestingText(const Machine &machine, const Parameter &parameter) {
  constexpr size_t longestShown = 10;
  std::vector<std::string> way{parameter.name};
  const Parameter *next = firstNested(machine, parameter);
  std::string named = next->name;
  for (; next && way.size() < longestShown; next = firstNested(machine, *next)) {
    way.push_back(next->name);
    if (next == &parameter) {
      return fmt::format("formulas name one another in a circle: {}", fmt::join(way, " -> "));
    }
  }
  return fmt::format("{} = '{}': '{}' is a formula itself; a formula names numbers and sizes",
                     parameter.name, parameter.formula, named);
}

/// Makes the cost of one operation on one engine.
class CostReader {
public:
  CostReader(const Machine &machine, std::string_view engine, const Operation &operation,
             std::vector<std::string> &errors)
      : machine(machine), engine(engine), operation(operation), errors(errors) {
    const Parameter *own = machine.parameter(fmt::format("clock.{}", engine));
    clock = (own ? own : machine.parameter("clock"))->number;
  }

  InstrCost run(Tick dispatch) {
    const Parameter *issue = byOperation("issue");
    const Parameter *startup = byOperation("startup");
    InstrCost cost;
    cost.issue = issue ? ticks(*issue, value(*issue)) : 0;
    cost.dispatch = issue ? 0 : dispatch;
    cost.startup = startup ? ticks(*startup, value(*startup)) : 0;
    const Parameter *latency = byOperation("latency");
    latency = latency ? latency : machine.parameter(fmt::format("latency.{}", engine));
    latency = latency ? latency : machine.parameter("latency");
    work(cost, ticks(*latency, value(*latency)));
    overrides(cost);
    return cost;
  }

  /// Of all that were given, those that nothing has asked for.
  std::vector<std::string> idleSizes() const {
    std::vector<std::string> idle;
    for (const Operation::Size &size : operation.sizes) {
      if (!asked.contains(size.name)) {
        idle.push_back(size.name);
      }
    }
    return idle;
  }

  /// As far as that reports errors.
  void tryOut(const Parameter &parameter) { ticks(parameter, value(parameter)); }

private:
  /// `prefix.a.b`, else `prefix.a`, for the operation `a.b`.
  const Parameter *byOperation(std::string_view prefix) const {
    std::string_view name = operation.name;
    while (!name.empty()) {
      if (const Parameter *found = machine.parameter(fmt::format("{}.{}", prefix, name))) {
        return found;
      }
      size_t dot = name.rfind('.');
      name = name.substr(0, dot == std::string_view::npos ? 0 : dot);
    }
    return nullptr;
  }

  const Operation::Size *size(std::string_view name) const {
    asked.emplace(name);
    auto found = std::ranges::find(operation.sizes, name, &Operation::Size::name);
    return found != operation.sizes.end() ? &*found : nullptr;
  }

  double value(const Parameter &parameter, bool withFloor = true) const {
    if (parameter.formula.empty()) {
      return parameter.number;
    }
    bool isNested = false;
    auto lookup = [&](std::string_view name) -> std::optional<double> {
      if (name == "min_ii" && !withFloor) {
        return 0;
      }
      if (const Operation::Size *given = size(name)) {
        return given->number;
      }
      const Parameter *known = machine.parameter(name);
      isNested |= known && !known->formula.empty();
      return known && known->formula.empty() ? std::optional(known->number) : std::nullopt;
    };
    std::string error;
    std::optional<double> result = evaluateFormula(parameter.formula, lookup, error);
    if (isNested) {
      fail(nestingText(machine, parameter));
    } else if (!result) {
      fail(fmt::format("{} = '{}': {}{}", parameter.name, parameter.formula, error, wayOut(error)));
    }
    return result.value_or(0);
  }

  /// How to write the size that a formula lacks; empty if the machine is wrong.
  std::string wayOut(std::string_view error) const {
    size_t end = error.rfind("' has no value");
    if (engine.empty() || !error.starts_with('\'') || end == std::string_view::npos) {
      return "";
    }
    std::string given = operation.sizes.empty() ? "" : "; here it has";
    for (const Operation::Size &one : operation.sizes) {
      given += fmt::format("{} '{}'", &one == operation.sizes.data() ? "" : ",", one.name);
    }
    return fmt::format("; write the size in parentheses, as in '{}({}=64)'{}", operation.name,
                       error.substr(1, end - 1), given);
  }

  /// An operation without a size that its formula needs reports it once.
  void fail(const std::string &reason) const {
    std::string message =
        engine.empty() ? reason
                       : fmt::format("operation '{}' on '{}' of machine '{}' has no cost: {}",
                                     operation.name, engine, machine.name, reason);
    if (std::find(errors.begin() + firstError, errors.end(), message) == errors.end()) {
      errors.push_back(std::move(message));
    }
  }

  Tick ticks(const Parameter &parameter, double number) const {
    std::string_view unitName = parameter.unit;
    if (unitName.starts_with("transfer ")) {
      unitName.remove_prefix(9);
    }
    std::optional<Tick> result =
        unitName == "cycles" ? ticksOf(number / clock) : ticksOf(number, unitName);
    if (!result) {
      fail(fmt::format("'{}' gives {} {}, which is not a time from 0 to 0.1 s", parameter.name,
                       number, parameter.unit));
    }
    return result.value_or(0);
  }

  void work(InstrCost &cost, Tick latency) const {
    if (size("interval") && size("duration")) {
      return;
    }
    const Parameter *own = byOperation("cost");
    const Parameter &formula = own ? *own : *machine.parameter("cost.default");
    cost.isAssumed = own == nullptr;
    cost.isTransfer = formula.unit.starts_with("transfer ");
    cost.interval = ticks(formula, value(formula));
    cost.duration = latency;
    if (!cost.isTransfer) {
      cost.duration += ticks(formula, value(formula, /*withFloor=*/false));
    }
  }

  void overrides(InstrCost &cost) const {
    for (const Operation::Size &size : operation.sizes) {
      if (Tick InstrCost::*field = timeGivenBy(size.name)) {
        asked.insert(size.name);
        Parameter given;
        given.name = size.name;
        given.unit = size.unit.empty() ? "cycles" : size.unit;
        cost.*field = ticks(given, size.number);
      }
    }
  }

  const Machine &machine;
  std::string_view engine; ///< empty: just a formula is tried out
  const Operation &operation;
  std::vector<std::string> &errors;
  std::ptrdiff_t firstError = std::ssize(errors);   ///< of this operation
  mutable std::set<std::string, std::less<>> asked; ///< sizes that a formula names, given or not
  double clock = 1;
};

} // namespace

std::optional<InstrCost> Timing::costOf(std::string_view engine, std::string_view text,
                                        std::vector<std::string> &errors) const {
  size_t errorsBefore = errors.size();
  std::string error;
  std::optional<Operation> operation = parseOperation(text, error);
  if (!operation) {
    errors.push_back(std::move(error));
    return std::nullopt;
  }
  InstrCost cost = CostReader(*machine, engine, *operation, errors).run(dispatch);
  if (errors.size() > errorsBefore && operation->sizes.empty() && !operation->name.empty()) {
    // A mere name says what is done, but not how much.
    errors.resize(errorsBefore);
    cost = CostReader(*machine, engine, Operation(), errors).run(dispatch);
  }
  return errors.size() == errorsBefore ? std::optional(cost) : std::nullopt;
}

std::vector<std::string> Timing::idleSizes(std::string_view engine, std::string_view text) const {
  std::vector<std::string> errors;
  std::string ignored;
  std::optional<Operation> operation = parseOperation(text, ignored);
  if (!operation) {
    return {};
  }
  CostReader reader(*machine, engine, *operation, errors);
  return reader.run(dispatch).isAssumed || !errors.empty() ? std::vector<std::string>()
                                                           : reader.idleSizes();
}

std::vector<std::string_view> Timing::operations() const {
  static constexpr std::string_view prefix = "cost.";
  std::vector<std::string_view> names;
  for (const Parameter &parameter : machine->parameters) {
    if (parameter.name.starts_with(prefix) && parameter.name != "cost.default") {
      names.push_back(std::string_view(parameter.name).substr(prefix.size()));
    }
  }
  return names;
}

//===----------------------------------------------------------------------===//
// Formulas
//===----------------------------------------------------------------------===//

namespace {

/// An operation that gives all sizes that the formula asks for, one after the other larger by
/// `step`, so that a difference of two is not zero.
Operation operationFor(const Machine &machine, const Parameter &parameter, std::string_view name,
                       double first, double step) {
  Operation operation{std::string(name), {}};
  auto lookup = [&](std::string_view size) -> std::optional<double> {
    auto known = std::ranges::find(operation.sizes, size, &Operation::Size::name);
    if (known == operation.sizes.end() && !machine.parameter(size)) {
      operation.sizes.push_back({std::string(size), first, ""});
      first += step;
    }
    return 1;
  };
  std::string ignored;
  evaluateFormula(parameter.formula, lookup, ignored);
  return operation;
}

/// Why none of a few operations has this cost.
std::optional<std::string> problemOf(const Machine &machine, const Parameter &parameter,
                                     std::string_view name) {
  constexpr std::array<std::pair<double, double>, 4> sizes{
      {{1, 0}, {64, 0}, {512, 100}, {1000, -10}}};
  std::vector<std::string> errors;
  for (auto [first, step] : sizes) {
    Operation operation = operationFor(machine, parameter, name, first, step);
    size_t errorsBefore = errors.size();
    CostReader(machine, "", operation, errors).tryOut(parameter);
    if (errors.size() == errorsBefore) {
      return std::nullopt;
    }
  }
  return errors.front();
}

} // namespace

std::vector<std::string> formulasWithoutValue(const Machine &machine) {
  std::vector<std::string> problems;
  for (const Parameter &parameter : machine.parameters) {
    std::optional<std::string_view> name = operationOf(parameter.name);
    std::optional<std::string> problem =
        name && !parameter.formula.empty() ? problemOf(machine, parameter, *name) : std::nullopt;
    if (problem) {
      problems.push_back(std::move(*problem));
    }
  }
  return problems;
}

} // namespace tally
