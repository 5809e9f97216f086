//===- HandWritten.cpp - Code as a person might have written it -----------===//

#include "HandWritten.h"

#include "Random.h"

#include "tally/Written/CodeJson.h"

#include <fmt/format.h>

namespace tally::fuzz {

/// What comes back of code that is written in one of the two forms.
static std::optional<Code> writtenAndRead(const Kernel &kernel, const Code &code, bool compact,
                                          std::string &reason) {
  Diagnostics diagnostics;
  std::optional<LoadedKernel> read =
      readCodeJson(writeCodeJson(kernel, code, {.compact = compact}), "written.json", diagnostics);
  if (!read) {
    reason = "code that was written cannot be read: " + diagnostics.all().front().message;
    return std::nullopt;
  }
  if (writeCodeJson(read->kernel, *read->code) != writeCodeJson(kernel, code)) {
    reason = "code that was written is read as something else";
    return std::nullopt;
  }
  return std::move(*read->code);
}

std::optional<Code> writtenAndRead(const Kernel &kernel, const Code &code, std::string &reason) {
  std::optional<Code> read = writtenAndRead(kernel, code, /*compact=*/true, reason);
  return read ? writtenAndRead(kernel, code, /*compact=*/false, reason) : std::nullopt;
}

namespace {

class Rearranger {
public:
  Rearranger(Code &code, uint64_t seed) : code(code), random(seed) {}

  bool run() {
    for (EngineProgram &program : code.engines) {
      rearrange(program);
    }
    if (code.engines.size() > 1 && random.percent(40)) {
      meetAtStart();
    }
    return changed;
  }

private:
  void rearrange(EngineProgram &program) {
    std::vector<Op> ops;
    for (const Op &op : program.ops) {
      Op kept = op;
      if (op.kind == OpKind::Issue && random.percent(15)) {
        ops.push_back(Op::drain());
        changed = true;
      }
      if (op.wait.valid() && !op.a.isRegister && random.percent(20)) {
        kept.a = throughRegister(program, op.a, ops);
      }
      if (op.wait.valid() && random.percent(30)) {
        ops.push_back(waitOf(kept));
        standsAlone(kept);
      }
      ops.push_back(kept);
    }
    program.ops = std::move(ops);
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

  Operand throughRegister(EngineProgram &program, Operand number, std::vector<Op> &ops) {
    RegId fresh = program.registers.push({fmt::format("by_hand.{}", program.registers.size()), ""});
    ops.push_back(Op::move(fresh, number));
    changed = true;
    return Operand::reg(fresh);
  }

  /// The first engine signals, the last one waits.
  void meetAtStart() {
    SemaId met = code.semaphores.push({"by_hand.met"});
    uint32_t amount = random.in({1, 3});
    std::vector<Op> &first = code.engines[EngineId(0)].ops;
    EngineId lastEngine(static_cast<uint32_t>(code.engines.size()) - 1);
    std::vector<Op> &last = code.engines[lastEngine].ops;
    first.insert(first.begin(), Op::makeSignal(met, amount));
    last.insert(last.begin(), Op::makeWait(met, Operand::number(amount)));
    changed = true;
  }

  Code &code;
  Random random;
  bool changed = false;
};

} // namespace

bool rearrange(Code &code, uint64_t seed) {
  return Rearranger(code, seed).run();
}

} // namespace tally::fuzz
