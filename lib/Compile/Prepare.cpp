//===- Prepare.cpp - From a kernel that was read to one to be compiled ----===//

#include "tally/Compile/Prepare.h"

#include "tally/Deps/Bounds.h"
#include "tally/Deps/Denied.h"
#include "tally/Deps/Find.h"
#include "tally/Deps/Held.h"
#include "tally/Deps/Render.h"
#include "tally/Deps/Unstated.h"
#include "tally/Machine/Memories.h"
#include "tally/Support/Counted.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tally {

static void remarkUnusedEngines(const Kernel &kernel, Diagnostics &diagnostics) {
  IdVector<EngineId, bool> isUsed(kernel.engines.size(), false);
  for (InstrId instr : kernel.instrs.ids()) {
    isUsed[kernel.engineOf(instr)] = true;
  }
  for (const OpenQueues &open : kernel.openQueues) {
    for (QueueId queue : open.others) {
      isUsed[kernel.queues[queue].engine] = true;
    }
  }
  std::vector<std::string> unused;
  Location first;
  for (EngineId engine : kernel.engines.ids()) {
    if (!isUsed[engine]) {
      first = unused.empty() ? kernel.engines[engine].where : first;
      unused.push_back(fmt::format("'{}'", kernel.nameOf(engine)));
    }
  }
  if (!unused.empty()) {
    diagnostics.remark(first, fmt::format("{} {} {} no instruction",
                                          unused.size() == 1 ? "engine" : "engines", listed(unused),
                                          unused.size() == 1 ? "has" : "have"));
  }
}

/// Whether it has an operator: no name needs one.
static bool looksLikeExpression(std::string_view name) {
  bool hasWord = std::ranges::any_of(
      std::array{" - ", " / ", " mod ", " floordiv ", " and ", " or "},
      [name](std::string_view word) { return name.find(word) != std::string_view::npos; });
  return hasWord || name.find_first_of("<>=+*") != std::string_view::npos;
}

static void warn(Location where, std::string text, Diagnostics &diagnostics) {
  diagnostics.remark(where, std::move(text)).severity = Severity::Warning;
}

/// Names where an expression seems to be meant: each is legal, and means something else.
static void warnOfExpressions(const Kernel &kernel, Diagnostics &diagnostics) {
  for (const Loop &loop : kernel.loops) {
    std::string_view name = kernel.text(loop.name);
    if (loop.kind == LoopKind::Then && loop.trip.isOpaque() && looksLikeExpression(name)) {
      warn(loop.where,
           fmt::format("'{0}' is only the name of this 'if': no condition is evaluated, so code is "
                       "made for both outcomes; for the condition, write 'tally.if \"late\" when "
                       "\"{0}\"', or else tell a run which times it is taken, as "
                       "'--trips={0}=0,0,1'",
                       name),
           diagnostics);
    }
    if (loop.trip.kind != Trip::Kind::Value || !loop.trip.symbol.valid()) {
      continue;
    }
    std::string_view value = kernel.text(loop.trip.symbol);
    if (looksLikeExpression(value)) {
      warn(loop.where,
           fmt::format("the trips of '{}' are a run-time value with the name '{}', not the result "
                       "of that expression; for the expression, write 'trips = \"{}\"', or in "
                       "JSON 'formula'",
                       name, value, value),
           diagnostics);
    }
  }
}

void remarkKernel(const Kernel &kernel, const Machine &machine, Diagnostics &diagnostics) {
  checkTiles(kernel, diagnostics); // the readers have refused tiles that surely leave
  remarkDenied(kernel, diagnostics);
  warnOfMemories(kernel, machine, diagnostics);
  remarkUnstated(kernel, diagnostics);
  remarkUnusedEngines(kernel, diagnostics);
  warnOfExpressions(kernel, diagnostics);
}

/// Code that waits for nothing is seldom what is meant.
static void warnOfNone(const Kernel &kernel, Diagnostics &diagnostics) {
  diagnostics
      .remark(kernel.where, fmt::format("kernel '{}' has no written dependences, and as asked none "
                                        "are taken from its accesses, so its engines do not wait "
                                        "for one another",
                                        kernel.text(kernel.name)))
      .severity = Severity::Warning;
}

Kernel findAsked(const Kernel &kernel, const Request &request, const Machine &machine,
                 Extractor &extractor, Diagnostics &diagnostics) {
  if (!request.findDeps) {
    warnOfNone(kernel, diagnostics);
    return kernel;
  }
  const FindOptions options{
      {.queueOverlap = machine.queueOverlap}, request.keepImplied, /*checkTiles=*/false};
  return findDeps(kernel, options, extractor, diagnostics);
}

void warnOfNoDeps(const Kernel &kernel, Diagnostics &diagnostics) {
  if (kernel.deps.empty() && kernel.engines.size() > 1 && !kernel.instrs.empty()) {
    diagnostics
        .remark(kernel.where,
                fmt::format("kernel '{}' says neither what its instructions touch nor what depends "
                            "on what, so its engines do not wait for one another",
                            kernel.text(kernel.name)))
        .severity = Severity::Warning;
  }
}

void remarkUncovered(const Kernel &kernel, const Request &request, const Machine &machine,
                     Extractor &extractor, Diagnostics &diagnostics) {
  if (!request.findDeps || kernel.accesses.empty() || kernel.deps.empty()) {
    return;
  }
  constexpr size_t mostNamed = 3;
  Held held = holdDeps(kernel, {.queueOverlap = machine.queueOverlap}, extractor);
  if (held.open.empty()) {
    return;
  }
  auto derived = [&](size_t i) -> const DerivedDep & { return held.asked.deps[held.open[i]]; };
  auto whereOf = [&](size_t i) { return kernel.instrs[derived(i).dep.consumer].where; };
  Diagnostic &remark = diagnostics.remark(
      whereOf(0),
      fmt::format(
          "written dependences are not seen to imply {} that accesses ask for, and code waits "
          "only for what is written; write them, or none, so that all are found; "
          "'--deps=written' says that the list is meant",
          counted(held.open.size(), "dependence")));
  for (size_t i = 0; i < std::min(held.open.size(), mostNamed); ++i) {
    remark.note(whereOf(i),
                fmt::format("{}{}", describe(kernel, held.asked, derived(i)),
                            i + 1 == mostNamed && held.open.size() > mostNamed
                                ? fmt::format(", and {} more", held.open.size() - mostNamed)
                                : ""));
  }
}

} // namespace tally
