//===- Schedule.cpp - A run, written down ---------------------------------===//

#include "tally/Check/Schedule.h"

#include "../Support/StrictJson.h"

#include <fmt/format.h>

#include <array>

namespace tally {

std::vector<NamedStep> nameSteps(const Kernel &kernel, const std::vector<Step> &steps) {
  std::vector<NamedStep> named;
  for (const Step &step : steps) {
    bool byEngine = step.kind == StepKind::Control;
    std::string name(byEngine ? kernel.nameOf(step.engine) : kernel.nameOf(step.queue));
    named.push_back({step.kind, std::move(name), step.index});
  }
  return named;
}

template <typename IdT, typename T>
static IdT findNamed(const Kernel &kernel, const IdVector<IdT, T> &table, std::string_view name) {
  for (IdT id : table.ids()) {
    if (kernel.text(table[id].name) == name) {
      return id;
    }
  }
  return {};
}

std::vector<Step> resolveSteps(const Kernel &kernel, const std::vector<NamedStep> &steps,
                               Diagnostics &diagnostics) {
  std::vector<Step> resolved;
  for (size_t i = 0; i < steps.size(); ++i) {
    const NamedStep &named = steps[i];
    bool byEngine = named.kind == StepKind::Control;
    Step step{named.kind, {}, {}, named.index};
    if (byEngine) {
      step.engine = findNamed(kernel, kernel.engines, named.name);
    } else {
      step.queue = findNamed(kernel, kernel.queues, named.name);
    }
    if (!step.engine.valid() && !step.queue.valid()) {
      diagnostics.error(named.where,
                        fmt::format("step {} of the schedule: the kernel has no {} '{}'", i + 1,
                                    byEngine ? "engine" : "queue", named.name));
      return {};
    }
    step.engine = byEngine ? step.engine : kernel.queues[step.queue].engine;
    resolved.push_back(step);
  }
  return resolved;
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static std::string stepText(const NamedStep &step) {
  std::string index = hasIndex(step.kind) ? fmt::format(",{}", step.index) : "";
  return fmt::format("[\"{}\",{}{}]", toString(step.kind), quoteJson(step.name), index);
}

static std::string listText(const std::vector<std::string> &texts) {
  std::string list;
  for (const std::string &text : texts) {
    list += (list.empty() ? "" : ", ") + quoteJson(text);
  }
  return "[" + list + "]";
}

std::string writeScheduleFile(const ScheduleFile &s) {
  std::string text = fmt::format(
      "{{\n  \"schema\": \"tally-schedule\",\n  \"version\": 1,\n"
      "  \"kernel\": {{\"file\": {}, \"name\": {}}},\n  \"code\": {},\n  \"strategy\": {},\n"
      "  \"options\": {},\n  \"machine\": {},\n  \"trips\": {},\n  \"guards\": {},\n"
      "  \"in_flight\": {},\n  \"shows\": {},\n  \"steps\": [",
      quoteJson(s.kernelFile), quoteJson(s.kernelName),
      s.codeFile.empty() ? "null" : quoteJson(s.codeFile),
      s.strategy.empty() ? "null" : quoteJson(s.strategy), listText(s.options),
      s.machine.empty() ? "null" : quoteJson(s.machine), listText(s.trips), s.guards, s.inFlight,
      quoteJson(s.shows));
  for (size_t i = 0; i < s.steps.size(); ++i) {
    text +=
        fmt::format("{}{}{}", i == 0 ? "" : ",", i % 6 == 0 ? "\n    " : " ", stepText(s.steps[i]));
  }
  return text + "\n  ]\n}\n";
}

namespace {

class ScheduleReader {
public:
  explicit ScheduleReader(const JsonAt &root) : root(root) {}

  ScheduleFile run() {
    root.expectObject({"schema", "version", "kernel", "code", "strategy", "options", "machine",
                       "trips", "guards", "rules", "in_flight", "shows", "steps"});
    root.expectSchema("tally-schedule", 1, 1);
    if (std::optional<JsonAt> kernel = root.need("kernel");
        kernel && kernel->expectObject({"file", "name"})) {
      file.kernelFile = stringOf(*kernel, "file");
      file.kernelName = stringOf(*kernel, "name");
    }
    file.codeFile = stringOrNull("code");
    file.strategy = stringOrNull("strategy");
    file.options = strings("options");
    file.machine = stringOrNull("machine");
    file.trips = strings("trips");
    refuseRules();
    if (std::optional<JsonAt> guards = root.find("guards")) {
      file.guards = guards->unsignedIn(0, UINT64_MAX);
    }
    if (std::optional<JsonAt> inFlight = root.find("in_flight")) {
      file.inFlight = static_cast<uint32_t>(inFlight->unsignedIn(1, 64));
    }
    file.shows = root.stringOr("shows", "");
    steps();
    return std::move(file);
  }

private:
  /// Files of earlier versions have the key; only tests ever had a rule in it.
  void refuseRules() const {
    for (const std::string &rule : strings("rules")) {
      root.need("rules")->error(
          fmt::format("schedules under the rule '{}' cannot be repeated", rule));
    }
  }

  static std::string stringOf(const JsonAt &object, std::string_view key) {
    std::optional<JsonAt> value = object.need(key);
    return value ? value->string() : "";
  }

  std::string stringOrNull(std::string_view key) const {
    std::optional<JsonAt> value = root.find(key);
    return value && !value->isNull() ? value->string() : "";
  }

  std::vector<std::string> strings(std::string_view key) const {
    std::vector<std::string> texts;
    std::optional<JsonAt> list = root.find(key);
    if (list && list->expectArray()) {
      for (size_t i = 0; i < list->size(); ++i) {
        texts.push_back((*list)[i].string());
      }
    }
    return texts;
  }

  void steps() {
    std::optional<JsonAt> list = root.need("steps");
    if (!list || !list->expectArray()) {
      return;
    }
    for (size_t i = 0; i < list->size(); ++i) {
      step((*list)[i]);
    }
  }

  void step(const JsonAt &at) {
    if (!at.expectArray() || at.size() < 2) {
      at.error("expected a step as [\"issue\", \"act\"] or [\"commit\", \"act\", 0]");
      return;
    }
    NamedStep step;
    step.where = at.where();
    step.kind = static_cast<StepKind>(at[0].oneOf(stepNames));
    step.name = at[1].string();
    size_t wanted = hasIndex(step.kind) ? 3 : 2;
    if (at.size() != wanted) {
      at.error(fmt::format("expected {} parts of a step of this kind", wanted));
    } else if (wanted == 3) {
      step.index = static_cast<uint32_t>(at[2].unsignedIn(0, UINT32_MAX));
    }
    file.steps.push_back(std::move(step));
  }

  const JsonAt &root;
  ScheduleFile file;
};

} // namespace

std::optional<ScheduleFile> readScheduleFile(std::string_view text, Diagnostics &diagnostics) {
  JsonErrors errors;
  std::optional<ScheduleFile> file = readJson(text, errors, [](const JsonAt &root) {
    return root.expectObject() ? ScheduleReader(root).run() : ScheduleFile();
  });
  reportJsonErrors(errors, diagnostics);
  return file;
}

} // namespace tally
