//===- Session.h - Input, output and messages of one run of `tally` -------===//
//
// A session is one input on one machine. Kernels come in as MLIR text or bytecode, or as JSON;
// whatever they were, a command sees Kernel and Code. Results go to stdout or a file, everything
// else to stderr.
//
// Where there is no way on, the reasons are reported and end() leaves the command.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_TOOLS_TALLY_SESSION_H
#define TALLY_TOOLS_TALLY_SESSION_H

#include "Messages.h"
#include "Options.h"

#include "tally/Compile/Compile.h"
#include "tally/Compile/Settle.h"
#include "tally/Deps/Held.h"
#include "tally/Model/Bindings.h"
#include "tally/Written/LoadedKernel.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

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

/// What leaves a command, from wherever it is, when the reasons have been reported.
struct Ended {
  Exit status;
};

[[noreturn]] inline void end(Exit status = Exit::Undecided) {
  throw Ended{status};
}

/// Ends with this error.
[[noreturn]] inline void fail(std::string_view message, std::string_view file = "") {
  complain(message, file);
  end();
}

/// The value; where there is none the command ends.
template <typename Value> Value orEnd(std::optional<Value> value) {
  if (!value) {
    end();
  }
  return std::move(*value);
}

/// The strategies that make a plan: all but `manual`, which keeps what is written.
std::vector<std::string> plannedStrategies();

/// Options that most commands share, and their help.
struct CommonOptions {
  std::string input;
  std::string kernel;    ///< the only one of the input that counts; empty: all
  bool isSecond = false; ///< the input is compared with another one, which has that kernel
  std::string code;      ///< another file with code; empty: that of the kernel, or compiled
  std::string machine;   ///< empty: what fits the kernel (Session)
  std::string strategy = "auto";
  std::string participants = "work";
  std::string overflow = "reset";
  std::string deps = "auto";
  bool needsTimes = false;    ///< the machine has to say how long things take
  bool holdsAccesses = false; ///< the command itself compares code with what accesses ask for
  bool reorder = false;
  double codeGrowth = 1;
  double effort = 1;
  bool hasOwnEffort = false; ///< the command has an option of this name that means something else
  bool keepImplied = false;
  bool noFold = false;
  bool noLicm = false;
  bool noCse = false;
  bool keepCounters = false;

  bool machineGiven = false;  ///< if not, code that brings its machine's rules has its own
  bool strategyGiven = false; ///< if not, code that is written may go unused without being asked to
  bool overflowGiven = false;
  bool canKeepCode = false; ///< one of the strategies is `manual`

  void addInput(CLI::App &command);
  void addKernelChoice(CLI::App &command);
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
  bool guardsGiven = false;

  void add(CLI::App &command, const std::string &title = "");

  /// As options: `--trips=A=64 --guards=1`; empty if nothing is given.
  std::string text() const;
};

/// What a run needs in addition to its kernel, as the user gives it, or as it is chosen.
struct BoundRun {
  Bindings bindings;
  std::vector<std::string> given, chosen; ///< `A=64`
  std::optional<uint64_t> guards;         ///< the seed, if the kernel asks for one
  bool guardsGiven = false;
};

/// The machine of this name or file, with parameters changed as `--set` asks.
Machine findMachine(const std::string &nameOrPath, const std::vector<std::string> &settings = {});

/// The rules that code counts on: those that it brings along, or those of the machine that it
/// names; none if that is not known.
std::optional<MachineRules> rulesOfCode(const LoadedKernel &loaded);

class Session {
public:
  /// On the machine that the user names, changed as `--set` asks. If none is named, on the one that
  /// the code in the input was made for, if it says so; or else on trn2 if it has all engines of
  /// the kernels, and on teaching, which has any, if not.
  explicit Session(CommonOptions options, const std::vector<std::string> &settings = {});

  /// On the machine of another session: a session reads one input.
  Session(CommonOptions options, const Session &other);
  ~Session();

  const Machine &machine() const { return target; }

  /// What `--machine` has to be for the same machine.
  const std::string &machineOption() const { return options.machine; }

  /// Why it is this machine, if the user named none: "trn2 has no engine 'act'".
  const std::string &machineReason() const { return reason; }

  /// Why this strategy was taken if none was named; empty if that is the usual one.
  std::string_view strategyReason(Strategy taken) const {
    bool isOfFile = taken == Strategy::Manual && !options.strategyGiven;
    return isOfFile ? "the file has code" : "";
  }

  /// Whether the machine is that of the code in the input, as the user named none.
  bool hasMachineOfCode() const { return machineIsOfCode; }

  /// The kernels of the input, as they are on the machine. Code among them that was made for
  /// another machine is an error if the user named none.
  std::vector<LoadedKernel> load();

  /// The same, with their dependences. A kernel that says what instructions touch and has no
  /// dependence written gets those that follow, unless the user wants what is written. A warning
  /// tells of code written by hand that the command is about to pass over.
  std::vector<LoadedKernel> loadWithDeps();

  /// The kernels in a file with code for those of the input.
  std::vector<LoadedKernel> loadCode();

  /// Warns that an option which the user gives changes nothing for this kernel; `why` ends the
  /// sentence.
  void warnIdle(const Kernel &kernel, std::string_view option, std::string_view why);

  /// Finds the dependences of one kernel; false, with the reasons reported, if the result is not
  /// legal. Before that, it chooses what the kernel leaves open.
  bool findDeps(LoadedKernel &loaded, bool mayChoose = true);

  /// Chooses what a kernel leaves open, and says so.
  void choose(LoadedKernel &loaded);

  /// What was chosen for a kernel of the input.
  const std::vector<Choice> &choicesOf(const Kernel &kernel) const;

  /// Holds the written dependences of a kernel against its accesses.
  Held hold(const LoadedKernel &loaded);

  /// The code of a kernel; none, with the reasons reported, if there cannot be any. `written`: what
  /// Strategy::Manual keeps.
  std::optional<Compiled> compile(const Kernel &kernel, const Request &request,
                                  const Code *written = nullptr);

  /// What the user binds, for each kernel of the input: a name counts for those that have it.
  std::vector<RunOptions> divide(const std::vector<const Kernel *> &kernels,
                                 const RunOptions &values);

  template <typename WithKernel>
  std::vector<RunOptions> divide(const std::vector<WithKernel> &input, const RunOptions &values) {
    std::vector<const Kernel *> kernels;
    for (const WithKernel &each : input) {
      kernels.push_back(&each.kernel);
    }
    return divide(kernels, values);
  }

  /// What the user binds for a run.
  Bindings bindings(const Kernel &kernel, const RunOptions &values);

  /// The same, with numbers of our choice for what the user leaves open.
  BoundRun bind(const Kernel &kernel, const RunOptions &values);

  /// Whether all tiles stay within their buffers in the run with these trips; if not, the reason
  /// is reported.
  bool tilesStay(const Kernel &kernel, const Bindings &bindings);

  /// Shows what was found, with source lines where there are any.
  void report(const Kernel &kernel, const Diagnostics &diagnostics);

  /// Code as functions of scf and arith, one per engine.
  std::string scfText(const std::vector<LoadedKernel> &kernels);

private:
  std::vector<LoadedKernel> read(const std::string &path);
  std::vector<LoadedKernel> chosenOf(std::vector<LoadedKernel> kernels,
                                     const std::string &path) const;
  std::vector<LoadedKernel> readJson(std::string_view text);
  std::vector<LoadedKernel> readModule(std::unique_ptr<llvm::MemoryBuffer> buffer);
  std::vector<LoadedKernel> onMachine(std::vector<LoadedKernel> kernels, const std::string &path);
  bool fitsMachine(const LoadedKernel &loaded, const std::string &path);
  Diagnostics newOf(const Kernel &kernel, const Diagnostics &diagnostics);

  /// All that MLIR needs, out of sight of the commands.
  struct Dialect;

  CommonOptions options;
  Machine target;
  bool machineIsOfCode = false;
  std::string reason;                                 ///< for the machine
  std::optional<std::vector<LoadedKernel>> readAhead; ///< before the machine was known
  std::optional<std::vector<LoadedKernel>> codeAhead; ///< likewise
  std::set<std::string> said;                         ///< remarks and warnings so far
  Extractor extractor;
  std::map<std::string, std::vector<Choice>, std::less<>> choices; ///< by kernel
  std::string file; ///< that is being read, for messages that have no place in it
  std::unique_ptr<Dialect> dialect;
};

/// Kernels with their code as text of the dialect.
std::string moduleText(const std::vector<LoadedKernel> &kernels);

/// `w.json` for the first of several files, then `w-2.json`, `w-3.json`, ...
std::string numberedPath(const std::string &path, uint32_t number);

/// Writes a result to a file, all of it or nothing, or to stdout for "-". False, with the reason
/// reported, if that is not possible.
bool writeOutput(const std::string &path, std::string_view text);

/// Each adds its command.
void addCompile(CLI::App &app);
void addPlan(CLI::App &app);
void addDeps(CLI::App &app);
void addExplain(CLI::App &app);
void addCompare(CLI::App &app);
void addAdvise(CLI::App &app);
void addCheck(CLI::App &app);
void addReport(CLI::App &app);
void addSim(CLI::App &app);
void addRun(CLI::App &app);
void addBench(CLI::App &app);
void addKernels(CLI::App &app);
void addMachine(CLI::App &app);
void addShell(CLI::App &app);

} // namespace tally::tool

#endif // TALLY_TOOLS_TALLY_SESSION_H
