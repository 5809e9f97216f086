//===- Explore.cpp - All interleavings, specification against code --------===//
//
// Steps:  1. walk      all states, or those that matter
//         2. judge     mismatches that are not allowed; a walk that was cut off without finding one
//                      decides nothing
//         3. witness   the first of them, its schedule made as short as it gets
//
//===----------------------------------------------------------------------===//

#include "tally/Check/Explore.h"

#include "Walks.h"

#include "tally/Code/Origin.h"
#include "tally/Support/Counted.h"

#include <fmt/format.h>

#include <algorithm>

namespace tally {

using namespace check;

std::string check::limitReached(const ExploreOptions &options, uint64_t states, uint64_t bytes) {
  return states > options.maxStates
             ? fmt::format("there are more than {}; --max-states allows more",
                           counted(options.maxStates, "state"))
         : bytes > options.maxBytes
             ? fmt::format("the states need more than {} MiB; --memory allows more",
                           options.maxBytes >> 20)
         : isSet(options.stop) ? stopReason
                               : "";
}

/// Of what the mismatch is about; of an engine that has nothing more to issue, of what it is at.
static Location whereIs(const Lockstep &lockstep, const Code &code, const LockstepState &state,
                        const Mismatch &mismatch) {
  const Kernel &kernel = lockstep.specOf().kernelOf();
  if (mismatch.instance.instr.valid()) {
    return kernel.instrs[mismatch.instance.instr].where;
  }
  const std::vector<ImplPoint> &points = lockstep.implOf().trajectory(mismatch.engine);
  uint32_t at = state.impl.at[mismatch.engine];
  return at < points.size() ? placeOrEngine(kernel, code, mismatch.engine, points[at].op)
                            : kernel.engines[mismatch.engine].where;
}

static void addWitness(const Lockstep &lockstep, const Code &code, const WalkResult &walk,
                       const StopFlag *stop, ExploreResult &result) {
  result.verdict = Verdict::No;
  result.schedule = shorten(lockstep, *walk.first, walk.wayToFirst, stop);
  LockstepState state = lockstep.initial();
  for (const Step &step : result.schedule) {
    lockstep.apply(state, step);
  }
  // The mismatch of that name, with the values that it has in the last state.
  std::vector<Mismatch> all = lockstep.mismatches(state);
  auto found = std::ranges::find(all, *walk.first);
  assert(found != all.end() && "the witness shows it");
  result.witness = found != all.end() ? *found : *walk.first;
  result.text = describe(lockstep.specOf(), lockstep.implOf(), *result.witness);
  result.where = whereIs(lockstep, code, state, *result.witness);
  if (result.witness->kind == MismatchKind::Early) {
    std::vector<Step> way = lockstep.wayToIssue(state, result.witness->engine);
    result.schedule.insert(result.schedule.end(), way.begin(), way.end());
  }
}

ExploreResult explore(const Kernel &kernel, const Code &code, const Machine &machine,
                      const Bindings &bindings, const ExploreOptions &options) {
  ExploreResult result;
  Lockstep lockstep(kernel, code, machine, bindings, options);
  if (!lockstep.complete()) {
    result.reason = isSet(options.stop) ? stopReason
                                        : "the engines execute too many operations, or a queue has "
                                          "too many rings";
    return result;
  }
  WalkResult walk = options.reduction == Reduction::None ? walkAll(lockstep, options)
                                                         : walkReduced(lockstep, options);
  static_cast<WalkSummary &>(result) = walk;
  result.full.assign(walk.full.begin(), walk.full.end());
  for (const Mismatch &mismatch : walk.mismatches) {
    if (isAllowed(options, mismatch)) {
      bool isNew = result.overwaits.empty() || result.overwaits.back() != mismatch.instance;
      if (isNew) {
        result.overwaits.push_back(mismatch.instance);
      }
      result.atResets += mismatch.atReset;
    } else {
      result.mismatches.push_back(mismatch);
    }
  }
  if (walk.first) {
    addWitness(lockstep, code, walk, options.stop, result);
  } else if (walk.complete && options.compact && options.reduction != Reduction::None) {
    result.complete = false;
    result.reason = "only hashes of states were kept, and two states may have the same";
  } else if (walk.complete) {
    result.verdict = Verdict::Yes;
  }
  return result;
}

void ExploreAllResult::add(ExploreResult one, TripChoice choice) {
  ++instances;
  total.states += one.states;
  total.transitions += one.transitions;
  total.bytes = std::max(total.bytes, one.bytes);
  total.complete &= one.complete;
  total.stuckTogether |= one.stuckTogether;
  numOverwaits += one.overwaits.size();
  numAtResets += one.atResets;
  if (one.verdict == Verdict::Undecided) {
    leaveOpen(one.reason);
  } else if (one.verdict == Verdict::No) {
    one.complete = false;
    one.states = total.states;
    one.transitions = total.transitions;
    one.bytes = total.bytes;
    total = std::move(one);
    failing = std::move(choice);
  }
}

void ExploreAllResult::leaveOpen(const std::string &reason) {
  total.reason = total.verdict == Verdict::Yes ? reason : total.reason;
  total.verdict = Verdict::Undecided;
}

ExploreAllResult exploreAll(const Kernel &kernel, const Code &code, const Machine &machine,
                            const InstanceOptions &instanceOptions, const ExploreOptions &options) {
  ExploreAllResult all;
  all.total.verdict = Verdict::Yes;
  all.total.complete = true;
  const Bindings nothing(kernel);
  Instances instances(kernel, instanceOptions, nothing);
  while (std::optional<TripChoice> choice = instances.next()) {
    all.add(explore(kernel, code, machine, bindTrips(nothing, *choice), options), *choice);
    if (all.total.verdict == Verdict::No) {
      return all;
    }
  }
  if (instances.cutOff()) {
    all.total.complete = false;
    all.leaveOpen(tooManyChoices);
  }
  return all;
}

} // namespace tally
