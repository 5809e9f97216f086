//===- HandWritten.cpp - Code as a person might have written it -----------===//

#include "HandWritten.h"

#include "Random.h"

#include "tally/Code/ProgramJson.h"

#include <fmt/format.h>

namespace tally::fuzz {

std::optional<Program> writtenAndRead(const Kernel &kernel, const Program &program,
                                      std::string &reason) {
  std::string text = writeProgramJson(kernel, program);
  Diagnostics diagnostics;
  std::optional<KernelAndProgram> read = readProgramJson(text, "written.json", diagnostics);
  if (!read) {
    reason = "code that was written cannot be read: " + diagnostics.all().front().message;
    return std::nullopt;
  }
  if (writeProgramJson(read->kernel, read->program) != text) {
    reason = "code that was written is read as something else";
    return std::nullopt;
  }
  return std::move(read->program);
}

namespace {

class Rearranger {
public:
  Rearranger(Program &program, uint64_t seed) : program(program), random(seed) {}

  bool run() {
    for (EngineCode &code : program.engines) {
      rearrange(code);
    }
    if (program.engines.size() > 1 && random.percent(40)) {
      meetAtStart();
    }
    return changed;
  }

private:
  void rearrange(EngineCode &code) {
    std::vector<Op> ops;
    for (const Op &op : code.ops) {
      Op kept = op;
      if (op.kind == OpKind::Issue && random.percent(15)) {
        ops.push_back(Op::drain());
        changed = true;
      }
      if (op.wait.valid() && !op.a.isRegister && random.percent(20)) {
        kept.a = throughRegister(code, op.a, ops);
      }
      if (op.wait.valid() && random.percent(30)) {
        ops.push_back(waitOf(kept));
        standsAlone(kept);
      }
      ops.push_back(kept);
    }
    code.ops = std::move(ops);
  }

  static Op waitOf(const Op &op) {
    Op wait = Op::makeWait(op.wait, op.a);
    wait.firstReason = op.firstReason;
    wait.numReasons = op.numReasons;
    return wait;
  }

  /// The wait of an instruction goes, half of the time, now that it stands before it; a wait of
  /// itself is there twice.
  void standsAlone(Op &op) {
    changed = true;
    if (op.kind == OpKind::Issue && random.percent(50)) {
      op.wait = SemaId();
      op.a = Operand();
      op.numReasons = 0;
    }
  }

  Operand throughRegister(EngineCode &code, Operand number, std::vector<Op> &ops) {
    RegId fresh = code.registers.push({fmt::format("by_hand.{}", code.registers.size()), ""});
    ops.push_back(Op::move(fresh, number));
    changed = true;
    return Operand::reg(fresh);
  }

  /// The first engine signals, the last one waits.
  void meetAtStart() {
    SemaId met = program.semaphores.push({"by_hand.met"});
    uint32_t amount = random.in({1, 3});
    std::vector<Op> &first = program.engines[EngineId(0)].ops;
    EngineId lastEngine(static_cast<uint32_t>(program.engines.size()) - 1);
    std::vector<Op> &last = program.engines[lastEngine].ops;
    first.insert(first.begin(), Op::makeSignal(met, amount));
    last.insert(last.begin(), Op::makeWait(met, Operand::number(amount)));
    changed = true;
  }

  Program &program;
  Random random;
  bool changed = false;
};

} // namespace

bool rearrange(Program &program, uint64_t seed) {
  return Rearranger(program, seed).run();
}

} // namespace tally::fuzz
