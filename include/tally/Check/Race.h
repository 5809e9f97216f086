//===- Race.h - Races and deadlocks on executed schedules -----------------===//
//
// "Is this code right?", for code from anywhere: compiled, or written by hand, with or without a
// plan of it. Runs the code of all engines through many schedules and reports
//
//   race        two instructions touch the same memory, one of them writes, and nothing makes
//               one wait for the other
//   unordered   a dependence that the kernel asks for is not waited for
//   deadlock    no engine can go on: which waits for what, and what could still raise it. Not where
//               the dependences themselves let no engine go on: that is not a fault of the code
//   reset       a semaphore is set to zero while others may still count on it
//   wrap        a semaphore goes past the largest number it can hold
//   over-wait   a wait that asks for more than any access or dependence after it does
//   stale       ... because its register still holds what another wait left there
//   outside     a tile leaves its buffer, where no access is compared with it
//
// Accesses count if the kernel has any, dependences always. What must come before what is decided
// by vector clocks (HappensBefore.h), so a race is found even in schedules in which it did no
// harm.
//
// Verdict: *no* if a report says error. Otherwise *yes* if all schedules are known to have the same
// order, for the given trips: from one of them (HappensBefore.h says when, and why), or by holding
// back each queue in turn (MustOrder.h). Otherwise *could not decide*, whatever the number of
// schedules. Two accumulations by one queue do not race.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_CHECK_RACE_H
#define TALLY_CHECK_RACE_H

#include "tally/Check/Impl.h"
#include "tally/Check/Verdict.h"
#include "tally/Support/Stop.h"

#include <functional>
#include <optional>

namespace tally {

enum class ReportKind : uint8_t {
  Race,
  Unordered,
  Deadlock,
  Reset,
  Wrap,
  OverWait,
  Stale,
  Outside
};

std::string_view toString(ReportKind kind);

/// A wait that never passes.
struct StuckWait {
  EngineId engine;
  uint32_t op = 0; ///< index into the operations of the engine
  SemaId sema;
  uint64_t value = 0;     ///< what the semaphore holds
  uint64_t threshold = 0; ///< ... and would have to hold
};

/// A change of the code that was tried and helps; see Causes.h.
struct Mend {
  std::string kind; ///< `wait`, `raise`, ...; see Mends.h
  std::string text; ///< `let 'load' on 'dma' wait for 'free' >= "r" + 1`
};

/// One thing that was found, and how to see it again.
struct RaceReport {
  ReportKind kind = ReportKind::Race;
  InstrId producer, consumer; ///< Race, Unordered
  std::vector<StuckWait>
      stuck;          ///< Deadlock: those that wait for each other; one that is not helped
  uint64_t count = 1; ///< how often in the schedule
  Diagnostic text;    ///< an error, or a warning that leaves the verdict open
  /// The same by name, for programs: {"first", "load"}, {"first_iteration", "A=2"}, ...
  std::vector<std::pair<std::string, std::string>> facts;
  std::string schedule;    ///< the schedule in which it was seen first
  std::vector<Step> steps; ///< a schedule that shows it
  uint32_t cause = 0;      ///< numbered from 1; 0: not looked for (Causes.h)
  bool isFolded = false;   ///< another report of this cause is the first
  std::optional<Mend> mend;
};

/// What a report is about; equal for the same two operations, whatever the trips.
std::string keyOf(const RaceReport &report);

struct RaceOptions {
  uint32_t inFlight = maxInFlight; ///< instructions that a queue holds
  uint32_t schedules = 100;
  double seconds = 10; ///< stop after this time, with what was found
  uint64_t seed = 1;
  uint64_t maxOperations = 20'000'000;
  uint32_t maxReports = 40; ///< errors; and as many warnings
  /// Reports say only what they are about, with no schedule; nothing is said of waits that are
  /// longer than they must be.
  bool isBrief = false;
  /// Called now and then with the number of schedules and steps so far.
  std::function<void(uint64_t, uint64_t)> progress;
  const StopFlag *stop = nullptr;
};

struct RaceResult {
  Verdict verdict = Verdict::Undecided;
  std::string reason; ///< why this verdict, in a line
  uint32_t schedules = 0;
  uint64_t steps = 0;
  bool oneDecides = false;    ///< what was run stands for all schedules
  bool heldBack = false;      ///< ... since queues were held back: the schedule alone would not
  bool stuckTogether = false; ///< some run ended where the dependences themselves let none go on
  bool timeIsUp = false;
  bool isStopped = false;           ///< by the flag
  std::vector<uint32_t> issued;     ///< by queue: instructions, in the first schedule
  std::vector<EngineId> blocked;    ///< at the end of the first schedule
  IdVector<InstrId, bool> hasRun;   ///< by instruction: in some schedule
  IdVector<AccessId, bool> touched; ///< by access: some run that has happened touches its tile
  std::vector<RaceReport> reports;  ///< errors first
};

/// For a kernel that check() accepts and code that verifyCode() accepts.
RaceResult checkRaces(const Kernel &kernel, const Code &code, const Machine &machine,
                      const Bindings &bindings, const RaceOptions &options = {});

/// What the steps of one schedule show: the same reports, about this schedule alone. Steps that
/// cannot be performed end it; how many were is returned in `performed`.
RaceResult checkSchedule(const Kernel &kernel, const Code &code, const Machine &machine,
                         const Bindings &bindings, const std::vector<Step> &steps,
                         const RaceOptions &options, size_t &performed);

/// In clang's style.
std::string render(const RaceResult &result, const std::vector<std::string> &files);

/// One JSON object; see docs/guide/json/Check.md.
std::string toJson(const RaceResult &result, const std::vector<std::string> &files);

} // namespace tally

#endif // TALLY_CHECK_RACE_H
