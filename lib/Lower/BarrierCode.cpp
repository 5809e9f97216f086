//===- BarrierCode.cpp - The operations by which engines meet -------------===//

#include "BarrierCode.h"

#include <fmt/format.h>

#include <algorithm>

namespace tally::lowering {

BarrierSite BarrierCode::add(const EngineSet &members, std::vector<SemaRun> reset,
                             bool shakesTwice) {
  BarrierId id = code.barriers.push(members);
  SemaId arrive = members.size() > 1 ? arriveOf(members) : SemaId();
  return {id, arrive, std::move(reset), shakesTwice};
}

SemaId BarrierCode::arriveOf(const EngineSet &members) {
  auto [found, isNew] = arrive.try_emplace(members);
  if (isNew) {
    found->second = code.semaphores.push({fmt::format("arrive{}", arrive.size() - 1)});
    for (size_t m = 1; m < members.size(); ++m) {
      if (!release[members[m]].valid()) {
        release[members[m]] =
            code.semaphores.push({fmt::format("release.{}", kernel.nameOf(members[m]))});
      }
    }
  }
  return found->second;
}

bool BarrierCode::isMember(const BarrierSite &site, EngineId engine) const {
  return std::ranges::binary_search(code.barriers[site.id], engine);
}

void BarrierCode::write(const BarrierSite &site, EngineId engine, std::vector<Op> &ops) const {
  ops.push_back(Op::mark(OpKind::BarrierBegin, site.id.value));
  ops.push_back(Op::drain());
  handshake(site, engine, ops);
  if (code.barriers[site.id].front() == engine) {
    for (const SemaRun &run : site.reset) {
      ops.push_back(Op::reset(SemaId(run.first), run.count));
    }
  }
  if (site.shakesTwice) {
    handshake(site, engine, ops);
  }
  ops.push_back(Op::mark(OpKind::BarrierEnd, site.id.value));
}

void BarrierCode::handshake(const BarrierSite &site, EngineId engine, std::vector<Op> &ops) const {
  const EngineSet &members = code.barriers[site.id];
  if (members.size() == 1) {
    return;
  }
  if (members.front() != engine) {
    ops.push_back(Op::makeSignal(site.arrive));
    ops.push_back(Op::makeWait(release[engine], Operand::number(1)));
    ops.push_back(Op::reset(release[engine], 1));
    return;
  }
  uint32_t others = static_cast<uint32_t>(members.size() - 1);
  ops.push_back(Op::makeWait(site.arrive, Operand::number(others)));
  ops.push_back(Op::reset(site.arrive, 1));
  for (size_t m = 1; m < members.size(); ++m) {
    ops.push_back(Op::makeSignal(release[members[m]]));
  }
}

} // namespace tally::lowering
