//===- Machine.cpp - Reads machine descriptions ---------------------------===//
//
// Every number of a description is an object that says where it comes from:
//
//   "semaphores": {"value": 256, "unit": "semaphores",
//                  "source": "...", "confidence": "published"}
//
// Planning reads the few numbers of Machine.h. `parameters` holds the costs, whose
// form, names and units are checked here and whose meaning is Timing's; `facts` holds numbers in
// the same form that nothing reads yet.
//
//===----------------------------------------------------------------------===//

#include "tally/Machine/Machine.h"
#include "tally/Machine/Names.h"

#include "../Support/StrictJson.h"
#include "Formula.h"
#include "Properties.h"
#include "tally/Model/Overlap.h"
#include "tally/Support/Names.h"
#include "tally/Support/ReadFile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <set>
#include <sstream>

namespace tally {

using namespace machines;

static bool changesCompletion(const Queue &queue, const Machine &machine) {
  return machine.completion == Completion::Split && queue.weight > 1 &&
         queue.completion == Completion::Whole;
}

bool changesCompletion(const Kernel &kernel, const Machine &machine) {
  return std::ranges::any_of(kernel.queues,
                             [&](const Queue &queue) { return changesCompletion(queue, machine); });
}

Kernel onMachine(Kernel kernel, const Machine &machine) {
  for (Queue &queue : kernel.queues) {
    queue.completion = changesCompletion(queue, machine) ? Completion::Split : queue.completion;
    queue.addsInOrder = machine.addsInOrder(kernel.nameOf(queue.engine));
  }
  return kernel;
}

static bool isOneOf(const std::vector<std::string> &engines, std::string_view engine) {
  return std::ranges::find(engines, engine) != engines.end();
}

bool Machine::hasEngine(std::string_view engine) const {
  return engines.empty() || isOneOf(engines, engine);
}

bool Machine::addsInOrder(std::string_view engine) const {
  return !sumsInOrder || isOneOf(*sumsInOrder, engine);
}

const MemorySize *Machine::memory(std::string_view space) const {
  auto found = std::ranges::find(memories, space, &MemorySize::space);
  return found == memories.end() ? nullptr : &*found;
}

const Parameter *Machine::parameter(std::string_view parameterName) const {
  auto found = std::lower_bound(
      parameters.begin(), parameters.end(), parameterName,
      [](const Parameter &parameter, std::string_view name) { return parameter.name < name; });
  return found != parameters.end() && found->name == parameterName ? &*found : nullptr;
}

Machine genericMachine() {
  Machine machine;
  machine.name = "generic";
  machine.description = "Any engines, no limits, 32-bit counters whose subtraction stops at zero";
  machine.subtraction = Subtraction::Saturates;
  return machine;
}

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

namespace {

class MachineReader {
public:
  explicit MachineReader(const JsonAt &document) : document(document) {}

  Machine run();

private:
  std::vector<std::string> engines(const JsonAt &list) const;
  void readGroup(std::string_view name);
  void read(const Property &property, const JsonAt &at);
  void memories(const JsonAt &list);
  uint64_t sizeOf(const JsonAt &memory, std::string_view key, uint64_t most);
  void parameters();
  void expectRead(const JsonAt &parameters) const;
  bool parameterForm(const JsonAt &at, std::span<const std::string_view> units);
  void keep(std::string_view name, const JsonAt &at);
  static std::optional<std::pair<double, double>> rangeOf(const JsonAt &at);
  bool numberForm(const JsonAt &at, std::span<const std::string_view> units);

  const JsonAt &document;
  Machine machine;
};

} // namespace

Machine MachineReader::run() {
  document.expectObject({"schema", "version", "name", "description", "engines", "sums_in_order",
                         "issues_transfers", "memories", "limits", "alu", "wait", "queue",
                         "encoding", "parameters", "facts"});
  document.expectSchema("tally-machine", 1, 1);
  std::optional<JsonAt> name = document.need("name");
  machine.name = name ? name->name("machine") : "";
  machine.description = document.stringOr("description", "");
  if (std::optional<JsonAt> list = document.need("engines")) {
    machine.engines = engines(*list);
  }
  if (std::optional<JsonAt> list = document.find("sums_in_order")) {
    machine.sumsInOrder = engines(*list);
  }
  if (std::optional<JsonAt> list = document.find("issues_transfers")) {
    machine.issuesTransfers = engines(*list);
  }
  if (std::optional<JsonAt> list = document.find("memories")) {
    memories(*list);
  }
  for (std::string_view group : {"limits", "alu", "wait", "queue", "encoding"}) {
    readGroup(group);
  }
  parameters();
  return std::move(machine);
}

std::vector<std::string> MachineReader::engines(const JsonAt &list) const {
  std::vector<std::string> names;
  for (size_t i = 0; list.expectArray() && i < list.size(); ++i) {
    JsonAt engine = list[i];
    std::string name = engine.name("engine");
    if (engine.isString() && isOneOf(names, name)) {
      engine.error(fmt::format("the engine '{}' is listed twice", name));
    } else if (engine.isString() && !machine.hasEngine(name)) {
      engine.error(fmt::format("machine '{}' has no engine '{}', only {}", machine.name, name,
                               fmt::join(machine.engines, ", ")));
    }
    names.push_back(std::move(name));
  }
  return names;
}

void MachineReader::memories(const JsonAt &list) {
  if (!list.expectObject()) {
    return;
  }
  list.forMembers([&](std::string_view space, const JsonAt &at) {
    if (space.empty()) {
      at.error("the name of a memory must not be empty");
    } else if (at.expectObject({"partitions", "bytes"})) {
      machine.memories.push_back({std::string(space), sizeOf(at, "partitions", maxPartitions),
                                  sizeOf(at, "bytes", maxMemory)});
    }
  });
}

/// Of partitions, or of each of them.
uint64_t MachineReader::sizeOf(const JsonAt &memory, std::string_view key, uint64_t most) {
  std::optional<JsonAt> at = memory.need(key);
  return at && numberForm(*at, std::span(&key, 1)) ? at->find("value")->unsignedIn(1, most) : 1;
}

/// Whether this is a number with its origin, in one of `units`; none: in any. What "value" holds is
/// not looked at, but that a number lies in its range.
bool MachineReader::numberForm(const JsonAt &at, std::span<const std::string_view> units) {
  if (!at.expectObject({"value", "unit", "source", "confidence", "range", "note"})) {
    return false;
  }
  if (std::optional<JsonAt> unit = at.need("unit")) {
    units.empty() ? void(unit->string()) : void(unit->oneOf(units));
  }
  if (std::optional<JsonAt> source = at.need("source")) {
    source->string();
  }
  if (std::optional<JsonAt> confidence = at.need("confidence")) {
    confidence->oneOf({"published", "measured", "derived", "estimate"});
  }
  at.stringOr("note", "");
  std::optional<JsonAt> value = at.need("value");
  if (std::optional<JsonAt> range = at.find("range")) {
    auto likely = rangeOf(*range);
    if (!likely) {
      range->error("expected the smallest and the largest likely value, as [0.5, 2]");
    } else if (value && value->isNumber() &&
               (value->real() < likely->first || value->real() > likely->second)) {
      range->error("the value does not lie in its range");
    }
  }
  return value.has_value();
}

/// `[0.5, 2]`
std::optional<std::pair<double, double>> MachineReader::rangeOf(const JsonAt &at) {
  if (!at.isArray() || at.size() != 2 || !at[0].isNumber() || !at[1].isNumber() ||
      at[1].real() < at[0].real()) {
    return std::nullopt;
  }
  return std::pair(at[0].real(), at[1].real());
}

/// The properties of one group, which has no other members. That of queues is optional, because
/// most machines overlap.
void MachineReader::readGroup(std::string_view name) {
  const bool isOfQueues = name == "queue";
  std::optional<JsonAt> group = isOfQueues ? document.find(name) : document.need(name);
  std::vector<std::string_view> keys;
  for (const Property &property : properties()) {
    if (property.group == name) {
      keys.push_back(property.key);
    }
  }
  if (!group || !group->expectObject(keys)) {
    return;
  }
  for (const Property &property : properties()) {
    bool isOptional = isOfQueues && (property.key == "completion" || group->find("completion"));
    std::optional<JsonAt> at = property.group != name ? std::nullopt
                               : isOptional           ? group->find(property.key)
                                                      : group->need(property.key);
    if (at) {
      read(property, *at);
    }
  }
}

/// Numbers say where they come from, words do not.
void MachineReader::read(const Property &property, const JsonAt &at) {
  if (!property.isNumber()) {
    bool isTruth = property.words[1] == "true";
    property.store(machine,
                   static_cast<uint32_t>(isTruth ? at.boolean() : at.oneOf(property.words)));
  } else if (numberForm(at, std::span(&property.unit, 1))) {
    JsonAt value = *at.find("value");
    bool isNone = property.mayBeNone && value.isNull();
    property.store(machine, isNone ? std::nullopt
                                   : std::optional(static_cast<uint32_t>(
                                         value.unsignedIn(property.least, property.most))));
  }
}

/// What Timing takes parameters of such a name in, those that formulas alone read last.
static std::span<const std::string_view> unitsOf(std::string_view parameter) {
  static constexpr std::array<std::string_view, 10> ofWork{
      "ps",          "ns",          "us",          "ms",          "cycles",
      "transfer ps", "transfer ns", "transfer us", "transfer ms", "transfer cycles"};
  static constexpr std::string_view ofClocks = "GHz", ofQueues = "instructions",
                                    ofTransfers = "transfers";
  auto is = [&](std::string_view name) {
    return parameter == name || (parameter.starts_with(name) && parameter[name.size()] == '.');
  };
  if (is("ctl") || is("sem")) {
    return std::span(ofWork).first(4);
  }
  if (is("cost") || is("issue") || is("startup") || is("latency")) {
    return ofWork;
  }
  return is("clock")                  ? std::span(&ofClocks, 1)
         : parameter == "queue.depth" ? std::span(&ofQueues, 1)
         : parameter == "dma.depth"   ? std::span(&ofTransfers, 1)
                                      : std::span<const std::string_view>();
}

void MachineReader::parameters() {
  for (std::string_view key : {"parameters", "facts"}) {
    std::optional<JsonAt> numbers = document.find(key);
    if (!numbers || !numbers->expectObject()) {
      continue;
    }
    bool isRead = key == "parameters";
    numbers->forMembers([&](std::string_view name, const JsonAt &at) {
      if (parameterForm(at, isRead ? unitsOf(name) : unitsOf("")) && isRead) {
        keep(name, at);
      }
    });
    if (isRead) {
      expectRead(*numbers);
    }
  }
}

/// A slip in the name of a parameter would else give another price than was meant.
void MachineReader::expectRead(const JsonAt &parameters) const {
  std::set<std::string, std::less<>> inFormulas;
  for (const Parameter &parameter : machine.parameters) {
    for (std::string_view rest = parameter.formula; !rest.empty();) {
      std::string_view name = takeName(rest);
      name.empty() ? rest.remove_prefix(1) : void(inFormulas.emplace(name));
    }
  }
  parameters.forMembers([&](std::string_view name, const JsonAt &at) {
    bool isClock = name.starts_with("clock.");
    if (isClock && !machine.hasEngine(name.substr(6))) {
      at.error(unknownName("engine", "engines of this machine", name.substr(6),
                           {machine.engines.begin(), machine.engines.end()}));
    } else if (!isClock && !isTimingParameter(name) && !inFormulas.contains(name)) {
      at.error("nothing reads this parameter, and no formula names it; what is there for readers "
               "alone belongs to 'facts'");
    }
  });
}

/// A cost: a number, a formula, a few numbers, or a curve.
bool MachineReader::parameterForm(const JsonAt &at, std::span<const std::string_view> units) {
  if (!numberForm(at, units)) {
    return false;
  }
  size_t errorsBefore = at.numErrors();
  JsonAt value = *at.find("value");
  if (value.isString()) {
    value.string(); // reports that it is empty
  }
  bool isLegal = value.isNumber() || value.isString();
  if (value.isArray() || value.isObject()) {
    isLegal = value.size() != 0;
    value.forMembers([&](std::string_view, const JsonAt &number) { isLegal &= number.isNumber(); });
  }
  if (!isLegal) {
    value.error("expected a number, a formula in quotes, or numbers in an array or object");
  }
  return at.numErrors() == errorsBefore;
}

/// Members come in the order of their names. Curves and lists are for people. Only numbers that
/// formulas alone read may be negative.
void MachineReader::keep(std::string_view name, const JsonAt &at) {
  Parameter parameter;
  parameter.name = name;
  parameter.unit = at.stringOr("unit", "");
  parameter.source = at.stringOr("source", "");
  parameter.confidence = at.stringOr("confidence", "");
  JsonAt value = *at.find("value");
  if (value.isNumber()) {
    parameter.number = value.real();
    if (parameter.number < 0 && !unitsOf(name).empty()) {
      value.error(fmt::format("expected a number of at least 0, found {}", parameter.number));
    }
  } else if (value.isString()) {
    parameter.formula = value.string();
    if (std::string problem = noFormula(parameter.formula); !problem.empty()) {
      value.error(problem);
    }
  } else {
    return;
  }
  std::optional<JsonAt> range = at.find("range");
  parameter.range = range ? rangeOf(*range) : std::nullopt;
  machine.parameters.push_back(std::move(parameter));
}

MachineResult parseMachine(std::string_view json, std::string_view source) {
  JsonErrors errors;
  MachineResult result;
  result.files = {std::string(source)};
  result.machine = readJson(json, errors, [](const JsonAt &root) {
    return root.expectObject() ? MachineReader(root).run() : Machine();
  });
  reportJsonErrors(errors, result.errors);
  return result;
}

//===----------------------------------------------------------------------===//
// Finding
//===----------------------------------------------------------------------===//

/// Where machines are installed with the program or library at `path`: a few folders up, whatever
/// the names of the folders in between (bin, lib/x86_64-linux-gnu).
static std::string installedWith(const std::filesystem::path &path) {
  std::filesystem::path folder = path.parent_path();
  for (int up = 0; up < 3 && folder.has_relative_path(); ++up) {
    folder = folder.parent_path();
    std::error_code failure;
    if (std::filesystem::is_directory(folder / "share/tally/machines", failure)) {
      return (folder / "share/tally/machines").string();
    }
  }
  return "";
}

/// This program, and the shared library that this is a part of, if it is.
static std::vector<std::filesystem::path> ownFiles() {
  std::vector<std::filesystem::path> files;
  std::error_code failure;
  files.push_back(std::filesystem::read_symlink("/proc/self/exe", failure));
  Dl_info info{};
  if (dladdr(reinterpret_cast<void *>(&ownFiles), &info) != 0 && info.dli_fname) {
    files.push_back(std::filesystem::absolute(info.dli_fname, failure));
  }
  return files;
}

/// The directories of machines, best first. A program that has machines with it uses no others,
/// wherever it was moved to; a build has its sources' there by a link. Other programs that this
/// library is a part of use those that were installed with the library.
static std::vector<std::string> machineDirectories() {
  std::vector<std::string> directories;
  const char *variable = std::getenv("TALLY_MACHINES");
  std::istringstream list(variable ? variable : "");
  for (std::string directory; std::getline(list, directory, ':');) {
    directories.push_back(directory);
  }
  std::vector<std::string> own;
  for (const std::filesystem::path &file : ownFiles()) {
    std::string directory = installedWith(file);
    if (std::ranges::find(own, directory) == own.end()) {
      own.push_back(std::move(directory));
    }
  }
  std::erase(own, "");
  if (own.empty()) {
    own.emplace_back(TALLY_INSTALL_MACHINES);
  }
  directories.insert(directories.end(), own.begin(), own.end());
  std::erase(directories, "");
  return directories;
}

/// The names of all machines there, sorted.
static std::vector<std::string> machineNames(const std::vector<std::string> &directories) {
  std::set<std::string> names{"generic"};
  for (const std::string &directory : directories) {
    std::error_code failure;
    for (const auto &entry : std::filesystem::directory_iterator(directory, failure)) {
      if (entry.path().extension() == ".json") {
        names.insert(entry.path().stem().string());
      }
    }
  }
  return {names.begin(), names.end()};
}

static bool isFile(const std::filesystem::path &path) {
  std::error_code failure;
  return std::filesystem::is_regular_file(path, failure);
}

static MachineResult noMachine(std::string reason) {
  MachineResult result;
  result.errors.error({}, std::move(reason));
  return result;
}

/// A slip in the name, or a file that is missing.
static MachineResult noMachineNamed(const std::string &name,
                                    const std::vector<std::string> &directories) {
  std::vector<std::string> known = machineNames(directories);
  MachineResult result;
  result.errors.error({}, unknownName("machine", "machines", name, {known.begin(), known.end()}))
      .note({}, fmt::format("there is no '{}.json' in '{}'; the path of a description will do, too",
                            name, fmt::join(directories, "', '")));
  return result;
}

static MachineResult readMachine(const std::string &path) {
  FileText file = readFile(path, machineInput);
  return file.problem.empty()
             ? parseMachine(file.text, path)
             : noMachine(
                   fmt::format("cannot read the machine description '{}': {}", path, file.problem));
}

static bool isPath(std::string_view name) {
  return name.find('/') != std::string_view::npos || name.ends_with(".json");
}

MachineResult loadMachine(std::string_view nameOrPath) {
  std::string name(nameOrPath);
  if (isPath(name)) {
    return readMachine(name);
  }
  std::vector<std::string> directories = machineDirectories();
  for (const std::string &directory : directories) {
    std::filesystem::path path = std::filesystem::path(directory) / (name + ".json");
    if (isFile(path)) {
      return readMachine(path.string());
    }
  }
  if (name == "generic") {
    MachineResult generic;
    generic.machine = genericMachine();
    return generic;
  }
  return noMachineNamed(name, directories);
}

UsualMachine usualMachine(std::span<const std::string_view> engines) {
  MachineResult trn2 = loadMachine("trn2");
  for (std::string_view engine : engines) {
    if (trn2.machine &&
        std::ranges::find(trn2.machine->engines, engine) == trn2.machine->engines.end()) {
      return {loadMachine("teaching"), fmt::format("trn2 has no engine '{}'", engine)};
    }
  }
  return {std::move(trn2), "it has all engines of the kernel"};
}

std::vector<std::string> machineNames() {
  return machineNames(machineDirectories());
}

} // namespace tally
