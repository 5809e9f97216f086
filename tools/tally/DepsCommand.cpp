//===- DepsCommand.cpp - tally deps ---------------------------------------===//
//
// The dependences that follow from what instructions touch. Those that the kernel has written
// itself do not matter here.
//
//===----------------------------------------------------------------------===//

#include "Options.h"
#include "Session.h"

#include "tally/Deps/Implied.h"
#include "tally/Deps/Render.h"

#include <fmt/format.h>

#include <memory>

namespace tally::tool {
namespace {

struct DepsCommand {
  CommonOptions common;
  std::string format = "text";
  bool explain = false;

  int run() const {
    Session session;
    std::optional<Machine> machine = session.machine(common);
    if (!machine) {
      return Exit::Undecided;
    }
    std::vector<LoadedKernel> kernels = session.load(common.input, *machine);
    Extractor extractor;
    std::string text;
    for (const LoadedKernel &loaded : kernels) {
      Extraction extraction =
          extractor.extract(loaded.kernel, {.queueOverlap = machine->queueOverlap});
      if (!common.keepImplied) {
        markImplied(loaded.kernel, extraction);
      }
      text += text.empty() ? "" : format == "json" ? ",\n" : "\n";
      text += render(loaded.kernel, extraction);
    }
    if (kernels.empty()) {
      return Exit::Undecided;
    }
    if (format == "json") {
      text = fmt::format("{{\"schema\": \"tally-deps\", \"version\": 2, \"machine\": {}, "
                         "\"kernels\": [\n{}\n]}}\n",
                         dump(machine->name), text);
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

void addDeps(CLI::App &app, int &status) {
  auto command = std::make_shared<DepsCommand>();
  CLI::App *sub = app.add_subcommand("deps", "Which dependences follow from the accesses");
  command->common.addInput(*sub);
  command->common.addMachine(*sub);
  command->common.addKeepImplied(*sub);
  sub->add_option("--format", command->format,
                  "text, json (docs/guide/Dependences.md), or dot (Graphviz)")
      ->check(formatIn({"text", "json", "dot"}))
      ->capture_default_str();
  sub->add_flag("--explain", command->explain,
                "in text: the two accesses, two iterations that conflict, why it waits longer; and "
                "what is implied, and how");
  refuseIf(*sub, {"--explain"}, "with '--format=json' or '--format=dot'",
           [command] { return command->format != "text"; });
  sub->footer(R"(Examples:
  tally deps k.mlir                         one line for each dependence
  tally deps k.mlir --explain               which accesses, which iterations
  tally deps k.mlir --machine=trn2          on a machine whose queues overlap their instructions
  tally deps k.mlir --format=dot | dot -Tsvg -o k.svg
                                            as a picture)");
  sub->callback([command, &status] { status = command->run(); });
}

} // namespace tally::tool
