//===- Certificate.cpp - Kernel and code, for the proved checker ----------===//
//
// One list for each table of the kernel, in the order of its ids; the tree of its bodies; and
// the operations of each engine, brackets of the flat code becoming nested lists:
//
//   LoopBegin 1                          (loop 1
//     Alu r0 = r0 + 1                      (add r0 r0 1)
//     Issue 3 waits s0 >= r0, signals s1   (issue 3 (wait 0 r0) (signal 1 1)))
//   LoopEnd
//
// Cost: linear in instructions + dependences + operations.
//===----------------------------------------------------------------------===//

#include "tally/Certify/Certificate.h"

#include <fmt/format.h>

#include <iterator>

namespace tally {
namespace {

/// Text in quotes; what could end it is escaped, and so is what no line should hold.
std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      result += {'\\', c};
    } else if (byte < 0x20 || byte == 0x7f) {
      result += fmt::format("\\{:02X}", byte);
    } else {
      result += c;
    }
  }
  return result + '"';
}

class CertificateWriter {
public:
  CertificateWriter(const Kernel &kernel, const Code &code, const Machine &machine,
                    const CertificateNotes &notes)
      : kernel(kernel), code(code), machine(machine), notes(notes) {}

  std::string run();

private:
  template <typename... Args> void put(fmt::format_string<Args...> format, Args &&...args) {
    fmt::format_to(std::back_inserter(text), format, std::forward<Args>(args)...);
  }

  void line(unsigned indent) {
    text += '\n';
    text.append(indent, ' ');
  }

  void tables();
  void loops();
  void trips(const Loop &loop);
  void body(LoopId loop, unsigned indent);
  void statement(const Stmt &stmt, unsigned indent);
  void dependences();
  void distance(const Dep &dep);
  void components(const Dep &dep);

  void program(const EngineProgram &engine);
  const Op *operations(const Op *op, const Op *end, unsigned indent);
  const Op *loop(const Op *op, const Op *end, unsigned indent);
  const Op *branch(const Op *op, const Op *end, unsigned indent);
  void simple(const Op &op);
  void issue(const Op &op);
  void alu(const Op &op);

  const Kernel &kernel;
  const Code &code;
  const Machine &machine;
  const CertificateNotes &notes;
  std::string text;
};

std::string operandText(Operand operand) {
  return operand.isRegister ? fmt::format("r{}", operand.value) : std::to_string(operand.value);
}

//===--- The kernel -------------------------------------------------------===//

void CertificateWriter::tables() {
  put("\n  (kernel {})", quoted(kernel.text(kernel.name)));
  put("\n  (strategy {})", quoted(toString(code.strategy)));
  put("\n  (machine {})", quoted(code.machine));
  switch (notes.accesses) {
  case AccessesNote::NoneStated:
    break;
  case AccessesNote::Derived:
    put("\n  (accesses derived)");
    break;
  case AccessesNote::Held:
    put("\n  (accesses held)");
    break;
  case AccessesNote::Ignored:
    put("\n  (accesses ignored)");
    break;
  }
  if (!notes.granted.empty()) {
    put("\n  (granted");
    for (const std::string &what : notes.granted) {
      put(" {}", quoted(what));
    }
    put(")");
  }
  put("\n  (arithmetic {} {} {})", machine.counterBits,
      machine.subtraction == Subtraction::Wraps ? "wraps" : "saturates",
      machine.waitCompare == WaitCompare::Signed ? "signed" : "unsigned");
  put("\n  (engines");
  for (EngineId e : kernel.engines.ids()) {
    put(" {}", quoted(kernel.nameOf(e)));
  }
  put(")\n  (queues");
  for (QueueId q : kernel.queues.ids()) {
    const Queue &queue = kernel.queues[q];
    put(" ({} {} {} {})", quoted(kernel.nameOf(q)), queue.engine.value, queue.weight,
        queue.completion == Completion::Split ? "split" : "whole");
  }
  put(")");
  loops();
  put("\n  (instructions");
  for (InstrId i : kernel.instrs.ids()) {
    line(4);
    put("({} {})", quoted(kernel.nameOf(i)), kernel.instrs[i].queue.value);
  }
  put(")");
}

/// All bodies but the root, which is number 0.
void CertificateWriter::loops() {
  put("\n  (loops");
  for (LoopId l : kernel.loops.ids()) {
    const Loop &loop = kernel.loops[l];
    if (l != rootLoop) {
      line(4);
      put("({} {}", quoted(kernel.nameOf(l)),
          loop.kind == LoopKind::Then   ? "then"
          : loop.kind == LoopKind::Else ? "else"
                                        : "loop");
      trips(loop);
      put("{})", loop.uniform ? "" : " divergent");
    }
  }
  put(")");
}

/// What is known of how often it runs.
void CertificateWriter::trips(const Loop &loop) {
  const Trip &trip = loop.trip;
  if (loop.isBranch() || trip.kind == Trip::Kind::Guard) {
    return;
  }
  if (trip.kind == Trip::Kind::Constant) {
    put(" (trips {0} {0})", trip.constant);
  } else if (trip.max) {
    put(" (trips {} {})", trip.min, *trip.max);
  } else if (trip.min != 0) {
    put(" (trips {})", trip.min);
  }
}

void CertificateWriter::body(LoopId loop, unsigned indent) {
  for (StmtId stmt : kernel.loops[loop].body) {
    statement(kernel.stmts[stmt], indent);
  }
}

void CertificateWriter::statement(const Stmt &stmt, unsigned indent) {
  line(indent);
  switch (stmt.kind) {
  case Stmt::Kind::Block:
    put("(block");
    for (InstrId i : stmt.instrs) {
      put(" {}", i.value);
    }
    break;
  case Stmt::Kind::Loop:
    put("(loop {}", stmt.loop.value);
    body(stmt.loop, indent + 2);
    break;
  case Stmt::Kind::If: {
    LoopId other = kernel.loops[stmt.loop].otherBranch;
    put("(if {} {} (", stmt.loop.value, other.value);
    body(stmt.loop, indent + 2);
    put(") (");
    body(other, indent + 2);
    put(")");
    break;
  }
  }
  put(")");
}

void CertificateWriter::components(const Dep &dep) {
  for (auto *c = kernel.componentsBegin(dep); c != kernel.componentsEnd(dep); ++c) {
    put(" ({} {})", c->loop.value, c->distance);
  }
}

void CertificateWriter::distance(const Dep &dep) {
  switch (dep.form) {
  case DistanceForm::Vector:
    put("(distance");
    components(dep);
    break;
  case DistanceForm::Flat:
    put("(flat {}", dep.step);
    break;
  case DistanceForm::Element:
    put("(element {}", dep.step);
    components(dep);
    break;
  }
  put(")");
}

void CertificateWriter::dependences() {
  put("\n  (dependences");
  for (const Dep &dep : kernel.deps) {
    line(4);
    put("({} {} ", dep.producer.value, dep.consumer.value);
    distance(dep);
    put(")");
  }
  put(")");
  if (!notes.waitsLonger.empty()) {
    put("\n  (waits-longer");
    for (DepId dep : notes.waitsLonger) {
      put(" {}", dep.value);
    }
    put(")");
  }
}

//===--- The code ---------------------------------------------------------===//

void CertificateWriter::alu(const Op &op) {
  static constexpr std::string_view names[] = {"move", "add", "sub", "mul", "min", "gt"};
  put("({} r{} {}", names[static_cast<size_t>(op.alu)], op.dst.value, operandText(op.a));
  if (op.alu != AluOp::Move) {
    put(" {}", operandText(op.b));
  }
  put(")");
}

void CertificateWriter::issue(const Op &op) {
  put("(issue {}", op.target);
  if (op.wait.valid()) {
    put(" (wait {} {})", op.wait.value, operandText(op.a));
  }
  if (op.signal.valid()) {
    put(" (signal {} {})", op.signal.value, op.amount);
  }
  put(")");
}

/// An operation that brackets nothing.
void CertificateWriter::simple(const Op &op) {
  switch (op.kind) {
  case OpKind::Issue:
    return issue(op);
  case OpKind::Wait:
    return put("(wait {} {})", op.wait.value, operandText(op.a));
  case OpKind::Alu:
    return alu(op);
  case OpKind::Signal:
    return put("(signal {} {})", op.signal.value, op.amount);
  case OpKind::Reset:
    return put("(reset {} {})", op.signal.value, op.amount);
  case OpKind::Drain:
    return put("(drain)");
  case OpKind::BarrierBegin:
  case OpKind::BarrierEnd:
    return put("(barrier {})", op.target);
  case OpKind::WhenBegin:
    return put("(when {})", operandText(op.a));
  case OpKind::WhenEnd:
    return put("(when end)");
  default:
    assert(false && "brackets are written by who opens them");
  }
}

bool closes(OpKind kind) {
  return kind == OpKind::LoopEnd || kind == OpKind::Else || kind == OpKind::IfEnd;
}

/// Up to the bracket that closes them, or the end.
const Op *CertificateWriter::operations(const Op *op, const Op *end, unsigned indent) {
  while (op != end && !closes(op->kind)) {
    line(indent);
    if (op->kind == OpKind::LoopBegin) {
      op = loop(op, end, indent);
    } else if (op->kind == OpKind::IfBegin) {
      op = branch(op, end, indent);
    } else {
      simple(*op++);
    }
  }
  return op;
}

const Op *CertificateWriter::loop(const Op *op, const Op *end, unsigned indent) {
  put("(loop {}", op->target);
  if (op->dst.valid()) {
    put(" (counter r{})", op->dst.value);
  }
  op = operations(op + 1, end, indent + 2);
  put(")");
  return op + 1;
}

const Op *CertificateWriter::branch(const Op *op, const Op *end, unsigned indent) {
  put("(if {} (", op->target);
  op = operations(op + 1, end, indent + 2);
  put(") (");
  if (op->kind == OpKind::Else) {
    op = operations(op + 1, end, indent + 2);
  }
  put("))");
  return op + 1;
}

void CertificateWriter::program(const EngineProgram &engine) {
  line(4);
  put("({}", engine.engine.value);
  const Op *begin = engine.ops.data();
  operations(begin, begin + engine.ops.size(), 6);
  put(")");
}

std::string CertificateWriter::run() {
  text = "(certificate 1";
  tables();
  put("\n  (body");
  body(rootLoop, 4);
  put(")");
  dependences();
  put("\n  (semaphores");
  for (const Semaphore &semaphore : code.semaphores) {
    put(" {}", quoted(semaphore.name));
  }
  put(")\n  (code");
  for (const EngineProgram &engine : code.engines) {
    program(engine);
  }
  put("))\n");
  return std::move(text);
}

} // namespace

std::string writeCertificate(const Kernel &kernel, const Code &code, const Machine &machine,
                             const CertificateNotes &notes) {
  return CertificateWriter(kernel, code, machine, notes).run();
}

} // namespace tally
