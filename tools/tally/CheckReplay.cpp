//===- CheckReplay.cpp - Schedules as files -------------------------------===//
//
// Writes a schedule with all that is needed to repeat it (--witness), and performs one (--replay).
//
//===----------------------------------------------------------------------===//

#include "CheckAnswer.h"
#include "Interrupt.h"

#include "tally/Check/Causes.h"
#include "tally/Check/Schedule.h"
#include "tally/Machine/Machine.h"
#include "tally/Model/Source.h"
#include "tally/Support/Names.h"
#include "tally/Support/ReadFile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
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
  for (const std::string &overflow : allWords<Overflow>()) {
    flags.push_back(flagOf("--overflow=" + overflow, &CommonOptions::overflow, overflow));
  }
  flags.push_back(flagOf("--deps=written", &CommonOptions::deps, std::string("written")));
  flags.push_back(flagOf("--keep-implied", &CommonOptions::keepImplied, true));
  flags.push_back(flagOf("--reorder", &CommonOptions::reorder, true));
  flags.push_back(flagOf("--no-fold", &CommonOptions::noFold, true));
  flags.push_back(flagOf("--no-licm", &CommonOptions::noLicm, true));
  flags.push_back(flagOf("--no-cse", &CommonOptions::noCse, true));
  flags.push_back(flagOf("--keep-counters", &CommonOptions::keepCounters, true));
  return flags;
}

/// An option of a schedule whose value is a number.
struct NumberFlag {
  std::string_view prefix;
  double CommonOptions::*member;
  double least, most;
};

constexpr NumberFlag numberFlags[] = {
    {"--max-code-growth=", &CommonOptions::codeGrowth, 1, 1000},
    {"--effort=", &CommonOptions::effort, 0, 1000},
};

bool setNumber(CommonOptions &common, std::string_view text) {
  for (const NumberFlag &flag : numberFlags) {
    if (text.starts_with(flag.prefix)) {
      text.remove_prefix(flag.prefix.size());
      double &value = common.*flag.member;
      auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
      return error == std::errc() && end == text.data() + text.size() && value >= flag.least &&
             value <= flag.most;
    }
  }
  return false;
}

std::vector<PlacedText> placed(const std::vector<std::string> &texts) {
  std::vector<PlacedText> all;
  for (const std::string &text : texts) {
    all.push_back({text});
  }
  return all;
}

std::optional<PlacedText> unless(bool isNothing, const std::string &text) {
  return isNothing ? std::nullopt : std::optional(PlacedText{text});
}

} // namespace

std::vector<std::string> compileFlags(const CommonOptions &common) {
  std::vector<std::string> given;
  for (const Flag &flag : allFlags()) {
    if (flag.isGiven(common)) {
      given.push_back(flag.text);
    }
  }
  for (const NumberFlag &flag : numberFlags) {
    if (common.*flag.member != CommonOptions().*flag.member) {
      given.push_back(fmt::format("{}{}", flag.prefix, common.*flag.member));
    }
  }
  return given;
}

void writeWitness(const CheckOptions &options, const Session &session, const Subject &subject,
                  const Fault &fault, uint32_t number) {
  ScheduleFile file;
  file.kernel = {{options.common.input}, {std::string(subject.kernel.text(subject.kernel.name))}};
  file.code = unless(options.common.code.empty(), options.common.code);
  file.strategy = unless(subject.isWritten, std::string(toString(subject.code.strategy)));
  file.options =
      subject.isWritten ? std::vector<PlacedText>() : placed(compileFlags(options.common));
  file.machine = unless(session.hasMachineOfCode(), session.machineOption());
  file.trips = placed(fault.trips);
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

/// What has no place of its own stands where the schedule asks for it.
void addAt(Location where, const Diagnostics &found, Diagnostics &diagnostics) {
  for (const Diagnostic &each : found.all()) {
    diagnostics.error(each.where.known() ? each.where : where, each.message).notes = each.notes;
  }
}

class Replay {
public:
  Replay(const Subject &subject, const Machine &machine, const ScheduleFile &file,
         const CheckOptions &given)
      : subject(subject), kernel(subject.kernel), machine(machine), file(file), given(given) {}

  Exit run() {
    Diagnostics diagnostics;
    Bindings bindings = bind(diagnostics);
    std::vector<Step> steps = resolveSteps(kernel, file.steps, diagnostics);
    if (diagnostics.hasErrors()) {
      tool::tell(diagnostics, {given.replay});
      end();
    }
    RaceOptions options;
    options.inFlight = static_cast<uint32_t>(file.inFlight);
    size_t performed = 0;
    RaceResult result =
        checkSchedule(kernel, subject.code, machine, bindings, steps, options, performed);
    foldReports(bindings, options, result);
    compare(bindings, steps);
    return tell(result, performed);
  }

private:
  /// What is wrong with one of the trips stands at it; what two of them contradict, at the last.
  Bindings bind(Diagnostics &diagnostics) const {
    std::vector<std::string> all;
    for (const PlacedText &trips : file.trips) {
      Diagnostics own;
      Bindings::parse(kernel, std::span(&trips.text, 1), file.guards, own);
      addAt(trips.where, own, diagnostics);
      all.push_back(trips.text);
    }
    Diagnostics together;
    Bindings bindings = Bindings::parse(kernel, all, file.guards, together);
    if (!diagnostics.hasErrors() && together.hasErrors()) {
      addAt(file.trips.back().where, together, diagnostics);
    }
    return bindings;
  }

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
    options.inFlight = static_cast<uint32_t>(file.inFlight);
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
    result.repeatAsTyped();
    result.text = fmt::format("{} of {} performed, after which\n{}", performed,
                              counted(file.steps.size(), "step"), places);
    if (performed < file.steps.size()) {
      result.text += fmt::format("step {} cannot happen there\n", performed + 1);
    }
    for (const std::string &difference : differences) {
      result.text += difference + "\n";
    }
    result.text += render(told, kernel.files);
    result.text += differences.empty() && found.reports.empty() ? "no fault is seen\n" : "";
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

/// One error in a schedule, after which there is no way on.
[[noreturn]] void failAt(const PlacedText &at, const CheckOptions &given, std::string message,
                         std::vector<DiagnosticNote> notes = {}) {
  Diagnostics diagnostics;
  diagnostics.error(at.where, std::move(message)).notes = std::move(notes);
  tell(diagnostics, {given.replay});
  end();
}

std::string textOr(const std::optional<PlacedText> &at, const std::string &absent) {
  return at ? at->text : absent;
}

/// The command that the schedule was written by, but for files that are named now.
CheckOptions optionsOf(const CheckOptions &given, const ScheduleFile &file) {
  CheckOptions options = given;
  if (given.common.input.empty()) {
    options.common.input = file.kernel.file.text;
    setNamedAt(file.kernel.file.text, given.replay, file.kernel.file.where);
    options.common.code = textOr(file.code, "");
    if (file.code) {
      setNamedAt(file.code->text, given.replay, file.code->where);
    }
  }
  // The schedule says the machine, or the code does.
  options.common.machine = textOr(file.machine, given.common.machine);
  options.common.machineGiven = file.machine.has_value();
  options.common.strategyGiven = file.strategy.has_value();
  options.common.strategy = textOr(file.strategy, given.common.strategy);
  const std::vector<Flag> known = allFlags();
  for (const PlacedText &flag : file.options) {
    if (setNumber(options.common, flag.text)) {
      continue;
    }
    auto found = std::ranges::find(known, flag.text, &Flag::text);
    if (found == known.end()) {
      std::vector<std::string_view> texts(known.size());
      std::ranges::transform(known, texts.begin(), &Flag::text);
      failAt(flag, given,
             fmt::format("the schedule has the unknown option '{}'; the options of a schedule are "
                         "'{}'",
                         flag.text, fmt::join(texts, "', '")));
    }
    found->set(options.common);
  }
  return options;
}

/// What is wrong within a description stands there.
void expectMachine(const PlacedText &machine, const CheckOptions &given) {
  MachineResult found = loadMachine(machine.text);
  const Diagnostic *error = found.errors.firstError();
  if (error && !error->where.known()) {
    failAt(machine, given, error->message, error->notes);
  }
}

} // namespace

Exit replaySchedule(const CheckOptions &given) {
  ScheduleFile file = loadSchedule(given.replay);
  CheckOptions options = optionsOf(given, file);
  if (file.machine) {
    expectMachine(*file.machine, given);
  }
  Session session(options.common);
  std::vector<Subject> subjects = orEnd(makeSubjects(session.load(), options, session));
  std::vector<std::string_view> names;
  for (const Subject &each : subjects) {
    names.push_back(each.kernel.text(each.kernel.name));
  }
  auto named = std::ranges::find(names, file.kernel.name.text);
  if (named == names.end()) {
    failAt(file.kernel.name, given,
           unknownName("kernel", fmt::format("kernels in '{}'", options.common.input),
                       file.kernel.name.text, names));
  }
  return Replay(subjects[named - names.begin()], session.machine(), file, given).run();
}

} // namespace tally::tool
