//===- ReadJson.cpp - Kernels and code from JSON --------------------------===//
//
// Two doors that walk a document, top to bottom, and hand its objects to the resolvers (Resolve.h).
// What an object holds, they take from the list of fields of its struct (Fields.h). A wrong value
// is reported at its place and stays as it was.
//
//===----------------------------------------------------------------------===//

#include "Compact.h"
#include "ReadFields.h"
#include "tally/Support/Counted.h"
#include "tally/Written/CodeJson.h"
#include "tally/Written/KernelJson.h"
#include "tally/Written/Resolve.h"

#include <fmt/format.h>

namespace tally {
namespace written {
namespace {

using Files = std::vector<std::string>;

//===----------------------------------------------------------------------===//
// Doors
//===----------------------------------------------------------------------===//

/// Ids are written for the reader's ease; they are places in the list.
void expectId(const JsonAt &object, size_t expected) {
  if (std::optional<JsonAt> id = object.need("id")) {
    id->unsignedIn(expected, expected);
  }
}

/// What both doors do in the same way. In one of them statements say where they come from; in the
/// other what lists declare has a number.
template <typename Resolver> class Door : protected Errors {
protected:
  template <typename... Args>
  explicit Door(bool hasPlaces, const Args &...args)
      : resolver(args..., *this), hasPlaces(hasPlaces) {}

  virtual Location whereOf(const JsonAt &at) { return at.where(); }

  virtual void statement(const JsonAt &at) = 0;

  /// Declarations, or dependences.
  template <Struct S> void list(const JsonAt &object, std::string_view key, bool isNeeded = true) {
    auto visit = [&, data = S()](const JsonAt &at, size_t index) mutable {
      bool isRead = hasPlaces ? read(at, data) : read(at, data, {"id"});
      // The place of an engine is that of its own queue, a field like the others.
      bool isPlaced = !std::is_same_v<S, EngineData> && at.isObject();
      Location where = isPlaced ? placeOf(at) : at.where();
      if (!isRead) {
        return;
      }
      if (!hasPlaces) {
        expectId(at, index);
      }
      resolver.add(data, where);
    };
    forEach(object, key, visit, isNeeded);
  }

  /// A statement with its bodies.
  template <Struct S> void step(const JsonAt &at, S data) {
    Location where = placeOf(at);
    if constexpr (!hasBody<S>) {
      resolver.add(data, where);
    } else {
      resolver.open(data, where);
      body(at, hasBranches<S> ? "then" : "body", where);
      if (hasBranches<S> && at.find("else")) {
        resolver.otherwise();
        body(at, "else", where);
      }
      resolver.close();
    }
  }

  /// Reads an object into a struct, all of which is set; false if it is none.
  template <Struct S>
  bool read(const JsonAt &at, S &data, std::initializer_list<std::string_view> more = {}) {
    static const Keys keys = [&] {
      Keys all = keysOf<S>(more);
      all.insert(all.end(), hasPlaces && std::ranges::find(all, "loc") == all.end(), "loc");
      return all;
    }();
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

  /// Where what has just been read comes from; what was wrong in it says so.
  Location placeOf(const JsonAt &at) {
    size_t numErrors = at.numErrors();
    Location where = whereOf(at);
    if (numErrors > firstError) {
      at.endErrors(firstError, numErrors, sourceOf(where));
    }
    return where;
  }

  /// Of a statement that stands at `where`. Nesting is bounded by the parser, so this recursion is.
  void body(const JsonAt &object, std::string_view key, Location where) {
    size_t before = object.numErrors();
    std::optional<JsonAt> list = object.need(key);
    if (!list || !list->expectArray()) {
      return object.endErrors(before, object.numErrors(), sourceOf(where));
    }
    forElements(*list, [&](const JsonAt &at, size_t) {
      if (at.expectObject()) {
        statement(at);
      }
    });
  }

  void startWith(const JsonAt &at) {
    current = &at;
    firstError = at.numErrors();
    isSound = true;
  }

  /// Where a statement says that it comes from, as the end of a sentence.
  virtual std::string sourceOf(Location) const { return ""; }

  /// What is not there, or no item of its list, has been reported before.
  void error(const Spot &spot, std::string message, std::vector<DiagnosticNote>) override {
    message += sourceOf(spot.where);
    if (spot.key.empty()) {
      return isSound ? current->error(message) : void();
    }
    size_t dot = spot.key.find('.');
    std::optional<JsonAt> outer = current->find(spot.key.substr(0, dot));
    bool isInside = outer && dot != std::string_view::npos;
    std::optional<JsonAt> member = isInside ? outer->find(spot.key.substr(dot + 1)) : outer;
    if (!member) { // it is left out, and that may be what is wrong
      return isSound ? current->error(message) : void();
    }
    bool isList = member->isArray() || member->isObject();
    JsonAt at = isList ? (*member)[spot.index] : *member;
    if (member->isObject() || at.isString() || isSound) {
      at.error(message);
    }
  }

  Resolver resolver;

private:
  const bool hasPlaces;
  const JsonAt *current = nullptr; ///< what is being handed over
  size_t firstError = 0;           ///< that can be one of its own
  bool isSound = true;             ///< whether all of it could be read
};

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

class KernelDoor : Door<KernelResolver> {
public:
  KernelDoor(const JsonAt &document, const Files &files)
      : Door(/*hasPlaces=*/true), document(document) {
    for (const std::string &file : files) {
      resolver.file(file);
    }
  }

  Kernel run() {
    KernelData data;
    document.expectObject({"schema", "version", "name", "loc", "reserves", "engines", "values",
                           "buffers", "body", "dependences"});
    document.expectSchema("tally-kernel", 1, 2);
    std::string name = text(document, "name");
    readMembers(document, data);
    startWith(document);
    resolver.open(name, data, whereOf(document));
    list<EngineData>(document, "engines");
    list<ValueData>(document, "values", /*isNeeded=*/false);
    list<BufferData>(document, "buffers", /*isNeeded=*/false);
    body(document, "body", document.where());
    list<DepData>(document, "dependences", /*isNeeded=*/false);
    return resolver.finish();
  }

private:
  std::string sourceOf(Location where) const override { return resolver.sourceOf(where); }

  /// The place that a statement names, or its own.
  Location whereOf(const JsonAt &at) override {
    static const Keys keys = keysOf<LocData>();
    std::optional<JsonAt> loc = at.find("loc");
    if (!loc || !loc->expectObject(keys)) {
      return at.where();
    }
    LocData data;
    readMembers(*loc, data);
    return {resolver.file(data.file), static_cast<uint32_t>(data.line),
            static_cast<uint32_t>(data.column)};
  }

  void statement(const JsonAt &at) override {
    if (at.find("instr")) {
      read<InstrData>(at);
    } else if (at.find("loop")) {
      read<LoopData>(at);
    } else if (at.find("if")) {
      read<IfData>(at);
    } else {
      at.error("a statement needs one of the keys 'instr', 'loop' and 'if'" +
               sourceOf(whereOf(at)));
    }
  }

  template <Struct S> void read(const JsonAt &at) {
    S data;
    Door::read(at, data);
    step(at, std::move(data));
  }

  const JsonAt &document;
};

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

class CodeDoor : Door<CodeResolver> {
public:
  CodeDoor(const Kernel &kernel, const JsonAt &document, uint64_t version)
      : Door(/*hasPlaces=*/false, kernel), kernel(kernel), document(document), version(version) {}

  Code run() {
    data.strategy = text(document, "strategy");
    if (std::optional<JsonAt> at = document.need("machine")) {
      machine(*at);
    }
    startWith(document);
    resolver.begin(data, document.where());
    list<SemaphoreData>(document, "semaphores");
    list<BarrierData>(document, "barriers");
    forEach(document, "engines", [&](const JsonAt &at, size_t) { program(at); }, /*isNeeded=*/true);
    forEach(document, "dependences",
            [&](const JsonAt &at, size_t index) { dependence(at, index); });
    Code code = resolver.finish();
    code.rules = rules;
    return code;
  }

private:
  /// Version 1 has the name alone.
  void machine(const JsonAt &at) {
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
      auto limit = [](std::optional<uint64_t> most) {
        return most ? std::optional(static_cast<uint32_t>(*most)) : std::nullopt;
      };
      rules = {static_cast<uint32_t>(read.counterBits),
               read.subtraction,
               read.waitCompare,
               read.queueOverlap,
               read.completion,
               limit(read.semaphores),
               limit(read.registers),
               read.sumsInOrder};
    }
  }

  void program(const JsonAt &at) {
    ProgramData data;
    if (read(at, data, {"registers", "code"}) && resolver.open(data, at.where())) {
      list<RegisterData>(at, "registers");
      body(at, "code", at.where());
    }
  }

  void dependence(const JsonAt &at, size_t index) const {
    if (!at.expectObject({"id", "producer", "consumer"})) {
      return;
    }
    expectId(at, index);
    if (index >= kernel.deps.size()) {
      at.error(fmt::format("the kernel has only {}", counted(kernel.deps.size(), "dependence")));
      return;
    }
    const Dep &dep = kernel.deps[DepId(static_cast<uint32_t>(index))];
    if (text(at, "producer") != kernel.nameOf(dep.producer) ||
        text(at, "consumer") != kernel.nameOf(dep.consumer)) {
      at.error(fmt::format("the kernel's dependence {} is '{}' -> '{}'", index,
                           kernel.nameOf(dep.producer), kernel.nameOf(dep.consumer)));
    }
  }

  void statement(const JsonAt &at) override {
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
      if (number++ == wanted && at.numErrors() == before && readStep(at, data)) {
        step(at, std::move(data));
      }
    });
  }

  /// Waits and signals stand in an object of their own, as they do in an instruction.
  template <Struct S> bool readStep(const JsonAt &at, S &data) {
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
        readObject(*inside, data);
      }
      return inside.has_value();
    } else {
      return read(at, data, {"op"});
    }
  }

  const Kernel &kernel;
  const JsonAt &document;
  uint64_t version;
  CodeData data;
  std::optional<MachineRules> rules;
};

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
  return readJson(
      text, diagnostics,
      [&](const JsonAt &document) { return readKernel(document, {std::string(fileName)}); },
      written::expandCompact);
}

/// The code is only read with a kernel to look names up in.
static LoadedKernel readDocument(const JsonAt &document, const written::Files &files) {
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
  LoadedKernel result;
  result.kernel = readKernel(*kernelAt, files);
  if (document.numErrors() == before) {
    result.code = written::CodeDoor(result.kernel, document, version).run();
  }
  return result;
}

std::optional<LoadedKernel> readCodeJson(std::string_view text, std::string_view fileName,
                                         Diagnostics &diagnostics) {
  return readJson(
      text, diagnostics,
      [&](const JsonAt &document) { return readDocument(document, {std::string(fileName)}); },
      written::expandCompact);
}

static LoadedKernel readEither(const JsonAt &document, const written::Files &files) {
  std::optional<JsonAt> schema = document.expectObject() ? document.need("schema") : std::nullopt;
  size_t before = document.numErrors();
  bool hasCode = schema && schema->oneOf({"tally-kernel", "tally-code"}) == 1;
  if (!schema || document.numErrors() != before) {
    return {};
  }
  return hasCode ? readDocument(document, files) : LoadedKernel{readKernel(document, files)};
}

std::vector<LoadedKernel> readKernelsJson(std::string_view text, std::string_view fileName,
                                          Diagnostics &diagnostics) {
  auto read = readJson(
      text, diagnostics,
      [&](const JsonAt &root) {
        std::vector<LoadedKernel> all;
        written::Files files{std::string(fileName)};
        auto add = [&](const JsonAt &document) {
          files = all.emplace_back(readEither(document, files)).kernel.files;
        };
        for (size_t i = 0; root.isArray() && i < root.size(); ++i) {
          add(root[i]);
        }
        if (!root.isArray()) {
          add(root);
        }
        return all;
      },
      written::expandCompact);
  return std::move(read).value_or(std::vector<LoadedKernel>());
}

} // namespace tally
