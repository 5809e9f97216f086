//===- RandomCode.cpp - Kernels with code as people write it, from a seed -===//
//
// Steps:  1. draw    links, and the instructions at their ends
//         2. order   each link gets a token and a credit: waits and signals at either end
//         3. kernel  engines, queues, the loop with the instructions
//         4. code    of each engine: what is raised first, then the loop
//
//===----------------------------------------------------------------------===//

#include "RandomCode.h"

#include <fmt/format.h>

namespace tally::fuzz {
namespace {

/// factor * (number of the iteration, from 1) + offset, at least 0.
struct Threshold {
  uint32_t factor = 1;
  int64_t offset = 0;
};

struct WaitEntry {
  uint32_t sema = 0;
  Threshold threshold;
  bool resets = false; ///< sets the semaphore to 0 afterwards
};

struct SignalEntry {
  uint32_t sema = 0;
  uint32_t amount = 1;
  bool drains = true; ///< if the engine raises it, not the instruction
};

struct AccessEntry {
  AccessKind kind;
  uint32_t buffer;
};

/// An instruction, and all that code does about it.
struct Node {
  uint32_t engine = 0;
  uint32_t queue = 0; ///< of the engine's queues
  bool inBranch = false;
  bool elseSignals = true, elseDrains = true;
  bool signalsItself = true; ///< the first of `signals` comes with its retirement
  std::vector<AccessEntry> accesses;
  std::vector<WaitEntry> waits;
  std::vector<SignalEntry> signals;
  InstrId instr;
  LoopId branch;
};

struct Link {
  uint32_t producer = 0, consumer = 0;
  uint32_t slots = 1;
};

struct QueueEntry {
  uint32_t weight = 1;
};

struct EngineEntry {
  std::vector<QueueEntry> queues;
  std::vector<SignalEntry> primes; ///< before the loop
};

class Generator {
public:
  Generator(uint64_t seed, const RandomCodeOptions &options) : random(seed), options(options) {}

  RandomCode run() {
    RandomCode program;
    drawEngines();
    drawLinks();
    for (const Link &link : links) {
      orderToken(link);
      orderCredit(link);
    }
    program.kernel = makeKernel();
    program.machine = genericMachine();
    program.machine.queueOverlap = !random.percent(options.inOrderPercent);
    program.trips = random.in(options.trips);
    program.guards = random.below(16);
    program.code = makeCode(program.kernel);
    return program;
  }

private:
  bool goesWrong() { return random.percent(options.wrongPercent); }

  //===--- 1. Draw --------------------------------------------------------===//

  void drawEngines() {
    engines.resize(random.in(options.engines));
    for (EngineEntry &engine : engines) {
      engine.queues.push_back({random.percent(options.splitPercent) ? 2u : 1u});
      if (random.percent(15)) {
        engine.queues.push_back({});
      }
    }
  }

  uint32_t drawNode() {
    Node node;
    node.engine = static_cast<uint32_t>(random.below(engines.size()));
    node.queue = static_cast<uint32_t>(random.below(engines[node.engine].queues.size()));
    node.inBranch = random.percent(options.branchPercent);
    node.elseSignals = !goesWrong();
    node.elseDrains = !goesWrong();
    node.signalsItself = !random.percent(options.drainPercent);
    nodes.push_back(node);
    return static_cast<uint32_t>(nodes.size() - 1);
  }

  /// A consumer may go on as a producer (a chain), a producer may have two consumers of one buffer.
  void drawLinks() {
    uint32_t count = random.in(options.links);
    for (uint32_t i = 0; i < count; ++i) {
      Link link;
      bool fansOut = i > 0 && random.percent(20);
      bool chains = i > 0 && !fansOut && random.percent(25);
      link.producer = fansOut ? links[i - 1].producer : chains ? links[i - 1].consumer : drawNode();
      link.consumer = drawNode();
      if (fansOut) {
        link.slots = links[i - 1].slots;
      } else {
        link.slots = 1 + static_cast<uint32_t>(random.below(2));
        slots.push_back(link.slots);
        nodes[link.producer].accesses.push_back({AccessKind::Write, numBuffers()});
      }
      nodes[link.consumer].accesses.push_back({AccessKind::Read, numBuffers()});
      links.push_back(link);
    }
  }

  uint32_t numBuffers() const { return static_cast<uint32_t>(slots.size() - 1); }

  //===--- 2. Order -------------------------------------------------------===//

  /// What one execution of a node adds to a semaphore that it raises next.
  uint32_t amountOf(const Node &node) const {
    bool byItself = node.signalsItself && node.signals.empty();
    return byItself ? engines[node.engine].queues[node.queue].weight : 1;
  }

  /// Lets `from` raise a semaphore: a new one, or one of another link.
  uint32_t raise(uint32_t from) {
    Node &node = nodes[from];
    bool shares = numSemaphores > 0 && random.percent(options.sharePercent);
    uint32_t sema = shares ? static_cast<uint32_t>(random.below(numSemaphores)) : numSemaphores++;
    uint32_t amount = amountOf(node);
    node.signals.push_back({sema, amount, !goesWrong()});
    if (raised.size() <= sema) {
      raised.resize(sema + 1, 0);
    }
    raised[sema] += amount;
    return sema;
  }

  /// `to` waits for all raises of so many iterations less; often also for those of other links.
  void wait(uint32_t to, uint32_t sema, uint32_t own, int64_t offset) {
    uint32_t factor = random.percent(50) ? raised[sema] : own;
    offset += goesWrong() ? random.in(-1, 1) : 0;
    nodes[to].waits.push_back({sema, {factor, offset}, false});
  }

  void waitForFlag(uint32_t to, uint32_t sema, uint32_t own) {
    nodes[to].waits.push_back({sema, {0, static_cast<int64_t>(own)}, true});
  }

  void orderToken(const Link &link) {
    if (goesWrong()) {
      return;
    }
    uint32_t own = amountOf(nodes[link.producer]);
    uint32_t sema = raise(link.producer);
    if (random.percent(options.flagPercent)) {
      waitForFlag(link.consumer, sema, own);
    } else {
      wait(link.consumer, sema, own, 0);
    }
  }

  void orderCredit(const Link &link) {
    if (goesWrong()) {
      return;
    }
    uint32_t own = amountOf(nodes[link.consumer]);
    uint32_t sema = raise(link.consumer);
    uint32_t credits = own * link.slots;
    if (random.percent(30)) {
      wait(link.producer, sema, own, -static_cast<int64_t>(credits));
      return;
    }
    uint32_t by = random.percent(70) ? nodes[link.consumer].engine : nodes[link.producer].engine;
    credits += goesWrong() ? 1 : 0;
    engines[by].primes.push_back({sema, credits, false});
    if (random.percent(options.flagPercent)) {
      waitForFlag(link.producer, sema, own);
    } else {
      wait(link.producer, sema, own, 0);
    }
  }

  //===--- 3. Kernel ------------------------------------------------------===//

  Kernel makeKernel() {
    KernelBuilder builder("written");
    for (size_t e = 0; e < engines.size(); ++e) {
      QueueId own = builder.queueOf(builder.engine(fmt::format("e{}", e)));
      for (size_t q = 0; q < engines[e].queues.size(); ++q) {
        uint32_t weight = engines[e].queues[q].weight;
        QueueId queue = q == 0 ? own : builder.queue(fmt::format("e{}q{}", e, q));
        builder.setQueue(queue, weight, weight > 1 ? Completion::Split : Completion::Whole);
      }
    }
    std::vector<BufferId> buffers;
    for (size_t i = 0; i < slots.size(); ++i) {
      uint64_t shape[] = {slots[i]};
      buffers.push_back(builder.buffer(fmt::format("X{}", i), shape));
    }
    builder.beginLoop("A", builder.value("n"));
    for (size_t i = 0; i < nodes.size(); ++i) {
      addNode(builder, buffers, i);
    }
    builder.endLoop();
    return builder.finish();
  }

  void addNode(KernelBuilder &builder, const std::vector<BufferId> &buffers, size_t i) {
    Node &node = nodes[i];
    if (node.inBranch) {
      node.branch = builder.beginIf(fmt::format("if{}", i));
    }
    QueueId queue = builder.peek().engines[EngineId(node.engine)].queues[node.queue];
    node.instr = builder.instr(fmt::format("i{}", i), queue);
    for (const AccessEntry &access : node.accesses) {
      std::string tile = slots[access.buffer] == 1 ? fmt::format("X{}[0]", access.buffer)
                                                   : fmt::format("X{}[A mod 2]", access.buffer);
      builder.access(access.kind, buffers[access.buffer], tile);
    }
    if (node.inBranch) {
      builder.endIf();
    }
  }

  //===--- 4. Code --------------------------------------------------------===//

  Code makeCode(const Kernel &kernel) {
    Code code;
    code.strategy = Strategy::Manual;
    code.machine = "generic";
    for (uint32_t i = 0; i < numSemaphores; ++i) {
      code.semaphores.push({fmt::format("s{}", i)});
    }
    for (EngineId engine : kernel.engines.ids()) {
      code.engines.push(codeOf(engine));
    }
    return code;
  }

  EngineProgram codeOf(EngineId engine) {
    EngineProgram program;
    program.engine = engine;
    program.registers.push({"r", ""});
    program.registers.push({"t", ""});
    program.ops.push_back(Op::move(r, Operand::number(0)));
    for (const SignalEntry &prime : engines[engine.value].primes) {
      program.ops.push_back(Op::makeSignal(SemaId(prime.sema), prime.amount));
    }
    program.ops.push_back(Op::loopBegin(LoopId(1)));
    program.ops.push_back(Op::alu2(AluOp::Add, r, Operand::reg(r), Operand::number(1)));
    for (const Node &node : nodes) {
      if (node.engine == engine.value) {
        addCode(program.ops, node);
      }
    }
    program.ops.push_back(Op::mark(OpKind::LoopEnd));
    return program;
  }

  static void addCode(std::vector<Op> &ops, const Node &node) {
    if (node.inBranch) {
      ops.push_back(Op::ifBegin(node.branch));
    }
    Op issue = Op::issue(node.instr);
    for (size_t i = 0; i < node.waits.size(); ++i) {
      addThreshold(ops, node.waits[i].threshold);
      if (i + 1 == node.waits.size() && !node.waits[i].resets) {
        issue.wait = SemaId(node.waits[i].sema);
        issue.a = Operand::reg(t);
      } else {
        ops.push_back(Op::makeWait(SemaId(node.waits[i].sema), Operand::reg(t)));
      }
      if (node.waits[i].resets) {
        ops.push_back(Op::reset(SemaId(node.waits[i].sema), 1));
      }
    }
    bool byItself = node.signalsItself && !node.signals.empty();
    if (byItself) {
      issue.signal = SemaId(node.signals[0].sema);
      issue.amount = node.signals[0].amount;
    }
    ops.push_back(issue);
    addSignals(ops, node, byItself ? 1 : 0, false);
    if (node.inBranch) {
      if (node.elseSignals) {
        ops.push_back(Op::mark(OpKind::Else));
        addSignals(ops, node, 0, true);
      }
      ops.push_back(Op::mark(OpKind::IfEnd));
    }
  }

  static void addSignals(std::vector<Op> &ops, const Node &node, size_t first, bool isElse) {
    for (size_t i = first; i < node.signals.size(); ++i) {
      if (isElse ? node.elseDrains : node.signals[i].drains) {
        ops.push_back(Op::drain());
      }
      ops.push_back(Op::makeSignal(SemaId(node.signals[i].sema), node.signals[i].amount));
    }
  }

  /// t = factor * r + offset
  static void addThreshold(std::vector<Op> &ops, const Threshold &threshold) {
    ops.push_back(Op::alu2(AluOp::Mul, t, Operand::reg(r), Operand::number(threshold.factor)));
    uint32_t by = static_cast<uint32_t>(std::abs(threshold.offset));
    if (by != 0) {
      AluOp alu = threshold.offset < 0 ? AluOp::Sub : AluOp::Add;
      ops.push_back(Op::alu2(alu, t, Operand::reg(t), Operand::number(by)));
    }
  }

  static constexpr RegId r{0}, t{1};

  Random random;
  const RandomCodeOptions &options;
  std::vector<EngineEntry> engines;
  std::vector<Node> nodes;
  std::vector<Link> links;
  std::vector<uint32_t> slots;  ///< by buffer
  std::vector<uint32_t> raised; ///< by semaphore: in one iteration
  uint32_t numSemaphores = 0;
};

} // namespace

Bindings RandomCode::bindings() const {
  Bindings bindings(kernel);
  bindings.set(LoopId(1), {trips});
  bindings.setGuardSeed(guards);
  return bindings;
}

RandomCode randomCode(uint64_t seed, const RandomCodeOptions &options) {
  return Generator(seed, options).run();
}

} // namespace tally::fuzz
