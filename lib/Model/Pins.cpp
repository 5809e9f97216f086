//===- Pins.cpp - Semaphores that the user decides about ------------------===//

#include "tally/Model/Pins.h"

#include "../Support/Report.h"

#include <algorithm>

namespace tally {
namespace {

class PinChecker {
public:
  PinChecker(const Kernel &kernel, Diagnostics &diagnostics)
      : kernel(kernel), diagnostics(diagnostics) {}

  void run() {
    for (const Pin &pin : kernel.pins) {
      if (std::ranges::find(kernel.reserved, pin.semaphore) != kernel.reserved.end()) {
        report(diagnostics, pin.where,
               "{} is pinned to semaphore {}, which is reserved; pin it to another one, or do not "
               "reserve this one",
               name(pin), pin.semaphore)
            .note(kernel.where,
                  fmt::format("kernel '{}' reserves it here", kernel.text(kernel.name)));
      }
      if (isFirstOfInstr(pin)) {
        shares(pin);
      }
    }
  }

private:
  std::string name(const Pin &pin) const { return fmt::format("'{}'", kernel.nameOf(pin.instr)); }

  /// Later pins of an instruction must say the same, and are not looked at again.
  bool isFirstOfInstr(const Pin &pin) {
    auto [first, isNew] = pinOf.try_emplace(pin.instr, &pin);
    if (!isNew && first->second->semaphore != pin.semaphore) {
      report(diagnostics, pin.where,
             "{} is pinned to semaphore {} here, and to {} elsewhere; an instruction raises one "
             "semaphore",
             name(pin), pin.semaphore, first->second->semaphore)
          .note(first->second->where, "the other pin is here");
    }
    return isNew;
  }

  void shares(const Pin &pin) {
    auto [first, isNew] = firstOf.try_emplace(pin.semaphore, &pin);
    const Instr &one = kernel.instrs[first->second->instr];
    const Instr &other = kernel.instrs[pin.instr];
    const Queue &queue = kernel.queues[other.queue];
    bool mayMix = queue.completion == Completion::Split && queue.weight > 1;
    if (isNew || (one.queue == other.queue && one.home == other.home && !mayMix)) {
      return;
    }
    if (mayMix) {
      report(diagnostics, pin.where,
             "{} is pinned to semaphore {} like {}, but queue '{}' completes in parts, so that "
             "each of its instructions needs one of its own",
             name(pin), pin.semaphore, name(*first->second), kernel.nameOf(other.queue))
          .note(first->second->where, fmt::format("{} is pinned here", name(*first->second)));
      return;
    }
    report(diagnostics, pin.where,
           "{} is pinned to semaphore {} like {}, but is in another {}; only instructions of one "
           "queue in one body can share one",
           name(pin), pin.semaphore, name(*first->second),
           one.queue == other.queue ? "body" : "queue")
        .note(first->second->where, fmt::format("{} is pinned here", name(*first->second)));
  }

  const Kernel &kernel;
  Diagnostics &diagnostics;
  std::map<InstrId, const Pin *> pinOf;
  std::map<uint32_t, const Pin *> firstOf; ///< by semaphore
};

} // namespace

std::map<InstrId, uint32_t> pinnedSemaphores(const Kernel &kernel) {
  std::map<InstrId, uint32_t> pinned;
  for (const Pin &pin : kernel.pins) {
    pinned.emplace(pin.instr, pin.semaphore);
  }
  return pinned;
}

void checkPins(const Kernel &kernel, Diagnostics &diagnostics) {
  PinChecker(kernel, diagnostics).run();
}

} // namespace tally
