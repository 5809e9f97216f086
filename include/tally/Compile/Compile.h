//===- Compile.h - The whole way from kernel to code ----------------------===//
//
// One call for those who want code and not its making:
//
//   Diagnostics diagnostics;
//   Request request{.codeGrowth = 1.5};
//   auto compiled = compile(kernel, request, genericMachine(), diagnostics);
//   if (compiled) use(compiled->code);
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_COMPILE_COMPILE_H
#define TALLY_COMPILE_COMPILE_H

#include "tally/Compile/Decisions.h"
#include "tally/Compile/Search.h"

#include <optional>
#include <string>
#include <string_view>

namespace tally {

struct Compiled {
  SyncPlan plan; ///< empty for Strategy::Manual
  Code code;
  LowerDecisions lowering; ///< with which the code follows from the plan
  Search search;           ///< of Strategy::Auto; empty for all others
};

/// Checks, plans, lowers, and verifies each result. Nothing comes back if there was an error;
/// remarks alone do not stop it. If what Strategy::Auto chooses does not fit, the plan and the
/// code are those of another strategy, which they name. For Strategy::Manual, `written` is the
/// code: it is verified and kept as it is. Strategy::Ideal is the bound that all others can be
/// measured by. Run with SimOptions::freeSync, each of its instructions is issued as soon as its
/// dependences are satisfied and its engine has reached it; loops, branches and issuing cost what
/// they normally cost. Where the plan has inexact waits, it is the bound for this
/// algorithm only.
std::optional<Compiled> compile(const Kernel &kernel, const Request &request,
                                const Machine &machine, Diagnostics &diagnostics,
                                const Code *written = nullptr);

/// What Strategy::Auto makes that is `written`, however many bodies its loops have: which of its
/// ways to begin leads to shorter runs may depend on how large code may grow. Nothing if none does.
std::optional<Compiled> compileLike(const Kernel &kernel, const Request &request,
                                    const Machine &machine, const Code &written);

/// How a table names code: by the strategy that was asked for, and after it the one to which
/// 'auto' fell back: `auto: per-engine`.
std::string strategyLabel(std::string_view asked, const Code &code);

} // namespace tally

#endif // TALLY_COMPILE_COMPILE_H
