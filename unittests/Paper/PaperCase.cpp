//===- PaperCase.cpp - A small kernel, compiled, and what its engines do --===//

#include "PaperCase.h"

#include "tally/Code/Listing.h"
#include "tally/Run/Interpret.h"

#include <algorithm>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sstream>
#include <stdexcept>

namespace tally::paper {

//===----------------------------------------------------------------------===//
// Kernels, options, machines
//===----------------------------------------------------------------------===//

static std::vector<EngineId> declare(KernelBuilder &builder, uint32_t numEngines) {
  std::vector<EngineId> engines;
  engines.reserve(numEngines);
  for (uint32_t e = 0; e < numEngines; ++e) {
    engines.push_back(builder.engine(fmt::format("e{}", e)));
  }
  return engines;
}

Writer::Writer(uint32_t numEngines) : KernelBuilder("k"), engines(declare(*this, numEngines)) {}

Request with(Strategy strategy) {
  Request options;
  options.strategy = strategy;
  options.overflow = Overflow::Assume; // the paper's counters never end
  return options;
}

Request literal(Strategy strategy) {
  Request options = with(strategy);
  options.fold = false;
  options.licm = false;
  options.cse = false;
  return options;
}

Request baseline() {
  Request options = with(Strategy::Barrier);
  options.participants = Participants::All;
  return options;
}

static Machine machineWith(Subtraction subtraction, WaitCompare compare) {
  Machine machine = genericMachine();
  machine.subtraction = subtraction;
  machine.waitCompare = compare;
  return machine;
}

Machine saturatingMachine() {
  return machineWith(Subtraction::Saturates, WaitCompare::Unsigned);
}

Machine wrappingMachine() {
  return machineWith(Subtraction::Wraps, WaitCompare::Unsigned);
}

Machine signedMachine() {
  return machineWith(Subtraction::Wraps, WaitCompare::Signed);
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

Case::Case(Kernel k, const Request &options, Machine m)
    : kernel(std::move(k)), machine(std::move(m)), bindings(kernel),
      compiled(compile(kernel, options, machine, diagnostics)) {}

template <typename IdT, typename T>
static IdT named(const Kernel &kernel, const IdVector<IdT, T> &table, std::string_view name) {
  for (IdT id : table.ids()) {
    if (kernel.text(table[id].name) == name) {
      return id;
    }
  }
  ADD_FAILURE() << "no '" << name << "' in this kernel";
  return IdT(0);
}

EngineId Case::engineNamed(std::string_view name) const {
  return named(kernel, kernel.engines, name);
}

InstrId Case::instrNamed(std::string_view name) const {
  return named(kernel, kernel.instrs, name);
}

void Case::trips(std::string_view loop, Values byEntry, std::string_view engine) {
  bindings.set(named(kernel, kernel.loops, loop), std::move(byEntry),
               engine.empty() ? EngineId() : engineNamed(engine));
}

const Compiled &Case::program() const {
  if (!compiled) {
    throw std::runtime_error(messages());
  }
  return *compiled;
}

void Case::run(EngineId engine, const Visit &visit) const {
  EngineRun run(kernel, code(), machine, bindings, engine);
  run.setFuel(100000);
  while (const Op *op = run.next()) {
    visit(run, *op);
  }
  EXPECT_FALSE(run.exhausted());
}

/// What a wait compares with: where waits compare signed, a negative value lets all pass.
uint64_t Case::thresholdOf(const EngineRun &at, const Op &op) const {
  uint64_t value = at.value(op.a);
  bool negative = machine.waitCompare == WaitCompare::Signed && value >= machine.counterLimit();
  return negative ? 0 : value;
}

/// A barrier's handshake ends with an operation that is neither a wait nor an issue, so its waits
/// are not taken for those of the next instruction.
std::vector<std::vector<Case::Waited>> Case::waitsOf(InstrId instr) const {
  std::vector<std::vector<Waited>> runs;
  std::vector<Waited> before;
  run(kernel.engineOf(instr), [&](const EngineRun &at, const Op &op) {
    if (op.wait.valid()) {
      before.push_back({op.wait, thresholdOf(at, op)});
    }
    if (op.kind == OpKind::Issue && op.instr() == instr) {
      runs.push_back(before);
    }
    if (op.kind != OpKind::Wait) {
      before.clear();
    }
  });
  return runs;
}

Values Case::thresholds(std::string_view name) const {
  Values values;
  for (const std::vector<Waited> &waits : waitsOf(instrNamed(name))) {
    for (const Waited &wait : waits) {
      values.push_back(wait.threshold);
    }
    if (waits.empty()) {
      values.push_back(0);
    }
  }
  return values;
}

Lines Case::waits(std::string_view name) const {
  Lines lines;
  for (const std::vector<Waited> &waits : waitsOf(instrNamed(name))) {
    std::string text;
    for (const Waited &wait : waits) {
      text += fmt::format("{}{} >= {}", text.empty() ? "" : ", ",
                          code().semaphores[wait.semaphore].name, wait.threshold);
    }
    lines.push_back(text);
  }
  return lines;
}

SemaId Case::semaphoreOf(InstrId instr) const {
  for (const Op &op : code().engines[kernel.engineOf(instr)].ops) {
    if (op.kind == OpKind::Issue && op.instr() == instr) {
      return op.signal;
    }
  }
  return SemaId();
}

Values Case::raised(std::string_view name) const {
  InstrId instr = instrNamed(name);
  SemaId sema = semaphoreOf(instr);
  uint64_t reads = 0;
  Values values;
  run(kernel.engineOf(instr), [&](const EngineRun &, const Op &op) {
    bool covered = op.signal.valid() && op.signal <= sema &&
                   sema.value < op.signal.value + (op.kind == OpKind::Reset ? op.amount : 1);
    if (covered) {
      reads = op.kind == OpKind::Reset ? 0 : reads + op.amount;
    }
    if (op.kind == OpKind::Issue && op.instr() == instr) {
      values.push_back(reads);
    }
  });
  return values;
}

uint64_t Case::raisedInTheEnd(std::string_view name) const {
  InstrId instr = instrNamed(name);
  SemaId sema = semaphoreOf(instr);
  uint64_t reads = 0;
  run(kernel.engineOf(instr), [&](const EngineRun &, const Op &op) {
    reads += op.kind == OpKind::Issue && op.signal == sema ? op.amount : 0;
  });
  return reads;
}

uint64_t Case::executed(std::string_view engine, OpKind kind) const {
  uint64_t count = 0;
  run(engineNamed(engine), [&](const EngineRun &, const Op &op) { count += op.kind == kind; });
  return count;
}

//===----------------------------------------------------------------------===//
// The code as it stands
//===----------------------------------------------------------------------===//

static std::string collapsed(const std::string &line) {
  std::istringstream words(line.substr(0, line.find(';')));
  std::string text;
  for (std::string word; words >> word;) {
    text += (text.empty() ? "" : " ") + word;
  }
  return text;
}

Lines Case::program(std::string_view engine) const {
  std::istringstream text(listing(kernel, code(), engineNamed(engine)));
  std::string line;
  std::getline(text, line); // the engine's name and its number of registers
  Lines lines;
  while (std::getline(text, line)) {
    lines.push_back(collapsed(line));
  }
  return lines;
}

/// A counter is set to 0, stepped in place, or (in a ring) copied; anything else computes.
static bool computes(const Op &op) {
  bool steps = op.alu == AluOp::Add && op.a == Operand::reg(op.dst);
  return op.kind == OpKind::Alu && op.alu != AluOp::Move && !steps;
}

uint64_t Case::computations(std::string_view engine) const {
  const std::vector<Op> &ops = code().engines[engineNamed(engine)].ops;
  return static_cast<uint64_t>(std::count_if(ops.begin(), ops.end(), computes));
}

uint32_t Case::registers(std::string_view engine) const {
  return static_cast<uint32_t>(code().engines[engineNamed(engine)].registers.size());
}

uint32_t Case::semaphores() const {
  return static_cast<uint32_t>(code().semaphores.size());
}

} // namespace tally::paper
