//===- Listing.cpp - Code as a person reads it ----------------------------===//
//
// Waits stand in a column of their own on the left, as in
//
//        {A.dma >= r1}  scale {A.act++}      ; 'load' -> 'scale'
//
// so that the code itself keeps the indentation of its loops. Where the kernel says what place an
// instruction or a loop comes from, that is the first of the comment.
//
//===----------------------------------------------------------------------===//

#include "tally/Code/Listing.h"
#include "tally/Support/Counted.h"

#include "tally/Code/Origin.h"
#include "tally/Model/Source.h"

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
  Lister(const Kernel &kernel, const Code &code, const ListingOptions &options)
      : kernel(kernel), code(code), options(options), places(placesOf(kernel, code)) {}

  std::string run(EngineId of) {
    engine = of;
    lines.clear();
    const EngineProgram &program = code.engines[engine];
    for (const Op &op : program.ops) {
      add(op);
    }
    std::string text = fmt::format("engine {}: {}\n", kernel.nameOf(engine),
                                   counted(program.registers.size(), "register"));
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
      return open(loopHead(op), comment(op));
    case OpKind::IfBegin:
      return open(fmt::format("if {}:", kernel.nameOf(op.loop())), comment(op));
    case OpKind::WhenBegin:
      return open(fmt::format("when {}:", operand(op.a)));
    case OpKind::Else:
      --depth;
      return open("else:");
    case OpKind::BarrierBegin:
      open(fmt::format("SYNC {}", participants(op.barrier())), comment(op));
      hidden = !options.expandBarriers;
      depth -= hidden;
      return;
    case OpKind::LoopEnd:
    case OpKind::IfEnd:
    case OpKind::WhenEnd:
    case OpKind::BarrierEnd:
      --depth;
      return;
    default:
      return simple(op);
    }
  }

  void simple(const Op &op) {
    switch (op.kind) {
    case OpKind::Issue:
      return line(std::string(kernel.nameOf(op.instr())) + signalText(op), comment(op),
                  waitText(op));
    case OpKind::Wait:
      return line("wait", comment(op), waitText(op));
    case OpKind::Signal:
      return line("signal" + signalText(op));
    case OpKind::Reset:
      return line(fmt::format("[{} := 0]", run(op.signal, op.amount)), comment(op));
    case OpKind::Drain:
      return line("drain");
    default:
      return line(aluText(op), role(op));
    }
  }

  void line(const std::string &program, std::string comment = "", std::string wait = "") {
    lines.push_back(
        {std::move(wait), std::string(size_t(2) * depth, ' ') + program, std::move(comment)});
  }

  /// What follows stands further to the right.
  void open(const std::string &program, std::string comment = "") {
    line(program, std::move(comment));
    ++depth;
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
    return op.wait.valid() ? fmt::format("{{{} >= {}{}}}", sema(op.wait), operand(op.a),
                                         op.once ? ", once a pass" : "")
                           : "";
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
    const std::string &dst = reg(op.dst);
    std::string a = operand(op.a);
    std::string b = operand(op.b);
    bool isStep = op.alu == AluOp::Add && op.a == Operand::reg(op.dst);
    if (isStep) {
      return op.b == Operand::number(1) ? fmt::format("[{}++]", a)
                                        : fmt::format("[{} += {}]", a, b);
    }
    constexpr std::string_view forms[] = {"[{} := {}]",          "[{} := {} + {}]",
                                          "[{} := {} - {}]",     "[{} := {} * {}]",
                                          "[{} := min({}, {})]", "[{} := isGT({}, {})]"};
    return fmt::format(fmt::runtime(forms[static_cast<size_t>(op.alu)]), dst, a, b);
  }

  /// What a counter counts, said once where it starts.
  std::string role(const Op &op) const {
    bool starts = op.alu == AluOp::Move && op.a == Operand::number(0);
    return starts ? code.engines[engine].registers[op.dst].role.text : "";
  }

  /// Where it comes from, and what it waits for. A wait that says for what has the place of what
  /// follows.
  std::string comment(const Op &op) const {
    std::string text;
    if (op.kind != OpKind::Wait || op.numReasons == 0) {
      text = sourceText(kernel,
                        places[engine][static_cast<size_t>(&op - code.engines[engine].ops.data())]);
    }
    for (uint32_t r = 0; r < op.numReasons; ++r) {
      text += text.empty() ? "" : "; ";
      text += describe(kernel, code.reasons[op.firstReason + r]);
    }
    return text;
  }

  const Kernel &kernel;
  const Code &code;
  const ListingOptions &options;
  const IdVector<EngineId, std::vector<Location>> places;
  EngineId engine;
  std::vector<Line> lines;
  uint32_t depth = 0;
  bool hidden = false; ///< inside a barrier that is shown as one line
};

} // namespace

std::string listing(const Kernel &kernel, const Code &code, EngineId engine,
                    const ListingOptions &options) {
  return Lister(kernel, code, options).run(engine);
}

std::string listing(const Kernel &kernel, const Code &code, const ListingOptions &options) {
  std::string text;
  Lister lister(kernel, code, options);
  for (EngineId engine : kernel.engines.ids()) {
    text += text.empty() ? "" : "\n";
    text += lister.run(engine);
  }
  return text;
}

} // namespace tally
