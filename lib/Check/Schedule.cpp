//===- Schedule.cpp - A run, written down ---------------------------------===//

#include "tally/Check/Schedule.h"

#include "../Support/StrictJson.h"

#include "tally/Model/Strategy.h"
#include "tally/Support/Names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ranges>

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
  auto quoted =
      std::views::transform(texts, [](const std::string &text) { return quoteJson(text); });
  return fmt::format("[{}]", fmt::join(quoted, ", "));
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

static std::string stringOf(const JsonAt &object, std::string_view key) {
  std::optional<JsonAt> value = object.need(key);
  return value ? value->string() : "";
}

static std::string stringOrNull(const JsonAt &object, std::string_view key) {
  std::optional<JsonAt> value = object.find(key);
  return value && !value->isNull() ? value->string() : "";
}

/// Reads each element of a list, if there is one.
template <typename Read> static void forElements(std::optional<JsonAt> list, Read read) {
  for (size_t i = 0; list && list->expectArray() && i < list->size(); ++i) {
    read((*list)[i]);
  }
}

static std::vector<std::string> stringsOf(const JsonAt &object, std::string_view key) {
  std::vector<std::string> texts;
  forElements(object.find(key), [&](const JsonAt &text) { texts.push_back(text.string()); });
  return texts;
}

static std::optional<NamedStep> readStep(const JsonAt &at) {
  if (!at.expectArray() || at.size() < 2) {
    at.error("expected a step as [\"issue\", \"act\"] or [\"commit\", \"act\", 0]");
    return {};
  }
  NamedStep step{static_cast<StepKind>(at[0].oneOf(stepNames)), at[1].string(), 0, at.where()};
  size_t wanted = hasIndex(step.kind) ? 3 : 2;
  if (at.size() != wanted) {
    at.error(fmt::format("expected {} parts of a step of this kind", wanted));
  } else if (wanted == 3) {
    step.index = static_cast<uint32_t>(at[2].unsignedIn(0, UINT32_MAX));
  }
  return step;
}

static ScheduleFile readSchedule(const JsonAt &root) {
  ScheduleFile file;
  if (!root.expectObject({"schema", "version", "kernel", "code", "strategy", "options", "machine",
                          "trips", "guards", "rules", "in_flight", "shows", "steps"})) {
    return file;
  }
  root.expectSchema("tally-schedule", 1, 1);
  if (std::optional<JsonAt> kernel = root.need("kernel");
      kernel && kernel->expectObject({"file", "name"})) {
    file.kernelFile = stringOf(*kernel, "file");
    file.kernelName = stringOf(*kernel, "name");
  }
  file.codeFile = stringOrNull(root, "code");
  file.strategy = stringOrNull(root, "strategy");
  if (std::optional<JsonAt> at = root.find("strategy");
      at && at->isString() && !strategyFrom(at->string())) {
    std::vector<std::string> names = strategyNames();
    at->error(unknownName("strategy", "strategies", at->string(), {names.begin(), names.end()}));
  }
  file.options = stringsOf(root, "options");
  if (std::optional<JsonAt> options = root.find("options")) {
    file.optionsAt = options->where();
  }
  file.machine = stringOrNull(root, "machine");
  file.trips = stringsOf(root, "trips");
  // Files of earlier versions have the key; only tests ever had a rule in it.
  for (const std::string &rule : stringsOf(root, "rules")) {
    root.need("rules")->error(
        fmt::format("schedules under the rule '{}' cannot be repeated", rule));
  }
  if (std::optional<JsonAt> guards = root.find("guards")) {
    file.guards = guards->unsignedIn(0, UINT64_MAX);
  }
  if (std::optional<JsonAt> inFlight = root.find("in_flight")) {
    file.inFlight = static_cast<uint32_t>(inFlight->unsignedIn(1, 64));
  }
  file.shows = root.stringOr("shows", "");
  forElements(root.need("steps"), [&](const JsonAt &at) {
    if (std::optional<NamedStep> step = readStep(at)) {
      file.steps.push_back(std::move(*step));
    }
  });
  return file;
}

std::optional<ScheduleFile> readScheduleFile(std::string_view text, Diagnostics &diagnostics) {
  JsonErrors errors;
  std::optional<ScheduleFile> file = readJson(text, errors, readSchedule);
  reportJsonErrors(errors, diagnostics);
  return file;
}

} // namespace tally
