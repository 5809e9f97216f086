//===- Program.cpp - What `tally` and `tally-fuzz` do as programs ---------===//

#include "Program.h"

#include "Interrupt.h"
#include "Options.h"
#include "Session.h"

#include <fmt/format.h>

#include <csignal>
#include <fcntl.h>
#include <unistd.h>

namespace tally::tool {

/// A file that is opened later must not take the place of a stream that was closed: results would
/// go into it. What is read from or written to such a stream fails.
static void occupyStreams() {
  for (int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) == -1) {
      open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY); // takes the lowest number
    }
  }
}

int runProgram(CLI::App &app, int argc, char **argv, const int &status) {
  occupyStreams();
  for (int ofWriting : {SIGPIPE, SIGXFSZ}) {
    std::signal(ofWriting, SIG_IGN); // writing says what went wrong
  }
  endOnSignals();
  app.set_version_flag("--version", app.get_name() + " " TALLY_VERSION " (MLIR 22)");
  finishOptions(app);
  readDiagnosticsOption(argc, argv);
  if (!noneIsEmpty(argc, argv)) {
    return Exit::Undecided;
  }
  try {
    app.parse(argc, argv);
  } catch (const Ended &ended) {
    return ended.status;
  } catch (const CLI::CallForHelp &) {
    return writeOutput("-", app.help()) ? Exit::Yes : Exit::Undecided;
  } catch (const CLI::Success &version) {
    return writeOutput("-", fmt::format("{}\n", version.what())) ? Exit::Yes : Exit::Undecided;
  } catch (const CLI::ParseError &error) {
    tellOptionError(app, error);
    return Exit::Undecided;
  }
  return status;
}

} // namespace tally::tool
