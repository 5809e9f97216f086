//===- DepsCommand.cpp - tally deps ---------------------------------------===//
//
// The dependences that follow from what instructions touch. Those that the kernel has written
// itself do not matter here.
//
//===----------------------------------------------------------------------===//

#include "Output.h"
#include "Progress.h"
#include "Result.h"
#include "Session.h"

#include "tally/Deps/Implied.h"
#include "tally/Deps/Render.h"
#include "tally/Model/Open.h"
#include "tally/Support/Counted.h"
#include "tally/Support/Names.h"

#include <fmt/format.h>

namespace tally::tool {
namespace {

struct DepsCommand {
  CommonOptions common;
  std::string format = "text";
  bool explain = false;
  std::vector<std::string> why; ///< producers and consumers, in turn

  void declareOn(CLI::App &command) {
    common.addInput(command);
    common.addMachine(command);
    common.addKeepImplied(command);
    declare(command,
            {formatOption(format, "text, json (docs/guide/json/Dependences.md), or dot (Graphviz)",
                          {"text", "json", "dot"}),
             {"--explain", explain,
              "in text: the two accesses, two iterations that conflict, why it waits longer; and "
              "what is implied, and how"},
             {"--why", why,
              "of two instructions: each conflict, and whether it is waited for, "
              "implied, or written over in between; may be repeated",
              withCommas, writtenAs("PRODUCER,CONSUMER")}});
    refuseIf(command, {"--explain"}, "with '--format=json' or '--format=dot'",
             [this] { return format != "text"; });
    refuseIf(command, {"--why"}, "with '--format=json' or '--format=dot'",
             [this] { return format != "text"; });
    goesNotWith(command, {"--explain", "--keep-implied"}, "--why");
  }

  int run() const {
    Session session(common);
    Extractor extractor;
    std::string text;
    for (const LoadedKernel &loaded : session.load()) {
      if (!why.empty()) {
        text += text.empty() ? "" : "\n";
        text += explainPairs(loaded.kernel, session, extractor);
        continue;
      }
      remarkWritten(session, loaded.kernel);
      remarkAsItStands(session, loaded.kernel);
      nowDoing("finding dependences");
      Extraction extraction =
          extractor.extract(loaded.kernel, {.queueOverlap = session.machine().queueOverlap});
      if (common.keepImplied) {
        shortenAll(extraction);
      } else {
        nowDoing("removing dependences that others imply");
        markImplied(loaded.kernel, extraction);
      }
      text += text.empty() ? "" : format == "json" ? ",\n" : "\n";
      text += render(loaded.kernel, extraction, session);
    }
    if (format == "json") {
      const std::string &reason = session.machineReason();
      text = fmt::format(
          "{{\"schema\": \"tally-deps\", \"version\": 2, \"machine\": {}, {}\"command\": {}, "
          "\"kernels\": [\n{}\n]}}\n",
          dump(session.machine().name),
          reason.empty() ? "" : fmt::format("\"machine_not_given\": {}, ", dump(reason)),
          dump(commandOf(session)), text);
    } else {
      text += format == "dot" ? fmt::format("// again: {}\n", commandOf(session))
                              : againText(commandOf(session));
    }
    return writeOutput("-", text) ? Exit::Yes : Exit::Undecided;
  }

private:
  /// Code may be made for another choice.
  static void remarkAsItStands(Session &session, const Kernel &kernel) {
    Diagnostics diagnostics;
    if (leavesOpen(kernel)) {
      remarkOpen(kernel, "nothing is chosen here", diagnostics);
    }
    session.report(kernel, diagnostics);
  }

  /// What is listed is what accesses ask for; code does not follow it where dependences are
  /// written.
  static void remarkWritten(Session &session, const Kernel &kernel) {
    if (kernel.deps.empty() || kernel.accesses.empty()) {
      return;
    }
    Diagnostics diagnostics;
    diagnostics.remark(
        kernel.deps[DepId(0)].where,
        fmt::format("kernel '{}' has {} of its own, which code follows instead of those that are "
                    "listed here; 'tally plan' says whether these follow from them",
                    kernel.text(kernel.name), counted(kernel.deps.size(), "written dependence")));
    session.report(kernel, diagnostics);
  }

  std::string explainPairs(const Kernel &kernel, const Session &session,
                           Extractor &extractor) const {
    if (why.size() % 2 != 0) {
      fail(fmt::format("--why: expected two instructions, as in '--why=load,scale', found {}",
                       why.size()));
    }
    std::string text =
        fmt::format("kernel '{}', {}\n", kernel.text(kernel.name), machineText(session));
    for (size_t i = 0; i < why.size(); i += 2) {
      text += "\n";
      text += whyText(kernel, {.queueOverlap = session.machine().queueOverlap}, extractor,
                      instrNamed(kernel, why[i]), instrNamed(kernel, why[i + 1]));
    }
    return text;
  }

  static InstrId instrNamed(const Kernel &kernel, const std::string &name) {
    std::vector<std::string_view> names;
    for (InstrId instr : kernel.instrs.ids()) {
      if (kernel.nameOf(instr) == name) {
        return instr;
      }
      names.push_back(kernel.nameOf(instr));
    }
    fail(unknownName("instruction", "instructions", name, names));
  }

  std::string render(const Kernel &kernel, const Extraction &extraction,
                     const Session &session) const {
    return format == "json"  ? renderJson(kernel, extraction)
           : format == "dot" ? renderDot(kernel, extraction)
                             : renderText(kernel, extraction, machineText(session), explain);
  }
};

} // namespace

void addDeps(CLI::App &app) {
  addCommand<DepsCommand>(app, {"deps", "Which dependences follow from the accesses",
                                R"(Examples:
  tally deps k.mlir                         one line for each dependence
  tally deps k.mlir --explain               which accesses, which iterations
  tally deps k.mlir --why=load,scale        why 'scale' waits for 'load', or does not
  tally deps k.mlir --machine=trn2          on a machine whose queues overlap their instructions
  tally deps k.mlir --format=dot | dot -Tsvg -o k.svg
                                            as a picture)"});
}

} // namespace tally::tool
