//===- NineKernelsTest.cpp - Nine kernels without their dependences -------===//
//
// The kernels that come with tally have lists of dependences written by hand. From their accesses
// alone follow fewer waits, and nothing races. docs/guide/dependences/NineKernels.md says where
// the two differ.
//
//===----------------------------------------------------------------------===//

#include "tally/Check/Race.h"
#include "tally/Compile/Compile.h"
#include "tally/Deps/Extract.h"
#include "tally/Deps/Implied.h"
#include "tally/Kernels/Catalogue.h"

#include <gtest/gtest.h>

using namespace tally;

namespace {

class NineKernelsTest : public testing::TestWithParam<std::string_view> {};

/// The small size; the large one has the same structure, and more of it.
Verdict race(const WrittenKernel &written, const Kernel &kernel) {
  Diagnostics diagnostics;
  Bindings bindings = Bindings::parse(kernel, written.trips, 0, diagnostics);
  Machine machine = genericMachine();
  std::optional<Compiled> compiled = compile(kernel, {}, machine, diagnostics);
  EXPECT_TRUE(compiled) << render(diagnostics, kernel.files);
  return compiled ? checkRaces(kernel, compiled->code, machine, bindings).verdict : Verdict::No;
}

TEST_P(NineKernelsTest, needFewerWaitsThanWritten) {
  Extractor extractor;
  for (KernelSize size : {KernelSize::Small, KernelSize::Paper}) {
    Kernel kernel = findKernel(GetParam())->write(size).kernel;
    Extraction extraction = extractor.extract(kernel, {.queueOverlap = true});
    markImplied(kernel, extraction);
    for (const DerivedDep &derived : extraction.deps) {
      // What is gathered by an index may be anywhere.
      EXPECT_TRUE(derived.isImplied() || derived.excess == Excess::None ||
                  derived.excess == Excess::Anywhere);
    }
    EXPECT_LE(withDeps(kernel, extraction).deps.size(), kernel.deps.size());
  }
}

TEST_P(NineKernelsTest, needEachWait) {
  Extractor extractor;
  WrittenKernel written = findKernel(GetParam())->write(KernelSize::Small);
  Extraction extraction = extractor.extract(written.kernel, {.queueOverlap = true});
  markImplied(written.kernel, extraction);
  Kernel kernel = withDeps(written.kernel, extraction);
  EXPECT_EQ(race(written, kernel), Verdict::Yes);
  for (DerivedDep &derived : extraction.deps) {
    if (!derived.isImplied()) {
      derived.numSteps = 1; // as if it were
      EXPECT_EQ(race(written, withDeps(written.kernel, extraction)), Verdict::No)
          << kernel.nameOf(derived.dep.producer) << " -> " << kernel.nameOf(derived.dep.consumer);
      derived.numSteps = 0;
    }
  }
}

std::vector<std::string_view> names() {
  std::vector<std::string_view> all;
  for (const CatalogueEntry &entry : catalogue()) {
    all.push_back(entry.name);
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Catalogue, NineKernelsTest, testing::ValuesIn(names()),
                         [](const auto &info) {
                           std::string name(info.param);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

} // namespace
