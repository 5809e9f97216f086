//===- EmitCppTest.cpp - Names, and what a program consists of ------------===//

#include "tally/Exec/EmitCpp.h"

#include "Names.h"

#include "tally/Compile/Compile.h"
#include "tally/Model/KernelBuilder.h"

#include <gtest/gtest.h>

using namespace tally;

namespace {

/// A name that is a word of C++, that is taken, or that is no identifier, becomes another one.
TEST(NamesTest, eachIsAnIdentifierOfItsOwn) {
  exec::Names names;
  EXPECT_EQ(names.unique("load"), "load");
  EXPECT_EQ(names.unique("load"), "load_2");
  EXPECT_EQ(names.unique("load_2"), "load_2_2");
  EXPECT_EQ(names.unique("for"), "for_2");
  EXPECT_EQ(names.unique("k.tensor"), "k_tensor");
  EXPECT_EQ(names.unique("__A"), "A");
  EXPECT_EQ(names.unique("3"), "n3");
  EXPECT_EQ(names.unique("\xC3\xA4"), "n");
  EXPECT_EQ(names.unique("r0"), "r0_2");           // where a tile begins
  EXPECT_EQ(names.unique("INT_MAX"), "n_INT_MAX"); // might be a macro
  EXPECT_EQ(names.unique("INT_MAX"), "n_INT_MAX_2");
  EXPECT_EQ(names.unique("KV"), "KV");
  EXPECT_EQ(names.unique("KV"), "n_KV_2");
  EXPECT_EQ(names.unique("touches_r0"), "n_touches_r0");
}

/// A namespace cannot be called as a function of the C library.
TEST(NamesTest, spacesKeepAwayFromTheLibrary) {
  exec::Names names;
  EXPECT_EQ(names.uniqueSpace("three"), "three");
  EXPECT_EQ(names.uniqueSpace("log"), "log_kernel");
  EXPECT_EQ(names.uniqueSpace("tanhf"), "tanhf_kernel");
  EXPECT_EQ(names.uniqueSpace("half"), "half");
  EXPECT_EQ(names.uniqueSpace("int"), "int_2");
}

/// What is named after a loop is kept free for it, whoever comes first.
TEST(NamesTest, namesMadeOfANameAreTakenAlong) {
  constexpr std::string_view prefixes[] = {"trips_", "total_"};
  exec::Names names;
  EXPECT_EQ(names.unique("total_A"), "total_A");
  EXPECT_EQ(names.unique("A", prefixes), "A_2");
  EXPECT_EQ(names.unique("trips_A_2"), "trips_A_2_2");
}

/// `X[A mod 2] -> Y`, a loop of run-time trips, on two engines.
struct TwoEngines {
  KernelBuilder b{"two", {}};
  InstrId scale;

  explicit TwoEngines(std::string_view computes) {
    EngineId load = b.engine("load", {});
    EngineId work = b.engine("work", {});
    BufferId in = b.buffer("in", std::vector<uint64_t>{8}, "", "f32", {}, {});
    BufferId x = b.buffer("x", std::vector<uint64_t>{2}, "", "f32", {}, {});
    b.beginLoop("A", KernelBuilder::constant(8), true, {});
    InstrId fetch = b.instr("fetch", b.queueOf(load), {}, {});
    b.computes("r0");
    b.access(AccessKind::Read, in, "in[A]");
    b.access(AccessKind::Write, x, "x[A mod 2]");
    scale = b.instr("scale", b.queueOf(work), {}, {});
    b.computes(computes);
    b.access(AccessKind::Read, x, "x[A mod 2]");
    b.access(AccessKind::Write, x, "x[A mod 2]");
    b.endLoop();
    (void)fetch;
  }

  std::optional<std::string> emit(Diagnostics &diagnostics) {
    Kernel kernel = b.finish();
    std::optional<Compiled> compiled =
        compile(kernel, Request{.strategy = Strategy::PerLoop}, genericMachine(), diagnostics);
    return compiled ? emitCpp(kernel, compiled->code, genericMachine(), diagnostics) : std::nullopt;
  }
};

TEST(EmitCppTest, instructionsAndEnginesKeepTheirNames) {
  Diagnostics diagnostics;
  std::optional<std::string> program = TwoEngines("2 * r0").emit(diagnostics);
  ASSERT_TRUE(program);
  for (const char *part :
       {"void fetch([[maybe_unused]] int64_t A) {", "void run_load() {",
        "  for (int64_t A = 0, trips_A = 8; A < trips_A; ++A) {", "    fetch(A);",
        "std::vector<float> in; // f32", "program.addThread(run_work);"}) {
    EXPECT_NE(program->find(part), std::string::npos) << part;
  }
}

/// What an instruction reads and writes is computed before it is written.
TEST(EmitCppTest, whatIsReadAndWrittenGetsARoom) {
  Diagnostics diagnostics;
  std::optional<std::string> program = TwoEngines("2 * r0").emit(diagnostics);
  ASSERT_TRUE(program);
  EXPECT_NE(program->find("scale_t0[0] = 2.0F * x[r0];"), std::string::npos);
  EXPECT_NE(program->find("x[w0] = scale_t0[0];"), std::string::npos);
}

/// The same input gives the same bytes.
TEST(EmitCppTest, isTheSameEachTime) {
  Diagnostics diagnostics;
  EXPECT_EQ(TwoEngines("exp(r0)").emit(diagnostics), TwoEngines("exp(r0)").emit(diagnostics));
}

TEST(EmitCppTest, whatHasNoCodeIsNamed) {
  Diagnostics diagnostics;
  EXPECT_FALSE(TwoEngines("matmul(r0, r0)").emit(diagnostics));
  EXPECT_NE(diagnostics.reason().find("there is no code for what 'scale' does"), std::string::npos)
      << diagnostics.reason();
}

} // namespace
