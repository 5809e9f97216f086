//===- Listing.cpp - Code as a person reads it ----------------------------===//
//
// Waits stand in a column of their own on the left, as in
//
//        {A.dma >= r1}  scale {A.act++}      ; 'load' -> 'scale'
//
// so that the code itself keeps the indentation of its loops.
//===----------------------------------------------------------------------===//

#include "tally/Code/Listing.h"

#include <fmt/format.h>

#include <algorithm>

namespace tally {
namespace {

/// One line before the columns are set.
struct Line {
  std::string wait;
  std::string program;
  std::string comment;
};

class Lister {
public:
  Lister(const Kernel &kernel, const Code &code, EngineId engine, const ListingOptions &options)
      : kernel(kernel), code(code), engine(engine), options(options) {}

  std::string run() {
    const EngineProgram &program = code.engines[engine];
    for (const Op &op : program.ops) {
      add(op);
    }
    std::string text =
        fmt::format("engine {}: {} register{}\n", kernel.nameOf(engine), program.registers.size(),
                    program.registers.size() == 1 ? "" : "s");
    size_t waitWidth = width(&Line::wait);
    size_t codeWidth = width(&Line::program);
    for (const Line &line : lines) {
      std::string row = fmt::format("  {:>{}}  {:<{}}", line.wait, waitWidth, line.program,
                                    line.comment.empty() ? 0 : codeWidth);
      text += row + (line.comment.empty() ? "" : "  ; " + line.comment);
      text += '\n';
    }
    return text;
  }

private:
  size_t width(std::string Line::*column) const {
    size_t most = 0;
    for (const Line &line : lines) {
      most = std::max(most, (line.*column).size());
    }
    return std::min<size_t>(most, 48);
  }

  void add(const Op &op) {
    if (hidden) {
      hidden = op.kind != OpKind::BarrierEnd;
      return;
    }
    switch (op.kind) {
    case OpKind::LoopBegin:
      line("", loopHead(op), "");
      ++depth;
      return;
    case OpKind::IfBegin:
      line("", fmt::format("if {}:", kernel.nameOf(op.loop())), "");
      ++depth;
      return;
    case OpKind::Else:
      --depth;
      line("", "else:", "");
      ++depth;
      return;
    case OpKind::WhenBegin:
      line("", fmt::format("when {}:", operand(op.a)), "");
      ++depth;
      return;
    case OpKind::LoopEnd:
    case OpKind::IfEnd:
    case OpKind::WhenEnd:
      --depth;
      return;
    case OpKind::BarrierBegin:
      line("", fmt::format("SYNC {}", participants(op.barrier())), "");
      hidden = !options.expandBarriers;
      ++depth;
      depth -= hidden;
      return;
    case OpKind::BarrierEnd:
      --depth;
      return;
    default:
      simple(op);
    }
  }

  void simple(const Op &op) {
    switch (op.kind) {
    case OpKind::Issue:
      line(waitText(op), std::string(kernel.nameOf(op.instr())) + signalText(op), reasons(op));
      return;
    case OpKind::Wait:
      line(waitText(op), "wait", reasons(op));
      return;
    case OpKind::Signal:
      line("", "signal" + signalText(op), "");
      return;
    case OpKind::Reset:
      line("", fmt::format("[{} := 0]", run(op.signal, op.amount)), "");
      return;
    case OpKind::Drain:
      line("", "drain", "");
      return;
    default:
      line("", aluText(op), role(op));
    }
  }

  void line(std::string wait, const std::string &program, std::string comment) {
    lines.push_back(
        {std::move(wait), std::string(size_t(2) * depth, ' ') + program, std::move(comment)});
  }

  //===--- Pieces ---------------------------------------------------------===//

  std::string loopHead(const Op &op) const {
    std::string counter = op.dst.valid() ? fmt::format(" [{}]", reg(op.dst)) : "";
    std::string written = op.amount == 1        ? ""
                          : op.amount == atOnce ? ", at once"
                                                : fmt::format(", {} at a time", op.amount);
    return fmt::format("loop {}{}{}:", kernel.nameOf(op.loop()), counter, written);
  }

  const std::string &reg(RegId r) const { return code.engines[engine].registers[r].name; }

  std::string operand(Operand o) const {
    return o.isRegister ? reg(o.asRegister()) : fmt::format("{}", o.value);
  }

  const std::string &sema(SemaId s) const { return code.semaphores[s].name; }

  std::string waitText(const Op &op) const {
    return op.wait.valid() ? fmt::format("{{{} >= {}}}", sema(op.wait), operand(op.a)) : "";
  }

  std::string signalText(const Op &op) const {
    if (!op.signal.valid()) {
      return "";
    }
    return op.amount == 1 ? fmt::format(" {{{}++}}", sema(op.signal))
                          : fmt::format(" {{{} += {}}}", sema(op.signal), op.amount);
  }

  std::string run(SemaId first, uint32_t count) const {
    std::string text = sema(first);
    for (uint32_t i = 1; i < count; ++i) {
      text += ", " + sema(SemaId(first.value + i));
    }
    return text;
  }

  std::string participants(BarrierId barrier) const {
    std::string text;
    for (EngineId e : code.barriers[barrier]) {
      text += text.empty() ? "" : ", ";
      text += kernel.nameOf(e);
    }
    return text;
  }

  std::string aluText(const Op &op) const {
    std::string a = operand(op.a);
    std::string b = operand(op.b);
    switch (op.alu) {
    case AluOp::Move:
      return fmt::format("[{} := {}]", reg(op.dst), a);
    case AluOp::Add:
      if (op.a == Operand::reg(op.dst)) {
        return op.b == Operand::number(1) ? fmt::format("[{}++]", a)
                                          : fmt::format("[{} += {}]", a, b);
      }
      return fmt::format("[{} := {} + {}]", reg(op.dst), a, b);
    case AluOp::Sub:
      return fmt::format("[{} := {} - {}]", reg(op.dst), a, b);
    case AluOp::Mul:
      return fmt::format("[{} := {} * {}]", reg(op.dst), a, b);
    case AluOp::Min:
      return fmt::format("[{} := min({}, {})]", reg(op.dst), a, b);
    case AluOp::IsGT:
      return fmt::format("[{} := isGT({}, {})]", reg(op.dst), a, b);
    }
    return "";
  }

  /// What a counter counts, said once where it starts.
  std::string role(const Op &op) const {
    bool starts = op.alu == AluOp::Move && op.a == Operand::number(0);
    return starts ? code.engines[engine].registers[op.dst].role.text : "";
  }

  std::string reasons(const Op &op) const {
    std::string text;
    for (uint32_t r = 0; r < op.numReasons; ++r) {
      text += text.empty() ? "" : "; ";
      text += describe(kernel, code.reasons[op.firstReason + r]);
    }
    return text;
  }

  const Kernel &kernel;
  const Code &code;
  const EngineId engine;
  const ListingOptions &options;
  std::vector<Line> lines;
  uint32_t depth = 0;
  bool hidden = false; ///< inside a barrier that is shown as one line
};

} // namespace

std::string listing(const Kernel &kernel, const Code &code, EngineId engine,
                    const ListingOptions &options) {
  return Lister(kernel, code, engine, options).run();
}

std::string listing(const Kernel &kernel, const Code &code, const ListingOptions &options) {
  std::string text;
  for (EngineId engine : kernel.engines.ids()) {
    text += text.empty() ? "" : "\n";
    text += listing(kernel, code, engine, options);
  }
  return text;
}

} // namespace tally
