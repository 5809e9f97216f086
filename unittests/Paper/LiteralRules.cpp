//===- LiteralRules.cpp - The published rules, taken at their word --------===//
//
// Each rule rewrites the code of one engine after the other:
//
//   oneIdPerConditional   a count of a branch is stepped in its sibling as well
//   perEngineClosedForm   every engine counts the entries of all bodies it runs; a wait of distance
//                         0 becomes  w*(N*r - (N-K)) + the sum of w*N_l*(r_l - 1) over other bodies
//   rootCountersAtZero    waits for dependences whose innermost common loop is the root go away
//   totalWaitOf           every threshold goes through one register, and what had no wait waits for
//                         what that holds on its own semaphore
//
// unguardedSubtraction is a matter of the machine: code made for one that stops at zero runs on one
// that wraps.
//===----------------------------------------------------------------------===//

#include "LiteralRules.h"

#include <fmt/format.h>

#include <map>

namespace tally::paper {

SpecReading readingOf(const Kernel &kernel, const LiteralRules &rules) {
  SpecReading reading;
  if (rules.oneIdPerConditional) {
    for (const Loop &loop : kernel.loops) {
      reading.countsAs.push(loop.otherBranch);
    }
  }
  if (rules.rootCountersAtZero) {
    for (const Dep &dep : kernel.deps) {
      LoopId shared =
          kernel.commonLoop(kernel.instrs[dep.producer].home, kernel.instrs[dep.consumer].home);
      reading.neverOwed.push(kernel.realLoop(shared) == rootLoop && dep.form != DistanceForm::Flat);
    }
  }
  return reading;
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

namespace {

using Ops = std::vector<Op>;

/// Rewrites the code of one engine.
class Rewriter {
public:
  Rewriter(const Kernel &kernel, Code &code, EngineProgram &program)
      : kernel(kernel), code(code), program(program) {}

  void oneIdPerConditional();
  void perEngineClosedForm();
  void rootCountersAtZero();
  void totalWaitOf();

private:
  RegId newRegister(std::string name, std::string role) {
    return program.registers.push({std::move(name), std::move(role)});
  }

  static Op step(RegId counter) {
    return Op::alu2(AluOp::Add, counter, Operand::reg(counter), Operand::number(1));
  }

  /// The steps of counters of `branch`, as they stand in the code.
  Ops stepsOf(LoopId branch) const;
  bool isOwedToRoot(const Op &op) const;
  const Dep *closedFormDep(const Op &op) const;
  std::map<LoopId, RegId> countEntries();
  Operand closedForm(const Dep &dep, const std::map<LoopId, RegId> &counters, Ops &ops);

  const Kernel &kernel;
  Code &code;
  EngineProgram &program;
};

Ops Rewriter::stepsOf(LoopId branch) const {
  Ops steps;
  auto counts = [&](const RegisterRole &role) {
    return role.kind == RegisterRole::Kind::Total && role.loop == branch;
  };
  for (const Op &op : program.ops) {
    if (op.kind == OpKind::Alu && counts(program.registers[op.dst].role) && op == step(op.dst)) {
      steps.push_back(op);
    }
  }
  return steps;
}

void Rewriter::oneIdPerConditional() {
  Ops ops;
  std::vector<bool> hasElse; // of the open branches
  std::vector<LoopId> open;
  auto append = [&](const Ops &more) { ops.insert(ops.end(), more.begin(), more.end()); };
  for (const Op &op : program.ops) {
    if (op.kind == OpKind::IfEnd) {
      if (!hasElse.back()) {
        ops.push_back(Op::mark(OpKind::Else));
        append(stepsOf(open.back()));
      }
      hasElse.pop_back();
      open.pop_back();
    }
    ops.push_back(op);
    if (op.kind == OpKind::IfBegin) {
      open.push_back(op.loop());
      hasElse.push_back(false);
      append(stepsOf(kernel.loops[op.loop()].otherBranch));
    } else if (op.kind == OpKind::Else) {
      hasElse.back() = true;
      append(stepsOf(open.back()));
    }
  }
  program.ops = std::move(ops);
}

/// Whether everything behind a wait is between instructions with no loop around both.
bool Rewriter::isOwedToRoot(const Op &op) const {
  for (uint32_t i = 0; i < op.numReasons; ++i) {
    const Dep &dep = kernel.deps[code.reasons[op.firstReason + i]];
    LoopId shared =
        kernel.commonLoop(kernel.instrs[dep.producer].home, kernel.instrs[dep.consumer].home);
    if (kernel.realLoop(shared) != rootLoop || dep.form == DistanceForm::Flat) {
      return false;
    }
  }
  return op.wait.valid() && op.numReasons > 0;
}

void Rewriter::rootCountersAtZero() {
  std::erase_if(program.ops,
                [&](const Op &op) { return op.kind == OpKind::Wait && isOwedToRoot(op); });
  for (Op &op : program.ops) {
    if (op.kind == OpKind::Issue && isOwedToRoot(op)) {
      op.wait = SemaId();
      op.a = Operand();
      op.numReasons = 0;
    }
  }
}

void Rewriter::totalWaitOf() {
  RegId w = newRegister("w", "wait");
  Ops ops;
  for (Op op : program.ops) {
    if (op.wait.valid()) {
      ops.push_back(Op::move(w, op.a));
      op.a = Operand::reg(w);
    } else if (op.kind == OpKind::Issue && op.signal.valid()) {
      op.wait = op.signal;
      op.a = Operand::reg(w);
    }
    ops.push_back(op);
  }
  program.ops = std::move(ops);
}

//===----------------------------------------------------------------------===//
// One counter per engine, summed up at the consumer
//===----------------------------------------------------------------------===//

/// Counts the entries of every body that the code opens.
std::map<LoopId, RegId> Rewriter::countEntries() {
  std::map<LoopId, RegId> counters;
  std::vector<LoopId> open;
  Ops ops;
  auto enter = [&](LoopId body) {
    auto [found, isNew] = counters.try_emplace(body);
    if (isNew) {
      found->second = newRegister(fmt::format("entries{}", body.value), "");
    }
    ops.push_back(step(found->second));
  };
  for (const Op &op : program.ops) {
    ops.push_back(op);
    if (op.kind == OpKind::LoopBegin) {
      enter(op.loop());
    } else if (op.kind == OpKind::IfBegin) {
      open.push_back(op.loop());
      enter(op.loop());
    } else if (op.kind == OpKind::Else) {
      enter(kernel.loops[open.back()].otherBranch);
    } else if (op.kind == OpKind::IfEnd) {
      open.pop_back();
    }
  }
  program.ops = std::move(ops);
  return counters;
}

/// The one dependence behind a wait, if its distance is 0.
const Dep *Rewriter::closedFormDep(const Op &op) const {
  if (!op.wait.valid() || op.numReasons != 1) {
    return nullptr;
  }
  const Dep &dep = kernel.deps[code.reasons[op.firstReason]];
  return dep.form == DistanceForm::Vector && dep.numComponents == 0 ? &dep : nullptr;
}

Operand Rewriter::closedForm(const Dep &dep, const std::map<LoopId, RegId> &counters, Ops &ops) {
  const Instr &producer = kernel.instrs[dep.producer];
  uint32_t weight = kernel.queues[producer.queue].weight;
  std::map<LoopId, uint32_t> members; // N of each body
  uint32_t place = 0;                 // K
  for (InstrId id : kernel.instrs.ids()) {
    const Instr &instr = kernel.instrs[id];
    members[instr.home] += instr.queue == producer.queue ? 1 : 0;
    place = id == dep.producer ? members[instr.home] : place;
  }
  RegId sum = newRegister(fmt::format("sum{}", program.registers.size()), "");
  RegId term = newRegister(fmt::format("term{}", program.registers.size()), "");
  ops.push_back(Op::move(sum, Operand::number(0)));
  for (auto [body, n] : members) {
    auto counter = counters.find(body);
    if (n == 0 || (body != rootLoop && counter == counters.end())) {
      continue;
    }
    Operand entries = body == rootLoop ? Operand::number(1) : Operand::reg(counter->second);
    bool own = body == producer.home;
    ops.push_back(own ? Op::alu2(AluOp::Mul, term, entries, Operand::number(n))
                      : Op::alu2(AluOp::Sub, term, entries, Operand::number(1)));
    ops.push_back(own ? Op::alu2(AluOp::Sub, term, Operand::reg(term), Operand::number(n - place))
                      : Op::alu2(AluOp::Mul, term, Operand::reg(term), Operand::number(n)));
    ops.push_back(Op::alu2(AluOp::Mul, term, Operand::reg(term), Operand::number(weight)));
    ops.push_back(Op::alu2(AluOp::Add, sum, Operand::reg(sum), Operand::reg(term)));
  }
  return Operand::reg(sum);
}

void Rewriter::perEngineClosedForm() {
  std::map<LoopId, RegId> counters = countEntries();
  Ops ops;
  for (Op op : program.ops) {
    if (const Dep *dep = closedFormDep(op)) {
      op.a = closedForm(*dep, counters, ops);
    }
    ops.push_back(op);
  }
  program.ops = std::move(ops);
}

} // namespace

void makeLiteral(const Kernel &kernel, const LiteralRules &rules, Code &code, Machine &machine) {
  if (rules.unguardedSubtraction) {
    machine.subtraction = Subtraction::Wraps;
  }
  for (EngineProgram &program : code.engines) {
    Rewriter rewriter(kernel, code, program);
    if (rules.oneIdPerConditional) {
      rewriter.oneIdPerConditional();
    }
    if (rules.perEngineClosedForm) {
      rewriter.perEngineClosedForm();
    }
    if (rules.rootCountersAtZero) {
      rewriter.rootCountersAtZero();
    }
    if (rules.totalWaitOf) {
      rewriter.totalWaitOf();
    }
  }
}

} // namespace tally::paper
