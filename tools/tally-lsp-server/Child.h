//===- Child.h - Work in a process of its own, with limits ----------------===//
//
// An editor sends whatever is being typed, and may do so for days. So what examines a document runs
// in a child process: it may take long, or a lot of memory, or even crash, and the server goes on
// with what the child has said so far.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LSP_SERVER_CHILD_H
#define TALLY_LSP_SERVER_CHILD_H

#include <functional>
#include <string>
#include <string_view>

namespace tally::server {

/// What a child does. `say` sends one line to the parent.
using ChildWork = std::function<void(const std::function<void(std::string_view line)> &say)>;

enum class ChildEnd {
  Done,
  OutOfTime,
  Waited,      ///< for longer than `waiting`
  Crashed,     ///< also where it ran out of memory
  NotStarted,  ///< there is no process for it
  Interrupted, ///< there is something to read from the watched descriptor
};

struct ChildLimits {
  unsigned seconds = 2;  ///< of processor time
  unsigned waiting = 20; ///< in all: the machine may be busy
  int watched = -1;      ///< a file descriptor; -1: none
};

/// Runs it, and appends its lines to `lines`.
ChildEnd runInChild(const ChildWork &work, const ChildLimits &limits, std::string &lines);

} // namespace tally::server

#endif // TALLY_LSP_SERVER_CHILD_H
