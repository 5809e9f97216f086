//===- main.cpp - The `tally` command -------------------------------------===//

#include "Interrupt.h"
#include "Messages.h"
#include "Options.h"
#include "Session.h"

#include <fmt/format.h>

#include <csignal>
#include <fcntl.h>
#include <unistd.h>

using namespace tally::tool;

static constexpr const char *examples = R"(Examples:
  tally compile k.mlir                          code for every engine, one semaphore per loop and queue
  tally compile k.mlir --listing                the same, as a person reads it
  tally compile k.mlir --sync=barrier -o b.mlir the baseline, into a file
  tally compile k.json --format=json            from JSON to JSON, for compilers without MLIR
  tally plan k.mlir                             which semaphores, and one line per dependence
  tally deps k.mlir                             which dependences follow from its accesses
  tally explain k.mlir --instr=load             every wait of one instruction, and why its value
  tally compare k.mlir                          size, registers and semaphores of each strategy
  tally check k.mlir                            does the code wait long enough, and no longer?
  tally sim k.mlir --trips=A=64                 how long it takes on a machine, and why
  tally report k.mlir --trips=A=64 -o k.html    the same as a page: timelines of several strategies
  tally bench --size=paper                      what each strategy costs on nine kernels
  tally kernels list                            kernels to try all this on
  tally machine check mine.json                 is this description of a machine good, and what for?
  tally fuzz --minutes=1                        does tally itself hold on random kernels?

Exit status, of every command:
  0  done; the answer is yes
  1  the answer is no: code is wrong, data differ, a run is stuck or leaves a buffer, a description
     is not well formed; of commands that ask a question only, and whatever else was not decided
  2  there is no answer: wrong input or wrong use, a limit was reached, it could not be decided)";

/// A file that is opened later must not take the place of a stream that was closed: results would
/// go into it. What is read from or written to such a stream fails.
static void occupyStreams() {
  for (int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) == -1) {
      open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY); // takes the lowest number
    }
  }
}

int main(int argc, char **argv) {
  occupyStreams();
  for (int ofWriting : {SIGPIPE, SIGXFSZ}) {
    std::signal(ofWriting, SIG_IGN); // writing says what went wrong
  }
  endOnSignals();
  CLI::App app{"tally: exact, barrier-free synchronisation of accelerator engines"};
  app.set_version_flag("--version", "tally " TALLY_VERSION " (MLIR 22)");
  app.require_subcommand(1);
  app.footer(examples);
  int status = Exit::Yes;
  addCompile(app, status);
  addPlan(app, status);
  addDeps(app, status);
  addExplain(app, status);
  addCompare(app, status);
  addFuzz(app, status);
  addCheck(app, status);
  addSim(app, status);
  addReport(app, status);
  addBench(app, status);
  addKernels(app, status);
  addMachine(app, status);
  finishOptions(app);
  readDiagnosticsOption(argc, argv);
  if (!noneIsEmpty(argc, argv)) {
    return Exit::Undecided;
  }
  try {
    app.parse(argc, argv);
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
