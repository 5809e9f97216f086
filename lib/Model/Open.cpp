//===- Open.cpp - What a kernel leaves open -------------------------------===//

#include "tally/Model/Open.h"

#include "../Support/Report.h"

#include "tally/Model/ComputeText.h"
#include "tally/Model/Place.h"
#include "tally/Model/Rings.h"

#include <algorithm>

namespace tally {
namespace {

class OpenChecker {
public:
  OpenChecker(const Kernel &kernel, Diagnostics &diagnostics)
      : kernel(kernel), diagnostics(diagnostics) {}

  void run() {
    if (!kernel.openQueues.empty()) {
      divergent = divergentLoops(kernel);
    }
    for (const OpenQueues &open : kernel.openQueues) {
      queues(open);
    }
    if (std::ranges::any_of(kernel.buffers,
                            [](const Buffer &each) { return each.ring.has_value(); })) {
      accesses = accessesOf(kernel);
    }
    for (BufferId id : kernel.buffers.ids()) {
      if (kernel.buffers[id].ring) {
        ring(id);
      }
    }
  }

private:
  void queues(const OpenQueues &open) {
    const Instr &instr = kernel.instrs[open.instr];
    std::vector<QueueId> named = {instr.queue};
    for (QueueId queue : open.others) {
      if (std::ranges::count(named, queue) != 0) {
        report(diagnostics, instr.where,
               "instruction '{}' names queue '{}' twice; each is one choice",
               kernel.nameOf(open.instr), kernel.nameOf(queue));
      }
      named.push_back(queue);
    }
    if (usesKept(kernel, open.instr)) {
      report(diagnostics, instr.where,
             "instruction '{}' uses what its queue '{}' keeps, so no other queue can be left open; "
             "drop 'or'",
             kernel.nameOf(open.instr), kernel.nameOf(instr.queue));
    }
    if (LoopId loop = divergent[instr.home]; loop.valid()) {
      report(diagnostics, instr.where,
             "instruction '{}' runs as often as its engine says, since engines may disagree on "
             "'{}', so no other queue can be left open; drop 'or'",
             kernel.nameOf(open.instr), kernel.nameOf(loop));
    }
  }

  void ring(BufferId id) {
    const Buffer &buffer = kernel.buffers[id];
    const SlotBounds bounds = *buffer.ring;
    const std::string_view name = kernel.text(buffer.name);
    if (bounds.min == 0 || bounds.max < bounds.min) {
      report(
          diagnostics, buffer.where,
          "buffer '{}' may have from {} to {} slots; at least 1, and the minimum must not exceed "
          "the maximum",
          name, bounds.min, bounds.max);
      return;
    }
    if (!hasOpenPlace(kernel, id)) {
      report(diagnostics, buffer.where,
             "the slots of buffer '{}' are left open, but its place is not; drop 'ring', or drop "
             "addresses and 'alias' of what shares its memory",
             name);
      return;
    }
    std::optional<SlotRing> found = ringOf(kernel, accesses[id]);
    if (!found) {
      report(diagnostics, buffer.where,
             "the slots of buffer '{}' are left open, but not seen to be taken in turn: each tile "
             "takes one slot, as '{}[A mod {}]', by one loop or its total, after that slot was "
             "surely written; otherwise, drop 'ring'",
             name, name, buffer.shape.empty() ? 1 : buffer.shape[0]);
      return;
    }
    const uint64_t slots = buffer.shape[found->dim];
    if (slots < bounds.min || slots > bounds.max) {
      report(diagnostics, buffer.where,
             "buffer '{}' has {} slots, which is not from {} to {}; its shape says how many it has "
             "until others are chosen",
             name, slots, bounds.min, bounds.max);
    }
    if (bounds.min < found->least) {
      report(diagnostics, buffer.where,
             "buffer '{}' may have {} slots, but its tiles use {} at one time; say 'ring min {}'",
             name, bounds.min, found->least, found->least);
    }
  }

  const Kernel &kernel;
  Diagnostics &diagnostics;
  IdVector<LoopId, LoopId> divergent;
  IdVector<BufferId, std::vector<AccessId>> accesses;
};

/// The slots of a buffer that leaves them open; its other extents are none.
uint64_t slotsOf(const Kernel &kernel, BufferId id,
                 const IdVector<BufferId, std::vector<AccessId>> &accesses) {
  std::optional<SlotRing> ring = ringOf(kernel, accesses[id]);
  return ring ? kernel.buffers[id].shape[ring->dim] : 0;
}

} // namespace

bool usesKept(const Kernel &kernel, InstrId id) {
  const NameId text = kernel.instrs[id].computes;
  if (!text.valid()) {
    return false;
  }
  const ParsedCompute &compute = (*kernel.computes)[text].compute;
  auto isKept = [](const ComputeNode &node) { return node.op == ComputeOp::Kept; };
  return std::ranges::any_of(compute.nodes, isKept) ||
         std::ranges::count(compute.results, ComputeResult::Kind::Keep, &ComputeResult::kind) != 0;
}

IdVector<InstrId, bool> tiedInstrs(const Kernel &kernel) {
  const IdVector<LoopId, LoopId> divergent = divergentLoops(kernel);
  IdVector<InstrId, bool> result(kernel.instrs.size(), false);
  for (InstrId id : kernel.instrs.ids()) {
    result[id] = divergent[kernel.instrs[id].home].valid() || usesKept(kernel, id);
  }
  return result;
}

void checkOpen(const Kernel &kernel, Diagnostics &diagnostics) {
  OpenChecker(kernel, diagnostics).run();
}

bool leavesOpen(const Kernel &kernel) {
  return !kernel.openQueues.empty() || std::ranges::any_of(kernel.buffers, [](const Buffer &each) {
    return each.ring.has_value();
  });
}

std::string namesOf(const Kernel &kernel, const std::vector<InstrId> &instrs) {
  constexpr size_t mostNamed = 4;
  std::string text;
  for (size_t i = 0; i < std::min(mostNamed, instrs.size()); ++i) {
    text += fmt::format("{}'{}'", i == 0 ? "" : ", ", kernel.nameOf(instrs[i]));
  }
  return instrs.size() <= mostNamed
             ? text
             : fmt::format("{} and {} more", text, instrs.size() - mostNamed);
}

std::vector<std::string> openTexts(const Kernel &kernel) {
  std::vector<std::string> texts;
  for (const OpenQueues &open : kernel.openQueues) {
    std::vector<std::string> others;
    for (QueueId queue : open.others) {
      others.push_back(fmt::format("'{}'", kernel.nameOf(queue)));
    }
    texts.push_back(fmt::format("'{}' is on '{}' (or {})", kernel.nameOf(open.instr),
                                kernel.nameOf(kernel.instrs[open.instr].queue),
                                fmt::join(others, ", ")));
  }
  const auto accesses = accessesOf(kernel);
  for (BufferId id : kernel.buffers.ids()) {
    const Buffer &buffer = kernel.buffers[id];
    if (buffer.ring) {
      texts.push_back(fmt::format("'{}' has {} slots ({} to {})", kernel.text(buffer.name),
                                  slotsOf(kernel, id, accesses), buffer.ring->min,
                                  buffer.ring->max));
    }
  }
  return texts;
}

Kernel onQueue(Kernel kernel, InstrId id, QueueId queue) {
  for (OpenQueues &open : kernel.openQueues) {
    if (open.instr == id) {
      std::ranges::replace(open.others, queue, kernel.instrs[id].queue);
    }
  }
  kernel.instrs[id].queue = queue;
  return kernel;
}

/// If these are the same queues, in any order: the one that is chosen, and the others in its order.
static void chooseQueue(Kernel &kernel, OpenQueues &open, const Kernel &made) {
  std::vector<QueueId> known = open.others, chosen;
  known.push_back(kernel.instrs[open.instr].queue);
  auto choose = [&](QueueId wanted) {
    auto found = std::ranges::find_if(
        known, [&](QueueId each) { return kernel.nameOf(each) == made.nameOf(wanted); });
    if (found != known.end()) {
      chosen.push_back(*found);
      known.erase(found);
    }
  };
  choose(made.instrs[open.instr].queue);
  for (QueueId other : made.otherQueues(open.instr)) {
    choose(other);
  }
  if (known.empty() && chosen.size() == open.others.size() + 1) {
    kernel.instrs[open.instr].queue = chosen[0];
    open.others.assign(chosen.begin() + 1, chosen.end());
  }
}

Kernel chosenAs(Kernel kernel, const Kernel &made) {
  if (made.instrs.size() != kernel.instrs.size() || made.buffers.size() != kernel.buffers.size()) {
    return kernel;
  }
  for (OpenQueues &open : kernel.openQueues) {
    chooseQueue(kernel, open, made);
  }
  const auto accesses = accessesOf(kernel);
  std::vector<SlotsOf> slots;
  for (BufferId id : kernel.buffers.ids()) {
    const std::optional<SlotBounds> bounds = kernel.buffers[id].ring;
    std::optional<SlotRing> ring = bounds ? ringOf(kernel, accesses[id]) : std::nullopt;
    const std::vector<uint64_t> &shape = made.buffers[id].shape;
    if (ring && ring->dim < shape.size() && shape[ring->dim] >= bounds->min &&
        shape[ring->dim] <= bounds->max) {
      slots.push_back({id, shape[ring->dim]});
    }
  }
  std::optional<Kernel> withThem = slots.empty() ? std::nullopt : withSlots(kernel, slots);
  return withThem ? std::move(*withThem) : std::move(kernel);
}

} // namespace tally
