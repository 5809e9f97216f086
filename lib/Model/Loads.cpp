//===- Loads.cpp - Run-time values that the kernel loads from memory ------===//

#include "tally/Model/Loads.h"

#include "../Support/Report.h"

#include "tally/Model/Tiles.h"

#include <algorithm>
#include <set>

namespace tally {
namespace {

bool names(const ParsedAccess &text, std::string_view value) {
  return std::ranges::any_of(text.exprs, [&](const TileExpr &node) {
    return node.kind == TileExpr::Kind::Symbol && text.names[node.name] == value;
  });
}

/// All loads of one value.
class LoadChecker {
public:
  LoadChecker(const Kernel &kernel, NameId value, Diagnostics &diagnostics)
      : kernel(kernel), value(value), diagnostics(diagnostics) {
    for (const LoadedValue &loaded : kernel.loads) {
      if (loaded.value == value) {
        loads.push_back(loaded.instr);
      }
    }
  }

  void run() {
    if (kernel.valueNamed(text()).valid()) {
      isOneNumber();
    }
    for (LoopId loop : kernel.loops.ids()) {
      gives.push(isGivenBy(kernel, loop, text()));
    }
    for (InstrId instr : kernel.instrs.ids()) {
      needsOf(instr);
    }
    if (!isNeeded && std::ranges::none_of(gives, [](bool each) { return each; })) {
      report(diagnostics, kernel.instrs[loads.front()].where,
             "'{}' loads '{}', which nothing needs: no loop has it for trips, no condition and no "
             "tile names it; load what one of them names",
             kernel.nameOf(loads.front()), text());
    }
  }

private:
  std::string_view text() const { return kernel.text(value); }

  /// `$n` is the same in all iterations, so each engine loads it once, outside of loops.
  void isOneNumber() {
    for (size_t i = 0; i < loads.size(); ++i) {
      const Instr &instr = kernel.instrs[loads[i]];
      if (instr.home != rootLoop) {
        report(diagnostics, instr.where,
               "'{}' loads '${}' in '{}', and that is one number throughout a run; load it outside "
               "of loops and branches",
               kernel.text(instr.name), text(), kernel.nameOf(instr.home));
      }
      for (size_t before = 0; before < i; ++before) {
        if (kernel.engineOf(loads[before]) == kernel.engineOf(loads[i])) {
          report(diagnostics, instr.where,
                 "'{}' loads '${}' for engine '{}' once more, and that is one number throughout a "
                 "run; leave one of the two out",
                 kernel.text(instr.name), text(), kernel.nameOf(kernel.engineOf(loads[i])))
              .note(kernel.instrs[loads[before]].where,
                    fmt::format("'{}' loads it here", kernel.nameOf(loads[before])));
          break;
        }
      }
    }
  }

  /// The loops around it that the value gives, as its engine has to run them; and its own tiles.
  void needsOf(InstrId instr) {
    for (LoopId loop = kernel.instrs[instr].home; loop.valid(); loop = kernel.loops[loop].parent) {
      if (gives[loop]) {
        bool isElse = kernel.loops[loop].kind == LoopKind::Else; // told as the other branch
        needs(instr, isElse ? kernel.loops[loop].otherBranch : loop, kernel.loops[loop].parent);
      }
    }
    for (AccessId access : kernel.instrs[instr].accesses) {
      if (names((*kernel.tiles)[access].access, text())) {
        isNeeded = true;
        needs(instr, LoopId(), kernel.instrs[instr].home);
      }
    }
  }

  /// On each engine that may run it: for a loop, or for a tile of its own.
  void needs(InstrId instr, LoopId loop, LoopId body) {
    needsOn(kernel.engineOf(instr), instr, loop, body);
    for (QueueId other : kernel.otherQueues(instr)) {
      needsOn(kernel.queues[other].engine, instr, loop, body);
    }
  }

  void needsOn(EngineId engine, InstrId instr, LoopId loop, LoopId body) {
    if (isLoaded(engine, instr, loop, body) ||
        (loop.valid() && isLoadedOnlyInside(kernel, engine, loop, value)) ||
        !said.emplace(engine, loop).second) {
      return;
    }
    const EngineId first = kernel.engineOf(loads.front());
    const bool isInside = loop.valid() && isLoadedOnlyInside(kernel, first, loop, value);
    const Location where = loop.valid() ? kernel.loops[loop].where : kernel.instrs[instr].where;
    report(diagnostics, where,
           "engine '{}' needs '{}' for '{}', and has not loaded it; add an instruction on this "
           "engine, {} and where it always runs, with loads [\"{}\"]",
           kernel.nameOf(engine), text(), loop.valid() ? kernel.nameOf(loop) : kernel.nameOf(instr),
           isInside ? "in that" : "before that", text())
        .note(kernel.instrs[loads.front()].where,
              fmt::format("'{}' loads it for engine '{}'", kernel.nameOf(loads.front()),
                          kernel.nameOf(first)));
  }

  /// Whether an instruction of the engine has, in a body around, in this iteration of it.
  bool isLoaded(EngineId engine, InstrId before, LoopId loop, LoopId body) const {
    return std::ranges::any_of(loads, [&](InstrId load) {
      const Instr &instr = kernel.instrs[load];
      const bool isInside = loop.valid() && kernel.encloses(loop, instr.home);
      return kernel.engineOf(load) == engine && load < before && !isInside &&
             kernel.encloses(instr.home, body);
    });
  }

  const Kernel &kernel;
  const NameId value;
  Diagnostics &diagnostics;
  std::vector<InstrId> loads;
  IdVector<LoopId, bool> gives; ///< how often it runs
  bool isNeeded = false;        ///< by a tile
  std::set<std::pair<EngineId, LoopId>> said;
};

} // namespace

bool isGivenBy(const Kernel &kernel, LoopId id, std::string_view value) {
  const Loop &loop = kernel.loops[id];
  if (id == rootLoop) {
    return false;
  }
  if (loop.trip.kind == Trip::Kind::Formula) {
    return names(kernel.tiles->formulaOf(id).access, value);
  }
  if (loop.isBranch() && loop.trip.condition.valid()) {
    return names(kernel.tiles->conditionOf(id).access, value);
  }
  if (loop.trip.kind == Trip::Kind::Constant) {
    return false;
  }
  return kernel.text(loop.trip.symbol.valid() ? loop.trip.symbol : loop.name) == value;
}

bool isLoadedOnlyInside(const Kernel &kernel, EngineId engine, LoopId loop, NameId value) {
  bool isFound = false;
  for (const LoadedValue &loaded : kernel.loads) {
    if (loaded.value == value) {
      if (!kernel.encloses(loop, kernel.instrs[loaded.instr].home)) {
        return false;
      }
      isFound |= kernel.engineOf(loaded.instr) == engine;
    }
  }
  return isFound && !kernel.loops[loop].isBranch();
}

void checkLoads(const Kernel &kernel, Diagnostics &diagnostics) {
  std::set<NameId> seen;
  for (const LoadedValue &loaded : kernel.loads) {
    if (kernel.otherQueues(loaded.instr).size() != 0) {
      report(diagnostics, kernel.instrs[loaded.instr].where,
             "'{}' loads '{}' for one engine; it cannot leave open which queue it is on",
             kernel.nameOf(loaded.instr), kernel.text(loaded.value));
    }
    if (seen.insert(loaded.value).second) {
      LoadChecker(kernel, loaded.value, diagnostics).run();
    }
  }
}

} // namespace tally
