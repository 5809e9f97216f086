//===- CheckReplay.cpp - Schedules as files -------------------------------===//
//
// Writes a schedule with all that is needed to repeat it (--witness), and performs one (--replay).
//
//===----------------------------------------------------------------------===//

#include "CheckAnswer.h"
#include "Interrupt.h"

#include "tally/Check/Causes.h"
#include "tally/Check/Schedule.h"
#include "tally/Model/Source.h"
#include "tally/Support/ReadFile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

namespace tally::tool {
namespace {

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// An option that says how code is compiled, with its value.
struct Flag {
  std::string text;
  std::function<bool(const CommonOptions &)> isGiven; ///< what is the default is not
  std::function<void(CommonOptions &)> set;
};

template <typename Value>
Flag flagOf(std::string text, Value CommonOptions::*member, const Value &value) {
  return {std::move(text),
          [=](const CommonOptions &common) {
            return common.*member == value && CommonOptions().*member != value;
          },
          [=](CommonOptions &common) { common.*member = value; }};
}

/// All that a schedule may have.
std::vector<Flag> allFlags() {
  std::vector<Flag> flags{
      flagOf("--barrier-participants=all", &CommonOptions::participants, std::string("all"))};
  for (const std::string &overflow : overflowNames()) {
    flags.push_back(flagOf("--overflow=" + overflow, &CommonOptions::overflow, overflow));
  }
  flags.push_back(flagOf("--no-fold", &CommonOptions::noFold, true));
  flags.push_back(flagOf("--no-licm", &CommonOptions::noLicm, true));
  flags.push_back(flagOf("--no-cse", &CommonOptions::noCse, true));
  return flags;
}

std::vector<std::string> compileFlags(const CommonOptions &common) {
  std::vector<std::string> given;
  for (const Flag &flag : allFlags()) {
    if (flag.isGiven(common)) {
      given.push_back(flag.text);
    }
  }
  return given;
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
      : subject(subject), kernel(subject.kernel), machine(machine), file(file), given(given) {}

  Exit run() {
    Diagnostics diagnostics;
    Bindings bindings = Bindings::parse(kernel, file.trips, file.guards, diagnostics);
    std::vector<Step> steps = resolveSteps(kernel, file.steps, diagnostics);
    if (diagnostics.hasErrors()) {
      tool::tell(diagnostics, {given.replay});
      end();
    }
    RaceOptions options;
    options.inFlight = file.inFlight;
    size_t performed = 0;
    RaceResult result =
        checkSchedule(kernel, subject.code, machine, bindings, steps, options, performed);
    foldReports(bindings, options, result);
    compare(bindings, steps);
    return tell(result, performed);
  }

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
    Lockstep lockstep(subject.heldTo(), subject.code, machine, bindings, options);
    ReplayResult replayed = replay(lockstep, steps);
    for (const Mismatch &mismatch : replayed.mismatches) {
      bool isAllowed = mismatch.kind == MismatchKind::Late && mismatch.instance.instr.valid() &&
                       subject.mayOverwait[mismatch.instance.instr];
      if (!isAllowed && !subject.isLoose(mismatch.dep)) {
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
      place += issues ? fmt::format("at {}", nameWithSource(kernel, blocked.op->instr()))
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
        place += n == q.retired ? "; in flight " : ", ";
        place += nameWithSource(kernel, system.instanceAt(queue, n).instr);
      }
    }
    return place + "\n";
  }

  Exit tell(const RaceResult &found, size_t performed) const {
    Verdict verdict =
        found.verdict == Verdict::No || !differences.empty() ? Verdict::No : Verdict::Undecided;
    RaceResult told = found;
    std::erase_if(told.reports,
                  [&](const RaceReport &report) { return report.isFolded && !given.all; });
    Result result(given.format, "tally-replay", 2);
    result.text = fmt::format("{} of {} performed, after which\n{}", performed,
                              counted(file.steps.size(), "step"), places);
    if (performed < file.steps.size()) {
      result.text += fmt::format("step {} cannot happen there\n", performed + 1);
    }
    for (const std::string &difference : differences) {
      result.text += difference + "\n";
    }
    result.text += render(told, kernel.files);
    result.text +=
        differences.empty() && found.reports.empty() ? "nothing wrong is to be seen\n" : "";
    result.text += fmt::format("verdict: {}\n", toString(verdict));
    result.set({{"kernel", kernel.text(kernel.name)},
                {"verdict", toString(verdict)},
                {"performed", performed},
                {"differences", differences},
                {"race", Json::parse(toJson(found, kernel.files))}});
    return result.print(Exit(exitStatus(verdict)));
  }

  const Subject &subject;
  const Kernel &kernel;
  const Machine &machine;
  const ScheduleFile &file;
  const CheckOptions &given;
  std::vector<std::string> differences;
  std::string places;
};

ScheduleFile loadSchedule(const std::string &path) {
  EndsOnSignals untilRead;
  FileText file = readFile(path, scheduleInput);
  if (!file.problem.empty()) {
    fail(fmt::format("cannot read the schedule '{}': {}", path, file.problem), path);
  }
  Diagnostics diagnostics;
  std::optional<ScheduleFile> schedule = readScheduleFile(file.text, diagnostics);
  tell(diagnostics, {path});
  return orEnd(std::move(schedule));
}

/// The command that the schedule was written by, but for files that are named now.
CheckOptions optionsOf(const CheckOptions &given, const ScheduleFile &file) {
  CheckOptions options = given;
  if (given.common.input.empty()) {
    options.common.input = file.kernelFile;
    options.code = file.codeFile;
  }
  // The schedule says the machine, or the code does.
  options.common.machine = file.machine.empty() ? given.common.machine : file.machine;
  options.common.machineGiven = !file.machine.empty();
  options.common.strategyGiven = !file.strategy.empty();
  options.common.strategy = file.strategy.empty() ? given.common.strategy : file.strategy;
  const std::vector<Flag> known = allFlags();
  for (const std::string &flag : file.options) {
    auto found = std::ranges::find(known, flag, &Flag::text);
    if (found == known.end()) {
      std::vector<std::string_view> texts(known.size());
      std::ranges::transform(known, texts.begin(), &Flag::text);
      Diagnostics diagnostics;
      diagnostics.error(file.optionsAt, fmt::format("the schedule has the unknown option '{}'; the "
                                                    "options of a schedule are '{}'",
                                                    flag, fmt::join(texts, "', '")));
      tell(diagnostics, {given.replay});
      end();
    }
    found->set(options.common);
  }
  return options;
}

} // namespace

Exit replaySchedule(const CheckOptions &given) {
  ScheduleFile file = loadSchedule(given.replay);
  CheckOptions options = optionsOf(given, file);
  Session session(options.common);
  std::vector<Subject> subjects = orEnd(makeSubjects(session.load(), options, session));
  auto subject = std::ranges::find_if(subjects, [&](const Subject &each) {
    return each.kernel.text(each.kernel.name) == file.kernelName;
  });
  if (subject == subjects.end()) {
    fail(fmt::format("'{}' holds no kernel '{}'", options.common.input, file.kernelName),
         options.common.input);
  }
  return Replay(*subject, session.machine(), file, given).run();
}

} // namespace tally::tool
