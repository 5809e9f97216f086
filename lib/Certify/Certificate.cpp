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

#include "tally/Model/Place.h"
#include "tally/Model/RunNumbers.h"
#include "tally/Model/Tiles.h"

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

std::string operandText(Operand operand) {
  return operand.isRegister ? fmt::format("r{}", operand.value) : std::to_string(operand.value);
}

class CertificateWriter {
public:
  CertificateWriter(const Kernel &kernel, const Code &code, const Machine &machine,
                    const CertificateNotes &notes)
      : kernel(kernel), code(code), machine(machine), notes(notes) {}

  std::string run() {
    text = "(certificate 1";
    tables();
    put("\n  (body");
    body(rootLoop, 4);
    put(")");
    dependences();
    list("semaphores", code.semaphores, [](const Semaphore &s) { return quoted(s.name); });
    put("\n  (code");
    for (const EngineProgram &engine : code.engines) {
      line(4);
      put("({}", engine.engine.value);
      const Op *begin = engine.ops.data();
      operations(begin, begin + engine.ops.size(), 6);
      put(")");
    }
    put("))\n");
    return std::move(text);
  }

private:
  template <typename... Args> void put(fmt::format_string<Args...> format, Args &&...args) {
    fmt::format_to(std::back_inserter(text), format, std::forward<Args>(args)...);
  }

  void line(unsigned indent) {
    text += '\n';
    text.append(indent, ' ');
  }

  /// `(name item item)`, in a line.
  template <typename Items, typename TextOf>
  void list(std::string_view name, const Items &items, TextOf textOf) {
    put("\n  ({}", name);
    for (const auto &item : items) {
      put(" {}", textOf(item));
    }
    put(")");
  }

  /// `(name`, and a line for each row that is not empty.
  template <typename Rows, typename TextOf>
  void table(std::string_view name, const Rows &rows, TextOf textOf) {
    put("\n  ({}", name);
    for (const auto &row : rows) {
      if (std::string rowText = textOf(row); !rowText.empty()) {
        line(4);
        text += rowText;
      }
    }
    put(")");
  }

  //===--- The kernel -----------------------------------------------------===//

  void tables() {
    put("\n  (kernel {})", quoted(kernel.text(kernel.name)));
    put("\n  (strategy {})", quoted(toString(code.strategy)));
    put("\n  (machine {})", quoted(code.machine));
    if (notes.accesses != AccessesNote::NoneStated) {
      static constexpr std::string_view names[] = {"", "derived", "held", "ignored", "untouched"};
      put("\n  (accesses {})", names[static_cast<size_t>(notes.accesses)]);
    }
    if (!notes.granted.empty()) {
      list("granted", notes.granted, quoted);
    }
    put("\n  (arithmetic {} {} {})", machine.counterBits,
        machine.subtraction == Subtraction::Wraps ? "wraps" : "saturates",
        machine.waitCompare == WaitCompare::Signed ? "signed" : "unsigned");
    list("engines", kernel.engines.ids(), [&](EngineId e) { return quoted(kernel.nameOf(e)); });
    list("queues", kernel.queues, [&](const Queue &queue) {
      return fmt::format("({} {} {} {})", quoted(kernel.text(queue.name)), queue.engine.value,
                         queue.weight, queue.completion == Completion::Split ? "split" : "whole");
    });
    table("loops", kernel.loops.ids(), [&](LoopId id) { return loopText(id); });
    table("instructions", kernel.instrs, [&](const Instr &instr) {
      return fmt::format("({} {})", quoted(kernel.text(instr.name)), instr.queue.value);
    });
  }

  /// All bodies but the root, which is number 0.
  std::string loopText(LoopId id) const {
    static constexpr std::string_view kinds[] = {"root", "loop", "then", "else"};
    const Loop &loop = kernel.loops[id];
    return id == rootLoop ? ""
                          : fmt::format("({} {}{}{}{})", quoted(kernel.nameOf(id)),
                                        kinds[static_cast<size_t>(loop.kind)], tripsText(loop),
                                        tiedText(id), loop.uniform ? "" : " divergent");
  }

  /// What is known of how often it runs.
  static std::string tripsText(const Loop &loop) {
    const Trip &trip = loop.trip;
    if (loop.isBranch() || trip.kind == Trip::Kind::Guard) {
      return "";
    }
    if (trip.kind == Trip::Kind::Constant) {
      return fmt::format(" (trips {0} {0})", trip.constant);
    }
    return trip.max        ? fmt::format(" (trips {} {})", trip.min, *trip.max)
           : trip.min != 0 ? fmt::format(" (trips {})", trip.min)
                           : "";
  }

  /// What its trips follow from: the formula, operands before what is done with them.
  std::string tiedText(LoopId id) const {
    if (kernel.loops[id].trip.kind != Trip::Kind::Formula) {
      return "";
    }
    const BodyTile &formula = kernel.tiles->formulaOf(id);
    std::string terms;
    addTerms(formula, formula.access.dims[0].first, terms);
    return fmt::format(" (tied{})", terms);
  }

  void addTerms(const BodyTile &formula, TileExprId id, std::string &terms) const {
    const TileExpr &node = formula.access.exprs[id];
    for (TileExprId operand : {node.a, node.b}) {
      if (operand.valid()) {
        addTerms(formula, operand, terms);
      }
    }
    terms += " " + termText(formula, node);
  }

  static std::string termText(const BodyTile &formula, const TileExpr &node) {
    using Kind = TileExpr::Kind;
    switch (node.kind) {
    case Kind::Constant:
      return std::to_string(node.value);
    case Kind::Symbol:
      return fmt::format("(value {})", quoted(formula.access.names[node.name]));
    case Kind::Loop:
      return fmt::format("(iteration {})", formula.loopOf(node).value);
    case Kind::Add:
      return "add";
    case Kind::Sub:
      return "sub";
    case Kind::Scale:
      return fmt::format("(scale {})", node.value);
    case Kind::Mod:
      return fmt::format("(mod {})", node.value);
    case Kind::FloorDiv:
      return fmt::format("(div {})", node.value);
    case Kind::Total:
    case Kind::Trips:
      break;
    }
    assert(false && "formulas have no totals");
    return "";
  }

  void body(LoopId loop, unsigned indent) {
    for (StmtId stmt : kernel.loops[loop].body) {
      statement(kernel.stmts[stmt], indent);
    }
  }

  void statement(const Stmt &stmt, unsigned indent) {
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

  static std::string onLoop(LoopId loop, int64_t distance) {
    return fmt::format(" ({} {})", loop.value, distance);
  }

  /// Certificates have no tables: what one says is asked for at least, as by a wait that does not
  /// follow it.
  std::vector<std::string> shortestOf(const Dep &dep) const {
    const RunTable &table = kernel.tables[dep.table];
    const DepPlace place = placeOf(kernel, dep);
    if (place.producerHome == place.consumerHome) {
      return {place.offset == 0    ? "distance"
              : table.over.valid() ? fmt::format("flat {}", place.offset)
                                   : "distance" + onLoop(place.shared, place.offset)};
    }
    if (!table.over.valid()) {
      auto shortest = table.shortestWithin(sideBySide(kernel, dep)->consumer.most(kernel));
      return {shortest ? fmt::format("element {}", *shortest) : "distance"};
    }
    if (place.order == Order::Forward) {
      bool isCounted = table.over == place.shared && place.offset > 0;
      return {"distance" + (isCounted ? onLoop(place.shared, place.offset) : "")};
    }
    return table.over == place.shared ? std::vector{"distance" + onLoop(place.shared, place.offset)}
                                      : allBefore(table.over, place.shared);
  }

  /// All iterations before, of each of the loops from one to another inside it.
  std::vector<std::string> allBefore(LoopId outermost, LoopId innermost) const {
    std::vector<std::string> rows;
    std::string whole;
    for (LoopId l = innermost; l != kernel.loops[outermost].parent; l = kernel.loops[l].parent) {
      rows.push_back("distance" + onLoop(l, 1) + whole);
      int64_t all = 1 - static_cast<int64_t>(kernel.loops[l].trip.least());
      whole = all == 0 ? whole : onLoop(l, all) + whole;
    }
    return rows;
  }

  std::vector<std::string> distancesOf(const Dep &dep) const {
    std::vector<std::string> distances =
        dep.table.valid()                  ? shortestOf(dep)
        : dep.form == DistanceForm::Vector ? std::vector<std::string>{"distance"}
        : dep.form == DistanceForm::Flat   ? std::vector{fmt::format("flat {}", dep.step)}
                                           : std::vector{fmt::format("element {}", dep.step)};
    for (const DistanceComponent &c : kernel.componentsOf(dep)) {
      assert(dep.form != DistanceForm::Flat && "runs have no components");
      distances.front() += onLoop(c.loop, c.distance);
    }
    return distances;
  }

  void dependences() {
    IdVector<DepId, std::vector<size_t>> rowsOf(kernel.deps.size());
    std::vector<std::string> rows;
    for (DepId id : kernel.deps.ids()) {
      const Dep &dep = kernel.deps[id];
      for (const std::string &distance : distancesOf(dep)) {
        rowsOf[id].push_back(rows.size());
        rows.push_back(
            fmt::format("({} {} ({}))", dep.producer.value, dep.consumer.value, distance));
      }
    }
    table("dependences", rows, [](const std::string &row) { return row; });
    auto listRows = [&](std::string_view name, const std::vector<DepId> &deps) {
      std::vector<size_t> all;
      for (DepId dep : deps) {
        all.insert(all.end(), rowsOf[dep].begin(), rowsOf[dep].end());
      }
      if (!all.empty()) {
        list(name, all, [](size_t row) { return row; });
      }
    };
    listRows("waits-longer", notes.waitsLonger);
    listRows("never-asks", notes.neverAsks);
  }

  //===--- The code -------------------------------------------------------===//

  static std::string aluText(const Op &op) {
    static constexpr std::string_view names[] = {"move", "add", "sub", "mul", "min", "gt"};
    return fmt::format("({} r{} {}{})", names[static_cast<size_t>(op.alu)], op.dst.value,
                       operandText(op.a),
                       op.alu != AluOp::Move ? " " + operandText(op.b) : std::string());
  }

  static std::string waitText(const Op &op) {
    return fmt::format("(wait {} {})", op.wait.value, operandText(op.a));
  }

  static std::string signalText(const Op &op) {
    return fmt::format("(signal {} {})", op.signal.value, op.amount);
  }

  /// An operation that brackets nothing.
  static std::string simpleText(const Op &op) {
    switch (op.kind) {
    case OpKind::Issue:
      return fmt::format("(issue {}{}{})", op.target, op.wait.valid() ? " " + waitText(op) : "",
                         op.signal.valid() ? " " + signalText(op) : "");
    case OpKind::Wait:
      return waitText(op);
    case OpKind::Alu:
      return aluText(op);
    case OpKind::Signal:
      return signalText(op);
    case OpKind::Reset:
      return fmt::format("(reset {} {})", op.signal.value, op.amount);
    case OpKind::Drain:
      return "(drain)";
    case OpKind::BarrierBegin:
    case OpKind::BarrierEnd:
      return fmt::format("(barrier {})", op.target);
    case OpKind::WhenBegin:
      return fmt::format("(when {})", operandText(op.a));
    case OpKind::WhenEnd:
      return "(when end)";
    default:
      assert(false && "brackets are written where they are opened");
      return "";
    }
  }

  /// Up to the bracket that closes them, or the end.
  const Op *operations(const Op *op, const Op *end, unsigned indent) {
    while (op != end && op->kind != OpKind::LoopEnd && op->kind != OpKind::Else &&
           op->kind != OpKind::IfEnd) {
      line(indent);
      if (op->kind == OpKind::LoopBegin) {
        op = loop(op, end, indent);
      } else if (op->kind == OpKind::IfBegin) {
        op = branch(op, end, indent);
      } else {
        text += simpleText(*op++);
      }
    }
    return op;
  }

  const Op *loop(const Op *op, const Op *end, unsigned indent) {
    put("(loop {}", op->target);
    if (op->dst.valid()) {
      put(" (counter r{})", op->dst.value);
    }
    op = operations(op + 1, end, indent + 2);
    put(")");
    return op + 1;
  }

  const Op *branch(const Op *op, const Op *end, unsigned indent) {
    put("(if {} (", op->target);
    op = operations(op + 1, end, indent + 2);
    put(") (");
    if (op->kind == OpKind::Else) {
      op = operations(op + 1, end, indent + 2);
    }
    put("))");
    return op + 1;
  }

  const Kernel &kernel;
  const Code &code;
  const Machine &machine;
  const CertificateNotes &notes;
  std::string text;
};

} // namespace

std::string writeCertificate(const Kernel &kernel, const Code &code, const Machine &machine,
                             const CertificateNotes &notes) {
  return CertificateWriter(kernel, code, machine, notes).run();
}

} // namespace tally
