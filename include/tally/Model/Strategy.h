//===- Strategy.h - How a kernel is synchronised --------------------------===//
#ifndef TALLY_MODEL_STRATEGY_H
#define TALLY_MODEL_STRATEGY_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tally {

enum class Strategy : uint8_t {
  Barrier,        ///< all engines of a loop meet at its back edge
  Unrolled,       ///< constant trips written out, static thresholds
  PerInstruction, ///< one semaphore for each producer
  PerLoop,        ///< one for each loop body and queue
  PerEngine,      ///< one for each queue
  Auto,           ///< each instruction as is cheapest
  Manual,         ///< as written in the input
};

std::string_view toString(Strategy strategy);

/// Whether the strategy computes thresholds from loop counts at run time.
bool countsAtRunTime(Strategy strategy);

std::optional<Strategy> strategyFrom(std::string_view name);

/// All strategies by name, in the order of the enumeration.
std::vector<std::string> strategyNames();

} // namespace tally

#endif // TALLY_MODEL_STRATEGY_H
