//===- CheckCommand.cpp - tally check -------------------------------------===//
//
// "Is this code right, and does it wait no longer than it must?" Two ways to ask:
//
//   explore   every interleaving of small instances, against what the dependences ask
//   race      schedules of any length, by vector clocks over accesses and dependences
//
// Without a mode both are asked, the first within tighter limits. The answer is yes if all that was
// asked is answered by yes.
//
//===----------------------------------------------------------------------===//

#include "CheckAnswer.h"

#include "Interrupt.h"

#include "tally/Deps/Bounds.h"
#include "tally/Run/MayAsk.h"
#include "tally/Support/WholeFile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>

namespace tally::tool {

std::string nothingToCompare(const Subject &subject, bool hasNeeds, const RunsDo &runs,
                             bool isOneRun) {
  const Kernel &kernel = subject.kernel;
  const std::string_view where = isOneRun ? "with these trips" : "in the runs that were tried";
  if (kernel.instrs.empty()) {
    return "nothing is compared: the kernel has no instruction";
  }
  if (!hasNeeds && kernel.accesses.empty()) {
    return "nothing is compared: the kernel says neither what is accessed nor what depends on what";
  }
  if (!hasNeeds) {
    return "nothing is compared: the kernel has no dependence, and none is taken from its accesses";
  }
  if (runs.most() == RunDoes::Nothing) {
    return fmt::format("nothing is compared: no instruction runs {}", where);
  }
  if (runs.most() == RunDoes::Issue && subject.dependsOnAccesses()) {
    return fmt::format("nothing is compared: no instruction is seen to touch anything {}", where);
  }
  return runs.most() != RunDoes::Meet && runs.owesNothing()
             ? fmt::format("nothing is compared: no dependence asks for anything {}", where)
             : "";
}

std::vector<std::string> neverOwed(const Kernel &kernel, const RunsDo &runs) {
  std::vector<std::string> never;
  for (DepId dep : runs.neverOwed()) {
    never.push_back(describe(kernel, dep));
  }
  return never;
}

std::string neverText(std::span<const std::string> never) {
  constexpr size_t numNamed = 4;
  return fmt::format("{}{}", fmt::join(never.first(std::min(never.size(), numNamed)), "; "),
                     never.size() > numNamed
                         ? fmt::format("; and {} more like these", never.size() - numNamed)
                         : "");
}

bool Given::mayAsk(const Kernel &kernel, DepId dep) const {
  auto isOut = [&](InstrId instr) { return bindings.keepsOut(kernel.instrs[instr].home); };
  return !isOut(kernel.deps[dep].producer) && !isOut(kernel.deps[dep].consumer) &&
         tally::mayAsk(kernel, dep);
}

//===----------------------------------------------------------------------===//
// Checking
//===----------------------------------------------------------------------===//

namespace {

/// What is given bounds the kernel from now on.
Given takeGiven(const CheckOptions &options, Subject &subject, Session &session) {
  Given given{session.bindings(subject.kernel, options.values), options.values.text()};
  given.isOneRun = !given.text.empty() && given.bindings.isComplete();
  for (auto [option, isGiven] :
       {std::pair("--max-trips", options.maxTripsGiven), {"--distances", options.distancesGiven}}) {
    if (given.isOneRun && isGiven) {
      session.warnIdle(subject.kernel, option, given.text + " leaves no trips to choose");
    }
  }
  if (!given.isOneRun) {
    given.bindings.narrow(subject.kernel);
  }
  if (!given.isOneRun && subject.asked.kernel) {
    given.bindings.narrow(*subject.asked.kernel);
  }
  return given;
}

/// Asks what was asked about one kernel.
Answer checkSubject(const CheckOptions &options, Subject &subject, Session &session) {
  const Machine &machine = session.machine();
  Answer answer;
  answer.verdict = Verdict::Yes;
  answer.json = subjectJson(subject.kernel, subject.code, session);
  std::vector<std::string> granted =
      takenForGranted(subject.kernel, findTileBounds(subject.kernel));
  answer.json["taken_for_granted"] = granted;
  const Given given = takeGiven(options, subject, session);
  answer.json["given"] = {
      {"trips", options.values.trips},
      {"guards", options.values.guardsGiven ? Json(options.values.guards) : Json()}};
  answer.text = subjectText(subject.kernel, subject.code, session) + "\n";
  auto add = [&](const char *key, Answer part) {
    answer.verdict = both(answer.verdict, part.verdict);
    answer.text += part.text;
    answer.json[key] = std::move(part.json);
    answer.faults.insert(answer.faults.end(), part.faults.begin(), part.faults.end());
  };
  if (options.asksExplore()) {
    add("explore", exploreSubject(options, subject, machine, given));
  }
  if (options.asksRace()) {
    add("race", raceSubject(options, subject, machine, given));
  }
  answer.json["verdict"] = toString(answer.verdict);
  answer.text += fmt::format("{}verdict: {}\n", grantedText(granted), toString(answer.verdict));
  return answer;
}

/// Known before the work begins: a schedule may be hours away.
bool canWriteWitness(const CheckOptions &options) {
  std::string problem = options.witness.empty() ? "" : WholeFile::whyNot(options.witness);
  if (!problem.empty()) {
    complain(fmt::format("cannot write '{}': {}", options.witness, problem), options.witness);
  }
  return problem.empty();
}

Exit checkAll(const CheckOptions &options) {
  if (options.common.input.empty()) {
    fail("which kernel? give its file, or a schedule with --replay");
  }
  Session session(options.common);
  std::vector<Subject> subjects = orEnd(makeSubjects(session.load(), options, session));
  if (!canWriteWitness(options)) {
    end();
  }
  Verdict verdict = Verdict::Yes;
  uint32_t numWitnesses = 0;
  Result result(options.format, "tally-check", 2, "checks");
  std::vector<RunOptions> values = session.divide(subjects, options.values);
  for (size_t number = 0; number < subjects.size(); ++number) {
    Subject &subject = subjects[number];
    CheckOptions own = options;
    own.values = values[number];
    Answer answer = checkSubject(own, subject, session);
    for (size_t i = 0; i < answer.faults.size() && !options.witness.empty(); ++i) {
      writeWitness(options, session, subject, answer.faults[i], ++numWitnesses);
    }
    verdict = both(verdict, answer.verdict);
    result.part();
    result.add(answer.text, std::move(answer.json));
  }
  result.set({{"verdict", toString(verdict)}});
  tellInterrupt();
  result.repeatWith(session);
  return result.print(Exit(exitStatus(verdict)));
}

//===----------------------------------------------------------------------===//
// Command line
//===----------------------------------------------------------------------===//

constexpr const char *examples = R"(Examples:
  tally check k.mlir                            compile and check in both ways; tally chooses the trips
  tally check k.mlir --sync=barrier --explore   every interleaving of loops of up to 2 trips
  tally check k.mlir --explore --max-trips=1 --no-distances
                                                only loops of at most one trip: quick
  tally check k.mlir code.mlir --race           code written by hand against this kernel
  tally check code.mlir --trips=A=5             code next to its kernel; five trips of loop A,
                                                and tally chooses those of other loops
  tally check k.mlir --witness=w.json           write down a schedule that goes wrong
  tally check --replay=w.json                   see it again

Ctrl-C ends it with what is known so far: no, or could not decide.

Exit status: 0 yes, 1 no, 2 could not decide, or wrong input or use.)";

void declareLimits(CLI::App &command, CheckOptions &options) {
  declare(command,
          {{"--in-flight", options.inFlight,
            "instructions that a queue holds, 1 to 64 (--explore: 4, more where one was full; "
            "--race: 64)",
            integerIn(1, maxInFlight)},
           {"--time", options.seconds,
            "seconds for each, after which no other schedule or instance is begun (10; --explore "
            "alone: no limit)",
            positiveNumber()}},
          "Limits of both");
  declare(command,
          {{"--reduction", options.reduction,
            "how many interleavings stand for others: many, those of commits and registers, none",
            oneOf("reduction", "reductions", {"full", "local", "none"})},
           {"--hashes", options.hashes,
            "keep a hash of each state, not the state: finds faults where memory is short, but "
            "says yes to nothing"},
           {"--max-states", options.maxStates,
            "states of one instance (50000000; with --race 200000)", integerIn(1)},
           {"--memory", options.maxMemory, "for the states of one instance, in MiB",
            integerIn(1, 1 << 24)}},
          "Limits of --explore");
  declare(command,
          {{"--schedules", options.schedules, "for each choice of trips that one cannot decide",
            integerIn(1, UINT32_MAX)},
           {"--seed", options.seed, "of random schedules", integerIn(0)}},
          "Limits of --race");
}

/// What one mode only reads, and what a schedule or code that is there has settled.
void refuseIdleOptions(CLI::App &sub, CheckOptions &options) {
  refuseIf(sub,
           {"--max-trips", "--distances", "--reduction", "--hashes", "--max-states", "--memory"},
           "with '--race' alone; it goes with '--explore'",
           [&options] { return !options.asksExplore() && options.replay.empty(); });
  refuseIf(sub, {"--schedules", "--seed", "--all"}, "with '--explore' alone; it goes with '--race'",
           [&options] { return !options.asksRace() && options.replay.empty(); });
  options.refuseIdleStrategy(sub);
  std::vector<std::string> settled = declaredOn(sub);
  std::erase_if(settled, [](const std::string &name) {
    return name == "--help" || name == "--replay" || name == "--all" || name == "--format";
  });
  refuseIf(sub, std::move(settled), "with '--replay': the schedule says how the code is run",
           [&options] { return !options.replay.empty(); });
}

struct CheckCommand : CheckOptions {
  void declareOn(CLI::App &command) {
    addInput(command,
             "its code, with the same kernel; none: what stands next to the kernel, or else "
             "compile it",
             /*needsKernel=*/false);
    declare(command,
            {{"--explore", explore, "walk all interleavings of small instances"},
             {"--race", race, "run many schedules, watch accesses and waits"},
             {"--replay", replay, "perform the schedule of this file and explain it", file}},
            "What to ask (default: --explore within limits, and --race)");
    asksWritten = true;
    common.holdsAccesses = true;
    common.addStrategy(command, strategyNames());
    common.addMachine(command);
    const std::string trips = "Trips (what is not given, tally chooses, in several ways)";
    values.add(command, trips);
    declare(command,
            {{"--max-trips", maxTrips,
              "--explore tries all trips up to this number, each time a loop is reached",
              integerIn(0, 10'000), notedIn(maxTripsGiven)},
             {"--distances,!--no-distances", distances,
              "... and around the longest distance on each loop: one less, as many, one more",
              notedIn(distancesGiven)}},
            trips);
    declareLimits(command, *this);
    declare(command,
            {{"--witness", witness,
              "file for a schedule that shows the first finding; further ones get -2, -3, ...",
              onlyFile()},
             {"--all", all,
              "print reports that have the cause of another, too, and write their schedules"},
             formatOption(format)},
            "Output");
    refuseIdleOptions(command, *this);
  }

  int run() {
    stop = stopOnSignals();
    return replay.empty() ? checkAll(*this) : replaySchedule(*this);
  }
};

} // namespace

void CheckOptions::addInput(CLI::App &command, const std::string &codeHelp, bool needsKernel) {
  Option kernel("kernel", common.input,
                "kernel, perhaps with its code: MLIR text or bytecode, or .json; - is stdin", file);
  kernel.isRequired = needsKernel;
  declare(command, {kernel, {"code", common.code, codeHelp, file}});
  common.addKernelChoice(command);
}

void CheckOptions::refuseIdleStrategy(CLI::App &command) {
  refuseIf(command, {"--sync"}, "where code is given in a file, unless it is 'manual'", [this] {
    return !common.code.empty() && common.strategy != toString(Strategy::Manual);
  });
}

void addCheck(CLI::App &app) {
  addCommand<CheckCommand>(
      app, {"check", "Whether code is right and waits no longer than it must", examples});
}

} // namespace tally::tool
