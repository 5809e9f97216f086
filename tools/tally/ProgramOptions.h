//===- ProgramOptions.h - How programs for threads are made, as options ---===//
#ifndef TALLY_TOOLS_TALLY_PROGRAMOPTIONS_H
#define TALLY_TOOLS_TALLY_PROGRAMOPTIONS_H

#include "Options.h"

#include "tally/Exec/ProgramOptions.h"

namespace tally::tool {

inline void declareProgramOptions(CLI::App &command, ProgramOptions &options) {
  declare(command,
          {{"--first-count", options.firstCount,
            "what counters hold when a run begins; they pass the end of 32 bits where they come "
            "to it",
            integerIn(0, UINT32_MAX), told},
           {"--pauses", options.pauses,
            "threads pause at random before instructions, so that missing waits show soon"},
           {"--queue-threads", options.queueThreads,
            "the first queue of an engine has a thread, too: as on a machine, an engine goes on "
            "while it works"}});
}

} // namespace tally::tool

#endif // TALLY_TOOLS_TALLY_PROGRAMOPTIONS_H
