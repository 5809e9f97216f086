//===- Result.cpp - What a command has found ------------------------------===//

#include "Result.h"

#include "Messages.h"
#include "Options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

namespace tally::tool {
namespace {

/// A value so many columns to the right, as a part of a document.
std::string indented(const Json &value, size_t columns) {
  std::string text = dump(value);
  for (size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 1)) {
    text.insert(at + 1, columns, ' ');
  }
  return text;
}

/// An object that further members follow, so many columns to the right.
std::string openObject(const Json &object, size_t columns) {
  std::string text = indented(object, columns);
  text.resize(text.size() - columns - 2); // a line with the bracket
  return text;
}

} // namespace

Result::Result(std::string_view format, std::string_view schema, int version,
               const std::string &list)
    : isJson(format == "json"), json(openObject({{"schema", schema}, {"version", version}}, 0)),
      isInList(!list.empty()) {
  json += list.empty() ? "" : fmt::format(",\n  {}: [", dump(list));
}

void Result::part() {
  text += hasParts ? "\n" : "";
  hasParts = true;
}

void Result::add(std::string_view itsText, const Json &object) {
  text += itsText;
  if (isJson) {
    endObject();
    json += numObjects++ == 0 ? "\n    " : ",\n    ";
    json += openObject(object, 4);
    isInObject = true;
  }
}

/// Where its value goes.
std::string &Result::beginMember(std::string_view key) {
  return json += fmt::format(",\n{:{}}{}: ", "", isInList ? 6 : 2, dump(key));
}

void Result::addMembers(const Json &members) {
  for (const auto &[key, value] : members.items()) {
    beginMember(key) += indented(value, isInList ? 6 : 2);
  }
}

void Result::addTable(std::string_view key, std::string_view title, const Table &table,
                      size_t mostRows) {
  const size_t columns = isInList ? 8 : 4;
  beginMember(key) += "[";
  text += title;
  text += table.headLine();
  for (size_t row = 0; row < table.size(); ++row) {
    if (isJson) {
      json += fmt::format("{}\n{:{}}", row == 0 ? "" : ",", "", columns);
      json += indented(table.object(row), columns);
    } else if (row < mostRows) {
      text += table.line(row);
    }
    printFrom(size_t(1) << 20);
  }
  if (table.size() > mostRows) {
    text += fmt::format("  {} more with --top={}\n", table.size() - mostRows, table.size());
  }
  json += table.size() == 0 ? "]" : fmt::format("\n{:{}}]", "", columns - 2);
}

void Result::set(const Json &members) {
  endList();
  addMembers(members);
}

void Result::endObject() {
  json += isInObject ? "\n    }" : "";
  isInObject = false;
}

void Result::endList() {
  endObject();
  json += !isInList ? "" : numObjects == 0 ? "]" : "\n  ]";
  isInList = false;
}

/// What there is so far, if that may be, and is worth it.
void Result::printFrom(size_t least) {
  std::string &made = isJson ? json : text;
  if (isReleased && isWritten && made.size() >= least) {
    isWritten = writeOutput("-", isJson ? made : asOnStdout(made));
    made.clear();
  }
}

/// What was chosen, as options.
static std::vector<std::string> optionsOf(const BoundRun &run) {
  std::vector<std::string> options;
  for (const std::string &trips : run.chosen) {
    options.push_back("--trips=" + trips);
  }
  if (run.guards && !run.guardsGiven) {
    options.push_back(fmt::format("--guards={}", *run.guards));
  }
  return options;
}

static std::vector<std::string> optionsOf(const Session &session) {
  bool isChosen = !session.machineReason().empty() && !session.hasMachineOfCode();
  return isChosen ? std::vector{"--machine=" + session.machineOption()}
                  : std::vector<std::string>();
}

std::string commandOf(const Session &session) {
  return commandLineWith(optionsOf(session));
}

std::string commandOf(const Session &session, const BoundRun &run) {
  std::vector<std::string> options = optionsOf(run);
  std::ranges::copy(optionsOf(session), std::back_inserter(options));
  return commandLineWith(options);
}

std::string againText(std::string_view command) {
  return fmt::format("\nagain: {}\n", command);
}

void Result::repeatWith(const Session &session, const BoundRun *run) {
  std::vector<std::string> options = run ? optionsOf(*run) : std::vector<std::string>();
  isRepeatable = true;
  std::ranges::copy(optionsOf(session), std::back_inserter(options));
  std::ranges::copy_if(options, std::back_inserter(chosen), [&](const std::string &option) {
    return std::ranges::find(chosen, option) == chosen.end();
  });
}

/// One command cannot say what differs between kernels; it chooses that again.
static std::vector<std::string> withoutDifferences(const std::vector<std::string> &options) {
  const auto nameIn = [](std::string_view option) { return option.substr(0, option.rfind('=')); };
  std::map<std::string_view, size_t> numOf;
  for (const std::string &option : options) {
    ++numOf[nameIn(option)];
  }
  std::vector<std::string> alike;
  std::ranges::copy_if(options, std::back_inserter(alike),
                       [&](const std::string &option) { return numOf[nameIn(option)] == 1; });
  return alike;
}

Exit Result::print(Exit status) {
  endList();
  if (isRepeatable) {
    const std::string command = commandLineWith(withoutDifferences(chosen));
    addMembers({{"command", command}});
    text += againText(command);
  }
  json += "\n}\n";
  release();
  printFrom(0);
  return isWritten ? status : Exit::Undecided;
}

std::string machineText(const Session &session) {
  const std::string &reason = session.machineReason();
  return fmt::format("machine '{}'{}", session.machine().name,
                     reason.empty() ? "" : fmt::format(" (not given: {})", reason));
}

std::string subjectText(const Kernel &kernel, const Code &code, const Session &session) {
  std::string_view reason = session.strategyReason(code.strategy);
  return fmt::format(
      "kernel '{}', strategy '{}'{}, {}", kernel.text(kernel.name), toString(code.strategy),
      reason.empty() ? "" : fmt::format(" (not given: {})", reason), machineText(session));
}

Json subjectJson(const Kernel &kernel, const Code &code, const Session &session) {
  Json object = {{"kernel", kernel.text(kernel.name)},
                 {"strategy", toString(code.strategy)},
                 {"machine", session.machine().name}};
  object.update(reasonsJson(code, session));
  return object;
}

Json reasonsJson(const Code &code, const Session &session) {
  Json object = Json::object();
  if (std::string_view reason = session.strategyReason(code.strategy); !reason.empty()) {
    object["strategy_not_given"] = reason;
  }
  if (!session.machineReason().empty()) {
    object["machine_not_given"] = session.machineReason();
  }
  return object;
}

std::string valuesText(const BoundRun &run) {
  std::vector<std::string> trips = run.given;
  for (const std::string &chosen : run.chosen) {
    trips.push_back(chosen + " (not given)");
  }
  std::string text = trips.empty() ? "" : fmt::format("trips: {}\n", fmt::join(trips, "; "));
  if (run.guards) {
    text += fmt::format("guards: seed {}{}\n", *run.guards, run.guardsGiven ? "" : " (not given)");
  }
  return text;
}

Json valuesJson(const BoundRun &run) {
  Json object = {{"trips", run.given}, {"trips_not_given", run.chosen}};
  if (run.guards) {
    object["guards"] = *run.guards;
    object["guards_given"] = run.guardsGiven;
  }
  return object;
}

} // namespace tally::tool
