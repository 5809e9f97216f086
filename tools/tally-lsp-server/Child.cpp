//===- Child.cpp - Work in a process of its own, with limits --------------===//

#include "Child.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tally::server {
namespace {

void setLimit(int resource, rlim_t value) {
  rlimit limit{value, value};
  setrlimit(static_cast<decltype(RLIMIT_CPU)>(resource), &limit);
}

/// The streams of the server belong to the editor.
void leaveStreams() {
  int nowhere = open("/dev/null", O_RDWR);
  for (int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    dup2(nowhere, stream);
  }
}

void writeAll(int out, std::string_view text) {
  while (!text.empty()) {
    ssize_t written = write(out, text.data(), text.size());
    if (written < 0 && errno != EINTR) {
      _exit(1);
    }
    text.remove_prefix(written > 0 ? static_cast<size_t>(written) : 0);
  }
}

[[noreturn]] void work(const ChildWork &work, const ChildLimits &limits, int out) {
  for (int fatal : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGXCPU, SIGPIPE}) {
    std::signal(fatal, SIG_DFL);
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  leaveStreams();
  setLimit(RLIMIT_CORE, 0);
  setLimit(RLIMIT_CPU, limits.seconds);
  work([out](std::string_view line) {
    writeAll(out, line);
    writeAll(out, "\n");
  });
  _exit(0);
}

enum class Read { More, End, OutOfTime, Interrupted };

/// Waits for more, and appends it.
Read readSome(int from, int watched, int milliseconds, std::string &lines) {
  pollfd ready[] = {{from, POLLIN, 0}, {watched, POLLIN, 0}};
  int count = poll(ready, watched < 0 ? 1 : 2, milliseconds);
  if (count == 0) {
    return Read::OutOfTime;
  }
  if (count > 0 && watched >= 0 && ready[1].revents != 0) {
    return Read::Interrupted;
  }
  char buffer[1 << 16];
  ssize_t size = count < 0 ? -1 : read(from, buffer, sizeof buffer);
  if (size < 0) {
    return errno == EINTR ? Read::More : Read::End;
  }
  lines.append(buffer, static_cast<size_t>(size));
  return size == 0 ? Read::End : Read::More;
}

Read readAll(int from, const ChildLimits &limits, std::string &lines) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point end = Clock::now() + std::chrono::seconds(limits.waiting);
  Read last = Read::More;
  while (last == Read::More) {
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    last =
        left <= 0 ? Read::OutOfTime : readSome(from, limits.watched, static_cast<int>(left), lines);
  }
  return last;
}

int statusOf(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

ChildEnd endOf(Read last, int status) {
  if (last == Read::Interrupted || last == Read::OutOfTime) {
    return last == Read::Interrupted ? ChildEnd::Interrupted : ChildEnd::Waited;
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
    return ChildEnd::Done;
  }
  bool isOutOfTime =
      WIFSIGNALED(status) && (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL);
  return isOutOfTime ? ChildEnd::OutOfTime : ChildEnd::Crashed;
}

} // namespace

ChildEnd runInChild(const ChildWork &what, const ChildLimits &limits, std::string &lines) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    return ChildEnd::NotStarted;
  }
  pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    work(what, limits, ends[1]);
  }
  close(ends[1]);
  Read last = child < 0 ? Read::End : readAll(ends[0], limits, lines);
  close(ends[0]);
  if (child < 0) {
    return ChildEnd::NotStarted;
  }
  if (last != Read::End) {
    kill(child, SIGKILL);
  }
  return endOf(last, statusOf(child));
}

} // namespace tally::server
