//===- Causes.cpp - Several reports, one cause ----------------------------===//

#include "tally/Check/Causes.h"

#include "Mends.h"
#include "RacePairs.h"

#include "tally/Code/Limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <ranges>
#include <set>

namespace tally {

using namespace check;

namespace {

/// What the check says of one choice of trips, in short.
struct Outcome {
  std::map<std::string, std::vector<StuckWait>> reports; ///< by key; of deadlocks, who is stuck
  std::vector<uint32_t> issued;                          ///< by queue
  std::vector<EngineId> blocked;                         ///< at the end
  bool isDecided = false;                                ///< for every schedule
};

bool isOrder(const RaceReport &report) {
  return report.kind == ReportKind::Race || report.kind == ReportKind::Unordered;
}

bool isTooLong(ReportKind kind) {
  return kind == ReportKind::OverWait || kind == ReportKind::Stale;
}

/// Waits that are too long have causes of their own, which their reports name. So do tiles.
bool hasCause(ReportKind kind) {
  return !isTooLong(kind) && kind != ReportKind::Outside;
}

//===----------------------------------------------------------------------===//
// Telling
//===----------------------------------------------------------------------===//

/// `the race of 'a' and 'b'`
std::string nameOf(const RaceReport &report, std::string_view article = "the") {
  std::string names;
  for (const auto &[fact, value] : report.facts) {
    if (fact == "first" || fact == "second" || fact == "engine" || fact == "semaphore") {
      bool isQuoted = value.find('\'') != std::string::npos;
      names += (names.empty() ? "" : " and ") + (isQuoted ? value : "'" + value + "'");
    }
  }
  return fmt::format("{} {} of {}", article, toString(report.kind), names);
}

/// `the race of 'a' and 'b', the deadlock of 'act' and 3 more`; the same in another run is not
/// told.
std::string namesOf(const RaceReport &first, std::span<RaceReport *const> folded,
                    std::string_view article = "the") {
  constexpr size_t most = 4;
  std::string text;
  size_t count = 0;
  std::set<std::string> told = {keyOf(first)};
  for (const RaceReport *report : folded) {
    if (told.insert(keyOf(*report)).second && ++count <= most) {
      text += (text.empty() ? "" : ", ") + nameOf(*report, article);
    }
  }
  return count > most ? fmt::format("{} and {} more", text, count - most) : text;
}

/// Lets the first report of a cause speak for the others.
void fold(const Kernel &kernel, RaceReport &first, std::span<RaceReport *const> folded) {
  for (RaceReport *report : folded) {
    report->isFolded = true;
    report->text.note(report->text.where, "has the cause of " + nameOf(first));
  }
  std::string others = namesOf(first, folded);
  if (first.mend) {
    first.text.note(first.text.where,
                    fmt::format("mend: {}; the check then no longer reports this{}",
                                first.mend->text, others.empty() ? "" : ", nor " + others));
  } else if (!others.empty() && first.kind == ReportKind::Wrap) {
    first.text.note(first.text.where, "this is also why there is " + others);
  } else if (!others.empty()) {
    first.text.note(first.text.where,
                    fmt::format("if '{}' waited for '{}', there would be {}",
                                kernel.nameOf(first.consumer), kernel.nameOf(first.producer),
                                namesOf(first, folded, "no")));
  }
}

/// Who is stuck by the same report now: places in the code as it is, with the mends found so far.
std::vector<StuckWait> stuckIn(const std::vector<Outcome> &now, const RaceReport &report) {
  for (const Outcome &outcome : now) {
    auto entry = outcome.reports.find(keyOf(report));
    if (entry != outcome.reports.end()) {
      return entry->second;
    }
  }
  return {};
}

/// Asks the check about changed code, in brief, and counts the steps that this takes.
class Trials {
public:
  Trials(const Kernel &kernel, std::span<const Bindings> choices,
         std::span<const Bindings *const> others, const CauseOptions &options)
      : kernel(kernel), choices(choices), others(others), options(options), brief(options.race) {
    brief.isBrief = true;
    brief.schedules = 1;
    brief.maxReports = 10'000;
    brief.progress = nullptr;
  }

  bool mayGoOn() const { return steps < options.maxSteps && !isSet(options.race.stop); }

  /// False if that takes too long.
  bool outcomesOf(const Code &code, const Machine &on, std::vector<Outcome> &outcomes) {
    outcomes.clear();
    for (const Bindings &bindings : choices) {
      outcomes.push_back(outcomeOf(code, on, bindings));
      if (isSet(options.race.stop)) {
        return false;
      }
    }
    return true;
  }

  /// Whether a change of the current code takes a report of one run away, and makes nothing worse
  /// than `before`. `after` is then what the check says with it.
  bool helps(const Code &current, const Code &code, const Machine &machine, uint32_t run,
             const RaceReport &report, const std::vector<Outcome> &before,
             std::vector<Outcome> &after) {
    const std::string key = keyOf(report);
    const std::vector<StuckWait> stuck = stuckIn(before, report);
    after.assign(choices.size(), {});
    for (size_t i = 0; i < choices.size(); ++i) {
      // What shows the fault comes first: most changes do not help there.
      size_t choice = (run + i) % choices.size();
      if (isSet(options.race.stop) || steps >= 2 * options.maxSteps) { // all runs may be long ones
        return false;
      }
      after[choice] = outcomeOf(code, machine, choices[choice]);
      if (!isBetter(after[choice], before[choice]) || after[choice].reports.contains(key) ||
          isStill(stuck, after[choice])) {
        return false;
      }
    }
    return std::ranges::all_of(others, [&](const Bindings *choice) {
      return isHarmless(current, code, machine, *choice, key);
    });
  }

  /// Waits that are too long, in one run.
  size_t numLonger(const Code &code, const Machine &machine, uint32_t run) {
    RaceOptions whole = brief;
    whole.isBrief = false;
    RaceResult result = checkRaces(kernel, code, machine, choices[run], whole);
    steps += result.steps;
    return static_cast<size_t>(std::ranges::count_if(result.reports, isTooLong, &RaceReport::kind));
  }

private:
  Outcome outcomeOf(const Code &code, const Machine &on, const Bindings &bindings) {
    RaceResult result = checkRaces(kernel, code, on, bindings, brief);
    steps += result.steps;
    Outcome outcome;
    outcome.issued = std::move(result.issued);
    outcome.blocked = std::move(result.blocked);
    outcome.isDecided = result.oneDecides && !result.timeIsUp;
    for (const RaceReport &report : result.reports) {
      if (hasCause(report.kind)) {
        outcome.reports.emplace(keyOf(report), report.stuck);
      }
    }
    return outcome;
  }

  /// Whether the report is gone from another run, too, and the check says no more of that run than
  /// of the code as it is. What that was is asked again: the caller may have kept each report for
  /// its first run alone.
  bool isHarmless(const Code &current, const Code &code, const Machine &machine,
                  const Bindings &choice, const std::string &key) {
    if (isSet(options.race.stop) || steps >= 2 * options.maxSteps) {
      return false;
    }
    Outcome after = outcomeOf(code, machine, choice);
    return after.isDecided &&
           (after.reports.empty() ||
            (!after.reports.contains(key) && isBetter(after, outcomeOf(current, machine, choice))));
  }

  /// Whether an engine that waited in vain still does, perhaps for another reason.
  static bool isStill(const std::vector<StuckWait> &stuck, const Outcome &after) {
    return std::ranges::any_of(stuck, [&](const StuckWait &wait) {
      return std::ranges::count(after.blocked, wait.engine) != 0;
    });
  }

  static bool isBetter(const Outcome &after, const Outcome &before) {
    return after.isDecided &&
           std::ranges::equal(after.issued, before.issued, std::ranges::greater_equal()) &&
           std::ranges::includes(std::views::keys(before.reports), std::views::keys(after.reports));
  }

  const Kernel &kernel;
  std::span<const Bindings> choices;
  std::span<const Bindings *const> others;
  const CauseOptions &options;
  RaceOptions brief;
  uint64_t steps = 0;
};

class CauseFinder {
public:
  CauseFinder(const Kernel &kernel, const Code &code, const Machine &machine,
              std::span<const Bindings> choices, std::span<RaceResult> results,
              std::span<const Bindings *const> others, const CauseOptions &options)
      : kernel(kernel), current{code, {}}, machine(machine), choices(choices), results(results),
        options(options), trials(kernel, choices, others, options) {}

  CausesFound run() {
    for (uint32_t run = 0; run < results.size(); ++run) {
      for (RaceReport &report : results[run].reports) {
        if (hasCause(report.kind)) {
          open.push_back({run, &report});
        }
      }
    }
    found.allMended = true;
    if (hasError() && !trials.outcomesOf(current, machine, before)) {
      found.allMended = false;
      return std::move(found);
    }
    while (hasError() && !isSet(options.race.stop)) {
      explain(chooseFirst());
    }
    found.mended = std::move(current);
    return std::move(found);
  }

private:
  /// A report of one of the runs.
  struct Place {
    uint32_t run;
    RaceReport *report;

    RaceReport *operator->() const { return report; }

    bool operator==(const Place &) const = default;
  };

  static constexpr size_t maxMended = 4; ///< candidates for which mends are looked for

  static bool isError(Place place) { return place->text.severity == Severity::Error; }

  bool hasError() const { return std::ranges::any_of(open, isError); }

  /// Well formed, and within what the machine has.
  bool isCode(const Code &code) const {
    Diagnostics diagnostics;
    verifyCode(kernel, code, diagnostics);
    if (!diagnostics.hasErrors()) {
      checkLimits(kernel, code, machine, diagnostics);
    }
    return !diagnostics.hasErrors();
  }

  //===--- Choosing -------------------------------------------------------===//

  ImplOptions implOptions() const {
    return {options.race.inFlight, {options.race.maxOperations, options.race.stop}, nullptr};
  }

  /// What may be the first report of a cause, most promising first. A counter that wraps is behind
  /// all else; of what is out of order, that which would order most.
  std::vector<Place> chooseFirst() {
    std::vector<Place> candidates;
    Place first = *std::ranges::find_if(open, isError);
    for (Place place : open) {
      if (place->kind == ReportKind::Wrap && isError(place)) {
        return {place};
      }
      if (isError(place) && isOrder(*place.report) && candidates.size() < options.maxCandidates) {
        candidates.push_back(place);
      }
    }
    if (!isOrder(*first.report) || candidates.size() == 1) {
      return {first};
    }
    return sortedByOrder(candidates);
  }

  std::vector<Place> sortedByOrder(const std::vector<Place> &candidates) const {
    std::vector<std::pair<size_t, Place>> sorted;
    std::vector<Place> behind;
    for (Place candidate : candidates) {
      if (std::ranges::count(behind, candidate) == 0) { // what orders it orders all that it would
        std::vector<Place> ordered = foldOrdered(candidate);
        behind.insert(behind.end(), ordered.begin(), ordered.end());
        sorted.emplace_back(ordered.size(), candidate);
      }
    }
    std::ranges::stable_sort(sorted, std::ranges::greater(), &std::pair<size_t, Place>::first);
    std::vector<Place> result;
    for (const auto &[size, place] : sorted) {
      result.push_back(place);
    }
    return result;
  }

  /// Those of `among` that are in order in every schedule, if what `first` asks for is.
  std::vector<Place> orderedWith(const RaceSubject &subject, uint32_t run, Place first,
                                 const std::vector<Place> &among) const {
    std::vector<PairWait> waits = waitsOf(subject, first->producer, first->consumer);
    MustOrder order(subject.system, assume(waits));
    std::vector<Place> ordered;
    if (!subject.complete() || !order.isSettled() || !getsAsFar(order, run)) {
      return ordered;
    }
    for (Place place : among) {
      if (isOrder(*place.report) &&
          areKept(order, waitsOf(subject, place->producer, place->consumer))) {
        ordered.push_back(place);
      }
    }
    return ordered;
  }

  /// What is never issued would look ordered.
  bool getsAsFar(const MustOrder &order, uint32_t run) const {
    for (QueueId queue : kernel.queues.ids()) {
      uint32_t last = queue.value < before[run].issued.size() ? before[run].issued[queue.value] : 0;
      if (last != 0 && order.finished(queue, queue, last) == UINT32_MAX) {
        return false;
      }
    }
    return true;
  }

  //===--- Explaining -----------------------------------------------------===//

  void explain(const std::vector<Place> &candidates) {
    ++found.numCauses;
    Place first = candidates.front();
    std::vector<Place> folded;
    if (first->kind == ReportKind::Wrap) {
      folded = foldWrapped();
    } else if (std::optional<Place> mended = mendOneOf(candidates)) {
      first = *mended;
      folded = foldGone();
    } else if (isOrder(*first.report)) {
      folded = foldOrdered(first);
    }
    found.allMended &= first->mend.has_value();
    folded.push_back(first);
    std::vector<RaceReport *> others;
    for (Place place : folded) {
      place->cause = found.numCauses;
      if (place != first) {
        others.push_back(place.report);
      }
      std::erase(open, place);
    }
    fold(kernel, *first.report, others);
  }

  /// Applies the mend of that candidate with which most is gone.
  std::optional<Place> mendOneOf(const std::vector<Place> &candidates) {
    std::optional<Mended> best;
    for (size_t i = 0; options.mends && i < candidates.size() && i < maxMended; ++i) {
      std::optional<Mended> one = findMend(candidates[i]);
      if (one && (!best || one->numLeft < best->numLeft)) {
        best = std::move(one);
      }
      if (best && best->numLeft == 0) {
        break;
      }
    }
    if (!best) {
      return {};
    }
    best->first->mend = std::move(best->proposal.mend);
    current = std::move(best->proposal.code);
    before = std::move(best->after);
    return best->first;
  }

  /// A change that helps.
  struct Mended {
    Place first;
    Proposal proposal;
    std::vector<Outcome> after;
    size_t numLeft = 0; ///< of the reports that are open
  };

  /// The first that adds no wait that is too long; if there is none, the first that helps.
  std::optional<Mended> findMend(Place first) {
    std::optional<Mended> mended;
    uint32_t tries = 0;
    TryMend tryMend = [&](Proposal proposal) {
      std::vector<Outcome> after;
      bool mayTry = tries < options.maxTries && trials.mayGoOn() && isCode(proposal.code);
      ++tries;
      if (!mayTry ||
          !trials.helps(current, proposal.code, machine, first.run, *first.report, before, after)) {
        return false;
      }
      size_t numLeft =
          std::ranges::count_if(open, [&](Place place) { return isReported(place, after); });
      bool waitsLonger = trials.numLonger(proposal.code, machine, first.run) >
                         trials.numLonger(current, machine, first.run);
      if (!mended || !waitsLonger) {
        proposal.mend.text += waitsLonger ? " (it waits longer than it must)" : "";
        mended = Mended{first, std::move(proposal), std::move(after), numLeft};
      }
      return !waitsLonger;
    };
    MendSubject subject{kernel, current, machine, choices, implOptions()};
    const RaceReport &report = *first.report;
    if (isOrder(report)) {
      mendOrder(subject, report.producer, report.consumer, tryMend);
    } else if (report.kind == ReportKind::Deadlock) {
      mendDeadlock(subject, stuckIn(before, report), tryMend);
    }
    return mended;
  }

  /// In some run.
  bool isReported(Place place, const std::vector<Outcome> &outcomes) const {
    std::string key = keyOf(*place.report);
    return std::ranges::any_of(
        outcomes, [&](const Outcome &outcome) { return outcome.reports.contains(key); });
  }

  std::vector<Place> foldGone() const {
    std::vector<Place> gone = open;
    std::erase_if(gone, [this](Place place) { return isReported(place, before); });
    return gone;
  }

  /// What would be in order in each run in which it is not.
  std::vector<Place> foldOrdered(Place first) const {
    std::vector<Place> kept = open;
    std::erase_if(kept, [this](Place place) { return !isReported(place, before); });
    for (uint32_t run = 0; run < choices.size(); ++run) {
      std::vector<Place> here, others;
      for (Place place : kept) {
        (before[run].reports.contains(keyOf(*place.report)) ? here : others).push_back(place);
      }
      if (!here.empty()) {
        RaceSubject subject(kernel, current, machine, choices[run], implOptions());
        kept = orderedWith(subject, run, first, here);
        kept.insert(kept.end(), others.begin(), others.end());
      }
    }
    return kept;
  }

  std::vector<Place> foldWrapped() {
    Machine wide = machine;
    wide.counterBits = 32;
    std::vector<Outcome> after;
    if (!trials.outcomesOf(current, wide, after) ||
        !std::ranges::all_of(after, &Outcome::isDecided)) {
      return {};
    }
    machine = std::move(wide);
    before = std::move(after);
    return foldGone();
  }

  const Kernel &kernel;
  MendedCode current;
  Machine machine;
  std::span<const Bindings> choices;
  std::span<RaceResult> results;
  const CauseOptions &options;
  Trials trials;
  std::vector<Place> open;     ///< reports without a cause yet
  std::vector<Outcome> before; ///< of the current code
  CausesFound found;
};

} // namespace

/// Those that report something new, and a few more, in which changes are compared with the code as
/// it is. In all others, a change only must not add a report.
static std::vector<size_t> runsToLookAt(std::span<const RaceResult> results) {
  constexpr size_t mostOthers = 16;
  std::vector<size_t> looked;
  std::set<std::string> seen;
  size_t numOthers = 0;
  for (size_t i = 0; i < results.size(); ++i) {
    bool isNew = false;
    for (const RaceReport &report : results[i].reports) {
      isNew |= seen.insert(keyOf(report)).second;
    }
    if (isNew || ++numOthers <= mostOthers) {
      looked.push_back(i);
    }
  }
  return looked;
}

CausesFound findCauses(const Kernel &kernel, const Code &code, const Machine &machine,
                       std::span<const Bindings> choices, std::span<RaceResult> results,
                       const CauseOptions &options) {
  std::vector<size_t> looked = runsToLookAt(results);
  std::vector<Bindings> someChoices;
  std::vector<RaceResult> some;
  for (size_t i : looked) {
    someChoices.push_back(choices[i]);
    some.push_back(std::move(results[i]));
  }
  std::vector<const Bindings *> others;
  for (size_t i = 0; i < results.size(); ++i) {
    if (!std::ranges::binary_search(looked, i)) {
      others.push_back(&choices[i]);
    }
  }
  CausesFound found = CauseFinder(kernel, code, machine, someChoices, some, others, options).run();
  std::map<std::string, uint32_t> causes;
  for (size_t i = 0; i < looked.size(); ++i) {
    results[looked[i]] = std::move(some[i]);
    for (const RaceReport &report : results[looked[i]].reports) {
      causes[keyOf(report)] = report.cause;
    }
  }
  for (size_t i = 0; i < results.size(); ++i) {
    for (RaceReport &report : results[i].reports) {
      auto known = causes.find(keyOf(report));
      if (!std::ranges::binary_search(looked, i) && known != causes.end() && known->second != 0) {
        report.cause = known->second;
        report.isFolded = true;
      }
    }
  }
  return found;
}

void takeCauses(const Kernel &kernel, const RaceResult &from, RaceResult &into) {
  std::map<uint32_t, const RaceReport *> firsts;
  std::map<std::string, uint32_t> causes;
  for (const RaceReport &report : from.reports) {
    causes[keyOf(report)] = report.cause;
    firsts[report.cause] = report.isFolded ? firsts[report.cause] : &report;
  }
  std::map<uint32_t, std::vector<RaceReport *>> members;
  for (RaceReport &report : into.reports) {
    auto cause = causes.find(keyOf(report));
    report.cause = cause == causes.end() ? 0 : cause->second;
    if (report.cause != 0) {
      members[report.cause].push_back(&report);
    }
  }
  for (auto &[cause, reports] : members) {
    std::string key = keyOf(*firsts[cause]);
    std::ranges::stable_partition(reports,
                                  [&](const RaceReport *report) { return keyOf(*report) == key; });
    reports.front()->mend = firsts[cause]->mend;
    fold(kernel, *reports.front(), std::span(reports).subspan(1));
  }
}

} // namespace tally
