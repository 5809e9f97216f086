//===- Promises.cpp - Up to how many entries code is right ----------------===//

#include "Promises.h"

#include <algorithm>
#include <cstdlib>

namespace tally::fuzz {

namespace {

/// `counters of 'A' have room for 254 entries of it (...)`
constexpr std::string_view before = "counters of '";
constexpr std::string_view between = "' have room for ";

/// How often each body is entered on one engine.
class EntryCounter {
public:
  EntryCounter(const Kernel &kernel, const Bindings &bindings, EngineId engine)
      : entries(kernel.loops.size(), 0), kernel(kernel), bindings(bindings), engine(engine),
        reached(kernel.loops.size(), 0), iteration(kernel.loops.size(), 0) {
    enter(rootLoop);
  }

  IdVector<LoopId, uint64_t> entries;

private:
  void enter(LoopId body) {
    ++entries[body];
    for (StmtId id : kernel.loops[body].body) {
      const Stmt &stmt = kernel.stmts[id];
      if (stmt.kind == Stmt::Kind::Block) {
        continue;
      }
      repeat(stmt.loop);
      if (stmt.kind == Stmt::Kind::If) {
        repeat(kernel.loops[stmt.loop].otherBranch);
      }
    }
  }

  void repeat(LoopId loop) {
    uint64_t trips = bindings.trips(engine, loop, ++reached[loop],
                                    [&](LoopId around) { return iteration[around]; });
    for (uint64_t i = 0; i < trips; ++i) {
      iteration[loop] = i;
      enter(loop);
    }
  }

  const Kernel &kernel;
  const Bindings &bindings;
  EngineId engine;
  IdVector<LoopId, uint64_t> reached;
  IdVector<LoopId, uint64_t> iteration;
};

} // namespace

std::vector<Promise> promisesOf(const Kernel &kernel, const Diagnostics &diagnostics) {
  std::vector<Promise> promises;
  for (const Diagnostic &diagnostic : diagnostics.all()) {
    const std::string &message = diagnostic.message;
    size_t number = message.find(between);
    if (diagnostic.severity != Severity::Remark || !message.starts_with(before) ||
        number == std::string::npos) {
      continue;
    }
    std::string_view name = std::string_view(message).substr(before.size(), number - before.size());
    auto named = std::ranges::find_if(
        kernel.loops, [&](const Loop &loop) { return kernel.text(loop.name) == name; });
    LoopId loop(static_cast<uint32_t>(named - kernel.loops.begin()));
    promises.push_back(
        {loop, std::strtoull(message.c_str() + number + between.size(), nullptr, 10)});
  }
  return promises;
}

bool isPromised(const Kernel &kernel, const std::vector<Promise> &promises,
                const Bindings &bindings) {
  bool isKept = true;
  for (EngineId engine : promises.empty() ? IdRange<EngineId>() : kernel.engines.ids()) {
    EntryCounter counter(kernel, bindings, engine);
    isKept &= std::ranges::all_of(promises, [&](const Promise &promise) {
      return counter.entries[promise.loop] <= promise.entries;
    });
  }
  return isKept;
}

} // namespace tally::fuzz
