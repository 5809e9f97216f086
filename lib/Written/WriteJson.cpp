//===- WriteJson.cpp - Kernels and code as JSON ---------------------------===//
//
// Two forms that the writers (Write.h) fill. What an object holds, they take from the list of
// fields of its struct (Fields.h).
//
//===----------------------------------------------------------------------===//

#include "Compact.h"
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

/// `"key": ` behind what is in the object.
static void appendKey(std::string &out, std::string_view key) {
  out += out.back() == '{' ? "\"" : ", \"";
  out += key;
  out += "\": ";
}

/// A number, or {"value": "n", "min": 1, "max": 9}, also with "formula", or {"while": "c"}.
static void appendTrip(std::string &out, const TripData &trip) {
  if (trip.kind == Trip::Kind::Constant) {
    return appendNumber(out, trip.trips);
  }
  out += '{';
  appendKey(out, toString(trip.kind));
  appendQuotedJson(out, trip.symbol);
  if (trip.min != 0) {
    appendKey(out, "min");
    appendNumber(out, trip.min);
  }
  if (trip.max) {
    appendKey(out, "max");
    appendNumber(out, *trip.max);
  }
  out += '}';
}

template <typename F, typename T>
void appendJson(std::string &out, const F &field, const T &value) {
  if constexpr (std::is_same_v<T, std::string>) {
    appendQuotedJson(out, value);
  } else if constexpr (std::is_same_v<T, bool>) {
    out += value != field.inverted ? "true" : "false";
  } else if constexpr (std::is_same_v<T, uint64_t>) {
    bool isWord = field.word && !field.wordAlone && value == field.wordValue;
    isWord ? appendQuotedJson(out, field.word) : appendNumber(out, value);
  } else if constexpr (std::is_enum_v<T>) {
    appendQuotedJson(out, toString(value));
  } else if constexpr (std::is_same_v<T, Ref>) {
    appendNumber(out, *value.number);
  } else if constexpr (std::is_same_v<T, OperandData>) {
    out += value.reg.isGiven() ? "{\"register\": " : "{\"value\": ";
    appendNumber(out, value.reg.number.value_or(static_cast<uint32_t>(value.number)));
    out += '}';
  } else if constexpr (std::is_same_v<T, TripData>) {
    appendTrip(out, value);
  } else if constexpr (isOptional<T>) {
    appendJson(out, field, *value);
  } else if constexpr (isVector<T>) {
    appendList(out, "[", value, "]", [&](const auto &each) { appendJson(out, field, each); });
  } else {
    out += '{';
    appendMembers(out, value);
    out += '}';
  }
}

static void appendDistance(std::string &out, const DistanceData &distance) {
  if (distance.form != DistanceForm::Vector) {
    appendKey(out, toString(distance.form));
    if (distance.runs.empty()) {
      appendNumber(out, distance.step);
    } else {
      appendList(out, "{\"runs\": [", distance.runs,
                 "], \"each\": ", [&](int64_t run) { appendNumber(out, run); });
      appendNumber(out, distance.step);
      if (!distance.over.empty()) {
        out += ", \"over\": ";
        appendQuotedJson(out, distance.over);
      }
      out += '}';
    }
  }
  if (distance.components.empty()) {
    return;
  }
  appendKey(out, "distance");
  appendList(out, "{", distance.components, "}", [&](const ComponentData &component) {
    appendQuotedJson(out, component.loop);
    out += ": ";
    appendNumber(out, component.distance);
  });
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
    } else if (field.isNeededInJson() || value != defaults.*field.member) {
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
public:
  void otherwise() {
    closeList("");
    openBody(", \"else\": [");
  }

  void close() { closeList("}"); }

protected:
  /// With `compact`, what is written goes there whenever there is some.
  JsonLines(std::string &out, unsigned indent, CompactJson *compact)
      : out(out), indent(indent), compact(compact) {}

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
    handOver();
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

  template <Struct S> void openBodyOf() {
    openBody(hasBranches<S> ? ", \"then\": [" : ", \"body\": [");
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
  CompactJson *compact;

private:
  /// All but the last character, which says whether a comma follows.
  void handOver() {
    constexpr size_t enough = 1 << 14;
    if (compact && out.size() > enough) {
      compact->add(std::string_view(out).substr(0, out.size() - 1));
      out.erase(0, out.size() - 1);
    }
  }
};

class KernelJson : public JsonLines {
public:
  KernelJson(std::string &out, unsigned indent, const Kernel &kernel, bool locations,
             CompactJson *compact)
      : JsonLines(out, indent, compact), kernel(kernel), locations(locations) {}

  void write() {
    KernelWriter writer(kernel, *this, locations);
    out += '{';
    indent += 2;
    line("\"schema\": \"tally-kernel\",");
    line("\"version\": 2,");
    text("name", kernel.text(kernel.name));
    if (Location where = kernel.where; hasPlace(where)) {
      line("\"loc\": {");
      appendMembers(out, placeOf(where));
      out += "},";
    }
    if (!kernel.reserved.empty()) {
      line("\"reserves\": ");
      appendJson(out, std::get<0>(KernelData::fields), writer.head().reserves);
      out += ',';
    }
    openList("engines");
    writer.engines();
    closeList(",");
    if (!kernel.declaredValues.empty()) {
      openList("values");
      writer.values();
      closeList(",");
    }
    if (!kernel.buffers.empty()) {
      openList("buffers");
      writer.buffers();
      closeList(",");
    }
    openList("body");
    writer.body(rootLoop);
    closeList(",");
    openList("dependences");
    writer.dependences();
    closeList("");
    indent -= 2;
    line("}");
  }

  template <Struct S> void add(const S &data, const Origin &origin) {
    start(data, origin);
    out += '}';
  }

  template <Struct S> void open(const S &data, const Origin &origin) {
    start(data, origin);
    openBodyOf<S>();
  }

private:
  template <Struct S> void start(const S &data, const Origin &origin) {
    element();
    appendMembers(out, data);
    if (Location where = origin.place(); hasPlace(where)) {
      out += ", \"loc\": {";
      appendMembers(out, placeOf(where));
      out += '}';
    }
  }

  bool hasPlace(Location where) const {
    return locations && where.known() && where.file < kernel.files.size();
  }

  LocData placeOf(Location where) const {
    return {kernel.files[where.file], where.line, where.column};
  }

  const Kernel &kernel;
  bool locations; ///< statements say where they come from
};

/// Brackets of the flat code become nested arrays:
///
///   LoopBegin A r0   ->  {"op": "loop", "loop": "A", "counter": 0, "body": [
///     Issue x        ->    {"op": "issue", "instr": "x", "wait": ..., "signal": ...}
///   LoopEnd          ->  ]}
class CodeJson : public JsonLines {
public:
  CodeJson(std::string &out, const Kernel &kernel, const Code &code, CompactJson *compact)
      : JsonLines(out, 2, compact), kernel(kernel), code(code) {}

  void write(bool locations) {
    CodeWriter writer(kernel, code, *this);
    out += '{';
    line("\"schema\": \"tally-code\",");
    line("\"version\": 2,");
    line("\"kernel\": ");
    KernelJson(out, indent, kernel, locations, compact).write();
    out += ',';
    text("strategy", toString(code.strategy));
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
    openBodyOf<S>();
  }

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

  void machine() {
    line("\"machine\": {");
    appendKey(out, "name");
    appendQuotedJson(out, code.machine);
    if (code.rules) {
      const MachineRules &rules = *code.rules;
      appendMembers(out, RulesData{rules.counterBits, rules.subtraction, rules.waitCompare,
                                   rules.queueOverlap, rules.completion, rules.semaphores,
                                   rules.registersPerEngine, rules.sumsInOrder});
    }
    out += "},";
  }

  void barriers() {
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

  void dependences() {
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

  const Kernel &kernel;
  const Code &code;
  uint32_t next = 0; ///< number in a list
};

/// What `write(text, compact)` writes.
template <typename Write> std::string written(bool isCompact, Write write) {
  std::string text;
  CompactJson compact;
  write(text, isCompact ? &compact : nullptr);
  if (!isCompact) {
    return text;
  }
  compact.add(text);
  return compact.finish();
}

} // namespace
} // namespace written

std::string writeKernelJson(const Kernel &kernel, JsonOptions options) {
  return written::written(options.compact, [&](std::string &out, written::CompactJson *compact) {
    written::KernelJson(out, 0, kernel, options.locations, compact).write();
    out += '\n';
  });
}

std::string writeCodeJson(const Kernel &kernel, const Code &code, JsonOptions options) {
  return written::written(options.compact, [&](std::string &out, written::CompactJson *compact) {
    written::CodeJson(out, kernel, code, compact).write(options.locations);
  });
}

} // namespace tally
