//===- DepsCommand.cpp - tally deps ---------------------------------------===//
//
// The dependences that follow from what instructions touch. Those that the kernel has written
// itself do not matter here.
//
//===----------------------------------------------------------------------===//

#include "Output.h"
#include "Progress.h"
#include "Session.h"

#include "tally/Deps/Implied.h"
#include "tally/Deps/Render.h"

#include <fmt/format.h>

namespace tally::tool {
namespace {

struct DepsCommand {
  CommonOptions common;
  std::string format = "text";
  bool explain = false;

  void declareOn(CLI::App &command) {
    common.addInput(command);
    common.addMachine(command);
    common.addKeepImplied(command);
    declare(command,
            {formatOption(format, "text, json (docs/guide/Dependences.md), or dot (Graphviz)",
                          {"text", "json", "dot"}),
             {"--explain", explain,
              "in text: the two accesses, two iterations that conflict, why it waits longer; and "
              "what is implied, and how"}});
    refuseIf(command, {"--explain"}, "with '--format=json' or '--format=dot'",
             [this] { return format != "text"; });
  }

  int run() const {
    Session session(common);
    Extractor extractor;
    std::string text;
    for (const LoadedKernel &loaded : session.load()) {
      nowDoing("finding dependences");
      Extraction extraction =
          extractor.extract(loaded.kernel, {.queueOverlap = session.machine().queueOverlap});
      if (!common.keepImplied) {
        nowDoing("removing dependences that others imply");
        markImplied(loaded.kernel, extraction);
      }
      text += text.empty() ? "" : format == "json" ? ",\n" : "\n";
      text += render(loaded.kernel, extraction);
    }
    if (format == "json") {
      text = fmt::format("{{\"schema\": \"tally-deps\", \"version\": 2, \"machine\": {}, "
                         "\"kernels\": [\n{}\n]}}\n",
                         dump(session.machine().name), text);
    }
    return writeOutput("-", text) ? Exit::Yes : Exit::Undecided;
  }

private:
  std::string render(const Kernel &kernel, const Extraction &extraction) const {
    return format == "json"  ? renderJson(kernel, extraction)
           : format == "dot" ? renderDot(kernel, extraction)
                             : renderText(kernel, extraction, explain);
  }
};

} // namespace

void addDeps(CLI::App &app) {
  addCommand<DepsCommand>(app, {"deps", "Which dependences follow from the accesses",
                                R"(Examples:
  tally deps k.mlir                         one line for each dependence
  tally deps k.mlir --explain               which accesses, which iterations
  tally deps k.mlir --machine=trn2          on a machine whose queues overlap their instructions
  tally deps k.mlir --format=dot | dot -Tsvg -o k.svg
                                            as a picture)"});
}

} // namespace tally::tool
