//===- Report.h - Runs of one kernel, side by side, on a page -------------===//
//
// The timelines of one kernel under several strategies, aligned on one time axis, as a
// picture (SVG) or as a page (HTML) that holds the picture and the numbers. Both are whole in
// themselves: no network, no other file. Without scripts the page is a static picture; with them
// one can zoom, pan, search, and ask each piece what it is. Both show a run of any length as a
// whole, and as much detail as there is room for.
//
// Every stall has the colour of what was waited for. The same inputs give the same bytes.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_REPORT_REPORT_H
#define TALLY_REPORT_REPORT_H

#include "tally/Report/Timeline.h"
#include "tally/Sim/Bounds.h"

#include <optional>

namespace tally {

/// What would make a run shorter, or what binds it, as found by trying.
struct ReportAdvice {
  struct Row {
    Tick total = 0; ///< of a run with it
    std::string what;
  };

  struct List {
    std::string title;
    std::vector<Row> rows;
  };

  std::string strategy; ///< of the code that it is about
  Tick total = 0;       ///< of a run as it is
  std::vector<List> lists;
};

/// The kernels of the timelines have the same engines, loops and instructions. Each has its own
/// dependences: those of one may have been found, of another written.
struct Report {
  std::string machine;
  std::vector<Timeline> timelines; ///< at least one; the first is what the others are compared with
  Tick from = 0;                   ///< of the picture
  Tick until = UINT64_MAX; ///< of the picture, at most; numbers and overviews are of whole runs
  std::vector<std::string> leftOut =
      {};                         ///< strategies that cannot do the kernel, and why, as sentences
  std::string machineReason = ""; ///< why this machine, where none was named
  std::string conditions = "";    ///< trips and seeds, a line each
  std::string command = "";       ///< that makes this page
  InstrCosts costs = {};          ///< for the use of the bandwidth; empty: not said
  std::vector<Parameter> parameters = {}; ///< of the machine, to show
  TimeBounds bounds = {};                 ///< of the kernel, as far as they are known
  std::optional<ReportAdvice> advice = {};

  /// For what is the same in all.
  const Kernel &kernel() const { return *timelines.front().kernel; }
};

/// The part of time that the picture shows: what was asked for, as far as runs reach.
struct Span {
  Tick from = 0;
  Tick until = 0;
};

Span shownSpan(const Report &report);

/// Under what the runs are, and the command that makes the same again; a line each.
std::string conditionsOf(const Report &report);

/// What sequencers waited for, and how long in each run, all engines together.
struct Cause {
  enum class Kind : uint8_t { Dependence, Semaphore, Barrier, Drain, QueueFull };
  Kind kind = Kind::Dependence;
  std::string text;       ///< `'load' -> 'use'`; of a wait without reasons, its semaphore
  std::vector<Tick> span; ///< by timeline
};

/// The longest first; draining and full queues last.
std::vector<Cause> causesOf(const Report &report);

std::string reportHtml(const Report &report);
std::string reportSvg(const Report &report);

} // namespace tally

#endif // TALLY_REPORT_REPORT_H
