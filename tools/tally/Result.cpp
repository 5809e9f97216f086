//===- Result.cpp - What a command has found ------------------------------===//

#include "Result.h"

#include <fmt/format.h>

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
    isWritten = writeOutput("-", made);
    made.clear();
  }
}

Exit Result::print(Exit status) {
  endList();
  json += "\n}\n";
  release();
  printFrom(0);
  return isWritten ? status : Exit::Undecided;
}

std::string subjectText(const Kernel &kernel, const Code &code, const Machine &machine) {
  return fmt::format("kernel '{}', strategy '{}', machine '{}'", kernel.text(kernel.name),
                     toString(code.strategy), machine.name);
}

Json subjectJson(const Kernel &kernel, const Code &code, const Machine &machine) {
  return {{"kernel", kernel.text(kernel.name)},
          {"strategy", toString(code.strategy)},
          {"machine", machine.name}};
}

} // namespace tally::tool
