//===- MutantCampaign.cpp - Do the checks notice mistakes? ----------------===//
//
// Steps:  1. draw      a kernel whose trips up to the bound can all be gone through
//         2. compile   it under each strategy, on a machine that the seed picks
//         3. mutate    a few places of each kind
//         4. judge     verifier first, then the order for one choice of trips after the other, in
//                      a random order, because most mutants fall for the first few
//         5. compare   now and then the verdicts of order, race check and explorer
//
//===----------------------------------------------------------------------===//

#include "MutantCampaign.h"

#include "RandomKernel.h"
#include "oracle/Order.h"
#include "oracle/PlanComparison.h"

#include "tally/Check/Explore.h"
#include "tally/Check/Race.h"
#include "tally/Compile/Compile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace tally::fuzz {

using namespace oracle;

namespace {

/// Choices of trips that one kernel may have.
constexpr uint64_t maxInstances = 1500;

/// Mutants of one kind that one program gives; more of kinds that few programs have.
constexpr size_t perKind(MutantKind kind) {
  return kind == MutantKind::SwappedNK                                            ? 8
         : kind == MutantKind::WrongMask || kind == MutantKind::WrongSnapshotSlot ? 4
                                                                                  : 2;
}

/// Choices of trips beyond the bound.
constexpr uint64_t numBeyond = 24;

/// How far the explorer may go in one run.
constexpr uint64_t maxStates = 200'000;

/// One mutant in so many is put to all checks.
constexpr uint64_t compareEvery = 8;

/// Issues of all engines together up to which the explorer is asked for a second opinion, and up to
/// which it is asked before other runs have been looked at.
constexpr size_t smallRun = 20;
constexpr size_t moderateRun = 60;

/// Small kernels with every class of distance. Constant trips half of the time, or few kernels
/// could be gone through; distances are short, so that trips up to the bound get past them.
RandomKernelOptions mutantOptions(uint64_t seed) {
  RandomKernelOptions options;
  options.engines = {2, 3};
  options.extraQueues = {0, 1};
  options.maxDepth = 3;
  options.blockSize = {1, 4};
  options.instructions = {4, 10};
  options.dependences = {2, 6};
  options.sharedPercent = 40;
  options.trips = {seed % 3 == 0 ? 0u : 2u, 4};  // a loop that never runs hides all mistakes in it
  options.weight = {1, seed % 5 == 0 ? 3u : 1u}; // between multiples of a weight, waits are equal
  options.offset = {1, 2};
  options.constantPercent = seed % 4 == 0 ? 100 : 50;
  options.ifPercent = seed % 4 == 0 ? 0 : 15;
  options.guardPercent = 5;
  return options;
}

Machine machineFor(uint64_t seed) {
  Machine machine = genericMachine();
  machine.subtraction = seed % 2 == 0 ? Subtraction::Saturates : Subtraction::Wraps;
  machine.waitCompare = seed / 2 % 3 == 0 ? WaitCompare::Signed : WaitCompare::Unsigned;
  return machine;
}

/// A kernel with all choices of trips up to the bound, some beyond it, and what is asked for in
/// each.
class Subject {
public:
  struct Instance {
    Bindings bindings;
    IssueOrder asked;
  };

  Subject(uint64_t seed, Kernel drawn) : seed(seed), kernel(std::move(drawn)) {
    InstanceOptions options;
    options.maxTrips = 2;
    options.distances = true;
    options.maxInstances = maxInstances;
    Instances all(kernel, options, Bindings(kernel));
    while (std::optional<TripChoice> choice = all.next()) {
      near.push_back(std::move(*choice));
    }
    isWhole = !all.cutOff();
    Random random(seed);
    for (size_t i = near.size(); i > 1; --i) {
      std::swap(near[i - 1], near[random.below(i)]);
    }
    // Without anything to choose the one run up to the bound is all there is.
    for (uint64_t i = 0; i < (near.size() > 1 ? numBeyond : 0); ++i) {
      Range trips{i % 2 == 0 ? 0u : 3u, 6};
      beyond.push_back(randomChoices(kernel, seed * numBeyond + i, trips));
    }
    instances.resize(near.size() + beyond.size());
  }

  /// Whether those up to the bound are all there are.
  bool whole() const { return isWhole; }

  /// Those up to the bound come first.
  size_t numUpToBound() const { return near.size(); }

  size_t size() const { return instances.size(); }

  std::string tripsOf(size_t i) const {
    return i < near.size() ? fmt::format("{}", fmt::join(tripsText(kernel, near[i]), " "))
                           : beyond[i - near.size()].text(kernel);
  }

  const Instance &operator[](size_t i) {
    if (!instances[i]) {
      Bindings bindings = i < near.size() ? bindTrips(Bindings(kernel), near[i])
                                          : beyond[i - near.size()].bind(kernel);
      IssueOrder asked = orderOfDefinition(kernel, oracle::defineAll(kernel, bindings));
      instances[i] = Instance{std::move(bindings), std::move(asked)};
    }
    return *instances[i];
  }

  const uint64_t seed;
  const Kernel kernel;

private:
  bool isWhole = true;
  std::vector<TripChoice> near;
  std::vector<Choices> beyond;
  std::vector<std::optional<Instance>> instances;
};

/// Correct code, whose mutants are to be judged.
struct Original {
  Strategy strategy;
  Machine machine;
  SyncPlan plan;
  Code code;
  bool exact;                                    ///< as far as the plan says
  std::vector<std::optional<IssueOrder>> orders; ///< for each instance, once asked for
};

std::optional<Original> compileFor(const Subject &subject, Strategy strategy) {
  Machine machine = machineFor(subject.seed);
  Diagnostics diagnostics;
  std::optional<Compiled> compiled =
      compile(subject.kernel, {.strategy = strategy}, machine, diagnostics);
  if (!compiled) {
    return std::nullopt;
  }
  Original original{
      strategy, std::move(machine), std::move(compiled->plan), std::move(compiled->code), true, {}};
  for (const Wait &wait : original.plan.waits) {
    original.exact &= wait.exact && wait.waitClass != WaitClass::CoveredByBarrier;
  }
  original.exact &= strategy != Strategy::Barrier;
  original.orders.resize(subject.size());
  return original;
}

enum class Fate : uint8_t { Killed, Survived, Equivalent };

struct Judgement {
  Fate fate = Fate::Equivalent;
  Killer killer = Killer::Verifier; ///< if killed
  Proof proof = Proof::SameOrder;   ///< if equivalent
  size_t instance = 0;              ///< that decided; of an equivalent one any
};

size_t numIssues(const IssueOrder &order) {
  size_t count = 0;
  for (const std::vector<InstrId> &issues : order.issues) {
    count += issues.size();
  }
  return count;
}

class Judge {
public:
  Judge(Subject &subject, Original &original, const Code &mutant)
      : subject(subject), kernel(subject.kernel), original(original), mutant(mutant) {}

  Judgement judge() {
    Diagnostics faults;
    verifyCode(kernel, mutant, faults);
    if (faults.hasErrors()) {
      return {Fate::Killed, Killer::Verifier};
    }
    for (size_t i = 0; i < subject.size(); ++i) {
      if (std::optional<Killer> killer = killerOn(i)) {
        return {Fate::Killed, *killer, {}, i};
      }
    }
    return late.empty() ? judgeOpen() : judgeLate();
  }

  Verdict exploreOn(size_t i) {
    ExploreOptions options;
    options.inFlight = maxInFlight; // a full queue would hide waits for what has left it by then
    options.maxStates = maxStates;
    options.mayOverwait = overwaitAllowed(kernel, original.plan);
    return explore(kernel, mutant, original.machine, subject[i].bindings, options).verdict;
  }

  Verdict racesOn(size_t i) {
    RaceOptions options;
    options.schedules = 20;
    options.seconds = 1e9; // the number of schedules decides, not the clock
    return checkRaces(kernel, mutant, original.machine, subject[i].bindings, options).verdict;
  }

private:
  /// The order says where to look; a check of `tally check` has to say no.
  std::optional<Killer> killerOn(size_t i) {
    IssueOrder order = orderOf(kernel, mutant, original.machine, subject[i].bindings);
    if (order.state == IssueOrder::State::Unknown) {
      return raceAboutUnknown(i);
    }
    Agreement agreement = compare(subject[i].asked, order);
    if (agreement == Agreement::Wrong) {
      return racesOn(i) == Verdict::No ? Killer::Races : Killer::OrderAlone;
    }
    if (agreement == Agreement::Safe && original.exact) {
      return exploreLate(i);
    }
    if (agreement == Agreement::Safe && !(order == orderOfOriginal(i))) {
      open.push_back(i);
    }
    return std::nullopt;
  }

  /// Some instruction waits too long, and none may. If the run is too large for the explorer,
  /// another one will do.
  std::optional<Killer> exploreLate(size_t i) {
    size_t size = numIssues(subject[i].asked);
    if (size <= moderateRun) {
      Verdict verdict = exploreOn(i);
      if (verdict != Verdict::Undecided) {
        return verdict == Verdict::No ? Killer::Explorer : Killer::OrderAlone;
      }
    }
    late.emplace_back(size, i);
    return std::nullopt;
  }

  /// One run in which resets and counts may mix says enough at first; the others are as bad.
  std::optional<Killer> raceAboutUnknown(size_t i) {
    open.push_back(i);
    return open.size() == 1 && racesOn(i) == Verdict::No ? std::optional(Killer::Races)
                                                         : std::nullopt;
  }

  const IssueOrder &orderOfOriginal(size_t i) {
    std::optional<IssueOrder> &order = original.orders[i];
    if (!order) {
      order = orderOf(kernel, original.code, original.machine, subject[i].bindings);
    }
    return *order;
  }

  /// All runs were too large; the smallest ones, with all the explorer's patience.
  Judgement judgeLate() {
    std::sort(late.begin(), late.end());
    late.resize(std::min<size_t>(late.size(), 3));
    for (auto [size, i] : late) {
      if (exploreOn(i) == Verdict::No) {
        return {Fate::Killed, Killer::Explorer, {}, i};
      }
    }
    return {Fate::Killed, Killer::OrderAlone, {}, late.front().second};
  }

  /// Choices of trips for which the order does not say that nothing changed: it is not known, or
  /// some instruction waits longer than in the original, which not all of them may. Beyond the
  /// bound they can only kill.
  Judgement judgeOpen() {
    for (size_t i : open) {
      if (racesOn(i) == Verdict::No) {
        return {Fate::Killed, Killer::Races, {}, i};
      }
    }
    Judgement judgement;
    for (size_t i : open) {
      if (i >= subject.numUpToBound()) {
        break;
      }
      judgement.proof = Proof::Explored;
      switch (exploreOn(i)) {
      case Verdict::No:
        return {Fate::Killed, Killer::Explorer, {}, i};
      case Verdict::Undecided:
        judgement.fate = Fate::Survived;
        break;
      case Verdict::Yes:
        break;
      }
    }
    return judgement;
  }

  Subject &subject;
  const Kernel &kernel;
  Original &original;
  const Code &mutant;
  std::vector<size_t> open;                    ///< ascending
  std::vector<std::pair<size_t, size_t>> late; ///< sizes and instances
};

/// Everything about the mutants of one seed.
class KernelMutants {
public:
  explicit KernelMutants(uint64_t seed) : seed(seed) {}

  MutantReport run() {
    Subject subject(seed, randomKernel(seed, mutantOptions(seed)));
    if (!subject.whole()) {
      return report;
    }
    ++report.kernels;
    for (Strategy strategy : usableStrategies) {
      if (strategy != Strategy::Manual) {
        tryStrategy(subject, strategy);
      }
    }
    return report;
  }

private:
  void tryStrategy(Subject &subject, Strategy strategy) {
    std::optional<Original> original = compileFor(subject, strategy);
    if (!original || !isRight(subject, *original)) {
      return;
    }
    ++report.programs;
    Random random(seed * 8 + static_cast<uint64_t>(strategy));
    std::vector<Mutation> all = findMutations(original->code);
    for (size_t first = 0; first < all.size();) {
      size_t last = first;
      while (last < all.size() && all[last].kind == all[first].kind) {
        ++last;
      }
      std::vector<Mutation> chosen(all.begin() + first, all.begin() + last);
      for (size_t i = 0; i < perKind(all[first].kind) && !chosen.empty(); ++i) {
        size_t pick = random.below(chosen.size());
        tryMutation(subject, *original, chosen[pick], random.below(compareEvery) == 0);
        chosen.erase(chosen.begin() + static_cast<ptrdiff_t>(pick));
      }
      first = last;
    }
  }

  /// Mutants are made of code that is right; that it is so is the other campaign's business.
  bool isRight(Subject &subject, Original &original) {
    Judgement judgement = Judge(subject, original, original.code).judge();
    if (judgement.fate == Fate::Equivalent) {
      return true;
    }
    report.disagreements.push_back(fmt::format("seed {}, {}: the code itself is not accepted", seed,
                                               toString(original.strategy)));
    return false;
  }

  void tryMutation(Subject &subject, Original &original, const Mutation &mutation,
                   bool compareChecks) {
    Code mutant = mutate(original.code, mutation);
    Judge judge(subject, original, mutant);
    Judgement judgement = judge.judge();
    MutantScore &score = report.kinds[static_cast<size_t>(mutation.kind)];
    switch (judgement.fate) {
    case Fate::Killed:
      ++score.killed;
      ++report.killedBy[static_cast<size_t>(judgement.killer)];
      report.beyondBound += judgement.instance >= subject.numUpToBound();
      break;
    case Fate::Survived:
      ++score.survived;
      report.survivors.push_back(textOf(subject, original, mutation));
      break;
    case Fate::Equivalent:
      ++score.equivalent;
      ++report.equivalentBy[static_cast<size_t>(judgement.proof)];
      break;
    }
    bool killedAtOnce = judgement.fate == Fate::Killed && judgement.killer == Killer::Verifier;
    if (compareChecks && !killedAtOnce) {
      compareOn(subject, original, mutation, judge, judgement);
    }
  }

  std::string textOf(const Subject &subject, const Original &original,
                     const Mutation &mutation) const {
    return fmt::format("{}, {}; repeat: tally-fuzz --mutants --seed={} --count=1",
                       describe(subject.kernel, original.code, mutation),
                       toString(original.strategy), seed);
  }

  /// Order, explorer and race check about one choice of trips. Where the order is wrong, both
  /// others must say no; where it is right, the race check must not, and the explorer only if the
  /// plan promises to be exact, which is for each instruction to keep.
  void compareOn(Subject &subject, const Original &original, const Mutation &mutation, Judge &judge,
                 const Judgement &judgement) {
    const Subject::Instance &instance = subject[judgement.instance];
    if (numIssues(instance.asked) > smallRun) {
      return;
    }
    Code mutant = mutate(original.code, mutation);
    IssueOrder order = orderOf(subject.kernel, mutant, original.machine, instance.bindings);
    bool hangsAtTheEnd = order.state == IssueOrder::State::Deadlock &&
                         order.issues.raw() == instance.asked.issues.raw();
    if (order.state == IssueOrder::State::Unknown || hangsAtTheEnd) {
      return; // the explorer does not ask what becomes of engines behind their last instruction
    }
    ++report.compared;
    Agreement agreement = compare(instance.asked, order);
    Verdict explored = judge.exploreOn(judgement.instance);
    Verdict raced = judge.racesOn(judgement.instance);
    bool raceAgrees = (raced == Verdict::No) == (agreement == Agreement::Wrong);
    if (!explorerAgrees(explored, agreement, original.exact) || !raceAgrees) {
      report.disagreements.push_back(
          fmt::format("{}: order {}, explorer {}, race check {} at {}",
                      textOf(subject, original, mutation), toString(agreement), toString(explored),
                      toString(raced), subject.tripsOf(judgement.instance)));
    }
  }

  static bool explorerAgrees(Verdict explored, Agreement agreement, bool exact) {
    switch (agreement) {
    case Agreement::Exact:
      return explored != Verdict::No;
    case Agreement::Safe:
      return !exact || explored != Verdict::Yes;
    case Agreement::Wrong:
      return explored != Verdict::Yes;
    }
    return false;
  }

  uint64_t seed;
  MutantReport report;
};

void add(MutantReport &sum, MutantReport part) {
  sum.kernels += part.kernels;
  sum.programs += part.programs;
  sum.compared += part.compared;
  for (size_t k = 0; k < numMutantKinds; ++k) {
    sum.kinds[k].killed += part.kinds[k].killed;
    sum.kinds[k].survived += part.kinds[k].survived;
    sum.kinds[k].equivalent += part.kinds[k].equivalent;
  }
  for (size_t k = 0; k < numKillers; ++k) {
    sum.killedBy[k] += part.killedBy[k];
  }
  sum.beyondBound += part.beyondBound;
  for (size_t k = 0; k < numProofs; ++k) {
    sum.equivalentBy[k] += part.equivalentBy[k];
  }
  std::move(part.survivors.begin(), part.survivors.end(), std::back_inserter(sum.survivors));
  std::move(part.disagreements.begin(), part.disagreements.end(),
            std::back_inserter(sum.disagreements));
}

} // namespace

std::string_view toString(Killer killer) {
  static constexpr std::string_view names[] = {"verifier", "race check", "explorer", "order alone"};
  return names[static_cast<size_t>(killer)];
}

std::string_view toString(Proof proof) {
  return proof == Proof::SameOrder ? "same order" : "explorer";
}

MutantScore MutantReport::total() const {
  MutantScore sum;
  for (const MutantScore &score : kinds) {
    sum.killed += score.killed;
    sum.survived += score.survived;
    sum.equivalent += score.equivalent;
  }
  return sum;
}

MutantReport fuzzMutants(const Extent &extent) {
  MutantReport report;
  report.firstSeed = extent.seed;
  forSeeds(
      extent, [](uint64_t seed) { return KernelMutants(seed).run(); },
      [&](MutantReport part) {
        add(report, std::move(part));
        return report.total().total() < extent.count;
      });
  return report;
}

static std::string row(std::string_view name, const MutantScore &score) {
  return fmt::format("{:<24} {:>9} {:>9} {:>11}\n", name, score.killed, score.survived,
                     score.equivalent);
}

std::string toText(const MutantReport &report) {
  std::string text =
      fmt::format("seeds from {}: {} kernels, {} programs, {} mutants\n", report.firstSeed,
                  report.kernels, report.programs, report.total().total());
  text += fmt::format("{:<24} {:>9} {:>9} {:>11}\n", "kind", "killed", "survived", "equivalent");
  for (size_t k = 0; k < numMutantKinds; ++k) {
    text += row(toString(static_cast<MutantKind>(k)), report.kinds[k]);
  }
  text += row("all", report.total());
  text += "killed by";
  for (size_t k = 0; k < numKillers; ++k) {
    text += fmt::format("{} {} {}", k == 0 ? ":" : ",", toString(static_cast<Killer>(k)),
                        report.killedBy[k]);
  }
  text += fmt::format("\n  of these only by trips beyond the bound: {}", report.beyondBound);
  text += "\nequivalent by";
  for (size_t k = 0; k < numProofs; ++k) {
    text += fmt::format("{} {} {}", k == 0 ? ":" : ",", toString(static_cast<Proof>(k)),
                        report.equivalentBy[k]);
  }
  text += fmt::format("\ncompared by several checks: {}, disagreements: {}\n", report.compared,
                      report.disagreements.size());
  for (const std::string &survivor : report.survivors) {
    text += fmt::format("survived: {}\n", survivor);
  }
  for (const std::string &disagreement : report.disagreements) {
    text += fmt::format("disagreement: {}\n", disagreement);
  }
  return text;
}

std::string toJson(const MutantReport &report) {
  auto scoreOf = [](const MutantScore &score) {
    return nlohmann::ordered_json{
        {"killed", score.killed}, {"survived", score.survived}, {"equivalent", score.equivalent}};
  };
  nlohmann::ordered_json document{{"schema", "tally-mutants"}, {"version", 1}};
  document["seed"] = report.firstSeed;
  document["kernels"] = report.kernels;
  document["programs"] = report.programs;
  document.update(scoreOf(report.total()));
  for (size_t k = 0; k < numMutantKinds; ++k) {
    document["kinds"][std::string(toString(static_cast<MutantKind>(k)))] = scoreOf(report.kinds[k]);
  }
  for (size_t k = 0; k < numKillers; ++k) {
    document["killed_by"][std::string(toString(static_cast<Killer>(k)))] = report.killedBy[k];
  }
  document["killed_beyond_bound"] = report.beyondBound;
  for (size_t k = 0; k < numProofs; ++k) {
    document["equivalent_by"][std::string(toString(static_cast<Proof>(k)))] =
        report.equivalentBy[k];
  }
  document["compared"] = report.compared;
  document["survivors"] = report.survivors;
  document["disagreements"] = report.disagreements;
  return document.dump(2) + "\n";
}

} // namespace tally::fuzz
