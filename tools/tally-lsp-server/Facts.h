//===- Facts.h - What hover says of instructions and dependences ----------===//
#ifndef TALLY_LSP_SERVER_FACTS_H
#define TALLY_LSP_SERVER_FACTS_H

#include "tally/Compile/Compile.h"
#include "tally/Deps/NoWait.h"

#include <functional>
#include <string>
#include <string_view>

namespace tally::server {

/// A kernel, and what is known about its waits.
struct Explained {
  const Kernel &kernel; ///< with its dependences
  const Machine &machine;
  const SyncPlan *plan = nullptr;                       ///< none: no code is possible
  const Extraction *asked = nullptr;                    ///< by its accesses; none: it states none
  bool areFound = false;                                ///< the dependences are those of `asked`
  bool hasCode = false;                                 ///< made before, perhaps by hand
  const NoWaits *noWaits = nullptr;                     ///< none: the dependences are written
  IdVector<InstrId, std::vector<DepId>> waits = {};     ///< of each consumer
  IdVector<InstrId, std::vector<DepId>> waitedFor = {}; ///< of each producer
  IdVector<InstrId, std::vector<size_t>> askedFor = {}; ///< into `asked->deps`, of each consumer

  /// Fills the last three.
  void index();
};

/// Where the instruction runs, what it touches, what it waits for and why, and what waits for it.
std::string aboutInstr(const Explained &explained, InstrId instr);

/// What is waited for, why, and how.
std::string aboutDep(const Explained &explained, DepId dep);

/// What the instruction waits for, in one line; empty if it waits for nothing.
std::string foundFor(const Kernel &kernel, const std::vector<DepId> &waits);

} // namespace tally::server

#endif // TALLY_LSP_SERVER_FACTS_H
