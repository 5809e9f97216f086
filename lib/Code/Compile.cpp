//===- Compile.cpp - The whole way from kernel to code --------------------===//

#include "tally/Code/Compile.h"

#include "FitRegisters.h"
#include "tally/Code/Choose.h"
#include "tally/Model/Check.h"

#include <fmt/format.h>

namespace tally {

static std::optional<Compiled> keepWritten(const Kernel &kernel, const Program *written,
                                           const Machine &machine, Diagnostics &diagnostics) {
  if (!written) {
    diagnostics.error(kernel.where,
                      fmt::format("strategy 'manual' keeps the code in the input, but there is no "
                                  "'tally.code @{}'; write one, or let another strategy make it",
                                  kernel.text(kernel.name)));
    return std::nullopt;
  }
  Compiled compiled;
  compiled.program = *written;
  compiled.program.strategy = toString(Strategy::Manual);
  compiled.program.machine = machine.name;
  verifyProgram(kernel, compiled.program, diagnostics);
  if (!diagnostics.hasErrors()) {
    checkLimits(kernel, compiled.program, machine, diagnostics);
  }
  return compiled;
}

static std::optional<Compiled> plan(const Kernel &kernel, const CompileOptions &given,
                                    const Machine &machine, Diagnostics &diagnostics) {
  RegisterFitter fitter(kernel, machine, choose(kernel, given, machine, diagnostics));
  Compiled compiled;
  Diagnostics found;
  do {
    found = {};
    compiled.plan = makePlan(kernel, fitter.options().plan, found);
    if (found.hasErrors()) {
      break;
    }
    compiled.program = lower(kernel, compiled.plan, machine, fitter.options().lower, found);
  } while (fitter.giveWay(compiled.plan, compiled.program));
  fitter.explain(diagnostics);
  diagnostics.append(std::move(found));
  if (diagnostics.hasErrors()) {
    return std::nullopt;
  }
  verifyPlan(kernel, compiled.plan, diagnostics);
  checkOverflow(kernel, compiled.plan, machine, diagnostics);
  if (!diagnostics.hasErrors()) {
    checkLimits(kernel, compiled.program, machine, diagnostics);
    verifyProgram(kernel, compiled.program, diagnostics);
  }
  return compiled;
}

std::optional<Compiled> compile(const Kernel &kernel, const CompileOptions &options,
                                const Machine &machine, Diagnostics &diagnostics,
                                const Program *written) {
  check(kernel, diagnostics);
  if (diagnostics.hasErrors()) {
    return std::nullopt;
  }
  bool manual = options.plan.strategy == Strategy::Manual;
  std::optional<Compiled> compiled = manual ? keepWritten(kernel, written, machine, diagnostics)
                                            : plan(kernel, options, machine, diagnostics);
  return diagnostics.hasErrors() ? std::nullopt : std::move(compiled);
}

} // namespace tally
