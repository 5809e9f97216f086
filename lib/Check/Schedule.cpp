//===- Schedule.cpp - A run, written down ---------------------------------===//

#include "tally/Check/Schedule.h"

#include "../Written/ReadFields.h"

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

static std::string listText(const std::vector<PlacedText> &texts) {
  auto quoted =
      std::views::transform(texts, [](const PlacedText &at) { return quoteJson(at.text); });
  return fmt::format("[{}]", fmt::join(quoted, ", "));
}

static std::string textOrNull(const std::optional<PlacedText> &at) {
  return at ? quoteJson(at->text) : "null";
}

std::string writeScheduleFile(const ScheduleFile &s) {
  std::string text = fmt::format(
      "{{\n  \"schema\": \"tally-schedule\",\n  \"version\": 1,\n"
      "  \"kernel\": {{\"file\": {}, \"name\": {}}},\n  \"code\": {},\n  \"strategy\": {},\n"
      "  \"options\": {},\n  \"machine\": {},\n  \"trips\": {},\n  \"guards\": {},\n"
      "  \"in_flight\": {},\n  \"shows\": {},\n  \"steps\": [",
      quoteJson(s.kernel.file.text), quoteJson(s.kernel.name.text), textOrNull(s.code),
      textOrNull(s.strategy), listText(s.options), textOrNull(s.machine), listText(s.trips),
      s.guards, s.inFlight, quoteJson(s.shows));
  for (size_t i = 0; i < s.steps.size(); ++i) {
    text +=
        fmt::format("{}{}{}", i == 0 ? "" : ",", i % 6 == 0 ? "\n    " : " ", stepText(s.steps[i]));
  }
  return text + "\n  ]\n}\n";
}

static void readFrom(const JsonAt &at, PlacedText &text) {
  text = {at.string(), at.where()};
}

static void readFrom(const JsonAt &at, NamedStep &step) {
  if (!at.expectArray() || at.size() < 2) {
    return at.error("expected a step as [\"issue\", \"act\"] or [\"commit\", \"act\", 0]");
  }
  step = {static_cast<StepKind>(at[0].oneOf(stepNames)), at[1].name("name"), 0, at.where()};
  size_t wanted = hasIndex(step.kind) ? 3 : 2;
  if (at.size() != wanted) {
    at.error(fmt::format("expected {} parts of a step of this kind", wanted));
  } else if (wanted == 3) {
    step.index = static_cast<uint32_t>(at[2].unsignedIn(0, UINT32_MAX));
  }
}

/// What the words say is looked at when they are used, but for these two.
static ScheduleFile readSchedule(const JsonAt &root) {
  ScheduleFile file;
  if (!root.expectObject(written::keysOf<ScheduleFile>({"schema", "version"}))) {
    return file;
  }
  root.expectSchema("tally-schedule", 1, 1);
  written::readMembers(root, file);
  if (file.strategy && !file.strategy->text.empty() && !fromWord<Strategy>(file.strategy->text)) {
    std::vector<std::string> names = strategyNames();
    root.find("strategy")
        ->error(unknownName("strategy", "strategies", file.strategy->text,
                            {names.begin(), names.end()}));
  }
  if (!file.rules.empty()) {
    root.find("rules")->error(
        fmt::format("schedules under the rule '{}' cannot be repeated", file.rules.front().text));
  }
  return file;
}

std::optional<ScheduleFile> readScheduleFile(std::string_view text, Diagnostics &diagnostics) {
  JsonErrors errors;
  std::optional<ScheduleFile> file = readJson(text, errors, readSchedule);
  reportJsonErrors(errors, diagnostics);
  return file;
}

} // namespace tally
