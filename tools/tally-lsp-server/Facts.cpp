//===- Facts.cpp - What hover says of instructions and dependences --------===//
//
// In Markdown. What comes out of a kernel stands in code, so that no sign of it is taken for one of
// Markdown.
//
//===----------------------------------------------------------------------===//

#include "Facts.h"

#include "tally/Deps/Render.h"
#include "tally/Support/Words.h"
#include "tally/Sync/Explain.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tally::server {
namespace {

/// As code, whatever it holds.
std::string code(std::string_view text) {
  std::string fence = "`";
  while (text.find(fence) != std::string_view::npos) {
    fence += '`';
  }
  std::string_view space = fence.size() > 1 ? " " : "";
  return fmt::format("{0}{1}{2}{1}{0}", fence, space, text);
}

std::string nameAndKind(const Kernel &kernel, DepId dep) {
  std::string_view kind = toString(kernel.deps[dep].kind);
  return code(fmt::format("{}{}{}", describe(kernel, dep), kind.empty() ? "" : " ", kind));
}

std::string_view verbOf(AccessKind kind) {
  return kind == AccessKind::Read ? "reads" : kind == AccessKind::Write ? "writes" : "accumulates";
}

std::string tilesOf(const Kernel &kernel, InstrId instr) {
  std::string text;
  for (AccessKind kind : {AccessKind::Read, AccessKind::Write, AccessKind::Accumulate}) {
    std::vector<std::string> tiles;
    for (AccessId access : kernel.instrs[instr].accesses) {
      if (kernel.accesses[access].kind == kind) {
        tiles.push_back(code(kernel.text(kernel.accesses[access].text)));
      }
    }
    if (!tiles.empty()) {
      text += fmt::format("{} {}  \n", verbOf(kind), fmt::join(tiles, ", "));
    }
  }
  return text;
}

/// The same two instructions at the same distance.
bool isSame(const Explained &explained, const Dep &dep, const DerivedDep &derived) {
  const Kernel &kernel = explained.kernel;
  return derived.dep.producer == dep.producer && derived.dep.consumer == dep.consumer &&
         distanceText(kernel, dep, kernel.componentsOf(dep), kernel.tables) ==
             distanceText(kernel, derived.dep, explained.asked->componentsOf(derived.dep),
                          explained.asked->tables);
}

/// The accesses that ask for it; an empty text if they are not known.
std::string whyOf(const Explained &explained, DepId id) {
  if (!explained.asked) {
    return "";
  }
  const Dep &dep = explained.kernel.deps[id];
  std::string text;
  for (size_t i : explained.askedFor[dep.consumer]) {
    const DerivedDep &derived = explained.asked->deps[i];
    if (isSame(explained, dep, derived)) {
      std::string reason = reasonOf(explained.kernel, derived);
      text += fmt::format("  - because of the accesses: {}{}{}\n",
                          code(describe(explained.kernel, *explained.asked, derived)),
                          derived.excess == Excess::None ? "; it waits no longer than they ask for"
                                                         : "; ",
                          derived.excess == Excess::None ? "" : reason);
    }
  }
  return !text.empty()        ? text
         : explained.areFound ? ""
                              : "  - because it is written; no accesses of the two ask for this "
                                "distance\n";
}

std::string howOf(const Explained &explained, DepId dep) {
  std::string text;
  if (explained.plan) {
    for (const ExplainedPart &part : explainWait(explained.kernel, *explained.plan, dep)) {
      text += fmt::format("  - {}: {}\n", part.aspect, code(part.text));
    }
  }
  return text;
}

std::string waitsOf(const Explained &explained, InstrId instr) {
  const Kernel &kernel = explained.kernel;
  std::string text;
  for (DepId dep : explained.waits[instr]) {
    text += fmt::format("- {}{}\n{}{}", nameAndKind(kernel, dep),
                        explained.areFound ? ", found from the accesses" : "",
                        whyOf(explained, dep), howOf(explained, dep));
  }
  std::string_view whose =
      explained.hasCode ? ", in code that tally would make (not in the code of this file)" : "";
  return text.empty() ? fmt::format("\nwaits for nothing{}\n", whose)
                      : fmt::format("\n**waits for**{}\n\n{}", whose, text);
}

std::string noWaitsOf(const Explained &explained, InstrId instr) {
  std::string text;
  for (const NoWait &noWait :
       explained.noWaits ? explained.noWaits->of(instr) : std::vector<NoWait>()) {
    text += fmt::format("- {}\n  - {}\n", code(noWait.dependence), code(noWait.because));
  }
  return text.empty() ? text : "\n**needs no wait for**\n\n" + text;
}

std::string waitedForBy(const Explained &explained, InstrId instr) {
  std::string text;
  for (DepId dep : explained.waitedFor[instr]) {
    text += fmt::format("- {}\n", nameAndKind(explained.kernel, dep));
  }
  return text.empty() ? text : "\n**is waited for by**\n\n" + text;
}

/// For which code this is said.
std::string subjectOf(const Explained &explained) {
  return explained.plan ? fmt::format("\nWith strategy `{}`, machine {}.\n",
                                      toString(explained.plan->decisions.strategy),
                                      code(explained.machine.name))
                        : "";
}

} // namespace

void Explained::index() {
  waits = waitedFor = IdVector<InstrId, std::vector<DepId>>(kernel.instrs.size());
  askedFor = IdVector<InstrId, std::vector<size_t>>(kernel.instrs.size());
  for (DepId dep : kernel.deps.ids()) {
    waits[kernel.deps[dep].consumer].push_back(dep);
    waitedFor[kernel.deps[dep].producer].push_back(dep);
  }
  for (size_t i = 0; asked && i < asked->deps.size(); ++i) {
    askedFor[asked->deps[i].dep.consumer].push_back(i);
  }
}

std::string aboutInstr(const Explained &explained, InstrId instr) {
  const Kernel &kernel = explained.kernel;
  std::string_view queue = kernel.nameOf(kernel.instrs[instr].queue);
  std::string_view engine = kernel.nameOf(kernel.engineOf(instr));
  return fmt::format("instruction {} on queue {} of engine {}  \n{}{}{}{}{}",
                     code(kernel.nameOf(instr)), code(queue), code(engine), tilesOf(kernel, instr),
                     waitsOf(explained, instr), noWaitsOf(explained, instr),
                     waitedForBy(explained, instr), subjectOf(explained));
}

std::string aboutDep(const Explained &explained, DepId dep) {
  const Kernel &kernel = explained.kernel;
  return fmt::format("{} waits for {}\n\n- {}\n{}{}{}",
                     code(kernel.nameOf(kernel.deps[dep].consumer)),
                     code(kernel.nameOf(kernel.deps[dep].producer)), nameAndKind(kernel, dep),
                     whyOf(explained, dep), howOf(explained, dep), subjectOf(explained));
}

std::string foundFor(const Kernel &kernel, const std::vector<DepId> &waits) {
  std::vector<std::string> producers;
  for (DepId id : waits) {
    const Dep &dep = kernel.deps[id];
    producers.push_back(fmt::format(
        "'{}'{} {}", kernel.nameOf(dep.producer),
        distanceText(kernel, dep, kernel.componentsOf(dep), kernel.tables), toString(dep.kind)));
  }
  return producers.empty() ? ""
                           : fmt::format("'{}' waits for {}: found from the accesses",
                                         kernel.nameOf(kernel.deps[waits.front()].consumer),
                                         fmt::join(producers, ", "));
}

} // namespace tally::server
