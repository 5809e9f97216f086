//===- CheckRuns.cpp - Which runs the race check tried, and what none did -===//

#include "CheckRuns.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tally::tool {

//===----------------------------------------------------------------------===//
// What was tried
//===----------------------------------------------------------------------===//

TriedRuns::TriedRuns(const Kernel &kernel, const Turns &turns, const Given &given)
    : kernel(kernel), given(given), turns(turns), passed(turns.all().size(), false),
      decisions(decisionsOf(kernel, given.bindings)), longest(kernel.loops.size(), 0),
      largest(kernel.values.size(), 0) {
  for (LoopId id : kernel.loops.ids()) {
    if (turns.isLeftOpen(id)) {
      loops.push_back(id);
    }
  }
  for (RunValueId id : kernel.values.ids()) {
    if (!given.bindings.isSet(id)) {
      values.push_back(id);
    }
  }
}

void TriedRuns::add(const Bindings &bindings, uint64_t fuel) {
  for (LoopId loop : loops) {
    longest[loop] = std::max(longest[loop], bindings.tripRange(loop).second);
  }
  for (RunValueId id : values) {
    largest[id] = std::max(largest[id], bindings.values()[id.value]);
  }
  std::vector<bool> taken;
  for (const Decision &decision : decisions) {
    EngineId engine = decision.engine.valid() ? decision.engine : EngineId(0);
    taken.push_back(bindings.trips(engine, decision.branch, 1) != 0);
  }
  decided.insert(std::move(taken));
  if (std::ranges::find(passed, false) != passed.end()) {
    std::vector<bool> now = turns.passedIn(bindings, fuel).value_or(passed);
    for (size_t i = 0; i < passed.size(); ++i) {
      passed[i] = passed[i] || now[i];
    }
  }
}

std::vector<std::string> TriedRuns::unpassed() const {
  std::vector<std::string> missing = turns.open();
  for (size_t i = 0; i < passed.size(); ++i) {
    if (!passed[i]) {
      missing.push_back(turns.neverText(turns.all()[i]));
    }
  }
  return missing;
}

std::string TriedRuns::text() const {
  constexpr size_t numNamed = 4;
  std::vector<std::string> parts, named;
  uint64_t most = 0;
  for (LoopId loop : loops) {
    most = std::max(most, longest[loop]);
    named.push_back(fmt::format("'{}' up to {}", kernel.nameOf(loop), longest[loop]));
  }
  if (!loops.empty()) {
    parts.push_back(loops.size() <= numNamed ? fmt::format("trips of {}", fmt::join(named, ", "))
                                             : fmt::format("trips up to {}", most));
  }
  for (RunValueId id : values) {
    parts.push_back(fmt::format("'${}' up to {}", kernel.nameOf(id), largest[id]));
  }
  if (!decisions.empty()) {
    constexpr size_t mostWritten = 20;
    const size_t count = decisions.size();
    std::string all =
        count > mostWritten ? fmt::format("2^{}", count) : fmt::format("{}", uint64_t(1) << count);
    parts.push_back(fmt::format("{} of {} decisions", decided.size(), all));
  }
  std::string held = given.text.empty() ? "" : fmt::format("with {} given, ", given.text);
  return parts.empty() ? "" : fmt::format("         {}tried: {}\n", held, fmt::join(parts, "; "));
}

Json TriedRuns::json() const {
  Json trips = Json::array();
  for (LoopId loop : loops) {
    trips.push_back({{"loop", kernel.nameOf(loop)}, {"trips", longest[loop]}});
  }
  Json numbers = Json::array();
  for (RunValueId id : values) {
    numbers.push_back({{"value", kernel.nameOf(id)}, {"number", largest[id]}});
  }
  return {{"trips", std::move(trips)},
          {"values", std::move(numbers)},
          {"branches", decisions.size()},
          {"decisions", decisions.empty() ? 0 : decided.size()}};
}

//===----------------------------------------------------------------------===//
// What no run did
//===----------------------------------------------------------------------===//

NeverDone::NeverDone(const Subject &subject, const Machine &machine, const Given &given)
    : subject(subject), kernel(subject.kernel), machine(machine), given(given), runs(kernel),
      ranOnce(kernel.instrs.size(), false), touched(kernel.accesses.size(), false) {
  for (const char *kind :
       {"never_ran", "never_touched", "never_together", "never_owed", "never_passed"}) {
    told[kind] = Json::array();
  }
}

void NeverDone::add(const Bindings &bindings, const RaceResult &result, const StopFlag *stop) {
  runs.add(bindings, stop);
  for (InstrId instr : kernel.instrs.ids()) {
    ranOnce[instr] = ranOnce[instr] || result.hasRun[instr];
  }
  for (AccessId access : kernel.accesses.ids()) {
    touched[access] = touched[access] || result.touched[access];
  }
}

void NeverDone::addApart(const std::vector<Apart> &pairs) {
  open.insert(open.end(), pairs.begin(), pairs.end());
}

void NeverDone::conclude(const std::vector<std::string> &unpassed) {
  for (InstrId instr : kernel.instrs.ids()) {
    if (!ranOnce[instr]) {
      std::string_view name = kernel.nameOf(instr);
      note("never_ran", name, fmt::format("'{}' never ran", name), whenRuns(kernel, instr));
    }
  }
  if (given.isOneRun) {
    findUntouched();
  }
  if (given.bindings.isComplete()) { // what does not meet in the only run that there is never does
    std::erase_if(open, [this](const Apart &pair) {
      return isTouched(pair.first) && isTouched(pair.second);
    });
    leavesOut = false;
  }
  noteUntouched();
  std::ranges::for_each(open, [this](const Apart &pair) { noteApart(pair); });
  isDoubtful = !open.empty() || leavesOut;
  noteUnowed();
  // Beyond a number that hand-written code can pass, it was not tried. Counters of compiled code
  // are the compiler's to bound.
  bool isWritten = !subject.code.isCompiled;
  for (const std::string &text : unpassed) {
    note("never_passed", text, isWritten ? text : "");
    isDoubtful |= isWritten;
  }
  if (isWritten && !unpassed.empty() && subject.code.strategy != Strategy::Manual) {
    never.push_back(
        fmt::format("strategy '{}' makes other code of this kernel, so that what it "
                    "counts may be wrong; if it was compiled with options, give them, too",
                    toString(subject.code.strategy)));
  }
  if (leavesOut) {
    never.emplace_back("there are more pairs of accesses than were looked at");
  }
}

/// Of a run that is given only what was not touched is told.
void NeverDone::findUntouched() {
  for (InstrId instr : kernel.instrs.ids()) {
    for (AccessId access : kernel.instrs[instr].accesses) {
      Party party{instr, access};
      if (ranOnce[instr] && !touched[access] && mayMeetAny(kernel, machine, party)) {
        open.push_back({party, party});
      }
    }
  }
}

void NeverDone::noteUntouched() {
  std::set<AccessId> untouched;
  for (const Apart &pair : open) {
    for (auto [instr, access] : {pair.first, pair.second}) {
      bool isUntouched = access.valid() && ranOnce[instr] && !touched[access];
      if (isUntouched && untouched.insert(access).second) {
        TouchText text = touchText(kernel, access);
        std::string_view name = kernel.nameOf(instr);
        note("never_touched", {{"instruction", name}, {"tile", text.tile}, {"needs", text.needs}},
             fmt::format("'{}' never touched {}", name, text.tile), text.needs);
      }
    }
  }
}

/// If both did what they do, but not to the same.
void NeverDone::noteApart(const Apart &pair) {
  if (!isTouched(pair.first) || !isTouched(pair.second)) {
    return;
  }
  std::string_view first = kernel.nameOf(pair.first.instr);
  std::string_view second = kernel.nameOf(pair.second.instr);
  std::string firstTile = touchText(kernel, pair.first.access).tile;
  std::string secondTile = touchText(kernel, pair.second.access).tile;
  note("never_together",
       {{"first", first},
        {"first_tile", firstTile},
        {"second", second},
        {"second_tile", secondTile}},
       fmt::format("'{}' touched {} and '{}' touched {}, but never so that they met", first,
                   firstTile, second, secondTile));
}

/// Unless the loops never run so often, other runs may have what the code does not wait for.
void NeverDone::noteUnowed() {
  for (DepId id : runs.neverOwed()) {
    std::string name = describe(kernel, id);
    note("never_owed", name, fmt::format("{} never asked for anything", name));
    isDoubtful |= given.mayAsk(kernel, id);
  }
}

/// Without a text it is told in the JSON alone.
void NeverDone::note(const char *kind, Json what, std::string text, const std::string &needs) {
  told[kind].push_back(std::move(what));
  if (!text.empty()) {
    never.push_back(needs.empty() ? std::move(text)
                                  : fmt::format("{}, which needs {}", text, needs));
  }
}

} // namespace tally::tool
