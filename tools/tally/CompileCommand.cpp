//===- CompileCommand.cpp - tally compile ---------------------------------===//

#include "Certify.h"
#include "HeldDeps.h"
#include "Options.h"
#include "Session.h"

#include "tally/Code/Listing.h"
#include "tally/Written/CodeJson.h"

#include <fmt/format.h>

#include <memory>

namespace tally::tool {
namespace {

struct CompileCommand {
  CommonOptions common;
  std::string output;
  std::string format = "text";
  bool listing = false;
  bool expandBarriers = false;
  bool locations = false;
  std::string certificate;    ///< file to keep it in; "-": none; "": not asked for
  bool overflowGiven = false; ///< what to do about it was asked for

  int run() const;

private:
  bool asksToCertify() const { return !certificate.empty(); }

  Request certifiable(Request options) const;
  Exit certifyAll(Session &session, const std::vector<LoadedKernel> &kernels,
                  const std::vector<PlanDecisions> &plans, const Machine &machine) const;
  std::string resultText(Session &session, const std::vector<LoadedKernel> &kernels,
                         const Machine &machine) const;
};

/// Compiles every kernel in place, and says how each was planned; false if one could not be
/// compiled.
bool compileAll(Session &session, std::vector<LoadedKernel> &kernels, const Request &options,
                const Machine &machine, std::vector<PlanDecisions> &plans) {
  bool allCompiled = true;
  for (LoadedKernel &loaded : kernels) {
    Diagnostics diagnostics;
    const Code *written = loaded.code ? &*loaded.code : nullptr;
    std::optional<Compiled> compiled =
        compile(loaded.kernel, options, machine, diagnostics, written);
    session.report(loaded.kernel, diagnostics);
    if (!compiled) {
      allCompiled = false;
      continue;
    }
    loaded.code = std::move(compiled->code);
    plans.push_back(std::move(compiled->plan.decisions));
  }
  return allCompiled;
}

/// As JSON, so that equal texts are equal code; empty if there is none.
std::string codeOf(const LoadedKernel &loaded, const Request &options, const Machine &machine) {
  Diagnostics ignored;
  const Code *written = loaded.code ? &*loaded.code : nullptr;
  std::optional<Compiled> compiled = compile(loaded.kernel, options, machine, ignored, written);
  return compiled ? writeCodeJson(loaded.kernel, compiled->code) : "";
}

/// What can be certified may be other code than what is asked for; says that, and why.
void remarkDifference(Session &session, const LoadedKernel &loaded, const Request &asked,
                      const Request &certified, const Machine &machine) {
  std::string code = codeOf(loaded, asked, machine);
  if (code.empty() || code == codeOf(loaded, certified, machine)) {
    return;
  }
  Request otherTrips = asked;
  otherTrips.constantTrips = certified.constantTrips;
  Request otherOverflow = asked;
  otherOverflow.overflow = certified.overflow;
  bool becauseOfTrips = codeOf(loaded, otherTrips, machine) != code;
  bool becauseOfOverflow = codeOf(loaded, otherOverflow, machine) != code;
  bool neither = !becauseOfTrips && !becauseOfOverflow;
  std::string why;
  if (becauseOfTrips || neither) {
    why += "; the theorem knows no trip counts, so constant ones are not made use of";
  }
  if (becauseOfOverflow || neither) {
    why += "; it knows no resets, so counters are assumed to fit (--overflow=assume), which the "
           "verdict names";
  }
  Diagnostics diagnostics;
  diagnostics.remark(loaded.kernel.where,
                     "this is not the code that is written without --certify" + why);
  session.report(loaded.kernel, diagnostics);
}

std::string listings(const std::vector<LoadedKernel> &kernels, const ListingOptions &options) {
  std::string text;
  for (const LoadedKernel &loaded : kernels) {
    text += text.empty() ? "" : "\n";
    text += tally::listing(loaded.kernel, *loaded.code, options);
  }
  return text;
}

/// One document; several kernels give an array of them.
std::string jsonText(const std::vector<LoadedKernel> &kernels, bool locations) {
  if (kernels.size() == 1) {
    return writeCodeJson(kernels[0].kernel, *kernels[0].code, locations);
  }
  std::string text = "[\n";
  for (const LoadedKernel &loaded : kernels) {
    text += &loaded == &kernels.front() ? "" : ",\n";
    text += writeCodeJson(loaded.kernel, *loaded.code, locations);
  }
  text += "]\n";
  return text;
}

std::string CompileCommand::resultText(Session &session, const std::vector<LoadedKernel> &kernels,
                                       const Machine &machine) const {
  if (format == "scf") {
    return session.scfText(kernels, machine);
  }
  if (format == "text") {
    return session.moduleText(kernels);
  }
  return jsonText(kernels, locations);
}

/// The theorem holds for all trips and knows none, and it knows no resets.
Request CompileCommand::certifiable(Request options) const {
  options.constantTrips = false;
  if (!overflowGiven) {
    options.overflow = Overflow::Assume;
  }
  return options;
}

/// What is missing among the dependences makes the code wrong whatever the checker says.
Exit CompileCommand::certifyAll(Session &session, const std::vector<LoadedKernel> &kernels,
                                const std::vector<PlanDecisions> &plans,
                                const Machine &machine) const {
  std::vector<AccessesNote> accesses;
  bool isMissing = false;
  for (const LoadedKernel &loaded : kernels) {
    std::optional<AccessesNote> note = holdAccesses(session, loaded, common, machine);
    isMissing |= !note;
    accesses.push_back(note.value_or(AccessesNote::Ignored));
  }
  if (isMissing) {
    return Exit::No;
  }
  return certify(kernels, plans, accesses, machine, certificate == "-" ? "" : certificate);
}

int CompileCommand::run() const {
  Session session;
  std::optional<Machine> machine = session.machine(common);
  if (!machine) {
    return Exit::Undecided;
  }
  std::vector<LoadedKernel> kernels = session.loadWithDeps(common, *machine);
  Request asked = common.request();
  Request options = asksToCertify() ? certifiable(asked) : asked;
  for (const LoadedKernel &loaded : kernels) {
    if (asksToCertify()) {
      remarkDifference(session, loaded, asked, options, *machine);
    }
  }
  std::vector<PlanDecisions> plans;
  if (kernels.empty() || !compileAll(session, kernels, options, *machine, plans)) {
    return Exit::Undecided;
  }
  Exit verdict = asksToCertify() ? certifyAll(session, kernels, plans, *machine) : Exit::Yes;
  if (verdict == Exit::No) {
    return verdict; // code that is known to be wrong is not written
  }
  bool written = true;
  if (listing) {
    written = writeOutput("-", listings(kernels, {expandBarriers}));
  }
  if (!output.empty() || !listing) {
    written &= writeOutput(output.empty() ? "-" : output, resultText(session, kernels, *machine));
  }
  return written ? verdict : Exit::Undecided;
}

} // namespace

void addCompile(CLI::App &app, int &status) {
  auto command = std::make_shared<CompileCommand>();
  CLI::App *sub = app.add_subcommand("compile", "Make the code of every engine");
  command->common.addInput(*sub);
  command->common.addStrategy(*sub, strategyNames());
  command->common.addMachine(*sub);
  sub->add_option("-o,--output", command->output, "where the code goes; - is stdout");
  sub->add_option(
         "--format", command->format,
         "text: the dialect; json: complete code (docs/guide/Json.md); scf: one function per "
         "engine")
      ->check(formatIn({"text", "json", "scf"}))
      ->capture_default_str();
  sub->add_flag("--locations", command->locations,
                "in JSON, say of each statement of the kernel where it comes from");
  sub->add_flag("--listing", command->listing, "print the code as a person reads it");
  sub->add_flag("--expand-barriers", command->expandBarriers,
                "in the listing, show what a barrier is made of");
  sub->add_flag("--certify{-}", command->certificate,
                "have the proved checker decide about the code (docs/guide/Certificate.md); "
                "--certify=FILE keeps the certificate; counters are then assumed to fit, unless "
                "--overflow says otherwise");
  goesWith(*sub, {"--expand-barriers"}, "--listing");
  refuseIf(*sub, {"--locations"}, "without '--format=json'; the other forms have none",
           [command] { return command->format != "json"; });
  refuseIf(*sub, {"--format"}, "beside '--listing', unless '-o' names a file for the code",
           [command] { return command->listing && command->output.empty(); });
  refuseIf(*sub, {"--output"}, "beside '--listing', unless it names a file: both go to stdout",
           [command] { return command->listing && command->output == "-"; });
  refuseIf(*sub, {"--certify"}, "where '-o' names the same file",
           [command] { return command->certificate == command->output && command->output != "-"; });
  sub->callback([command, sub, &status] {
    command->overflowGiven = sub->count("--overflow") != 0;
    status = command->run();
  });
}

} // namespace tally::tool
