//===- CheckCommand.h - The parts of tally check --------------------------===//
//
//   CheckSubject.cpp   which code is checked against which kernel
//   CheckExplore.cpp   every interleaving of small instances
//   CheckRace.cpp      schedules of any length
//   CheckRuns.cpp      which runs these were, and what none of them did
//   CheckReplay.cpp    schedules as files: writing one, performing one
//   CheckCommand.cpp   the command line, and the answer to all that was asked (CheckAnswer.h)
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_TOOLS_TALLY_CHECKCOMMAND_H
#define TALLY_TOOLS_TALLY_CHECKCOMMAND_H

#include "Session.h"
#include "tally/Support/Stop.h"

#include "tally/Check/Explore.h"
#include "tally/Check/Touches.h"

namespace tally::tool {

/// The command line.
struct CheckOptions {
  CommonOptions common;
  bool asksWritten = false; ///< code is held to what accesses ask for, even if it is compiled

  bool explore = false, race = false;
  std::string replay;

  RunOptions values;
  uint64_t maxTrips = 2;
  bool distances = true;
  bool maxTripsGiven = false, distancesGiven = false;

  std::string reduction = "full";
  bool hashes = false;
  uint64_t maxStates = 0;    ///< 0: by mode
  uint64_t maxMemory = 4096; ///< MiB
  uint32_t inFlight = 0;     ///< 0: by mode
  uint32_t schedules = 100;
  double seconds = 0; ///< 0: by mode
  uint64_t seed = 1;

  std::string witness;
  bool all = false; ///< reports with the cause of another are told, too
  std::string format = "text";
  const StopFlag *stop = nullptr;

  /// Neither mode was named: both are asked, each within limits.
  bool asksBoth() const { return explore == race; }

  bool asksExplore() const { return explore || !race; }

  bool asksRace() const { return race || !explore; }

  /// The arguments; `codeHelp` says what the second one is.
  void addInput(CLI::App &command, const std::string &codeHelp, bool needsKernel = true);

  /// Code that is given in a file is not made again.
  void refuseIdleStrategy(CLI::App &command);
};

/// What --explore holds code to, if that is not the kernel's own dependences: of hand-written code
/// those that follow from its accesses; where some are written, these, and what accesses ask for
/// and they do not imply. --race compares the accesses themselves.
struct Asked {
  std::optional<Kernel> kernel; ///< with these dependences
  std::vector<DepId> loose;     ///< those that wait for more than is known to be needed
  std::string notAsked;         ///< why the code cannot be held to what accesses ask for
};

/// A kernel and the code to be checked against it.
struct Subject {
  Kernel kernel;
  Code code;
  IdVector<InstrId, bool> mayOverwait;
  bool exact = false;      ///< the strategy promises to wait no longer than asked
  uint32_t numInexact = 0; ///< dependences that wait longer all the same
  bool resets = false;     ///< ... and resets counters on the way, where all engines are held up
  bool isWritten = false;  ///< the code was read, not compiled here
  bool depsFound = false;  ///< the kernel's dependences follow from its accesses
  Asked asked;

  /// Whether all that it is held to follows from accesses: none of it is written.
  bool dependsOnAccesses() const { return depsFound || kernel.deps.empty(); }

  const Kernel &heldTo() const { return asked.kernel ? *asked.kernel : kernel; }

  bool isLoose(DepId dep) const {
    return dep.valid() && std::ranges::find(asked.loose, dep) != asked.loose.end();
  }

  /// Whether accesses ask for a dependence, and others that are written do not imply it.
  bool isBesides(DepId dep) const {
    return !depsFound && !kernel.deps.empty() && dep.value >= kernel.deps.size();
  }
};

/// The kernels with the code of each: what is written, or compiled. None, with the reasons
/// reported, if one has none.
std::optional<std::vector<Subject>> makeSubjects(std::vector<LoadedKernel> kernels,
                                                 const CheckOptions &options, Session &session);

/// What the user binds of a kernel; the rest is chosen.
struct Given {
  Bindings bindings;
  std::string text;      ///< `--trips=A=64`; empty: nothing
  bool isOneRun = false; ///< nothing is left to choose

  /// Whether a dependence asks for anything in some run with these.
  bool mayAsk(const Kernel &kernel, DepId dep) const;
};

/// A schedule that shows what was found.
struct Fault {
  std::vector<Step> steps;
  std::vector<std::string> trips; ///< as given to --trips
  uint64_t guards = 0;
  uint32_t inFlight = 0;
  std::string message;
};

/// The options that say how code is compiled and are not as they are without being given.
std::vector<std::string> compileFlags(const CommonOptions &common);

/// Writes one schedule; `number` counts those of a run of the command, from 1.
void writeWitness(const CheckOptions &options, const Session &session, const Subject &subject,
                  const Fault &fault, uint32_t number);

/// Performs the schedule of --replay. The exit status.
Exit replaySchedule(const CheckOptions &given);

} // namespace tally::tool

#endif // TALLY_TOOLS_TALLY_CHECKCOMMAND_H
