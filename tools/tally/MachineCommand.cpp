//===- MachineCommand.cpp - tally machine ---------------------------------===//
//
// Lists the descriptions of machines that come with tally, and checks descriptions: is each file
// well formed, and what can be done with it?
//
//===----------------------------------------------------------------------===//

#include "Result.h"

#include "tally/Machine/Costs.h"
#include "tally/Machine/Names.h"
#include "tally/Machine/Rules.h"
#include "tally/Machine/Timing.h"
#include "tally/Support/Counted.h"
#include "tally/Support/Quotes.h"
#include "tally/Support/ReadFile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

namespace tally::tool {
namespace {

constexpr std::array<std::string_view, 4> confidences{"published", "measured", "derived",
                                                      "estimate"};

/// One description, and what was found about it.
struct Examined {
  std::string source;
  MachineResult result;
  std::vector<std::string> untimed;                 ///< why it cannot be simulated
  std::array<size_t, confidences.size()> numbers{}; ///< parameters, by confidence

  explicit Examined(const std::string &nameOrPath)
      : source(nameOrPath), result(loadMachine(nameOrPath)) {
    if (!isGood()) {
      return;
    }
    if (Timing::of(*result.machine, untimed)) {
      untimed = formulasWithoutValue(*result.machine);
    }
    for (const Parameter &parameter : result.machine->parameters) {
      for (size_t c = 0; c < confidences.size(); ++c) {
        numbers[c] += parameter.confidence == confidences[c];
      }
    }
  }

  bool isGood() const { return result.machine.has_value() && !result.errors.hasErrors(); }

  /// Whether there is a description at all, good or not: what is no JSON is none.
  bool isThere() const {
    return isGood() || (!result.files.empty() &&
                        Json::accept(readFile(result.files.front(), machineInput).text));
  }

  bool isTimed() const { return isGood() && untimed.empty(); }
};

std::string limitText(const std::optional<uint32_t> &limit, std::string_view what) {
  return limit ? counted(*limit, what) : fmt::format("any number of {}s", what);
}

std::string planningText(const Machine &machine) {
  return fmt::format(
      "{}{}; {}; {} for each; counters of {} bits, {}, compared {}; {} an instruction",
      machine.engines.empty() ? "any engines"
                              : fmt::format("engines {}", fmt::join(machine.engines, ", ")),
      sumsText("; ", machine.sumsInOrder), limitText(machine.semaphores, "semaphore"),
      limitText(machine.registersPerEngine, "register"), machine.counterBits,
      machine.subtraction == Subtraction::Wraps ? "subtraction wraps around"
                                                : "subtraction stops at zero",
      toString(machine.waitCompare), counted(machine.instructionBytes, "byte"));
}

std::string memoriesText(const Machine &machine) {
  std::vector<std::string> parts;
  for (const MemorySize &memory : machine.memories) {
    parts.push_back(fmt::format("{} of {}, {} in each", memory.space,
                                counted(memory.partitions, "partition"),
                                counted(memory.bytes, "byte")));
  }
  return parts.empty() ? "any memory" : fmt::format("{}", fmt::join(parts, "; "));
}

std::string numbersText(const Examined &examined) {
  std::vector<std::string> parts;
  for (size_t c = 0; c < confidences.size(); ++c) {
    if (examined.numbers[c] > 0) {
      parts.push_back(fmt::format("{} {}", examined.numbers[c], confidences[c]));
    }
  }
  return parts.empty() ? "none" : fmt::format("{}", fmt::join(parts, ", "));
}

/// What can be done with it; nothing if it is not good.
std::string textOf(const Examined &examined) {
  if (!examined.isGood()) {
    return "";
  }
  const Machine &machine = *examined.result.machine;
  std::string simulate =
      examined.isTimed()
          ? "yes"
          : withShortQuotes(fmt::format("no: {}", fmt::join(examined.untimed, "; ")));
  return fmt::format(
      "machine '{}': {}\n  compile   {}\n  memory    {}\n  simulate  {}\n  numbers   {}\n",
      machine.name, machine.description, planningText(machine), memoriesText(machine), simulate,
      numbersText(examined));
}

Json memoriesOf(const Machine &machine) {
  Json object = Json::object();
  for (const MemorySize &memory : machine.memories) {
    object[memory.space] = {{"partitions", memory.partitions}, {"bytes", memory.bytes}};
  }
  return object;
}

Json jsonOf(const Examined &examined) {
  Json object = {{"source", examined.source}, {"errors", Json::array()}};
  for (const Diagnostic &error : examined.result.errors.all()) { // each as it is on stderr
    std::string text = render(error, examined.result.files);
    object["errors"].push_back(text.substr(0, text.size() - 1));
  }
  if (!examined.isGood()) {
    return object;
  }
  const Machine &machine = *examined.result.machine;
  auto number = [](const std::optional<uint32_t> &limit) { return limit ? Json(*limit) : Json(); };
  object.update(
      Json{{"name", machine.name},
           {"description", machine.description},
           {"engines", machine.engines},
           {"sums_in_order", machine.sumsInOrder ? Json(*machine.sumsInOrder) : Json()},
           {"issues_transfers", machine.issuesTransfers ? Json(*machine.issuesTransfers) : Json()},
           {"memories", memoriesOf(machine)},
           {"semaphores", number(machine.semaphores)},
           {"registers_per_engine", number(machine.registersPerEngine)},
           {"counter_bits", machine.counterBits},
           {"simulate", examined.isTimed()},
           {"missing", examined.untimed}});
  for (size_t c = 0; c < confidences.size(); ++c) {
    object["numbers"][std::string(confidences[c])] = examined.numbers[c];
  }
  return object;
}

struct MachineCheck {
  std::vector<std::string> sources;
  std::string format = "text";

  void declareOn(CLI::App &command) {
    declare(command, {{"machines", sources, "files, or names of machines that come with tally",
                       required, suggestedBy("machine list")},
                      formatOption(format)});
  }

  int run() const {
    Exit status = Exit::Yes;
    Result result(format, "tally-machines", 1, "machines");
    for (const std::string &source : sources) {
      Examined examined(source);
      tell(examined.result.errors, examined.result.files);
      status = both(status, !examined.isThere() ? Exit::Undecided
                            : examined.isGood() ? Exit::Yes
                                                : Exit::No);
      result.add(textOf(examined), jsonOf(examined));
    }
    return result.print(status);
  }
};

/// `trn2  AWS Trainium2, ...`, in one line.
std::string lineOf(const Examined &examined) {
  std::string about = examined.isGood() ? examined.result.machine->description
                                        : "not well formed: 'tally machine check' says why";
  return fmt::format("{:<14}{}{}\n", examined.source, about,
                     examined.isGood() && !examined.isTimed() ? " (cannot be simulated)" : "");
}

struct MachineList {
  std::string format = "text";

  void declareOn(CLI::App &command) { declare(command, {formatOption(format)}); }

  int run() const {
    Result result(format, "tally-machines", 1, "machines");
    for (const std::string &name : machineNames()) {
      Examined examined(name);
      result.add(lineOf(examined), jsonOf(examined));
    }
    return result.print();
  }
};

constexpr const char *examples = R"(Examples:
  tally machine list                         machines that come with tally
  tally machine check mine.json              show all mistakes in it)";

constexpr const char *listExamples = R"(Examples:
  tally machine list                         names, and what they describe
  tally machine list --format=json           also what each can be used for

The folders in the variable TALLY_MACHINES come first, then those that were installed with tally.

Exit status: 0 they are listed, 2 wrong use.)";

constexpr const char *checkExamples = R"(Examples:
  tally machine check mine.json              show all mistakes in it
  tally machine check trn2 trn1              what two machines have, and how certain that is
  tally machine check *.json --format=json   for scripts

Exit status: 0 all are well formed, 1 one is not, 2 otherwise: one is missing or is not JSON.)";

} // namespace

void addMachine(CLI::App &app) {
  addGroup(app, {"machine", "Descriptions of machines", examples}, [](CLI::App &machine) {
    addCommand<MachineList>(machine, {"list", "Their names, and what they describe", listExamples});
    addCommand<MachineCheck>(
        machine,
        {"check", "Is a description well formed, and what can it be used for?", checkExamples});
  });
}

} // namespace tally::tool
