//===- Render.cpp - Found dependences for people and programs -------------===//

#include "tally/Deps/Render.h"
#include "tally/Support/Counted.h"

#include "tally/Deps/Bounds.h"

#include "tally/Model/Iterations.h"
#include "tally/Model/Source.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>
#include <span>
#include <unordered_map>

namespace tally {
namespace {

using Json = nlohmann::ordered_json;

std::string_view verb(AccessKind kind) {
  return kind == AccessKind::Read ? "reads" : kind == AccessKind::Write ? "writes" : "accumulates";
}

/// The words for one kernel and its dependences.
class Words {
public:
  Words(const Kernel &kernel, const Extraction &extraction)
      : kernel(kernel), extraction(extraction) {}

  std::string distance(const Dep &dep) const {
    return distanceText(kernel, dep, extraction.componentsOf(dep), extraction.tables);
  }

  std::string edge(const Dep &dep) const {
    return fmt::format("'{}' -> '{}'{}", kernel.nameOf(dep.producer), kernel.nameOf(dep.consumer),
                       distance(dep));
  }

  std::string access(InstrId instr, AccessId id) const {
    return fmt::format("{} {} {}", nameWithSource(kernel, instr), verb(kernel.accesses[id].kind),
                       text(id));
  }

  /// Where a dependence comes from, below its line.
  std::string explanation(const DerivedDep &derived) const {
    const Dep &dep = derived.dep;
    std::string out = fmt::format("      {}; {}\n", access(dep.producer, derived.producerAccess),
                                  access(dep.consumer, derived.consumerAccess));
    if (hasExample(derived)) {
      out += fmt::format("      {} {} and then {}\n",
                         isKnownToMeet(derived.excess) ? "for example" : "taken to meet:",
                         runText(producerOf(derived)), runText(consumerOf(derived)));
    }
    return derived.excess == Excess::None
               ? out
               : out + fmt::format("      {}\n", reasonOf(kernel, derived));
  }

  /// The chain that implies a dependence, from the consumer back to the producer.
  std::string derivation(const DerivedDep &derived) const {
    std::string out;
    for (const DerivationStep &step :
         std::span(extraction.steps).subspan(derived.firstStep, derived.numSteps)) {
      out += out.empty() ? "" : ", ";
      switch (step.kind) {
      case DerivationStep::Kind::Wait:
        out += edge(extraction.deps[step.dep].dep);
        break;
      case DerivationStep::Kind::Branches:
        out += fmt::format("{}, as for '{}' in the other branch",
                           edge(extraction.deps[step.dep].dep), kernel.nameOf(step.earlier));
        break;
      case DerivationStep::Kind::Engine:
        out +=
            fmt::format("'{}' comes after '{}' on '{}'", kernel.nameOf(step.later),
                        kernel.nameOf(step.earlier), kernel.nameOf(kernel.engineOf(step.earlier)));
        break;
      case DerivationStep::Kind::Queue:
        out += fmt::format("'{}' retires before '{}'", kernel.nameOf(step.earlier),
                           kernel.nameOf(step.later));
        break;
      case DerivationStep::Kind::Runs:
        out += fmt::format("other waits, which differ from run to run: all {} of '{}' were gone "
                           "through",
                           step.dep, kernel.nameOf(step.later));
        break;
      }
    }
    return out;
  }

  Json json(const DerivedDep &derived) const {
    const Dep &dep = derived.dep;
    Json object = {{"producer", kernel.nameOf(dep.producer)},
                   {"consumer", kernel.nameOf(dep.consumer)},
                   {"kind", toString(dep.kind)},
                   {"class", className(dep)},
                   {"distance", Json::object()}};
    for (const DistanceComponent &c : extraction.componentsOf(dep)) {
      object["distance"][std::string(kernel.nameOf(c.loop))] = c.distance;
    }
    for (auto [key, instr] :
         {std::pair("producer_loc", dep.producer), {"consumer_loc", dep.consumer}}) {
      std::string source = sourceJson(kernel, kernel.instrs[instr].where);
      if (!source.empty()) {
        object[key] = Json::parse(source);
      }
    }
    if (dep.table.valid()) {
      const RunTable &table = extraction.tables[dep.table];
      object["element"] = {{"runs", table.runs}, {"each", table.each}};
      if (table.over.valid()) {
        object["element"]["over"] = kernel.nameOf(table.over);
      }
    } else if (dep.form != DistanceForm::Vector) {
      object[toString(dep.form)] = dep.step;
    }
    object["exact"] = derived.excess == Excess::None;
    object["reason"] = derived.excess == Excess::None ? Json() : Json(reasonOf(kernel, derived));
    object["implied_by"] = derived.isImplied() ? Json(derivation(derived)) : Json();
    object["producer_access"] = text(derived.producerAccess);
    object["consumer_access"] = text(derived.consumerAccess);
    object["example"] = hasExample(derived) ? Json{{"producer", runJson(producerOf(derived))},
                                                   {"consumer", runJson(consumerOf(derived))}}
                                            : Json();
    return object;
  }

private:
  std::string_view text(AccessId access) const { return kernel.text(kernel.accesses[access].text); }

  /// Whether it is known where both tiles lie.
  static bool isKnownToMeet(Excess excess) {
    return excess == Excess::None || excess == Excess::Guarded || excess == Excess::Varies;
  }

  static bool hasExample(const DerivedDep &derived) { return derived.excess != Excess::Undecided; }

  /// One run of an example: which one, from 0, or in which iterations.
  struct Run {
    InstrId instr;
    std::optional<int64_t> number;
    std::vector<LoopIteration> iterations;
  };

  Run runOf(const DerivedDep &derived, InstrId instr, size_t first, size_t count) const {
    std::span<const int64_t> at = std::span(extraction.iterations).subspan(first, count);
    std::vector<LoopId> loops = kernel.realLoops(kernel.instrs[instr].home);
    Run run{instr, {}, {}};
    if (derived.dep.form == DistanceForm::Flat || at.size() != loops.size()) {
      run.number = at[0];
      return run;
    }
    for (size_t i = 0; i < at.size(); ++i) {
      run.iterations.push_back({loops[i], static_cast<uint64_t>(at[i])});
    }
    return run;
  }

  Run producerOf(const DerivedDep &derived) const {
    return runOf(derived, derived.dep.producer, derived.firstIteration,
                 derived.numProducerIterations);
  }

  Run consumerOf(const DerivedDep &derived) const {
    return runOf(derived, derived.dep.consumer,
                 derived.firstIteration + derived.numProducerIterations,
                 derived.numConsumerIterations);
  }

  /// `'load' at A = 1`, or `run 3 of 'load'`.
  std::string runText(const Run &run) const {
    std::string words = fmt::format("'{}'", kernel.nameOf(run.instr));
    if (run.number) {
      return fmt::format("run {} of {}", *run.number, words);
    }
    std::string when = iterationText(kernel, run.iterations);
    return when.empty() ? words : fmt::format("{} at {}", words, when);
  }

  Json runJson(const Run &run) const {
    if (run.number) {
      return {{"run", *run.number}};
    }
    Json object = Json::object();
    for (const LoopIteration &at : run.iterations) {
      object[std::string(kernel.nameOf(at.loop))] = at.iteration;
    }
    return object;
  }

  std::string_view className(const Dep &dep) const {
    return dep.form == DistanceForm::Flat      ? "flat"
           : dep.form == DistanceForm::Element ? "element"
           : isConditional(dep)                ? "conditional"
                                               : "vector";
  }

  /// A branch around one of the two, inside all loops around both, is passed over when it is not
  /// taken.
  bool isConditional(const Dep &dep) const {
    LoopId producer = kernel.instrs[dep.producer].home;
    LoopId consumer = kernel.instrs[dep.consumer].home;
    LoopId loop = kernel.realLoop(kernel.commonLoop(producer, consumer));
    for (LoopId l : {producer, consumer}) {
      for (; l != loop; l = kernel.loops[l].parent) {
        if (kernel.loops[l].isBranch()) {
          return true;
        }
      }
    }
    return false;
  }

  const Kernel &kernel;
  const Extraction &extraction;
};

} // namespace

/// Dependences of one reason, such as those between the same tiles, share a remark.
void remarkExcess(const Kernel &kernel, const Extraction &extraction, Diagnostics &diagnostics) {
  struct Excessive {
    const DerivedDep *first;
    std::string reason;
    size_t numMore = 0;
  };

  Words words(kernel, extraction);
  std::vector<Excessive> all;
  std::unordered_map<std::string, size_t> byReason;
  for (const DerivedDep &derived : extraction.deps) {
    if (derived.excess != Excess::None && !derived.isImplied()) {
      std::string reason = reasonOf(kernel, derived);
      auto [known, isNew] = byReason.try_emplace(reason, all.size());
      if (isNew) {
        all.push_back({&derived, std::move(reason)});
      } else {
        ++all[known->second].numMore;
      }
    }
  }
  for (const Excessive &one : all) {
    std::string more =
        one.numMore == 0 ? ""
                         : fmt::format(", and so may {}", counted(one.numMore, "more dependence"));
    diagnostics.remark(one.first->dep.where,
                       fmt::format("{} may wait longer than it has to{}: {}",
                                   words.edge(one.first->dep), more, one.reason));
  }
}

std::string describe(const Kernel &kernel, const Extraction &extraction,
                     const DerivedDep &derived) {
  Words words(kernel, extraction);
  return fmt::format("{} ({}; {})", words.edge(derived.dep),
                     words.access(derived.dep.producer, derived.producerAccess),
                     words.access(derived.dep.consumer, derived.consumerAccess));
}

std::string derivationText(const Kernel &kernel, const Extraction &extraction,
                           const DerivedDep &derived) {
  return Words(kernel, extraction).derivation(derived);
}

std::string renderText(const Kernel &kernel, const Extraction &extraction, std::string_view machine,
                       bool explain) {
  Words words(kernel, extraction);
  auto numImplied = std::count_if(extraction.deps.begin(), extraction.deps.end(),
                                  [](const DerivedDep &derived) { return derived.isImplied(); });
  size_t numKept = extraction.deps.size() - static_cast<size_t>(numImplied);
  std::string out = fmt::format("kernel '{}', {}: {} from {}, {} more implied\n",
                                kernel.text(kernel.name), machine, counted(numKept, "dependence"),
                                counted(kernel.accesses.size(), "access"), numImplied);
  if (kernel.accesses.empty()) {
    out += "  nothing is compared: the kernel does not say what its instructions touch\n";
  }
  auto add = std::back_inserter(out);
  if (extraction.numUnsearched != 0) {
    fmt::format_to(add,
                   "  {} of them may follow from others: the search for a chain was cut short\n",
                   extraction.numUnsearched);
  }
  for (const DerivedDep &derived : extraction.deps) {
    if (derived.isImplied()) {
      continue;
    }
    fmt::format_to(add, "  {:<44} {}  {}\n", words.edge(derived.dep), toString(derived.dep.kind),
                   derived.excess == Excess::None ? "exact" : "conservative");
    if (explain) {
      out += words.explanation(derived);
    }
  }
  if (!explain || numImplied == 0) {
    return out + grantedText(takenForGranted(kernel, findTileBounds(kernel)));
  }
  out += "implied:\n";
  for (const DerivedDep &derived : extraction.deps) {
    if (derived.isImplied()) {
      fmt::format_to(add, "  {:<44} {}\n      by {}\n", words.edge(derived.dep),
                     toString(derived.dep.kind), words.derivation(derived));
    }
  }
  return out + grantedText(takenForGranted(kernel, findTileBounds(kernel)));
}

std::string renderJson(const Kernel &kernel, const Extraction &extraction) {
  Words words(kernel, extraction);
  Json object = {{"kernel", kernel.text(kernel.name)}, {"dependences", Json::array()}};
  for (const DerivedDep &derived : extraction.deps) {
    object["dependences"].push_back(words.json(derived));
  }
  object["searches_cut_short"] = extraction.numUnsearched;
  object["taken_for_granted"] = takenForGranted(kernel, findTileBounds(kernel));
  return object.dump(2, ' ', false, Json::error_handler_t::replace);
}

static std::string inQuotes(std::string_view name) {
  std::string text = "\"";
  for (char c : name) {
    text += c == '"' || c == '\\' ? "\\" : "";
    text += c;
  }
  return text + '"';
}

std::string renderDot(const Kernel &kernel, const Extraction &extraction) {
  Words words(kernel, extraction);
  std::string out = fmt::format("digraph {} {{\n", inQuotes(kernel.text(kernel.name)));
  auto add = std::back_inserter(out);
  for (EngineId e : kernel.engines.ids()) {
    fmt::format_to(add, "  subgraph cluster_{} {{\n    label={};\n", e.value,
                   inQuotes(kernel.nameOf(e)));
    for (InstrId i : kernel.instrs.ids()) {
      if (kernel.engineOf(i) == e) {
        fmt::format_to(add, "    i{} [label={}];\n", i.value, inQuotes(kernel.nameOf(i)));
      }
    }
    out += "  }\n";
  }
  for (const DerivedDep &derived : extraction.deps) {
    if (derived.isImplied()) {
      continue;
    }
    fmt::format_to(
        add, "  i{} -> i{} [label={}{}];\n", derived.dep.producer.value, derived.dep.consumer.value,
        inQuotes(fmt::format("{}{}", toString(derived.dep.kind), words.distance(derived.dep))),
        derived.excess == Excess::None ? "" : " style=dashed");
  }
  return out + "}\n";
}

} // namespace tally
