//===- RaceReports.cpp - Reports about semaphores, and output -------------===//
//
// Semaphores that wrap around or are reset while others use them, and waits that ask for too much;
// then all reports as text and as JSON.
//
//===----------------------------------------------------------------------===//

#include "RaceReports.h"
#include "RaceStory.h"

#include "tally/Support/Places.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tally {

using namespace check;

std::string_view toString(ReportKind kind) {
  static constexpr std::string_view names[] = {"race", "unordered", "deadlock", "reset",
                                               "wrap", "over-wait", "stale",    "outside"};
  return names[static_cast<size_t>(kind)];
}

std::string keyOf(const RaceReport &report) {
  std::string key(toString(report.kind));
  for (const char *name : {"first", "second", "semaphore", "operation", "engine"}) {
    for (const auto &[fact, value] : report.facts) {
      key += fact == name ? "\n" + value : "";
    }
  }
  return key;
}

//===----------------------------------------------------------------------===//
// Semaphores
//===----------------------------------------------------------------------===//

static std::string_view explanationOf(Unsettled::Kind kind) {
  static constexpr std::string_view byKind[] = {
      "may come before or after it raises, and then erases what it counts or not",
      "may come after it raises, and then erases what it counts",
      "may come after it waits, which then sees the value from before",
      "may come before it waits, which then sees nothing"};
  return byKind[static_cast<size_t>(kind)];
}

static RaceReport reportAt(ReportKind kind, Severity severity, Location where) {
  RaceReport report;
  report.kind = kind;
  report.text.severity = severity;
  report.text.where = where;
  return report;
}

static RaceReport wrapReport(const Story &story, const Unsettled &unsettled) {
  bool matters = story.subject.isWaitedFor[unsettled.sema];
  auto [engine, at] = story.firstRunOf(unsettled.other);
  RaceReport report = reportAt(ReportKind::Wrap, matters ? Severity::Error : Severity::Warning,
                               story.whereAt(engine, at));
  report.text.message = fmt::format(
      "semaphore '{}' goes past {}, the largest value that a wait of {} bits can tell, when {} "
      "raises it; waits on it then pass at the wrong time{}",
      story.sema(unsettled.sema), story.subject.machine.counterLimit() - 1,
      story.subject.machine.counterBits, story.operationText(engine, at),
      matters ? "" : ", but there are none");
  report.text.note(report.text.where,
                   "reset it at a barrier of all engines that use it, or give fewer trips");
  report.facts.emplace_back("semaphore", story.sema(unsettled.sema));
  return report;
}

RaceReport check::reportOf(const RaceSubject &subject, const Unsettled &unsettled) {
  Story story(subject);
  if (unsettled.kind == Unsettled::Kind::Wrapped) {
    return wrapReport(story, unsettled);
  }
  auto [resetEngine, resetAt] = story.firstRunOf(unsettled.reset);
  auto [engine, at] = story.firstRunOf(unsettled.other);
  std::string reset = story.operationText(resetEngine, resetAt);
  std::string other = story.operationText(engine, at);
  RaceReport report =
      reportAt(ReportKind::Reset, Severity::Warning, story.whereAt(resetEngine, resetAt));
  report.text.message =
      fmt::format("nothing orders {}, which sets '{}' to 0, and {}: it {}", reset,
                  story.sema(unsettled.sema), other, explanationOf(unsettled.kind));
  report.text.note(story.whereAt(engine, at), "the other one is here");
  report.facts = {
      {"semaphore", std::string(story.sema(unsettled.sema))}, {"first", reset}, {"second", other}};
  return report;
}

//===----------------------------------------------------------------------===//
// Waiting too long
//===----------------------------------------------------------------------===//

RaceReport check::reportOf(const RaceSubject &subject, const WaitExcess &excess, uint64_t passes) {
  Story story(subject);
  const ExcessRun &first = excess.runs.front();
  const WaitAt wait = story.waitAt(excess.engine, first.at);
  bool isStale =
      story.registerStory(excess.engine, first.at).kind == RegisterStory::Kind::OtherWait;
  RaceReport report = reportAt(isStale ? ReportKind::Stale : ReportKind::OverWait,
                               Severity::Warning, story.whereAt(excess.engine, first.at));
  report.count = excess.runs.size();
  std::string operation = story.operationText(excess.engine, first.at);
  std::string iteration = story.iterationAt(excess.engine, first.at);
  uint64_t enough = story.valueAfter(excess.queue, first.needed, wait.op->wait);
  report.text.message = fmt::format(
      "{} waits for '{}' >= {}{}, longer than anything after it asks: {}", operation,
      story.sema(wait.op->wait), wait.threshold, iteration.empty() ? "" : " in " + iteration,
      first.needed == 0 ? std::string("no wait is needed here")
                        : fmt::format("{} would do", enough));
  report.text.note(report.text.where,
                   fmt::format("{} of {} runs of this wait ask for too much; {} of them held "
                               "the engine up in this schedule",
                               excess.runs.size(), passes, excess.held));
  if (isStale) {
    report.text.note(report.text.where, story.registerNote(excess.engine, first.at) +
                                            "; set it before this wait, or let the instruction "
                                            "wait for nothing");
  }
  report.facts = {{"operation", operation},
                  {"iteration", iteration},
                  {"semaphore", std::string(story.sema(wait.op->wait))},
                  {"threshold", std::to_string(wait.threshold)},
                  {"enough", std::to_string(enough)},
                  {"runs", std::to_string(passes)},
                  {"held", std::to_string(excess.held)}};
  return report;
}

//===----------------------------------------------------------------------===//
// Beyond a buffer
//===----------------------------------------------------------------------===//

RaceReport check::reportOf(const RaceSubject &subject, const OutsideRun &run) {
  const Kernel &kernel = subject.kernel;
  RaceReport report;
  report.kind = ReportKind::Outside;
  report.text = outsideError(kernel, run);
  report.facts = {{"first", std::string(kernel.nameOf(run.instr))},
                  {"first_iteration", iterationText(kernel, run.iteration)},
                  {"first_access", std::string(kernel.text(kernel.accesses[run.access].text))},
                  {"dimension", std::to_string(run.dim + 1)},
                  {"index", std::to_string(run.index)}};
  return report;
}

//===----------------------------------------------------------------------===//
// Output
//===----------------------------------------------------------------------===//

std::string render(const RaceResult &result, const std::vector<std::string> &files) {
  std::string text;
  for (const RaceReport &report : result.reports) {
    text += render(report.text, files);
    if (report.kind != ReportKind::Outside) { // which every schedule shows
      text += fmt::format("note: seen in schedule '{}'; {}\n", report.schedule,
                          report.steps.size() == 1
                              ? "1 step shows it"
                              : fmt::format("{} steps show it", report.steps.size()));
    }
  }
  return text;
}

static nlohmann::ordered_json jsonOf(Location where, const std::vector<std::string> &files) {
  return where.known() ? nlohmann::ordered_json::parse(placeJson(where, files)) : nullptr;
}

static nlohmann::ordered_json reportJson(const RaceReport &report,
                                         const std::vector<std::string> &files) {
  nlohmann::ordered_json object;
  object["kind"] = toString(report.kind);
  object["severity"] = report.text.severity == Severity::Error ? "error" : "warning";
  object["message"] = report.text.message;
  object["place"] = jsonOf(report.text.where, files);
  object["count"] = report.count;
  object["steps"] = report.steps.size();
  object["cause"] = nullptr;
  if (report.cause != 0) {
    object["cause"] = report.cause;
  }
  object["folded"] = report.isFolded;
  object["mend"] = nullptr;
  if (report.mend) {
    object["mend"] = {{"kind", report.mend->kind}, {"text", report.mend->text}};
  }
  object["facts"] = nlohmann::ordered_json::object();
  for (const auto &[key, value] : report.facts) {
    object["facts"][key] = value;
  }
  object["notes"] = nlohmann::ordered_json::array();
  for (const DiagnosticNote &note : report.text.notes) {
    object["notes"].push_back({{"message", note.message}, {"place", jsonOf(note.where, files)}});
  }
  return object;
}

std::string toJson(const RaceResult &result, const std::vector<std::string> &files) {
  nlohmann::ordered_json object;
  object["verdict"] = toString(result.verdict);
  object["reason"] = result.reason;
  object["schedules"] = result.schedules;
  object["steps"] = result.steps;
  object["one_decides"] = result.oneDecides;
  object["stuck_together"] = result.stuckTogether;
  object["reports"] = nlohmann::ordered_json::array();
  for (const RaceReport &report : result.reports) {
    object["reports"].push_back(reportJson(report, files));
  }
  return object.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

} // namespace tally
