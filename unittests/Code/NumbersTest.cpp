//===- NumbersTest.cpp - Reserved and pinned semaphores and registers -----===//
//
// On random programs with random reservations and pins: no operation touches what is reserved, what
// is pinned is where it was pinned to, and the code is as right as without.
//
//===----------------------------------------------------------------------===//

#include "oracle/Campaign.h"
#include "oracle/CodeComparison.h"
#include "oracle/PlanComparison.h"

#include "tally/Compile/Compile.h"
#include "tally/Model/KernelBuilder.h"
#include "tally/Model/Pins.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

using namespace tally;
using namespace tally::oracle;

namespace {

/// Puts reservations into a kernel, and pins among what the others would use.
void reserveAndPin(Kernel &kernel, uint64_t seed) {
  std::mt19937_64 random(seed);
  auto oneIn = [&](uint64_t n) { return random() % n == 0; };
  for (uint32_t number = 0; number < 10; ++number) {
    if (oneIn(3)) {
      kernel.reserved.push_back(number);
    }
    for (Engine &engine : kernel.engines) {
      if (oneIn(4)) {
        engine.reserved.push_back(number);
      }
    }
  }
  uint32_t number = 0;
  std::vector<bool> pinned(kernel.instrs.size(), false);
  for (InstrId first : kernel.instrs.ids()) {
    if (pinned[first.value] || !oneIn(3)) {
      continue;
    }
    do {
      number += 1 + random() % 4;
    } while (std::ranges::find(kernel.reserved, number) != kernel.reserved.end());
    for (InstrId other = first; other.value < kernel.instrs.size(); ++other.value) {
      bool mayShare = kernel.instrs[other].queue == kernel.instrs[first].queue &&
                      kernel.instrs[other].home == kernel.instrs[first].home;
      if (mayShare && !pinned[other.value] && (other == first || oneIn(2))) {
        kernel.pins.push_back({other, number, {}});
        pinned[other.value] = true;
      }
    }
  }
}

bool contains(const std::vector<uint32_t> &numbers, uint32_t number) {
  return std::ranges::find(numbers, number) != numbers.end();
}

/// The first operation that touches what it must not, in words; empty if there is none.
std::string findTouched(const Kernel &kernel, const Code &code) {
  const std::map<InstrId, uint32_t> pins = pinnedSemaphores(kernel);
  for (const EngineProgram &program : code.engines) {
    const std::vector<uint32_t> &reserved = kernel.engines[program.engine].reserved;
    for (const Op &op : program.ops) {
      bool isReset = op.kind == OpKind::Reset;
      for (uint32_t s = 0; op.signal.valid() && s < (isReset ? op.amount : 1); ++s) {
        if (contains(kernel.reserved, op.signal.value + s)) {
          return fmt::format("semaphore {} is raised or reset", op.signal.value + s);
        }
      }
      if (op.wait.valid() && contains(kernel.reserved, op.wait.value)) {
        return fmt::format("semaphore {} is waited for", op.wait.value);
      }
      for (Operand operand : {op.a, op.b}) {
        if (operand.isRegister && contains(reserved, operand.value)) {
          return fmt::format("register {} is read", operand.value);
        }
      }
      if (op.dst.valid() && contains(reserved, op.dst.value)) {
        return fmt::format("register {} is written", op.dst.value);
      }
      if (op.kind == OpKind::Issue && op.signal.valid()) {
        auto pin = pins.find(op.instr());
        if (pin != pins.end() && pin->second != op.signal.value) {
          return fmt::format("'{}' raises {}", kernel.nameOf(op.instr()), op.signal.value);
        }
      }
    }
  }
  return "";
}

} // namespace

TEST(NumbersTest, reservedOnesAreNotTouched) {
  constexpr Strategy strategies[] = {Strategy::PerInstruction, Strategy::PerLoop,
                                     Strategy::PerEngine, Strategy::Auto};
  Findings findings;
  uint64_t pinned = 0;
  fuzz::Range seeds = seedsOf(8000);
  for (uint64_t seed = seeds.min; seed <= seeds.max && !findings.enough(); ++seed) {
    RandomCodeCase code(seed, optionsForSeed(seed));
    reserveAndPin(code.kernel, seed);
    Strategy strategy = strategies[seed % 4];
    if (strategy == Strategy::PerEngine && !code.agreeing()) {
      continue;
    }
    Request options;
    options.overflow = Overflow::Assume;
    options.strategy = strategy;
    Machine machine = genericMachine();
    machine.registersPerEngine = 40;
    machine.semaphores = seed % 3 == 0 ? 60 : 250;
    Diagnostics diagnostics;
    std::optional<Compiled> program = compile(code.kernel, options, machine, diagnostics);
    std::string what =
        program ? findTouched(code.kernel, program->code) : "refused: " + render(diagnostics, {});
    if (what.empty()) {
      what = compareCode(code.kernel, program->code, machine, code.bindings, code.definitions,
                         allowancesOf(code.kernel, program->plan),
                         /*written=*/false)
                 .value_or("");
    }
    if (!what.empty()) {
      findings.add(code, std::string(toString(strategy)), what,
                   program ? dump(code.kernel, program->plan) : "");
    }
    for (const Group &group : program ? program->plan.groups.raw() : std::vector<Group>()) {
      pinned += group.pinned.has_value();
    }
  }
  EXPECT_EQ(findings.count(), 0u) << findings.report("CodeTests", "NumbersTest.reserved*");
  EXPECT_TRUE(seedsAreChosen() || pinned >= 1000) << pinned;
}

/// Barriers reset semaphores in runs; a reserved one in the middle of a run is left out.
TEST(NumbersTest, barriersResetAroundReservedOnes) {
  uint32_t split = 0;
  for (uint64_t seed = 0; seed < 5000; ++seed) {
    RandomCodeCase code(seed, optionsForSeed(seed));
    Request options;
    options.overflow = Overflow::Assume;
    options.strategy = Strategy::Barrier;
    Diagnostics diagnostics;
    std::optional<Compiled> plain = compile(code.kernel, options, genericMachine(), diagnostics);
    reserveAndPin(code.kernel, seed);
    code.kernel.pins.clear();
    std::optional<Compiled> program = compile(code.kernel, options, genericMachine(), diagnostics);
    ASSERT_EQ(plain.has_value(), program.has_value()) << render(diagnostics, {});
    if (!program) {
      continue;
    }
    EXPECT_EQ(findTouched(code.kernel, program->code), "") << "seed " << seed;
    CodeSize before = measure(code.kernel, plain->code, 1);
    CodeSize after = measure(code.kernel, program->code, 1);
    EXPECT_EQ(before.semaphores, after.semaphores);
    split += after.operations > before.operations;
  }
  EXPECT_GE(split, 20u);
}

/// With pins there are as many semaphores as without; one less, and it is refused.
TEST(NumbersTest, reservationsCountAgainstTheLimit) {
  KernelBuilder b("k");
  QueueId producer = b.queueOf(b.engine("p"));
  QueueId consumer = b.queueOf(b.engine("c"));
  InstrId p = b.instr("P", producer);
  InstrId c = b.instr("C", consumer);
  InstrId d = b.instr("D", producer);
  b.dep(p, c);
  b.dep(c, d);
  b.reserveSemaphores(std::vector<uint32_t>{0, 2, 9});
  Kernel kernel = b.finish();
  Machine machine = genericMachine();
  Request options;
  options.strategy = Strategy::PerLoop;
  options.overflow = Overflow::Assume;
  machine.semaphores = 4;
  Diagnostics fits;
  EXPECT_TRUE(compile(kernel, options, machine, fits));
  machine.semaphores = 3;
  Diagnostics tooMany;
  EXPECT_FALSE(compile(kernel, options, machine, tooMany));
  EXPECT_EQ(tooMany.all()[0].message, "strategy 'per-loop' needs 2 semaphores, but machine "
                                      "'generic' has 3, of which 2 are reserved");
}

/// The last semaphore that a machine has may be pinned, the one behind it not.
TEST(NumbersTest, pinsEndWithTheMachinesSemaphores) {
  for (uint32_t semaphore : {255u, 256u}) {
    KernelBuilder b("k");
    InstrId p = b.instr("P", b.queueOf(b.engine("p")));
    b.pin(p, semaphore);
    Machine machine = genericMachine();
    machine.semaphores = 256;
    Diagnostics diagnostics;
    EXPECT_EQ(compile(b.finish(), {}, machine, diagnostics).has_value(), semaphore == 255);
    EXPECT_EQ(render(diagnostics, {}),
              semaphore == 255 ? ""
                               : "error: 'P' is pinned to semaphore 256, but those of machine "
                                 "'generic' have numbers from 0 to 255\n");
  }
}

/// Strategies that make semaphores of their own say that they cannot honour a pin.
TEST(NumbersTest, barriersRefusePins) {
  KernelBuilder b("k");
  InstrId p = b.instr("P", b.queueOf(b.engine("p")));
  b.pin(p, 1);
  Request options;
  options.overflow = Overflow::Assume;
  options.strategy = Strategy::Barrier;
  Diagnostics diagnostics;
  EXPECT_FALSE(compile(b.finish(), options, genericMachine(), diagnostics));
  EXPECT_EQ(diagnostics.numErrors(), 1u);
}
