//===- TimingTest.cpp - What operations cost ------------------------------===//

#include "SimCase.h"

#include "tally/Machine/Costs.h"

#include <fmt/format.h>

using namespace tally;

namespace {

Machine load(std::string_view name) {
  MachineResult result = loadMachine(fmt::format("{}/{}.json", MACHINES_DIRECTORY, name));
  EXPECT_TRUE(result.machine) << render(result.errors, result.files);
  return *result.machine;
}

std::string costText(const Machine &machine, std::string_view engine, std::string_view operation) {
  std::vector<std::string> errors;
  std::optional<Timing> timing = Timing::of(machine, errors);
  std::optional<InstrCost> cost = timing ? timing->costOf(engine, operation, errors) : std::nullopt;
  EXPECT_EQ(cost.has_value(), errors.empty());
  if (!cost) {
    return fmt::format("{}", fmt::join(errors, "\n"));
  }
  return fmt::format("issue {} dispatch {} startup {} interval {} duration {}{}{}", cost->issue,
                     cost->dispatch, cost->startup, cost->interval, cost->duration,
                     cost->isTransfer ? " transfer" : "", cost->isAssumed ? " assumed" : "");
}

std::string onTrn2(std::string_view engine, std::string_view operation) {
  return costText(load("trn2"), engine, operation);
}

} // namespace

/// Every machine but `generic` says what things cost, and each cost is a formula that has a value.
TEST(TimingTest, machinesAreComplete) {
  for (std::string_view name : {"trn1", "trn2", "free-control", "teaching", "threads"}) {
    Machine machine = load(name);
    EXPECT_EQ(machine.name, name);
    for (const Parameter &parameter : machine.parameters) {
      if (!parameter.name.starts_with("cost.")) {
        continue;
      }
      std::string operation = parameter.name.substr(5) +
                              "(n=512, nstat=128, nmov=512, p=128, f=128, k=8, bytes=65536, "
                              "rows=128)";
      EXPECT_EQ(costText(machine, "vector", operation).substr(0, 5), "issue") << operation;
    }
    EXPECT_EQ(costText(machine, "vector", "").substr(0, 5), "issue");
  }
}

TEST(TimingTest, genericSaysNothing) {
  std::vector<std::string> errors;
  EXPECT_FALSE(Timing::of(genericMachine(), errors));
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].substr(0, 73),
            "machine 'generic' does not say how long things take: it has no 'ctl.dispa");
}

/// Worked by hand: 512 columns at 2.4 GHz; 64 cycles at least on Vector, at 0.96 GHz; the least
/// interval does not lengthen the duration.
TEST(TimingTest, trn2) {
  EXPECT_EQ(onTrn2("tensor", "nc_matmul(nstat=128, nmov=512)"),
            "issue 0 dispatch 60000 startup 0 interval 213333 duration 383333");
  EXPECT_EQ(onTrn2("vector", "tensor_copy(n=4)"),
            "issue 0 dispatch 60000 startup 0 interval 66667 duration 204167");
  EXPECT_EQ(onTrn2("vector", "tensor_copy.4x(n=1024)"),
            "issue 0 dispatch 60000 startup 0 interval 266667 duration 466667");
  EXPECT_EQ(onTrn2("scalar", "activation(n=4096)"),
            "issue 0 dispatch 60000 startup 0 interval 3413333 duration 3708333");
  EXPECT_EQ(onTrn2("sync", "dma_copy(bytes=524288)"),
            "issue 600000 dispatch 0 startup 650000 interval 1424696 duration 300000 transfer");
  EXPECT_EQ(onTrn2("sync", "dma_copy.rows(bytes=4096, rows=8)"),
            "issue 600000 dispatch 0 startup 650000 interval 54000 duration 300000 transfer");
  EXPECT_EQ(onTrn2("vector", "unheard_of"),
            "issue 0 dispatch 60000 startup 0 interval 66667 duration 200000 assumed");
}

/// The published duration of an activation of 4096 elements is 3710 ns, of a small one about 400.
TEST(TimingTest, publishedDurations) {
  std::vector<std::string> errors;
  Machine machine = load("trn2");
  std::optional<Timing> timing = Timing::of(machine, errors);
  auto duration = [&](std::string_view engine, std::string_view operation) {
    return double(timing->costOf(engine, operation, errors)->duration) / 1000;
  };
  EXPECT_NEAR(duration("scalar", "activation(n=4096)"), 3710, 10);
  EXPECT_NEAR(duration("scalar", "activation(n=128)"), 400, 10);
  EXPECT_NEAR(duration("vector", "scalar_tensor_tensor.psum(n=512)"), 740, 150);
}

/// What costs as 'cost.default' is said: unknown operations one by one, instructions without one
/// together.
TEST(TimingTest, remarksOnGuesses) {
  KernelBuilder b("k");
  EngineId e = b.engine("e");
  for (std::string_view operation : {"", "", "compute(n=1)", "mine", "mine"}) {
    b.instr(fmt::format("i{}", b.peek().instrs.size()), b.queueOf(e), operation);
  }
  Kernel kernel = b.finish();
  Machine machine = testMachine();
  std::vector<std::string> errors;
  std::optional<Timing> timing = Timing::of(machine, errors);
  Diagnostics diagnostics;
  EXPECT_TRUE(instructionCosts(kernel, *timing, diagnostics));
  ASSERT_EQ(diagnostics.all().size(), 2u);
  EXPECT_EQ(diagnostics.all()[0].message,
            "the machine has no cost for the operation 'mine' as it stands; it costs as "
            "'cost.default'");
  EXPECT_EQ(diagnostics.all()[1].message,
            "2 of 5 instructions name no operation; they cost as 'cost.default'");
}

TEST(TimingTest, overrides) {
  Machine machine = testMachine();
  EXPECT_EQ(costText(machine, "e", "x(interval=50ns, duration=1.5us)"),
            "issue 0 dispatch 7000 startup 0 interval 50000 duration 1500000");
  EXPECT_EQ(costText(machine, "e", "compute(n=80, duration=3)"),
            "issue 0 dispatch 7000 startup 0 interval 80000 duration 3000");
}

TEST(TimingTest, refuses) {
  Machine machine = testMachine();
  EXPECT_EQ(costText(machine, "e", "compute"), costText(machine, "e", ""));
  EXPECT_EQ(costText(machine, "e", "compute(m=1)"),
            "operation 'compute' on 'e' of machine 'teaching' has no cost: cost.compute = "
            "'max(min_ii, n)': 'n' has no value; write the size in parentheses, as in "
            "'compute(n=64)'; here it has 'm'");
  EXPECT_EQ(costText(machine, "e", "compute n=64"),
            "the operation 'compute n=64' is not understood; its sizes are written in parentheses, "
            "as in 'copy(n=512, bytes=64)'");
  EXPECT_EQ(costText(machine, "e", "compute(n)"),
            "the operation 'compute(n)' is not understood; its sizes are written as in "
            "'copy(n=512, bytes=64)'");
  EXPECT_EQ(costText(machine, "e", "compute(n=1"),
            "the operation 'compute(n=1' does not end in ')'");
  // What is not a plain number would be cut off where it stops being one.
  for (const char *rest : {"e9", "_000", "x10", "MB", "ns"}) {
    std::string text = fmt::format("compute(n=25{})", rest);
    EXPECT_EQ(costText(machine, "e", text),
              fmt::format("the operation '{}' is not understood: 'n' is a number in digits, and "
                          "'{}' follows it",
                          text, rest));
  }
  EXPECT_EQ(costText(machine, "e", "compute(n=1, duration=3GHz)"),
            "the operation 'compute(n=1, duration=3GHz)' is not understood: 'duration' is in ps, "
            "ns, us, ms or cycles, not in 'GHz'");
  EXPECT_EQ(costText(machine, "e", "compute(n=999999999)"),
            "operation 'compute' on 'e' of machine 'teaching' has no cost: 'cost.compute' gives "
            "999999999 cycles, which is not a time from 0 to 0.1 s");
  // The same mistake again is a mistake, too.
  std::vector<std::string> errors;
  std::optional<Timing> timing = Timing::of(machine, errors);
  EXPECT_FALSE(timing->costOf("e", "compute(m=1)", errors));
  EXPECT_FALSE(timing->costOf("e", "compute(m=1)", errors));
}

/// What a text that is not a formula lacks, and where.
TEST(TimingTest, refusesWhatIsNoFormula) {
  auto set = [](std::string_view text) {
    Machine machine = testMachine();
    std::string error = setParameter(machine, fmt::format("cost.default={}", text));
    std::string head = fmt::format("'{}' is not a formula: ", text);
    EXPECT_TRUE(error.empty() || error.starts_with(head)) << error;
    return error.empty() ? costText(machine, "e", "") : error.substr(head.size());
  };
  EXPECT_EQ(set("1 +"), "a number, a name or '(' is missing at its end");
  EXPECT_EQ(set("1 2"), "'2' is left over");
  EXPECT_EQ(set("(1"), "')' is missing at its end");
  EXPECT_EQ(set("max(1) + 2"), "',' is missing before ') + 2'");
  EXPECT_EQ(set("#"), "a number, a name or '(' is missing before '#'");
  EXPECT_EQ(set("0 * -5"), "a number, a name or '(' is missing before '-5'");
  EXPECT_EQ(set(std::string(1000, '(')), "its brackets are nested too deeply");
  EXPECT_EQ(set(std::string(1001, '1')), "it has 1001 characters, and at most 1000 are allowed");
  EXPECT_TRUE(set("1 / 0").ends_with("cost.default = '1 / 0': it divides by zero"));
  EXPECT_EQ(set("2 * (3 + 4) - min(1, 2) * 6 / 3"), set("12"));
}

TEST(TimingTest, setsParameters) {
  Machine machine = testMachine();
  EXPECT_EQ(setParameter(machine, "sem.wake=0.25us"), "");
  EXPECT_EQ(machine.parameter("sem.wake")->number, 250);
  EXPECT_EQ(setParameter(machine, "dma.bandwidth=0.2TB/s"), "");
  EXPECT_EQ(machine.parameter("dma.bandwidth")->number, 200);
  EXPECT_EQ(setParameter(machine, "queue.depth=2"), "");
  EXPECT_EQ(machine.parameter("queue.depth")->number, 2);
  EXPECT_EQ(setParameter(machine, "sem.wake"),
            "'sem.wake' sets nothing; write it as 'ctl.alu=40ns'");
  EXPECT_EQ(setParameter(machine, "sem.woke=1"),
            "unknown parameter 'sem.woke'; did you mean 'sem.wake'?");
  EXPECT_EQ(setParameter(machine, "sem.wake=1GHz"),
            "'1GHz' is not a value of 'sem.wake', which is a number of ns");
  EXPECT_EQ(setParameter(machine, "sem.wake=-1"),
            "'-1' is not a value of 'sem.wake', which is a number of ns");
}

/// What the trn machines do not read, they do not hold as a parameter: a set value has an effect.
TEST(TimingTest, everyParameterIsRead) {
  for (std::string_view name : {"trn1", "trn2", "free-control", "teaching", "threads"}) {
    for (const Parameter &parameter : load(name).parameters) {
      std::string_view prefix =
          std::string_view(parameter.name).substr(0, parameter.name.find('.'));
      bool isRead = prefix == "ctl" || prefix == "sem" || prefix == "queue" || prefix == "clock" ||
                    prefix == "latency" || prefix == "cost" || prefix == "issue" ||
                    prefix == "startup" || parameter.name == "dma.depth";
      for (const Parameter &other : load(name).parameters) {
        isRead |= other.formula.find(parameter.name) != std::string::npos;
      }
      EXPECT_TRUE(isRead) << name << " " << parameter.name;
    }
  }
}

/// A formula as the cost of every operation without its own.
static std::vector<std::string> problemsOf(std::string_view formula) {
  Machine machine = testMachine();
  EXPECT_EQ(setParameter(machine, fmt::format("cost.default={}", formula)), "");
  return formulasWithoutValue(machine);
}

TEST(TimingTest, findsFormulasWithoutValue) {
  using Problems = std::vector<std::string>;
  for (std::string_view formula : {"max(min_ii, n)", "100 / (n - m)", "n / (m - 1)", "2000 - n"}) {
    EXPECT_EQ(problemsOf(formula), Problems()) << formula;
  }
  EXPECT_EQ(problemsOf("1/0"), Problems{"cost.default = '1/0': it divides by zero"});
  EXPECT_EQ(problemsOf("0 - n"),
            Problems{"'cost.default' gives -1 cycles, which is not a time from 0 to 0.1 s"});
  EXPECT_EQ(problemsOf("cost.compute + 1"),
            Problems{"cost.default = 'cost.compute + 1': 'cost.compute' is a formula itself; a "
                     "formula names numbers and sizes"});
  EXPECT_EQ(problemsOf("1 + cost.default"),
            Problems{"formulas name one another in a circle: cost.default -> cost.default"});
}
