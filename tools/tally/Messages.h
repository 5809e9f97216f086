//===- Messages.h - What a command says apart from its result -------------===//
//
// Messages go to stderr, as text in clang's style. With --diagnostics=json each is one JSON object
// on a line of its own (docs/guide/json/Messages.md), so that a program can read them while a
// command runs.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_TOOLS_TALLY_MESSAGES_H
#define TALLY_TOOLS_TALLY_MESSAGES_H

#include "tally/Support/Diagnostics.h"

#include <string>
#include <string_view>
#include <vector>

namespace tally::tool {

/// A text for stdout, with colours where that is a terminal and has messages in it.
std::string asOnStdout(std::string text);

/// How messages are written from now on.
void setMessagesAsJson(bool json);

bool messagesAsJson();

/// From now on, only errors and warnings: no remarks, no notes of their own, no progress.
void setQuiet(bool quiet);

/// Whether messages of this severity are left out.
bool isHidden(Severity severity);

/// An error that has no place in an input. If it is about a file, `file` is its place; the message
/// names it, too.
void complain(std::string_view message, std::string_view file = "");

/// Where another file names `file`: from now on, errors about the whole of it stand there.
void setNamedAt(const std::string &file, const std::string &by, Location where);

/// What is worth knowing, and no mistake.
void tellNote(std::string_view message);

/// What is being done, for those who wait.
void tellProgress(std::string_view message);

/// What was found; places refer to `files`.
void tell(const Diagnostic &diagnostic, const std::vector<std::string> &files);
void tell(const Diagnostics &diagnostics, const std::vector<std::string> &files);

/// The lines that another program has printed.
void tellLines(std::string_view text);

} // namespace tally::tool

#endif // TALLY_TOOLS_TALLY_MESSAGES_H
