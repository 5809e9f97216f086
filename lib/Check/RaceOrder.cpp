//===- RaceOrder.cpp - Reports about two instructions ---------------------===//
//
// Two instructions touch the same memory, or a dependence is between them, and nothing makes the
// later one wait: the two of them, which wait is missing, and which dependence would ask for it.
//
//===----------------------------------------------------------------------===//

#include "RaceReports.h"
#include "RaceStory.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace tally {

using namespace check;

namespace {

/// The two ends of a fault in the order of the kernel's text, executed one by one.
class OrderStory : Story {
public:
  OrderStory(const RaceSubject &subject, const OrderFault &fault)
      : Story(subject), fault(fault), producer(fault.producer()), consumer(fault.consumer()) {
    producerActive = fault.earlierIssued ? activeOf(fault.earlier) : Active();
    consumerActive = activeOf(fault.later);
    if (fault.swapped) {
      std::swap(producerActive, consumerActive);
      std::swap(producerWrites, consumerWrites);
    }
  }

  RaceReport report() const {
    RaceReport report = briefReportOf(subject, fault);
    report.facts.clear();
    report.count = fault.count;
    Diagnostic &text = report.text;
    text.where = kernel.instrs[consumer.instr].where;
    text.message = fault.dep.valid() ? unorderedMessage() : raceMessage();
    text.note(kernel.instrs[producer.instr].where,
              fmt::format("'{}' is here", kernel.nameOf(producer.instr)));
    text.note(text.where, waitNote());
    if (fault.reversed) {
      text.note(text.where,
                fmt::format("the code has them the other way round: '{}' waits until "
                            "'{}' is over",
                            kernel.nameOf(producer.instr), kernel.nameOf(consumer.instr)));
    }
    if (std::string note = dependenceNote(); !note.empty()) {
      text.note(text.where, note);
    }
    if (fault.count > 1) {
      text.note(text.where, fmt::format("{} times in this schedule", fault.count));
    }
    facts(report);
    return report;
  }

private:
  static uint64_t iterationOf(const Active &active, LoopId loop) {
    auto found = std::ranges::find(active, loop, &LoopIteration::loop);
    return found != active.end() ? found->iteration : 0;
  }

  std::string raceMessage() const {
    size_t numCells = commonCells().size();
    return fmt::format("race: nothing makes {}, which {} {}, wait for {}, which {} {}",
                       nameOf(consumer), consumerWrites ? "writes" : "reads", elementsText(),
                       nameOf(producer), producerWrites ? "writes" : "reads",
                       numCells > 1 ? "them" : "it");
  }

  /// Whether an instruction writes each cell that it touches.
  std::map<CellId, bool> touchedBy(Instance instance) const {
    std::map<CellId, bool> touched;
    subject.datapath->footprint(instance).forEach(
        [&](CellId cell, AccessKind kind) { touched[cell] |= kind != AccessKind::Read; });
    return touched;
  }

  /// What both touch and one of them writes.
  std::vector<CellId> commonCells() const {
    std::vector<CellId> common;
    std::map<CellId, bool> touched = touchedBy(fault.earlier);
    for (auto [cell, writes] : touchedBy(fault.later)) {
      auto other = touched.find(cell);
      if (other != touched.end() && (writes || other->second)) {
        common.push_back(cell);
      }
    }
    return common;
  }

  /// `X[0]`, `X[0, 0:32], X[0, 32:64] and 6 other places`.
  std::string elementsText() const {
    constexpr size_t most = 3;
    std::vector<CellId> cells = commonCells();
    std::string text;
    for (size_t i = 0; i < std::min(cells.size(), most); ++i) {
      text += fmt::format("{}{}", i == 0 ? "" : ", ", subject.datapath->describe(cells[i]));
    }
    size_t more = cells.size() - std::min(cells.size(), most);
    return more == 0
               ? text
               : fmt::format("{} and {} other {}", text, more, more == 1 ? "place" : "places");
  }

  std::string unorderedMessage() const {
    return fmt::format("unordered: {} does not wait for {}, as the dependence {} asks{}",
                       nameOf(fault.later), nameOf(fault.earlier),
                       tally::describe(kernel, fault.dep),
                       fault.earlierIssued ? "" : "; it may not even have been issued");
  }

  /// What the consumer should wait for, and what it does wait for.
  std::string waitNote() const {
    QueueId queue = queueOf(producer.instr);
    uint32_t number = numberOf(producer);
    std::string_view name = kernel.nameOf(consumer.instr);
    if (number == 0) {
      return fmt::format("the code of '{}' never issues that run of '{}'",
                         kernel.nameOf(kernel.engineOf(producer.instr)),
                         kernel.nameOf(producer.instr));
    }
    SemaId raised = system.issueAt(queue, number - 1).signal;
    if (!raised.valid()) {
      return fmt::format("'{}' raises no semaphore that '{}' could wait for; let it raise one",
                         kernel.nameOf(producer.instr), name);
    }
    uint64_t value = valueAfter(queue, number, raised);
    uint32_t asked = askedOf(raised);
    if (!isReset(raised) && asked >= value) {
      return othersNote(raised, asked);
    }
    bool isNumber = !isReset(raised) && whoElse(raised, queue).empty();
    std::string what =
        isNumber ? fmt::format("for '{}' >= {}", sema(raised), value)
                 : fmt::format("until {} has raised '{}'", nameOf(producer), sema(raised));
    return fmt::format("'{}' has to wait {}; it waits for {}", name, what, waitsText(raised));
  }

  /// The most that the consumer waits for the semaphore to come to; 0: nothing that it can hold.
  uint32_t askedOf(SemaId raised) const {
    uint32_t most = 0;
    for (const WaitAt &wait : waitsBefore(kernel.engineOf(consumer.instr), placeOf(consumer))) {
      bool isAsked = wait.op->wait == raised && wait.threshold < subject.machine.counterLimit();
      most = isAsked ? std::max(most, wait.threshold) : most;
    }
    return most;
  }

  /// It is at least what the producer alone would bring about, but does not say who did.
  std::string othersNote(SemaId raised, uint32_t value) const {
    QueueId queue = queueOf(producer.instr);
    std::string parts = fmt::format("that may come from parts of later instructions of '{}', which "
                                    "completes in parts: wait for all that are in flight, or use "
                                    "semaphores in turn",
                                    kernel.nameOf(queue));
    std::string others = whoElse(raised, queue);
    return fmt::format("'{}' waits for '{}' >= {}, but {}", kernel.nameOf(consumer.instr),
                       sema(raised), value,
                       system.isSplit(queue) ? parts
                       : others.empty()      ? "it may be raised by something else, too"
                                             : others);
  }

  /// What raises it beside runs of the queue: runs of other queues, or a `signal` in some code. No
  /// number then stands for a run. Empty if nothing does.
  std::string whoElse(SemaId raised, QueueId queue) const {
    std::string signals;
    for (EngineId engine : kernel.engines.ids()) {
      for (const Op &op : subject.code.engines[engine].ops) {
        if (op.kind == OpKind::Issue && op.signal == raised &&
            kernel.instrs[op.instr()].queue != queue) {
          return fmt::format("others than '{}' raise it, too: use a semaphore for each queue, or "
                             "wait for all of them",
                             kernel.nameOf(queue));
        }
        if (op.kind == OpKind::Signal && op.signal == raised) {
          signals = fmt::format("a signal in the code of '{}' raises it, too, and may be what the "
                                "wait has counted",
                                kernel.nameOf(engine));
        }
      }
    }
    return signals;
  }

  /// `'s' >= 1`, or how its register came to be wrong.
  std::string waitsText(SemaId raised) const {
    EngineId engine = kernel.engineOf(consumer.instr);
    std::string text;
    for (const WaitAt &wait : waitsBefore(engine, placeOf(consumer))) {
      text += fmt::format("{}'{}' >= {}", text.empty() ? "" : " and ", sema(wait.op->wait),
                          wait.threshold);
      std::string note = wait.op->wait == raised ? registerNote(engine, wait.at) : "";
      text += note.empty() ? "" : " (" + note + ")";
    }
    return text.empty() ? "nothing" : text;
  }

  /// The dependence that would ask for the order, unless the kernel has it.
  std::string dependenceNote() const {
    if (fault.dep.valid()) {
      return {};
    }
    std::string weaker;
    for (DepId id : subject.owed.depsOf(consumer.instr)) {
      if (kernel.deps[id].producer != producer.instr) {
        continue;
      }
      if (subject.owed.of(id, consumer.run) > producer.run) {
        return fmt::format("the kernel has the dependence {}", tally::describe(kernel, id));
      }
      weaker = fmt::format("; {} asks for less", tally::describe(kernel, id));
    }
    return fmt::format("the dependence it would need: {}{}", missingDependence(), weaker);
  }

  std::string missingDependence() const {
    std::string_view kind = !producerWrites ? "war" : consumerWrites ? "waw" : "raw";
    return fmt::format("tally.dep \"{}\" -> \"{}\" {}{}", kernel.nameOf(producer.instr),
                       kernel.nameOf(consumer.instr), kind, distanceText());
  }

  /// Vectors with a negative part are rather counted in runs, where both are in one body.
  std::string distanceText() const {
    std::string text;
    bool negative = false;
    LoopId producerHome = kernel.instrs[producer.instr].home;
    LoopId consumerHome = kernel.instrs[consumer.instr].home;
    for (LoopId loop : kernel.realLoops(kernel.commonLoop(producerHome, consumerHome))) {
      int64_t distance =
          int64_t(iterationOf(consumerActive, loop)) - int64_t(iterationOf(producerActive, loop));
      negative |= distance < 0;
      if (distance != 0) {
        text += fmt::format("{} \"{}\" = {}", text.empty() ? " at" : ",", kernel.nameOf(loop),
                            distance);
      }
    }
    return negative && producerHome == consumerHome && consumer.run >= producer.run
               ? fmt::format(" flat {}", consumer.run - producer.run)
               : text;
  }

  void facts(RaceReport &report) const {
    auto add = [&](const char *key, std::string value) {
      report.facts.emplace_back(key, std::move(value));
    };
    add("first", std::string(kernel.nameOf(producer.instr)));
    add("first_iteration", iterationText(kernel, producerActive));
    add("second", std::string(kernel.nameOf(consumer.instr)));
    add("second_iteration", iterationText(kernel, consumerActive));
    if (fault.dep.valid()) {
      add("dependence", tally::describe(kernel, fault.dep));
    } else {
      add("first_access", producerWrites ? "write" : "read");
      add("second_access", consumerWrites ? "write" : "read");
      add("elements", elementsText());
      add("needs", missingDependence());
      if (fault.reversed) {
        add("reversed", "true");
      }
    }
  }

  const OrderFault &fault;
  const Instance producer, consumer;
  Active producerActive, consumerActive;
  bool producerWrites = fault.earlierWrites, consumerWrites = fault.laterWrites;
};
} // namespace

RaceReport check::briefReportOf(const RaceSubject &subject, const OrderFault &fault) {
  RaceReport report;
  report.kind = fault.dep.valid() ? ReportKind::Unordered : ReportKind::Race;
  report.producer = fault.producer().instr;
  report.consumer = fault.consumer().instr;
  report.facts = {{"first", std::string(subject.kernel.nameOf(report.producer))},
                  {"second", std::string(subject.kernel.nameOf(report.consumer))}};
  return report;
}

RaceReport check::reportOf(const RaceSubject &subject, const OrderFault &fault) {
  return OrderStory(subject, fault).report();
}

} // namespace tally
