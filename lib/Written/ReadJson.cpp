//===- ReadJson.cpp - Kernels and code from JSON --------------------------===//
//
// Two doors that walk a document, top to bottom, and hand its objects to the resolvers (Resolve.h).
// What an object holds, they take from the list of fields of its struct (Fields.h). A wrong value
// is reported at its place and stays as it was.
//
//===----------------------------------------------------------------------===//

#include "../Support/StrictJson.h"
#include "tally/Written/CodeJson.h"
#include "tally/Written/KernelJson.h"
#include "tally/Written/Resolve.h"

#include <fmt/format.h>

namespace tally {
namespace written {
namespace {

using Files = std::vector<std::string>;
using Keys = std::vector<std::string_view>;

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

template <Struct S> void addKeys(Keys &keys) {
  forEachField<S>([&]<typename T>(const Field<S, T> &field) {
    if constexpr (std::is_same_v<T, QueueData>) {
      addKeys<T>(keys);
    } else if constexpr (std::is_same_v<T, DistanceData>) {
      keys.insert(keys.end(), {"distance", "flat", "element"});
    } else {
      keys.push_back(field.jsonKey());
    }
  });
}

/// Of a struct, and those of what stands inside.
template <Struct S> Keys keysOf(std::initializer_list<std::string_view> more) {
  Keys keys;
  addKeys<S>(keys);
  keys.insert(keys.end(), more);
  return keys;
}

//===----------------------------------------------------------------------===//
// Fields
//===----------------------------------------------------------------------===//

template <Struct S> void readMembers(const JsonAt &at, S &data);

template <typename F> void readValue(const JsonAt &at, const F &, std::string &value) {
  value = at.string();
}

template <typename F> void readValue(const JsonAt &at, const F &field, uint64_t &value) {
  if (field.word && !field.wordAlone && at.isString()) {
    value = field.wordValue;
    if (at.string() != field.word) {
      at.error(fmt::format("{} is '{}'; a number or '{}' is allowed", field.jsonKey(), at.string(),
                           field.word));
    }
    return;
  }
  value = at.unsignedIn(field.min, field.max);
}

template <typename F> void readValue(const JsonAt &at, const F &field, bool &value) {
  value = at.boolean() != field.inverted;
}

template <typename F, typename E>
  requires std::is_enum_v<E>
void readValue(const JsonAt &at, const F &, E &value) {
  std::span<const std::string_view> words = wordsOf(E());
  size_t silent = words.front().empty() ? 1 : 0; // a word that is not written
  value = static_cast<E>(silent + at.oneOf(words.subspan(silent)));
}

template <typename F> void readValue(const JsonAt &at, const F &, Ref &value) {
  value.number = static_cast<uint32_t>(at.unsignedIn(0, UINT32_MAX));
}

template <typename F> void readValue(const JsonAt &at, const F &, OperandData &value) {
  if (!at.expectObject(keysOf<OperandData>({}))) {
    return;
  }
  if (at.find("register").has_value() == at.find("value").has_value()) {
    at.error("expected either 'register' or 'value'");
    return;
  }
  readMembers(at, value);
}

template <typename F, Struct S> void readValue(const JsonAt &at, const F &, S &value) {
  if (at.expectObject(keysOf<S>({}))) {
    readMembers(at, value);
  }
}

/// A number; or {"value": "n", "min": 1, "max": 9}; or {"while": "c"}.
template <typename F> void readValue(const JsonAt &at, const F &, TripData &trip) {
  if (!at.isObject()) {
    trip.trips = at.unsignedIn(0, maxCount);
    return;
  }
  if (std::optional<JsonAt> guard = at.find("while")) {
    at.expectObject({"while"});
    trip.kind = Trip::Kind::Guard;
    trip.symbol = guard->string();
    return;
  }
  at.expectObject({"value", "min", "max"});
  trip.kind = Trip::Kind::Value;
  if (std::optional<JsonAt> symbol = at.need("value")) {
    trip.symbol = symbol->string();
  }
  if (std::optional<JsonAt> min = at.find("min")) {
    trip.min = min->unsignedIn(0, maxCount);
  }
  if (std::optional<JsonAt> max = at.find("max")) {
    trip.max = max->unsignedIn(0, maxCount);
  }
}

template <typename F, typename T>
void readValue(const JsonAt &at, const F &field, std::optional<T> &value) {
  readValue(at, field, value.emplace());
}

template <typename F, typename T>
void readValue(const JsonAt &at, const F &field, std::vector<T> &values) {
  if (!at.expectArray()) {
    return;
  }
  for (size_t i = 0; i < at.size(); ++i) {
    readValue(at[i], field, values.emplace_back());
  }
}

/// The keys `distance`, `flat` and `element` of the object.
static void readDistance(const JsonAt &at, DistanceData &data) {
  std::optional<JsonAt> distance = at.find("distance");
  std::optional<JsonAt> flat = at.find("flat");
  std::optional<JsonAt> element = at.find("element");
  if (distance && distance->expectObject()) {
    distance->forMembers([&](std::string_view loop, const JsonAt &component) {
      data.components.push_back({std::string(loop), component.integer()});
    });
  }
  if (flat && (element || distance)) {
    at.error("'flat' stands alone; drop it, or drop 'distance' and 'element'");
  }
  if (flat || element) {
    data.form = flat ? DistanceForm::Flat : DistanceForm::Element;
    data.step = (flat ? flat : element)->integer();
  }
}

template <Struct S, typename T>
void readMember(const JsonAt &at, const Field<S, T> &field, T &value) {
  if constexpr (std::is_same_v<T, QueueData>) {
    readMembers(at, value);
  } else if constexpr (std::is_same_v<T, DistanceData>) {
    readDistance(at, value);
  } else if (std::optional<JsonAt> member = field.needed || field.neededInJson
                                                ? at.need(field.jsonKey())
                                                : at.find(field.jsonKey())) {
    bool isNothing = (isOptional<T> || std::is_same_v<T, Ref>) && field.always && member->isNull();
    if (!isNothing || field.needed) {
      readValue(*member, field, value);
    }
  }
}

template <Struct S> void readMembers(const JsonAt &at, S &data) {
  forEachField<S>([&](const auto &field) { readMember(at, field, data.*field.member); });
}

//===----------------------------------------------------------------------===//
// Doors
//===----------------------------------------------------------------------===//

/// What both doors do in the same way.
class Door : protected Errors {
protected:
  template <Struct S>
  bool read(const JsonAt &at, S &data, std::initializer_list<std::string_view> more = {});
  void startWith(const JsonAt &at);
  void error(const Spot &spot, std::string message, std::vector<DiagnosticNote> notes) override;

private:
  const JsonAt *current = nullptr; ///< what is being handed over
  bool isSound = true;             ///< whether all of it could be read
};

void Door::startWith(const JsonAt &at) {
  current = &at;
  isSound = true;
}

/// Reads an object into a struct, all of which is set; false if it is none.
template <Struct S>
bool Door::read(const JsonAt &at, S &data, std::initializer_list<std::string_view> more) {
  static const Keys keys = keysOf<S>(more);
  size_t before = at.numErrors();
  startWith(at);
  data = S();
  if (!at.expectObject(keys)) {
    return false;
  }
  readMembers(at, data);
  isSound = at.numErrors() == before;
  return true;
}

/// What is not there, or no item of its list, has been reported before.
void Door::error(const Spot &spot, std::string message, std::vector<DiagnosticNote>) {
  if (spot.key.empty()) {
    return isSound ? current->error(message) : void();
  }
  size_t dot = spot.key.find('.');
  std::optional<JsonAt> outer = current->find(spot.key.substr(0, dot));
  bool isInside = outer && dot != std::string_view::npos;
  std::optional<JsonAt> member = isInside ? outer->find(spot.key.substr(dot + 1)) : outer;
  if (!member) {
    return;
  }
  bool isList = member->isArray() || member->isObject();
  JsonAt at = isList ? (*member)[spot.index] : *member;
  if (member->isObject() || at.isString() || isSound) {
    at.error(message);
  }
}

/// Visits the elements of the array `key`, if it is there, with their places.
template <typename Visit>
void forEach(const JsonAt &object, std::string_view key, Visit visit, bool isNeeded = false) {
  std::optional<JsonAt> array = isNeeded ? object.need(key) : object.find(key);
  if (!array || !array->expectArray()) {
    return;
  }
  for (size_t i = 0; i < array->size(); ++i) {
    visit((*array)[i], i);
  }
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

class KernelDoor : Door {
public:
  KernelDoor(const JsonAt &document, const Files &files) : document(document), resolver(*this) {
    for (const std::string &file : files) {
      resolver.file(file);
    }
  }

  Kernel run();

private:
  Location whereOf(const JsonAt &at);
  template <Struct S> void list(std::string_view key, bool isNeeded = false);
  void body(const JsonAt &object, std::string_view key);
  void statement(const JsonAt &at);
  void loop(const JsonAt &at);
  void branch(const JsonAt &at);

  const JsonAt &document;
  KernelResolver resolver;
};

/// The place that a statement names, or its own.
Location KernelDoor::whereOf(const JsonAt &at) {
  static const Keys keys = keysOf<LocData>({});
  std::optional<JsonAt> loc = at.find("loc");
  if (!loc || !loc->expectObject(keys)) {
    return at.where();
  }
  LocData data;
  readMembers(*loc, data);
  return {resolver.file(data.file), static_cast<uint32_t>(data.line),
          static_cast<uint32_t>(data.column)};
}

/// Declarations, or dependences.
template <Struct S> void KernelDoor::list(std::string_view key, bool isNeeded) {
  forEach(
      document, key,
      [&, data = S()](const JsonAt &at, size_t) mutable {
        if (read(at, data, {"loc"})) {
          resolver.add(data, whereOf(at));
        }
      },
      isNeeded);
}

Kernel KernelDoor::run() {
  KernelData data;
  document.expectObject(
      {"schema", "version", "name", "reserves", "engines", "buffers", "body", "dependences"});
  document.expectSchema("tally-kernel", 1, 2);
  std::optional<JsonAt> name = document.need("name");
  std::string nameText = name ? name->string() : "";
  readMembers(document, data);
  startWith(document);
  resolver.open(nameText, data, document.where());
  list<EngineData>("engines", /*isNeeded=*/true);
  list<BufferData>("buffers");
  body(document, "body");
  list<DepData>("dependences");
  return resolver.finish();
}

/// Nesting is bounded by the parser, so this recursion is.
void KernelDoor::body(const JsonAt &object, std::string_view key) {
  forEach(object, key, [&](const JsonAt &at, size_t) { statement(at); }, /*isNeeded=*/true);
}

void KernelDoor::statement(const JsonAt &at) {
  if (!at.expectObject()) {
    return;
  }
  if (InstrData data; at.find("instr")) {
    read(at, data, {"loc"});
    resolver.add(data, whereOf(at));
  } else if (at.find("loop")) {
    loop(at);
  } else if (at.find("if")) {
    branch(at);
  } else {
    at.error("a statement needs one of the keys 'instr', 'loop' and 'if'");
  }
}

void KernelDoor::loop(const JsonAt &at) {
  LoopData data;
  read(at, data, {"body", "loc"});
  resolver.open(data, whereOf(at));
  body(at, "body");
  resolver.close();
}

void KernelDoor::branch(const JsonAt &at) {
  IfData data;
  read(at, data, {"then", "else", "loc"});
  resolver.open(data, whereOf(at));
  body(at, "then");
  if (at.find("else")) {
    resolver.otherwise();
    body(at, "else");
  }
  resolver.close();
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

class CodeDoor : Door {
public:
  CodeDoor(const Kernel &kernel, const JsonAt &document, uint64_t version)
      : kernel(kernel), document(document), version(version), resolver(kernel, *this) {}

  Code run();

private:
  void machine(const JsonAt &at);
  template <Struct S> void declare(const JsonAt &object, std::string_view key);
  void program(const JsonAt &at);
  void dependence(const JsonAt &at, size_t index) const;
  void operations(const JsonAt &object, std::string_view key);
  void operation(const JsonAt &at);
  template <Struct S> bool readStep(const JsonAt &at, S &data);
  template <Struct S> void step(const JsonAt &at, S data);

  const Kernel &kernel;
  const JsonAt &document;
  uint64_t version;
  CodeResolver resolver;
  CodeData data;
  std::optional<MachineRules> rules;
};

/// Ids are written for the reader's ease; they are places in the list.
void expectId(const JsonAt &object, size_t expected) {
  if (std::optional<JsonAt> id = object.need("id")) {
    id->unsignedIn(expected, expected);
  }
}

std::string text(const JsonAt &object, std::string_view key) {
  std::optional<JsonAt> at = object.need(key);
  return at ? at->string() : "";
}

template <Struct S> void CodeDoor::declare(const JsonAt &object, std::string_view key) {
  auto visit = [&, data = S()](const JsonAt &at, size_t index) mutable {
    if (!read(at, data, {"id"})) {
      return;
    }
    expectId(at, index);
    if constexpr (std::is_same_v<S, BarrierData>) {
      resolver.list(data, at.where());
    } else {
      resolver.add(data, at.where());
    }
  };
  forEach(object, key, visit, /*isNeeded=*/true);
}

Code CodeDoor::run() {
  data.strategy = text(document, "strategy");
  if (std::optional<JsonAt> at = document.need("machine")) {
    machine(*at);
  }
  startWith(document);
  resolver.begin(data, document.where());
  declare<SemaphoreData>(document, "semaphores");
  declare<BarrierData>(document, "barriers");
  forEach(document, "engines", [&](const JsonAt &at, size_t) { program(at); }, /*isNeeded=*/true);
  forEach(document, "dependences", [&](const JsonAt &at, size_t index) { dependence(at, index); });
  Code code = resolver.finish();
  code.rules = rules;
  return code;
}

/// Version 1 has the name alone.
void CodeDoor::machine(const JsonAt &at) {
  if (version == 1 && at.isObject()) {
    at.error("version 1 has the machine's name alone; with its rules it is version 2");
    return;
  }
  if (version == 2 && at.isString()) {
    at.error(R"(version 2 has an object, {"name": ...}; with the name alone it is version 1)");
    return;
  }
  if (version == 1) {
    data.machine = at.string();
    return;
  }
  static const Keys keys = keysOf<RulesData>({"name"});
  if (!at.expectObject(keys)) {
    return;
  }
  data.machine = text(at, "name");
  if (at.size() > 1) { // all of the rules, or none
    RulesData read;
    readMembers(at, read);
    rules = {static_cast<uint32_t>(read.counterBits), read.subtraction, read.waitCompare,
             read.queueOverlap, read.completion};
  }
}

void CodeDoor::program(const JsonAt &at) {
  ProgramData data;
  if (read(at, data, {"registers", "code"}) && resolver.open(data, at.where())) {
    declare<RegisterData>(at, "registers");
    operations(at, "code");
  }
}

void CodeDoor::dependence(const JsonAt &at, size_t index) const {
  if (!at.expectObject({"id", "producer", "consumer"})) {
    return;
  }
  expectId(at, index);
  if (index >= kernel.deps.size()) {
    at.error(fmt::format("the kernel has only {} dependences", kernel.deps.size()));
    return;
  }
  const Dep &dep = kernel.deps[DepId(static_cast<uint32_t>(index))];
  if (text(at, "producer") != kernel.nameOf(dep.producer) ||
      text(at, "consumer") != kernel.nameOf(dep.consumer)) {
    at.error(fmt::format("the kernel's dependence {} is '{}' -> '{}'", index,
                         kernel.nameOf(dep.producer), kernel.nameOf(dep.consumer)));
  }
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// Nesting is bounded by the parser, so this recursion is.
void CodeDoor::operations(const JsonAt &object, std::string_view key) {
  forEach(
      object, key,
      [&](const JsonAt &at, size_t) {
        if (at.expectObject()) {
          operation(at);
        }
      },
      /*isNeeded=*/true);
}

void CodeDoor::operation(const JsonAt &at) {
  static const Keys words = [] {
    Keys all;
    forSteps([&]<Struct S>(const S &) { all.push_back(S::jsonWord); });
    return all;
  }();
  std::optional<JsonAt> name = at.need("op");
  size_t before = at.numErrors();
  size_t wanted = name ? name->oneOf(words) : words.size();
  size_t number = 0;
  forSteps([&](auto data) {
    if (number++ == wanted && at.numErrors() == before) {
      step(at, std::move(data));
    }
  });
}

/// Waits and signals stand in an object of their own, as they do in an instruction.
template <Struct S> bool CodeDoor::readStep(const JsonAt &at, S &data) {
  if constexpr (std::is_same_v<S, BarrierData>) {
    std::optional<JsonAt> number =
        at.expectObject({"op", "barrier", "body"}) ? at.need("barrier") : std::nullopt;
    data.number = number ? static_cast<uint32_t>(number->unsignedIn(0, UINT32_MAX)) : 0;
    return true;
  } else if constexpr (std::is_same_v<S, WaitData> || std::is_same_v<S, SignalData>) {
    startWith(at);
    at.expectObject({"op", S::jsonWord});
    std::optional<JsonAt> inside = at.need(S::jsonWord);
    if (inside) {
      readValue(*inside, field("", &IssueData::wait), data);
    }
    return inside.has_value();
  } else if constexpr (std::is_same_v<S, BranchData>) {
    return read(at, data, {"op", "then", "else"});
  } else if constexpr (hasBody<S>) {
    return read(at, data, {"op", "body"});
  } else {
    return read(at, data, {"op"});
  }
}

template <Struct S> void CodeDoor::step(const JsonAt &at, S data) {
  if (!readStep(at, data)) {
    return;
  }
  if constexpr (!hasBody<S>) {
    resolver.add(data, at.where());
  } else {
    constexpr bool isBranch = std::is_same_v<S, BranchData>;
    resolver.open(data, at.where());
    operations(at, isBranch ? "then" : "body");
    if (isBranch && at.find("else")) {
      resolver.otherwise();
      operations(at, "else");
    }
    resolver.close();
  }
}

} // namespace
} // namespace written

//===----------------------------------------------------------------------===//
// Documents
//===----------------------------------------------------------------------===//

static Kernel readKernel(const JsonAt &document, const written::Files &files) {
  return document.expectObject() ? written::KernelDoor(document, files).run() : Kernel();
}

std::optional<Kernel> readKernelJson(std::string_view text, std::string_view fileName,
                                     Diagnostics &diagnostics) {
  JsonErrors errors;
  std::optional<Kernel> kernel = readJson(text, errors, [&](const JsonAt &document) {
    return readKernel(document, {std::string(fileName)});
  });
  reportJsonErrors(errors, diagnostics);
  return kernel;
}

/// The code is only read with a kernel to look names up in.
static KernelAndCode readDocument(const JsonAt &document, const written::Files &files) {
  if (!document.expectObject({"schema", "version", "kernel", "strategy", "machine", "semaphores",
                              "barriers", "engines", "dependences"})) {
    return {};
  }
  uint64_t version = document.expectSchema("tally-code", 1, 2);
  std::optional<JsonAt> kernelAt = document.need("kernel");
  size_t before = document.numErrors();
  if (!kernelAt) {
    return {};
  }
  KernelAndCode result;
  result.kernel = readKernel(*kernelAt, files);
  if (document.numErrors() == before) {
    result.code = written::CodeDoor(result.kernel, document, version).run();
  }
  return result;
}

std::optional<KernelAndCode> readCodeJson(std::string_view text, std::string_view fileName,
                                          Diagnostics &diagnostics) {
  JsonErrors errors;
  std::optional<KernelAndCode> result = readJson(text, errors, [&](const JsonAt &document) {
    return readDocument(document, {std::string(fileName)});
  });
  reportJsonErrors(errors, diagnostics);
  return result;
}

static std::pair<Kernel, std::optional<Code>> readEither(const JsonAt &document,
                                                         const written::Files &files) {
  std::optional<JsonAt> schema = document.expectObject() ? document.need("schema") : std::nullopt;
  size_t before = document.numErrors();
  bool hasCode = schema && schema->oneOf({"tally-kernel", "tally-code"}) == 1;
  if (!schema || document.numErrors() != before) {
    return {};
  }
  if (!hasCode) {
    return {readKernel(document, files), std::nullopt};
  }
  KernelAndCode both = readDocument(document, files);
  return {std::move(both.kernel), std::move(both.code)};
}

std::vector<std::pair<Kernel, std::optional<Code>>>
readKernelsJson(std::string_view text, std::string_view fileName, Diagnostics &diagnostics) {
  using Read = std::vector<std::pair<Kernel, std::optional<Code>>>;
  JsonErrors errors;
  std::optional<Read> read = readJson(text, errors, [&](const JsonAt &root) {
    Read all;
    written::Files files{std::string(fileName)};
    auto add = [&](const JsonAt &document) {
      files = all.emplace_back(readEither(document, files)).first.files;
    };
    for (size_t i = 0; root.isArray() && i < root.size(); ++i) {
      add(root[i]);
    }
    if (!root.isArray()) {
      add(root);
    }
    return all;
  });
  reportJsonErrors(errors, diagnostics);
  return read ? std::move(*read) : Read();
}

} // namespace tally
