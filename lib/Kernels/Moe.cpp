//===- Moe.cpp - Mixture of experts over the active blocks ----------------===//
//
// Tokens are sent to two experts each. The tokens of one expert come in blocks; how many blocks
// there are, only the routing says, so the loop's count is a run-time value. For each block:
//
//   gather its rows, transpose them
//   h := silu(gate * rows) * (up * rows)
//   out rows += affinity * (down * h)        gathered, added to, scattered back
//
// The last block of an expert may have fewer tokens than rows: the others are a row of no token.
//
// A token may be in two blocks, one for each of its experts. So the rows of a block are gathered
// after those of the last block have been scattered; nothing in the addresses says so.
//
// Rows and weights are loaded one block ahead, into two buffers; the numbers of tokens and experts,
// by which they are found, two blocks ahead, into three. What lies before the first block is loaded
// before the loop. How many blocks there are, only the run knows, so the last block loads one more:
// the arrays have room for it, and nothing reads what it brings.
//===----------------------------------------------------------------------===//

#include "Kernels.h"

#include <fmt/format.h>

namespace tally {

using namespace kernels;

namespace {

struct MoeSize {
  uint64_t blockRows;
  uint64_t hidden;
  uint64_t inner;
  uint64_t part; ///< what the tensor engine takes at once of `hidden` and `inner`
};

/// Which tokens are in which block, and whose weights a block needs.
struct Routing {
  std::vector<int32_t> tokens;  ///< `blockRows` for each block; the last of an expert is filled up
  std::vector<int32_t> experts; ///< one for each block
  int32_t noToken = 0;          ///< the row behind the last token
};

/// Sends each token to two experts at random: the same for the same numbers, on every machine.
Routing routeAtRandom(uint32_t tokens, uint32_t experts, uint64_t blockRows) {
  uint64_t state = 0x9e3779b97f4a7c15u ^ (uint64_t(tokens) << 32) ^ experts;
  auto draw = [&](uint64_t bound) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % bound;
  };
  std::vector<std::vector<int32_t>> tokensOf(experts);
  for (uint32_t t = 0; t < tokens; ++t) {
    uint64_t first = draw(experts);
    uint64_t second = draw(experts - 1);
    tokensOf[first].push_back(static_cast<int32_t>(t));
    tokensOf[second + (second >= first ? 1 : 0)].push_back(static_cast<int32_t>(t));
  }
  Routing routing;
  routing.noToken = static_cast<int32_t>(tokens);
  for (uint32_t e = 0; e < experts; ++e) {
    uint64_t blocks = (tokensOf[e].size() + blockRows - 1) / blockRows;
    tokensOf[e].resize(blocks * blockRows, routing.noToken);
    routing.tokens.insert(routing.tokens.end(), tokensOf[e].begin(), tokensOf[e].end());
    routing.experts.insert(routing.experts.end(), blocks, static_cast<int32_t>(e));
  }
  return routing;
}

class Moe {
public:
  Moe(std::string_view name, uint64_t maxBlocks, uint32_t experts, const MoeSize &size)
      : maxBlocks(maxBlocks), experts(experts), size(size), hiddenParts(size.hidden / size.part),
        innerParts(size.inner / size.part), k(name) {}

  WrittenKernel write(Routing routing) {
    size_t blocks = routing.experts.size();
    k.engine("sync");
    loads = k.transfers("load");
    tensor = k.engine("tensor");
    vector = k.engine("vector");
    scalar = k.engine("scalar");
    k.engine("gpsimd");
    gathers = k.transfers("gather");
    buffers();
    beforeTheLoop();
    LoopId b = k.loop("b", k.value("blocks", 0, maxBlocks), [&] { body(); });
    dependences(b);
    routing.tokens.resize((maxBlocks + ahead) * size.blockRows, routing.noToken);
    routing.experts.resize(maxBlocks + ahead, 0);
    return finished(k, {fmt::format("blocks={}", blocks)},
                    {{"TOKENS", 0, 0, std::move(routing.tokens)},
                     {"EXPERT", 0, 0, std::move(routing.experts)},
                     {"AFFINITY", 0, 1},
                     {"IN", -1, 1},
                     {"OUT"},
                     {"GATE_UP", -0.1F, 0.1F},
                     {"DOWN", -0.1F, 0.1F}});
  }

private:
  static constexpr uint64_t ahead = 2; ///< blocks of which the numbers are loaded early

  void buffers() {
    uint64_t rows = size.blockRows;
    k.buffer("TOKENS", {maxBlocks + ahead, rows}, "hbm", "i32");
    k.buffer("EXPERT", {maxBlocks + ahead, 1}, "hbm", "i32");
    k.buffer("AFFINITY", {maxBlocks * rows, experts}, "hbm", "f32");
    k.buffer("IN", {maxBlocks * rows, size.hidden}, "hbm", "bf16");
    k.buffer("OUT", {maxBlocks * rows, size.hidden}, "hbm", "bf16");
    k.buffer("GATE_UP", {experts, size.hidden, 2 * size.inner}, "hbm", "bf16");
    k.buffer("DOWN", {experts, size.inner, size.hidden}, "hbm", "bf16");
    k.buffer("tokens", {3, rows}, "sbuf", "i32");
    k.buffer("expert", {3, 1}, "sbuf", "i32");
    k.buffer("rows", {2, rows, size.hidden}, "sbuf", "bf16");
    k.buffer("gate_up", {2, size.hidden, 2 * size.inner}, "sbuf", "bf16");
    k.buffer("down", {2, size.inner, size.hidden}, "sbuf", "bf16");
    k.buffer("turned", {hiddenParts, size.part, rows}, "psum", "bf16");
    k.buffer("x", {hiddenParts, size.part, rows}, "sbuf", "bf16");
    k.buffer("gated", {2, innerParts, size.part, rows}, "psum", "f32");
    k.buffer("active", {innerParts, size.part, rows}, "sbuf", "bf16");
    k.buffer("h", {innerParts, size.part, rows}, "sbuf", "bf16");
    k.buffer("affinity", {rows}, "sbuf", "f32");
    k.buffer("y", {rows, size.hidden}, "psum", "f32");
    k.buffer("old", {rows, size.hidden}, "sbuf", "bf16");
    k.buffer("sum", {rows, size.hidden}, "sbuf", "bf16");
  }

  std::string rowsOf(std::string_view name) const {
    return fmt::format("{}[0:{}, 0:{}]", name, size.blockRows, size.hidden);
  }

  std::string partOf(std::string_view name, uint64_t part) const {
    return fmt::format("{}[{}, 0:{}, 0:{}]", name, part, size.part, size.blockRows);
  }

  /// Of the gate (half 0) or of up (half 1).
  std::string gated(uint64_t half, uint64_t part) const {
    return fmt::format("gated[{}, {}, 0:{}, 0:{}]", half, part, size.part, size.blockRows);
  }

  std::string tokens(std::string_view block = "b") const {
    return fmt::format("tokens[({}) mod 3, 0:{}]", block, size.blockRows);
  }

  static std::string expert(std::string_view block = "b") {
    return fmt::format("expert[({}) mod 3, 0]", block);
  }

  std::string gatherOp(uint64_t bytes) const {
    return fmt::format("dma_gather(rows={}, bytes={})", size.blockRows, bytes);
  }

  uint64_t rowBytes() const { return size.blockRows * size.hidden * 2; }

  /// What has to be there before a block can begin; `prefix` tells loads before the loop from those
  /// in it.
  InstrId loadTheExpert(const std::string &prefix, std::string_view block) {
    return k.copy(loads, prefix + "expert", 4, fmt::format("EXPERT[{}, 0]", block), expert(block));
  }

  InstrId loadTheTokens(const std::string &prefix, std::string_view block) {
    return k.copy(loads, prefix + "tokens", size.blockRows * 4,
                  fmt::format("TOKENS[{}, 0:{}]", block, size.blockRows), tokens(block));
  }

  InstrId gatherTheRows(const std::string &name, std::string_view block) {
    return k.op(gathers, name, gatherOp(rowBytes()),
                {.reads = {"IN[@]", tokens(block)},
                 .writes = {fmt::format("rows[({}) mod 2, 0:{}, 0:{}]", block, size.blockRows,
                                        size.hidden)},
                 .computes = "gather(r0, r1)"});
  }

  InstrId loadTheGateAndUp(const std::string &prefix, std::string_view block) {
    return k.op(loads, prefix + "gate_up",
                fmt::format("dma_copy(bytes={})", size.hidden * 2 * size.inner * 2),
                {.reads = {"GATE_UP[@]", expert(block)},
                 .writes = {fmt::format("gate_up[({}) mod 2, 0:{}, 0:{}]", block, size.hidden,
                                        2 * size.inner)},
                 .computes = "gather(r0, r1)"});
  }

  InstrId loadTheDown(const std::string &prefix, std::string_view block) {
    return k.op(
        loads, prefix + "down", fmt::format("dma_copy(bytes={})", size.inner * size.hidden * 2),
        {.reads = {"DOWN[@]", expert(block)},
         .writes = {fmt::format("down[({}) mod 2, 0:{}, 0:{}]", block, size.inner, size.hidden)},
         .computes = "gather(r0, r1)"});
  }

  /// The expert first: who waits for the tokens has both.
  void beforeTheLoop() {
    firstExpert = loadTheExpert("first_", "0");
    firstTokens = loadTheTokens("first_", "0");
    firstGateUp = loadTheGateAndUp("first_", "0");
    firstDown = loadTheDown("first_", "0");
    secondExpert = loadTheExpert("second_", "1");
    secondTokens = loadTheTokens("second_", "1");
    firstRows = gatherTheRows("first_rows", "0");
  }

  void body() {
    loadGateUp = loadTheGateAndUp("load_", "b + 1");
    loadDown = loadTheDown("load_", "b + 1");
    loadExpert = loadTheExpert("load_", "b + 2");
    loadTokens = loadTheTokens("load_", "b + 2");
    turnRows();
    gateAndUp();
    combine();
  }

  void turnRows() {
    for (uint64_t c = 0; c < hiddenParts; ++c) {
      std::string turned = fmt::format("turned[{}, 0:{}, 0:{}]", c, size.part, size.blockRows);
      transpose.push_back(k.op(tensor, fmt::format("transpose{}", c),
                               fmt::format("nc_transpose(p={}, f={})", size.blockRows, size.part),
                               {.reads = {fmt::format("rows[b mod 2, 0:{}, {}:{}]", size.blockRows,
                                                      c * size.part, size.part)},
                                .writes = {turned},
                                .computes = "transpose(r0)"}));
      evict.push_back(k.op(vector, fmt::format("evict{}", c),
                           fmt::format("tensor_copy(n={})", size.blockRows),
                           {.reads = {turned}, .writes = {partOf("x", c)}, .computes = "r0"}));
    }
  }

  void gateAndUp() {
    for (uint64_t i = 0; i < innerParts; ++i) {
      for (uint64_t half = 0; half < 2; ++half) {
        for (uint64_t c = 0; c < hiddenParts; ++c) {
          multiply(i, half, c);
        }
      }
    }
    for (uint64_t i = 0; i < innerParts; ++i) {
      silu.push_back(
          k.op(scalar, fmt::format("silu{}", i), fmt::format("activation(n={})", size.blockRows),
               {.reads = {gated(0, i)}, .writes = {partOf("active", i)}, .computes = "silu(r0)"}));
      gate.push_back(k.op(vector, fmt::format("gate{}", i),
                          fmt::format("tensor_tensor.1x(n={})", size.blockRows),
                          {.reads = {partOf("active", i), gated(1, i)},
                           .writes = {partOf("h", i)},
                           .computes = "r0 * r1"}));
    }
  }

  /// The first product of a sum begins it.
  static std::string sumOf(uint64_t part) {
    return part == 0 ? "start(matmul(kept, r0))" : "matmul(kept, r0)";
  }

  /// One part of the gate (half 0) or of up (half 1).
  void multiply(uint64_t i, uint64_t half, uint64_t c) {
    std::string suffix = fmt::format("_{}_{}_{}", half == 0 ? "gate" : "up", i, c);
    uint64_t column = half * size.inner + i * size.part;
    InstrId weights = k.op(tensor, "weights" + suffix, fmt::format("load_weights(n={})", size.part),
                           {.reads = {fmt::format("gate_up[b mod 2, {}:{}, {}:{}]", c * size.part,
                                                  size.part, column, size.part)},
                            .computes = "keep(r0)"});
    InstrId product =
        k.op(tensor, "product" + suffix,
             fmt::format("nc_matmul(nstat={}, nmov={})", size.part, size.blockRows),
             {.reads = {partOf("x", c)}, .accumulates = {gated(half, i)}, .computes = sumOf(c)});
    if (!firstWeights.valid()) {
      firstWeights = weights;
      firstProduct = product;
    }
    lastProduct = product;
  }

  void combine() {
    std::string affinity = fmt::format("affinity[0:{}]", size.blockRows);
    gatherAffinity = k.op(gathers, "gather_affinity", gatherOp(size.blockRows * 4),
                          {.reads = {"AFFINITY[@]", tokens(), expert()},
                           .writes = {affinity},
                           .computes = "gather(r0, r1, r2)"});
    gatherOld = k.op(
        gathers, "gather_old", gatherOp(rowBytes()),
        {.reads = {"OUT[@]", tokens()}, .writes = {rowsOf("old")}, .computes = "gather(r0, r1)"});
    gatherRows = gatherTheRows("gather_rows", "b + 1");
    for (uint64_t i = 0; i < innerParts; ++i) {
      InstrId weights = k.op(tensor, fmt::format("weights_down_{}", i),
                             fmt::format("load_weights(n={})", size.blockRows),
                             {.reads = {partOf("h", i)}, .computes = "keep(r0)"});
      downWeights.push_back(weights);
      down.push_back(
          k.op(tensor, fmt::format("product_down_{}", i),
               fmt::format("nc_matmul(nstat={}, nmov={})", size.blockRows, size.hidden),
               {.reads = {fmt::format("down[b mod 2, {}:{}, 0:{}]", i * size.part, size.part,
                                      size.hidden)},
                .accumulates = {fmt::format("y[0:{}, 0:{}]", size.blockRows, size.hidden)},
                .computes = sumOf(i)}));
    }
    add = k.op(vector, "add", fmt::format("scalar_tensor_tensor.psum(n={})", size.hidden),
               {.reads = {fmt::format("y[0:{}, 0:{}]", size.blockRows, size.hidden), rowsOf("old"),
                          affinity},
                .writes = {rowsOf("sum")},
                .computes = "r0 * r2 + r1"});
    scatter = k.op(
        gathers, "scatter", gatherOp(rowBytes()),
        {.reads = {rowsOf("sum"), tokens()}, .writes = {"OUT[@]"}, .computes = "scatter(r0, r1)"});
  }

  void dependences(LoopId b) {
    // Before the loop, in it, and from the loads before the loop to the first blocks.
    k.raw({{firstExpert, firstGateUp},
           {firstTokens, firstRows},
           {secondExpert, loadGateUp},
           {secondTokens, gatherRows},
           {firstRows, transpose.front()},
           {firstGateUp, firstWeights},
           {firstDown, down.front()}});
    for (auto [from, to] : {std::pair(loadExpert, loadGateUp),
                            {loadTokens, gatherRows},
                            {gatherRows, transpose.front()},
                            {loadGateUp, firstWeights},
                            {loadDown, down.front()}}) {
      k.raw(from, to, {{b, 1}});
    }
    for (uint64_t c = 0; c < hiddenParts; ++c) {
      k.raw(transpose[c], evict[c]);
      k.war(evict[c], transpose[c], {{b, 1}});
    }
    k.raw(evict.back(), firstProduct);
    for (uint64_t i = 0; i < innerParts; ++i) {
      k.raw({{silu[i], gate[i]}, {gate[i], downWeights[i]}});
    }
    k.raw({{lastProduct, silu.front()}, {lastProduct, gate.front()}});
    k.raw({{down.back(), add}, {gatherOld, add}, {gatherAffinity, add}, {add, scatter}});
    k.raw(scatter, gatherOld, {{b, 1}});
    // What one engine does in order is freed by the last of it.
    k.war({{scatter, loadExpert},
           {transpose.back(), gatherRows},
           {lastProduct, loadGateUp},
           {lastProduct, evict.front()},
           {gate.back(), firstProduct},
           {gate.back(), silu.front()},
           {downWeights.back(), gate.front()},
           {down.back(), loadDown},
           {add, down.front()},
           {add, gatherAffinity},
           {add, gatherOld},
           {scatter, add}},
          {{b, 1}});
  }

  uint64_t maxBlocks;
  uint32_t experts;
  MoeSize size;
  uint64_t hiddenParts;
  uint64_t innerParts;
  KernelAuthor k;
  EngineId tensor, vector, scalar;
  QueueId loads, gathers;
  InstrId firstExpert, firstTokens, firstGateUp, firstDown, firstRows, secondExpert, secondTokens;
  InstrId loadTokens, loadExpert, gatherRows, loadGateUp, loadDown, gatherAffinity, gatherOld, add,
      scatter, firstWeights, firstProduct, lastProduct;
  std::vector<InstrId> transpose, evict, silu, gate, downWeights, down;
};

} // namespace

WrittenKernel kernels::moe(std::string_view name, uint32_t tokens, uint32_t experts,
                           KernelSize size) {
  MoeSize paper{128, 512, 256, 128};
  MoeSize small{4, 4, 4, 2};
  const MoeSize &dims = size == KernelSize::Paper ? paper : small;
  // The small size keeps the ratio of tokens to blocks: a few blocks for each expert.
  uint32_t count = size == KernelSize::Paper ? tokens : tokens / 48;
  uint64_t blockRows = dims.blockRows;
  uint64_t most = (uint64_t(count) * 2 - (experts - 1) + blockRows - 1) / blockRows + experts - 1;
  return Moe(name, most, experts, dims).write(routeAtRandom(count, experts, blockRows));
}

} // namespace tally
