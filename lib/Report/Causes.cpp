//===- Causes.cpp - What sequencers waited for ----------------------------===//

#include "Causes.h"

#include <fmt/format.h>

#include <algorithm>

namespace tally::report {

/// The dependences behind a wait; where `by` is the producer of some, these alone. Many are named
/// by the first of them.
static std::string reasonsText(const Kernel &kernel, const Code &code, const Op &op, InstrId by) {
  constexpr size_t most = 3;
  std::vector<DepId> reasons, ended;
  for (uint32_t i = 0; i < op.numReasons; ++i) {
    reasons.push_back(code.reasons[op.firstReason + i]);
    if (kernel.deps[reasons.back()].producer == by) {
      ended.push_back(reasons.back());
    }
  }
  const std::vector<DepId> &named = ended.empty() ? reasons : ended;
  std::string text;
  for (size_t i = 0; i < std::min(named.size(), most); ++i) {
    text += (i > 0 ? "; " : "") + describe(kernel, named[i]);
  }
  return named.size() > most ? fmt::format("{}; and {} more", text, named.size() - most) : text;
}

CauseTable::Key CauseTable::keyOf(size_t timeline, EngineId engine, uint32_t at, InstrId by) const {
  const Code &code = report.timelines[timeline].code;
  const Op &op = code.engines[engine].ops[at];
  if (inBarrier[timeline][engine][at]) {
    return {Cause::Kind::Barrier, "a barrier"};
  }
  if (op.numReasons > 0) {
    return {Cause::Kind::Dependence, reasonsText(*report.timelines[timeline].kernel, code, op, by)};
  }
  return {Cause::Kind::Semaphore, fmt::format("semaphore '{}'", code.semaphores[op.wait].name)};
}

uint32_t CauseTable::of(size_t timeline, EngineId engine, uint32_t op, InstrId by) const {
  return ofWaits.at({timeline, engine, op, by});
}

void CauseTable::add(const Key &key, size_t timeline, Tick span) {
  if (span == 0) {
    return;
  }
  auto [found, isNew] = numbers.try_emplace(key, static_cast<uint32_t>(causes.size()));
  if (isNew) {
    causes.push_back({key.first, key.second, std::vector<Tick>(report.timelines.size(), 0)});
  }
  causes[found->second].span[timeline] += span;
}

CauseTable::CauseTable(const Report &report) : report(report), inBarrier(report.timelines.size()) {
  for (size_t t = 0; t < report.timelines.size(); ++t) {
    const Timeline &timeline = report.timelines[t];
    for (const EngineProgram &program : timeline.code.engines) {
      inBarrier[t].push(insideBarriers(program.ops));
    }
    for (const WaitSum &wait : timeline.waits) {
      add(keyOf(t, wait.engine, wait.op, wait.by), t, wait.span);
    }
    for (const EngineStats &stats : timeline.result.engines) {
      add({Cause::Kind::Drain, "its own instructions to retire"}, t, stats.draining);
      add({Cause::Kind::QueueFull, "room in a queue"}, t, stats.queueFull);
    }
  }
  sort();
  findWaits();
}

/// Pieces ask for their causes by the million.
void CauseTable::findWaits() {
  for (size_t t = 0; t < report.timelines.size(); ++t) {
    for (const WaitSum &wait : report.timelines[t].waits) {
      ofWaits[{t, wait.engine, wait.op, wait.by}] =
          numbers.at(keyOf(t, wait.engine, wait.op, wait.by));
    }
  }
}

/// Waits by the longest that they last in any run; draining and full queues, which every picture
/// shows alike, at the end.
void CauseTable::sort() {
  auto isWait = [](const Cause &cause) { return cause.kind < Cause::Kind::Drain; };
  auto longest = [](const Cause &cause) {
    return *std::max_element(cause.span.begin(), cause.span.end());
  };
  std::stable_sort(causes.begin(), causes.end(), [&](const Cause &a, const Cause &b) {
    return isWait(a) != isWait(b) ? isWait(a) : longest(a) > longest(b);
  });
  for (uint32_t i = 0; i < causes.size(); ++i) {
    numbers[{causes[i].kind, causes[i].text}] = i;
  }
}

} // namespace tally::report

namespace tally {

std::vector<Cause> causesOf(const Report &report) {
  return report::CauseTable(report).all();
}

} // namespace tally
