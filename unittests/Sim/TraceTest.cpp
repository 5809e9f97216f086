//===- TraceTest.cpp - Traces of runs, read back --------------------------===//

#include "SimCase.h"

#include "tally/Sim/Trace.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <sstream>

using namespace tally;
using Json = nlohmann::json;

namespace {

/// A producer whose retirement at 102 ns ends the wait of a consumer.
struct Traced {
  Traced() : c(kernel()) {
    SemaId s = c.semaphore("s\"");
    c.ops(0) = {SimCase::issue(0, s)};
    c.ops(1) = {SimCase::issueAfter(1, s, 1)};
    c.code.strategy = Strategy::Manual;
    c.code.reasons = {DepId(0)};
    c.ops(1)[0].numReasons = 1;
  }

  static Kernel kernel() {
    KernelBuilder b("k");
    EngineId e0 = b.engine("e0"), e1 = b.engine("e1");
    InstrId i0 = b.instr("i0", b.queueOf(e0), "f(interval=40ns, duration=100ns)");
    InstrId i1 = b.instr("i1", b.queueOf(e1), "f(interval=40ns, duration=100ns)");
    b.dep(i0, i1);
    return b.finish();
  }

  Json write(uint64_t maxBytes, bool isComplete) {
    std::vector<std::string> errors;
    Diagnostics diagnostics;
    std::optional<Timing> timing = Timing::of(c.machine, errors);
    std::optional<InstrCosts> costs = instructionCosts(c.kernel, *timing, diagnostics);
    std::ostringstream text;
    TraceWriter writer(text, c.kernel, c.code, maxBytes);
    SimOptions options;
    options.observer = &writer;
    SimResult result = simulate(c.kernel, c.code, c.machine, *timing, *costs, c.bindings, options);
    EXPECT_EQ(writer.finish(result), isComplete);
    EXPECT_LE(text.str().size(), std::max(maxBytes, writer.leastBytes()));
    return Json::parse(text.str());
  }

  SimCase c;
};

std::vector<Json> eventsOf(const Json &trace, std::string_view phase) {
  std::vector<Json> events;
  for (const Json &event : trace["traceEvents"]) {
    if (event["ph"] == phase) {
      events.push_back(event);
    }
  }
  return events;
}

} // namespace

TEST(TraceTest, holdsTheRun) {
  Json trace = Traced().write(100'000, true);
  EXPECT_EQ(trace["otherData"]["schema"], "tally-trace");
  EXPECT_EQ(trace["otherData"]["total_ps"], 209'000);
  EXPECT_EQ(trace["otherData"]["complete"], true);
  std::vector<Json> slices = eventsOf(trace, "X");
  ASSERT_EQ(slices.size(), 5u); // two issues, two executions, one stall
  auto find = [&](std::string_view name) {
    for (const Json &slice : slices) {
      if (slice["name"] == name) {
        return slice;
      }
    }
    return Json();
  };
  Json stall = find("waits for s\"");
  EXPECT_EQ(stall["cat"], "stall");
  EXPECT_EQ(stall["ts"], 0.0);
  EXPECT_EQ(stall["dur"], 0.107);
  EXPECT_EQ(stall["args"]["dependences"], Json::array({"i0 -> i1"}));
  Json consumer = find("i1");
  EXPECT_EQ(consumer["cat"], "instruction");
  EXPECT_EQ(consumer["ts"], 0.107);
  EXPECT_EQ(consumer["dur"], 0.04);
  EXPECT_EQ(consumer["args"]["retire_ps"], 209'000);
  EXPECT_NE(consumer["tid"], stall["tid"]);
  EXPECT_EQ(consumer["pid"], stall["pid"]);
  std::vector<Json> counters = eventsOf(trace, "C");
  ASSERT_EQ(counters.size(), 1u);
  EXPECT_EQ(counters[0]["ts"], 0.102);
  EXPECT_EQ(counters[0]["args"]["value"], 1);
}

/// The arrow leaves the producer's slice and ends where the consumer is issued.
TEST(TraceTest, arrows) {
  Json trace = Traced().write(100'000, true);
  std::vector<Json> starts = eventsOf(trace, "s"), ends = eventsOf(trace, "f");
  ASSERT_EQ(starts.size(), 1u);
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_EQ(starts[0]["id"], ends[0]["id"]);
  EXPECT_EQ(starts[0]["ts"], 0.0);
  EXPECT_EQ(starts[0]["pid"], 1);
  EXPECT_EQ(starts[0]["tid"], 2);
  EXPECT_EQ(ends[0]["ts"], 0.107);
  EXPECT_EQ(ends[0]["pid"], 2);
  EXPECT_EQ(ends[0]["tid"], 1);
}

TEST(TraceTest, isCutOffAtItsLimit) {
  Json whole = Traced().write(100'000, true);
  for (uint64_t limit : {uint64_t(0), uint64_t(600), uint64_t(1200)}) {
    Json trace = Traced().write(limit, false);
    EXPECT_EQ(trace["otherData"]["complete"], false);
    Json &events = trace["traceEvents"];
    ASSERT_FALSE(events.empty());
    EXPECT_EQ(events.back()["name"],
              fmt::format("the trace ends here: its limit of {} bytes is met", limit));
    events.erase(events.size() - 1);
    EXPECT_LE(events.dump().size(), limit + 2);
    EXPECT_LT(events.size(), whole["traceEvents"].size());
    EXPECT_TRUE(std::equal(events.begin(), events.end(), whole["traceEvents"].begin()));
  }
}
