//===- Settle.cpp - Chooses what a kernel leaves open ---------------------===//

#include "tally/Compile/Settle.h"

#include "tally/Compile/Compile.h"
#include "tally/Compile/Prepare.h"
#include "tally/Compile/Stopwatch.h"
#include "tally/Deps/Earlier.h"
#include "tally/Machine/Memories.h"
#include "tally/Model/Check.h"
#include "tally/Model/Open.h"
#include "tally/Model/Rings.h"
#include "tally/Support/Counted.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace tally {
namespace {

/// So many kernels are compared, and so many instructions are planned for that in all.
constexpr double mostTried = 96;
constexpr double mostPlanned = 400'000;

/// What may be chosen at once.
struct Option {
  std::vector<InstrId> instrs = {};
  QueueId queue = {}; ///< of the instructions; none: they stand earlier
  std::vector<SlotsOf> rings = {};
};

class Settler {
public:
  Settler(const Kernel &kernel, const Request &request, const Machine &machine,
          Extractor &extractor)
      : machine(machine), extractor(extractor), quick(request),
        left(std::min(mostTried, mostPlanned / std::max<double>(1, kernel.instrs.size())) *
             request.effort),
        settled{kernel, {}} {
    quick.improve = false;
    quick.progress = {};
  }

  bool hasTimes() {
    time = timeOf(settled.kernel);
    return time.has_value();
  }

  bool isCutOff() const { return left < 1; }

  /// Chooses what shortens a run most, again and again.
  Settled run() {
    while (!isCutOff() && chooseBest()) {
    }
    return std::move(settled);
  }

private:
  bool chooseBest() {
    std::optional<Kernel> best;
    Choice choice{.before = *time, .after = *time};
    for (const Option &option : optionsOf(settled.kernel)) {
      std::optional<Kernel> other = isCutOff() ? std::nullopt : withOption(settled.kernel, option);
      std::optional<Tick> otherTime = other ? timeOf(*other) : std::nullopt;
      if (otherTime && *otherTime < choice.after) {
        choice.after = *otherTime;
        choice.what = textOf(settled.kernel, option);
        choice.isOrder = !option.instrs.empty() && !option.queue.valid();
        best = std::move(other);
      }
    }
    if (!best) {
      return false;
    }
    settled.kernel = std::move(*best);
    settled.choices.push_back(choice);
    time = choice.after;
    return true;
  }

  /// With code that is made quickly. None if there is none, or its run is not whole.
  std::optional<Tick> timeOf(const Kernel &any) {
    left -= 1;
    Diagnostics ignored;
    Kernel whole = findAsked(any, quick, machine, extractor, ignored);
    std::optional<Compiled> compiled =
        ignored.hasErrors() ? std::nullopt : compile(whole, quick, machine, ignored);
    return compiled ? Stopwatch(whole, machine, quick.assumedTrips).timeOf(compiled->code)
                    : std::nullopt;
  }

  //===--- What can be chosen ---------------------------------------------===//

  /// Those of many at once first.
  std::vector<Option> optionsOf(const Kernel &kernel) const {
    std::vector<Option> all;
    addQueues(kernel, all);
    addRings(kernel, all);
    if (quick.reorder) {
      for (std::vector<InstrId> &instrs : mayStandEarlier(kernel)) {
        all.push_back({.instrs = std::move(instrs)});
      }
    }
    std::ranges::stable_partition(
        all, [](const Option &option) { return option.instrs.size() + option.rings.size() > 1; });
    return all;
  }

  /// Each instruction to each of its other queues; and all that are on one queue to another one.
  static void addQueues(const Kernel &kernel, std::vector<Option> &all) {
    std::map<std::pair<QueueId, QueueId>, std::vector<InstrId>> together;
    for (const OpenQueues &open : kernel.openQueues) {
      for (QueueId other : open.others) {
        all.push_back({.instrs = {open.instr}, .queue = other});
        together[{kernel.instrs[open.instr].queue, other}].push_back(open.instr);
      }
    }
    for (auto &[fromTo, instrs] : together) {
      if (instrs.size() > 1) {
        all.push_back({.instrs = std::move(instrs), .queue = fromTo.second});
      }
    }
  }

  /// A slot more or less, twice as many, and as many as possible; the same for all rings.
  void addRings(const Kernel &kernel, std::vector<Option> &all) const {
    const auto accesses = accessesOf(kernel);
    Option oneMore, twice, most;
    for (BufferId id : kernel.buffers.ids()) {
      const std::optional<SlotBounds> bounds = kernel.buffers[id].ring;
      std::optional<SlotRing> ring = bounds ? ringOf(kernel, accesses[id]) : std::nullopt;
      if (!ring) {
        continue;
      }
      const uint64_t slots = kernel.buffers[id].shape[ring->dim];
      const uint64_t largest = mostSlots(kernel, id, ring->dim, bounds->max);
      std::vector<uint64_t> numbers = {std::min(slots + 1, largest), std::min(2 * slots, largest),
                                       largest, std::max(slots - 1, bounds->min)};
      oneMore.rings.push_back({id, numbers[0]});
      twice.rings.push_back({id, numbers[1]});
      most.rings.push_back({id, numbers[2]});
      std::ranges::sort(numbers);
      numbers.erase(std::ranges::unique(numbers).begin(), numbers.end());
      for (uint64_t number : numbers) {
        if (number != slots) {
          all.push_back({.rings = {{id, number}}});
        }
      }
    }
    if (most.rings.size() > 1) {
      all.insert(all.end(), {oneMore, twice, most});
    }
  }

  /// As many, up to some, as memory has room for; no fewer than there are.
  uint64_t mostSlots(Kernel kernel, BufferId id, size_t dim, uint64_t most) const {
    uint64_t &slots = kernel.buffers[id].shape[dim];
    uint64_t fitting = slots;
    while (fitting < most) { // `fitting` slots have room, and more than `most` have none
      slots = fitting + (most - fitting + 1) / 2;
      if (mayFit(kernel, machine)) {
        fitting = slots;
      } else {
        most = slots - 1;
      }
    }
    return fitting;
  }

  /// None if that is not legal, or takes more memory than there is.
  std::optional<Kernel> withOption(const Kernel &kernel, const Option &option) const {
    std::optional<Kernel> changed = kernel;
    for (InstrId id : option.queue.valid() ? option.instrs : std::vector<InstrId>()) {
      changed = onQueue(std::move(*changed), id, option.queue);
    }
    if (!option.queue.valid() && !option.instrs.empty()) {
      changed = withEarlier(kernel, option.instrs);
    }
    if (!option.rings.empty()) {
      changed = withSlots(*changed, option.rings);
    }
    Diagnostics problems;
    if (changed) {
      check(*changed, problems);
    }
    bool hasRoom = !changed || option.rings.empty() || mayFit(*changed, machine);
    return problems.hasErrors() || !hasRoom ? std::nullopt : changed;
  }

  static std::string textOf(const Kernel &kernel, const Option &option) {
    if (!option.instrs.empty()) {
      return option.queue.valid() ? fmt::format("{} on '{}'", namesOf(kernel, option.instrs),
                                                kernel.nameOf(option.queue))
                                  : earlierText(kernel, option.instrs);
    }
    std::vector<std::string> parts;
    for (const SlotsOf &ring : option.rings) {
      parts.push_back(fmt::format("{} slots for '{}'", ring.slots,
                                  kernel.text(kernel.buffers[ring.buffer].name)));
    }
    return fmt::format("{}", listed(parts));
  }

  const Machine &machine;
  Extractor &extractor;
  Request quick;
  double left; ///< kernels that may still be tried
  Settled settled;
  std::optional<Tick> time;
};

} // namespace

/// Some of many.
static std::string someOf(std::vector<std::string> texts) {
  constexpr size_t mostNamed = 6;
  const size_t more = texts.size() - std::min(mostNamed, texts.size());
  texts.resize(texts.size() - more);
  return fmt::format("{}{}", fmt::join(texts, "; "),
                     more == 0 ? "" : fmt::format("; and {} more", more));
}

void remarkOpen(const Kernel &kernel, std::string_view how, Diagnostics &diagnostics) {
  if (leavesOpen(kernel)) {
    diagnostics.remark(kernel.where,
                       fmt::format("of what kernel '{}' leaves open, {}: {}",
                                   kernel.text(kernel.name), how, someOf(openTexts(kernel))));
  }
}

/// What the order of the text has become.
static void remarkOrder(const Settled &settled, std::string_view how, Diagnostics &diagnostics) {
  std::vector<std::string> texts;
  for (const Choice &choice : settled.choices) {
    if (choice.isOrder) {
      texts.push_back(choice.what);
    }
  }
  const std::string name(settled.kernel.text(settled.kernel.name));
  diagnostics.remark(settled.kernel.where,
                     texts.empty() ? fmt::format("the order of kernel '{}' is kept: {}", name, how)
                                   : fmt::format("the order of kernel '{}' is changed, {}: {}",
                                                 name, how, someOf(std::move(texts))));
}

Settled settle(const Kernel &kernel, const Request &request, const Machine &machine,
               Extractor &extractor, Diagnostics &diagnostics) {
  if (!leavesOpen(kernel) && !request.reorder) {
    return {kernel, {}};
  }
  std::string_view why = !asksForDeps(kernel) || !request.findDeps ? "its dependences are written"
                         : request.strategy != Strategy::Auto      ? "only 'auto' chooses"
                                                                   : "";
  Settler settler(kernel, request, machine, extractor);
  if (why.empty() && !settler.hasTimes()) {
    why = "no run of it could be timed";
  }
  Settled settled = why.empty() ? settler.run() : Settled{kernel, {}};
  const std::string how = !why.empty() ? fmt::format("nothing is chosen, as {}", why)
                          : settler.isCutOff()
                              ? "this is best by simulated time, of what was tried (--effort)"
                              : "this is best by simulated time";
  remarkOpen(settled.kernel, how, diagnostics);
  if (request.reorder) {
    remarkOrder(settled, how, diagnostics);
  }
  return settled;
}

} // namespace tally
