//===- Language.cpp - The words of the language, and what each means ------===//

#include "Language.h"

#include <algorithm>

namespace tally::server {

std::string_view toString(NameKind kind) {
  switch (kind) {
  case NameKind::Kernel:
    return "kernel";
  case NameKind::Engine:
    return "engine";
  case NameKind::Queue:
    return "queue";
  case NameKind::Buffer:
    return "buffer";
  case NameKind::Loop:
    return "loop";
  case NameKind::Instr:
    return "instruction";
  case NameKind::Value:
    return "run-time value";
  case NameKind::Semaphore:
    return "semaphore";
  case NameKind::Register:
    return "register";
  }
  return "";
}

static constexpr auto None = Strings::None;
static constexpr auto Declares = Strings::Declares;
static constexpr auto Uses = Strings::Uses;
static constexpr auto Tile = Strings::Tile;

static constexpr std::string_view bodies = "kernel loop if";
static constexpr std::string_view programs = "program for branch barrier when";

static constexpr std::string_view syncText =
    "The strategy of this body and everything inside it, independently of the kernel around it: "
    "`per-instruction`, `per-loop`, `per-engine` or `barrier`.";
static constexpr std::string_view divergentText =
    "Engines may disagree on how often this body runs. Without it, they always agree.";
static constexpr std::string_view forText =
    "The dependences behind this wait, by their place in the kernel, from 0.";
static constexpr std::string_view onceText =
    "Only the first body of each pass of the unrolled loop around holds this wait.";
static constexpr std::string_view byText =
    "How much it adds to the semaphore; 1 if it is not said.";
static constexpr std::string_view thresholdText =
    "The least value of the semaphore that ends the wait: a register or a number.";

static constexpr Word words[] = {
    {"kernel", "", "tally.kernel @name { ... }",
     "One structured program that all engines walk. Its body holds engines, buffers, loops, "
     "branches, instructions and dependences.",
     None, NameKind::Kernel, false, "-"},
    {"kernel", "reserves", "reserves [N, ...]",
     "Numbers of semaphores that code made for this kernel leaves alone."},

    {"engine", "", "tally.engine \"e\"",
     "A sequencer that issues its instructions in order. It has a queue of the same name, and "
     "may have more.",
     Declares, NameKind::Engine, false, "kernel"},
    {"engine", "weight", "weight N",
     "How much one retirement on this queue adds to a semaphore, in code that tally makes; 1 if it "
     "is not said."},
    {"engine", "whole", "whole",
     "The weight arrives at the semaphore at once. This is the default."},
    {"engine", "split", "split",
     "The weight arrives at the semaphore in steps of one, which mix with those of the next run."},
    {"engine", "from", "from \"k.py\" line N column N",
     "The place in another text that the engine or the queue comes from. Messages show it."},
    {"engine", "queues", "queues [\"q\", ...]",
     "More queues of this engine. Instructions of one queue retire in order; those of two queues "
     "need not.",
     Declares, NameKind::Queue},
    {"engine", "reserves", "reserves [N, ...]",
     "Numbers of registers of this engine that code made for this kernel leaves alone."},

    {"value", "", "tally.value \"n\"",
     "A number `$n` that only a run knows, and that is the same throughout it.", Declares,
     NameKind::Value, false, "kernel"},
    {"value", "min", "min N", "The least that the value may be; 0 if not said."},
    {"value", "max", "max N", "The largest that the value may be."},

    {"buffer", "", "tally.buffer \"X\"",
     "Memory that tiles name. Dependences follow from the tiles that instructions read and write.",
     Declares, NameKind::Buffer, false, "kernel"},
    {"buffer", "shape", "shape [N, ...]",
     "How many elements each dimension has. Without it, the buffer is a single element."},
    {"buffer", "type", "type \"t\"", "The type of an element, as in `\"bf16\"`."},
    {"buffer", "space", "space \"s\"",
     "The memory that the buffer lies in. Buffers of two spaces never overlap."},
    {"buffer", "at", "at N", "The address of the first element, in bytes."},
    {"buffer", "partitions", "partitions [first N] [dim N]",
     "One dimension of the buffer goes over partitions of memory, from the first one on. The "
     "elements "
     "of each partition follow the address."},
    {"buffer", "alias", "alias [\"Y\", ...]",
     "Buffers declared above that may share any memory with this one, at unknown places.", Uses,
     NameKind::Buffer},
    {"buffer", "noalias", "noalias [\"Z\", ...]",
     "Buffers declared above that share no memory with this one, whatever the addresses say.", Uses,
     NameKind::Buffer},

    {"buffer", "ring", "ring [min N] max N",
     "Its slots, which tiles take in turn, are left open: strategy `auto` chooses how many there "
     "are. The shape says how many there are until then."},

    {"buffer", "first", "partitions first N",
     "The first partition that the buffer takes; 0 if not said."},
    {"buffer", "dim", "partitions dim N",
     "The dimension that goes over partitions, counted from 0; 0 if not said."},
    {"buffer", "min", "ring min N max N",
     "The fewest slots that the ring may have; 1 if not said."},
    {"buffer", "max", "ring max N", "The most slots that the ring may have."},

    {"loop", "", "tally.loop \"A\" trips N { ... }",
     "A body that runs a constant number of times, as often as a run-time value says, or while a "
     "condition holds.",
     Declares, NameKind::Loop, false, bodies},
    {"loop", "trips", "trips N",
     "How often the loop runs each time it is reached: a number, a run-time value `\"n\"`, or "
     "after "
     "`=` a formula.",
     Declares, NameKind::Value},
    {"loop", "=", "trips = \"$n - i\"",
     "How often the loop runs, in terms of run-time values and of the iterations of loops around "
     "it. Below 1, it does not run.",
     Strings::Formula},
    {"loop", "min", "min N",
     "The least that the run-time value of the trips can be; 0 if not said."},
    {"loop", "max", "max N",
     "The most that the run-time value of the trips can be. It bounds tiles and counters; without "
     "it there is no limit."},
    {"loop", "while", "while \"more\"",
     "The loop goes on as long as a condition holds, which is known only during the run.", Declares,
     NameKind::Value},
    {"loop", "divergent", "divergent", divergentText},
    {"loop", "unroll", "unroll N",
     "Code writes out N iterations for each branch back; `full` writes out all of a constant "
     "number."},
    {"loop", "full", "unroll full", "Code writes out all iterations."},
    {"loop", "sync", "sync \"strategy\"", syncText},

    {"if", "", "tally.if \"c\" { ... }",
     "Runs one of two bodies, by a condition that is known only during the run. The second one may "
     "be missing.",
     Declares, NameKind::Loop, false, bodies},
    {"if", "when", "when \"i > 0 and j <= i\"",
     "Comparisons of iterations around it, run-time values and numbers that decide which body "
     "runs. "
     "Without them, only the run knows.",
     Strings::Formula},
    {"if", "divergent", "divergent", divergentText},
    {"if", "sync", "sync \"strategy\"", syncText},

    {"instr", "", "tally.instr \"load\" on \"q\"",
     "An instruction on a queue. Its engine issues it in order, and it retires in the order of its "
     "queue.",
     Declares, NameKind::Instr, false, bodies},
    {"instr", "on", "on \"q\"",
     "The queue that the instruction enters, and by it the engine that issues it.", Uses,
     NameKind::Queue},
    {"instr", "or", "or [\"q\", ...]",
     "Further queues that the instruction may enter instead; strategy `auto` chooses.", Uses,
     NameKind::Queue},
    {"instr", "op", "op \"o\"",
     "The kind of the instruction and, where needed, its sizes, so that the simulator knows its "
     "cost."},
    {"instr", "computes", "computes \"r0 + r1\"",
     "What the instruction makes of the tiles that it reads: `r0` is the first of them."},
    {"instr", "reads", "reads [\"X[i]\", ...]",
     "The tiles that the instruction reads. Bounds are checked, and dependences follow from them.",
     Tile, NameKind::Buffer},
    {"instr", "writes", "writes [\"X[i]\", ...]",
     "The tiles that the instruction writes. Bounds are checked, and dependences follow from them.",
     Tile, NameKind::Buffer},
    {"instr", "accumulates", "accumulates [\"X[i]\", ...]",
     "The tiles that the instruction adds to. Two accumulations on one queue need no dependence.",
     Tile, NameKind::Buffer},
    {"instr", "loads", "loads [\"n\", ...]",
     "Run-time values that the instruction loads for its engine, which goes on once it has "
     "retired: "
     "what follows on this engine has them."},
    {"instr", "semaphore", "semaphore N",
     "The number of the semaphore that the instruction raises."},

    {"dep", "", "tally.dep \"producer\" -> \"consumer\"",
     "The consumer waits for an earlier run of the producer. The distance says for which; without "
     "one, it is the run of the same iteration.",
     Uses, NameKind::Instr, false, "kernel"},
    {"dep", "->", "\"producer\" -> \"consumer\"",
     "The instruction after the arrow waits for the one before it.", Uses, NameKind::Instr},
    {"dep", "raw", "raw", "The consumer reads what the producer writes."},
    {"dep", "war", "war", "The consumer writes over what the producer reads."},
    {"dep", "waw", "waw", "The consumer writes over what the producer writes."},
    {"dep", "at", "at \"A\" = 2",
     "The distance: the consumer waits for the producer's run that many iterations earlier; loops "
     "that are not named have 0.",
     Uses, NameKind::Loop},
    {"dep", "flat", "flat N",
     "The distance in runs: run number *q* of the consumer waits for run *q* - N of the producer, "
     "counted over the whole execution."},
    {"dep", "element", "element N",
     "For two loops side by side: inner iteration *i* of the consumer waits for *i* - N of the "
     "producer. By a table, `element [0, 0, 1] each 2`: of every three runs, each waits for the "
     "one "
     "that stands there; the next three for 2 more. That serves two in one loop, too."},
    {"dep", "allow_divergent", "allow_divergent",
     "Engines may disagree on how often the producer runs. Then the consumer's engine counts."},
    {"dep", "semaphore", "semaphore N",
     "The number of the semaphore that the consumer waits for; the producer raises it."},

    {"code", "", "tally.code @kernel { ... }",
     "What each engine executes for the kernel of this name: semaphores, and one program for each "
     "engine.",
     None, NameKind::Kernel, false, "-"},
    {"code", "strategy", "strategy \"s\"",
     "How the code was made. `manual`, the default, is code that was written by hand."},
    {"code", "machine", "machine \"m\"", "The machine that the code was made for."},

    {"semaphore", "", "tally.semaphore \"s\"",
     "A counter that starts at 0. Engines raise it and wait for it.", Declares, NameKind::Semaphore,
     false, "code"},
    {"program", "", "tally.program \"e\" { ... }",
     "The code of one engine, with its loops, branches and instructions in the order of the "
     "kernel.",
     Uses, NameKind::Engine, false, "code"},
    {"register", "", "tally.register \"r\"", "A register of this engine.", Declares,
     NameKind::Register, false, "program"},
    {"register", "role", "role \"total(A)\"", "What the register holds, for readers only."},
    {"set", "", "tally.set \"r\" = \"a\" + 1", "Computes a register.", Uses, NameKind::Register,
     false, programs},
    {"set", "=", "= x + y",
     "The new value: a register or a number, or two of them with `+`, `-`, `*`, `min` or `gt` "
     "between them.",
     Uses, NameKind::Register, true},
    {"set", "min", "x min y", "The smaller of the two.", Uses, NameKind::Register},
    {"set", "gt", "x gt y", "1 if x is greater than y, otherwise 0.", Uses, NameKind::Register},
    {"for", "", "tally.for \"A\" { ... }", "Runs a loop of the kernel.", Uses, NameKind::Loop,
     false, programs},
    {"for", "counter", "counter \"r\"", "The register of the native loop counter, from 1.", Uses,
     NameKind::Register},
    {"for", "unroll", "unroll N",
     "Written out as N bodies for each branch back, and a loop for the rest."},
    {"for", "at_once", "at_once",
     "Everything inside adds numbers to registers: all iterations are one operation for each."},
    {"branch", "", "tally.branch \"c\" { ... }", "Runs an `if` of the kernel.", Uses,
     NameKind::Loop, false, programs},
    {"issue", "", "tally.issue \"i\"",
     "Waits until the semaphore has the value, issues the instruction, and raises the other "
     "semaphore when it retires.",
     Uses, NameKind::Instr, false, programs},
    {"issue", "waits", "waits \"s\" >= x", "The semaphore that the instruction waits for.", Uses,
     NameKind::Semaphore},
    {"issue", ">=", ">= x", thresholdText, Uses, NameKind::Register},
    {"issue", "for", "for [N, ...]", forText},
    {"issue", "once", "once", onceText},
    {"issue", "signals", "signals \"s\"",
     "The semaphore that is raised when the instruction retires.", Uses, NameKind::Semaphore},
    {"issue", "by", "by N", byText},
    {"wait", "", "tally.wait \"s\" >= x", "Blocks the engine until a semaphore has a value.", Uses,
     NameKind::Semaphore, false, programs},
    {"wait", ">=", ">= x", thresholdText, Uses, NameKind::Register},
    {"wait", "for", "for [N, ...]", forText},
    {"wait", "once", "once", onceText},
    {"signal", "", "tally.signal \"s\"", "Raises a semaphore at once.", Uses, NameKind::Semaphore,
     false, programs},
    {"signal", "by", "by N", byText},
    {"reset", "", "tally.reset \"s\"", "Sets a semaphore to 0.", Uses, NameKind::Semaphore, false,
     programs},
    {"reset", "count", "count N", "This semaphore and those declared after it, N in all."},
    {"drain", "", "tally.drain", "Blocks until all instructions of this engine have retired.", None,
     NameKind::Kernel, false, programs},
    {"barrier", "", "tally.barrier [\"e\", ...] { ... }",
     "Brackets the operations by which these engines meet. It has no effect of its own.", Uses,
     NameKind::Engine, false, programs},
    {"when", "", "tally.when \"r\" { ... }",
     "Executes its body, which holds operations on registers and semaphores, if the value is not "
     "0.",
     Uses, NameKind::Register, false, programs},

    {"trips", "", "tally.trips \"A\"", "How often the loop of the kernel runs this time.", Uses,
     NameKind::Loop},
    {"guard", "", "tally.guard \"c\"",
     "Whether the then-branch is taken this time, or whether a while-loop goes on.", Uses,
     NameKind::Loop},
    {"await", "", "tally.await \"s\" >= %v", "Blocks until a semaphore has a computed value.", Uses,
     NameKind::Semaphore},
    {"await", "for", "for [N, ...]", forText},
    {"run", "", "tally.run \"i\"", "Issues an instruction that may wait for a computed value.",
     Uses, NameKind::Instr},
    {"run", "waits", "waits \"s\" >= %v", "The semaphore that the instruction waits for.", Uses,
     NameKind::Semaphore},
    {"run", "for", "for [N, ...]", forText},
    {"run", "signals", "signals \"s\"",
     "The semaphore that is raised when the instruction retires.", Uses, NameKind::Semaphore},
    {"run", "by", "by N", byText},

    {"tile", "mod", "A mod 2", "The remainder, never negative: slot 0, 1, 0, 1, ..."},
    {"tile", "floordiv", "A floordiv 2", "The quotient, rounded down."},
    {"tile", "total", "total(A)",
     "How often the body of `A` was entered before this time, over the whole run."},
    {"tile", "trips", "trips(A)", "How often the loop `A` runs this time."},
    {"tile", "if", "X if A == 0",
     "The tile is touched only in runs in which all guards hold. The instruction runs either way."},
    {"tile", "and", "if A == 0 and B > 1", "Both guards have to hold."},
};

bool Word::standsIn(std::string_view around) const {
  if (around.empty()) {
    return within == "-";
  }
  for (size_t at = 0; at < within.size();) {
    size_t end = std::min(within.find(' ', at), within.size());
    if (within.substr(at, end - at) == around) {
      return true;
    }
    at = end + 1;
  }
  return false;
}

std::span<const Word> vocabulary() {
  return words;
}

const Word *findWord(std::string_view operation, std::string_view clause) {
  auto found = std::ranges::find_if(words, [&](const Word &word) {
    return word.operation == operation && word.clause == clause;
  });
  return found == std::end(words) ? nullptr : &*found;
}

} // namespace tally::server
