//===- Case.h - A kernel, a machine, and how code is made -----------------===//
//
// What a campaign looks at. One seed draws all of it, in one of three ways:
//
//   plain    on the generic machine, with other arithmetic now and then: what a strategy does not
//            refuse by its nature, it has to do
//   mixed    every feature of kernels with every feature of machines and options (Features.h
//            counts which met), so that much is refused
//   threads  kernels that compute whole numbers, on machines that threads can be
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_FUZZ_CASE_H
#define TALLY_FUZZ_CASE_H

#include "RandomKernel.h"

#include "tally/Compile/Compile.h"

#include <string>
#include <vector>

namespace tally::fuzz {

struct Case {
  Kernel kernel; ///< as it is written: if it asks for dependences, they have yet to be found
  Machine machine = genericMachine();
  Request how;                  ///< for every strategy
  bool foundAndWritten = false; ///< of its dependences some were found when it was drawn
  bool longRuns = false;        ///< some runs go as far as counters and distances reach
  bool isMixed = false;         ///< then code by hand is looked at, too

  Case() = default;

  explicit Case(Kernel kernel) : kernel(std::move(kernel)) {}
};

/// The cases that a seed stands for.
Case plainCase(uint64_t seed);
Case mixedCase(uint64_t seed);
Case threadCase(uint64_t seed);

/// The kernel of the plain case.
Kernel kernelOfSeed(uint64_t seed);

/// The kernel as it is compiled: with its dependences, as on the machine. None if those that are
/// found are not legal; `reason` then says why.
std::optional<Kernel> finishedKernel(const Case &drawn, std::string &reason);

/// A change that makes a case plainer; false if it is as plain as that already.
using Simplification = bool (*)(Case &);

/// All of them, except those of kernels (Shrink.h).
const std::vector<Simplification> &simplifications();

/// The machine as a shell command that makes it out of `generic.json`; empty for the generic one.
std::string machineCommand(const Machine &machine);

/// The options of `tally check` and `tally compile` that say how code is made, without the strategy
/// and the machine; each with a space before it.
std::string optionsText(const Case &drawn);

/// For run `number` of a case: choices of trips, long ones now and then.
Choices choicesOf(const Case &drawn, const Kernel &kernel, uint64_t seed, uint64_t number);

} // namespace tally::fuzz

#endif // TALLY_FUZZ_CASE_H
