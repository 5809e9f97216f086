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
  Ideal,          ///< per loop and without limits, for a run whose waits are free
};

std::string_view toString(Strategy strategy);

/// Whether the strategy computes thresholds from loop counts at run time.
bool countsAtRunTime(Strategy strategy);

std::optional<Strategy> strategyFrom(std::string_view name);

/// The strategies that make code to be used, by name, in the order of the enumeration: all but
/// 'ideal', which is there to be measured.
std::vector<std::string> strategyNames();

/// All of them, as code may name the one that it was made by.
std::vector<std::string> allStrategyNames();

} // namespace tally

#endif // TALLY_MODEL_STRATEGY_H
