//===- CheckRace.cpp - tally check --race ---------------------------------===//
//
// Runs the race check for a run that is given, or for several choices of our own (Choices.h) that
// have what is given in common. A yes is about the runs that were tried. It says which these are,
// and what they never did; and if that may conflict with something, in runs that were not asked
// about, there is no yes.
//
//===----------------------------------------------------------------------===//

#include "CheckRuns.h"
#include "Progress.h"

#include "tally/Check/Causes.h"
#include "tally/Check/Explore.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace tally::tool {
namespace {

uint64_t longestIn(const Kernel &kernel) {
  uint64_t longest = 0;
  for (LoopId loop : kernel.loops.ids()) {
    longest = std::max(longest, longestDistance(kernel, loop));
  }
  return longest;
}

class RaceMode {
public:
  RaceMode(const CheckOptions &options, const Subject &subject, const Machine &machine,
           const Given &given)
      : options(options), subject(subject), kernel(subject.kernel), machine(machine), given(given),
        isDecided(given.bindings.leavesGuardsOpen()),
        common{given.bindings, options.values.trips, options.values.guards, false, {}},
        turns(kernel, subject.code, machine, common, longestIn(subject.heldTo())),
        numbers(kernel, turns, given), never(subject, machine, given) {
    race.inFlight = options.inFlight != 0 ? options.inFlight : race.inFlight;
    race.schedules = options.schedules;
    race.seed = options.seed;
    race.stop = options.stop;
    race.progress = [this](uint64_t done, uint64_t performed) {
      nowDoing(fmt::format("running: {}, {}", counted(schedules + done, "schedule"),
                           counted(steps + performed, "step")));
    };
  }

  Answer run() {
    race.seconds = options.seconds > 0 ? options.seconds : race.seconds;
    answer.verdict = Verdict::Yes;
    raceAll();
    foldReports();
    for (size_t i = 0; i < results.size(); ++i) {
      tell(results[i], tried[i]);
    }
    judge();
    answer.json = {{"verdict", toString(answer.verdict)}, {"reason", reason}};
    answer.json.update(never.json());
    answer.json["tried"] = given.isOneRun ? Json() : numbers.json();
    answer.json["seed"] = options.seed;
    answer.json["runs"] = std::move(runs);
    answer.text += summary();
    return std::move(answer);
  }

private:
  void raceAll() {
    ChosenRuns chosen = choose();
    never.addApart(chosen.apart);
    if (chosen.leavesOut) {
      never.addMorePairs();
    }
    nowDoing("preparing runs");
    raceRuns(kernel, subject.code, machine, chosen.runs, race,
             [this](const RunChoice &choice, RaceResult result) {
               take(choice, std::move(result));
               return !isSet(options.stop);
             });
    addLeftOut(chosen.runs);
    if (isSet(options.stop) && answer.verdict == Verdict::Yes) {
      answer.verdict = Verdict::Undecided;
      reason = stopReason;
    }
  }

  ChosenRuns choose() {
    if (given.isOneRun) {
      return {{common}, {}, false};
    }
    nowDoing("choosing runs");
    ChosenRuns chosen = chooseRuns(kernel, subject.heldTo(), machine, common, options.stop);
    addTurningRuns(turns, kernel, chosen.runs, options.stop);
    return chosen;
  }

  /// Rare runs that counted for nothing, or did not come to their end, brought nobody together.
  void addLeftOut(const std::vector<RunChoice> &chosen) {
    for (const RunChoice &choice : chosen) {
      bool isTried = false;
      for (size_t i = 0; i < tried.size(); ++i) {
        isTried |=
            tried[i].isRare && tried[i].options == choice.options && !results[i].stuckTogether;
      }
      if (!isTried) {
        never.addApart(choice.meeting);
      }
    }
  }

  void take(const RunChoice &choice, RaceResult result) {
    if (!given.isOneRun) {
      doubtTrips(result);
    }
    never.add(choice.bindings, result, options.stop);
    if (!given.isOneRun && result.schedules != 0 && !result.stuckTogether) {
      numbers.add(choice.bindings, race.maxOperations);
    }
    if (!given.isOneRun && result.schedules == 0 && !result.timeIsUp && !result.isStopped) {
      result.reason = fmt::format("with {}: {}", optionsText(choice), result.reason);
    }
    stuckTogether |= result.stuckTogether;
    schedules += result.schedules;
    steps += result.steps;
    // Of several choices of trips the first that has the verdict of all speaks for all.
    Verdict before = answer.verdict;
    answer.verdict = both(answer.verdict, result.verdict);
    reason = reason.empty() || before != answer.verdict ? result.reason : reason;
    keepNew(result);
    results.push_back(std::move(result));
    tried.push_back(choice);
  }

  /// No yes is left to runs that compare nothing, or leave out what may be wrong.
  void judge() {
    bool hasNeeds = !kernel.accesses.empty() || !kernel.deps.empty();
    std::string nothing = nothingToCompare(subject, hasNeeds, never.runsDo(), given.isOneRun);
    if (answer.verdict == Verdict::Yes && !nothing.empty()) {
      answer.verdict = Verdict::Undecided;
      reason = nothing;
    }
    never.conclude(given.isOneRun ? std::vector<std::string>() : numbers.unpassed());
    if (answer.verdict == Verdict::Yes && !never.texts().empty()) {
      bool isOpen = never.mayBeWrong() && !given.isOneRun;
      answer.verdict = isOpen ? Verdict::Undecided : Verdict::Yes;
      reason = fmt::format("{}; but {}", isOpen ? "nothing wrong was seen" : reason,
                           neverText(never.texts()));
    }
  }

  /// Several reports may have one cause, in several runs, too.
  void foldReports() {
    nowDoing("looking for causes");
    std::vector<Bindings> bindings;
    for (const RunChoice &choice : tried) {
      bindings.push_back(choice.bindings);
    }
    CauseOptions cause;
    cause.race = race;
    cause.mends = subject.isWritten; // what compiled code lacks is a dependence
    findCauses(kernel, subject.code, machine, bindings, results, cause);
  }

  std::string summary() const {
    std::string text = fmt::format(
        "race:    {}: {}\n         {}, {}, {}, seed {}\n", toString(answer.verdict), reason,
        given.isOneRun ? "the given trips"
                       : fmt::format("{} of trips", counted(tried.size(), "choice")),
        counted(schedules, "schedule"), counted(steps, "step"), options.seed);
    text += given.isOneRun ? "" : numbers.text();
    if (stuckTogether) {
      text += "         the dependences themselves let no engine go on; that is not a fault of the "
              "code\n";
    }
    if (kernel.accesses.empty() && kernel.deps.empty()) {
      text += "         the kernel says neither what is accessed nor what depends on what: "
              "only deadlocks, resets and overflow can be seen\n";
    }
    return text;
  }

  void tell(RaceResult &result, const RunChoice &choice) {
    Json object = Json::parse(toJson(result, kernel.files));
    if (!options.all) {
      std::erase_if(result.reports, [](const RaceReport &report) { return report.isFolded; });
    }
    for (const RaceReport &report : result.reports) {
      answer.faults.push_back(
          {report.steps, choice.options, choice.guards, race.inFlight, report.text.message});
    }
    if (!result.reports.empty() && !optionsText(choice).empty()) {
      answer.text += fmt::format("with {}:\n", optionsText(choice));
    }
    answer.text += render(result, kernel.files);
    object["trips"] = choice.options;
    object["guards"] = choice.guards;
    runs.push_back(std::move(object));
  }

  /// Trips of our own choice with which a tile leaves its buffer may be more than ever happen.
  static void doubtTrips(RaceResult &result) {
    bool isWrong = false;
    bool isOutside = false;
    for (RaceReport &report : result.reports) {
      isOutside |= report.kind == ReportKind::Outside;
      report.text.severity =
          report.kind == ReportKind::Outside ? Severity::Warning : report.text.severity;
      isWrong |= report.text.severity == Severity::Error;
    }
    if (isOutside && !isWrong) {
      result.verdict = Verdict::Undecided;
      result.reason = "a tile leaves its buffer, if loops ever run so often; state their 'max', or "
                      "give trips";
    }
  }

  /// What an earlier choice of trips has shown is not shown again.
  void keepNew(RaceResult &result) {
    std::erase_if(result.reports,
                  [&](const RaceReport &report) { return !shown.insert(keyOf(report)).second; });
  }

  /// The options that bind what the kernel leaves open.
  std::string optionsText(const RunChoice &choice) const {
    std::string text = fmt::format(
        "{}{}", choice.options.empty() ? "" : "--trips=", fmt::join(choice.options, " --trips="));
    if (isDecided || options.values.guardsGiven) {
      text += fmt::format("{}--guards={}", text.empty() ? "" : " ", choice.guards);
    }
    return text;
  }

  const CheckOptions &options;
  const Subject &subject;
  const Kernel &kernel;
  const Machine &machine;
  const Given &given;
  const bool isDecided;   ///< choices have decisions of branches
  const RunChoice common; ///< what all runs have: what is given
  const Turns turns;
  TriedRuns numbers;
  NeverDone never;
  RaceOptions race;
  Answer answer;
  std::string reason;
  bool stuckTogether = false;      ///< in some run the dependences let no engine go on
  std::vector<RunChoice> tried;    ///< choices of trips
  std::vector<RaceResult> results; ///< of each
  Json runs = Json::array();
  uint64_t schedules = 0, steps = 0;
  std::set<std::string> shown;
};

} // namespace

Answer raceSubject(const CheckOptions &options, const Subject &subject, const Machine &machine,
                   const Given &given) {
  return RaceMode(options, subject, machine, given).run();
}

} // namespace tally::tool
