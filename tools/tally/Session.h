//===- Session.h - Input, output and messages of one run of `tally` -------===//
//
// Kernels come in as MLIR text or bytecode, or as JSON; whatever they were, a command sees Kernel
// and Program. Results go to stdout or a file, everything else to stderr.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_TOOLS_TALLY_SESSION_H
#define TALLY_TOOLS_TALLY_SESSION_H

#include "Messages.h"
#include "Output.h"

#include "tally/Compile/Compile.h"
#include "tally/Deps/Held.h"
#include "tally/Model/Bindings.h"
#include "tally/Transforms/LoadedKernel.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
} // namespace CLI

namespace llvm {
class MemoryBuffer;
} // namespace llvm

namespace tally::tool {

/// What a run answers, as its exit status.
enum Exit : int {
  Yes = 0,       ///< or done, if nothing was asked
  No = 1,        ///< the answer is no; of a command that asks a question only
  Undecided = 2, ///< there is no answer: wrong input, wrong use, a limit
};

/// The answer to two questions: no if one is answered by no, and yes only if both are.
constexpr Exit both(Exit a, Exit b) {
  bool isNo = a == Exit::No || b == Exit::No;
  return isNo ? Exit::No : std::max(a, b);
}

/// The strategies that make a plan: all but `manual`, which keeps what is written.
std::vector<std::string> plannedStrategies();

/// Options that most commands share, and their help.
struct CommonOptions {
  std::string input;
  std::string machine = "generic";
  std::string strategy = "per-loop";
  std::string participants = "work";
  std::string overflow = "reset";
  std::string deps = "auto";
  double codeGrowth = 1;
  bool keepImplied = false;
  bool noFold = false;
  bool noLicm = false;
  bool noCse = false;

  CLI::Option *machineOption = nullptr;  ///< set by addMachine()
  CLI::Option *strategyOption = nullptr; ///< set by addStrategy()
  bool canKeepCode = false;              ///< one of the strategies is `manual`

  /// Whether the user names a machine. If not, code that brings its machine's rules has its own.
  bool machineGiven() const;

  /// Whether the command makes code by a strategy that the user does not name. Code that is written
  /// beside the kernel then goes unused without having been asked to.
  bool strategyIsDefault() const;

  void addInput(CLI::App &command);
  void addMachine(CLI::App &command);
  void addKeepImplied(CLI::App &command);
  void addStrategy(CLI::App &command, const std::vector<std::string> &strategies);

  /// The options of the core; strategy and participants have been checked by the command line.
  Request request() const;
};

/// Options of the commands that run code: the values a kernel leaves to run time.
struct RunOptions {
  std::vector<std::string> trips;
  uint64_t guards = 0;

  void add(CLI::App &command);
};

class Session {
public:
  Session();
  ~Session();

  /// The kernels in a file. Empty, with the reasons reported, if it cannot be read or holds none.
  std::vector<LoadedKernel> load(const std::string &path);

  /// The same, as they are on a machine.
  std::vector<LoadedKernel> load(const std::string &path, const Machine &machine);

  /// Kernels that were read elsewhere, as they are on a machine; empty, with the reasons reported,
  /// if code among them was made for another one and the user named none.
  std::vector<LoadedKernel> onMachine(std::vector<LoadedKernel> kernels, const std::string &path,
                                      const Machine &machine);

  /// The kernels in a file, with their dependences. A kernel that says what instructions touch and
  /// has no dependence written gets those that follow, unless the user wants what is written. A
  /// warning tells of code written by hand that the command is about to pass over.
  std::vector<LoadedKernel> loadWithDeps(const CommonOptions &options, const Machine &machine);

  /// The same for one kernel; false, with the reasons reported, if the result is not legal.
  bool findDeps(LoadedKernel &loaded, const CommonOptions &options, const Machine &machine);

  /// Holds the written dependences of a kernel against its accesses.
  Held hold(const LoadedKernel &loaded, const Machine &machine);

  /// The machine of this name or file, with parameters changed as `--set` asks; none, with the
  /// reasons reported.
  std::optional<Machine> machine(const std::string &nameOrPath,
                                 const std::vector<std::string> &settings = {});

  /// The machine that the user names; if none is named, the one that the code in the input was made
  /// for, if it says so.
  std::optional<Machine> machine(const CommonOptions &options,
                                 const std::vector<std::string> &settings = {});

  /// Whether the machine is that of the code in the input, as the user named none.
  bool hasMachineOfCode() const { return machineIsOfCode; }

  /// What the user binds for a run; none, with the reasons reported, if it does not fit the kernel.
  std::optional<Bindings> bindings(const Kernel &kernel, const RunOptions &options);

  /// Whether all tiles stay within their buffers in the run with these trips; else the reason is
  /// reported.
  bool tilesStay(const Kernel &kernel, const Bindings &bindings);

  /// Shows what was found, with source lines where there are any.
  void report(const Kernel &kernel, const Diagnostics &diagnostics);

  /// Kernels with their code as text of the dialect.
  std::string moduleText(const std::vector<LoadedKernel> &kernels);

  /// Code as functions of scf and arith, one per engine.
  std::string scfText(const std::vector<LoadedKernel> &kernels, const Machine &machine);

private:
  /// A file that was read before the machine was known.
  struct ReadAhead {
    std::string path;
    std::vector<LoadedKernel> kernels;
  };

  static std::optional<Machine> settle(MachineResult result,
                                       const std::vector<std::string> &settings);
  void warnOfUnusedCode(const LoadedKernel &loaded, const CommonOptions &options);
  bool fitsMachine(const LoadedKernel &loaded, const std::string &path, const Machine &machine);
  std::vector<LoadedKernel> loadJson(std::string_view text);
  std::vector<LoadedKernel> loadModule(std::unique_ptr<llvm::MemoryBuffer> buffer);

  /// All that MLIR needs, out of sight of the commands.
  struct Dialect;

  Extractor extractor;
  std::optional<ReadAhead> readAhead;
  bool machineGiven = true; ///< by the user, as opposed to the default of a command
  bool machineIsOfCode = false;
  std::string input; ///< the file being read, for messages that have no place in it
  std::unique_ptr<Dialect> dialect;
};

/// `w.json` for the first of several files, then `w-2.json`, `w-3.json`, ...
std::string numberedPath(const std::string &path, uint32_t number);

/// Writes a result to a file, all of it or nothing, or to stdout for "-". False, with the reason
/// reported, if that is not possible.
bool writeOutput(const std::string &path, std::string_view text);

/// Each adds its subcommand; the run sets `status`.
void addCompile(CLI::App &app, int &status);
void addPlan(CLI::App &app, int &status);
void addDeps(CLI::App &app, int &status);
void addExplain(CLI::App &app, int &status);
void addCompare(CLI::App &app, int &status);
void addCheck(CLI::App &app, int &status);
void addReport(CLI::App &app, int &status);
void addSim(CLI::App &app, int &status);
void addBench(CLI::App &app, int &status);
void addKernels(CLI::App &app, int &status);
void addMachine(CLI::App &app, int &status);

} // namespace tally::tool

#endif // TALLY_TOOLS_TALLY_SESSION_H
