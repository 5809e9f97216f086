//===- Trial.cpp - A change of code or plan, tried by time ----------------===//

#include "Trial.h"

#include "Unroll.h"
#include "tally/Code/ControlCost.h"

namespace tally::compiling {

Trial::Trial(const Kernel &kernel, const Request &request, const Machine &machine, Search &search)
    : kernel(kernel), machine(machine), search(search),
      stopwatch(kernel, machine, request.assumedTrips, request.effort,
                search.numIssued ? Stopwatch::Long::Beginnings : Stopwatch::Long::None) {}

std::optional<Tick> Trial::timeOf(const Code &code) {
  if (!stopwatch.hasTimes()) {
    return std::nullopt;
  }
  Code written = code;
  markOncePerPass(written);
  dropIdleMarks(written);
  return stopwatch.timeOf(written);
}

void Trial::record(Attempt::Step step, std::string what, bool isTaken, const Candidate &before,
                   const Candidate &after) {
  if (search.found()) {
    ++search.numTried;
    search.attempts.push_back({step, std::move(what), isTaken, costOf(before), costOf(after)});
  }
}

CodeCost Trial::costOf(const Candidate &candidate) const {
  CodeCost cost = *search.found();
  cost.time = candidate.time;
  cost.control = controlCost(kernel, candidate.code, machine);
  cost.operations = measure(kernel, candidate.code, 1).operations;
  return cost;
}

} // namespace tally::compiling
