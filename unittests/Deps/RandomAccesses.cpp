//===- RandomAccesses.cpp - Small kernels that touch memory, from a seed --===//

#include "RandomAccesses.h"

#include "tally/Model/AccessText.h"

#include <fmt/format.h>
#include <functional>

namespace tally::test {
namespace {

using fuzz::Random;

constexpr uint32_t maxInstrs = 6;

class Generator {
public:
  explicit Generator(uint64_t seed) : random(seed), b("random") {}

  Kernel run() {
    uint32_t numEngines = random.in({1, 3});
    for (uint32_t i = 0; i < numEngines; ++i) {
      EngineId engine = b.engine(fmt::format("e{}", i));
      queues.push_back(b.queueOf(engine));
      if (random.percent(20)) {
        queues.push_back(b.queue(fmt::format("q{}", i)));
      }
    }
    addBuffers();
    wantedInstrs = random.in({2, maxInstrs});
    body();
    while (numInstrs < 2) {
      instr();
    }
    return b.finish();
  }

private:
  void addBuffers() {
    uint32_t numBuffers = random.percent(10) ? 3 : random.in({1, 2});
    bool haveAddresses = numBuffers > 1 && random.percent(30);
    for (uint32_t i = 0; i < numBuffers; ++i) {
      shapes.push_back(random.percent(25)   ? std::vector<uint64_t>{6, 4}
                       : random.percent(15) ? std::vector<uint64_t>{}
                                            : std::vector<uint64_t>{6});
      std::string name = fmt::format("X{}", i);
      if (haveAddresses) {
        std::string type = fmt::format("i{}", 8 << random.below(3));
        buffers.push_back(b.buffer(name, shapes.back(), "", type, random.below(12)));
      } else {
        buffers.push_back(b.buffer(name, shapes.back()));
      }
    }
    for (uint32_t i = 1; i < numBuffers; ++i) {
      if (random.percent(10)) {
        b.alias(buffers[i], buffers[random.below(i)]);
      } else if (haveAddresses && random.percent(10)) {
        b.noalias(buffers[i], buffers[random.below(i)]);
      }
    }
  }

  void body() {
    uint32_t statements = random.in({1, 3});
    for (uint32_t i = 0; i < statements && numInstrs < wantedInstrs; ++i) {
      bool canNest = names.size() < 3;
      if (canNest && random.percent(55)) {
        loop();
      } else if (canNest && random.percent(15)) {
        branches();
      } else {
        instr();
      }
    }
  }

  void loop() {
    std::string name = fmt::format("L{}", numLoops++);
    Trip trip = random.percent(50)   ? KernelBuilder::constant(random.in({0, 5}))
                : random.percent(15) ? b.guard(name + "g")
                : random.percent(40) ? b.value(name + "n", random.in({0, 2}), random.in({2, 6}))
                                     : b.value(name + "n");
    b.beginLoop(name, trip);
    names.push_back(name);
    isLoop.push_back(true);
    body();
    names.pop_back();
    isLoop.pop_back();
    b.endLoop();
  }

  void branches() {
    std::string name = fmt::format("L{}", numLoops++);
    b.beginIf(name);
    names.push_back(name);
    isLoop.push_back(false);
    body();
    if (random.percent(50)) {
      b.beginElse();
      names.back() = name + ".else";
      body();
    }
    names.pop_back();
    isLoop.pop_back();
    b.endIf();
  }

  void instr() {
    if (numInstrs == maxInstrs) {
      return;
    }
    QueueId queue = queues[random.below(queues.size())];
    b.instr(fmt::format("i{}", numInstrs++), queue);
    uint32_t count = random.in({1, 2});
    for (uint32_t i = 0; i < count; ++i) {
      size_t buffer = random.below(buffers.size());
      auto kind = random.percent(10)   ? AccessKind::Accumulate
                  : random.percent(50) ? AccessKind::Write
                                       : AccessKind::Read;
      std::string error;
      std::optional<ParsedAccess> tile = parseAccess(tileText(buffer), error);
      b.access(kind, buffers[buffer], toString(*tile));
    }
  }

  std::string tileText(size_t buffer) {
    std::string text = placeText(buffer);
    uint32_t numGuards = names.empty() || !random.percent(20) ? 0 : random.in({1, 2});
    for (uint32_t i = 0; i < numGuards; ++i) {
      text += (i == 0 ? " if " : " and ") + guard();
    }
    return text;
  }

  /// Mostly about the first or last iterations.
  std::string guard() {
    constexpr std::string_view relations[] = {"==", "!=", "<", "<=", ">", ">="};
    std::string_view relation = relations[random.below(std::size(relations))];
    size_t which = random.below(names.size());
    if (!isLoop[which] || random.percent(15)) {
      return fmt::format("{} {} {}", index(), relation, index());
    }
    std::string end = random.percent(50)
                          ? fmt::format("{}", random.in({0, 2}))
                          : fmt::format("trips({}) - {}", names[which], random.in({1, 2}));
    return fmt::format("{} {} {}", names[which], relation, end);
  }

  std::string placeText(size_t buffer) {
    std::string text = fmt::format("X{}", buffer);
    if (shapes[buffer].empty() || random.percent(10)) {
      return text;
    }
    if (random.percent(2)) {
      return text + "[@]";
    }
    text += "[" + dim();
    if (shapes[buffer].size() == 2) {
      text += ", " + (random.percent(50) ? std::string("0:4") : dim());
    }
    return text + "]";
  }

  std::string dim() {
    std::string first = random.percent(2) ? std::string("$n") : index();
    if (random.percent(25)) {
      first += ":" + size();
      if (random.percent(30)) {
        first += fmt::format(":{}", random.in({2, 3}));
      }
    }
    return first;
  }

  /// Some shrink or grow with the iterations, to nothing and below.
  std::string size() {
    if (names.empty() || random.percent(80)) {
      return fmt::format("{}", random.in({1, 3}));
    }
    return random.percent(10)   ? std::string("$m")
           : random.percent(50) ? fmt::format("2 - {}", leaf())
                                : leaf();
  }

  /// An index around 0 to 5; others touch nothing that anybody else does.
  std::string index() {
    if (names.empty() || random.percent(20)) {
      return fmt::format("{}", random.in({0, 3}));
    }
    std::string value = leaf();
    if (random.percent(15)) {
      value = fmt::format("({} + {})", value, leaf());
    }
    if (random.percent(15)) {
      value = fmt::format("{} * {}", random.in({2, 3}), value);
    }
    if (random.percent(30)) {
      value = fmt::format("({} + {})", value, random.in({1, 3}));
    }
    if (random.percent(10)) {
      return fmt::format("{} floordiv {}", value, random.in({2, 3}));
    }
    if (random.percent(10)) {
      return fmt::format("5 - {}", value);
    }
    return random.percent(65) ? fmt::format("{} mod {}", value, random.in({1, 4})) : value;
  }

  std::string leaf() {
    size_t which = random.below(names.size());
    if (isLoop[which] && random.percent(5)) {
      return fmt::format("trips({})", names[which]);
    }
    bool total = !isLoop[which] || random.percent(25);
    std::string count = total ? fmt::format("total({})", names[which]) : names[which];
    return random.percent(5) ? fmt::format("({} mod {})", count, random.in({2, 3})) : count;
  }

  Random random;
  KernelBuilder b;
  std::vector<QueueId> queues;
  std::vector<BufferId> buffers;
  std::vector<std::vector<uint64_t>> shapes;
  std::vector<std::string> names; ///< of the bodies around
  std::vector<bool> isLoop;
  uint32_t numLoops = 0;
  uint32_t numInstrs = 0;
  uint32_t wantedInstrs = 0;
};

} // namespace

Kernel randomAccesses(uint64_t seed) {
  return Generator(seed).run();
}

std::function<uint64_t(LoopId, uint64_t)> randomTrips(const Kernel &kernel, uint64_t seed,
                                                      uint64_t shortest, uint64_t longest) {
  return [&kernel, seed, shortest, longest](LoopId id, uint64_t entry) -> uint64_t {
    const Loop &loop = kernel.loops[id];
    if (!loop.isBranch() && loop.trip.kind == Trip::Kind::Constant) {
      return loop.trip.constant;
    }
    Random random(seed * 1'000'003 + uint64_t{id.value} * 1009 + entry);
    random.below(2);
    if (loop.isBranch()) {
      return random.below(2);
    }
    uint64_t most = loop.trip.max.value_or(longest);
    uint64_t first = std::clamp(shortest, loop.trip.min, most);
    uint64_t last = std::clamp(longest, loop.trip.min, most);
    return first + random.below(last - first + 1);
  };
}

} // namespace tally::test
