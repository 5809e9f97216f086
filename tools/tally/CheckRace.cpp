//===- CheckRace.cpp - tally check --race ---------------------------------===//
//
// Runs the race check for the given trips, or for several choices of our own:
//
//   every loop 0, 1, 2, 3, and more times than the longest distance
//   each loop in turn not at all, or once within longer ones
//   each loop in turn, with those around it, three times, and all others once
//   all of them another number of times at each entry
//   those that diverge another number of times on each engine
//
// each with several decisions of branches and guards, if there are any.
//
//===----------------------------------------------------------------------===//

#include "CheckAnswer.h"
#include "Progress.h"

#include "tally/Check/Causes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <span>

namespace tally::tool {
namespace {

using Time = std::chrono::steady_clock;

/// One choice of trips.
struct RaceTrips {
  Bindings bindings;
  std::vector<std::string> options; ///< `--trips` values that say the same
  uint64_t guards = 0;
};

class TripChooser {
public:
  /// `asked`: the kernel with all dependences that code for it is held to.
  TripChooser(const Kernel &kernel, const Kernel &asked) : kernel(kernel), asked(asked) {}

  std::vector<RaceTrips> run() {
    for (uint64_t count : {uint64_t(0), uint64_t(1), uint64_t(2), uint64_t(3)}) {
      add([&](LoopId) { return Trips{count}; });
    }
    const uint64_t many = manyTrips();
    add([&](LoopId loop) { return Trips{std::max(many, longestDistance(asked, loop) + 1)}; });
    for (LoopId one : kernel.loops.ids()) {
      if (isFree(kernel.loops[one])) {
        add([&](LoopId loop) { return Trips{loop == one ? 0u : 3u}; });
        add([&](LoopId loop) { return Trips{loop == one ? 1u : 3u}; });
        add([&](LoopId loop) { return Trips{kernel.encloses(loop, one) ? 3u : 1u}; });
      }
    }
    add([](LoopId loop) { return loop.value % 2 == 0 ? Trips{3, 0, 2} : Trips{4, 1, 0, 3}; });
    addDivergent();
    return std::move(choices);
  }

  bool hasGuards() const {
    return std::ranges::any_of(
        kernel.loops, [](const Loop &loop) { return loop.trip.kind == Trip::Kind::Guard; });
  }

private:
  using Trips = std::vector<uint64_t>;

  static constexpr uint64_t numGuardSeeds = 16;

  uint64_t manyTrips() const {
    uint64_t longest = 3;
    for (const DistanceComponent &component : asked.components) {
      longest = std::max(longest, static_cast<uint64_t>(std::abs(component.distance)));
    }
    return std::min<uint64_t>(2 * longest + 3, 100);
  }

  /// One set of trips for all engines.
  template <typename TripsOf> void add(TripsOf tripsOf) {
    RaceTrips choice{Bindings(kernel), {}, 0};
    for (LoopId id : kernel.loops.ids()) {
      if (isFree(kernel.loops[id])) {
        bind(choice, id, {}, tripsOf(id));
      }
    }
    keep(std::move(choice));
  }

  /// Divergent loops another number of times on each engine.
  void addDivergent() {
    RaceTrips choice{Bindings(kernel), {}, 0};
    for (LoopId id : kernel.loops.ids()) {
      if (isFree(kernel.loops[id]) && kernel.loops[id].uniform) {
        bind(choice, id, {}, {3});
      } else if (isFree(kernel.loops[id])) {
        for (EngineId engine : kernel.engines.ids()) {
          bind(choice, id, engine, {(engine.value + 2) % 4});
        }
      }
    }
    keep(std::move(choice));
  }

  /// Within the bounds of the kernel.
  void bind(RaceTrips &choice, LoopId id, EngineId engine, Trips trips) const {
    for (uint64_t &count : trips) {
      const Trip &bounds = kernel.loops[id].trip;
      count = std::min(std::max(count, bounds.min), bounds.max.value_or(UINT64_MAX));
    }
    std::string on = engine.valid() ? fmt::format("@{}", kernel.nameOf(engine)) : "";
    choice.options.push_back(fmt::format("{}{}={}", kernel.nameOf(id), on, fmt::join(trips, ",")));
    choice.bindings.set(id, std::move(trips), engine);
  }

  /// Unless it is there already.
  void keep(RaceTrips choice) {
    if (!known.insert(choice.options).second) {
      return;
    }
    for (choice.guards = 0; choice.guards < (hasGuards() ? numGuardSeeds : 1); ++choice.guards) {
      choice.bindings.setGuardSeed(choice.guards);
      choices.push_back(choice);
    }
  }

  static bool isFree(const Loop &loop) {
    return loop.kind == LoopKind::Loop && loop.trip.kind == Trip::Kind::Value;
  }

  const Kernel &kernel;
  const Kernel &asked;
  std::vector<RaceTrips> choices;
  std::set<std::vector<std::string>> known;
};

class RaceMode {
public:
  RaceMode(const CheckOptions &options, const Subject &subject, const Machine &machine,
           const Bindings &given)
      : options(options), subject(subject), kernel(subject.kernel), machine(machine), given(given),
        hasGuards(!options.tripsGiven() &&
                  TripChooser(subject.kernel, subject.kernel).hasGuards()) {
    ranOnce = IdVector<InstrId, bool>(kernel.instrs.size(), false);
    race.inFlight = options.inFlight != 0 ? options.inFlight : race.inFlight;
    race.schedules = options.schedules;
    race.seed = options.seed;
    race.stop = options.stop;
    race.progress = [this](uint64_t done, uint64_t performed) {
      nowDoing(fmt::format("running: {} schedules, {} steps", schedules + done, steps + performed));
    };
  }

  Answer run() {
    std::vector<RaceTrips> choices = choose();
    Time::time_point start = Time::now();
    double total = options.seconds > 0 ? options.seconds : race.seconds;
    answer.verdict = Verdict::Yes;
    for (size_t i = 0; i < choices.size(); ++i) {
      if (isSet(options.stop)) {
        answer.verdict = both(answer.verdict, Verdict::Undecided);
        reason = answer.verdict == Verdict::No ? reason : stopReason;
        break;
      }
      // What one choice leaves of its share, the others have.
      double left = total - std::chrono::duration<double>(Time::now() - start).count();
      race.seconds = std::max(left, 0.0) / static_cast<double>(choices.size() - i);
      runOne(choices[i]);
    }
    foldReports(choices);
    for (size_t i = 0; i < results.size(); ++i) {
      tell(results[i], choices[i]);
    }
    bool hasNeeds = !kernel.accesses.empty() || !kernel.deps.empty();
    std::string nothing = nothingToCompare(subject, hasNeeds, most);
    if (answer.verdict == Verdict::Yes && !nothing.empty()) {
      answer.verdict = Verdict::Undecided;
      reason = nothing;
    }
    std::vector<std::string> never = neverRan();
    if (answer.verdict == Verdict::Yes && !never.empty()) {
      reason += "; but " + neverText(never);
    }
    answer.json = {{"verdict", toString(answer.verdict)},
                   {"reason", reason},
                   {"never_ran", never},
                   {"runs", std::move(runs)}};
    answer.text += fmt::format(
        "race:    {}: {}\n         {}, {}, {}, seed {}\n", toString(answer.verdict), reason,
        options.tripsGiven() ? "the given trips"
                             : fmt::format("{} of trips", counted(choices.size(), "choice")),
        counted(schedules, "schedule"), counted(steps, "step"), options.seed);
    if (stuckTogether) {
      answer.text +=
          "         the dependences themselves let nobody go on; that is no fault of the code\n";
    }
    answer.text += answer.verdict == Verdict::Yes ? grantedText(kernel) : "";
    if (kernel.accesses.empty() && kernel.deps.empty()) {
      answer.text += "         the kernel says neither what is accessed nor what depends on what: "
                     "only deadlocks, resets and overflow can be seen\n";
    }
    return std::move(answer);
  }

private:
  std::vector<RaceTrips> choose() const {
    if (options.tripsGiven()) {
      return {{given, options.values.trips, options.values.guards}};
    }
    return TripChooser(kernel, subject.heldTo()).run();
  }

  void runOne(const RaceTrips &choice) {
    RaceResult result = checkRaces(kernel, subject.code, machine, choice.bindings, race);
    if (!options.tripsGiven()) {
      doubtTrips(result);
    }
    most = most == RunDoes::Touch ? most : std::max(most, doesRun(kernel, choice.bindings));
    stuckTogether |= result.stuckTogether;
    for (InstrId instr : kernel.instrs.ids()) {
      ranOnce[instr] = ranOnce[instr] || result.hasRun[instr];
    }
    schedules += result.schedules;
    steps += result.steps;
    // Of several choices of trips the first that has the verdict of all speaks for all.
    Verdict before = answer.verdict;
    answer.verdict = both(answer.verdict, result.verdict);
    reason = reason.empty() || before != answer.verdict ? result.reason : reason;
    keepNew(result);
    results.push_back(std::move(result));
  }

  /// What no run has issued was compared with nothing.
  std::vector<std::string> neverRan() const {
    std::vector<std::string> names;
    for (InstrId instr : kernel.instrs.ids()) {
      if (!ranOnce[instr]) {
        names.emplace_back(kernel.nameOf(instr));
      }
    }
    return names;
  }

  /// Names the first few.
  static std::string neverText(const std::vector<std::string> &names) {
    constexpr size_t numNamed = 4;
    auto named = std::span(names).first(std::min(names.size(), numNamed));
    return fmt::format("{} never ran: '{}'{}", counted(names.size(), "instruction"),
                       fmt::join(named, "', '"), names.size() > numNamed ? ", ..." : "");
  }

  /// Several reports may have one cause, in several runs, too.
  void foldReports(const std::vector<RaceTrips> &choices) {
    nowDoing("looking for causes");
    std::vector<Bindings> bindings;
    for (size_t i = 0; i < results.size(); ++i) {
      bindings.push_back(choices[i].bindings);
    }
    CauseOptions cause;
    cause.race = race;
    cause.mends = subject.isWritten; // what compiled code lacks is a dependence
    findCauses(kernel, subject.code, machine, bindings, results, cause);
  }

  void tell(RaceResult &result, const RaceTrips &choice) {
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
  std::string optionsText(const RaceTrips &choice) const {
    std::string text = fmt::format(
        "{}{}", choice.options.empty() ? "" : "--trips=", fmt::join(choice.options, " --trips="));
    if (hasGuards || options.values.guardsGiven) {
      text += fmt::format("{}--guards={}", text.empty() ? "" : " ", choice.guards);
    }
    return text;
  }

  const CheckOptions &options;
  const Subject &subject;
  const Kernel &kernel;
  const Machine &machine;
  const Bindings &given;
  const bool hasGuards;
  RaceOptions race;
  Answer answer;
  std::string reason;
  RunDoes most = RunDoes::Nothing; ///< with some choice of trips
  IdVector<InstrId, bool> ranOnce; ///< by instruction: in some run
  bool stuckTogether = false;      ///< in some run the dependences let no engine go on
  std::vector<RaceResult> results; ///< by choice of trips
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
