//===- CommandTablesTest.cpp - The rows that commands show ----------------===//
//
// Text and JSON are renderings of the same cells, which TableTest looks at; here, whether the cells
// hold what was measured.
//
//===----------------------------------------------------------------------===//

#include "PlanDiff.h"
#include "Table.h"
#include "Tables.h"

#include "tally/Bench/Table.h"
#include "tally/Compile/Compile.h"
#include "tally/Model/KernelBuilder.h"
#include "tally/Sim/Simulate.h"
#include "tally/Written/LoadedKernel.h"

#include <gtest/gtest.h>

#include <set>

using namespace tally;
using namespace tally::tool;

namespace {

/// loop A, n times or `trips` times { load on dma; use on act }, load -> use
LoadedKernel loop(std::optional<uint32_t> trips) {
  KernelBuilder b("k");
  QueueId dma = b.queueOf(b.engine("dma"));
  QueueId act = b.queueOf(b.engine("act"));
  b.beginLoop("A", trips ? b.constant(*trips) : b.value("n"));
  InstrId load = b.instr("load", dma);
  InstrId use = b.instr("use", act);
  b.endLoop();
  b.dep(load, use);
  return {b.finish(), std::nullopt, false, {}};
}

/// The row of a strategy.
Json rowOf(const Table &table, std::string_view strategy) {
  for (const Json &row : table.json()) {
    if (row["strategy"] == strategy) {
      return row;
    }
  }
  return nullptr;
}

} // namespace

TEST(CompareTest, rowsAreWhatTheCodeMeasures) {
  LoadedKernel loaded = loop(std::nullopt);
  Request request;
  Table table = compareTable(loaded, request, genericMachine());
  request.strategy = Strategy::PerLoop;
  Diagnostics diagnostics;
  std::optional<Compiled> compiled = compile(loaded.kernel, request, genericMachine(), diagnostics);
  ASSERT_TRUE(compiled);
  CodeSize size = measure(loaded.kernel, compiled->code, genericMachine().instructionBytes);
  Json expected{{"kernel", "k"},
                {"strategy", "per-loop"},
                {"instructions", size.operations},
                {"code_bytes", size.bytes},
                {"registers_per_engine", size.maxRegisters},
                {"semaphores", size.semaphores},
                {"waits", size.waits},
                {"over_waiting_dependences", 0}};
  EXPECT_EQ(rowOf(table, "per-loop"), expected);
}

/// A strategy that cannot do it says why, in both forms, and nothing else.
TEST(CompareTest, aRefusalIsTheFirstError) {
  Table table = compareTable(loop(std::nullopt), {}, genericMachine());
  Json row = rowOf(table, "unrolled");
  ASSERT_TRUE(row.contains("refused"));
  EXPECT_EQ(row.size(), 3u);
  EXPECT_NE(table.text().find("unrolled         not possible: " + std::string(row["refused"])),
            std::string::npos);
  EXPECT_FALSE(rowOf(compareTable(loop(3), {}, genericMachine()), "unrolled").contains("refused"));
}

/// Code by hand has a row only where there is some.
TEST(CompareTest, manualNeedsCode) {
  EXPECT_EQ(rowOf(compareTable(loop(3), {}, genericMachine()), "manual"), nullptr);
}

namespace {

Compiled compiled(const Kernel &kernel, Strategy strategy) {
  Request request;
  request.strategy = strategy;
  Diagnostics diagnostics;
  return compile(kernel, request, genericMachine(), diagnostics).value();
}

} // namespace

TEST(PlanTablesTest, aDependenceIsALineAndAnObject) {
  LoadedKernel loaded = loop(std::nullopt);
  const SyncPlan plan = compiled(loaded.kernel, Strategy::PerLoop).plan;
  const Machine machine = genericMachine();
  Table table = dependenceTable(loaded.kernel, plan, machine);
  ASSERT_EQ(table.size(), 1u);
  Json row = table.json()[0];
  EXPECT_EQ(row["producer"], "load");
  EXPECT_EQ(row["consumer"], "use");
  EXPECT_EQ(row["exact"], true);
  EXPECT_EQ(row["group"], 0);
  std::string line = table.line(0);
  EXPECT_NE(line.find(std::string(row["dependence"])), std::string::npos);
  EXPECT_NE(line.find(" group 0 >= " + std::string(row["threshold"]) + "  cost " +
                      row["operations"].dump() + "\n"),
            std::string::npos)
      << line;
}

/// A place is there if the kernel says that the dependence comes from elsewhere.
TEST(PlanTablesTest, aDependenceHasItsPlace) {
  LoadedKernel loaded = loop(std::nullopt);
  SyncPlan plan = compiled(loaded.kernel, Strategy::PerLoop).plan;
  EXPECT_FALSE(dependenceTable(loaded.kernel, plan, genericMachine()).json()[0].contains("loc"));
  loaded.kernel.files = {"k.json", "k.py"};
  loaded.kernel.deps[DepId(0)].where = {1, 12, 5};
  Table table = dependenceTable(loaded.kernel, plan, genericMachine());
  EXPECT_TRUE(table.line(0).ends_with("  k.py:12:5\n")) << table.line(0);
  EXPECT_EQ(table.json()[0]["loc"], (Json{{"file", "k.py"}, {"line", 12}, {"column", 5}}));
}

/// A wait that is longer than what was asked says so below; one without a count has no group.
TEST(PlanTablesTest, waitsWithoutACountHaveNeitherGroupNorThreshold) {
  LoadedKernel loaded = loop(std::nullopt);
  SyncPlan none = compiled(loaded.kernel, Strategy::PerLoop).plan;
  none.waits[DepId(0)].group = GroupId();
  none.waits[DepId(0)].threshold = {};
  const Machine machine = genericMachine();
  Table table = dependenceTable(loaded.kernel, none, machine);
  EXPECT_TRUE(table.json()[0]["group"].is_null());
  EXPECT_TRUE(table.json()[0]["threshold"].is_null());
  EXPECT_NE(table.line(0).find(" -  cost "), std::string::npos) << table.line(0);
  SyncPlan longer = compiled(loaded.kernel, Strategy::PerLoop).plan;
  longer.waits[DepId(0)].exact = false;
  EXPECT_TRUE(dependenceTable(loaded.kernel, longer, machine)
                  .line(0)
                  .ends_with("\n       waits longer than the dependence asks\n"));
}

TEST(PlanTablesTest, groupsHaveAQueueAndABody) {
  LoadedKernel loaded = loop(std::nullopt);
  SyncPlan plan = compiled(loaded.kernel, Strategy::PerLoop).plan;
  plan.groups[GroupId(0)].pinned = 7;
  Table table = groupTable(loaded.kernel, plan);
  EXPECT_EQ(table.line(0), "  group 0: queue 'dma' in A, N = 1, pinned to semaphore 7\n");
  EXPECT_EQ(table.json()[0], (Json{{"id", 0},
                                   {"queue", "dma"},
                                   {"body", "A"},
                                   {"signals", 1},
                                   {"joined", nullptr},
                                   {"pinned", 7}}));
  plan.groups[GroupId(0)].pinned.reset();
  plan.groups[GroupId(0)].body = LoopId();
  table = groupTable(loaded.kernel, plan);
  EXPECT_EQ(table.line(0), "  group 0: queue 'dma' in *, N = 1\n");
  EXPECT_TRUE(table.json()[0]["body"].is_null() && table.json()[0]["pinned"].is_null());
}

TEST(PlanTablesTest, barriersAndResets) {
  LoadedKernel loaded = loop(std::nullopt);
  SyncPlan plan = compiled(loaded.kernel, Strategy::Barrier).plan;
  Table barriers = barrierTable(loaded.kernel, plan);
  ASSERT_GT(barriers.size(), 0u);
  EXPECT_NE(barriers.text().find("  back edge of 'A': dma, act\n"), std::string::npos)
      << barriers.text();
  EXPECT_EQ(barriers.json()[0]["engines"], (Json{"dma", "act"}));
  plan.decisions.resets = {{LoopId(1), 100}};
  Table resets = resetTable(loaded.kernel, plan);
  EXPECT_EQ(resets.text(), "  every 100 iterations of 'A'\n");
  EXPECT_EQ(resets.json()[0], (Json{{"loop", "A"}, {"every", 100}}));
}

/// What is reserved beyond the limit of the machine is none of its own.
TEST(PlanTablesTest, whatIsLeftIsWhatIsNeitherUsedNorReserved) {
  LoadedKernel loaded = loop(std::nullopt);
  Compiled code = compiled(loaded.kernel, Strategy::PerLoop);
  Machine machine = genericMachine();
  EXPECT_EQ(semaphoreTable(loaded.kernel, code, machine).text(), "3\n");
  machine.semaphores = 8;
  loaded.kernel.reserved = {5, 9};
  Table table = semaphoreTable(loaded.kernel, code, machine);
  EXPECT_EQ(table.text(), "3 of 8, 4 left, 1 reserved\n");
  EXPECT_EQ(table.json()[0], (Json{{"used", 3}, {"limit", 8}, {"left", 4}, {"reserved", 1}}));
  Table registers = registerTable(loaded.kernel, code.code, machine);
  EXPECT_EQ(registers.json().size(), 2u);
  EXPECT_TRUE(registers.line(0).starts_with("  dma: ")) << registers.line(0);
}

TEST(PlanDiffTest, whatIsAlikeIsCountedAndTheRestShownTwice) {
  LoadedKernel loaded = loop(std::nullopt);
  Compiled loops = compiled(loaded.kernel, Strategy::PerLoop);
  Compiled barriers = compiled(loaded.kernel, Strategy::Barrier);
  Json alike = planDiff({loaded.kernel, loops}, {loaded.kernel, loops}, genericMachine());
  EXPECT_EQ(alike["same"], 1);
  EXPECT_EQ(planDiffText(alike), "- kernel 'k', strategy 'per-loop', machine 'generic'\n"
                                 "+ kernel 'k', strategy 'per-loop', machine 'generic'\n"
                                 "1 dependence is waited for alike\n");
  Json other = planDiff({loaded.kernel, loops}, {loaded.kernel, barriers}, genericMachine());
  EXPECT_EQ(other["same"], 0);
  EXPECT_NE(other["dependences"][0]["first"], other["dependences"][0]["second"]);
  std::string text = planDiffText(other);
  EXPECT_NE(text.find("\n  - "), std::string::npos) << text;
  EXPECT_NE(text.find(": 'dma' in A, N = 1, K = "), std::string::npos) << text;
  EXPECT_NE(text.find("\n  + "), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with("0 dependences are waited for alike\n")) << text;
}

TEST(SimTablesTest, theLongestWaitsComeFirst) {
  LoadedKernel loaded = loop(3);
  Compiled code = compiled(loaded.kernel, Strategy::PerLoop);
  SimResult result;
  result.total = 4000;
  result.engines.resize(2);
  const EngineId act(1);
  const std::vector<Op> &ops = code.code.engines[act].ops;
  result.engines[EngineId(0)].ops.resize(code.code.engines[EngineId(0)].ops.size());
  result.engines[act].ops.resize(ops.size());
  size_t waiting = 0;
  while (!ops[waiting].wait.valid()) {
    ++waiting;
  }
  result.engines[act].ops[waiting].waiting = 3000;
  result.engines[act].ops[waiting].runs = 3;
  Table waits = waitTable(loaded.kernel, code.code, result);
  ASSERT_EQ(waits.size(), 1u);
  EXPECT_TRUE(waits.line(0).starts_with("  75%  act at 'use' for '")) << waits.line(0);
  EXPECT_TRUE(waits.line(0).ends_with("': load -> use\n")) << waits.line(0);
  Json row = waits.json()[0];
  EXPECT_EQ(row["operation"], waiting);
  EXPECT_EQ(row["dependences"], Json::array({"load -> use"}));
  EXPECT_EQ(row["runs"], 3);
  EXPECT_EQ(row["waiting_ps"], 3000);
  PathShare share{act, static_cast<uint32_t>(waiting), {}};
  share.spans[size_t(PathKind::Execute)] = 1000;
  share.spans[size_t(PathKind::Wake)] = 2000;
  result.path = {share};
  Table path = pathTable(loaded.kernel, code.code, result);
  ASSERT_EQ(path.size(), 2u);
  EXPECT_EQ(path.json()[0]["span_ps"], 2000);
  EXPECT_EQ(path.line(1),
            "  25%  " + std::string(toString(PathKind::Execute)) + " on act: 'use'\n");
  EXPECT_EQ(path.text(1), path.line(0));
}

TEST(SimTablesTest, sharesAreOfTheWholeRun) {
  LoadedKernel loaded = loop(3);
  SimResult result;
  result.total = 4000;
  result.engines.resize(2);
  result.queues.resize(2);
  EngineStats &dma = result.engines[EngineId(0)];
  dma.control = 1000;
  dma.waiting = 2000;
  dma.done = 990;
  result.queues[QueueId(0)].instructions = 3;
  result.queues[QueueId(0)].busy = 3000;
  Table engines = sequencerTable(loaded.kernel, result);
  EXPECT_EQ(engines.line(0), "dma                25%       50%          0%        0%       25%\n");
  Json expected{{"engine", "dma"},    {"control_ps", 1000}, {"waiting_ps", 2000},
                {"queue_full_ps", 0}, {"draining_ps", 0},   {"done_ps", 990}};
  EXPECT_EQ(engines.json()[0], expected);
  Table queues = queueTable(loaded.kernel, result);
  EXPECT_EQ(queues.line(0), "dma                     3       75%          0%\n");
  EXPECT_EQ(queues.line(1), "") << "a queue that nothing was issued to";
  EXPECT_EQ(queues.json().size(), 2u);
}

TEST(CatalogueTest, eachKernelHasItsTrips) {
  for (const Json &row : catalogueTable().json()) {
    EXPECT_TRUE(row["trips"].contains("small") && row["trips"].contains("paper")) << row["name"];
    EXPECT_FALSE(std::string(row["summary"]).empty()) << row["name"];
  }
}

namespace {

/// Measured code, a bound without code, and what could not be compiled.
std::vector<BenchRow> benchRows() {
  BenchRow code;
  code.kernel = "k";
  code.strategy = "per-loop";
  code.loops = 1;
  code.offsets = {"0", "2"};
  code.trips = {"i=4"};
  code.latency = 1'500'000;
  code.normalized = 0.5;
  code.codeBytes = 640;
  code.registers = {2, 3};
  code.semaphores = 4;
  code.waits = 5;
  code.waiting = 2'500;
  BenchRow bound;
  bound.kernel = "k";
  bound.strategy = "ideal";
  bound.latency = 1'000'000;
  BenchRow none;
  none.kernel = "l";
  none.strategy = "unrolled";
  none.problem = "trips are not constant";
  return {code, bound, none};
}

} // namespace

TEST(BenchTablesTest, jsonHasWhatWasMeasured) {
  Json rows = Json::parse(renderBench(benchRows(), "json"))["rows"];
  Json code{{"kernel", "k"},         {"strategy", "per-loop"}, {"loops", 1},
            {"offsets", {"0", "2"}}, {"trips", {"i=4"}},       {"normalized_latency", 0.5},
            {"latency_ns", 1500.0},  {"code_bytes", 640},      {"registers_per_engine", 3},
            {"registers", {2, 3}},   {"semaphores", 4},        {"waits", 5},
            {"waiting_ns", 2.5},     {"control_ns", 0.0}};
  EXPECT_EQ(rows[0], code);
  EXPECT_TRUE(rows[1]["normalized_latency"].is_null()) << "there was no barrier";
  EXPECT_FALSE(rows[1].contains("code_bytes")) << "a bound has no code";
  Json none{{"kernel", "l"},
            {"strategy", "unrolled"},
            {"loops", 0},
            {"offsets", Json::array()},
            {"trips", Json::array()},
            {"problem", "trips are not constant"}};
  EXPECT_EQ(rows[2], none);
}

TEST(BenchTablesTest, textHasATableForEachKernel) {
  EXPECT_EQ(renderBench(benchRows(), "text"),
            "k: 1 loop, distances 0, 2; trips i=4\n"
            "  strategy              latency          ns     bytes  regs  semas    waits   waiting "
            "ns   control ns\n"
            "  per-loop                0.500        1500       640     3      4        5           "
            " 2            0\n"
            "  ideal                       -        1000         -     -      -        -           "
            " 0            0\n"
            "\n"
            "l: 0 loops, distances \n"
            "  strategy              latency          ns     bytes  regs  semas    waits   waiting "
            "ns   control ns\n"
            "  unrolled                    -           -         -     -      -        -           "
            " -            -\n"
            "\n"
            "l, unrolled: trips are not constant\n");
}

TEST(BenchTablesTest, markdownNamesTheKernelInEachRow) {
  const std::vector<BenchRow> rows = benchRows();
  EXPECT_EQ(renderBench(std::span(rows).first(1), "markdown"),
            "| kernel | strategy | latency | ns | bytes | regs | semas | waits | waiting ns | "
            "control ns |\n"
            "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|\n"
            "| k | per-loop | 0.500 | 1500 | 640 | 3 | 4 | 5 | 2 | 0 |\n");
}

TEST(BenchTablesTest, sensitivity) {
  std::vector<Sensitivity> rows{{"k", "per-loop", 0.5, 0.25, 0.75, "ctl.alu=15", "sem.wake=9"}};
  EXPECT_EQ(
      renderSensitivity(rows, "text"),
      "kernel             strategy               least  normal    most\n"
      "k                  per-loop               0.250   0.500   0.750  ctl.alu=15, sem.wake=9\n");
  Json expected{{"kernel", "k"},          {"strategy", "per-loop"}, {"least", 0.25},
                {"normal", 0.5},          {"most", 0.75},           {"least_at", "ctl.alu=15"},
                {"most_at", "sem.wake=9"}};
  EXPECT_EQ(Json::parse(renderSensitivity(rows, "json"))["sensitivity"][0], expected);
}
