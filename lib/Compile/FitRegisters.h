//===- FitRegisters.h - What gives way where registers run out ------------===//
//
// Code keeps in registers what it counts, copies of that, and thresholds that it steps. Where this
// is more than an engine has, it is compiled again with options that ask for less:
//
//   RegisterFitter fitter(kernel, machine, options);
//   do {
//     ... make plan and code with fitter.options()
//   } while (fitter.giveWay(plan, code));
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_COMPILE_FITREGISTERS_H
#define TALLY_LIB_COMPILE_FITREGISTERS_H

#include "tally/Compile/Compile.h"

namespace tally {

class RegisterFitter {
public:
  RegisterFitter(const Kernel &kernel, const Machine &machine, CompileOptions options);

  const CompileOptions &options() const { return current; }

  /// Changes the options so that engines with too many registers in `code` need fewer. False if
  /// all fit, or if nothing is left that could give way.
  bool giveWay(const SyncPlan &plan, const Code &code);

  /// A remark for each engine on which something gave way.
  void explain(Diagnostics &diagnostics) const;

private:
  struct Shortage {
    uint32_t limit = 0;     ///< registers that are not reserved
    uint32_t needed = 0;    ///< registers at first; 0: there were enough
    uint32_t excess = 0;    ///< beyond the limit now
    uint32_t forgotten = 0; ///< copies
  };

  bool recompute(EngineId engine, const EngineProgram &program);
  bool forgetCopies(const SyncPlan &plan, EngineId engine, std::vector<DepId> readers);

  const Kernel &kernel;
  const Machine &machine;
  CompileOptions current;
  IdVector<EngineId, Shortage> shortages;
};

} // namespace tally

#endif // TALLY_LIB_COMPILE_FITREGISTERS_H
