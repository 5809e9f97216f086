//===- Session.cpp - Input, output and messages of one run of `tally` -----===//

#include "Session.h"

#include "tally/Code/ProgramJson.h"
#include "tally/Deps/Find.h"
#include "tally/Model/Check.h"
#include "tally/Model/KernelJson.h"
#include "tally/Transforms/Passes.h"
#include "tally/Transforms/ReadModule.h"
#include "tally/Transforms/ScfOutput.h"

#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <fmt/format.h>

#include <cstdio>

namespace tally::tool {

void CommonOptions::addInput(CLI::App &command) {
  command.add_option("kernel", input, "kernel: MLIR text or bytecode, or .json; - is stdin")
      ->required();
}

void CommonOptions::addMachine(CLI::App &command) {
  machineOption =
      command
          .add_option("--machine", machine,
                      "machine: a name (generic, trn2) or a .json file; if none is named, code "
                      "has the machine that it was made for")
          ->capture_default_str();
}

void CommonOptions::addKeepImplied(CLI::App &command) {
  command.add_flag("--keep-implied", keepImplied,
                   "of the dependences that are found, keep those that others imply, too");
}

void RunOptions::add(CLI::App &command) {
  command
      .add_option("--trips", trips,
                  "trips of a loop: A=64; by entry: B=3,0,4; on one engine: B@act=1")
      ->allow_extra_args(false);
  command.add_option("--guards", guards, "seed for branches and while-loops")
      ->capture_default_str();
}

std::vector<std::string> plannedStrategies() {
  std::vector<std::string> names = strategyNames();
  std::erase(names, std::string(toString(Strategy::Manual)));
  return names;
}

void CommonOptions::addStrategy(CLI::App &command, const std::vector<std::string> &strategies) {
  command.add_option("--sync", strategy, "how engines are synchronised")
      ->check(CLI::IsMember(strategies))
      ->capture_default_str();
  command
      .add_option("--deps", deps,
                  "auto: of a kernel without dependences, those that follow from its accesses; "
                  "written: as written")
      ->check(CLI::IsMember({"auto", "written"}))
      ->capture_default_str();
  addKeepImplied(command);
  command
      .add_option("--barrier-participants", participants,
                  "who meets at a barrier: engines with work in the loop, or all")
      ->check(CLI::IsMember({"work", "all"}))
      ->capture_default_str();
  command
      .add_option("--overflow", overflow,
                  "counters that trip bounds do not keep small: reset them on the way, refuse the "
                  "kernel, or assume that they fit")
      ->check(CLI::IsMember(overflowNames()))
      ->capture_default_str();
  command
      .add_option("--max-code-growth", codeGrowth,
                  "auto: unroll loops as long as the code gets at most so many times as large")
      ->check(CLI::Range(1.0, 1000.0))
      ->capture_default_str();
  command.add_flag("--no-fold", noFold, "leave constants in wait values")->group("Ablations");
  command.add_flag("--no-licm", noLicm, "compute wait values where they are used")
      ->group("Ablations");
  command.add_flag("--no-cse", noCse, "compute equal wait values again")->group("Ablations");
}

CompileOptions CommonOptions::compileOptions() const {
  CompileOptions options;
  options.plan.strategy = strategyFrom(strategy).value_or(Strategy::PerLoop);
  options.plan.participants = participants == "all" ? Participants::All : Participants::Work;
  options.plan.fold = !noFold;
  options.lower.licm = !noLicm;
  options.lower.cse = !noCse;
  options.lower.codeGrowth = codeGrowth;
  options.overflow = overflowFrom(overflow).value_or(Overflow::Reset);
  return options;
}

static mlir::DialectRegistry dialects() {
  mlir::DialectRegistry registry;
  registerDialects(registry);
  return registry;
}

Session::Session()
    : context(dialects(), mlir::MLIRContext::Threading::DISABLED), handler(sources, &context) {}

static void complain(const std::string &message) {
  fmt::print(stderr, "error: {}\n", message);
}

std::vector<LoadedKernel> Session::load(const std::string &path) {
  if (readAhead && readAhead->path == path) {
    std::vector<LoadedKernel> kernels = std::move(readAhead->kernels);
    readAhead.reset();
    return kernels;
  }
  return path.ends_with(".json") ? loadJson(path) : loadModule(path);
}

std::vector<LoadedKernel> Session::loadModule(const std::string &path) {
  mlir::OwningOpRef<mlir::ModuleOp> module = readModule(path, sources, &context);
  if (!module) {
    return {};
  }
  Diagnostics diagnostics;
  std::vector<LoadedKernel> kernels = loadKernels(*module, diagnostics);
  if (!kernels.empty()) {
    report(kernels.back().kernel, diagnostics);
  }
  if (diagnostics.hasErrors()) {
    return {};
  }
  if (kernels.empty()) {
    complain(fmt::format("'{}' holds no kernel; one begins with 'tally.kernel @name {{'", path));
  }
  return kernels;
}

/// Kernel and code, or a kernel alone: the schema tells.
static std::optional<LoadedKernel> readJson(std::string_view text, const std::string &path,
                                            Diagnostics &diagnostics) {
  if (text.find("\"tally-code\"") != std::string_view::npos) {
    std::optional<KernelAndProgram> both = readProgramJson(text, path, diagnostics);
    if (both) {
      return LoadedKernel{std::move(both->kernel), std::move(both->program)};
    }
    return std::nullopt;
  }
  std::optional<Kernel> kernel = readKernelJson(text, path, diagnostics);
  if (kernel) {
    return LoadedKernel{std::move(*kernel), std::nullopt};
  }
  return std::nullopt;
}

std::vector<LoadedKernel> Session::loadJson(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!buffer) {
    complain(fmt::format("cannot read '{}': {}", path, buffer.getError().message()));
    return {};
  }
  Diagnostics diagnostics;
  llvm::StringRef text = (*buffer)->getBuffer();
  std::optional<LoadedKernel> loaded = readJson({text.data(), text.size()}, path, diagnostics);
  if (loaded) {
    check(loaded->kernel, diagnostics);
  }
  fmt::print(stderr, "{}", render(diagnostics, {path}));
  std::vector<LoadedKernel> kernels;
  if (loaded && !diagnostics.hasErrors()) {
    kernels.push_back(std::move(*loaded));
  }
  return kernels;
}

bool Session::findDeps(LoadedKernel &loaded, const CommonOptions &options, const Machine &machine) {
  if (options.deps == "written" || !asksForDeps(loaded.kernel)) {
    return true;
  }
  Diagnostics diagnostics;
  FindOptions find{{.queueOverlap = machine.queueOverlap}, options.keepImplied};
  loaded.kernel = tally::findDeps(loaded.kernel, find, extractor, diagnostics);
  loaded.depsFound = true;
  report(loaded.kernel, diagnostics);
  return !diagnostics.hasErrors();
}

std::vector<LoadedKernel> Session::load(const std::string &path, const Machine &machine) {
  return onMachine(load(path), path, machine);
}

std::vector<LoadedKernel> Session::onMachine(std::vector<LoadedKernel> kernels,
                                             const std::string &path, const Machine &machine) {
  bool allFit = true;
  for (LoadedKernel &loaded : kernels) {
    allFit &= fitsMachine(loaded, path, machine);
    setCompletion(loaded.kernel, machine);
  }
  return allFit ? std::move(kernels) : std::vector<LoadedKernel>();
}

/// The rules that code counts on: those that it brings along, or those of the machine that it
/// names.
static std::optional<MachineRules> rulesOfCode(const LoadedKernel &loaded) {
  if (!loaded.program || loaded.program->rules || loaded.program->machine.empty()) {
    return loaded.program ? loaded.program->rules : std::nullopt;
  }
  MachineResult known = loadMachine(loaded.program->machine);
  return known.machine ? std::optional(rulesOf(*known.machine)) : std::nullopt;
}

/// Code on another machine than its own is what the user asks about, if they name that machine. It
/// is never taken for code of the default machine.
bool Session::fitsMachine(const LoadedKernel &loaded, const std::string &path,
                          const Machine &machine) {
  const std::optional<MachineRules> rules = rulesOfCode(loaded);
  if (rules && *rules != rulesOf(machine)) {
    fmt::print(stderr,
               "{}: the code in '{}' was made for machine '{}' ({}), but machine '{}' has {}{}\n",
               machineGiven ? "warning" : "error", path, loaded.program->machine, describe(*rules),
               machine.name, describe(rulesOf(machine)),
               machineGiven ? "" : "; name the machine to run it on with --machine");
    return machineGiven;
  }
  bool unknown = loaded.program && !rules && !loaded.program->machine.empty() &&
                 loaded.program->machine != machine.name;
  if (unknown && !machineGiven) {
    complain(
        fmt::format("the code in '{}' was made for machine '{}', which is not known here; name "
                    "its file with --machine",
                    path, loaded.program->machine));
  }
  return !unknown || machineGiven;
}

std::vector<LoadedKernel> Session::loadWithDeps(const CommonOptions &options,
                                                const Machine &machine) {
  std::vector<LoadedKernel> kernels = load(options.input, machine);
  bool allLegal = true;
  for (LoadedKernel &loaded : kernels) {
    allLegal &= findDeps(loaded, options, machine);
  }
  return allLegal ? std::move(kernels) : std::vector<LoadedKernel>();
}

std::optional<Machine> Session::settle(MachineResult result,
                                       const std::vector<std::string> &settings) {
  for (const std::string &setting : settings) {
    std::string error = result.machine ? setParameter(*result.machine, setting) : "";
    if (!error.empty()) {
      result.errors.push_back(std::move(error));
    }
  }
  for (const std::string &error : result.errors) {
    complain(error);
  }
  return result.errors.empty() ? result.machine : std::nullopt;
}

std::optional<Machine> Session::machine(const std::string &nameOrPath,
                                        const std::vector<std::string> &settings) {
  machineGiven = true;
  return settle(loadMachine(nameOrPath), settings);
}

/// A machine of the name that the code says, if it has the same rules, and times where the command
/// needs them; otherwise the command's own, under the rules of the code.
static MachineResult machineForCode(const MachineResult &usual, const std::string &name,
                                    const MachineRules &rules) {
  MachineResult known = loadMachine(name);
  bool fits = known.machine && rulesOf(*known.machine) == rules &&
              (!known.machine->parameters.empty() || usual.machine->parameters.empty());
  if (fits || rulesOf(*usual.machine) == rules) {
    return fits ? known : usual;
  }
  fmt::print(stderr, "note: machine '{}' runs the code under the rules that it was made for: {}\n",
             usual.machine->name, describe(rules));
  return {withRules(*usual.machine, rules), {}};
}

std::optional<Machine> Session::machine(const CommonOptions &options,
                                        const std::vector<std::string> &settings) {
  machineGiven = options.machineGiven();
  MachineResult usual = loadMachine(options.machine);
  if (!machineGiven && usual.machine) {
    readAhead = ReadAhead{options.input, load(options.input)};
    const std::vector<LoadedKernel> &kernels = readAhead->kernels;
    std::optional<MachineRules> rules =
        kernels.empty() ? std::nullopt : rulesOfCode(kernels.front());
    if (rules) {
      machineIsOfCode = true;
      usual = machineForCode(usual, kernels.front().program->machine, *rules);
    }
  }
  return settle(std::move(usual), settings);
}

std::optional<Bindings> Session::bindings(const Kernel &kernel, const RunOptions &options) {
  Diagnostics diagnostics;
  Bindings bindings = Bindings::parse(kernel, options.trips, options.guards, diagnostics);
  fmt::print(stderr, "{}", render(diagnostics, {}));
  return diagnostics.hasErrors() ? std::nullopt : std::optional(std::move(bindings));
}

void Session::report(const Kernel &kernel, const Diagnostics &diagnostics) {
  if (sources.getNumBuffers() > 0) {
    emit(kernel, diagnostics, &context);
  } else {
    fmt::print(stderr, "{}", render(diagnostics, kernel.files));
  }
}

bool Session::write(const std::string &path, const std::string &text) {
  std::error_code error;
  llvm::raw_fd_ostream out(path, error);
  if (!error) {
    out << text;
    out.flush();
    error = out.error();
    out.clear_error();
  }
  if (error) {
    complain(fmt::format("cannot write '{}': {}", path, error.message()));
  }
  return !error;
}

std::string Session::print(mlir::ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  mlir::OpPrintingFlags flags;
  flags.useLocalScope();
  module->print(stream, flags);
  stream << "\n";
  return text;
}

std::string Session::moduleText(const std::vector<LoadedKernel> &kernels) {
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
  for (const LoadedKernel &loaded : kernels) {
    storeKernel(loaded.kernel, loaded.program ? &*loaded.program : nullptr, *module);
  }
  return print(*module);
}

std::string Session::scfText(const std::vector<LoadedKernel> &kernels, const Machine &machine) {
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
  for (const LoadedKernel &loaded : kernels) {
    storeScf(loaded.kernel, *loaded.program, machine, *module);
  }
  return print(*module);
}

} // namespace tally::tool
