//===- RaceStory.cpp - What reports about races look up -------------------===//

#include "RaceStory.h"

#include "tally/Code/Origin.h"

#include <fmt/format.h>

#include <algorithm>

namespace tally::check {

const Op &Story::opAt(EngineId engine, uint32_t at) const {
  return code.engines[engine].ops[points(engine)[at].op];
}

WaitAt Story::waitAt(EngineId engine, uint32_t at) const {
  return {&opAt(engine, at), at, points(engine)[at].threshold};
}

uint32_t Story::numberOf(Instance instance) const {
  QueueId queue = queueOf(instance.instr);
  for (uint32_t n = 0; n < system.issuesOf(queue).size(); ++n) {
    if (system.instanceAt(queue, n) == instance) {
      return n + 1;
    }
  }
  return 0;
}

uint32_t Story::placeOf(Instance instance) const {
  return system.issuesOf(queueOf(instance.instr))[numberOf(instance) - 1];
}

Story::Active Story::activeAt(EngineId engine, uint32_t at) const {
  EngineRun run(kernel, code, subject.machine, subject.bindings, engine);
  for (uint32_t i = 0; i < at; ++i) {
    run.advance();
  }
  return run.active();
}

std::string Story::iterationAt(EngineId engine, uint32_t at) const {
  return iterationText(kernel, activeAt(engine, at));
}

Story::Active Story::activeOf(Instance instance) const {
  return activeAt(kernel.engineOf(instance.instr), placeOf(instance));
}

std::string Story::nameOf(Instance instance) const {
  std::string iteration =
      numberOf(instance) != 0 ? iterationText(kernel, activeOf(instance)) : std::string();
  return fmt::format("'{}'{}", kernel.nameOf(instance.instr),
                     iteration.empty() ? "" : " (" + iteration + ")");
}

InstrId Story::instrAfter(EngineId engine, uint32_t at) const {
  for (; at < points(engine).size(); ++at) {
    if (opAt(engine, at).kind == OpKind::Issue) {
      return opAt(engine, at).instr();
    }
  }
  return {};
}

Location Story::whereAt(EngineId engine, uint32_t at) const {
  InstrId instr = instrAfter(engine, at);
  return instr.valid() ? kernel.instrs[instr].where
                       : placeOrEngine(kernel, code, engine, points(engine)[at].op);
}

std::string Story::operationText(EngineId engine, uint32_t at) const {
  const Op &op = opAt(engine, at);
  InstrId instr = instrAfter(engine, at);
  if (op.kind == OpKind::Issue) {
    return fmt::format("'{}' on '{}'", kernel.nameOf(instr), kernel.nameOf(engine));
  }
  std::string_view what = op.kind == OpKind::Signal  ? "the signal"
                          : op.kind == OpKind::Reset ? "the reset"
                          : op.kind == OpKind::Drain ? "the drain"
                                                     : "the wait";
  std::string place =
      instr.valid() ? fmt::format("before '{}'", kernel.nameOf(instr)) : std::string("at the end");
  return fmt::format("{} {} on '{}'", what, place, kernel.nameOf(engine));
}

std::pair<EngineId, uint32_t> Story::firstRunOf(uint32_t number) const {
  EngineId engine(0);
  for (EngineId e : kernel.engines.ids()) {
    engine = subject.firstOp[e] <= number ? e : engine;
  }
  const std::vector<ImplPoint> &all = points(engine);
  for (uint32_t at = 0; at < all.size(); ++at) {
    if (subject.firstOp[engine] + all[at].op == number) {
      return {engine, at};
    }
  }
  return {engine, 0};
}

uint64_t Story::valueAfter(QueueId queue, uint32_t number, SemaId semaphore) const {
  uint64_t value = 0;
  for (uint32_t n = 0; n < number; ++n) {
    const Op &op = system.issueAt(queue, n);
    value += op.signal == semaphore ? op.amount : 0;
  }
  return value;
}

bool Story::isReset(SemaId semaphore) const {
  for (const EngineProgram &program : code.engines) {
    for (const Op &op : program.ops) {
      if (op.kind == OpKind::Reset && semaphore.value - op.signal.value < op.amount) {
        return true;
      }
    }
  }
  return false;
}

std::vector<WaitAt> Story::waitsBefore(EngineId engine, uint32_t at) const {
  std::vector<WaitAt> waits;
  for (uint32_t i = at + 1; i-- > 0;) {
    const Op &op = opAt(engine, i);
    if (i != at && (op.kind == OpKind::Issue || op.kind == OpKind::Signal)) {
      break;
    }
    if (op.wait.valid()) {
      waits.push_back(waitAt(engine, i));
    }
  }
  std::reverse(waits.begin(), waits.end());
  return waits;
}

RegisterStory Story::registerStory(EngineId engine, uint32_t at) const {
  RegisterStory story;
  const Op &wait = opAt(engine, at);
  if (!wait.a.isRegister || isLoopCounter(engine, wait.a.asRegister())) {
    return story;
  }
  for (uint32_t i = at; i-- > 0;) {
    const Op &op = opAt(engine, i);
    if (op.kind == OpKind::Alu && op.dst == wait.a.asRegister()) {
      return story;
    }
    if (op.wait.valid() && op.a == wait.a && story.kind == RegisterStory::Kind::Fresh) {
      story.before = waitAt(engine, i);
      story.kind = &op == &wait           ? RegisterStory::Kind::SameWait
                   : op.wait != wait.wait ? RegisterStory::Kind::OtherWait
                                          : RegisterStory::Kind::Fresh;
    }
  }
  story.kind = RegisterStory::Kind::NeverSet;
  return story;
}

std::string Story::registerNote(EngineId engine, uint32_t at) const {
  RegisterStory story = registerStory(engine, at);
  if (story.kind == RegisterStory::Kind::Fresh) {
    return {};
  }
  std::string_view name = code.engines[engine].registers[opAt(engine, at).a.asRegister()].name;
  if (story.kind == RegisterStory::Kind::NeverSet) {
    return fmt::format("its register '{}' was never set and holds 0", name);
  }
  std::string iteration = iterationAt(engine, story.before.at);
  std::string when = iteration.empty() ? "" : " (" + iteration + ")";
  if (story.kind == RegisterStory::Kind::SameWait) {
    return fmt::format("its register '{}' was not set since the same wait read it before{}", name,
                       when);
  }
  return fmt::format("its register '{}' still holds what {} waited for on '{}'{}", name,
                     operationText(engine, story.before.at), sema(story.before.op->wait), when);
}

bool Story::isLoopCounter(EngineId engine, RegId reg) const {
  const std::vector<Op> &ops = code.engines[engine].ops;
  return std::ranges::any_of(
      ops, [&](const Op &op) { return op.kind == OpKind::LoopBegin && op.dst == reg; });
}

} // namespace tally::check
