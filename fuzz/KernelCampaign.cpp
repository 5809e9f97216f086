//===- KernelCampaign.cpp - Random cases through everything ---------------===//

#include "KernelCampaign.h"

#include "Shrink.h"

#include "tally/Deps/Held.h"

#include <cctype>
#include <chrono>
#include <fmt/format.h>

namespace tally::fuzz {

/// What a failure says without names and numbers.
static std::string kindOf(const Failure &failure) {
  std::string kind;
  bool quoted = false;
  for (char c : failure.what.substr(0, failure.what.find('\n'))) {
    quoted ^= c == '\'';
    if (!quoted && !std::isdigit(static_cast<unsigned char>(c))) {
      kind += c;
    }
  }
  return kind;
}

namespace {

/// Makes a case plainer as long as the same strategy fails the same way.
class CaseShrinker {
public:
  CaseShrinker(uint64_t seed, const Failure &failure, const Sabotage &sabotage)
      : seed(seed), failure(failure), kind(kindOf(failure)), sabotage(sabotage) {}

  Finding shrink(Case drawn) {
    numOpen = openIn(drawn);
    for (Simplification simplify : simplifications()) {
      Case plainer = drawn;
      if (simplify(plainer) && failsAlike(plainer)) {
        drawn = std::move(plainer);
      }
    }
    auto fails = [&](const Kernel &smaller) {
      Case candidate = drawn;
      candidate.kernel = smaller;
      return failsAlike(candidate);
    };
    drawn.kernel = fuzz::shrink(drawn.kernel, fails, /*maxQuestions=*/2000);
    std::optional<Failure> last = examine(drawn, seed, sabotage).failure;
    return {seed, last ? *last : failure, std::move(drawn)};
  }

private:
  bool failsAlike(const Case &plainer) const {
    if (openIn(plainer) > numOpen) {
      return false; // it would fail for what is no longer written
    }
    std::optional<Failure> other = examine(plainer, seed, sabotage).failure;
    return other && other->strategy == failure.strategy && kindOf(*other) == kind;
  }

  /// Dependences that accesses ask for beside those that are written.
  static size_t openIn(const Case &drawn) {
    if (drawn.kernel.accesses.empty() || asksForDeps(drawn.kernel)) {
      return 0;
    }
    Extractor extractor;
    return holdDeps(onMachine(drawn.kernel, drawn.machine),
                    {.queueOverlap = drawn.machine.queueOverlap}, extractor)
        .open.size();
  }

  uint64_t seed;
  const Failure &failure;
  std::string kind;
  const Sabotage &sabotage;
  size_t numOpen = 0;
};

} // namespace

/// Cases as long as `goesOn` says so of the report so far.
template <typename GoesOn>
static KernelReport fuzzWhile(const Extent &extent, DrawCase draw, const Sabotage &sabotage,
                              const GoesOn &goesOn) {
  KernelReport report;
  report.firstSeed = extent.seed;
  uint64_t seed = extent.seed;
  if (extent.count == 0) {
    return report;
  }
  forSeeds(
      extent, [&](uint64_t s) { return examine(draw(s), s, sabotage); },
      [&](const Examined &examined) {
        report.counts.add(examined.counts);
        for (const FeatureSet &met : examined.met) {
          report.pairs.add(met);
        }
        if (examined.failure) {
          CaseShrinker shrinker(seed, *examined.failure, sabotage);
          report.findings.push_back(shrinker.shrink(draw(seed)));
        }
        ++seed;
        return goesOn(report);
      });
  return report;
}

KernelReport fuzzKernels(const Extent &extent, DrawCase draw, size_t maxFindings,
                         const Sabotage &sabotage) {
  return fuzzWhile(extent, draw, sabotage, [&](const KernelReport &report) {
    return report.counts.kernels < extent.count && report.findings.size() < maxFindings;
  });
}

KernelReport fuzzUntilAllMet(Extent extent) {
  auto start = std::chrono::steady_clock::now();
  double least = extent.minutes * 60;
  extent.minutes *= 20; // some pairs are rare, and machines slow
  return fuzzWhile(extent, mixedCase, {}, [&](const KernelReport &report) {
    std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    bool isDone = passed.count() > least && missingPairs(report.pairs).empty();
    return report.counts.kernels < extent.count && report.findings.size() < 5 &&
           (least == 0 || !isDone);
  });
}

std::string toText(const KernelReport &report) {
  const KernelCounts &counts = report.counts;
  std::string byHand = counts.written ? fmt::format(" ({} by hand)", counts.written) : "";
  std::string beyond =
      counts.beyond ? fmt::format(", beyond what is promised {}", counts.beyond) : "";
  return fmt::format("seeds from {}: {} kernels, {} programs{}, {} refused\n"
                     "runs {}: exact {}, safe {}, order open {}{}; race check {}, explorer {} "
                     "(and {} reached its limit)\n"
                     "findings: {}\n",
                     report.firstSeed, counts.kernels, counts.programs, byHand, counts.refused,
                     counts.runs, counts.exact, counts.safe, counts.open, beyond, counts.raced,
                     counts.explored, counts.undecided, report.findings.size());
}

std::string replayCommand(const Finding &finding) {
  return fmt::format("tally-fuzz {}--seed={} --count=1", finding.drawn.isMixed ? "--pairs " : "",
                     finding.seed);
}

} // namespace tally::fuzz
