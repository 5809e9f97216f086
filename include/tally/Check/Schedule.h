//===- Schedule.h - A run, written down -----------------------------------===//
//
// A file that says how to see something again: which kernel, code, machine and trips, and every
// step. `tally check` writes one for each fault it finds (--witness) and performs it (--replay).
//
//   {"schema": "tally-schedule", "version": 1,
//    "kernel": {"file": "k.mlir", "name": "pipe"}, "code": null,
//    "strategy": "per-loop", "machine": "generic", "options": ["--no-fold"],
//    "trips": ["A=3"], "guards": 0, "rules": [], "in_flight": 4, "shows": "race: ...",
//    "steps": [["control","act"], ["issue","act"], ["commit","act",0], ["retire","act"]]}
//
// A step names its engine (control) or its queue (all others): the first queue of an engine has the
// engine's name.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_CHECK_SCHEDULE_H
#define TALLY_CHECK_SCHEDULE_H

#include "tally/Check/Step.h"

#include <optional>

namespace tally {

/// A step by name, as in the file.
struct NamedStep {
  StepKind kind = StepKind::Control;
  std::string name; ///< of the engine (Control) or queue
  uint32_t index = 0;
  Location where = {}; ///< in the file, if it was read

  bool operator==(const NamedStep &other) const {
    return kind == other.kind && name == other.name && index == other.index;
  }
};

struct ScheduleFile {
  std::string kernelFile;
  std::string kernelName;
  std::string codeFile;             ///< empty: the code stands beside the kernel, or is compiled
  std::string strategy;             ///< how to compile; empty: the code is as written
  std::vector<std::string> options; ///< further options of the compilation, as on the command line
  Location optionsAt;               ///< in the file, if it was read
  std::string machine;              ///< empty: that of the code
  std::vector<std::string> trips;   ///< as given to --trips
  uint64_t guards = 0;
  uint32_t inFlight = 4;
  std::string shows; ///< what is to be seen, for people
  std::vector<NamedStep> steps;
};

std::vector<NamedStep> nameSteps(const Kernel &kernel, const std::vector<Step> &steps);

/// The steps by id; reports names that the kernel does not have.
std::vector<Step> resolveSteps(const Kernel &kernel, const std::vector<NamedStep> &steps,
                               Diagnostics &diagnostics);

std::string writeScheduleFile(const ScheduleFile &schedule);

/// Reads the JSON text of a schedule, which is file 0 of what is reported.
std::optional<ScheduleFile> readScheduleFile(std::string_view text, Diagnostics &diagnostics);

} // namespace tally

#endif // TALLY_CHECK_SCHEDULE_H
