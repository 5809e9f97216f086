//===- MachineTest.cpp - Machine descriptions -----------------------------===//

#include "tally/Machine/Machine.h"
#include "tally/Machine/Rules.h"
#include "tally/Model/KernelBuilder.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

using namespace tally;

namespace {

std::string textOf(const MachineResult &result) {
  return render(result.errors, result.files);
}

/// A description that is legal; tests replace parts of it.
const std::string legal = R"({
  "schema": "tally-machine", "version": 1, "name": "m", "engines": ["act"],
  "limits": {
    "semaphores": {"value": 8, "unit": "semaphores", "source": "s", "confidence": "estimate"},
    "registers_per_engine": {"value": null, "unit": "registers", "source": "s",
                             "confidence": "estimate"},
    "counter_bits": {"value": 16, "unit": "bits", "source": "s", "confidence": "estimate"}
  },
  "alu": {"subtraction": "saturates"}, "wait": {"compare": "signed"},
  "encoding": {"instruction_bytes": {"value": 4, "unit": "bytes", "source": "s",
                                     "confidence": "estimate"}}
  PARAMETERS
})";

std::string replaced(std::string text, const std::string &what, const std::string &by) {
  size_t start = text.find(what);
  EXPECT_NE(start, std::string::npos) << what;
  return text.replace(start, what.size(), by);
}

/// `legal` with one part replaced.
MachineResult variant(const std::string &what, const std::string &by) {
  std::string text = replaced(legal, what, by);
  return parseMachine(what == "PARAMETERS" ? text : replaced(text, "PARAMETERS", ""), "m.json");
}

std::string errorsOf(const std::string &what, const std::string &by) {
  MachineResult result = variant(what, by);
  EXPECT_EQ(result.machine.has_value(), !result.errors.hasErrors());
  return textOf(result);
}

/// Directory of machines that goes away with the test, and is where they are looked up.
class MachinesDirectory {
public:
  MachinesDirectory() {
    path = std::filesystem::temp_directory_path() /
           ("tally-machines-" + std::to_string(::testing::UnitTest::GetInstance()->random_seed()) +
            ::testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(path);
    setenv("TALLY_MACHINES", ("/nowhere:" + path.string()).c_str(), 1);
  }

  ~MachinesDirectory() {
    unsetenv("TALLY_MACHINES");
    std::filesystem::remove_all(path);
  }

  std::filesystem::path write(const std::string &file, const std::string &text) const {
    std::ofstream(path / file) << text;
    return path / file;
  }

  std::filesystem::path path;
};

} // namespace

TEST(MachineTest, genericIsItsFile) {
  MachineResult file = loadMachine(std::string(MACHINES_DIRECTORY) + "/generic.json");
  EXPECT_EQ(textOf(file), "");
  ASSERT_TRUE(file.machine);
  EXPECT_TRUE(*file.machine == genericMachine());
  EXPECT_FALSE(genericMachine().semaphores);
  EXPECT_TRUE(genericMachine().hasEngine("anything"));
}

TEST(MachineTest, trn2) {
  MachineResult result = loadMachine("trn2");
  EXPECT_EQ(textOf(result), "");
  ASSERT_TRUE(result.machine);
  const Machine &m = *result.machine;
  EXPECT_EQ(m.name, "trn2");
  EXPECT_EQ(m.semaphores, 256u);
  EXPECT_EQ(m.registersPerEngine, 64u);
  EXPECT_EQ(m.counterBits, 32u);
  EXPECT_EQ(m.subtraction, Subtraction::Wraps);
  EXPECT_EQ(m.waitCompare, WaitCompare::Unsigned);
  EXPECT_EQ(m.instructionBytes, 64u);
  EXPECT_EQ(m.engines, (std::vector<std::string>{"tensor", "vector", "scalar", "gpsimd", "sync"}));
  EXPECT_TRUE(m.hasEngine("sync"));
  EXPECT_FALSE(m.hasEngine("act"));
  EXPECT_EQ(m.counterLimit(), uint64_t(1) << 32);
}

TEST(MachineTest, readsAllFields) {
  MachineResult result = variant("PARAMETERS", "");
  EXPECT_EQ(textOf(result), "");
  ASSERT_TRUE(result.machine);
  const Machine &m = *result.machine;
  EXPECT_EQ(m.semaphores, 8u);
  EXPECT_FALSE(m.registersPerEngine);
  EXPECT_EQ(m.counterBits, 16u);
  EXPECT_EQ(m.subtraction, Subtraction::Saturates);
  EXPECT_EQ(m.waitCompare, WaitCompare::Signed);
  EXPECT_EQ(m.instructionBytes, 4u);
  EXPECT_EQ(m.counterLimit(), uint64_t(1) << 15);
}

TEST(MachineTest, refuses) {
  EXPECT_EQ(errorsOf(R"("version": 1)", R"("version": 2)"),
            "m.json:2:41: error: at 'version': expected 1, found 2\n");
  EXPECT_EQ(errorsOf(R"(["act"])", R"(["act", 1, "act"])"),
            "m.json:2:76: error: at 'engines[1]': expected a string, found 1\n"
            "m.json:2:79: error: at 'engines[2]': the engine 'act' is listed twice\n");
  EXPECT_EQ(errorsOf(R"("value": 8, )", ""),
            "m.json:4:19: error: at 'limits.semaphores': the key 'value' is missing\n");
  EXPECT_EQ(errorsOf(R"("value": 8)", R"("value": 0)"),
            "m.json:4:29: error: at 'limits.semaphores.value': expected an integer from 1 to "
            "4294967295, found 0\n");
  EXPECT_EQ(errorsOf(R"("value": 16)", R"("value": null)"),
            "m.json:7:31: error: at 'limits.counter_bits.value': expected an integer from 8 to 32, "
            "found null\n");
  EXPECT_EQ(errorsOf(R"("value": 16)", R"("value": 33)"),
            "m.json:7:31: error: at 'limits.counter_bits.value': expected an integer from 8 to 32, "
            "found 33\n");
  EXPECT_EQ(errorsOf(R"("subtraction": "saturates")", R"("subtraction": "traps")"),
            "m.json:9:26: error: at 'alu.subtraction': expected \"wraps\" or \"saturates\", found "
            "\"traps\"\n");
  EXPECT_EQ(errorsOf(R"("compare": "signed")", R"("compared": "signed")"),
            "m.json:9:48: error: at 'wait': the key 'compare' is missing\n"
            "m.json:9:49: error: at 'wait': unknown key 'compared'; allowed keys: 'compare'\n");
}

TEST(MachineTest, refusesWhatHasNoOrigin) {
  EXPECT_EQ(errorsOf(R"("source": "s", "confidence": "estimate"},
    "registers)",
                     R"("confidence": "guess"},
    "registers)"),
            "m.json:4:19: error: at 'limits.semaphores': the key 'source' is missing\n"
            "m.json:4:68: error: at 'limits.semaphores.confidence': expected \"published\" or "
            "\"measured\" or \"derived\" or \"estimate\", found \"guess\"\n");
}

TEST(MachineTest, parametersHaveAForm) {
  auto parameter = [](const std::string &members) {
    return R"(, "parameters": {"ctl.alu": {"unit": "ns", "source": "s", "confidence": "measured", )" +
           members + "}}";
  };
  for (const char *good : {R"("value": 1.5)", R"x("value": "max(64,N)", "note": "n")x",
                           R"("value": [1, 2], "range": [1, 1])", R"("value": {"16": 0.5})"}) {
    EXPECT_EQ(errorsOf("PARAMETERS", parameter(good)), "") << good;
  }
  for (const char *bad : {R"("value": null)", R"("value": true)", R"("value": [])",
                          R"("value": ["x"])", R"("value": {"a": {}})"}) {
    EXPECT_EQ(errorsOf("PARAMETERS", parameter(bad)),
              "m.json:12:96: error: at 'parameters.ctl.alu.value': expected a number, a formula in "
              "quotes, or numbers in an array or object\n")
        << bad;
  }
  EXPECT_EQ(
      errorsOf("PARAMETERS", parameter(R"("value": 1, "range": [2, 1])")),
      "m.json:12:108: error: at 'parameters.ctl.alu.range': expected the smallest and the largest "
      "likely value, as [0.5, 2]\n");
  EXPECT_EQ(errorsOf("PARAMETERS", R"(, "parameters": {"ctl.alu": 3})"),
            "m.json:12:31: error: at 'parameters.ctl.alu': expected an object, found 3\n");
}

/// Nothing converts these numbers: in another unit they would be read as something else.
TEST(MachineTest, numbersHaveTheUnitThatIsRead) {
  EXPECT_EQ(errorsOf(R"("unit": "semaphores")", R"("unit": "kilosemaphores")"),
            "m.json:4:40: error: at 'limits.semaphores.unit': expected \"semaphores\", found "
            "\"kilosemaphores\"\n");
  EXPECT_NE(errorsOf(R"("unit": "bits")", R"("unit": "bytes")"), "");
  EXPECT_NE(errorsOf(R"("unit": "registers")", R"("unit": "")"), "");
  auto parameter = [](const std::string &name, const std::string &unit,
                      const std::string &value = "1", const std::string &more = "") {
    return errorsOf("PARAMETERS",
                    R"(, "parameters": {")" + name + R"(": {"value": )" + value + R"(, "unit": ")" +
                        unit + R"(", "source": "s", "confidence": "measured")" + more + "}}");
  };
  for (auto [name, unit] : {std::pair("clock", "GHz"),
                            {"clock.act", "GHz"},
                            {"ctl.alu", "us"},
                            {"cost.copy", "transfer ns"},
                            {"latency", "cycles"},
                            {"queue.depth", "instructions"},
                            {"dma.depth", "transfers"}}) {
    EXPECT_EQ(parameter(name, unit), "") << name;
    EXPECT_NE(parameter(name, "MHz"), "") << name;
  }
  EXPECT_EQ(parameter("ctl.alu", "ns", "3", R"(, "range": [4, 5])"),
            "m.json:12:108: error: at 'parameters.ctl.alu.range': the value does not lie in its "
            "range\n");
}

TEST(MachineTest, parametersAreRead) {
  auto parameters = [](const std::string &name, const std::string &formula) {
    const char *number = R"(, "unit": "ns", "source": "s", "confidence": "measured"})";
    return errorsOf("PARAMETERS", R"(, "parameters": {")" + name + R"(": {"value": 1)" + number +
                                      R"(, "cost.copy": {"value": ")" + formula + "\"" + number +
                                      "}");
  };
  EXPECT_EQ(parameters("dma.rest", "2 * n / (dma.rest - n)"), "");
  EXPECT_EQ(parameters("dma.rest", "2 * n"),
            "m.json:12:32: error: at 'parameters.dma.rest': nothing reads this parameter, and no "
            "formula names it; what is there for readers alone belongs to 'facts'\n");
  EXPECT_NE(parameters("ctl.dispach", "2"), "");
  EXPECT_EQ(errorsOf("PARAMETERS", R"(, "parameters": {"clock.atc": {"value": 1, "unit": "GHz", )"
                                   R"("source": "s", "confidence": "measured"}})"),
            "m.json:12:33: error: at 'parameters.clock.atc': unknown engine 'atc'; the engines of "
            "this machine are 'act'; did you mean 'act'?\n");
}

/// What can be no price is refused where it stands.
TEST(MachineTest, parametersCanBePrices) {
  auto parameter = [](const std::string &name, const std::string &value) {
    return errorsOf("PARAMETERS",
                    R"(, "parameters": {")" + name + R"(": {"value": )" + value +
                        R"(, "unit": "ns", "source": "s", "confidence": "measured"}, )" +
                        R"("cost.copy": {"value": "9 - n.extra", "unit": "ns", "source": "s", )" +
                        R"("confidence": "measured"}})");
  };
  EXPECT_EQ(
      parameter("cost.add", R"x("((n + 1)")x"),
      "m.json:12:42: error: at 'parameters.cost.add.value': '((n + 1)' is not a formula: ')' is "
      "missing at its end\n");
  EXPECT_EQ(
      parameter("issue.add", "\"-5\""),
      "m.json:12:43: error: at 'parameters.issue.add.value': '-5' is not a formula: a number, a "
      "name or '(' is missing before '-5'\n");
  EXPECT_EQ(parameter("sem.wake", "-0.5"),
            "m.json:12:42: error: at 'parameters.sem.wake.value': expected a number of at least 0, "
            "found -0.5\n");
  EXPECT_EQ(parameter("sem.wake", "0"), "");
  EXPECT_EQ(parameter("n.extra", "-5"), ""); // only a formula reads it
}

TEST(MachineTest, syntaxErrorsHavePlaces) {
  MachineResult result = parseMachine("{\n\n  3}", "m.json");
  EXPECT_FALSE(result.machine);
  EXPECT_EQ(textOf(result), "m.json:3:3: error: syntax error while parsing object key - unexpected "
                            "number literal; expected string literal\n");
}

TEST(MachineTest, looksInTheVariableFirst) {
  MachinesDirectory machines;
  machines.write("trn2.json", replaced(legal, "PARAMETERS", ""));
  MachineResult result = loadMachine("trn2");
  ASSERT_TRUE(result.machine) << textOf(result);
  EXPECT_EQ(result.machine->name, "m");
  EXPECT_TRUE(loadMachine("generic").machine);
}

TEST(MachineTest, notFound) {
  MachineResult path = loadMachine("/nowhere/m.json");
  EXPECT_EQ(textOf(path),
            "error: cannot read the machine description '/nowhere/m.json': No such file or "
            "directory\n");
  EXPECT_EQ(textOf(loadMachine("/")),
            "error: cannot read the machine description '/': Is a directory\n");
  MachineResult name = loadMachine("nosuch");
  EXPECT_FALSE(name.machine);
  EXPECT_EQ(textOf(name).substr(0, 33), "error: unknown machine 'nosuch'; ");
}

TEST(MachineTest, queuesOverlapUnlessTheySayNot) {
  EXPECT_TRUE(variant("PARAMETERS", "").machine->queueOverlap);
  EXPECT_TRUE(variant("PARAMETERS", R"(, "queue": {"overlap": true})").machine->queueOverlap);
  EXPECT_FALSE(variant("PARAMETERS", R"(, "queue": {"overlap": false})").machine->queueOverlap);
  EXPECT_NE(errorsOf("PARAMETERS", R"(, "queue": {})").find("overlap"), std::string::npos);
  EXPECT_NE(errorsOf("PARAMETERS", R"(, "queue": {"overlap": 1})").find("queue.overlap"),
            std::string::npos);
}

TEST(MachineTest, completionIsWholeUnlessItIsSaidToBeSplit) {
  EXPECT_EQ(variant("PARAMETERS", "").machine->completion, Completion::Whole);
  EXPECT_EQ(variant("PARAMETERS", R"(, "queue": {"completion": "whole"})").machine->completion,
            Completion::Whole);
  MachineResult split = variant("PARAMETERS", R"(, "queue": {"completion": "split"})");
  EXPECT_EQ(split.machine->completion, Completion::Split);
  EXPECT_TRUE(split.machine->queueOverlap);
  EXPECT_NE(errorsOf("PARAMETERS", R"(, "queue": {"completion": "parts"})").find("split"),
            std::string::npos);
}

/// On all queues that add more than 1; a kernel's own word for split stands anyway.
TEST(MachineTest, queuesCompleteAsOnTheMachine) {
  KernelBuilder b("k");
  b.engine("one");
  b.queue("many", 16);
  b.queue("parts", 4, Completion::Split);
  Kernel kernel = b.finish();
  auto completions = [&] {
    std::string text;
    for (const Queue &queue : kernel.queues) {
      text += queue.completion == Completion::Split ? 's' : 'w';
    }
    return text;
  };
  Machine machine = genericMachine();
  EXPECT_FALSE(changesCompletion(kernel, machine));
  kernel = onMachine(std::move(kernel), machine);
  EXPECT_EQ(completions(), "wws");
  machine.completion = Completion::Split;
  EXPECT_TRUE(changesCompletion(kernel, machine));
  kernel = onMachine(std::move(kernel), machine);
  EXPECT_EQ(completions(), "wss");
  EXPECT_FALSE(changesCompletion(kernel, machine));
}

/// A machine that does not say which engines add up in order leaves it to the kernel.
TEST(MachineTest, queuesAddUpAsOnTheMachine) {
  KernelBuilder b("k");
  b.engine("tensor");
  b.engine("vector");
  b.queue("q", 1);
  auto inOrder = [&, kernel = b.finish()](const Machine &machine) {
    std::string names;
    for (const Queue &queue : onMachine(kernel, machine).queues) {
      names += queue.addsInOrder ? fmt::format("{} ", kernel.text(queue.name)) : "";
    }
    return names;
  };
  EXPECT_EQ(inOrder(*variant("PARAMETERS", "").machine), "tensor vector q ");
  EXPECT_EQ(inOrder(*loadMachine("generic").machine), "tensor vector q ");
  EXPECT_EQ(inOrder(*loadMachine("trn2").machine), "tensor ");
  EXPECT_EQ(inOrder(*variant("PARAMETERS", R"(, "sums_in_order": [])").machine), "");
  EXPECT_NE(errorsOf("PARAMETERS", R"(, "sums_in_order": ["act", "act"])").find("twice"),
            std::string::npos);
  EXPECT_NE(errorsOf("PARAMETERS", R"(, "sums_in_order": "act")").find("array"), std::string::npos);
  EXPECT_NE(errorsOf("PARAMETERS", R"(, "sums_in_order": ["tensor"])").find("no engine 'tensor'"),
            std::string::npos);
}

/// What code was made for holds where it is known; a machine of other sums is another machine.
TEST(MachineTest, rulesTellOfSums) {
  Machine trn2 = *loadMachine("trn2").machine, generic = *loadMachine("generic").machine;
  MachineRules rules = rulesOf(trn2), unknown = rules;
  unknown.sumsInOrder.reset();
  EXPECT_TRUE(accords(trn2, unknown));
  EXPECT_EQ(withRules(trn2, unknown).sumsInOrder, trn2.sumsInOrder);
  EXPECT_EQ(withRules(generic, rules).sumsInOrder, trn2.sumsInOrder);
  trn2.sumsInOrder = {"tensor", "vector"};
  EXPECT_FALSE(accords(trn2, rules));
  EXPECT_THAT(describe(rules), testing::EndsWith(", sums in order on tensor"));
}

/// Everything that planning reads can be changed by name, within the bounds of a machine file.
TEST(MachineTest, properties) {
  Machine machine = genericMachine();
  EXPECT_EQ(setParameter(machine, "limits.semaphores=7"), "");
  EXPECT_EQ(setParameter(machine, "limits.registers_per_engine=9"), "");
  EXPECT_EQ(setParameter(machine, "limits.counter_bits=16"), "");
  EXPECT_EQ(setParameter(machine, "encoding.instruction_bytes=32"), "");
  EXPECT_EQ(setParameter(machine, "alu.subtraction=wraps"), "");
  EXPECT_EQ(setParameter(machine, "wait.compare=signed"), "");
  EXPECT_EQ(setParameter(machine, "queue.overlap=false"), "");
  EXPECT_EQ(setParameter(machine, "queue.completion=split"), "");
  EXPECT_EQ(machine.semaphores, 7u);
  EXPECT_EQ(machine.registersPerEngine, 9u);
  EXPECT_EQ(machine.counterBits, 16u);
  EXPECT_EQ(machine.instructionBytes, 32u);
  EXPECT_EQ(machine.subtraction, Subtraction::Wraps);
  EXPECT_EQ(machine.waitCompare, WaitCompare::Signed);
  EXPECT_FALSE(machine.queueOverlap);
  EXPECT_EQ(machine.completion, Completion::Split);
  EXPECT_EQ(setParameter(machine, "limits.semaphores=none"), "");
  EXPECT_EQ(machine.semaphores, std::nullopt);

  Machine before = machine;
  EXPECT_EQ(setParameter(machine, "limits.semaphores=0"),
            "'0' is not a value of 'limits.semaphores', which is a number, or none");
  EXPECT_EQ(setParameter(machine, "limits.counter_bits=33"),
            "'33' is not a value of 'limits.counter_bits', which is a number from 8 to 32");
  EXPECT_EQ(setParameter(machine, "wait.compare=Signed"),
            "'Signed' is not a value of 'wait.compare', which is unsigned or signed");
  EXPECT_EQ(machine, before);
}

/// A formula may be replaced by another, or by a number with a unit.
TEST(MachineTest, formulasBecomeNumbers) {
  MachineResult trn2 = loadMachine(MACHINES_DIRECTORY "/trn2.json");
  ASSERT_TRUE(trn2.machine);
  Machine &machine = *trn2.machine;
  EXPECT_EQ(machine.parameter("startup.dma_copy")->formula, "dma.fixed_latency");
  EXPECT_EQ(setParameter(machine, "dma.fixed_latency=2us"), "");
  EXPECT_EQ(machine.parameter("dma.fixed_latency")->number, 2000);
  EXPECT_EQ(setParameter(machine, "startup.dma_copy=dma.fixed_latency * 2"), "");
  EXPECT_EQ(machine.parameter("startup.dma_copy")->formula, "dma.fixed_latency * 2");
  EXPECT_EQ(setParameter(machine, "startup.dma_copy=3us"), "");
  EXPECT_EQ(machine.parameter("startup.dma_copy")->formula, "");
  EXPECT_EQ(machine.parameter("startup.dma_copy")->number, 3000);
}
