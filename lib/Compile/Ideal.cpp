//===- Ideal.cpp - Code for a run whose synchronisation is free -----------===//

#include "tally/Compile/Ideal.h"

#include "tally/Compile/Compile.h"

#include <algorithm>

namespace tally {

std::optional<IdealCode> idealCode(const Kernel &kernel, const Machine &machine,
                                   Diagnostics &diagnostics) {
  Machine unlimited = machine;
  unlimited.semaphores = std::nullopt;
  unlimited.registersPerEngine = std::nullopt;
  std::optional<Compiled> compiled =
      compile(kernel, {.strategy = Strategy::PerLoop}, unlimited, diagnostics);
  if (!compiled) {
    return std::nullopt;
  }
  IdealCode ideal;
  ideal.code = std::move(compiled->code);
  ideal.code.strategy = "ideal";
  ideal.overWaiting =
      static_cast<uint32_t>(std::count_if(compiled->plan.waits.begin(), compiled->plan.waits.end(),
                                          [](const Wait &wait) { return !wait.exact; }));
  return ideal;
}

} // namespace tally
