//===- Examine.cpp - What there is to say about a document ----------------===//

#include "Examine.h"

#include "Facts.h"
#include "Places.h"

#include "tally/Compile/Prepare.h"
#include "tally/Deps/Implied.h"
#include "tally/Machine/Machine.h"
#include "tally/Transforms/Bridge.h"
#include "tally/Transforms/Passes.h"
#include "tally/Transforms/ReadModule.h"
#include "tally/Transforms/ShowMessages.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/JSON.h"

#include <fmt/format.h>

#include <set>

namespace lsp = llvm::lsp;

namespace tally::server {
namespace {

//===----------------------------------------------------------------------===//
// Lines from child to parent
//===----------------------------------------------------------------------===//

using llvm::json::Object;

constexpr llvm::StringLiteral doing = "doing"; ///< what is examined now, and `was` or `were`
constexpr llvm::StringLiteral diagnostic = "diagnostic"; ///< one for the editor
constexpr llvm::StringLiteral fact = "fact";             ///< a key of Facts, with `text`
constexpr llvm::StringLiteral isRead = "read";           ///< the text holds sound kernels

std::string lineOf(const llvm::json::Value &line) {
  return llvm::formatv("{0}", line).str();
}

//===----------------------------------------------------------------------===//
// The child
//===----------------------------------------------------------------------===//

using Say = std::function<void(std::string_view line)>;

constexpr size_t mostHints = 1000;

mlir::DialectRegistry dialects() {
  mlir::DialectRegistry registry;
  registerDialects(registry);
  return registry;
}

class Examination {
public:
  Examination(const Places &places, const Document &document, const Say &say)
      : places(places), document(document), say(say) {}

  void run() {
    begin("the text was");
    std::vector<LoadedKernel> kernels = read();
    for (const LoadedKernel &loaded : kernels) {
      examine(loaded);
    }
  }

private:
  void begin(std::string what) { say(lineOf(Object{{doing, std::move(what)}})); }

  /// Two steps may say the same.
  void tell(const Diagnostic &message, const std::vector<std::string> &files) {
    tell(places.inEditor(message, files));
  }

  void tell(const lsp::Diagnostic &message) {
    std::string line = lineOf(Object{{diagnostic, lsp::toJSON(message)}});
    if (said.insert(line).second) {
      say(line);
    }
  }

  void tell(const Diagnostics &messages, const Kernel &kernel) {
    for (const Diagnostic &each : messages.all()) {
      tell(each, kernel.files);
    }
  }

  std::vector<LoadedKernel> read() {
    mlir::MLIRContext context(dialects(), mlir::MLIRContext::Threading::DISABLED);
    context.printOpOnDiagnostic(false); // the editor shows it
    mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &message) {
      std::vector<std::string> files{places.file()};
      Diagnostic converted = fromMlir(message, files);
      tell(converted, files);
    });
    llvm::SourceMgr sources;
    auto buffer = llvm::MemoryBuffer::getMemBufferCopy(document.text(), places.file());
    std::optional<std::vector<LoadedKernel>> kernels =
        readKernels(std::move(buffer), sources, &context);
    if (kernels) {
      say(lineOf(Object{{isRead, true}}));
    }
    return std::move(kernels).value_or(std::vector<LoadedKernel>());
  }

  /// The machine that commands take if none is named.
  static Machine machineFor(const Kernel &kernel) {
    std::vector<std::string_view> engines;
    for (EngineId engine : kernel.engines.ids()) {
      engines.push_back(kernel.nameOf(engine));
    }
    return usualMachine(engines).result.machine.value_or(genericMachine());
  }

  void examine(const LoadedKernel &loaded) {
    const Machine machine = machineFor(loaded.kernel);
    Kernel kernel = onMachine(loaded.kernel, machine);
    const std::string name(kernel.text(kernel.name));
    begin(fmt::format("the bounds of kernel '{}' were", name));
    Diagnostics remarks;
    remarkKernel(kernel, machine, remarks);
    tell(remarks, kernel);
    begin(fmt::format("the dependences of kernel '{}' were", name));
    bool areFound = asksForDeps(kernel);
    std::optional<Extraction> asked;
    if (std::optional<Kernel> whole = withDependences(kernel, machine, asked)) {
      begin(fmt::format("the waits of kernel '{}' were", name));
      explain(*whole, machine, asked, areFound, loaded.code.has_value());
    }
  }

  /// Nothing if what is found is not legal.
  std::optional<Kernel> withDependences(const Kernel &kernel, const Machine &machine,
                                        std::optional<Extraction> &asked) {
    Extractor extractor;
    Diagnostics messages;
    const Request request;
    Kernel whole = kernel;
    if (asksForDeps(kernel)) {
      whole = findAsked(kernel, request, machine, extractor, messages);
    } else {
      warnOfNoDeps(kernel, messages);
      remarkUncovered(kernel, request, machine, extractor, messages);
    }
    tell(messages, kernel);
    if (messages.hasErrors()) {
      return std::nullopt;
    }
    if (!kernel.accesses.empty()) {
      asked = extractor.extract(kernel, {.queueOverlap = machine.queueOverlap});
      markImplied(kernel, *asked);
    }
    if (asksForDeps(kernel)) {
      tellFound(whole, machine);
    }
    return whole;
  }

  /// One hint for each instruction that waits. Editors hold all of them, so there are not too many.
  void tellFound(const Kernel &kernel, const Machine &machine) {
    Explained explained{kernel, machine};
    explained.index();
    size_t number = 0;
    for (InstrId instr : kernel.instrs.ids()) {
      bool waits = !explained.waits[instr].empty();
      number += waits ? 1 : 0;
      if (waits && number <= mostHints) {
        tell(hintOf(kernel, instr, explained.waits[instr]));
      }
    }
    if (number > mostHints) {
      Diagnostics rest;
      rest.remark(kernel.where, fmt::format("{} more instructions wait, too, and have no hint of "
                                            "their own; hovering over one says for what",
                                            number - mostHints));
      tell(rest, kernel);
    }
  }

  lsp::Diagnostic hintOf(const Kernel &kernel, InstrId instr, const std::vector<DepId> &waits) {
    Diagnostic message{Severity::Remark, kernel.instrs[instr].where, foundFor(kernel, waits), {}};
    for (DepId dep : waits) {
      const InstrId producer = kernel.deps[dep].producer;
      message.note(kernel.instrs[producer].where,
                   fmt::format("'{}' is here", kernel.nameOf(producer)));
    }
    lsp::Diagnostic hint = places.inEditor(message, kernel.files);
    hint.severity = lsp::DiagnosticSeverity::Hint;
    return hint;
  }

  /// Where there is code already, it is not for tally to say that it can make none.
  void explain(const Kernel &kernel, const Machine &machine, const std::optional<Extraction> &asked,
               bool areFound, bool hasCode) {
    Diagnostics messages;
    std::optional<Compiled> compiled = compile(kernel, Request(), machine, messages);
    if (!hasCode) {
      tell(messages, kernel);
    }
    std::optional<NoWaits> noWaits;
    Extractor extractor;
    if (areFound) {
      noWaits.emplace(kernel, *asked, machine.queueOverlap, extractor);
    }
    Explained explained{.kernel = kernel,
                        .machine = machine,
                        .plan = compiled ? &compiled->plan : nullptr,
                        .asked = asked ? &*asked : nullptr,
                        .areFound = areFound,
                        .hasCode = hasCode,
                        .noWaits = noWaits ? &*noWaits : nullptr};
    explained.index();
    const std::string_view name = kernel.text(kernel.name);
    for (InstrId instr : kernel.instrs.ids()) {
      sayFact(Facts::ofInstr(name, kernel.nameOf(instr)), aboutInstr(explained, instr));
    }
    for (DepId dep : kernel.deps.ids()) {
      if (!areFound) {
        sayFact(Facts::ofDep(name, dep.value), aboutDep(explained, dep));
      }
    }
  }

  void sayFact(std::string key, std::string text) {
    say(lineOf(Object{{fact, std::move(key)}, {"text", std::move(text)}}));
  }

  const Places &places;
  const Document &document;
  const Say &say;
  std::set<std::string> said;
};

//===----------------------------------------------------------------------===//
// The parent
//===----------------------------------------------------------------------===//

void take(const Object &line, Examined &examined, std::string &last) {
  if (std::optional<llvm::StringRef> what = line.getString(doing)) {
    last = what->str();
  } else if (const llvm::json::Value *value = line.get(diagnostic)) {
    llvm::json::Path::Root root;
    lsp::Diagnostic message;
    if (lsp::fromJSON(*value, message, root)) {
      examined.diagnostics.push_back(std::move(message));
    }
  } else if (std::optional<llvm::StringRef> key = line.getString(fact)) {
    examined.facts.texts[key->str()] = line.getString("text").value_or("").str();
  } else if (line.get(isRead)) {
    examined.isRead = true;
  }
}

/// The last line may have been cut off.
void takeAll(llvm::StringRef lines, Examined &examined, std::string &last) {
  while (!lines.empty()) {
    auto [line, rest] = lines.split('\n');
    lines = rest;
    llvm::Expected<llvm::json::Value> value = llvm::json::parse(line);
    if (!value) {
      llvm::consumeError(value.takeError());
    } else if (const Object *object = value->getAsObject()) {
      take(*object, examined, last);
    }
  }
}

std::string reasonOf(ChildEnd end, const ChildLimits &limits) {
  switch (end) {
  case ChildEnd::OutOfTime:
    return fmt::format(
        "that takes more than {} s; 'tally check' and 'tally deps' have no such limit",
        limits.seconds);
  case ChildEnd::Waited:
    return fmt::format("the machine is busy, and did not do that within {} s", limits.waiting);
  case ChildEnd::NotStarted:
    return "no process can be started for it";
  default:
    return "the process that did it ended early";
  }
}

} // namespace

std::string_view Facts::find(const std::string &key) const {
  auto found = texts.find(key);
  return found == texts.end() ? std::string_view() : std::string_view(found->second);
}

std::string Facts::ofInstr(std::string_view kernel, std::string_view instr) {
  return fmt::format("{}\n{}", kernel, instr);
}

std::string Facts::ofDep(std::string_view kernel, size_t number) {
  return fmt::format("{}\n\n{}", kernel, number);
}

Examined examine(const Document &document, const Outline &outline, const lsp::URIForFile &uri,
                 int watched) {
  const Places places(document, outline, uri);
  const ChildLimits limits{.watched = watched};
  std::string lines;
  ChildEnd end =
      runInChild([&](const Say &say) { Examination(places, document, say).run(); }, limits, lines);
  Examined examined;
  std::string last = "the text was";
  takeAll(lines, examined, last);
  examined.isInterrupted = end == ChildEnd::Interrupted;
  if (end != ChildEnd::Done && end != ChildEnd::Interrupted) {
    Diagnostic message{Severity::Remark,
                       {0, 1, 1},
                       fmt::format("{} not examined: {}", last, reasonOf(end, limits)),
                       {}};
    examined.diagnostics.push_back(places.inEditor(message, {places.file()}));
  }
  return examined;
}

} // namespace tally::server
