//===- Program.h - What `tally` and `tally-fuzz` do as programs -----------===//
#ifndef TALLY_TOOLS_TALLY_PROGRAM_H
#define TALLY_TOOLS_TALLY_PROGRAM_H

namespace CLI {
class App;
} // namespace CLI

namespace tally::tool {

/// Reads the command line of an app that has its name and all its options, and does what it says;
/// the callbacks of the app set `status`. The exit status of the program.
int runProgram(CLI::App &app, int argc, char **argv, const int &status);

} // namespace tally::tool

#endif // TALLY_TOOLS_TALLY_PROGRAM_H
