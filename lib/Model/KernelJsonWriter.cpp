//===- KernelJsonWriter.cpp - Writes kernels as JSON ----------------------===//
//
// Each instruction and each dependence is on one line.
//
//===----------------------------------------------------------------------===//

#include "tally/Model/KernelJson.h"

#include "KernelJsonReader.h"
#include "tally/Model/Pins.h"
#include "tally/Model/Regions.h"

#include <fmt/format.h>

namespace tally {

namespace {

/// Writes objects as `{"key": value, ...}`; arrays of statements get a line each.
class KernelWriter {
public:
  KernelWriter(const Kernel &kernel, unsigned indent)
      : kernel(kernel), pins(pinnedSemaphores(kernel)), indent(indent) {}

  std::string run();

private:
  void line(std::string_view more);
  template <typename IdT, typename Write>
  void list(std::string_view key, IdRange<IdT> ids, Write write, std::string_view after);

  std::string quoted(NameId name) const { return quoteJson(kernel.text(name)); }

  std::string queueText(const Queue &queue) const;
  std::string engineText(const Engine &engine) const;
  std::string bufferText(const Buffer &buffer) const;
  std::string instrText(InstrId id) const;
  std::string othersText(std::string_view key, const std::vector<BufferId> &others) const;
  std::string accessText(const Instr &instr, AccessKind kind, std::string_view key) const;
  std::string tripText(const Loop &loop) const;
  std::string depText(const Dep &dep) const;
  void body(LoopId loop);
  void statement(const Stmt &stmt);
  void loopStatement(const Loop &loop);
  void ifStatement(const Loop &thenBranch);
  void separate();

  const Kernel &kernel;
  const std::map<InstrId, uint32_t> pins;
  unsigned indent;
  std::string text;
};

/// Starts a new line after what was written.
void KernelWriter::line(std::string_view more) {
  text += '\n';
  text.append(indent, ' ');
  text += more;
}

/// A comma, unless this is the first element.
void KernelWriter::separate() {
  if (text.back() != '[') {
    text += ',';
  }
}

template <typename IdT, typename Write>
void KernelWriter::list(std::string_view key, IdRange<IdT> ids, Write write,
                        std::string_view after) {
  line(fmt::format("\"{}\": [", key));
  indent += 2;
  for (IdT id : ids) {
    separate();
    line(write(id));
  }
  indent -= 2;
  if (!ids.empty()) {
    line("");
  }
  text += ']';
  text += after;
}

std::string KernelWriter::queueText(const Queue &queue) const {
  std::string result = fmt::format("\"name\": {}", quoted(queue.name));
  if (queue.weight != 1) {
    result += fmt::format(", \"weight\": {}", queue.weight);
  }
  if (queue.completion == Completion::Split) {
    result += ", \"completion\": \"split\"";
  }
  return result;
}

std::string KernelWriter::engineText(const Engine &engine) const {
  std::string result = "{" + queueText(kernel.queues[engine.queues[0]]);
  const char *separator = ", \"queues\": [";
  for (uint32_t i = 1; i < engine.queues.size(); ++i) {
    result += fmt::format("{}{{{}}}", separator, queueText(kernel.queues[engine.queues[i]]));
    separator = ", ";
  }
  result += engine.queues.size() > 1 ? "]" : "";
  if (!engine.reserved.empty()) {
    result += fmt::format(", \"reserves\": [{}]", fmt::join(engine.reserved, ", "));
  }
  return result + "}";
}

std::string KernelWriter::bufferText(const Buffer &buffer) const {
  std::string result = fmt::format("{{\"name\": {}", quoted(buffer.name));
  if (!buffer.shape.empty()) {
    result += fmt::format(", \"shape\": [{}]", fmt::join(buffer.shape, ", "));
  }
  if (buffer.elementType.valid()) {
    result += fmt::format(", \"type\": {}", quoted(buffer.elementType));
  }
  if (buffer.space.valid()) {
    result += fmt::format(", \"space\": {}", quoted(buffer.space));
  }
  if (buffer.address) {
    result += fmt::format(", \"address\": {}", *buffer.address);
  }
  return result + othersText("alias", buffer.alias) + othersText("noalias", buffer.noalias) + "}";
}

std::string KernelWriter::othersText(std::string_view key,
                                     const std::vector<BufferId> &others) const {
  std::string result;
  for (BufferId id : others) {
    result += result.empty() ? fmt::format(", \"{}\": [", key) : ", ";
    result += quoted(kernel.buffers[id].name);
  }
  return result.empty() ? result : result + "]";
}

std::string KernelWriter::accessText(const Instr &instr, AccessKind kind,
                                     std::string_view key) const {
  std::string result;
  for (AccessId id : instr.accesses) {
    const Access &access = kernel.accesses[id];
    if (access.kind == kind) {
      result += result.empty() ? fmt::format(", \"{}\": [", key) : ", ";
      result += quoted(access.text);
    }
  }
  return result.empty() ? result : result + "]";
}

std::string KernelWriter::instrText(InstrId id) const {
  const Instr &instr = kernel.instrs[id];
  std::string result = fmt::format("{{\"instr\": {}, \"queue\": {}", quoted(instr.name),
                                   quoted(kernel.queues[instr.queue].name));
  if (instr.operation.valid()) {
    result += fmt::format(", \"op\": {}", quoted(instr.operation));
  }
  if (instr.computes.valid()) {
    result += fmt::format(", \"computes\": {}", quoted(instr.computes));
  }
  result += accessText(instr, AccessKind::Read, "reads");
  result += accessText(instr, AccessKind::Write, "writes");
  result += accessText(instr, AccessKind::Accumulate, "accumulates");
  if (auto pin = pins.find(id); pin != pins.end()) {
    result += fmt::format(", \"semaphore\": {}", pin->second);
  }
  return result + "}";
}

std::string KernelWriter::tripText(const Loop &loop) const {
  const Trip &trip = loop.trip;
  NameId symbol = trip.symbol.valid() ? trip.symbol : loop.name;
  switch (trip.kind) {
  case Trip::Kind::Constant:
    return fmt::format("{}", trip.constant);
  case Trip::Kind::Guard:
    return fmt::format("{{\"while\": {}}}", quoted(symbol));
  case Trip::Kind::Value:
    break;
  }
  std::string result = fmt::format("{{\"value\": {}", quoted(symbol));
  if (trip.min != 0) {
    result += fmt::format(", \"min\": {}", trip.min);
  }
  if (trip.max) {
    result += fmt::format(", \"max\": {}", *trip.max);
  }
  return result + "}";
}

std::string KernelWriter::depText(const Dep &dep) const {
  std::string result =
      fmt::format("{{\"producer\": {}, \"consumer\": {}", quoted(kernel.instrs[dep.producer].name),
                  quoted(kernel.instrs[dep.consumer].name));
  if (dep.kind != DepKind::Unspecified) {
    result += fmt::format(", \"kind\": \"{}\"", toString(dep.kind));
  }
  if (dep.form != DistanceForm::Vector) {
    result +=
        fmt::format(", \"{}\": {}", dep.form == DistanceForm::Flat ? "flat" : "element", dep.step);
  }
  const char *separator = ", \"distance\": {";
  for (const DistanceComponent *c = kernel.componentsBegin(dep); c != kernel.componentsEnd(dep);
       ++c) {
    result += fmt::format("{}{}: {}", separator, quoted(kernel.loops[c->loop].name), c->distance);
    separator = ", ";
  }
  result += dep.numComponents != 0 ? "}" : "";
  return result + (dep.allowDivergent ? ", \"allow_divergent\": true}" : "}");
}

/// The elements of a body, after the bracket that opens it.
void KernelWriter::body(LoopId loop) {
  indent += 2;
  for (StmtId s : kernel.loops[loop].body) {
    statement(kernel.stmts[s]);
  }
  indent -= 2;
  if (!kernel.loops[loop].body.empty()) {
    line("");
  }
  text += ']';
}

void KernelWriter::statement(const Stmt &stmt) {
  if (stmt.kind == Stmt::Kind::Block) {
    for (InstrId i : stmt.instrs) {
      separate();
      line(instrText(i));
    }
    return;
  }
  separate();
  const Loop &loop = kernel.loops[stmt.loop];
  return stmt.kind == Stmt::Kind::Loop ? loopStatement(loop) : ifStatement(loop);
}

static std::string syncText(const Loop &loop) {
  return loop.sync == RegionSync::AsAround ? ""
                                           : fmt::format(", \"sync\": \"{}\"", toString(loop.sync));
}

void KernelWriter::loopStatement(const Loop &loop) {
  std::string unroll = loop.unroll == fullyUnrolled ? "\"full\"" : fmt::to_string(loop.unroll);
  line(fmt::format("{{\"loop\": {}, \"trips\": {}{}{}{}, \"body\": [", quoted(loop.name),
                   tripText(loop), loop.uniform ? "" : ", \"uniform\": false",
                   loop.unroll == 1 ? "" : ", \"unroll\": " + unroll, syncText(loop)));
  body(kernel.stmts[loop.stmt].loop);
  text += '}';
}

void KernelWriter::ifStatement(const Loop &thenBranch) {
  line(fmt::format("{{\"if\": {}{}{}, \"then\": [", quoted(thenBranch.name),
                   thenBranch.uniform ? "" : ", \"uniform\": false", syncText(thenBranch)));
  body(kernel.stmts[thenBranch.stmt].loop);
  if (!kernel.loops[thenBranch.otherBranch].body.empty()) {
    text += ", \"else\": [";
    body(thenBranch.otherBranch);
  }
  text += '}';
}

std::string KernelWriter::run() {
  text = "{";
  indent += 2;
  line("\"schema\": \"tally-kernel\",");
  line("\"version\": 1,");
  line(fmt::format("\"name\": {},", quoted(kernel.name)));
  if (!kernel.reserved.empty()) {
    line(fmt::format("\"reserves\": [{}],", fmt::join(kernel.reserved, ", ")));
  }
  list(
      "engines", kernel.engines.ids(), [&](EngineId id) { return engineText(kernel.engines[id]); },
      ",");
  if (!kernel.buffers.empty()) {
    list(
        "buffers", kernel.buffers.ids(),
        [&](BufferId id) { return bufferText(kernel.buffers[id]); }, ",");
  }
  line("\"body\": [");
  body(rootLoop);
  text += ',';
  list("dependences", kernel.deps.ids(), [&](DepId id) { return depText(kernel.deps[id]); }, "");
  indent -= 2;
  line("}");
  return std::move(text);
}

} // namespace

std::string kernelJson(const Kernel &kernel, unsigned indent) {
  return KernelWriter(kernel, indent).run();
}

std::string writeKernelJson(const Kernel &kernel) {
  return kernelJson(kernel, 0) + "\n";
}

} // namespace tally
