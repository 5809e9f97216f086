//===- CheckRace.cpp - tally check --race ---------------------------------===//
//
// Runs the race check for the given trips, or for several choices of our own (Choices.h). A yes is
// about the runs that were tried. It says which these are, and what they never did; and if that may
// conflict with something, in runs that were not asked about, there is no yes.
//
//===----------------------------------------------------------------------===//

#include "CheckAnswer.h"
#include "Progress.h"

#include "tally/Check/Causes.h"
#include "tally/Check/Choices.h"
#include "tally/Check/Explore.h"
#include "tally/Check/Turns.h"

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
           const Bindings &given)
      : options(options), subject(subject), kernel(subject.kernel), machine(machine), given(given),
        isDecided(!options.tripsGiven() && hasGuards(subject.kernel)),
        turns(subject.kernel, subject.code, machine, longestIn(subject.heldTo())),
        passed(turns.all().size(), false), decisions(decisionsOf(subject.kernel)),
        longest(subject.kernel.loops.size(), 0), largest(subject.kernel.values.size(), 0) {
    ranOnce = IdVector<InstrId, bool>(kernel.instrs.size(), false);
    touched = IdVector<AccessId, bool>(kernel.accesses.size(), false);
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
    ChosenRuns chosen = choose();
    open = std::move(chosen.apart);
    leavesOut = chosen.leavesOut;
    nowDoing("preparing runs");
    raceRuns(kernel, subject.code, machine, chosen.runs, race,
             [this](const RunChoice &choice, RaceResult result) {
               take(choice, std::move(result));
               return !isSet(options.stop);
             });
    openLeftOut(chosen.runs);
    if (isSet(options.stop) && answer.verdict == Verdict::Yes) {
      answer.verdict = Verdict::Undecided;
      reason = stopReason;
    }
    foldReports();
    for (size_t i = 0; i < results.size(); ++i) {
      tell(results[i], tried[i]);
    }
    bool hasNeeds = !kernel.accesses.empty() || !kernel.deps.empty();
    std::string nothing = nothingToCompare(subject, hasNeeds, runsDo, options.tripsGiven());
    if (answer.verdict == Verdict::Yes && !nothing.empty()) {
      answer.verdict = Verdict::Undecided;
      reason = nothing;
    }
    noteNever();
    if (answer.verdict == Verdict::Yes && !never.empty()) {
      answer.verdict = mayBeWrong && !options.tripsGiven() ? Verdict::Undecided : Verdict::Yes;
      reason = fmt::format("{}; but {}",
                           answer.verdict == Verdict::Yes ? reason : "nothing wrong was seen",
                           neverText(never));
    }
    answer.json = {{"verdict", toString(answer.verdict)},
                   {"reason", reason},
                   {"never_ran", std::move(neverRan)},
                   {"never_touched", std::move(neverTouched)},
                   {"never_together", std::move(neverMet)},
                   {"never_owed", neverOwed(kernel, runsDo)},
                   {"never_passed", std::move(neverPassed)},
                   {"tried", options.tripsGiven() ? Json() : triedJson()},
                   {"runs", std::move(runs)}};
    answer.text += fmt::format(
        "race:    {}: {}\n         {}, {}, {}, seed {}\n", toString(answer.verdict), reason,
        options.tripsGiven() ? "the given trips"
                             : fmt::format("{} of trips", counted(tried.size(), "choice")),
        counted(schedules, "schedule"), counted(steps, "step"), options.seed);
    answer.text += options.tripsGiven() ? "" : triedText();
    if (stuckTogether) {
      answer.text +=
          "         the dependences themselves let nobody go on; that is no fault of the code\n";
    }
    if (kernel.accesses.empty() && kernel.deps.empty()) {
      answer.text += "         the kernel says neither what is accessed nor what depends on what: "
                     "only deadlocks, resets and overflow can be seen\n";
    }
    return std::move(answer);
  }

private:
  ChosenRuns choose() {
    if (options.tripsGiven()) {
      return {{{given, options.values.trips, options.values.guards, false, {}}}, {}, false};
    }
    nowDoing("choosing runs");
    ChosenRuns chosen = chooseRuns(kernel, subject.heldTo(), machine, options.stop);
    addTurningRuns(turns, kernel, chosen.runs, options.stop);
    return chosen;
  }

  /// Rare runs that counted for nothing, or did not come to their end, brought nobody together.
  void openLeftOut(const std::vector<RunChoice> &chosen) {
    for (const RunChoice &choice : chosen) {
      bool isTried = false;
      for (size_t i = 0; i < tried.size(); ++i) {
        isTried |=
            tried[i].isRare && tried[i].options == choice.options && !results[i].stuckTogether;
      }
      if (!isTried) {
        open.insert(open.end(), choice.meeting.begin(), choice.meeting.end());
      }
    }
  }

  void take(const RunChoice &choice, RaceResult result) {
    if (!options.tripsGiven()) {
      doubtTrips(result);
    }
    runsDo.add(choice.bindings, options.stop);
    noteTried(choice, result);
    if (!options.tripsGiven() && result.schedules == 0 && !result.timeIsUp && !result.isStopped) {
      result.reason = fmt::format("with {}: {}", optionsText(choice), result.reason);
    }
    stuckTogether |= result.stuckTogether;
    for (InstrId instr : kernel.instrs.ids()) {
      ranOnce[instr] = ranOnce[instr] || result.hasRun[instr];
    }
    for (AccessId access : kernel.accesses.ids()) {
      touched[access] = touched[access] || result.touched[access];
    }
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

  /// Which trips and decisions a run of our own choice had, and what it passed.
  void noteTried(const RunChoice &choice, const RaceResult &result) {
    if (options.tripsGiven() || result.schedules == 0 || result.stuckTogether) {
      return;
    }
    for (LoopId loop : openLoops()) {
      longest[loop] = std::max(longest[loop], choice.bindings.tripRange(loop).second);
    }
    for (RunValueId id : kernel.values.ids()) {
      largest[id] = std::max(largest[id], choice.bindings.values()[id.value]);
    }
    std::vector<bool> taken;
    for (const Decision &decision : decisions) {
      EngineId engine = decision.engine.valid() ? decision.engine : EngineId(0);
      taken.push_back(choice.bindings.trips(engine, decision.branch, 1) != 0);
    }
    decided.insert(std::move(taken));
    if (std::ranges::find(passed, false) != passed.end()) {
      uint64_t fuel = race.maxOperations;
      std::vector<bool> now = turns.passedIn(choice.bindings, fuel).value_or(passed);
      for (size_t i = 0; i < passed.size(); ++i) {
        passed[i] = passed[i] || now[i];
      }
    }
  }

  std::vector<LoopId> openLoops() const {
    std::vector<LoopId> loops;
    for (LoopId id : kernel.loops.ids()) {
      const Loop &loop = kernel.loops[id];
      bool isOpen = loop.trip.kind != Trip::Kind::Constant && loop.trip.kind != Trip::Kind::Formula;
      if (loop.kind == LoopKind::Loop && isOpen) {
        loops.push_back(id);
      }
    }
    return loops;
  }

  /// `         tried: trips of 'A' up to 21; 18 of 64 decisions`
  std::string triedText() const {
    constexpr size_t numNamed = 4;
    std::vector<std::string> parts, named;
    const std::vector<LoopId> loops = openLoops();
    uint64_t most = 0;
    for (LoopId loop : loops) {
      most = std::max(most, longest[loop]);
      named.push_back(fmt::format("'{}' up to {}", kernel.nameOf(loop), longest[loop]));
    }
    if (!loops.empty()) {
      parts.push_back(loops.size() <= numNamed ? fmt::format("trips of {}", fmt::join(named, ", "))
                                               : fmt::format("trips up to {}", most));
    }
    for (RunValueId id : kernel.values.ids()) {
      parts.push_back(fmt::format("'${}' up to {}", kernel.nameOf(id), largest[id]));
    }
    if (!decisions.empty()) {
      constexpr size_t mostWritten = 20;
      const size_t count = decisions.size();
      std::string all = count > mostWritten ? fmt::format("2^{}", count)
                                            : fmt::format("{}", uint64_t(1) << count);
      parts.push_back(fmt::format("{} of {} decisions", decided.size(), all));
    }
    return parts.empty() ? "" : fmt::format("         tried: {}\n", fmt::join(parts, "; "));
  }

  Json triedJson() const {
    Json trips = Json::array();
    for (LoopId loop : openLoops()) {
      trips.push_back({{"loop", kernel.nameOf(loop)}, {"trips", longest[loop]}});
    }
    Json values = Json::array();
    for (RunValueId id : kernel.values.ids()) {
      values.push_back({{"value", kernel.nameOf(id)}, {"number", largest[id]}});
    }
    return {{"trips", std::move(trips)},
            {"values", std::move(values)},
            {"branches", decisions.size()},
            {"decisions", decisions.empty() ? 0 : decided.size()}};
  }

  /// Beyond a number that hand-written code can pass, it was not tried. Counters of compiled code
  /// are the compiler's to bound.
  void noteUnpassed() {
    if (options.tripsGiven()) {
      return;
    }
    std::vector<std::string> texts = turns.open();
    for (size_t i = 0; i < passed.size(); ++i) {
      if (!passed[i]) {
        texts.push_back(turns.neverText(turns.all()[i]));
      }
    }
    for (std::string &text : texts) {
      neverPassed.push_back(text);
      if (subject.code.strategy == Strategy::Manual) {
        addNever(std::move(text), "");
        mayBeWrong = true;
      }
    }
  }

  /// What no run has issued, tiles that none has touched, and what none has brought together was
  /// compared with nothing.
  void noteNever() {
    for (InstrId instr : kernel.instrs.ids()) {
      if (!ranOnce[instr]) {
        neverRan.emplace_back(kernel.nameOf(instr));
        addNever(fmt::format("'{}' never ran", kernel.nameOf(instr)), whenRuns(kernel, instr));
      }
    }
    if (options.tripsGiven()) {
      findUntouched();
    }
    std::set<AccessId> untouched;
    for (const Apart &pair : open) {
      for (Party party : {pair.first, pair.second}) {
        bool isUntouched = party.access.valid() && ranOnce[party.instr] && !touched[party.access];
        if (isUntouched && untouched.insert(party.access).second) {
          noteUntouched(party.instr, party.access);
        }
      }
    }
    for (const Apart &pair : open) {
      noteApart(pair);
    }
    mayBeWrong = !open.empty() || leavesOut;
    noteUnowed();
    noteUnpassed();
    if (leavesOut) {
      addNever("there are more pairs of accesses than were looked at", "");
    }
  }

  /// Unless the loops never run so often, other runs may have what the code does not wait for.
  void noteUnowed() {
    for (DepId id : runsDo.neverOwed()) {
      const Dep &dep = kernel.deps[id];
      addNever(fmt::format("{} never asked for anything", describe(kernel, id)), "");
      LoopId common =
          kernel.commonLoop(kernel.instrs[dep.producer].home, kernel.instrs[dep.consumer].home);
      mayBeWrong |= std::ranges::none_of(kernel.realLoops(common), [&](LoopId loop) {
        int64_t distance = kernel.distanceOn(dep, loop);
        return distance > 0 && static_cast<uint64_t>(distance) >=
                                   kernel.loops[loop].trip.most().value_or(UINT64_MAX);
      });
    }
  }

  /// Of given trips only what was not touched is told.
  void findUntouched() {
    for (InstrId instr : kernel.instrs.ids()) {
      for (AccessId access : kernel.instrs[instr].accesses) {
        Party party{instr, access};
        if (ranOnce[instr] && !touched[access] && mayMeetAny(kernel, machine, party)) {
          open.push_back({party, party});
        }
      }
    }
  }

  /// If both did what they do, but not to the same.
  void noteApart(const Apart &pair) {
    auto isTouched = [&](Party party) { return party.access.valid() && touched[party.access]; };
    if (!isTouched(pair.first) || !isTouched(pair.second)) {
      return;
    }
    std::string first = touchText(kernel, pair.first.access).tile;
    std::string second = touchText(kernel, pair.second.access).tile;
    addNever(fmt::format("'{}' touched {} and '{}' touched {}, but never so that they met",
                         kernel.nameOf(pair.first.instr), first, kernel.nameOf(pair.second.instr),
                         second),
             "");
    neverMet.push_back({{"first", kernel.nameOf(pair.first.instr)},
                        {"first_tile", first},
                        {"second", kernel.nameOf(pair.second.instr)},
                        {"second_tile", second}});
  }

  void noteUntouched(InstrId instr, AccessId access) {
    TouchText text = touchText(kernel, access);
    addNever(fmt::format("'{}' never touched {}", kernel.nameOf(instr), text.tile), text.needs);
    neverTouched.push_back(
        {{"instruction", kernel.nameOf(instr)}, {"tile", text.tile}, {"needs", text.needs}});
  }

  void addNever(std::string what, std::string needs) {
    never.push_back(needs.empty() ? std::move(what)
                                  : fmt::format("{}, which needs {}", what, needs));
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
  const Bindings &given;
  const bool isDecided; ///< choices have decisions of branches
  const Turns turns;
  std::vector<bool> passed; ///< by turn: in some run
  const std::vector<Decision> decisions;
  std::set<std::vector<bool>> decided;   ///< at the first entry of each branch
  IdVector<LoopId, uint64_t> longest;    ///< trips that ran
  IdVector<RunValueId, int64_t> largest; ///< values that ran
  RaceOptions race;
  Answer answer;
  std::string reason;
  RunsDo runsDo{kernel};           ///< with all choices of trips
  IdVector<InstrId, bool> ranOnce; ///< by instruction: in some run
  IdVector<AccessId, bool> touched;
  std::vector<Apart> open; ///< pairs that no run brought together
  bool leavesOut = false;  ///< there are more pairs
  Json neverRan = Json::array(), neverTouched = Json::array(), neverMet = Json::array(),
       neverPassed = Json::array();
  std::vector<std::string> never;  ///< the same as text
  bool mayBeWrong = false;         ///< some of that may conflict with something
  bool stuckTogether = false;      ///< in some run the dependences let no engine go on
  std::vector<RunChoice> tried;    ///< choices of trips
  std::vector<RaceResult> results; ///< of each
  Json runs = Json::array();
  uint64_t schedules = 0, steps = 0;
  std::set<std::string> shown;
};

} // namespace

Answer raceSubject(const CheckOptions &options, const Subject &subject, const Machine &machine,
                   const Bindings &given) {
  return RaceMode(options, subject, machine, given).run();
}

} // namespace tally::tool
