//===- CheckExplore.cpp - tally check --explore ---------------------------===//
//
// Explores the given trips, or one choice of trips after the other until one says no, a limit is
// reached or all are done; tells what came of it.
//
//===----------------------------------------------------------------------===//

#include "CheckAnswer.h"
#include "Progress.h"
#include "Table.h"
#include "TileWatch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <set>

namespace tally::tool {
namespace {

using Time = std::chrono::steady_clock;

/// Where the race check answers, too, the explorer need not try for long.
constexpr uint64_t statesBesideRace = 200'000;
constexpr double secondsBesideRace = 10;

/// Instances in which a queue was full are tried with more in flight, while that takes no more
/// states than these, all together, if the user sets no other limit.
constexpr uint64_t statesOfDeeper = 5'000'000;

/// Explores instances, with more in flight where a queue was full, unless the user says how many.
class Deepener {
public:
  Deepener(const CheckOptions &options, const Subject &subject, const Machine &machine)
      : mayDeepen(options.inFlight == 0), subject(subject), kernel(subject.heldTo()),
        machine(machine) {
    usual.inFlight = mayDeepen ? usual.inFlight : options.inFlight;
    usual.reduction = options.reduction == "none"    ? Reduction::None
                      : options.reduction == "local" ? Reduction::Local
                                                     : Reduction::Full;
    usual.maxStates = options.maxStates != 0 ? options.maxStates
                      : options.asksBoth()   ? statesBesideRace
                                             : usual.maxStates;
    usual.maxBytes = options.maxMemory << 20;
    usual.compact = options.hashes;
    usual.stop = options.stop;
    usual.mayOverwait = subject.mayOverwait;
    usual.resets = subject.resets;
    statesLeft = options.maxStates != 0 ? options.maxStates
                 : options.asksBoth()   ? statesBesideRace
                                        : statesOfDeeper;
    mostInFlight = usual.inFlight;
  }

  /// Until no queue is full or it takes too long.
  ExploreResult explore(const Bindings &bindings) {
    ExploreOptions deeper = usual;
    ExploreResult one = tally::explore(kernel, subject.code, machine, bindings, deeper);
    uint32_t reached = deeper.inFlight;
    while (one.verdict == Verdict::Yes && !one.full.empty() && mayDeepen &&
           deeper.inFlight < maxInFlight && statesLeft != 0) {
      deeper.inFlight = std::min(2 * deeper.inFlight, maxInFlight);
      deeper.maxStates = std::min(usual.maxStates, statesLeft);
      ExploreResult next = tally::explore(kernel, subject.code, machine, bindings, deeper);
      statesLeft -= std::min(statesLeft, next.states);
      if (next.verdict == Verdict::Undecided) {
        break;
      }
      reached = deeper.inFlight;
      one = std::move(next);
    }
    noteFull(one, reached);
    return one;
  }

  /// Of all instances; of the one that says no.
  uint32_t inFlight() const { return mostInFlight; }

  /// Empty if no queue was left full.
  std::string fullText() const {
    if (full.empty()) {
      return {};
    }
    return fmt::format("with {} in flight, queue{} '{}' {} full at times: what shows only with "
                       "more is not seen{}",
                       fullAt, full.size() == 1 ? "" : "s", fmt::join(fullNames(), "', '"),
                       full.size() == 1 ? "was" : "were",
                       fullAt < maxInFlight ? "; --in-flight asks for more" : "");
  }

  std::vector<std::string_view> fullNames() const {
    std::vector<std::string_view> names;
    for (QueueId queue : full) {
      names.push_back(kernel.nameOf(queue));
    }
    return names;
  }

private:
  void noteFull(const ExploreResult &one, uint32_t reached) {
    mostInFlight = one.verdict == Verdict::No ? reached : std::max(mostInFlight, reached);
    if (one.verdict == Verdict::Yes && !one.full.empty()) {
      fullAt = fullAt == 0 ? reached : std::min(fullAt, reached);
      full.insert(one.full.begin(), one.full.end());
    }
  }

  const bool mayDeepen;
  const Subject &subject;
  const Kernel &kernel;
  const Machine &machine;
  ExploreOptions usual;
  uint64_t statesLeft; ///< with more in flight
  uint32_t mostInFlight;
  uint32_t fullAt = 0; ///< the least at which an instance was left with a full queue
  std::set<QueueId> full;
};

/// The trips that were explored, in words.
class ExploredTrips {
public:
  ExploredTrips(const Kernel &kernel, const CheckOptions &options, const Given &given)
      : kernel(kernel), options(options), given(given) {}

  void add(const TripChoice &choice) {
    for (const InstanceTrips &trips : choice) {
      const Trip &trip = kernel.loops[trips.loop].trip;
      bool isNumber = trip.kind == Trip::Kind::Value || trip.kind == Trip::Kind::Formula;
      if (isNumber && trip.min > options.maxTrips) {
        longRuns[trips.loop].insert(trips.trips.begin(), trips.trips.end());
      }
    }
  }

  std::string text() const {
    bool hasConditions = std::ranges::any_of(
        kernel.loops, [](const Loop &loop) { return loop.trip.condition.valid(); });
    std::string more = !options.distances ? ""
                       : hasConditions    ? ", and around distances and numbers in conditions"
                                          : ", and around distances";
    std::string told = given.text.empty() ? "" : fmt::format("with {} given, ", given.text);
    told += longRuns.empty() || hasShortRuns()
                ? fmt::format("all trips up to {}{}", options.maxTrips, more)
                : fmt::format("no trips up to {}, which no loop allows", options.maxTrips);
    for (const auto &[loop, counts] : longRuns) {
      told += fmt::format("; of '{}', which runs at least {}, trips {}", kernel.nameOf(loop),
                          counted(kernel.loops[loop].trip.min, "time"), fmt::join(counts, ", "));
    }
    return told;
  }

private:
  /// Whether a loop that is decided at run time may run as few times as --max-trips says.
  bool hasShortRuns() const {
    for (LoopId id : kernel.loops.ids()) {
      const Loop &loop = kernel.loops[id];
      bool isDecided =
          !loop.isBranch() && !given.bindings.isSet(id) && loop.trip.kind != Trip::Kind::Constant;
      if (isDecided && (loop.trip.kind == Trip::Kind::Guard || loop.trip.min <= options.maxTrips)) {
        return true;
      }
    }
    return false;
  }

  const Kernel &kernel;
  const CheckOptions &options;
  const Given &given;
  /// Of loops that never run as few times as --max-trips says.
  std::map<LoopId, std::set<uint64_t>> longRuns;
};

/// What shows the fault may be a dependence that waits for more than is known to be needed.
void doubtLoose(const Subject &subject, ExploreResult &one) {
  if (one.verdict != Verdict::No || !one.witness || !subject.isLoose(one.witness->dep)) {
    return;
  }
  one.verdict = Verdict::Undecided;
  one.reason = fmt::format(
      "the code does not wait as {} asks, which was taken from the accesses "
      "and may ask for more than they need; --race compares these themselves{}",
      describe(subject.heldTo(), one.witness->dep),
      subject.isBesides(one.witness->dep) ? ", --deps=written asks for no more than what is written"
                                          : "");
}

Diagnostic faultOf(const Subject &subject, const ExploreResult &result) {
  const Kernel &kernel = subject.heldTo();
  Diagnostic report;
  report.message = result.text;
  const Mismatch &mismatch = *result.witness;
  report.where = result.where;
  if (mismatch.dep.valid()) {
    const Dep &dep = kernel.deps[mismatch.dep];
    report.note(dep.where, "the dependence " + describe(kernel, mismatch.dep) +
                               (subject.isBesides(mismatch.dep)
                                    ? ", which accesses ask for and the dependences that are "
                                      "written do not imply; write it, or none, so that all of "
                                      "them are found"
                                    : ""));
    report.note(kernel.instrs[dep.producer].where,
                fmt::format("'{}' is here", kernel.nameOf(dep.producer)));
  }
  return report;
}

class ExploreMode {
public:
  ExploreMode(const CheckOptions &options, const Subject &subject, const Machine &machine,
              const Given &given)
      : options(options), subject(subject), kernel(subject.heldTo()), machine(machine),
        given(given), deepener(options, subject, machine), allTrips(kernel, options, given) {
    seconds = options.seconds > 0 ? options.seconds : options.asksBoth() ? secondsBesideRace : 0;
  }

  Answer run() {
    Time::time_point start = Time::now();
    std::optional<TileProblem> problem =
        given.isOneRun ? watch.problemOf(given.bindings) : std::nullopt;
    if (problem && problem->isSeen) {
      return outsideAnswer(problem->error);
    }
    if (problem) {
      all.total.reason = problem->error.message;
    } else if (given.isOneRun) {
      exploreGiven();
    } else {
      exploreChoices(start);
    }
    bool hasNeeds = !kernel.deps.empty() || subject.depsFound || subject.asked.kernel;
    for (const std::string &reason :
         {nothingToCompare(subject, hasNeeds, runs, given.isOneRun), subject.asked.notAsked,
          unaskedText(), options.inFlight == 0 ? deepener.fullText() : ""}) {
      if (all.total.verdict == Verdict::Yes && !reason.empty()) {
        all.leaveOpen(reason);
      }
    }
    tellSpeed(std::chrono::duration<double>(Time::now() - start).count());
    Answer answer;
    answer.verdict = all.total.verdict;
    answer.text = warning + reportText() + summaryText();
    answer.json = json();
    if (answer.verdict == Verdict::No) {
      answer.faults.push_back({all.total.schedule, trips(), options.values.guards,
                               deepener.inFlight(), all.total.text});
    }
    return answer;
  }

private:
  /// The dependences speak of tiles within their buffers only.
  Answer outsideAnswer(const Diagnostic &problem) {
    Answer answer;
    answer.verdict = all.total.verdict = Verdict::No;
    all.total.text = problem.message;
    answer.text = render(problem, kernel.files) +
                  "explore: no: outside: a tile leaves its buffer with the given trips\n";
    answer.json = json();
    answer.json["kind"] = "outside";
    return answer;
  }

  /// Of dependences that no instance brought to bear, while others may. Beside the race check, that
  /// one answers.
  std::string unaskedText() const {
    std::vector<std::string> unasked;
    for (DepId id : runs.neverOwed()) {
      if (!given.isOneRun && !options.asksBoth() && given.mayAsk(kernel, id)) {
        unasked.push_back(describe(kernel, id));
      }
    }
    return unasked.empty() ? ""
                           : fmt::format("nothing wrong was seen; but {} never asked for anything, "
                                         "and may where loops run more often: see --max-trips and "
                                         "--trips",
                                         neverText(unasked));
  }

  //===--- Exploring ------------------------------------------------------===//

  void exploreGiven() {
    nowDoing("exploring the given trips");
    runs.add(given.bindings, options.stop);
    all.total = exploreOne(given.bindings);
    all.instances = 1;
    all.numOverwaits = all.total.overwaits.size();
    all.numAtResets = all.total.atResets;
  }

  ExploreResult exploreOne(const Bindings &bindings) {
    ExploreResult one = deepener.explore(bindings);
    doubtLoose(subject, one);
    return one;
  }

  void exploreChoices(Time::time_point start) {
    all.total.verdict = Verdict::Yes;
    InstanceOptions bounds;
    bounds.maxTrips = options.maxTrips;
    bounds.distances = options.distances;
    Instances instances(kernel, bounds, given.bindings);
    while (std::optional<TripChoice> choice = instances.next()) {
      if (seconds > 0 && Time::now() - start > std::chrono::duration<double>(seconds)) {
        all.leaveOpen("time is up; --time gives more");
        return;
      }
      if (isSet(options.stop)) {
        all.leaveOpen(stopReason);
        return;
      }
      nowDoing(fmt::format("exploring: {} of trips done, {}", counted(all.instances, "choice"),
                           counted(all.total.states, "state")));
      Bindings bindings = bindTrips(given.bindings, *choice);
      if (std::optional<TileProblem> problem = watch.problemOf(bindings)) {
        leaveBuffer(*problem, *choice);
        continue;
      }
      ExploreResult one = exploreOne(bindings);
      runs.add(bindings, options.stop);
      allTrips.add(*choice);
      if (one.verdict == Verdict::Undecided && !one.witness && one.states == 0 &&
          !isSet(options.stop)) {
        one.reason = fmt::format("with {}: {}", runOf(*choice).text(), one.reason);
      }
      all.add(std::move(one), std::move(*choice));
      if (all.total.verdict == Verdict::No) {
        return;
      }
    }
    if (instances.cutOff()) {
      all.leaveOpen(tooManyChoices);
    }
  }

  /// More trips, perhaps, than ever happen.
  void leaveBuffer(TileProblem problem, const TripChoice &choice) {
    ++all.instances;
    if (!problem.isSeen) {
      all.leaveOpen(problem.error.message);
      return;
    }
    if (!hasLeft) {
      problem.error.severity = Severity::Warning;
      warning =
          fmt::format("with {}:\n", runOf(choice).text()) + render(problem.error, kernel.files);
    }
    hasLeft = true;
    all.leaveOpen(
        "a tile leaves its buffer, if loops ever run so often; state their 'max', or give "
        "trips");
  }

  /// How fast it was stands on stderr: results are the same each time.
  void tellSpeed(double took) const {
    if (took >= 1) {
      auto states = static_cast<double>(all.total.states);
      tellNote(fmt::format("explored {} in {:.1f} s, {:.0f} a second, in at most {} MiB at a time",
                           counted(all.total.states, "state"), took, states / took,
                           (all.total.bytes >> 20) + 1));
    }
  }

  //===--- Telling --------------------------------------------------------===//

  /// All that a run depends on: what is given, and a choice besides.
  RunOptions runOf(const TripChoice &choice) const {
    RunOptions values = options.values;
    std::ranges::copy(tripsText(kernel, choice), std::back_inserter(values.trips));
    return values;
  }

  /// Of the fault; as for --trips.
  std::vector<std::string> trips() const { return runOf(all.failing).trips; }

  /// What is wrong, and where.
  std::string reportText() const {
    if (all.total.verdict != Verdict::No) {
      return {};
    }
    const std::string values = runOf(all.failing).text();
    std::string text = given.isOneRun || values.empty() ? "" : fmt::format("with {}:\n", values);
    bool isOne = all.total.schedule.size() == 1;
    return text + render(faultOf(subject, all.total), kernel.files) +
           fmt::format("note: {} {} it\n", counted(all.total.schedule.size(), "step"),
                       isOne ? "shows" : "show");
  }

  std::string reason() const {
    switch (all.total.verdict) {
    case Verdict::Yes:
      return subject.exact && all.numOverwaits == 0 ? "exact: waits as long as its dependences ask"
                                                    : "safe: never early, never stuck by itself";
    case Verdict::No:
      return fmt::format("{}: a schedule shows it", toString(all.total.witness->kind));
    case Verdict::Undecided:
      return all.total.reason;
    }
    return {};
  }

  std::string summaryText() const {
    const ExploreResult &total = all.total;
    std::string text = fmt::format(
        "explore: {}: {}\n         {} ({}), {}, at most {} in flight on a queue\n",
        toString(total.verdict), reason(), given.isOneRun ? "the given trips" : allTrips.text(),
        counted(all.instances, "instance"), counted(total.states, "state"), deepener.inFlight());
    if (all.numOverwaits != 0 && total.verdict == Verdict::Yes) {
      fmt::format_to(std::back_inserter(text), "         {} longer than the dependences ask{}\n",
                     all.numOverwaits == 1 ? "1 run waits"
                                           : fmt::format("{} runs wait", all.numOverwaits),
                     resetsText());
    }
    text += restsOn();
    if (total.stuckTogether) {
      text += "         the dependences themselves let no engine go on; that is not a fault of the "
              "code\n";
    }
    return text;
  }

  /// What a yes takes for granted.
  std::string restsOn() const {
    if (all.total.verdict != Verdict::Yes) {
      return {};
    }
    std::string text;
    if (std::string full = deepener.fullText(); !full.empty()) {
      text += fmt::format("         {}\n", full);
    }
    if (std::vector<std::string> never = neverOwed(kernel, runs); !never.empty()) {
      text += fmt::format("         never asked for anything: {}\n", neverText(never));
    }
    if (options.common.deps == "written" && !kernel.accesses.empty()) {
      text += "         the dependences are taken as they are written, not checked against the "
              "accesses\n";
    }
    return text;
  }

  /// How many are held up while counters are reset, and for how long.
  std::string resetsText() const {
    return all.numAtResets == 0
               ? ""
               : fmt::format(", {} of them where counters are reset, until the engines that use "
                             "these have drained and met",
                             all.numAtResets);
  }

  Json json() const {
    const ExploreResult &total = all.total;
    Json object = {{"verdict", toString(total.verdict)},
                   {"promise", subject.exact ? "exact" : "safe"},
                   {"reason", total.verdict == Verdict::No ? total.text : total.reason},
                   {"kind", total.witness ? Json(toString(total.witness->kind)) : Json()},
                   {"instances", all.instances},
                   {"states", total.states},
                   {"transitions", total.transitions},
                   {"bytes", total.bytes},
                   {"in_flight", deepener.inFlight()},
                   {"full_queues", deepener.fullNames()},
                   {"never_owed", neverOwed(kernel, runs)},
                   {"overwaits", all.numOverwaits},
                   {"at_resets", all.numAtResets},
                   {"stuck_together", total.stuckTogether},
                   {"trips", total.verdict == Verdict::No ? Json(trips()) : Json::array()},
                   {"steps", total.schedule.size()}};
    if (total.witness) {
      addSource(object, kernel, faultOf(subject, total).where);
    }
    return object;
  }

  const CheckOptions &options;
  const Subject &subject;
  const Kernel &kernel;
  const Machine &machine;
  const Given &given;
  Deepener deepener;
  ExploredTrips allTrips;
  double seconds; ///< 0: as long as it takes
  ExploreAllResult all;
  const TileWatch watch{kernel};
  RunsDo runs{kernel};  ///< of all instances
  bool hasLeft = false; ///< some tile left its buffer
  std::string warning;
};

} // namespace

Answer exploreSubject(const CheckOptions &options, const Subject &subject, const Machine &machine,
                      const Given &given) {
  return ExploreMode(options, subject, machine, given).run();
}

} // namespace tally::tool
