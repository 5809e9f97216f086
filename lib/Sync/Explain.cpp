//===- Explain.cpp - Why a dependence waits for what it waits for ---------===//

#include "tally/Sync/Explain.h"
#include "tally/Support/Counted.h"

#include "tally/Model/Place.h"
#include "tally/Model/RunNumbers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>

namespace tally {
namespace {

class Explainer {
public:
  Explainer(const Kernel &kernel, const SyncPlan &plan, DepId id)
      : kernel(kernel), plan(plan), id(id), dep(kernel.deps[id]), wait(plan.waits[id]),
        place(placeOf(kernel, dep, plan.countedIn(kernel, dep.producer))) {}

  std::vector<ExplainedPart> run() {
    add("class", fmt::format("{}: {}", toString(wait.waitClass), classText()));
    if (!wait.group.valid()) {
      return std::move(parts);
    }
    add("semaphore", semaphoreText());
    if (!wait.threshold.valid()) {
      return std::move(parts);
    }
    if (wait.waitClass != WaitClass::Static) {
      add("runs", runsText());
      add("mask", maskText());
    }
    add("threshold", toString(plan.exprs, wait.threshold, plan.rings, plan.rounds, kernel));
    add("exact", wait.exact ? "yes: passes the moment the dependence is satisfied"
                            : "no: may wait longer than the dependence asks");
    return std::move(parts);
  }

private:
  void add(std::string aspect, std::string text) {
    parts.push_back({std::move(aspect), std::move(text)});
  }

  std::string loop(LoopId l) const {
    return l == rootLoop ? "the kernel" : fmt::format("'{}'", kernel.nameOf(l));
  }

  /// Of two that are joined, either of them.
  std::string producer() const {
    if (wait.group.valid() && plan.groups[wait.group].isJoin()) {
      const Group &group = plan.groups[wait.group];
      return fmt::format("'{}' or '{}'", kernel.nameOf(group.inThen), kernel.nameOf(group.inElse));
    }
    return fmt::format("'{}'", kernel.nameOf(dep.producer));
  }

  std::string classText() const {
    switch (wait.waitClass) {
    case WaitClass::InShared:
      if (wait.outer.valid()) {
        return fmt::format("{} runs {} in each entry of {}", producer(),
                           counted(wait.times, "time"), loop(wait.outer));
      }
      return fmt::format("{} runs once in each iteration of {}, as does the shared body",
                         producer(), loop(place.shared));
    case WaitClass::Nested:
      return fmt::format("all runs of {} that this engine has passed on its own way are owed",
                         producer());
    case WaitClass::SameBranch:
      return fmt::format("{} is in the branch {} of this instruction; its run in the previous "
                         "time through the branch is owed",
                         producer(), loop(place.shared));
    case WaitClass::Ring:
      return fmt::format("the runs of {} are remembered for {} of {}", producer(),
                         counted(wait.maskOffset, "iteration"), loop(place.carrier));
    case WaitClass::Flat:
      return fmt::format("run number q needs run q - {} of {}, over the whole run{}", wait.minus,
                         producer(), dep.form == DistanceForm::Flat ? "" : jointText());
    case WaitClass::Element:
      if (wait.table.valid()) {
        return fmt::format(
            "of every {} of this instruction, each needs the run of {} that stands in "
            "the table {}; the next ones need {} more",
            counted(kernel.tables[wait.table].runs.size(), "run"), producer(),
            toString(kernel.tables[wait.table]), kernel.tables[wait.table].each);
      }
      return fmt::format("the first '{}' runs of {} in that iteration, or all it has", innerText(),
                         producer());
    case WaitClass::Nest:
      if (dep.form == DistanceForm::Element) {
        return fmt::format("this instruction and {} run equally often in each iteration, so run "
                           "number q of it needs run q{}, over the whole run",
                           producer(), wait.minus == 0 ? "" : fmt::format(" - {}", wait.minus));
      }
      return fmt::format("the loops from {} to {} have constant trips, so whole iterations of them "
                         "are numbers of runs of {}",
                         loop(place.carrier), loop(place.shared), producer());
    case WaitClass::Conservative:
      return "no exact value from registers; whole iterations are waited for";
    case WaitClass::Static:
      return plan.decisions.strategy == Strategy::Unrolled
                 ? "every run has a number, so the threshold of each is a constant"
                 : "between two barriers code is straight, so the threshold is a constant";
    case WaitClass::CoveredByBarrier:
      return "no wait: a barrier stands between the two";
    case WaitClass::Implied:
      return "no wait: other dependences imply it";
    case WaitClass::Never:
      return "no wait: nothing is ever owed";
    }
    return "";
  }

  /// Joint.h has the reason.
  static std::string_view jointText() {
    return "; together with the distances from here across the ends of loops around";
  }

  std::string semaphoreText() const {
    const Group &group = plan.groups[wait.group];
    std::string who =
        group.sole.valid() ? fmt::format("raised by {} alone", producer())
        : group.isJoin()
            ? fmt::format("raised by {}, of which each entry of the `if` runs one", producer())
            : fmt::format("raised by {} of queue '{}' in {}",
                          counted(group.numSignals, "instruction"), kernel.nameOf(group.queue),
                          group.body.valid() ? loop(group.body) : "the kernel");
    if (group.numSignals > 1 && group.body.valid()) {
      who += fmt::format("; {} is number {}", producer(), plan.placeOf[dep.producer]);
    }
    uint32_t weight = kernel.queues[group.queue].weight;
    return weight == 1 ? who : who + fmt::format(", by {} each", weight);
  }

  std::string runsText() const {
    bool places = plan.sharesQueue(dep.producer);
    std::string counter = places
                              ? fmt::format("place({})", kernel.nameOf(dep.producer))
                              : fmt::format("total({})", place.producerHome == rootLoop
                                                             ? "ROOT"
                                                             : kernel.nameOf(place.producerHome));
    std::string what =
        places ? fmt::format("the place of the latest run of {} on its queue", producer())
               : fmt::format("entries of {} so far, one run of {} each", loop(place.producerHome),
                             producer());
    if (wait.outer.valid()) {
      return outerText();
    }
    if (wait.waitClass == WaitClass::Element) {
      return elementText(counter, what);
    }
    if (wait.ring.valid()) {
      const Ring &ring = plan.rings[wait.ring];
      uint32_t back = ring.iterationsBack(wait.slot);
      return fmt::format("{} as it was {} of {} ago: {}", counter, counted(back, "iteration"),
                         loop(ring.loop), what);
    }
    if (wait.minus > 0) {
      return fmt::format("{} - {}: {}, less the last {}", counter, wait.minus, what, wait.minus);
    }
    return fmt::format("{}: {}", counter, what);
  }

  std::string outerText() const {
    std::string entries =
        fmt::format("total({})", wait.outer == rootLoop ? "ROOT" : kernel.nameOf(wait.outer));
    if (wait.minus > 0) {
      entries = fmt::format("({} - {})", entries, wait.minus);
    }
    std::string less = wait.less == 0 ? "" : fmt::format(" - {}", wait.less);
    return fmt::format("{}*{}{}: entries of {} so far{}, {} of {} each", wait.times, entries, less,
                       loop(wait.outer),
                       wait.minus == 0 ? "" : fmt::format(", less the last {}", wait.minus),
                       counted(wait.times, "run"), producer()) +
           (wait.less == 0 ? ""
                           : fmt::format(", less the {} after the one that is needed",
                                         wait.less == 1 ? "one" : counted(wait.less, "run"))) +
           limitsText();
  }

  /// Where the target may lie beyond the last iteration of a loop.
  std::string limitsText() const {
    std::string text;
    for (const NestLevel &level : plan.levelsOf(wait)) {
      if (level.times > 0) {
        text += fmt::format("; at most {}*(total({}) - {}), all that ran up to the end of the "
                            "target's iteration of {}",
                            level.times, kernel.nameOf(level.loop), level.minus, loop(level.loop));
      }
    }
    return text;
  }

  /// How many runs of the other nest, or loop, the number of this run in its own asks for.
  std::string innerText() const {
    RunNumbers numbers = *RunNumbers::below(kernel, wait.innerAround, wait.innerLoop);
    if (numbers.isSingle()) {
      return fmt::format("{}", 1 - wait.innerStep);
    }
    std::string text;
    for (size_t level = 0; level < numbers.loops().size(); ++level) {
      uint64_t runs = numbers.runsPerIteration(level);
      std::string factor = runs == 1 ? "" : fmt::format("{}*", runs);
      text += fmt::format("{}{}trip({})", level == 0 ? "" : " + ", factor,
                          kernel.nameOf(numbers.loops()[level]));
    }
    int64_t back = numbers.ahead() + wait.innerStep;
    return back == 0 ? text : fmt::format("{} {} {}", text, back > 0 ? '-' : '+', std::abs(back));
  }

  std::string elementText(const std::string &counter, const std::string &what) const {
    std::string before = wait.ring.valid() ? fmt::format("{} before that iteration of {}", counter,
                                                         loop(plan.rings[wait.ring].loop))
                                           : "0";
    bool isOne = wait.innerLoop == rootLoop;
    return fmt::format("{}, plus the {}, up to {} after it: {}", before,
                       wait.table.valid() ? "runs that the table asks for"
                       : isOne            ? "number of the run"
                                          : "inner index",
                       counter, what);
  }

  std::string maskText() const {
    std::vector<std::string> unowed;
    if (wait.maskLoop.valid()) {
      bool never = plan.exprs.isConstant(wait.threshold, 0);
      unowed.push_back(firstOf(wait.maskLoop, wait.maskOffset, wait.maskTotal) +
                       (never ? ", which is all that counters hold" : ""));
    }
    for (const NestLevel &level : plan.levelsOf(wait)) {
      if (level.skipped > 0) {
        unowed.push_back(firstOf(level.loop, level.skipped, false));
      }
    }
    int64_t first = wait.table.valid() ? *kernel.tables[wait.table].firstNeeding() : wait.innerStep;
    if (wait.innerLoop.valid() && wait.innerLoop != rootLoop && first > 0) {
      unowed.push_back(fmt::format("the first {} of this instruction in each {} of {}",
                                   counted(static_cast<uint64_t>(first), "run"),
                                   wait.innerAround == rootLoop ? "run" : "iteration",
                                   loop(wait.innerAround)));
    }
    return unowed.empty() ? "none: a run is owed from the first time on"
                          : fmt::format("nothing is owed in {}", fmt::join(unowed, ", nor in "));
  }

  std::string firstOf(LoopId id, uint32_t number, bool areEntries) const {
    std::string_view what = areEntries ? "entry" : "iteration";
    std::string_view many = areEntries ? "entries" : "iterations";
    return number == 1 ? fmt::format("the first {} of {}", what, loop(id))
                       : fmt::format("the first {} {} of {}", number, many, loop(id));
  }

  const Kernel &kernel;
  const SyncPlan &plan;
  const DepId id;
  const Dep &dep;
  const Wait &wait;
  const DepPlace place;
  std::vector<ExplainedPart> parts;
};

} // namespace

std::vector<ExplainedPart> explainWait(const Kernel &kernel, const SyncPlan &plan, DepId dep) {
  return Explainer(kernel, plan, dep).run();
}

} // namespace tally
