//===- Render.cpp - Found dependences for people and programs -------------===//

#include "tally/Deps/Render.h"

#include "tally/Deps/Bounds.h"

#include "tally/Model/Iterations.h"
#include "tally/Model/Source.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>
#include <span>

namespace tally {
namespace {

using Json = nlohmann::ordered_json;

/// The words for one kernel and its dependences.
class Words {
public:
  Words(const Kernel &kernel, const Extraction &extraction)
      : kernel(kernel), extraction(extraction) {}

  std::string_view text(AccessId access) const { return kernel.text(kernel.accesses[access].text); }

  static std::string_view verb(AccessKind kind) {
    return kind == AccessKind::Read    ? "reads"
           : kind == AccessKind::Write ? "writes"
                                       : "accumulates";
  }

  std::span<const DistanceComponent> components(const Dep &dep) const {
    return {extraction.components.data() + dep.firstComponent, dep.numComponents};
  }

  /// `at 'A' = 2`, as in Sync's description of a dependence; empty for the same iteration.
  std::string distance(const Dep &dep) const {
    std::string words;
    if (dep.form != DistanceForm::Vector) {
      words = fmt::format(" {} {}", dep.form == DistanceForm::Flat ? "flat" : "element", dep.step);
    }
    std::string_view separator = " at ";
    for (const DistanceComponent &c : components(dep)) {
      words += fmt::format("{}'{}' = {}", separator, kernel.nameOf(c.loop), c.distance);
      separator = ", ";
    }
    return words;
  }

  std::string edge(const Dep &dep) const {
    return fmt::format("'{}' -> '{}'{}", kernel.nameOf(dep.producer), kernel.nameOf(dep.consumer),
                       distance(dep));
  }

  std::string access(InstrId instr, AccessId id) const {
    return fmt::format("{} {} {}", nameWithSource(kernel, instr), verb(kernel.accesses[id].kind),
                       text(id));
  }

  bool hasExample(const DerivedDep &derived) const { return derived.excess != Excess::Undecided; }

  std::span<const int64_t> producerAt(const DerivedDep &derived) const {
    return {extraction.iterations.data() + derived.firstIteration, derived.numProducerIterations};
  }

  std::span<const int64_t> consumerAt(const DerivedDep &derived) const {
    return {extraction.iterations.data() + derived.firstIteration + derived.numProducerIterations,
            derived.numConsumerIterations};
  }

  /// Real loops around an instruction, outermost first.
  std::vector<LoopId> loopsAround(InstrId instr) const {
    std::vector<LoopId> loops;
    for (LoopId l = kernel.instrs[instr].home; l != rootLoop; l = kernel.loops[l].parent) {
      if (kernel.loops[l].kind == LoopKind::Loop) {
        loops.push_back(l);
      }
    }
    std::reverse(loops.begin(), loops.end());
    return loops;
  }

  /// `'load' at A = 1`, or `run 3 of 'load'`; both count from 0.
  std::string run(const DerivedDep &derived, InstrId instr, std::span<const int64_t> at) const {
    std::string words = fmt::format("'{}'", kernel.nameOf(instr));
    if (isByRuns(derived, instr, at)) {
      return fmt::format("run {} of {}", at[0], words);
    }
    std::vector<LoopId> loops = loopsAround(instr);
    std::vector<LoopIteration> around;
    for (size_t i = 0; i < at.size(); ++i) {
      around.push_back({loops[i], static_cast<uint64_t>(at[i])});
    }
    std::string when = iterationText(kernel, around);
    return when.empty() ? words : fmt::format("{} at {}", words, when);
  }

  /// Whether the example counts runs instead of iterations.
  bool isByRuns(const DerivedDep &derived, InstrId instr, std::span<const int64_t> at) const {
    return derived.dep.form == DistanceForm::Flat || at.size() != loopsAround(instr).size();
  }

private:
  const Kernel &kernel;
  const Extraction &extraction;
};

/// A branch around one of the two, inside all loops around both, is passed over when it is not
/// taken.
bool isConditional(const Kernel &kernel, const Dep &dep) {
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

std::string_view className(const Kernel &kernel, const Dep &dep) {
  switch (dep.form) {
  case DistanceForm::Vector:
    return isConditional(kernel, dep) ? "conditional" : "vector";
  case DistanceForm::Flat:
    return "flat";
  case DistanceForm::Element:
    return "element";
  }
  return "?";
}

Json distanceJson(const Kernel &kernel, const Words &words, const Dep &dep) {
  Json object = Json::object();
  for (const DistanceComponent &c : words.components(dep)) {
    object[std::string(kernel.nameOf(c.loop))] = c.distance;
  }
  return object;
}

Json runJson(const Kernel &kernel, const Words &words, const DerivedDep &derived, InstrId instr,
             std::span<const int64_t> at) {
  if (words.isByRuns(derived, instr, at)) {
    return {{"run", at[0]}};
  }
  Json object = Json::object();
  std::vector<LoopId> loops = words.loopsAround(instr);
  for (size_t i = 0; i < at.size(); ++i) {
    object[std::string(kernel.nameOf(loops[i]))] = at[i];
  }
  return object;
}

/// The chain that implies a dependence, from the consumer back to the producer.
std::string derivation(const Kernel &kernel, const Extraction &extraction, const Words &words,
                       const DerivedDep &derived) {
  std::string out;
  for (uint32_t i = 0; i < derived.numSteps; ++i) {
    const DerivationStep &step = extraction.steps[derived.firstStep + i];
    out += i == 0 ? "" : ", ";
    switch (step.kind) {
    case DerivationStep::Kind::Wait:
      out += words.edge(extraction.deps[step.dep].dep);
      break;
    case DerivationStep::Kind::Branches:
      out += fmt::format("{}, as for '{}' in the other branch",
                         words.edge(extraction.deps[step.dep].dep), kernel.nameOf(step.earlier));
      break;
    case DerivationStep::Kind::Engine:
      out += fmt::format("the engine issues '{}' before '{}'", kernel.nameOf(step.earlier),
                         kernel.nameOf(step.later));
      break;
    case DerivationStep::Kind::Queue:
      out += fmt::format("'{}' retires before '{}'", kernel.nameOf(step.earlier),
                         kernel.nameOf(step.later));
      break;
    }
  }
  return out;
}

Json depJson(const Kernel &kernel, const Extraction &extraction, const Words &words,
             const DerivedDep &derived) {
  const Dep &dep = derived.dep;
  Json object = {{"producer", kernel.nameOf(dep.producer)},
                 {"consumer", kernel.nameOf(dep.consumer)},
                 {"kind", toString(dep.kind)},
                 {"class", className(kernel, dep)},
                 {"distance", distanceJson(kernel, words, dep)}};
  for (auto [key, instr] :
       {std::pair("producer_loc", dep.producer), {"consumer_loc", dep.consumer}}) {
    std::string source = sourceJson(kernel, kernel.instrs[instr].where);
    if (!source.empty()) {
      object[key] = Json::parse(source);
    }
  }
  if (dep.form != DistanceForm::Vector) {
    object[dep.form == DistanceForm::Flat ? "flat" : "element"] = dep.step;
  }
  object["exact"] = derived.excess == Excess::None;
  object["reason"] = derived.excess == Excess::None ? Json() : Json(reasonOf(kernel, derived));
  object["implied_by"] =
      derived.isImplied() ? Json(derivation(kernel, extraction, words, derived)) : Json();
  object["producer_access"] = words.text(derived.producerAccess);
  object["consumer_access"] = words.text(derived.consumerAccess);
  object["example"] =
      words.hasExample(derived)
          ? Json{{"producer",
                  runJson(kernel, words, derived, dep.producer, words.producerAt(derived))},
                 {"consumer",
                  runJson(kernel, words, derived, dep.consumer, words.consumerAt(derived))}}
          : Json();
  return object;
}

} // namespace

void remarkExcess(const Kernel &kernel, const Extraction &extraction, Diagnostics &diagnostics) {
  Words words(kernel, extraction);
  for (const DerivedDep &derived : extraction.deps) {
    if (derived.excess != Excess::None && !derived.isImplied()) {
      diagnostics.remark(derived.dep.where,
                         fmt::format("{} may wait longer than it has to: {}",
                                     words.edge(derived.dep), reasonOf(kernel, derived)));
    }
  }
}

/// Where a dependence comes from, below its line.
static void explainOne(std::string &out, const Kernel &kernel, const Words &words,
                       const DerivedDep &derived) {
  const Dep &dep = derived.dep;
  auto add = std::back_inserter(out);
  fmt::format_to(add, "      {}; {}\n", words.access(dep.producer, derived.producerAccess),
                 words.access(dep.consumer, derived.consumerAccess));
  if (words.hasExample(derived)) {
    fmt::format_to(add, "      for example {} and then {}\n",
                   words.run(derived, dep.producer, words.producerAt(derived)),
                   words.run(derived, dep.consumer, words.consumerAt(derived)));
  }
  if (derived.excess != Excess::None) {
    fmt::format_to(add, "      {}\n", reasonOf(kernel, derived));
  }
}

/// The first few; one line for each.
static std::string grantedText(const Kernel &kernel) {
  constexpr size_t mostTold = 5;
  std::vector<std::string> granted = takenForGranted(kernel, findTileBounds(kernel));
  std::string text;
  for (size_t i = 0; i < std::min(granted.size(), mostTold); ++i) {
    text += fmt::format("taken for granted: {}\n", granted[i]);
  }
  return granted.size() > mostTold ? text + fmt::format("taken for granted: {} more of that kind\n",
                                                        granted.size() - mostTold)
                                   : text;
}

std::string describe(const Kernel &kernel, const Extraction &extraction,
                     const DerivedDep &derived) {
  Words words(kernel, extraction);
  return fmt::format("{} ({}; {})", words.edge(derived.dep),
                     words.access(derived.dep.producer, derived.producerAccess),
                     words.access(derived.dep.consumer, derived.consumerAccess));
}

std::string renderText(const Kernel &kernel, const Extraction &extraction, bool explain) {
  Words words(kernel, extraction);
  auto numImplied = std::count_if(extraction.deps.begin(), extraction.deps.end(),
                                  [](const DerivedDep &derived) { return derived.isImplied(); });
  size_t numKept = extraction.deps.size() - static_cast<size_t>(numImplied);
  std::string out = fmt::format("kernel '{}': {} dependence{} from {} accesses, {} more implied\n",
                                kernel.text(kernel.name), numKept, numKept == 1 ? "" : "s",
                                kernel.accesses.size(), numImplied);
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
      explainOne(out, kernel, words, derived);
    }
  }
  if (!explain || numImplied == 0) {
    return out + grantedText(kernel);
  }
  out += "implied:\n";
  for (const DerivedDep &derived : extraction.deps) {
    if (derived.isImplied()) {
      fmt::format_to(add, "  {:<44} {}\n      by {}\n", words.edge(derived.dep),
                     toString(derived.dep.kind), derivation(kernel, extraction, words, derived));
    }
  }
  return out + grantedText(kernel);
}

std::string renderJson(const Kernel &kernel, const Extraction &extraction) {
  Words words(kernel, extraction);
  Json object = {{"kernel", kernel.text(kernel.name)}, {"dependences", Json::array()}};
  for (const DerivedDep &derived : extraction.deps) {
    object["dependences"].push_back(depJson(kernel, extraction, words, derived));
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
