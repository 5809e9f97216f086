//===- SimData.h - The numbers of a simulated run -------------------------===//
#ifndef TALLY_TOOLS_TALLY_SIMDATA_H
#define TALLY_TOOLS_TALLY_SIMDATA_H

#include "Output.h"
#include "Session.h"

#include "tally/Data/Memory.h"

namespace tally::tool {

/// Options of commands that follow the data of a run.
struct DataOptions {
  bool follow = false;
  bool check = false;
  std::string inputs;              ///< folder of files NAME.npy; empty: none
  std::string outputs;             ///< likewise
  std::vector<std::string> random; ///< buffers that hold random numbers
  uint64_t seed = 1;

  void add(CLI::App &command);

  bool wanted() const {
    return follow || check || !inputs.empty() || !outputs.empty() || !random.empty();
  }
};

struct DataReport {
  std::string text;
  Json json;
  Exit status = Exit::Yes; ///< no: a fault, or a difference if that was asked
};

/// What comes of these commits.
DataReport followData(Session &session, const Kernel &kernel, const Bindings &bindings,
                      const std::vector<Instance> &commits, const DataOptions &options);

/// Reads NAME.npy of each buffer that has such a file. False, with all reasons reported, if one is
/// wrong.
bool readBuffers(const Kernel &kernel, Memory &memory, const std::string &folder);

/// Writes NAME.npy for each buffer that is not all poison.
void writeBuffers(const Kernel &kernel, const Memory &memory, const std::string &folder);

} // namespace tally::tool

#endif // TALLY_TOOLS_TALLY_SIMDATA_H
