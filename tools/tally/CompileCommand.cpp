//===- CompileCommand.cpp - tally compile ---------------------------------===//

#include "Certify.h"
#include "HeldDeps.h"
#include "ProgramOptions.h"
#include "Progress.h"
#include "Result.h"
#include "Session.h"

#include "tally/Code/Listing.h"
#include "tally/Compile/Stopwatch.h"
#include "tally/Exec/EmitCpp.h"
#include "tally/Native/ThreadProgram.h"
#include "tally/Written/CodeJson.h"

#include <fmt/format.h>

namespace tally::tool {
namespace {

struct CompileCommand {
  CommonOptions common;
  std::string output;
  std::string format = "text";
  std::string emit; ///< a program instead of code; empty: no
  ProgramOptions program;
  bool listing = false;
  bool expandBarriers = false;
  JsonOptions json;
  std::string certificate; ///< file to keep it in; "-": none; "": not asked for

  void declareOn(CLI::App &command);
  int run() const;

private:
  bool asksToCertify() const { return !certificate.empty(); }

  Request certifiable(const Request &asked) const;
  Exit certifyAll(Session &session, const std::vector<LoadedKernel> &kernels,
                  const std::vector<PlanDecisions> &plans,
                  const std::vector<std::string> &differences) const;
  std::string resultText(Session &session, const std::vector<LoadedKernel> &kernels) const;
};

const Code *writtenIn(const LoadedKernel &loaded) {
  return loaded.code ? &*loaded.code : nullptr;
}

/// Compiles every kernel in place, and says how each was planned.
std::vector<PlanDecisions> compileAll(Session &session, std::vector<LoadedKernel> &kernels,
                                      const Request &options) {
  std::vector<PlanDecisions> plans;
  for (LoadedKernel &loaded : kernels) {
    std::optional<Compiled> compiled = session.compile(loaded.kernel, options, writtenIn(loaded));
    if (compiled) {
      loaded.code = std::move(compiled->code);
      plans.push_back(std::move(compiled->plan.decisions));
    }
  }
  if (plans.size() != kernels.size()) {
    end();
  }
  return plans;
}

/// As JSON, so that equal texts are equal code; empty if there is none.
std::string codeOf(const LoadedKernel &loaded, const Request &options, const Machine &machine,
                   Diagnostics &diagnostics) {
  std::optional<Compiled> compiled =
      compile(loaded.kernel, options, machine, diagnostics, writtenIn(loaded));
  return compiled ? writeCodeJson(loaded.kernel, compiled->code) : "";
}

std::string codeOf(const LoadedKernel &loaded, const Request &options, const Machine &machine) {
  Diagnostics ignored;
  return codeOf(loaded, options, machine, ignored);
}

/// What code that is certified costs, as simulated; empty if that is not known.
std::string slowerText(const LoadedKernel &loaded, const Request &asked, const Request &certified,
                       const Machine &machine) {
  Stopwatch stopwatch(loaded.kernel, machine);
  auto timeOf = [&](const Request &request) -> std::optional<Tick> {
    Diagnostics ignored;
    std::optional<Compiled> compiled =
        compile(loaded.kernel, request, machine, ignored, writtenIn(loaded));
    return compiled ? stopwatch.timeOf(compiled->code) : std::nullopt;
  };
  std::optional<Tick> before = timeOf(asked), after = timeOf(certified);
  if (!before || !after) {
    return "";
  }
  double change = 100 * (static_cast<double>(*after) / static_cast<double>(*before) - 1);
  return fmt::format("; simulated, it takes {} instead of {} ({:+.1f} %)", timeText(*after),
                     timeText(*before), change);
}

/// What can be certified may be other code than what is asked for, or there may be none without
/// asking for that: says so, and why. Empty if it is the same code.
std::string differenceText(const LoadedKernel &loaded, const Request &asked,
                           const Request &certified, const Machine &machine) {
  Diagnostics refused;
  std::string code = codeOf(loaded, asked, machine, refused);
  if (code.empty()) {
    return "without --certify, no code is written: " + refused.reason() +
           "; here, counters are assumed to fit (--overflow=assume), which the verdict names";
  }
  if (code == codeOf(loaded, certified, machine)) {
    return {};
  }

  struct Reason {
    Request changed; ///< what is asked for, but for this
    std::string_view text;
  };

  std::vector<Reason> reasons(6, {asked, ""});
  reasons[0].changed.constantTrips = certified.constantTrips;
  reasons[0].text = "; the theorem knows no trip counts, so constant ones are not made use of";
  reasons[1].changed.wholeQueues = certified.wholeQueues;
  reasons[1].text = "; it knows no semaphore that counts a whole queue, so none does";
  reasons[2].changed.overflow = certified.overflow;
  reasons[2].text =
      "; it knows no resets, so counters are assumed to fit (--overflow=assume), which "
      "the verdict names";
  reasons[3].changed.joins = certified.joins;
  reasons[3].text = "; it knows no semaphore of both branches of an `if`, so each has its own";
  reasons[4].changed.hoists = certified.hoists;
  reasons[4].text =
      "; its checker knows waits only at their instruction, so none stands before a loop";
  reasons[5].changed.leavesOut = certified.leavesOut;
  reasons[5].text =
      "; it looks for a wait for each dependence, so those that others imply have one";
  std::string why, together;
  for (const Reason &reason : reasons) {
    why += codeOf(loaded, reason.changed, machine) != code ? reason.text : "";
    together += reason.text;
  }
  return "this is not the code that is written without --certify" + (why.empty() ? together : why) +
         slowerText(loaded, asked, certified, machine);
}

std::vector<std::string> differencesOf(const std::vector<LoadedKernel> &kernels,
                                       const Request &asked, const Request &certified,
                                       const Machine &machine) {
  std::vector<std::string> texts;
  for (const LoadedKernel &loaded : kernels) {
    texts.push_back(differenceText(loaded, asked, certified, machine));
  }
  return texts;
}

void remarkDifferences(Session &session, const std::vector<LoadedKernel> &kernels,
                       const std::vector<std::string> &differences) {
  for (size_t i = 0; i < differences.size(); ++i) {
    if (!differences[i].empty()) {
      Diagnostics diagnostics;
      diagnostics.remark(kernels[i].kernel.where, differences[i]);
      session.report(kernels[i].kernel, diagnostics);
    }
  }
}

std::string listings(const std::vector<LoadedKernel> &kernels, const ListingOptions &options,
                     const Session &session) {
  std::string text;
  for (const LoadedKernel &loaded : kernels) {
    text += text.empty() ? "" : "\n";
    text += subjectText(loaded.kernel, *loaded.code, session) + "\n";
    text += tally::listing(loaded.kernel, *loaded.code, options);
  }
  return text;
}

/// One document; several kernels give an array of them.
std::string jsonText(const std::vector<LoadedKernel> &kernels, JsonOptions options) {
  if (kernels.size() == 1) {
    return writeCodeJson(kernels[0].kernel, *kernels[0].code, options);
  }
  std::string text = "[\n";
  for (const LoadedKernel &loaded : kernels) {
    text += &loaded == &kernels.front() ? "" : ",\n";
    text += writeCodeJson(loaded.kernel, *loaded.code, options);
  }
  text += "]\n";
  return text;
}

/// A program has one kernel.
std::string programText(Session &session, const std::vector<LoadedKernel> &kernels,
                        std::string_view language, const ProgramOptions &options) {
  if (kernels.size() != 1) {
    fail(fmt::format("'--emit' writes a program of one kernel, but there are {}; name one with "
                     "'--kernel'",
                     kernels.size()));
  }
  Diagnostics diagnostics;
  auto emit = language == "llvm" ? emitLlvm : emitCpp;
  std::optional<std::string> program =
      emit(kernels[0].kernel, *kernels[0].code, session.machine(), diagnostics, options);
  session.report(kernels[0].kernel, diagnostics);
  return orEnd(std::move(program));
}

std::string CompileCommand::resultText(Session &session,
                                       const std::vector<LoadedKernel> &kernels) const {
  return !emit.empty()      ? programText(session, kernels, emit, program)
         : format == "scf"  ? session.scfText(kernels)
         : format == "text" ? moduleText(kernels)
                            : jsonText(kernels, json);
}

/// The theorem knows no resets either.
Request CompileCommand::certifiable(const Request &asked) const {
  Request options = asked.certifiable();
  if (!common.overflowGiven) {
    options.overflow = Overflow::Assume;
  }
  return options;
}

/// What is missing among the dependences makes the code wrong whatever the checker says.
Exit CompileCommand::certifyAll(Session &session, const std::vector<LoadedKernel> &kernels,
                                const std::vector<PlanDecisions> &plans,
                                const std::vector<std::string> &differences) const {
  std::vector<AccessesNote> accesses;
  bool isMissing = false;
  for (const LoadedKernel &loaded : kernels) {
    std::optional<AccessesNote> note = holdAccesses(session, loaded, common);
    isMissing |= !note;
    accesses.push_back(note.value_or(AccessesNote::Ignored));
  }
  if (isMissing) {
    return Exit::No;
  }
  remarkDifferences(session, kernels, differences); // of code, which there is now
  return certify(kernels, plans, accesses, session.machine(),
                 certificate == "-" ? "" : certificate);
}

/// Code says for which machine it is, but not why, nor how to make it again: equal code is equal
/// text.
void noteChoice(const Session &session) {
  if (!session.machineReason().empty()) {
    tellNote(fmt::format("the code is for machine '{}' (not given: {}); again: {}",
                         session.machine().name, session.machineReason(), commandOf(session)));
  }
}

int CompileCommand::run() const {
  CommonOptions shared = common;
  shared.holdsAccesses = asksToCertify();
  Session session(shared);
  std::vector<LoadedKernel> kernels = session.loadWithDeps();
  Request asked = common.request();
  Request options = asksToCertify() ? certifiable(asked) : asked;
  std::vector<std::string> differences;
  if (asksToCertify()) {
    differences = differencesOf(kernels, asked, options, session.machine());
  }
  std::vector<PlanDecisions> plans = compileAll(session, kernels, options);
  Exit verdict = asksToCertify() ? certifyAll(session, kernels, plans, differences) : Exit::Yes;
  if (verdict == Exit::No) {
    return verdict; // code that is known to be wrong is not written
  }
  for (const LoadedKernel &loaded : kernels) {
    if (expandBarriers && loaded.code->barriers.empty()) {
      session.warnIdle(loaded.kernel, "--expand-barriers", "its code has no barriers");
    }
  }
  nowDoing("writing the code");
  bool written = !listing || writeOutput("-", listings(kernels, {expandBarriers}, session) +
                                                  againText(commandOf(session)));
  if (!output.empty() || !listing) {
    bool isThere = writeOutput(output.empty() ? "-" : output, resultText(session, kernels));
    written &= isThere;
    if (isThere) {
      noteChoice(session);
    }
  }
  return written ? verdict : Exit::Undecided;
}

void CompileCommand::declareOn(CLI::App &command) {
  common.addInput(command);
  common.addStrategy(command, strategyNames());
  common.addMachine(command);
  declare(command,
          {{"-o,--output", output, "where the code goes; - is stdout", file},
           formatOption(format,
                        "text: the dialect; json: complete code (docs/guide/json/Code.md); "
                        "scf: one function per engine",
                        {"text", "json", "scf"}),
           {"--emit", emit,
            "a program instead of code: c++ is one file, with a thread for each engine "
            "(docs/guide/Programs.md); llvm is what 'tally run' compiles "
            "(docs/guide/Threads.md)",
            oneOf("program", "programs", {"c++", "llvm"})},
           {"--calls", program.calls,
            "an instruction without 'computes' is a call of your function of its name, and the "
            "file is for including: it has run() instead of main() (docs/guide/Pipeline.md)"},
           {"--locations", json.locations,
            "in JSON, say of each statement of the kernel where it comes from"},
           {"--compact", json.compact,
            "JSON without repeated names, an eighth of the size (docs/guide/json/Compact.md)"},
           {"--listing", listing, "print the code for human readers"},
           {"--expand-barriers", expandBarriers, "in the listing, show what a barrier is made of"},
           {"--certify{-}", certificate,
            "have the proved checker decide about the code (docs/guide/Certificate.md); "
            "--certify=FILE keeps the certificate; counters are then assumed to fit, unless "
            "--overflow says otherwise",
            file}});
  goesWith(command, {"--expand-barriers"}, "--listing");
  declareProgramOptions(command, program);
  goesNotWith(command, {"--format"}, "--emit");
  goesWith(command, {"--first-count", "--pauses", "--queue-threads"}, "--emit");
  refuseIf(command, {"--calls"}, "without '--emit=c++'", [this] { return emit != "c++"; });
  refuseIf(command, {"--locations", "--compact"},
           "without '--format=json'; the other forms have none",
           [this] { return format != "json"; });
  refuseIf(command, {"--format"},
           "together with '--listing', unless '-o' names a file for the code",
           [this] { return listing && output.empty(); });
  refuseIf(command, {"--output"},
           "together with '--listing', unless it names a file: both go to stdout",
           [this] { return listing && output == "-"; });
  refuseIf(command, {"--certify"}, "where '-o' names the same file",
           [this] { return certificate == output && output != "-"; });
}

constexpr const char *examples = R"(Examples:
  tally compile k.mlir                          code for every engine, with the semaphores that cost least
  tally compile k.mlir --listing                the same, for human readers
  tally compile k.mlir --sync=barrier -o b.mlir the baseline, into a file
  tally compile k.mlir --machine=trn2 --max-code-growth=2
                                                the same, with loops unrolled
  tally compile k.json --format=json            from JSON to JSON, for compilers without MLIR
  tally compile k.mlir --format=scf             one function per engine, for compilers with MLIR
  tally compile k.mlir --emit=c++ -o k.cpp      a program with a thread for each engine
  tally compile k.mlir --emit=llvm              the same, as LLVM IR for 'tally run'
  tally compile k.mlir --certify -o code.mlir   only code that the proved checker certifies

Exit status: 0 code is written, 1 the checker rejects it (--certify), 2 wrong input or use, or no code
is possible.)";

} // namespace

void addCompile(CLI::App &app) {
  addCommand<CompileCommand>(app, {"compile", "Make the code of every engine", examples});
}

} // namespace tally::tool
