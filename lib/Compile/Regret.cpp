//===- Regret.cpp - What assumed trips cost where other trips come --------===//

#include "tally/Compile/Regret.h"

#include "tally/Compile/Stopwatch.h"

#include <algorithm>

namespace tally {

/// Whether all open trips have a bound.
static bool isBounded(const Kernel &kernel) {
  return std::ranges::all_of(kernel.values,
                             [](const RunValue &value) { return value.max.has_value(); }) &&
         std::ranges::all_of(kernel.loops, [](const Loop &loop) {
           return loop.kind != LoopKind::Loop || loop.trip.most().has_value();
         });
}

std::vector<Regret> regrets(const Kernel &kernel, const Request &request, const Machine &machine,
                            const Code &code) {
  std::vector<uint64_t> numbers{1, 2, usualTrips};
  if (isBounded(kernel)) {
    numbers.push_back(UINT64_MAX);
  }
  std::vector<Regret> all;
  for (uint64_t trips : numbers) {
    Stopwatch stopwatch(kernel, machine, trips);
    bool isKnown = std::ranges::any_of(
        all, [&](const Regret &other) { return other.trips == stopwatch.assumed(); });
    if (stopwatch.assumed().empty() || isKnown) {
      continue;
    }
    Regret regret{.trips = stopwatch.assumed(), .time = {}, .best = {}};
    regret.time = stopwatch.timeOf(code);
    Request asked = request;
    asked.assumedTrips = trips;
    Diagnostics ignored;
    std::optional<Compiled> chosen =
        regret.time ? compile(kernel, asked, machine, ignored) : std::nullopt;
    regret.best = chosen ? stopwatch.timeOf(chosen->code) : std::nullopt;
    all.push_back(std::move(regret));
  }
  return all;
}

} // namespace tally
