//===- Regret.cpp - What it costs where assumptions do not hold -----------===//

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

std::optional<double> Regret::part() const {
  bool isKnown = time && best && *best != 0;
  return isKnown ? std::optional(static_cast<double>(*time) / static_cast<double>(*best) - 1)
                 : std::nullopt;
}

/// Of the code, and of code that is chosen for what the stopwatch measures.
static Regret measured(std::vector<std::string> where, const Kernel &kernel, const Request &asked,
                       const Machine &machine, const Code &code, Stopwatch &stopwatch) {
  Regret regret{.where = std::move(where), .time = stopwatch.timeOf(code), .best = {}};
  Diagnostics ignored;
  std::optional<Compiled> chosen =
      regret.time ? compile(kernel, asked, machine, ignored) : std::nullopt;
  regret.best = chosen ? stopwatch.timeOf(chosen->code) : std::nullopt;
  if (regret.best) {
    regret.best =
        std::min(regret.best, regret.time); // what is chosen for other trips may be better
  }
  return regret;
}

std::vector<Regret> regretsOverTrips(const Kernel &kernel, const Request &request,
                                     const Machine &machine, const Code &code) {
  std::vector<uint64_t> numbers{1, 2, usualTrips};
  if (isBounded(kernel)) {
    numbers.push_back(UINT64_MAX);
  }
  std::vector<Regret> all;
  for (uint64_t trips : numbers) {
    Stopwatch stopwatch(kernel, machine, trips);
    bool isKnown = std::ranges::any_of(
        all, [&](const Regret &other) { return other.where == stopwatch.assumed(); });
    if (!stopwatch.assumed().empty() && !isKnown) {
      Request asked = request;
      asked.assumedTrips = trips;
      all.push_back(measured(stopwatch.assumed(), kernel, asked, machine, code, stopwatch));
    }
  }
  return all;
}

std::vector<Regret> regretsOverPrices(const Kernel &kernel, const Request &request,
                                      const Machine &machine, const Code &code,
                                      const std::function<void(const std::string &)> &progress) {
  std::vector<Regret> all;
  for (const std::string &setting : endsOfRanges(machine)) {
    progress(setting);
    Machine changed = machine;
    if (!setParameter(changed, setting).empty()) {
      continue;
    }
    Stopwatch stopwatch(kernel, changed, request.assumedTrips);
    if (stopwatch.hasTimes()) {
      all.push_back(measured({setting}, kernel, request, changed, code, stopwatch));
    }
  }
  return all;
}

} // namespace tally
