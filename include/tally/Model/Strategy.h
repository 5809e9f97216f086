//===- Strategy.h - How a kernel is synchronised --------------------------===//
#ifndef TALLY_MODEL_STRATEGY_H
#define TALLY_MODEL_STRATEGY_H

#include "tally/Support/Words.h"

#include <cstdint>

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

template <>
inline constexpr auto wordsOf<Strategy> = words(
    "barrier", "unrolled", "per-instruction", "per-loop", "per-engine", "auto", "manual", "ideal");

/// Those that make code to be used: all but Ideal, which is there to be measured.
inline constexpr std::array usableStrategies{
    Strategy::Barrier,   Strategy::Unrolled, Strategy::PerInstruction, Strategy::PerLoop,
    Strategy::PerEngine, Strategy::Auto,     Strategy::Manual};

/// Whether the strategy computes thresholds from loop counts at run time.
bool countsAtRunTime(Strategy strategy);

/// The usable ones by name.
std::vector<std::string> strategyNames();

} // namespace tally

#endif // TALLY_MODEL_STRATEGY_H
