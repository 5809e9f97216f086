//===- Result.h - What a command has found --------------------------------===//
//
// A command finds one thing after the other. Each is rendered at once, as text or as a part of one
// JSON document, whichever is asked for; so a large result is held once, or not at all.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_TOOLS_TALLY_RESULT_H
#define TALLY_TOOLS_TALLY_RESULT_H

#include "Session.h"
#include "Table.h"

namespace tally::tool {

class Result {
public:
  /// `format`: text or json. The document has the schema, its version, and `list` unless that is
  /// "".
  Result(std::string_view format, std::string_view schema, int version,
         const std::string &list = "");

  /// Nothing can go wrong any more: what is found from now on is printed soon.
  void release() { isReleased = true; }

  /// An empty line between the texts of two kernels.
  void part();

  /// The next object of the list, and its text.
  void add(std::string_view itsText, const Json &object);

  /// Further members of the object that was added last; without a list, of the document.
  void addMembers(const Json &members);

  /// A table as such a member. Text has the first rows of it.
  void addTable(std::string_view key, std::string_view title, const Table &table,
                size_t mostRows = SIZE_MAX);

  /// Further members of the document, behind its list.
  void set(const Json &members);

  /// Prints the rest. The status; Undecided if it cannot be written.
  Exit print(Exit status = Exit::Yes);

  std::string text;

private:
  std::string &beginMember(std::string_view key);
  void endObject();
  void endList();
  void printFrom(size_t least);

  bool isJson;
  bool isReleased = false;
  bool isWritten = true;
  bool hasParts = false;
  std::string json;
  bool isInList;
  bool isInObject = false;
  size_t numObjects = 0;
};

/// `kernel 'k', strategy 'per-loop', machine 'trn2'`, and the same in JSON.
std::string subjectText(const Kernel &kernel, const Code &code, const Machine &machine);
Json subjectJson(const Kernel &kernel, const Code &code, const Machine &machine);

} // namespace tally::tool

#endif // TALLY_TOOLS_TALLY_RESULT_H
