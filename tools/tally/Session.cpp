//===- Session.cpp - Input, output and messages of one run of `tally` -----===//

#include "Session.h"

#include "Interrupt.h"
#include "Progress.h"
#include "TileWatch.h"

#include "tally/Check/Choices.h"
#include "tally/Compile/Prepare.h"
#include "tally/Deps/Bounds.h"
#include "tally/Model/Open.h"
#include "tally/Model/UsualTrips.h"
#include "tally/Support/Counted.h"
#include "tally/Support/Names.h"
#include "tally/Support/WholeFile.h"
#include "tally/Transforms/Bridge.h"
#include "tally/Transforms/Passes.h"
#include "tally/Transforms/ReadModule.h"
#include "tally/Transforms/ScfOutput.h"
#include "tally/Transforms/ShowMessages.h"
#include "tally/Written/CodeJson.h"
#include "tally/Written/KernelJson.h"
#include "tally/Written/Text.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <set>
#include <thread>
#include <utility>

namespace tally::tool {

void CommonOptions::addInput(CLI::App &command) {
  declare(command, {{"kernel", input, "kernel: MLIR text or bytecode, or .json; - is stdin",
                     required, file}});
  addKernelChoice(command);
}

void CommonOptions::addKernelChoice(CLI::App &command) {
  declare(command, {{"--kernel", kernel, "only the kernel of this name, if a file holds several",
                     writtenAs("NAME")}});
}

void CommonOptions::addMachine(CLI::App &command) {
  declare(command,
          {{"--machine", machine,
            "machine: a name ('tally machine list') or a .json file; if none is named: of code, "
            "the one that it was made for; or else trn2 if it has all engines of the "
            "kernel, and teaching if not",
            notedIn(machineGiven), writtenAs("MACHINE"), suggestedBy("machine list")}});
}

void CommonOptions::addKeepImplied(CLI::App &command) {
  declare(command, {{"--keep-implied", keepImplied,
                     "of the dependences that are found, keep those that others imply, too"}});
}

void RunOptions::add(CLI::App &command, const std::string &title) {
  declare(
      command,
      {{"--trips", trips,
        "trips of a loop: A=64; one number for each time it is reached, again from the start when "
        "used up: B=3,0,4; on one engine: B@act=1; of a branch, 1 where it is taken: hit=1,0",
        writtenAs("LOOP=N")},
       {"--guards", guards, "seed for branches and while-loops", integerIn(0), told,
        notedIn(guardsGiven)}},
      title);
}

std::vector<std::string> plannedStrategies() {
  std::vector<std::string> names = strategyNames();
  std::erase(names, std::string(toString(Strategy::Manual)));
  return names;
}

void CommonOptions::addStrategy(CLI::App &command, const std::vector<std::string> &strategies) {
  canKeepCode = std::ranges::find(strategies, toString(Strategy::Manual)) != strategies.end();
  declare(
      command,
      {{"--sync", strategy, "the strategy: how engines are synchronised",
        oneOf("strategy", "strategies", strategies), notedIn(strategyGiven)},
       {"--deps", deps,
        "auto: as written, or if none are, those that follow from the accesses; written: always as "
        "written",
        oneOf("choice", "choices", {"auto", "written"})}});
  addKeepImplied(command);
  declare(
      command,
      {{"--barrier-participants", participants,
        "which engines meet at a barrier: those with work in the loop, or all",
        oneOf("choice", "choices", {"work", "all"})},
       {"--overflow", overflow,
        "counters that may overflow within the trip bounds: reset them during the run, refuse the "
        "kernel, or assume that they fit",
        oneOf("choice", "choices", allWords<Overflow>()), notedIn(overflowGiven)},
       {"--max-code-growth", codeGrowth,
        "auto: unroll loops; the code may get at most this many times as large", numberIn(1, 1000)},
       {"--reorder", reorder,
        "auto: instructions of a body may change places where none of them touch the same in one "
        "iteration"}});
  if (!hasOwnEffort) {
    declare(command,
            {{"--effort", effort,
              "auto: how much to try, relative to the usual; 0: take what is estimated to be best",
              numberIn(0, 1000)}});
    refuseIf(command, {"--effort"}, "unless '--sync=auto' makes the code",
             [this] { return strategy != toString(Strategy::Auto); });
  }
  declare(command,
          {{"--no-fold", noFold, "leave constants in wait values"},
           {"--no-licm", noLicm, "compute wait values where they are used"},
           {"--no-cse", noCse, "compute equal wait values again"},
           {"--keep-counters", keepCounters,
            "count each loop on every engine that runs it, whether or not a wait reads the count"}},
          "Ablations");
  refuseIf(command, {"--keep-implied"}, "together with '--deps=written'",
           [this] { return deps == "written"; });
  refuseIf(command, {"--max-code-growth", "--reorder"}, "unless '--sync=auto' makes the code",
           [this] { return strategy != toString(Strategy::Auto); });
  refuseIf(command, {"--overflow", "--no-fold", "--no-licm", "--no-cse", "--keep-counters"},
           "on code that is kept as it is written",
           [this] { return strategy == toString(Strategy::Manual); });
  refuseIf(command, {"--barrier-participants"}, "on code without barriers", [this] {
    return strategy == toString(Strategy::Unrolled) || strategy == toString(Strategy::Manual);
  });
}

Request CommonOptions::request() const {
  Request options;
  options.findDeps = deps != "written";
  options.keepImplied = keepImplied;
  options.strategy = fromWord<Strategy>(strategy).value_or(Strategy::Auto);
  options.participants = participants == "all" ? Participants::All : Participants::Work;
  options.fold = !noFold;
  options.licm = !noLicm;
  options.cse = !noCse;
  options.keepCounters = keepCounters;
  options.reorder = reorder;
  options.codeGrowth = codeGrowth;
  options.effort = effort;
  options.overflow = fromWord<Overflow>(overflow).value_or(Overflow::Reset);
  options.threads = std::max(1u, std::thread::hardware_concurrency());
  options.progress = [](uint64_t tried) {
    nowDoing(fmt::format("planning, {} tried", counted(tried, "code")));
  };
  return options;
}

//===----------------------------------------------------------------------===//
// MLIR
//===----------------------------------------------------------------------===//

static mlir::DialectRegistry dialects() {
  mlir::DialectRegistry registry;
  registerDialects(registry);
  return registry;
}

struct Session::Dialect {
  explicit Dialect(const std::string &input)
      : context(dialects(), mlir::MLIRContext::Threading::DISABLED), withSource(sources, &context),
        handler(&context,
                [&input](mlir::Diagnostic &diagnostic) { return show(diagnostic, input); }) {
    context.printOpOnDiagnostic(false); // the source says more
    sources.setDiagHandler(showWithLine);
  }

  mlir::OwningOpRef<mlir::ModuleOp> newModule() {
    return mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
  }

  static mlir::LogicalResult show(mlir::Diagnostic &diagnostic, const std::string &input);
  static std::string print(mlir::ModuleOp module);

  llvm::SourceMgr sources;
  mlir::MLIRContext context;
  mlir::SourceMgrDiagnosticHandler withSource;
  mlir::ScopedDiagnosticHandler handler; ///< asked first
};

mlir::LogicalResult Session::Dialect::show(mlir::Diagnostic &diagnostic, const std::string &input) {
  std::vector<std::string> files{input};
  Diagnostic message = fromMlir(diagnostic, files);
  if (isHidden(message.severity)) {
    return mlir::success();
  }
  if (canShowLines(message, files) && !messagesAsJson()) {
    return mlir::failure(); // the next handler does it
  }
  tell(message, files);
  return mlir::success();
}

std::string Session::Dialect::print(mlir::ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  mlir::OpPrintingFlags flags;
  flags.useLocalScope();
  module->print(stream, flags);
  stream << "\n";
  return text;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// By the name, or, of stdin, by the first character: no module begins with a bracket.
static bool isJson(const std::string &path, llvm::StringRef text) {
  llvm::StringRef start = text.ltrim();
  return path == "-" ? start.starts_with("{") || start.starts_with("[") : path.ends_with(".json");
}

std::vector<LoadedKernel> Session::read(const std::string &path) {
  file = path == "-" ? "<stdin>" : path;
  EndsOnSignals untilRead;
  nowDoing("reading the input");
  std::string problem;
  std::unique_ptr<llvm::MemoryBuffer> buffer = readKernelFile(path, problem);
  if (!buffer) {
    complain(problem, file);
    return {};
  }
  bool json = isJson(path, buffer->getBuffer());
  return chosenOf(json ? readJson(buffer->getBuffer()) : readModule(std::move(buffer)), path);
}

/// The kernel that --kernel names. A second file may hold the same one by another name.
std::vector<LoadedKernel> Session::chosenOf(std::vector<LoadedKernel> kernels,
                                            const std::string &path) const {
  if (options.kernel.empty() || kernels.empty()) {
    return kernels;
  }
  std::vector<std::string_view> names;
  for (LoadedKernel &loaded : kernels) {
    names.push_back(loaded.kernel.text(loaded.kernel.name));
    if (names.back() == options.kernel) {
      std::vector<LoadedKernel> chosen;
      chosen.push_back(std::move(loaded));
      return chosen;
    }
  }
  if (path == options.input && !options.isSecond) {
    fail(unknownName("kernel", fmt::format("kernels in '{}'", file), options.kernel, names));
  }
  return kernels;
}

std::vector<LoadedKernel> Session::readModule(std::unique_ptr<llvm::MemoryBuffer> buffer) {
  std::optional<std::vector<LoadedKernel>> kernels =
      readKernels(std::move(buffer), dialect->sources, &dialect->context);
  if (kernels && kernels->empty()) {
    complain(fmt::format("'{}' holds no kernel; one begins with 'tally.kernel @name {{'", file),
             file);
  }
  return std::move(kernels).value_or(std::vector<LoadedKernel>());
}

static void refuseEqualNames(const std::vector<LoadedKernel> &kernels, Diagnostics &diagnostics) {
  std::set<std::string_view> names;
  for (const LoadedKernel &loaded : kernels) {
    std::string_view name = loaded.kernel.text(loaded.kernel.name);
    if (!names.insert(name).second) {
      diagnostics.error(loaded.kernel.where, fmt::format("there is another kernel '{}'", name));
    }
  }
}

std::vector<LoadedKernel> Session::readJson(std::string_view text) {
  Diagnostics diagnostics;
  std::vector<LoadedKernel> kernels = readKernelsJson(text, file, diagnostics);
  for (const LoadedKernel &loaded : kernels) {
    Diagnostics own;
    checkAsRead(loaded.kernel, own);
    diagnostics.append(std::move(own));
  }
  refuseEqualNames(kernels, diagnostics);
  using Files = std::vector<std::string>;
  tell(diagnostics, kernels.empty() ? Files{file} : kernels.back().kernel.files);
  if (kernels.empty() && !diagnostics.hasErrors()) {
    complain(fmt::format("'{}' holds no kernel; write one, or an array of them", file), file);
  }
  return diagnostics.hasErrors() ? std::vector<LoadedKernel>() : std::move(kernels);
}

std::vector<LoadedKernel> Session::load() {
  std::vector<LoadedKernel> kernels = readAhead ? std::move(*readAhead) : read(options.input);
  kernels = onMachine(std::move(kernels), options.input);
  for (const LoadedKernel &loaded : kernels) {
    Diagnostics diagnostics;
    remarkKernel(loaded.kernel, target, diagnostics);
    report(loaded.kernel, diagnostics);
  }
  return kernels;
}

std::vector<LoadedKernel> Session::loadWithDeps() {
  std::vector<LoadedKernel> kernels = load();
  bool allLegal = true;
  for (LoadedKernel &loaded : kernels) {
    if (!options.strategyGiven) {
      Diagnostics diagnostics;
      warnOfUnusedCode(loaded, options.request().strategy, {"--sync", options.canKeepCode},
                       diagnostics);
      report(loaded.kernel, diagnostics);
    }
    allLegal &= findDeps(loaded);
  }
  if (!allLegal) {
    end();
  }
  return kernels;
}

std::vector<LoadedKernel> Session::loadCode() {
  std::vector<LoadedKernel> codes =
      codeAhead ? std::move(*codeAhead) : Session(options, *this).read(options.code);
  return onMachine(std::move(codes), options.code);
}

std::vector<LoadedKernel> Session::onMachine(std::vector<LoadedKernel> kernels,
                                             const std::string &path) {
  bool allFit = !kernels.empty();
  for (LoadedKernel &loaded : kernels) {
    allFit &= fitsMachine(loaded, path);
    loaded.kernel = tally::onMachine(std::move(loaded.kernel), target);
  }
  if (!allFit) {
    end();
  }
  return kernels;
}

void Session::warnIdle(const Kernel &kernel, std::string_view option, std::string_view why) {
  Diagnostics diagnostics;
  diagnostics
      .remark(kernel.where, fmt::format("'{}' has no effect on kernel '{}': {}", option,
                                        kernel.text(kernel.name), why))
      .severity = Severity::Warning;
  report(kernel, diagnostics);
}

const std::vector<Choice> &Session::choicesOf(const Kernel &kernel) const {
  static const std::vector<Choice> none;
  auto found = choices.find(kernel.text(kernel.name));
  return found == choices.end() ? none : found->second;
}

void Session::choose(LoadedKernel &loaded) {
  if (!leavesOpen(loaded.kernel) && !options.reorder) {
    return;
  }
  nowDoing("choosing what the kernel leaves open");
  Diagnostics diagnostics;
  Settled settled = settle(loaded.kernel, options.request(), target, extractor, diagnostics);
  loaded.kernel = std::move(settled.kernel);
  choices.insert_or_assign(std::string(loaded.kernel.text(loaded.kernel.name)),
                           std::move(settled.choices));
  report(loaded.kernel, diagnostics);
}

bool Session::findDeps(LoadedKernel &loaded, bool mayChoose) {
  if (mayChoose) {
    choose(loaded);
  }
  if (!asksForDeps(loaded.kernel)) {
    if (options.keepImplied) {
      warnIdle(loaded.kernel, "--keep-implied",
               loaded.kernel.deps.empty() ? "it has no accesses that dependences follow from"
                                          : "its dependences are written");
    }
    Diagnostics diagnostics;
    warnOfNoDeps(loaded.kernel, diagnostics);
    if (!options.holdsAccesses && !std::exchange(loaded.isCompared, true)) {
      nowDoing("comparing dependences with accesses");
      remarkUncovered(loaded.kernel, options.request(), target, extractor, diagnostics);
    }
    report(loaded.kernel, diagnostics);
    return true;
  }
  Diagnostics diagnostics;
  const Request request = options.request();
  nowDoing("finding dependences");
  loaded.kernel = findAsked(loaded.kernel, request, target, extractor, diagnostics);
  loaded.depsFound = request.findDeps;
  report(loaded.kernel, diagnostics);
  return !diagnostics.hasErrors();
}

Held Session::hold(const LoadedKernel &loaded) {
  nowDoing("comparing dependences with accesses");
  return holdDeps(loaded.kernel, {.queueOverlap = target.queueOverlap}, extractor);
}

std::optional<Compiled> Session::compile(const Kernel &kernel, const Request &request,
                                         const Code *written) {
  Diagnostics diagnostics;
  nowDoing("planning");
  std::optional<Compiled> compiled = tally::compile(kernel, request, target, diagnostics, written);
  report(kernel, diagnostics);
  if (compiled && !written && request.participants == Participants::All &&
      compiled->plan.barriers.empty()) {
    warnIdle(kernel, "--barrier-participants", "its code has no barriers");
  }
  return compiled;
}

std::optional<MachineRules> rulesOfCode(const LoadedKernel &loaded) {
  if (!loaded.code || loaded.code->rules || loaded.code->machine.empty()) {
    return loaded.code ? loaded.code->rules : std::nullopt;
  }
  MachineResult known = loadMachine(loaded.code->machine);
  return known.machine ? std::optional(rulesOf(*known.machine)) : std::nullopt;
}

/// Where the code begins, or else its kernel, or else just in that file.
static void tellOfCode(const LoadedKernel &loaded, const std::string &path, Severity severity,
                       std::string text) {
  Diagnostic message;
  message.severity = severity;
  message.message = std::move(text);
  message.where = loaded.codeAt.known() ? loaded.codeAt : loaded.kernel.where;
  if (message.where.known()) {
    return tell(message, loaded.kernel.files);
  }
  message.where = Location{0, 0, 0};
  tell(message, {path});
}

/// Code on another machine than its own is what the user asks about, if they name that machine. It
/// is never taken for code of the default machine.
bool Session::fitsMachine(const LoadedKernel &loaded, const std::string &path) {
  const std::optional<MachineRules> rules = rulesOfCode(loaded);
  if (rules && !accords(target, *rules)) {
    tellOfCode(
        loaded, path, options.machineGiven ? Severity::Warning : Severity::Error,
        fmt::format("the code in '{}' was made for machine '{}' ({}), but machine '{}' has {}{}",
                    path, loaded.code->machine, describe(*rules), target.name,
                    describe(rulesOf(target)),
                    options.machineGiven ? "" : "; name the machine to run it on with --machine"));
    return options.machineGiven;
  }
  bool unknown =
      loaded.code && !rules && !loaded.code->machine.empty() && loaded.code->machine != target.name;
  if (unknown && !options.machineGiven) {
    tellOfCode(
        loaded, path, Severity::Error,
        fmt::format("the code in '{}' was made for machine '{}', which is not known here; name "
                    "its file with --machine",
                    path, loaded.code->machine));
  }
  return !unknown || options.machineGiven;
}

//===----------------------------------------------------------------------===//
// Machines
//===----------------------------------------------------------------------===//

static Machine settle(MachineResult result, const std::vector<std::string> &settings) {
  tell(result.errors, result.files);
  bool isGood = !result.errors.hasErrors();
  std::map<std::string_view, std::string_view> given; // by parameter
  for (const std::string &setting : settings) {
    std::string error = result.machine ? setParameter(*result.machine, setting) : "";
    auto [other, isNew] =
        given.emplace(std::string_view(setting).substr(0, setting.find('=')), setting);
    if (error.empty() && !isNew) {
      error = fmt::format("'{}' is set twice, by '--set={}' and '--set={}'", other->first,
                          other->second, setting);
    }
    if (!error.empty()) {
      complain(error);
      isGood = false;
    }
  }
  return orEnd(isGood ? result.machine : std::nullopt);
}

Machine findMachine(const std::string &nameOrPath, const std::vector<std::string> &settings) {
  return settle(loadMachine(nameOrPath), settings);
}

/// A machine of the name that the code says, if it has the same rules, and times where the command
/// needs them; otherwise one with times or without, under the rules of the code. Without times it
/// is then nothing but these rules, and has the name that the code says.
static MachineResult machineForCode(bool needsTimes, const std::string &name,
                                    const MachineRules &rules) {
  MachineResult known = loadMachine(name);
  bool fits = known.machine && accords(*known.machine, rules) &&
              (!known.machine->parameters.empty() || !needsTimes);
  MachineResult own = fits ? std::move(known) : loadMachine(needsTimes ? "teaching" : "generic");
  if (fits || !own.machine) {
    return own;
  }
  bool accordsByItself = accords(*own.machine, rules);
  own.machine = withRules(*own.machine, rules);
  if (!name.empty() && !needsTimes) {
    own.machine->name = name;
  }
  if (!accordsByItself) {
    tellNote(fmt::format("machine '{}' runs the code under the rules that it was made for: {}",
                         own.machine->name, describe(rules)));
  }
  return own;
}

/// All kernels of a file are for one machine: the first that trn2 is not for decides.
static UsualMachine machineFor(const std::vector<LoadedKernel> &kernels) {
  std::set<std::vector<std::string_view>> seen;
  for (const LoadedKernel &loaded : kernels) {
    std::vector<std::string_view> engines;
    for (EngineId engine : loaded.kernel.engines.ids()) {
      engines.push_back(loaded.kernel.nameOf(engine));
    }
    if (!seen.insert(engines).second) {
      continue;
    }
    UsualMachine usual = usualMachine(engines);
    if (kernels.size() == 1) {
      return usual;
    }
    if (usual.result.machine && usual.result.machine->name != "trn2") {
      usual.reason += fmt::format(", which kernel '{}' of the file has",
                                  loaded.kernel.text(loaded.kernel.name));
      return usual;
    }
  }
  return usualMachine({});
}

Session::Session(CommonOptions given, const std::vector<std::string> &settings)
    : options(std::move(given)), dialect(std::make_unique<Dialect>(file)) {
  MachineResult usual;
  if (options.machineGiven) {
    usual = loadMachine(options.machine);
  } else {
    readAhead = read(options.input);
    if (!options.code.empty()) {
      codeAhead = Session(options, *this).read(options.code);
    }
    const std::vector<LoadedKernel> &codes = codeAhead ? *codeAhead : *readAhead;
    std::optional<MachineRules> rules = codes.empty() ? std::nullopt : rulesOfCode(codes.front());
    if (rules) {
      machineIsOfCode = true;
      const std::string &made = codes.front().code->machine;
      usual = machineForCode(options.needsTimes, made, *rules);
      reason = !usual.machine || usual.machine->name == made
                   ? "the code was made for it"
                   : fmt::format("the code was made for '{}', which has no times", made);
    } else {
      UsualMachine found = machineFor(*readAhead);
      usual = std::move(found.result);
      reason = found.reason;
    }
  }
  target = settle(std::move(usual), settings);
  options.machine = options.machineGiven ? options.machine : target.name;
}

Session::Session(CommonOptions given, const Session &other)
    : options(std::move(given)), target(other.target), dialect(std::make_unique<Dialect>(file)) {
  options.machineGiven = true;
  options.machine = other.options.machine;
}

Session::~Session() = default;

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

std::string RunOptions::text() const {
  std::vector<std::string> options;
  for (const std::string &each : trips) {
    options.push_back("--trips=" + each);
  }
  if (guardsGiven) {
    options.push_back(fmt::format("--guards={}", guards));
  }
  return fmt::format("{}", fmt::join(options, " "));
}

std::vector<RunOptions> Session::divide(const std::vector<const Kernel *> &kernels,
                                        const RunOptions &values) {
  Diagnostics diagnostics;
  std::vector<RunOptions> divided(kernels.size(), values);
  std::vector<std::vector<std::string>> trips =
      Bindings::divide(kernels, values.trips, diagnostics);
  for (size_t i = 0; i < kernels.size(); ++i) {
    divided[i].trips = std::move(trips[i]);
  }
  tell(diagnostics, {});
  if (diagnostics.hasErrors()) {
    end();
  }
  return divided;
}

Bindings Session::bindings(const Kernel &kernel, const RunOptions &values) {
  Diagnostics diagnostics;
  std::optional<uint64_t> seed = values.guardsGiven ? std::optional(values.guards) : std::nullopt;
  Bindings bindings = Bindings::parse(kernel, values.trips, seed, diagnostics);
  tell(diagnostics, {});
  if (diagnostics.hasErrors()) {
    end();
  }
  return bindings;
}

BoundRun Session::bind(const Kernel &kernel, const RunOptions &values) {
  BoundRun run{bindings(kernel, values), values.trips, {}, {}, values.guardsGiven};
  run.chosen = run.bindings.bindOpen(usualTrips);
  if (hasGuards(kernel) && (values.guardsGiven || run.bindings.leavesGuardsOpen())) {
    run.guards = values.guards;
  }
  return run;
}

bool Session::tilesStay(const Kernel &kernel, const Bindings &bindings) {
  Diagnostics diagnostics;
  if (std::optional<TileProblem> problem = TileWatch(kernel).problemOf(bindings)) {
    diagnostics.error(problem->error.where, problem->error.message).notes = problem->error.notes;
  }
  report(kernel, diagnostics);
  return !diagnostics.hasErrors();
}

/// What several strategies say of a kernel is said once; errors always are.
Diagnostics Session::newOf(const Kernel &kernel, const Diagnostics &diagnostics) {
  Diagnostics fresh;
  for (const Diagnostic &one : diagnostics.all()) {
    if (one.severity == Severity::Error) {
      fresh.error(one.where, one.message) = one;
    } else if (said.insert(fmt::format("{}\n{}:{}:{}\n{}", kernel.text(kernel.name), one.where.file,
                                       one.where.line, one.where.column, one.message))
                   .second) {
      fresh.remark(one.where, one.message) = one;
    }
  }
  return fresh;
}

void Session::report(const Kernel &kernel, const Diagnostics &all) {
  const Diagnostics diagnostics = newOf(kernel, all);
  if (dialect->sources.getNumBuffers() > 0) {
    emit(kernel, diagnostics, &dialect->context);
  } else {
    tell(diagnostics, kernel.files);
  }
}

//===----------------------------------------------------------------------===//
// Output
//===----------------------------------------------------------------------===//

std::string numberedPath(const std::string &path, uint32_t number) {
  if (number == 1) {
    return path;
  }
  size_t dot = path.rfind('.');
  bool hasEnding = dot != std::string::npos && path.find('/', dot) == std::string::npos;
  std::string end = hasEnding ? path.substr(dot) : "";
  return fmt::format("{}-{}{}", path.substr(0, path.size() - end.size()), number, end);
}

bool writeOutput(const std::string &path, std::string_view text) {
  std::string problem;
  if (path == "-") {
    errno = 0;
    bool isWritten = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
    problem = isWritten && std::fflush(stdout) == 0 ? "" : std::strerror(errno);
  } else {
    UninterruptedWrite whole;
    problem = writeWholeFile(path, text);
  }
  if (!problem.empty()) {
    std::string name = path == "-" ? "<stdout>" : path;
    complain(fmt::format("cannot write '{}': {}", name, problem), name);
  }
  return problem.empty();
}

std::string moduleText(const std::vector<LoadedKernel> &kernels) {
  std::string text = "module {\n";
  for (const LoadedKernel &loaded : kernels) {
    written::appendKernelText(text, loaded.kernel, 2);
    if (loaded.code) {
      written::appendCodeText(text, loaded.kernel, *loaded.code, 2);
    }
  }
  text += "}\n";
  return text;
}

std::string Session::scfText(const std::vector<LoadedKernel> &kernels) {
  mlir::OwningOpRef<mlir::ModuleOp> module = dialect->newModule();
  for (const LoadedKernel &loaded : kernels) {
    storeScf(loaded.kernel, *loaded.code, target, *module);
  }
  return Dialect::print(*module);
}

} // namespace tally::tool
