//===- WriteJson.cpp - Kernels and code as JSON ---------------------------===//
//
// Two forms that the writers (Write.h) fill. What an object holds, they take from the list of
// fields of its struct (Fields.h).
//
//===----------------------------------------------------------------------===//

#include "../Support/StrictJson.h"
#include "tally/Written/CodeJson.h"
#include "tally/Written/KernelJson.h"
#include "tally/Written/Text.h"
#include "tally/Written/Write.h"

namespace tally {
namespace written {
namespace {

//===----------------------------------------------------------------------===//
// Fields
//===----------------------------------------------------------------------===//

static void appendQuotedJson(std::string &out, std::string_view text) {
  for (char c : text) {
    if (c < ' ' || c >= 0x7f || c == '"' || c == '\\') {
      out += quoteJson(text);
      return;
    }
  }
  out += '"';
  out += text;
  out += '"';
}

template <Struct S> void appendMembers(std::string &out, const S &data);

template <typename F> void appendJson(std::string &out, const F &, const std::string &value) {
  appendQuotedJson(out, value);
}

template <typename F> void appendJson(std::string &out, const F &field, uint64_t value) {
  if (field.word && !field.wordAlone && value == field.wordValue) {
    appendQuotedJson(out, field.word);
  } else {
    appendNumber(out, value);
  }
}

template <typename F> void appendJson(std::string &out, const F &field, const bool &value) {
  out += value != field.inverted ? "true" : "false";
}

template <typename F, typename E>
  requires std::is_enum_v<E>
void appendJson(std::string &out, const F &, const E &value) {
  appendQuotedJson(out, wordsOf(value)[static_cast<size_t>(value)]);
}

template <typename F> void appendJson(std::string &out, const F &, const Ref &value) {
  appendNumber(out, *value.number);
}

template <typename F> void appendJson(std::string &out, const F &, const OperandData &value) {
  out += value.reg.isGiven() ? "{\"register\": " : "{\"value\": ";
  appendNumber(out, value.reg.number.value_or(static_cast<uint32_t>(value.number)));
  out += '}';
}

template <typename F, Struct S> void appendJson(std::string &out, const F &, const S &value) {
  out += '{';
  appendMembers(out, value);
  out += '}';
}

template <typename F> void appendJson(std::string &out, const F &, const TripData &trip) {
  if (trip.kind == Trip::Kind::Constant) {
    return appendNumber(out, trip.trips);
  }
  out += trip.kind == Trip::Kind::Guard ? "{\"while\": " : "{\"value\": ";
  appendQuotedJson(out, trip.symbol);
  if (trip.min != 0) {
    out += ", \"min\": ";
    appendNumber(out, trip.min);
  }
  if (trip.max) {
    out += ", \"max\": ";
    appendNumber(out, *trip.max);
  }
  out += '}';
}

template <typename F, typename T>
void appendJson(std::string &out, const F &field, const std::optional<T> &value) {
  appendJson(out, field, *value);
}

template <typename F, typename T>
void appendJson(std::string &out, const F &field, const std::vector<T> &values) {
  out += '[';
  for (size_t i = 0; i < values.size(); ++i) {
    out += i == 0 ? "" : ", ";
    appendJson(out, field, values[i]);
  }
  out += ']';
}

/// `"key": ` behind what is in the object.
static void appendKey(std::string &out, std::string_view key) {
  out += out.back() == '{' ? "\"" : ", \"";
  out += key;
  out += "\": ";
}

static void appendDistance(std::string &out, const DistanceData &distance) {
  if (distance.form != DistanceForm::Vector) {
    appendKey(out, distance.form == DistanceForm::Flat ? "flat" : "element");
    appendNumber(out, distance.step);
  }
  if (distance.components.empty()) {
    return;
  }
  appendKey(out, "distance");
  out += '{';
  for (size_t i = 0; i < distance.components.size(); ++i) {
    out += i == 0 ? "" : ", ";
    appendQuotedJson(out, distance.components[i].loop);
    out += ": ";
    appendNumber(out, distance.components[i].distance);
  }
  out += '}';
}

template <typename T> bool isNothing(const T &value) {
  if constexpr (std::is_same_v<T, Ref>) {
    return !value.isGiven();
  } else if constexpr (isOptional<T>) {
    return !value;
  } else {
    return false;
  }
}

/// The members of an object, behind its bracket. Defaults are left out.
template <Struct S> void appendMembers(std::string &out, const S &data) {
  static const S defaults;
  forEachField<S>([&]<typename T>(const Field<S, T> &field) {
    const T &value = data.*field.member;
    if constexpr (std::is_same_v<T, QueueData>) {
      appendMembers(out, value);
    } else if constexpr (std::is_same_v<T, DistanceData>) {
      appendDistance(out, value);
    } else if (field.needed || field.always || value != defaults.*field.member) {
      appendKey(out, field.jsonKey());
      isNothing(value) ? void(out += "null") : appendJson(out, field, value);
    }
  });
}

//===----------------------------------------------------------------------===//
// Forms
//===----------------------------------------------------------------------===//

/// Elements of lists that matter stand on lines of their own.
class JsonLines {
protected:
  JsonLines(std::string &out, unsigned indent) : out(out), indent(indent) {}

  void line(std::string_view text) {
    out += '\n';
    out.append(indent, ' ');
    out += text;
  }

  /// `"key": "text",`
  void text(std::string_view key, std::string_view value) {
    line("\"");
    out += key;
    out += "\": ";
    appendQuotedJson(out, value);
    out += ',';
  }

  /// An element of the innermost open list.
  void element() {
    if (out.back() != '[') {
      out += ',';
    }
    line("{");
  }

  void openList(std::string_view key) {
    line("\"");
    out += key;
    openBody("\": [");
  }

  void openBody(std::string_view text) {
    out += text;
    indent += 2;
  }

  void closeList(std::string_view after) {
    indent -= 2;
    if (out.back() != '[') {
      line("");
    }
    out += ']';
    out += after;
  }

  std::string &out;
  unsigned indent;
};

/// Which list of the document holds a statement.
template <typename S> constexpr std::string_view listOf = "body";
template <> constexpr std::string_view listOf<EngineData> = "engines";
template <> constexpr std::string_view listOf<BufferData> = "buffers";
template <> constexpr std::string_view listOf<DepData> = "dependences";

class KernelJson : JsonLines {
public:
  /// With `files` of the kernel, statements say where they come from.
  KernelJson(std::string &out, unsigned indent, const std::vector<std::string> *files)
      : JsonLines(out, indent), files(files) {}

  void open(std::string_view name, const KernelData &data, const Origin &) {
    out += '{';
    indent += 2;
    line("\"schema\": \"tally-kernel\",");
    line("\"version\": 2,");
    text("name", name);
    if (!data.reserves.empty()) {
      line("\"reserves\": ");
      appendJson(out, std::get<0>(KernelData::fields()), data.reserves);
      out += ',';
    }
  }

  template <Struct S> void add(const S &data, const Origin &origin) {
    start(data, origin);
    out += '}';
  }

  void open(const LoopData &data, const Origin &origin) {
    start(data, origin);
    openBody(", \"body\": [");
  }

  void open(const IfData &data, const Origin &origin) {
    start(data, origin);
    openBody(", \"then\": [");
  }

  void otherwise() {
    closeList("");
    openBody(", \"else\": [");
  }

  void close() { closeList("}"); }

  /// All lists that are always there are written, and the document ends.
  void finish() {
    enter("dependences");
    closeList("");
    indent -= 2;
    line("}");
  }

private:
  template <Struct S> void start(const S &data, const Origin &origin) {
    enter(listOf<S>);
    element();
    appendMembers(out, data);
    Location where = origin.where.value_or(Location());
    if (files && where.known() && where.file < files->size()) {
      out += ", \"loc\": {";
      appendMembers(out, LocData{(*files)[where.file], where.line, where.column});
      out += '}';
    }
  }

  /// Goes on to a list of the document. Those in between are there though they are empty, but for
  /// that of buffers.
  void enter(std::string_view wanted) {
    constexpr std::string_view lists[] = {"engines", "buffers", "body", "dependences"};
    while (numOpened == 0 || lists[numOpened - 1] != wanted) {
      std::string_view next = lists[numOpened++];
      if (next == "buffers" && wanted != next) {
        continue;
      }
      if (next != "engines") {
        closeList(",");
      }
      openList(next);
    }
  }

  const std::vector<std::string> *files;
  size_t numOpened = 0; ///< lists of the document
};

/// Brackets of the flat code become nested arrays:
///
///   LoopBegin A r0   ->  {"op": "loop", "loop": "A", "counter": 0, "body": [
///     Issue x        ->    {"op": "issue", "instr": "x", "wait": ..., "signal": ...}
///   LoopEnd          ->  ]}
class CodeJson : JsonLines {
public:
  CodeJson(std::string &out, const Kernel &kernel, const Code &code)
      : JsonLines(out, 2), kernel(kernel), code(code) {}

  void write(bool locations);

  void add(const SemaphoreData &data, const Origin &) { numbered(data); }

  void add(const RegisterData &data, const Origin &) { numbered(data); }

  void open(const ProgramData &data, const Origin &) {
    element();
    appendMembers(out, data);
    out += ',';
    ++indent;
    openNumbered("registers");
  }

  void startSteps() {
    closeList(",");
    openList("code");
  }

  template <Struct S> void add(const S &data, const Origin &) {
    start(data);
    out += '}';
  }

  template <Struct S> void open(const S &data, const Origin &) {
    start(data);
    openBody(std::is_same_v<S, BranchData> ? ", \"then\": [" : ", \"body\": [");
  }

  void otherwise() {
    closeList("");
    openBody(", \"else\": [");
  }

  void close() { closeList("}"); }

  void closeProgram() {
    closeList("}");
    --indent;
  }

private:
  void openNumbered(std::string_view key) {
    openList(key);
    next = 0;
  }

  /// An element that others name by its place.
  template <Struct S> void numbered(const S &data) {
    element();
    out += "\"id\": ";
    appendNumber(out, next++);
    appendMembers(out, data);
    out += '}';
  }

  /// Waits and signals stand in an object of their own, as they do in an instruction.
  template <Struct S> void start(const S &data) {
    element();
    out += "\"op\": \"";
    out += S::jsonWord;
    out += '"';
    if constexpr (std::is_same_v<S, WaitData> || std::is_same_v<S, SignalData>) {
      appendKey(out, S::jsonWord);
      appendJson(out, 0, data);
    } else if constexpr (std::is_same_v<S, BarrierData>) {
      appendKey(out, S::jsonWord);
      appendNumber(out, *data.number);
    } else {
      appendMembers(out, data);
    }
  }

  void machine();
  void barriers();
  void dependences();

  const Kernel &kernel;
  const Code &code;
  uint32_t next = 0; ///< number in a list
};

void CodeJson::machine() {
  line("\"machine\": {");
  appendKey(out, "name");
  appendQuotedJson(out, code.machine);
  if (code.rules) {
    const MachineRules &rules = *code.rules;
    appendMembers(out, RulesData{rules.counterBits, rules.subtraction, rules.waitCompare,
                                 rules.queueOverlap, rules.completion});
  }
  out += "},";
}

void CodeJson::barriers() {
  openNumbered("barriers");
  for (const std::vector<EngineId> &each : code.barriers) {
    BarrierData data;
    for (EngineId engine : each) {
      data.participants.emplace_back(kernel.nameOf(engine));
    }
    numbered(data);
  }
  closeList(",");
}

void CodeJson::dependences() {
  openNumbered("dependences");
  for (const Dep &dep : kernel.deps) {
    element();
    out += "\"id\": ";
    appendNumber(out, next++);
    appendKey(out, "producer");
    appendQuotedJson(out, kernel.nameOf(dep.producer));
    appendKey(out, "consumer");
    appendQuotedJson(out, kernel.nameOf(dep.consumer));
    out += '}';
  }
  closeList("");
}

void appendKernel(std::string &out, const Kernel &kernel, unsigned indent, bool locations) {
  KernelJson form(out, indent, locations ? &kernel.files : nullptr);
  writeKernel(kernel, form);
  form.finish();
}

void CodeJson::write(bool locations) {
  CodeWriter writer(kernel, code, *this);
  out += '{';
  line("\"schema\": \"tally-code\",");
  line("\"version\": 2,");
  line("\"kernel\": ");
  appendKernel(out, kernel, indent, locations);
  out += ',';
  text("strategy", std::string(toString(code.strategy)));
  machine();
  openNumbered("semaphores");
  writer.semaphores();
  closeList(",");
  barriers();
  openList("engines");
  writer.programs();
  closeList(",");
  dependences();
  out += "\n}\n";
}

} // namespace
} // namespace written

std::string writeKernelJson(const Kernel &kernel, bool locations) {
  std::string text;
  written::appendKernel(text, kernel, 0, locations);
  return text + "\n";
}

std::string writeCodeJson(const Kernel &kernel, const Code &code, bool locations) {
  std::string text;
  written::CodeJson(text, kernel, code).write(locations);
  return text;
}

} // namespace tally
