//===- Shapes.cpp - Kernels of any size, as others would choose them ------===//

#include "Shapes.h"

#include "Numbers.h"

#include "tally/Model/KernelBuilder.h"

#include <fmt/format.h>

#include <memory>

namespace tally::bench {
namespace {

/// A kernel that is being written: its instructions are added one by one, wherever they stand.
class Pattern {
public:
  explicit Pattern(std::string_view name) : b(name) {}

  virtual ~Pattern() = default;

  virtual void instr() = 0;

  Kernel finish() { return b.finish(); }

  KernelBuilder b;
  std::string loop; ///< with which rings go on; empty: none

protected:
  void addEngines(uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
      queues.push_back(b.queueOf(b.engine(fmt::format("e{}", i))));
    }
  }

  BufferId addBuffer(std::string_view name, uint64_t size) { return b.buffer(name, {&size, 1}); }

  void add(QueueId queue) { b.instr(fmt::format("i{}", number++), queue); }

  QueueId anyQueue() { return queues[numbers.below(queues.size())]; }

  void touch(AccessKind kind, std::string_view buffer, BufferId id, std::string_view index) {
    b.access(kind, id, fmt::format("{}[{}]", buffer, index));
  }

  Numbers numbers;
  std::vector<QueueId> queues;
  uint64_t number = 0;
};

/// How often loops in sequence run, and rows are gone through at most.
constexpr uint64_t mostTrips = 50;

class Stages : public Pattern {
public:
  Stages() : Pattern("stages") {
    addEngines(3);
    in = addBuffer("IN", 4);
    out = addBuffer("OUT", 4);
    destination = b.buffer("DST");
  }

  void instr() override {
    uint64_t stage = number % 3;
    std::string slot = fmt::format("{}", number / 3 % 4);
    add(queues[stage]);
    if (stage > 0) {
      touch(AccessKind::Read, stage == 1 ? "IN" : "OUT", stage == 1 ? in : out, slot);
    }
    if (stage < 2) {
      touch(AccessKind::Write, stage == 0 ? "IN" : "OUT", stage == 0 ? in : out, slot);
    } else {
      b.access(AccessKind::Write, destination, "DST");
    }
  }

private:
  BufferId in;
  BufferId out;
  BufferId destination;
};

class Slots : public Pattern {
public:
  Slots() : Pattern("slots") {
    addEngines(4);
    buffer = addBuffer("X", 256);
  }

  void instr() override {
    add(anyQueue());
    for (AccessKind kind : {AccessKind::Read, AccessKind::Write}) {
      touch(kind, "X", buffer, fmt::format("{}", numbers.below(256)));
    }
  }

private:
  BufferId buffer;
};

class Rings : public Pattern {
public:
  Rings() : Pattern("rings") {
    addEngines(4);
    constants = addBuffer("X", 64);
    for (uint32_t i = 0; i < 16; ++i) {
      rings.push_back(addBuffer(fmt::format("R{}", i), 4));
    }
  }

  void instr() override {
    add(anyQueue());
    for (AccessKind kind : {AccessKind::Read, AccessKind::Write}) {
      if (numbers.below(2) == 0) {
        touch(kind, "X", constants, fmt::format("{}", numbers.below(64)));
        continue;
      }
      uint64_t ring = numbers.below(16);
      uint64_t offset = numbers.below(4);
      std::string index = loop.empty()  ? fmt::format("{}", offset)
                          : offset == 0 ? fmt::format("{} mod 4", loop)
                                        : fmt::format("({} + {}) mod 4", loop, offset);
      touch(kind, fmt::format("R{}", ring), rings[ring], index);
    }
  }

private:
  BufferId constants;
  std::vector<BufferId> rings;
};

class Boxes : public Pattern {
public:
  Boxes() : Pattern("boxes") {
    addEngines(4);
    buffer = addBuffer("X", 1024);
  }

  void instr() override {
    add(anyQueue());
    for (AccessKind kind : {AccessKind::Read, AccessKind::Write}) {
      uint64_t size = 2 + numbers.below(15);
      touch(kind, "X", buffer, fmt::format("{}:{}", numbers.below(1024 - size), size));
    }
  }

private:
  BufferId buffer;
};

class Strips : public Pattern {
public:
  Strips() : Pattern("strips") {
    addEngines(4);
    for (uint32_t i = 0; i < numBuffers; ++i) {
      const uint64_t shape[] = {i % 4 == 0 ? 128u : 64u, 16};
      const BufferId id = b.buffer(fmt::format("S{}", i), shape, "sbuf", "f32", 48 * (i / 2));
      b.partitions(id, {i % 4 == 3 ? 64u : 0u, 0});
      buffers.push_back(id);
    }
  }

  void instr() override {
    add(anyQueue());
    for (AccessKind kind : {AccessKind::Read, AccessKind::Write}) {
      uint64_t of = numbers.below(numBuffers);
      b.access(kind, buffers[of], fmt::format("S{}", of));
    }
  }

private:
  static constexpr uint32_t numBuffers = 64;
  std::vector<BufferId> buffers;
};

class Fresh : public Pattern {
public:
  explicit Fresh(size_t numInstrs) : Pattern("fresh") {
    addEngines(4);
    buffer = addBuffer("X", numInstrs);
  }

  void instr() override {
    uint64_t own = number;
    add(anyQueue());
    for (int i = 0; i < 2 && own > 0; ++i) {
      uint64_t back = 1 + numbers.below(std::min<uint64_t>(own, 64));
      touch(AccessKind::Read, "X", buffer, fmt::format("{}", own - back));
    }
    touch(AccessKind::Write, "X", buffer, fmt::format("{}", own));
  }

private:
  BufferId buffer;
};

class Packed : public Pattern {
public:
  explicit Packed(size_t numInstrs) : Pattern("packed") {
    addEngines(2);
    buffer = addBuffer("X", numInstrs + 1);
  }

  void instr() override {
    uint64_t half = number % 2;
    uint64_t first = number - half;
    add(queues[half]);
    touch(half == 0 ? AccessKind::Write : AccessKind::Read, "X", buffer,
          loop.empty() ? fmt::format("{}", first) : fmt::format("{} mod 2 + {}", loop, first));
  }

private:
  BufferId buffer;
};

class Halves : public Pattern {
public:
  Halves() : Pattern("halves") {
    addEngines(4);
    for (uint32_t i = 0; i < numBuffers; ++i) {
      buffers.push_back(addBuffer(fmt::format("H{}", i), mostTrips));
    }
  }

  void instr() override {
    add(anyQueue());
    for (AccessKind kind : {AccessKind::Read, AccessKind::Write}) {
      uint64_t of = numbers.below(numBuffers);
      touch(kind, fmt::format("H{}", of), buffers[of],
            loop.empty() ? "0" : fmt::format("{} floordiv 2", loop));
    }
  }

private:
  static constexpr uint32_t numBuffers = 64;
  std::vector<BufferId> buffers;
};

class Rows : public Pattern {
public:
  Rows() : Pattern("rows") {
    addEngines(4);
    for (uint32_t i = 0; i < numBuffers; ++i) {
      buffers.push_back(addBuffer(fmt::format("Y{}", i), 1 + mostTrips));
    }
  }

  void instr() override {
    add(anyQueue());
    for (AccessKind kind : {AccessKind::Read, AccessKind::Write}) {
      uint64_t of = numbers.below(numBuffers);
      bool isNext = kind == AccessKind::Read && numbers.below(4) == 0;
      touch(kind, fmt::format("Y{}", of), buffers[of],
            loop.empty() ? fmt::format("{}", isNext ? 1 : 0)
                         : fmt::format("{}{}", loop, isNext ? " + 1" : ""));
    }
  }

private:
  static constexpr uint32_t numBuffers = 64;
  std::vector<BufferId> buffers;
};

constexpr std::string_view patterns[] = {"stages", "slots",  "rings",  "boxes", "strips",
                                         "fresh",  "packed", "halves", "rows"};
constexpr std::string_view nests[] = {"straight", "loop",       "nest2",   "nest3",
                                      "branches", "conditions", "sequence"};

std::unique_ptr<Pattern> patternNamed(std::string_view name, size_t numInstrs) {
  if (name == "stages") {
    return std::make_unique<Stages>();
  }
  if (name == "slots") {
    return std::make_unique<Slots>();
  }
  if (name == "rings") {
    return std::make_unique<Rings>();
  }
  if (name == "boxes") {
    return std::make_unique<Boxes>();
  }
  if (name == "strips") {
    return std::make_unique<Strips>();
  }
  if (name == "halves") {
    return std::make_unique<Halves>();
  }
  if (name == "rows") {
    return std::make_unique<Rows>();
  }
  if (name == "packed") {
    return std::make_unique<Packed>(numInstrs);
  }
  return std::make_unique<Fresh>(numInstrs);
}

void addMany(Pattern &pattern, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    pattern.instr();
  }
}

/// `depth` loops in one another, with as many instructions before and after each inner loop. Rings
/// go on with the outermost.
void addNest(Pattern &pattern, uint32_t depth, size_t inPart) {
  std::string loop = fmt::format("L{}", depth);
  pattern.loop = pattern.loop.empty() ? loop : pattern.loop;
  pattern.b.beginLoop(loop, pattern.b.value(fmt::format("n{}", depth)));
  addMany(pattern, inPart);
  if (depth > 1) {
    addNest(pattern, depth - 1, inPart);
    addMany(pattern, inPart);
  }
  pattern.b.endLoop();
}

void addBranches(Pattern &pattern, size_t count, bool haveConditions) {
  pattern.loop = "L";
  pattern.b.beginLoop("L", pattern.b.value("n"));
  for (size_t i = 0; i < count / 10; ++i) {
    addMany(pattern, 4);
    LoopId then = pattern.b.beginIf(fmt::format("c{}", i));
    if (haveConditions) {
      pattern.b.setCondition(then, i % 2 == 0 ? "L > 0" : "L mod 4 == 3");
    }
    addMany(pattern, 3);
    pattern.b.beginElse();
    addMany(pattern, 3);
    pattern.b.endIf();
  }
  addMany(pattern, count % 10);
  pattern.b.endLoop();
}

void addSequence(Pattern &pattern, size_t count) {
  constexpr size_t inLoop = 100;
  for (size_t i = 0; i < count; i += inLoop) {
    pattern.loop = fmt::format("L{}", i / inLoop);
    pattern.b.beginLoop(pattern.loop, KernelBuilder::constant(mostTrips));
    addMany(pattern, std::min(inLoop, count - i));
    pattern.b.endLoop();
  }
}

} // namespace

std::vector<std::string> shapeNames() {
  std::vector<std::string> names;
  for (std::string_view pattern : patterns) {
    for (std::string_view nest : nests) {
      // Of loops one after the other that go through such elements, all pairs remain.
      if (pattern != "halves" || nest != "sequence") {
        names.push_back(fmt::format("{}/{}", pattern, nest));
      }
    }
  }
  return names;
}

Kernel shapeNamed(std::string_view name, size_t numInstrs) {
  size_t slash = name.find('/');
  std::unique_ptr<Pattern> pattern = patternNamed(name.substr(0, slash), numInstrs);
  pattern->b.reserve(numInstrs, 0);
  std::string_view nest = name.substr(slash + 1);
  if (nest == "straight") {
    addMany(*pattern, numInstrs);
  } else if (nest == "branches" || nest == "conditions") {
    addBranches(*pattern, numInstrs, nest == "conditions");
  } else if (nest == "sequence") {
    addSequence(*pattern, numInstrs);
  } else {
    uint32_t depth = nest == "loop" ? 1 : nest == "nest2" ? 2 : 3;
    addNest(*pattern, depth, numInstrs / (2 * depth - 1));
  }
  return pattern->finish();
}

} // namespace tally::bench
