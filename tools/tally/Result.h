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

  /// Further members of the document, after its list.
  void set(const Json &members);

  /// What was chosen for this kernel, as options of the command that finds the same again.
  void repeatWith(const Session &session, const BoundRun *run = nullptr);

  /// The command finds the same again as it was typed.
  void repeatAsTyped() { isRepeatable = true; }

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
  std::vector<std::string> chosen; ///< options that repeat it, where they were not given
  bool isRepeatable = false;       ///< by a command that says what was chosen
};

/// `machine 'teaching' (not given: trn2 has no engine 'act')`
std::string machineText(const Session &session);

/// `kernel 'k', strategy 'per-loop', machine 'trn2'`, and the same in JSON.
std::string subjectText(const Kernel &kernel, const Code &code, const Session &session);
Json subjectJson(const Kernel &kernel, const Code &code, const Session &session);

/// Why strategy and machine are as they are, where they were not given.
Json reasonsJson(const Code &code, const Session &session);

/// The command that repeats what was found, or a run, whatever was chosen for it.
std::string commandOf(const Session &session);
std::string commandOf(const Session &session, const BoundRun &run);

/// The last line of a text: `again: tally deps k.mlir --machine=teaching`.
std::string againText(std::string_view command);

/// `trips: A=64, n=16 (not given)` and `guards: seed 0 (not given)`, each a line.
std::string valuesText(const BoundRun &run);
Json valuesJson(const BoundRun &run);

} // namespace tally::tool

#endif // TALLY_TOOLS_TALLY_RESULT_H
