//===- CheckCommand.cpp - tally check -------------------------------------===//
//
// "Is this code right, and does it wait no longer than it must?" Two ways to ask:
//
//   explore   every interleaving of small instances, against what the dependences ask
//   race      schedules of any length, by vector clocks over accesses and dependences
//
// Without a mode both are asked, the first as far as its limits allow.
//
//===----------------------------------------------------------------------===//

#include "Session.h"

#include "tally/Check/Explore.h"
#include "tally/Check/Race.h"
#include "tally/Check/Schedule.h"
#include "tally/Model/Check.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <sstream>

namespace tally::tool {
namespace {

using Json = nlohmann::ordered_json;

struct CheckCommand {
  CommonOptions common;
  bool strategyGiven = false;
  std::string code;
  bool explore = false;
  bool race = false;
  std::string replay;
  std::vector<std::string> trips;
  uint64_t guards = 0;
  bool guardsGiven = false;
  uint64_t bound = 2;
  uint64_t maxStates = 0; ///< 0: by mode
  uint64_t maxMemory = 4096;
  uint32_t maxInFlight = 0; ///< 0: by mode
  uint32_t schedules = 100;
  double seconds = 10;
  uint64_t seed = 1;
  std::string witness;
  std::string format = "text";

  int run() const;

private:
  int replayIt() const;
};

/// A kernel, its code, and where they came from.
struct Subject {
  Kernel kernel;
  Program program;
  IdVector<InstrId, bool> mayOverwait;
  bool exact = false;     ///< the strategy promises to wait no longer than asked
  bool isWritten = false; ///< the code was not compiled here
};

/// One choice of trips for the race check.
struct RaceTrips {
  Bindings bindings;
  std::vector<std::string> options; ///< `--trips` values that say the same
  uint64_t guards = 0;
};

/// Says on stderr, every few seconds, that the command is alive.
class Heartbeat {
public:
  void tell(const std::string &text) {
    auto now = std::chrono::steady_clock::now();
    if (now - last >= std::chrono::seconds(3)) {
      last = now;
      fmt::print(stderr, "{}\n", text);
    }
  }

private:
  std::chrono::steady_clock::time_point last = std::chrono::steady_clock::now();
};

void complain(const std::string &message) {
  fmt::print(stderr, "error: {}\n", message);
}

//===----------------------------------------------------------------------===//
// What is checked
//===----------------------------------------------------------------------===//

/// Code refers to its kernel by number, so both must have the same engines, loops and instructions.
std::string differenceOf(const Kernel &a, const Kernel &b) {
  auto namesDiffer = [&](const auto &x, const auto &y) {
    if (x.size() != y.size()) {
      return true;
    }
    for (auto id : x.ids()) {
      if (a.text(x[id].name) != b.text(y[id].name)) {
        return true;
      }
    }
    return false;
  };
  auto homesDiffer = [&] {
    for (InstrId id : a.instrs.ids()) {
      if (a.instrs[id].home != b.instrs[id].home || a.instrs[id].queue != b.instrs[id].queue) {
        return true;
      }
    }
    return false;
  };
  return namesDiffer(a.engines, b.engines) ? "engines"
         : namesDiffer(a.queues, b.queues) ? "queues"
         : namesDiffer(a.loops, b.loops)   ? "loops and branches"
         : namesDiffer(a.instrs, b.instrs) ? "instructions"
         : homesDiffer()                   ? "places of instructions"
                                           : "";
}

class Checker {
public:
  Checker(const CheckCommand &command, Session &session, const Machine &machine)
      : command(command), session(session), machine(machine) {}

  /// Reads and compiles; false, with the reasons reported, if that cannot be done.
  bool prepare() {
    std::vector<LoadedKernel> kernels = session.load(command.common.input);
    if (kernels.empty()) {
      return false;
    }
    std::vector<LoadedKernel> codes;
    if (!command.code.empty()) {
      Session second; // a session reads one file
      codes = second.load(command.code);
      if (codes.empty()) {
        return false;
      }
    }
    bool all = true;
    for (LoadedKernel &loaded : kernels) {
      all &= command.code.empty() ? addOne(loaded) : addWithCode(loaded, codes);
    }
    return all;
  }

  const std::vector<std::unique_ptr<Subject>> &all() const { return subjects; }

private:
  bool addWithCode(LoadedKernel &loaded, std::vector<LoadedKernel> &codes) {
    std::string_view name = loaded.kernel.text(loaded.kernel.name);
    for (LoadedKernel &code : codes) {
      if (!code.program || code.kernel.text(code.kernel.name) != name) {
        continue;
      }
      std::string difference = differenceOf(loaded.kernel, code.kernel);
      if (!difference.empty()) {
        complain(fmt::format("the kernel '{}' in '{}' has other {} than the one in '{}'", name,
                             command.code, difference, command.common.input));
        return false;
      }
      loaded.program = forgetReasons(std::move(*code.program));
      return addWritten(loaded);
    }
    complain(fmt::format("'{}' holds no code for kernel '{}'", command.code, name));
    return false;
  }

  /// The dependences of another file may be numbered differently.
  static Program forgetReasons(Program program) {
    for (EngineCode &engine : program.engines) {
      for (Op &op : engine.ops) {
        op.numReasons = 0;
      }
    }
    program.reasons.clear();
    return program;
  }

  bool addOne(LoadedKernel &loaded) {
    bool keep = loaded.program &&
                (!command.strategyGiven || command.common.strategy == toString(Strategy::Manual));
    return keep ? addWritten(loaded) : addCompiled(loaded);
  }

  bool addCompiled(LoadedKernel &loaded) {
    Diagnostics diagnostics;
    std::optional<Compiled> compiled =
        compile(loaded.kernel, command.common.compileOptions(), machine, diagnostics);
    session.report(loaded.kernel, diagnostics);
    if (!compiled) {
      return false;
    }
    bool exact = compiled->plan.options.strategy != Strategy::Barrier;
    add(std::move(loaded.kernel), std::move(compiled->program), compiled->plan, exact);
    return true;
  }

  /// Code that was compiled says by which strategy, and has to keep what that promises.
  bool addWritten(LoadedKernel &loaded) {
    CompileOptions options = command.common.compileOptions();
    options.plan.strategy = Strategy::Manual;
    Diagnostics diagnostics;
    std::optional<Compiled> compiled =
        compile(loaded.kernel, options, machine, diagnostics, &*loaded.program);
    session.report(loaded.kernel, diagnostics);
    if (!compiled) {
      return false;
    }
    std::string strategy = loaded.program->strategy;
    compiled->program.strategy = strategy;
    std::optional<Strategy> known = strategyFrom(strategy);
    bool exact = known && *known != Strategy::Manual && *known != Strategy::Barrier;
    SyncPlan plan = std::move(compiled->plan);
    plan.options.strategy = Strategy::Manual;
    if (exact) {
      options.plan.strategy = *known;
      Diagnostics ignored;
      SyncPlan planned = makePlan(loaded.kernel, options.plan, ignored);
      exact = !ignored.hasErrors();
      plan = exact ? std::move(planned) : std::move(plan);
    }
    add(std::move(loaded.kernel), std::move(compiled->program), plan, exact);
    subjects.back()->isWritten = true;
    return true;
  }

  void add(Kernel kernel, Program program, const SyncPlan &plan, bool exact) {
    auto subject = std::make_unique<Subject>();
    subject->kernel = std::move(kernel);
    subject->program = std::move(program);
    subject->mayOverwait = overwaitAllowed(subject->kernel, plan);
    subject->exact = exact;
    subjects.push_back(std::move(subject));
  }

  const CheckCommand &command;
  Session &session;
  const Machine &machine;
  std::vector<std::unique_ptr<Subject>> subjects;
};

//===----------------------------------------------------------------------===//
// Checking one kernel
//===----------------------------------------------------------------------===//

class OneCheck {
public:
  /// Counts the schedules it writes in `witnesses`.
  OneCheck(const CheckCommand &command, Session &session, const Subject &subject,
           const Machine &machine, uint32_t &witnesses)
      : command(command), session(session), subject(subject), kernel(subject.kernel),
        machine(machine), witnesses(witnesses) {}

  /// False if the options do not fit the kernel.
  bool run() {
    Diagnostics diagnostics;
    given = Bindings::parse(kernel, command.trips, command.guards, diagnostics);
    if (diagnostics.hasErrors()) {
      fmt::print(stderr, "{}", render(diagnostics, kernel.files));
      return false;
    }
    json["kernel"] = kernel.text(kernel.name);
    json["strategy"] = subject.program.strategy;
    json["machine"] = machine.name;
    text = fmt::format("kernel '{}', strategy '{}', machine '{}'\n", kernel.text(kernel.name),
                       subject.program.strategy, machine.name);
    if (command.explore || !command.race) {
      exploreIt();
    }
    if (command.race || !command.explore) {
      raceIt();
    }
    decide();
    return true;
  }

  Verdict verdict = Verdict::Undecided;
  std::string text;
  Json json;

private:
  bool both() const { return command.explore == command.race; }

  bool tripsGiven() const { return !command.trips.empty() || command.guardsGiven; }

  //===--- Explore --------------------------------------------------------===//

  void exploreIt() {
    ExploreOptions options;
    options.inFlight = command.maxInFlight != 0 ? std::min(command.maxInFlight, tally::maxInFlight)
                                                : options.inFlight;
    // Where the race check can answer, too, the explorer need not try for long.
    options.maxStates = command.maxStates != 0 ? command.maxStates
                        : both()               ? 200'000
                                               : options.maxStates;
    options.maxBytes = command.maxMemory << 20;
    options.mayOverwait = subject.mayOverwait;
    ExploreAllResult all = tripsGiven() ? exploreGiven(options) : exploreBound(options);
    exploreVerdict = all.total.verdict;
    exploreText(all, options);
    exploreJson(all, options);
    if (all.total.verdict == Verdict::No) {
      std::vector<std::string> trips =
          tripsGiven() ? command.trips : tripsText(kernel, all.failing);
      writeWitness(all.total.schedule, trips, command.guards, options.inFlight, all.total.text);
    }
  }

  ExploreAllResult exploreGiven(const ExploreOptions &options) {
    ExploreAllResult all;
    all.total = tally::explore(kernel, subject.program, machine, *given, options);
    all.instances = 1;
    all.numOverwaits = all.total.overwaits.size();
    return all;
  }

  /// One choice of trips after the other. Where the race check answers, too, for as long as that.
  ExploreAllResult exploreBound(const ExploreOptions &options) {
    auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(command.seconds);
    ExploreAllResult all;
    all.total.verdict = Verdict::Yes;
    InstanceOptions bounds;
    bounds.maxTrips = command.bound;
    Instances instances(kernel, bounds);
    while (std::optional<TripChoice> choice = instances.next()) {
      if (both() && std::chrono::steady_clock::now() > end) {
        leaveOpen(all, "time is up");
        return all;
      }
      ExploreResult one =
          tally::explore(kernel, subject.program, machine, bindTrips(kernel, *choice), options);
      add(all, one);
      heartbeat.tell(
          fmt::format("explore: {} choices of trips, {} states", all.instances, all.total.states));
      if (one.verdict == Verdict::No) {
        fail(all, std::move(one), std::move(*choice));
        return all;
      }
    }
    if (instances.cutOff()) {
      leaveOpen(all, "there are more choices of trips than were explored");
    }
    return all;
  }

  static void add(ExploreAllResult &all, const ExploreResult &one) {
    ++all.instances;
    all.total.states += one.states;
    all.total.transitions += one.transitions;
    all.total.bytes = std::max(all.total.bytes, one.bytes);
    all.total.stuckTogether |= one.stuckTogether;
    all.numOverwaits += one.overwaits.size();
    if (one.verdict == Verdict::Undecided) {
      leaveOpen(all, one.reason);
    }
  }

  static void leaveOpen(ExploreAllResult &all, const std::string &reason) {
    all.total.reason = all.total.verdict == Verdict::Yes ? reason : all.total.reason;
    all.total.verdict = Verdict::Undecided;
  }

  static void fail(ExploreAllResult &all, ExploreResult one, TripChoice choice) {
    one.states = all.total.states;
    one.transitions = all.total.transitions;
    one.bytes = all.total.bytes;
    all.total = std::move(one);
    all.failing = std::move(choice);
  }

  void exploreText(const ExploreAllResult &all, const ExploreOptions &options) {
    const ExploreResult &total = all.total;
    std::string trips =
        tripsGiven() ? "the given trips" : fmt::format("all trips up to {}", command.bound);
    std::string what = total.verdict == Verdict::Yes
                           ? subject.exact && all.numOverwaits == 0
                                 ? "exact: waits as long as its dependences ask"
                                 : "safe: never early, never stuck by itself"
                       : total.verdict == Verdict::No ? total.text
                                                      : total.reason;
    fmt::format_to(std::back_inserter(text), "explore: {}: {}\n", toString(total.verdict), what);
    fmt::format_to(std::back_inserter(text),
                   "         {} ({} {}), {} states, at most {} in flight on a queue\n", trips,
                   all.instances, all.instances == 1 ? "instance" : "instances", total.states,
                   options.inFlight);
    if (all.numOverwaits != 0 && total.verdict == Verdict::Yes) {
      fmt::format_to(std::back_inserter(text), "         {} {} longer than the dependences ask\n",
                     all.numOverwaits, all.numOverwaits == 1 ? "run waits" : "runs wait");
    }
    if (total.stuckTogether) {
      text +=
          "         the dependences themselves let nobody go on; that is no fault of the code\n";
    }
    if (total.verdict == Verdict::No && !tripsGiven()) {
      text += "         with";
      for (const std::string &option : tripsText(kernel, all.failing)) {
        text += " --trips=" + option;
      }
      text += "\n";
    }
  }

  void exploreJson(const ExploreAllResult &all, const ExploreOptions &options) {
    const ExploreResult &total = all.total;
    Json object;
    object["verdict"] = toString(total.verdict);
    object["promise"] = subject.exact ? "exact" : "safe";
    object["reason"] = total.verdict == Verdict::No ? total.text : total.reason;
    object["instances"] = all.instances;
    object["states"] = total.states;
    object["transitions"] = total.transitions;
    object["bytes"] = total.bytes;
    object["in_flight"] = options.inFlight;
    object["overwaits"] = all.numOverwaits;
    object["stuck_together"] = total.stuckTogether;
    object["trips"] = Json::array();
    if (total.verdict == Verdict::No && !tripsGiven()) {
      for (const std::string &option : tripsText(kernel, all.failing)) {
        object["trips"].push_back(option);
      }
    }
    object["steps"] = total.schedule.size();
    json["explore"] = std::move(object);
  }

  //===--- Race -----------------------------------------------------------===//

  void raceIt() {
    RaceOptions options;
    options.inFlight = command.maxInFlight != 0 ? std::min(command.maxInFlight, tally::maxInFlight)
                                                : options.inFlight;
    options.schedules = command.schedules;
    options.seed = command.seed;
    std::vector<RaceTrips> choices = raceTrips();
    options.seconds = command.seconds / static_cast<double>(choices.size());
    options.progress = [&](uint64_t schedules, uint64_t steps) {
      heartbeat.tell(fmt::format("race: {} schedules, {} steps", schedules, steps));
    };
    raceVerdict = Verdict::Yes;
    Json array = Json::array();
    std::string reports, summary;
    for (const RaceTrips &choice : choices) {
      RaceResult result = checkRaces(kernel, subject.program, machine, choice.bindings, options);
      raceVerdict = tally::both(raceVerdict, result.verdict);
      keepNew(result);
      writeWitnesses(result, choice, options.inFlight);
      if (!result.reports.empty() && !tripsText(choice).empty()) {
        reports += fmt::format("with {}:\n", tripsText(choice));
      }
      reports += render(result, kernel.files);
      // Of several choices of trips the first that decides the verdict speaks for all.
      bool speaks = result.verdict == raceVerdict;
      if (summary.empty() || (speaks && raceVerdict != spoken)) {
        spoken = raceVerdict;
        summary = result.reason;
      }
      schedules += result.schedules;
      steps += result.steps;
      Json object = Json::parse(toJson(result, kernel.files));
      object["trips"] = choice.options;
      object["guards"] = choice.guards;
      array.push_back(std::move(object));
    }
    json["race"] = {{"verdict", toString(raceVerdict)}, {"runs", std::move(array)}};
    text += reports;
    fmt::format_to(std::back_inserter(text), "race:    {}: {}\n", toString(raceVerdict), summary);
    fmt::format_to(std::back_inserter(text), "         {}, {} {}, {} steps, seed {}\n",
                   tripsGiven() ? "the given trips"
                                : fmt::format("{} choices of trips", choices.size()),
                   schedules, schedules == 1 ? "schedule" : "schedules", steps, command.seed);
  }

  /// The options that bind what the kernel leaves open.
  std::string tripsText(const RaceTrips &choice) const {
    std::string text;
    for (const std::string &option : choice.options) {
      text += (text.empty() ? "--trips=" : " --trips=") + option;
    }
    if (hasGuards()) {
      text += fmt::format("{}--guards={}", text.empty() ? "" : " ", choice.guards);
    }
    return text;
  }

  static std::vector<std::string> tripsText(const Kernel &kernel, const TripChoice &choice) {
    return tally::tripsText(kernel, choice);
  }

  /// What an earlier choice of trips has shown is not shown again.
  void keepNew(RaceResult &result) {
    std::erase_if(result.reports, [&](const RaceReport &report) {
      std::string key(toString(report.kind));
      for (const char *name : {"first", "second", "semaphore", "operation", "engine"}) {
        for (const auto &[fact, value] : report.facts) {
          key += fact == name ? "\n" + value : "";
        }
      }
      return !shown.insert(key).second;
    });
  }

  /// The given trips; else every loop 0, 1, 2, 3 and more times than the longest distance; each
  /// loop in turn not at all; and all of them another number of times at each entry. Where there
  /// are branches or guards, each of these with several decisions.
  std::vector<RaceTrips> raceTrips() const {
    std::vector<RaceTrips> choices;
    if (tripsGiven()) {
      choices.push_back({*given, command.trips, command.guards});
      return choices;
    }
    for (uint64_t count : {uint64_t(0), uint64_t(1), uint64_t(2), uint64_t(3), manyTrips()}) {
      addChoices(choices, [&](LoopId) { return Trips{count}; });
    }
    for (LoopId zero : kernel.loops.ids()) {
      if (isFree(kernel.loops[zero])) {
        addChoices(choices, [&](LoopId loop) { return Trips{loop == zero ? 0u : 3u}; });
      }
    }
    addChoices(choices, [](LoopId loop) {
      return loop.value % 2 == 0 ? Trips{3, 0, 2} : Trips{4, 1, 0, 3};
    });
    return choices;
  }

  using Trips = std::vector<uint64_t>;

  uint64_t manyTrips() const {
    uint64_t longest = 3;
    for (const DistanceComponent &component : kernel.components) {
      longest = std::max(longest, static_cast<uint64_t>(std::abs(component.distance)));
    }
    return std::min<uint64_t>(2 * longest + 3, 100);
  }

  /// One set of trips, within the bounds of the kernel, unless it is there already.
  template <typename TripsOf>
  void addChoices(std::vector<RaceTrips> &choices, TripsOf tripsOf) const {
    RaceTrips choice{Bindings(kernel), {}, 0};
    for (LoopId id : kernel.loops.ids()) {
      if (isFree(kernel.loops[id])) {
        Trips trips = tripsOf(id);
        for (uint64_t &count : trips) {
          count = clamp(kernel.loops[id], count);
        }
        choice.options.push_back(fmt::format("{}={}", kernel.nameOf(id), fmt::join(trips, ",")));
        choice.bindings.set(id, std::move(trips));
      }
    }
    for (const RaceTrips &known : choices) {
      if (known.options == choice.options) {
        return;
      }
    }
    for (choice.guards = 0; choice.guards < (hasGuards() ? numGuardSeeds : 1); ++choice.guards) {
      choice.bindings.setGuardSeed(choice.guards);
      choices.push_back(choice);
    }
  }

  static constexpr uint64_t numGuardSeeds = 16;

  static bool isFree(const Loop &loop) {
    return loop.kind == LoopKind::Loop && loop.trip.kind == Trip::Kind::Value;
  }

  bool hasGuards() const {
    return std::any_of(kernel.loops.begin(), kernel.loops.end(),
                       [](const Loop &loop) { return loop.trip.kind == Trip::Kind::Guard; });
  }

  static uint64_t clamp(const Loop &loop, uint64_t count) {
    return std::min(std::max(count, loop.trip.min), loop.trip.max.value_or(UINT64_MAX));
  }

  //===--- Witnesses ------------------------------------------------------===//

  void writeWitnesses(const RaceResult &result, const RaceTrips &choice, uint32_t inFlight) {
    for (const RaceReport &report : result.reports) {
      if (report.text.severity == Severity::Error) {
        writeWitness(report.steps, choice.options, choice.guards, inFlight, report.text.message);
      }
    }
  }

  /// The first goes to the file of --witness, further ones beside it: w.json, w-2.json, ...
  void writeWitness(const std::vector<Step> &steps, const std::vector<std::string> &trips,
                    uint64_t guards, uint32_t inFlight, const std::string &message);

  void decide() {
    bool exploreAnswers = both() && exploreVerdict != Verdict::Undecided;
    if (!both()) {
      verdict = command.explore ? exploreVerdict : raceVerdict;
    } else if (raceVerdict == Verdict::No || exploreVerdict == Verdict::No) {
      verdict = Verdict::No;
    } else if (exploreAnswers && kernel.accesses.empty()) {
      verdict = Verdict::Yes; // every interleaving was walked, and dependences are all there is
    } else {
      verdict = raceVerdict;
    }
    json["verdict"] = toString(verdict);
    fmt::format_to(std::back_inserter(text), "verdict: {}\n", toString(verdict));
  }

  const CheckCommand &command;
  Session &session;
  const Subject &subject;
  const Kernel &kernel;
  const Machine &machine;
  uint32_t &witnesses;
  std::optional<Bindings> given;
  Verdict exploreVerdict = Verdict::Undecided;
  Verdict raceVerdict = Verdict::Undecided;
  Verdict spoken = Verdict::Yes;
  uint64_t schedules = 0, steps = 0;
  std::set<std::string> shown;
  Heartbeat heartbeat;
};

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

/// `w.json` for the first, then `w-2.json`, `w-3.json`, ...
std::string numbered(const std::string &path, uint32_t number) {
  if (number == 1) {
    return path;
  }
  size_t dot = path.rfind('.');
  bool hasEnding = dot != std::string::npos && path.find('/', dot) == std::string::npos;
  std::string end = hasEnding ? path.substr(dot) : "";
  return fmt::format("{}-{}{}", path.substr(0, path.size() - end.size()), number, end);
}

std::vector<std::string> compileFlags(const CommonOptions &common) {
  std::vector<std::string> flags;
  if (common.participants != CommonOptions().participants) {
    flags.push_back("--barrier-participants=" + common.participants);
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

void OneCheck::writeWitness(const std::vector<Step> &steps, const std::vector<std::string> &trips,
                            uint64_t guards, uint32_t inFlight, const std::string &message) {
  if (command.witness.empty()) {
    return;
  }
  ScheduleFile file;
  file.kernelFile = command.common.input;
  file.kernelName = kernel.text(kernel.name);
  file.codeFile = command.code;
  file.strategy = subject.isWritten ? "" : subject.program.strategy;
  file.options = compileFlags(command.common);
  file.machine = command.common.machine;
  file.trips = trips;
  file.guards = guards;
  file.inFlight = inFlight;
  file.shows = message;
  file.steps = nameSteps(kernel, steps);
  std::string path = numbered(command.witness, ++witnesses);
  if (session.write(path, writeScheduleFile(file))) {
    fmt::print(stderr, "note: a schedule that shows it is in '{}'\n", path);
  }
}

class Replay {
public:
  Replay(const Subject &subject, const Machine &machine, const ScheduleFile &file)
      : subject(subject), kernel(subject.kernel), machine(machine), file(file) {}

  /// False if the file does not fit the kernel.
  bool run() {
    Diagnostics diagnostics;
    Bindings bindings = Bindings::parse(kernel, file.trips, file.guards, diagnostics);
    std::vector<Step> steps = resolveSteps(kernel, file.steps, diagnostics);
    if (diagnostics.hasErrors()) {
      fmt::print(stderr, "{}", render(diagnostics, {}));
      return false;
    }
    RaceOptions options;
    options.inFlight = file.inFlight;
    size_t performed = 0;
    RaceResult result =
        checkSchedule(kernel, subject.program, machine, bindings, steps, options, performed);
    std::vector<Mismatch> mismatches = compare(bindings, steps);
    bool isWrong = result.verdict == Verdict::No || !mismatches.empty();
    verdict = isWrong ? Verdict::No : Verdict::Undecided;
    tell(result, performed, mismatches.size());
    return true;
  }

  Verdict verdict = Verdict::Undecided;
  std::string text;
  Json json;

private:
  /// What differs from the dependences along the way, but for waits that may be longer.
  std::vector<Mismatch> compare(const Bindings &bindings, const std::vector<Step> &steps) {
    ExploreOptions options;
    options.inFlight = file.inFlight;
    options.mayOverwait = subject.mayOverwait;
    Lockstep lockstep(kernel, subject.program, machine, bindings, options);
    ReplayResult replayed = replay(lockstep, steps);
    std::erase_if(replayed.mismatches, [&](const Mismatch &mismatch) {
      return mismatch.kind == MismatchKind::Late && mismatch.instance.instr.valid() &&
             subject.mayOverwait[mismatch.instance.instr];
    });
    for (const Mismatch &mismatch : replayed.mismatches) {
      differences.push_back(describe(lockstep.specOf(), lockstep.implOf(), mismatch));
    }
    for (EngineId engine : kernel.engines.ids()) {
      places += placeOf(lockstep.implOf(), replayed.last.impl, engine);
    }
    return replayed.mismatches;
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
                           subject.program.semaphores[blocked.semaphore].name, blocked.threshold,
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

  void tell(const RaceResult &result, size_t performed, size_t numMismatches) {
    text = fmt::format("{} of {} steps performed, after which\n{}", performed, file.steps.size(),
                       places);
    if (performed < file.steps.size()) {
      text += fmt::format("step {} cannot happen there\n", performed + 1);
    }
    for (const std::string &difference : differences) {
      text += fmt::format("{}\n", difference);
    }
    text += render(result, kernel.files);
    if (numMismatches == 0 && result.reports.empty()) {
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
  std::vector<std::string> differences;
  std::string places;
};

std::optional<ScheduleFile> loadSchedule(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) {
    complain(fmt::format("cannot read the schedule '{}'", path));
    return {};
  }
  Diagnostics diagnostics;
  std::optional<ScheduleFile> schedule = readScheduleFile(text.str(), path, diagnostics);
  fmt::print(stderr, "{}", render(diagnostics, {}));
  return schedule;
}

/// The command that the schedule was written by, but for files that are named now.
std::optional<CheckCommand> commandOf(const CheckCommand &given, const ScheduleFile &file) {
  CheckCommand command = given;
  if (given.common.input.empty()) {
    command.common.input = file.kernelFile;
    command.code = file.codeFile;
  }
  command.common.machine = file.machine;
  command.strategyGiven = !file.strategy.empty();
  command.common.strategy = file.strategy.empty() ? command.common.strategy : file.strategy;
  for (const std::string &option : file.options) {
    if (!setCompileFlag(command.common, option)) {
      complain(fmt::format("the schedule has the unknown option '{}'", option));
      return {};
    }
  }
  return command;
}

int CheckCommand::replayIt() const {
  std::optional<ScheduleFile> file = loadSchedule(replay);
  std::optional<CheckCommand> command = file ? commandOf(*this, *file) : std::nullopt;
  if (!command) {
    return Exit::Undecided;
  }
  Session session;
  std::optional<Machine> target = session.machine(command->common.machine);
  if (!target) {
    return Exit::Undecided;
  }
  Checker checker(*command, session, *target);
  if (!checker.prepare()) {
    return Exit::No;
  }
  for (const std::unique_ptr<Subject> &subject : checker.all()) {
    if (subject->kernel.text(subject->kernel.name) != file->kernelName) {
      continue;
    }
    Replay replayed(*subject, *target, *file);
    if (!replayed.run()) {
      return Exit::Undecided;
    }
    Json document = {{"schema", "tally-replay"}, {"version", 1}};
    document.update(replayed.json);
    bool written = session.write("-", format == "json" ? document.dump(2) + "\n" : replayed.text);
    return written ? exitStatus(replayed.verdict) : int(Exit::Undecided);
  }
  complain(fmt::format("'{}' holds no kernel '{}'", command->common.input, file->kernelName));
  return Exit::Undecided;
}

int CheckCommand::run() const {
  if (!replay.empty()) {
    return replayIt();
  }
  if (common.input.empty()) {
    complain("which kernel? give its file, or a schedule with --replay");
    return Exit::Undecided;
  }
  Session session;
  std::optional<Machine> target = session.machine(common.machine);
  if (!target) {
    return Exit::Undecided;
  }
  Checker checker(*this, session, *target);
  if (!checker.prepare()) {
    return Exit::No;
  }
  Verdict verdict = Verdict::Yes;
  uint32_t witnesses = 0;
  std::string text;
  Json document = {{"schema", "tally-check"}, {"version", 1}, {"checks", Json::array()}};
  for (const std::unique_ptr<Subject> &subject : checker.all()) {
    OneCheck check(*this, session, *subject, *target, witnesses);
    if (!check.run()) {
      return Exit::Undecided;
    }
    verdict = both(verdict, check.verdict);
    text += (text.empty() ? "" : "\n") + check.text;
    document["checks"].push_back(std::move(check.json));
  }
  document["verdict"] = toString(verdict);
  if (!session.write("-", format == "json" ? document.dump(2) + "\n" : text)) {
    return Exit::Undecided;
  }
  return exitStatus(verdict);
}

constexpr const char *examples = R"(Examples:
  tally check k.mlir                          compile and check, both ways, trips of our choice
  tally check k.mlir --sync=barrier --explore every interleaving of loops of up to 2 trips
  tally check k.mlir code.mlir --race         code written by hand against this kernel
  tally check code.mlir --trips=A=5           code beside its kernel, loop A five times
  tally check k.mlir --witness=w.json         write down a schedule that goes wrong
  tally check --replay=w.json                 see it again

Exit status: 0 yes, 1 no or wrong input, 2 could not decide.)";

void addModes(CLI::App &sub, CheckCommand &command) {
  auto *explore =
      sub.add_flag("--explore", command.explore, "walk all interleavings of small instances");
  auto *race = sub.add_flag("--race", command.race, "run many schedules, watch accesses and waits");
  auto *replay = sub.add_option("--replay", command.replay,
                                "perform the schedule of this file and explain it");
  replay->excludes(explore)->excludes(race);
  for (CLI::Option *option : {explore, race, replay}) {
    option->group("What to ask (default: --explore as far as it gets, and --race)");
  }
}

void addRun(CLI::App &sub, CheckCommand &command) {
  constexpr const char *group = "Trips";
  sub.add_option("--trips", command.trips, "how often loops run: A=64, B=3,0,4 or B@act=1,2")
      ->allow_extra_args(false)
      ->group(group);
  sub.add_option("--guards", command.guards, "decisions of branches and while-loops, by seed")
      ->group(group);
  sub.add_option("--bound", command.bound,
                 "without --trips, --explore tries all trips up to this number")
      ->capture_default_str()
      ->group(group);
}

void addLimits(CLI::App &sub, CheckCommand &command) {
  constexpr const char *group = "Limits";
  sub.add_option("--max-states", command.maxStates,
                 "states of one exploration (50000000; without a mode 200000)")
      ->group(group);
  sub.add_option("--max-memory", command.maxMemory, "of one exploration, in MiB")
      ->capture_default_str()
      ->group(group);
  sub.add_option("--max-in-flight", command.maxInFlight,
                 "instructions that a queue holds, 1 to 64 (--explore: 4, --race: 64)")
      ->check(CLI::Range(1u, tally::maxInFlight))
      ->group(group);
  sub.add_option("--schedules", command.schedules, "schedules of --race, if one does not decide")
      ->capture_default_str()
      ->group(group);
  sub.add_option("--time", command.seconds, "seconds for --race")
      ->capture_default_str()
      ->group(group);
  sub.add_option("--seed", command.seed, "of the schedules of --race that are left to chance")
      ->capture_default_str()
      ->group(group);
}

void addOutput(CLI::App &sub, CheckCommand &command) {
  constexpr const char *group = "Output";
  sub.add_option("--witness", command.witness,
                 "file for a schedule that shows the first fault; further ones get -2, -3, ...")
      ->group(group);
  sub.add_option("--format", command.format, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str()
      ->group(group);
}

} // namespace

void addCheck(CLI::App &app, int &status) {
  auto command = std::make_shared<CheckCommand>();
  CLI::App *sub =
      app.add_subcommand("check", "Whether code is right and waits no longer than it must");
  sub->add_option("kernel", command->common.input,
                  "kernel, perhaps with its code: MLIR text or bytecode, or .json; - is stdin");
  sub->add_option("code", command->code,
                  "its code, beside the same kernel; none: what stands beside the kernel, or else "
                  "compile it");
  addModes(*sub, *command);
  command->common.addStrategy(*sub, strategyNames());
  command->common.addMachine(*sub);
  addRun(*sub, *command);
  addLimits(*sub, *command);
  addOutput(*sub, *command);
  sub->footer(examples);
  sub->callback([command, sub, &status] {
    command->strategyGiven = sub->count("--sync") != 0;
    command->guardsGiven = sub->count("--guards") != 0;
    status = command->run();
  });
}

} // namespace tally::tool
