//===- RunsTo.cpp - Trips with which two are where they touch the same ----===//

#include "RunsTo.h"

#include <algorithm>
#include <optional>

namespace tally::check {
namespace {

class TripsTo {
public:
  TripsTo(const Kernel &kernel, const Encounter &place, std::array<LoopId, 2> homes)
      : kernel(kernel), place(place), homes(homes), entries(kernel.loops.size(), 0) {
    passed.fill(IdVector<LoopId, bool>(kernel.loops.size(), false));
  }

  /// None if the two ask for different ones.
  std::optional<TripsByEntry> uniform() {
    for (LoopId loop : kernel.loops.ids()) {
      const Loop &around = kernel.loops[loop];
      if (loop == rootLoop || !isAround(loop)) {
        continue;
      }
      if (around.trip.condition.valid()) {
        continue; // it follows
      }
      if (around.isBranch()) {
        bool isElse = around.kind == LoopKind::Else;
        if (isAround(around.otherBranch)) {
          return std::nullopt;
        }
        trips[isElse ? around.otherBranch : loop] = {isElse ? 0u : 1u};
      } else if (!give(loop)) {
        return std::nullopt;
      }
    }
    return std::move(trips);
  }

  /// None if there are too many.
  std::optional<TripsByEntry> byEntry() {
    visit(rootLoop, {true, true});
    return fuel == 0 ? std::nullopt : std::optional(std::move(trips));
  }

private:
  using Sides = std::array<bool, 2>;

  bool isAround(LoopId loop) const {
    return loop.valid() && (kernel.encloses(loop, homes[0]) || kernel.encloses(loop, homes[1]));
  }

  /// What is asked of one side there.
  LoopIndex asked(size_t side, LoopId loop) const {
    auto found = place.at[side].find(loop);
    return found == place.at[side].end() ? LoopIndex{Encounter::any, Encounter::any, Encounter::any}
                                         : found->second;
  }

  /// One number of trips for all entries.
  bool give(LoopId loop) {
    std::optional<uint64_t> exact;
    uint64_t count = std::max<uint64_t>(kernel.loops[loop].trip.least(), 1);
    for (size_t side : {0, 1}) {
      LoopIndex at = asked(side, loop);
      if (at.total != Encounter::any) {
        return false;
      }
      if (at.trips != Encounter::any) {
        bool differs = exact && exact != static_cast<uint64_t>(at.trips);
        exact = static_cast<uint64_t>(at.trips);
        if (differs) {
          return false;
        }
      }
      count = std::max(count, static_cast<uint64_t>(at.iteration + 1));
    }
    note(loop, exact.value_or(count));
    return !exact || *exact >= count;
  }

  void note(LoopId loop, uint64_t count) {
    const Trip &trip = kernel.loops[loop].trip;
    if (trip.kind == Trip::Kind::Value || trip.isOpaque()) {
      trips[loop].push_back(count);
    }
  }

  //===--- By entry -------------------------------------------------------===//

  void visit(LoopId body, Sides on) {
    for (StmtId id : kernel.loops[body].body) {
      const Stmt &stmt = kernel.stmts[id];
      if (stmt.kind == Stmt::Kind::Loop && isAround(stmt.loop)) {
        enter(stmt.loop, towards(stmt.loop, on));
      } else if (stmt.kind == Stmt::Kind::If) {
        decide(stmt.loop, kernel.loops[stmt.loop].otherBranch, on);
      }
    }
  }

  Sides towards(LoopId loop, Sides on) const {
    return {on[0] && kernel.encloses(loop, homes[0]), on[1] && kernel.encloses(loop, homes[1])};
  }

  void enter(LoopId loop, Sides on) {
    pass(loop, on);
    uint64_t count = countAt(loop, on);
    note(loop, count);
    for (uint64_t i = 0; i < count && fuel > 0; ++i) {
      auto isThere = [&](size_t side) {
        return on[side] && asked(side, loop).iteration == static_cast<int64_t>(i);
      };
      go(loop, {isThere(0), isThere(1)});
    }
  }

  void go(LoopId body, Sides on) {
    fuel -= std::min<uint64_t>(fuel, 1);
    visit(body, on);
    ++entries[body];
  }

  /// On the way to one of the two as far as that is, or as it asks; and farther for what is
  /// counted.
  uint64_t countAt(LoopId loop, Sides on) const {
    const Trip &trip = kernel.loops[loop].trip;
    uint64_t count = trip.least(), exact = 0;
    for (size_t side : {0, 1}) {
      LoopIndex at = asked(side, loop);
      count = on[side] ? std::max(count, static_cast<uint64_t>(at.iteration + 1)) : count;
      exact = on[side] && at.trips != Encounter::any ? static_cast<uint64_t>(at.trips) : exact;
    }
    count = on[1] ? count : std::max(count, missingIn(loop));
    return std::min(std::max(count, exact), exact != 0 ? exact : trip.most().value_or(UINT64_MAX));
  }

  /// Each iteration may have an entry of what is counted inside.
  uint64_t missingIn(LoopId loop) const {
    uint64_t most = 0;
    for (const auto &side : place.at) {
      for (const auto &[body, at] : side) {
        most = kernel.encloses(loop, body) ? std::max(most, missing(body)) : most;
      }
    }
    return most;
  }

  /// Entries that a count over the whole run asks for before the next of the two comes.
  uint64_t missing(LoopId body) const {
    for (size_t side : {0, 1}) {
      LoopIndex at = body.valid() ? asked(side, body) : LoopIndex{0, Encounter::any, 0};
      if (at.total != Encounter::any && !passed[side][body]) {
        int64_t before = at.total - std::max<int64_t>(at.iteration, 0);
        return static_cast<uint64_t>(std::max<int64_t>(before - entries[body], 0));
      }
    }
    return 0;
  }

  void pass(LoopId body, Sides on) {
    for (size_t side : {0, 1}) {
      passed[side][body] = passed[side][body] || on[side];
    }
  }

  void decide(LoopId then, LoopId otherwise, Sides on) {
    Sides toThen = towards(then, on);
    Sides toElse = otherwise.valid() ? towards(otherwise, on) : Sides{false, false};
    bool isOn = toThen[0] || toThen[1] || toElse[0] || toElse[1];
    bool isTaken = isOn ? toThen[0] || toThen[1] : missing(then) > 0;
    LoopId body = isTaken ? then : otherwise;
    if (isAround(then) || isAround(otherwise)) {
      note(then, isTaken ? 1 : 0);
    }
    if (isAround(body)) {
      pass(body, isTaken ? toThen : toElse);
      go(body, isTaken ? toThen : toElse);
    }
  }

  const Kernel &kernel;
  const Encounter &place;
  const std::array<LoopId, 2> homes;
  TripsByEntry trips;
  IdVector<LoopId, int64_t> entries; ///< of each body so far
  std::array<IdVector<LoopId, bool>, 2> passed;
  uint64_t fuel = 1 << 15;
};

} // namespace

std::vector<TripsByEntry> tripsTo(const Kernel &kernel, const Encounter &place,
                                  std::array<LoopId, 2> homes) {
  std::vector<TripsByEntry> ways;
  for (std::optional<TripsByEntry> way :
       {TripsTo(kernel, place, homes).uniform(), TripsTo(kernel, place, homes).byEntry()}) {
    if (way) {
      ways.push_back(std::move(*way));
    }
  }
  return ways;
}

} // namespace tally::check
