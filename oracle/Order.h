//===- Order.h - What each issue has surely waited for --------------------===//
//
// What code means to its instructions, for one run with trips bound, is an order: for
// each issue, how many instructions of each queue have retired before it, whatever the
// schedule. Everything else (which semaphore, which wait, computed how) is means to this end.
//
//   known(issue, queue) = max over  the issue before it on the same engine
//                                   the waits it passes: what they show directly
//                                   the issues of what these show to have retired
//
// Two programs with equal orders cannot be told apart by any schedule; so the order is the normal
// form of code for these trips. It is had from three sources that know nothing of one another:
//
//   definition   what the dependences ask for (Definition.h)
//   counting     code whose semaphores are only raised by instructions, each semaphore from one
//                in-order queue: a threshold then is a number of retirements
//   schedule     any code, barriers included, if one schedule decides (HappensBefore.h)
//
// Independent of  plans and lowering; the first two sources also of Check
// Shared          the interpreter of code (Run); the third source is the race check's own
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_ORACLE_ORDER_H
#define TALLY_ORACLE_ORDER_H

#include "oracle/Definition.h"

#include "tally/Code/Code.h"
#include "tally/Machine/Machine.h"

#include <string>
#include <string_view>

namespace tally::oracle {

struct IssueOrder {
  enum class State : uint8_t {
    Complete,
    Deadlock, ///< some engine never gets to its end; its rows end where it is stuck
    Unknown,  ///< too long, or not a program of the kind that was asked for
  };
  State state = State::Complete;
  uint32_t numQueues = 0;
  IdVector<EngineId, std::vector<InstrId>> issues; ///< in order
  /// For each issue a row of numQueues: retirements surely before it.
  IdVector<EngineId, std::vector<uint32_t>> known;

  bool operator==(const IssueOrder &other) const {
    return state == other.state && issues.raw() == other.issues.raw() &&
           known.raw() == other.known.raw();
  }
};

/// What the definition asks for. `definitions` by engine, as defineAll() gives them.
IssueOrder orderOfDefinition(const Kernel &kernel, const std::vector<Definition> &definitions);

/// The order of counting code; Unknown for other code.
IssueOrder orderOfCounting(const Kernel &kernel, const Code &code, const Machine &machine,
                           const Bindings &bindings);

/// The order of any code, read off one schedule; Unknown if one does not decide.
IssueOrder orderOfSchedule(const Kernel &kernel, const Code &code, const Machine &machine,
                           const Bindings &bindings);

/// The first of the two that is known.
IssueOrder orderOf(const Kernel &kernel, const Code &code, const Machine &machine,
                   const Bindings &bindings);

/// How code compares with what is asked for.
enum class Agreement : uint8_t {
  Exact, ///< every issue waits for just that
  Safe,  ///< some wait for more
  Wrong, ///< some issue comes too early, or an engine is stuck
};

std::string_view toString(Agreement agreement);

/// Both orders known, and `asked` complete.
Agreement compare(const IssueOrder &asked, const IssueOrder &program);

/// The first issue in which they differ, as text; empty if in none.
std::string difference(const Kernel &kernel, const IssueOrder &asked, const IssueOrder &program);

} // namespace tally::oracle

#endif // TALLY_ORACLE_ORDER_H
