//===- Schedule.h - A run, written down -----------------------------------===//
//
// A file that says how to see something again: which kernel, code, machine and trips, and every
// step. `tally check` writes one for each fault it finds (--witness) and performs it (--replay).
//
//   {"schema": "tally-schedule", "version": 1,
//    "kernel": {"file": "k.mlir", "name": "pipe"}, "code": null,
//    "strategy": "per-loop", "machine": "generic", "options": ["--no-fold"],
//    "trips": ["A=3"], "guards": 0, "in_flight": 4, "shows": "race: ...",
//    "steps": [["control","act"], ["issue","act"], ["commit","act",0], ["retire","act"]]}
//
// It is read by its list of fields, as kernels and code are. A step names its engine (control) or
// its queue (all others): the first queue of an engine has the engine's name.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_CHECK_SCHEDULE_H
#define TALLY_CHECK_SCHEDULE_H

#include "tally/Check/Step.h"
#include "tally/Written/Fields.h"

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

/// A text of the file, which may turn out to be wrong later.
struct PlacedText {
  std::string text;
  Location where = {}; ///< in the file, if it was read
};

struct ScheduleKernel {
  PlacedText file;
  PlacedText name;

  static constexpr auto fields =
      std::tuple(written::field("file", &ScheduleKernel::file, {.neededInJson = true}),
                 written::field("name", &ScheduleKernel::name, {.neededInJson = true}));
};

struct ScheduleFile {
  ScheduleKernel kernel;
  std::optional<PlacedText> code;     ///< none: it stands next to the kernel, or is compiled
  std::optional<PlacedText> strategy; ///< how to compile; none: the code is as written
  std::vector<PlacedText> options;   ///< further options of the compilation, as on the command line
  std::optional<PlacedText> machine; ///< none: that of the code
  std::vector<PlacedText> trips;     ///< as given to --trips
  uint64_t guards = 0;
  std::vector<PlacedText> rules; ///< of earlier versions; only tests ever had one
  uint64_t inFlight = 4;
  std::string shows; ///< what is to be seen, for people
  std::vector<NamedStep> steps;

  static constexpr auto fields =
      std::tuple(written::field("kernel", &ScheduleFile::kernel, {.neededInJson = true}),
                 written::field("code", &ScheduleFile::code, {.mayBeNull = true}),
                 written::field("strategy", &ScheduleFile::strategy, {.mayBeNull = true}),
                 written::field("options", &ScheduleFile::options, {.neededInJson = true}),
                 written::field("machine", &ScheduleFile::machine, {.mayBeNull = true}),
                 written::field("trips", &ScheduleFile::trips, {.neededInJson = true}),
                 written::field("guards", &ScheduleFile::guards, {.neededInJson = true}),
                 written::field("rules", &ScheduleFile::rules),
                 written::field("in_flight", &ScheduleFile::inFlight,
                                {.neededInJson = true, .min = 1, .max = 64}),
                 written::field("shows", &ScheduleFile::shows, {.neededInJson = true}),
                 written::field("steps", &ScheduleFile::steps, {.neededInJson = true}));
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
