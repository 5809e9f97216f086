//===- Why.cpp - Why one instruction waits for another, or does not -------===//

#include "tally/Deps/Render.h"

#include "tally/Deps/Implied.h"

#include "ChainSearch.h"
#include "Clocks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tally {

using namespace deps;

namespace {

bool sameEnds(const Dep &a, const Dep &b) {
  return a.producer == b.producer && a.consumer == b.consumer;
}

/// The two instructions of which the user asks.
class Pair {
public:
  Pair(const Kernel &kernel, const ExtractOptions &options, Extractor &extractor, InstrId producer,
       InstrId consumer)
      : kernel(kernel), options(options), producer(producer), consumer(consumer),
        found(extractor.extract(kernel, options)), dropped(found), numFound(found.deps.size()) {
    addDropped(extractor.extractBetween(kernel, options, producer, consumer));
    markImplied(kernel, found);
    derive();
  }

  std::string text() const {
    std::string out =
        fmt::format("'{}' and then '{}':\n", kernel.nameOf(producer), kernel.nameOf(consumer));
    const size_t empty = out.size();
    for (const DerivedDep &derived : found.deps) {
      if (derived.dep.producer == producer && derived.dep.consumer == consumer) {
        out +=
            fmt::format("  {}\n      {}\n", describe(kernel, found, derived),
                        derived.isImplied() ? "implied by " + derivationText(kernel, found, derived)
                                            : "waited for");
      }
    }
    for (size_t d = numFound; d < dropped.deps.size(); ++d) {
      const DerivedDep &derived = dropped.deps[d];
      std::vector<std::string> how;
      if (!isServed(derived)) {
        how.emplace_back(isHidden(derived)
                             ? "written over in between"
                             : "waited for by a write in between, which may touch the same");
      }
      if (derived.isImplied()) {
        how.push_back("implied by " + derivationText(kernel, dropped, derived));
      }
      out += fmt::format("  {}\n      {}\n", describe(kernel, dropped, derived),
                         fmt::join(how, ", and "));
    }
    return out.size() == empty ? out + fmt::format("  {}\n", whyNone()) : out;
  }

private:
  bool isFound(const Extraction &own, const DerivedDep &derived) const {
    const Dep &dep = derived.dep;
    return std::ranges::any_of(found.deps, [&](const DerivedDep &other) {
      return sameEnds(other.dep, dep) && other.producerAccess == derived.producerAccess &&
             other.consumerAccess == derived.consumerAccess && other.dep.form == dep.form &&
             other.dep.step == dep.step && other.dep.table == dep.table &&
             std::ranges::equal(found.componentsOf(other.dep), own.componentsOf(dep));
    });
  }

  /// Whether what was touched is known, so that a write hides it. What may be anywhere is only
  /// waited for in turn.
  static bool isHidden(const DerivedDep &derived) {
    return derived.excess != Excess::Anywhere && derived.excess != Excess::Symbol;
  }

  /// Whether the consumer waits for the producer anyway, for other accesses, long enough.
  bool isServed(const DerivedDep &derived) const {
    if (derived.numSteps != 1) {
      return false;
    }
    const DerivationStep &step = dropped.steps[derived.firstStep];
    return step.kind == DerivationStep::Kind::Wait &&
           sameEnds(dropped.deps[step.dep].dep, derived.dep);
  }

  /// Behind those that are found, so that these keep their numbers.
  void addDropped(const Extraction &own) {
    for (DerivedDep derived : own.deps) {
      if (isFound(own, derived)) {
        continue;
      }
      std::span<const DistanceComponent> components = own.componentsOf(derived.dep);
      derived.dep.firstComponent = static_cast<uint32_t>(dropped.components.size());
      dropped.components.insert(dropped.components.end(), components.begin(), components.end());
      dropped.deps.push_back(derived);
    }
  }

  /// How those that were dropped follow from those that were found.
  void derive() {
    std::vector<bool> isAsked(dropped.deps.size(), false);
    std::fill(isAsked.begin() + static_cast<ptrdiff_t>(numFound), isAsked.end(), true);
    markImpliedByClocks(kernel, dropped, isAsked);
    Places places(kernel);
    WaitIndex index(kernel, dropped);
    Scratch scratch(kernel);
    ChainProblem problem{places, index, dropped, isAsked, scratch};
    for (size_t d = numFound; d < dropped.deps.size(); ++d) {
      if (!dropped.deps[d].isImplied()) {
        Chain chain = findChain(problem, d);
        dropped.deps[d].firstStep = static_cast<uint32_t>(dropped.steps.size());
        dropped.deps[d].numSteps = static_cast<uint32_t>(chain.steps.size());
        dropped.steps.insert(dropped.steps.end(), chain.steps.begin(), chain.steps.end());
      }
    }
  }

  std::string whyNone() const {
    auto touchesNothing = [&](InstrId instr) { return kernel.instrs[instr].accesses.empty(); };
    if (touchesNothing(producer) || touchesNothing(consumer)) {
      return fmt::format("nothing is known: the kernel does not say what '{}' touches",
                         kernel.nameOf(touchesNothing(producer) ? producer : consumer));
    }
    bool isOneQueue = kernel.instrs[producer].queue == kernel.instrs[consumer].queue;
    if (isOneQueue && !options.queueOverlap) {
      return "no wait is needed: one queue runs both, one after the other";
    }
    return fmt::format("no wait is needed: in no run does the second touch what the first has "
                       "touched before, so that one of them writes{}",
                       isOneQueue && kernel.queues[kernel.instrs[producer].queue].addsInOrder
                           ? ", unless both add to it"
                           : "");
  }

  const Kernel &kernel;
  const ExtractOptions &options;
  const InstrId producer;
  const InstrId consumer;
  Extraction found;
  Extraction dropped; ///< what was found, and behind it what was not kept
  const size_t numFound;
};

} // namespace

std::string whyText(const Kernel &kernel, const ExtractOptions &options, Extractor &extractor,
                    InstrId producer, InstrId consumer) {
  return Pair(kernel, options, extractor, producer, consumer).text();
}

} // namespace tally
