//===- CheckReplay.cpp - Schedules as files -------------------------------===//
//
// Writes a schedule with all that is needed to repeat it (--witness), and performs one (--replay).
//
//===----------------------------------------------------------------------===//

#include "CheckCommand.h"
#include "Interrupt.h"

#include "tally/Check/Causes.h"
#include "tally/Check/Schedule.h"
#include "tally/Support/ReadFile.h"

#include <fmt/format.h>

#include <algorithm>

namespace tally::tool {
namespace {

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

std::vector<std::string> compileFlags(const CommonOptions &common) {
  std::vector<std::string> flags;
  if (common.participants != CommonOptions().participants) {
    flags.push_back("--barrier-participants=" + common.participants);
  }
  if (common.overflow != CommonOptions().overflow) {
    flags.push_back("--overflow=" + common.overflow);
  }
  for (auto [isSet, name] :
       {std::pair(common.noFold, "--no-fold"), std::pair(common.noLicm, "--no-licm"),
        std::pair(common.noCse, "--no-cse")}) {
    if (isSet) {
      flags.emplace_back(name);
    }
  }
  return flags;
}

/// Sets what compileFlags() wrote down; false for a flag that it never writes.
bool setCompileFlag(CommonOptions &common, const std::string &flag) {
  if (flag == "--barrier-participants=all") {
    common.participants = "all";
    return true;
  }
  for (const std::string &name : overflowNames()) {
    if (flag == "--overflow=" + name) {
      common.overflow = name;
      return true;
    }
  }
  for (auto [name, value] :
       {std::pair("--no-fold", &common.noFold), std::pair("--no-licm", &common.noLicm),
        std::pair("--no-cse", &common.noCse)}) {
    if (flag == name) {
      *value = true;
      return true;
    }
  }
  return false;
}

} // namespace

void writeWitness(const CheckOptions &options, const Session &session, const Subject &subject,
                  const Fault &fault, uint32_t number) {
  ScheduleFile file;
  file.kernelFile = options.common.input;
  file.kernelName = subject.kernel.text(subject.kernel.name);
  file.codeFile = options.code;
  file.strategy = subject.isWritten ? std::string_view() : toString(subject.code.strategy);
  file.options = compileFlags(options.common);
  file.machine = session.hasMachineOfCode() ? "" : options.common.machine;
  file.trips = fault.trips;
  file.guards = fault.guards;
  file.inFlight = fault.inFlight;
  file.shows = fault.message;
  file.steps = nameSteps(subject.kernel, fault.steps);
  std::string path = numberedPath(options.witness, number);
  std::string text = writeScheduleFile(file);
  if (text.size() > scheduleInput.maxBytes) {
    complain(fmt::format("the schedule for '{}' has {} steps, more than --replay reads: at most {} "
                         "MiB; {}",
                         path, file.steps.size(), scheduleInput.maxBytes >> 20,
                         scheduleInput.wayOut),
             path);
  } else if (writeOutput(path, text)) {
    tellNote(fmt::format("the schedule '{}' shows: {}", path, fault.message));
  }
}

//===----------------------------------------------------------------------===//
// Performing
//===----------------------------------------------------------------------===//

namespace {

class Replay {
public:
  Replay(const Subject &subject, const Machine &machine, const ScheduleFile &file,
         const CheckOptions &given)
      : subject(subject), kernel(subject.kernel), machine(machine), file(file), given(given),
        schedulePath(given.replay) {}

  /// False, with the reasons reported, if the file does not fit the kernel.
  bool run() {
    Diagnostics diagnostics;
    Bindings bindings = Bindings::parse(kernel, file.trips, file.guards, diagnostics);
    std::vector<Step> steps = resolveSteps(kernel, file.steps, diagnostics);
    if (diagnostics.hasErrors()) {
      tool::tell(diagnostics, {schedulePath});
      return false;
    }
    RaceOptions options;
    options.inFlight = file.inFlight;
    size_t performed = 0;
    RaceResult result =
        checkSchedule(kernel, subject.code, machine, bindings, steps, options, performed);
    foldReports(bindings, options, result);
    compare(bindings, steps);
    verdict =
        result.verdict == Verdict::No || !differences.empty() ? Verdict::No : Verdict::Undecided;
    tell(result, performed);
    return true;
  }

  Verdict verdict = Verdict::Undecided;
  std::string text;
  Json json;

private:
  /// One schedule does not tell which reports have one cause; a check of the same trips does.
  void foldReports(const Bindings &bindings, const RaceOptions &options, RaceResult &result) {
    if (result.reports.size() < 2) {
      return;
    }
    std::vector<RaceResult> all = {checkRaces(kernel, subject.code, machine, bindings, options)};
    CauseOptions causes;
    causes.race = options;
    causes.mends = subject.isWritten;
    findCauses(kernel, subject.code, machine, std::span(&bindings, 1), all, causes);
    takeCauses(kernel, all.front(), result);
  }

  /// What differs from the dependences along the way, but for waits that may be longer.
  void compare(const Bindings &bindings, const std::vector<Step> &steps) {
    ExploreOptions options;
    options.inFlight = file.inFlight;
    options.mayOverwait = subject.mayOverwait;
    const Kernel &asked = subject.asked ? *subject.asked : kernel;
    Lockstep lockstep(asked, subject.code, machine, bindings, options);
    ReplayResult replayed = replay(lockstep, steps);
    for (const Mismatch &mismatch : replayed.mismatches) {
      bool isAllowed = mismatch.kind == MismatchKind::Late && mismatch.instance.instr.valid() &&
                       subject.mayOverwait[mismatch.instance.instr];
      isAllowed |= mismatch.dep.valid() &&
                   std::ranges::find(subject.loose, mismatch.dep) != subject.loose.end();
      if (!isAllowed) {
        differences.push_back(describe(lockstep.specOf(), lockstep.implOf(), mismatch));
      }
    }
    for (EngineId engine : kernel.engines.ids()) {
      places += placeOf(lockstep.implOf(), replayed.last.impl, engine);
    }
  }

  /// Where an engine stands, and what it has in flight.
  std::string placeOf(const ImplSystem &system, const ImplState &state, EngineId engine) const {
    Blocked blocked = system.whyBlocked(state, engine);
    std::string place = fmt::format("  {}: ", kernel.nameOf(engine));
    if (blocked.kind == Blocked::Kind::Finished) {
      place += "at the end";
    } else {
      bool issues = blocked.op->kind == OpKind::Issue;
      place += issues ? fmt::format("at '{}'", kernel.nameOf(blocked.op->instr()))
                      : std::string("between instructions");
    }
    if (blocked.kind == Blocked::Kind::Wait) {
      place += fmt::format(", waits for '{}' >= {}, which holds {}",
                           subject.code.semaphores[blocked.semaphore].name, blocked.threshold,
                           blocked.value);
    }
    for (QueueId queue : kernel.engines[engine].queues) {
      const QueueState &q = state.queues[queue];
      for (uint32_t n = q.retired; n < q.issued; ++n) {
        place += fmt::format("{}'{}'", n == q.retired ? "; in flight " : ", ",
                             kernel.nameOf(system.instanceAt(queue, n).instr));
      }
    }
    return place + "\n";
  }

  void tell(const RaceResult &result, size_t performed) {
    text = fmt::format("{} of {} performed, after which\n{}", performed,
                       counted(file.steps.size(), "step"), places);
    if (performed < file.steps.size()) {
      text += fmt::format("step {} cannot happen there\n", performed + 1);
    }
    for (const std::string &difference : differences) {
      text += fmt::format("{}\n", difference);
    }
    RaceResult told = result;
    std::erase_if(told.reports, [](const RaceReport &report) { return report.isFolded; });
    text += render(given.all ? result : told, kernel.files);
    if (differences.empty() && result.reports.empty()) {
      text += "nothing wrong is to be seen\n";
    }
    text += fmt::format("verdict: {}\n", toString(verdict));
    json["kernel"] = kernel.text(kernel.name);
    json["verdict"] = toString(verdict);
    json["performed"] = performed;
    json["differences"] = differences;
    json["race"] = Json::parse(toJson(result, kernel.files));
  }

  const Subject &subject;
  const Kernel &kernel;
  const Machine &machine;
  const ScheduleFile &file;
  const CheckOptions &given;
  const std::string schedulePath;
  std::vector<std::string> differences;
  std::string places;
};

std::optional<ScheduleFile> loadSchedule(const std::string &path) {
  EndsOnSignals untilRead;
  FileText file = readFile(path, scheduleInput);
  if (!file.problem.empty()) {
    complain(fmt::format("cannot read the schedule '{}': {}", path, file.problem), path);
    return {};
  }
  Diagnostics diagnostics;
  std::optional<ScheduleFile> schedule = readScheduleFile(file.text, diagnostics);
  tell(diagnostics, {path});
  return schedule;
}

/// The command that the schedule was written by, but for files that are named now.
std::optional<CheckOptions> optionsOf(const CheckOptions &given, const ScheduleFile &file) {
  CheckOptions options = given;
  if (given.common.input.empty()) {
    options.common.input = file.kernelFile;
    options.code = file.codeFile;
  }
  if (!file.machine.empty()) {
    options.common.machine = file.machine;
  }
  options.common.machineOption = nullptr; // the schedule says it, or the code does
  options.strategyGiven = !file.strategy.empty();
  options.common.strategy = file.strategy.empty() ? given.common.strategy : file.strategy;
  for (const std::string &flag : file.options) {
    if (!setCompileFlag(options.common, flag)) {
      complain(fmt::format("the schedule has the unknown option '{}'", flag), given.replay);
      return {};
    }
  }
  return options;
}

const Subject *findSubject(const std::vector<Subject> &subjects, std::string_view name) {
  for (const Subject &subject : subjects) {
    if (subject.kernel.text(subject.kernel.name) == name) {
      return &subject;
    }
  }
  return nullptr;
}

} // namespace

int replaySchedule(const CheckOptions &given) {
  std::optional<ScheduleFile> file = loadSchedule(given.replay);
  std::optional<CheckOptions> options = file ? optionsOf(given, *file) : std::nullopt;
  if (!options) {
    return Exit::Undecided;
  }
  Session session;
  std::optional<Machine> machine = file->machine.empty() ? session.machine(options->common)
                                                         : session.machine(options->common.machine);
  if (!machine) {
    return Exit::Undecided;
  }
  std::optional<std::vector<Subject>> subjects = loadSubjects(*options, session, *machine);
  if (!subjects) {
    return Exit::Undecided;
  }
  const Subject *subject = findSubject(*subjects, file->kernelName);
  if (!subject) {
    complain(fmt::format("'{}' holds no kernel '{}'", options->common.input, file->kernelName),
             options->common.input);
    return Exit::Undecided;
  }
  Replay replay(*subject, *machine, *file, given);
  if (!replay.run()) {
    return Exit::Undecided;
  }
  Json document = {{"schema", "tally-replay"}, {"version", 2}};
  document.update(replay.json);
  bool written = writeOutput("-", given.format == "json" ? dump(document) + "\n" : replay.text);
  return written ? exitStatus(replay.verdict) : int(Exit::Undecided);
}

} // namespace tally::tool
