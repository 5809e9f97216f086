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

/// Sends each token to two experts by chance: the same for the same numbers, on every machine.
Routing routeByChance(uint32_t tokens, uint32_t experts, uint64_t blockRows) {
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
    LoopId b = k.loop("b", k.value("blocks", 0, maxBlocks), [&] { body(); });
    dependences(b);
    routing.tokens.resize(maxBlocks * size.blockRows, routing.noToken);
    routing.experts.resize(maxBlocks, 0);
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
  void buffers() {
    uint64_t rows = size.blockRows;
    k.buffer("TOKENS", {maxBlocks, rows}, "hbm", "i32");
    k.buffer("EXPERT", {maxBlocks, 1}, "hbm", "i32");
    k.buffer("AFFINITY", {maxBlocks * rows, experts}, "hbm", "f32");
    k.buffer("IN", {maxBlocks * rows, size.hidden}, "hbm", "bf16");
    k.buffer("OUT", {maxBlocks * rows, size.hidden}, "hbm", "bf16");
    k.buffer("GATE_UP", {experts, size.hidden, 2 * size.inner}, "hbm", "bf16");
    k.buffer("DOWN", {experts, size.inner, size.hidden}, "hbm", "bf16");
    k.buffer("tokens", {2, rows}, "sbuf", "i32");
    k.buffer("expert", {2, 1}, "sbuf", "i32");
    k.buffer("rows", {2, rows, size.hidden}, "sbuf", "bf16");
    k.buffer("turned", {hiddenParts, size.part, rows}, "psum", "bf16");
    k.buffer("x", {2, hiddenParts, size.part, rows}, "sbuf", "bf16");
    k.buffer("gate_up", {2, size.hidden, 2 * size.inner}, "sbuf", "bf16");
    k.buffer("down", {2, size.inner, size.hidden}, "sbuf", "bf16");
    k.buffer("gated", {2, innerParts, size.part, rows}, "psum", "f32");
    k.buffer("active", {2, innerParts, size.part, rows}, "sbuf", "bf16");
    k.buffer("h", {2, innerParts, size.part, rows}, "sbuf", "bf16");
    k.buffer("affinity", {2, rows}, "sbuf", "f32");
    k.buffer("y", {rows, size.hidden}, "psum", "f32");
    k.buffer("old", {2, rows, size.hidden}, "sbuf", "bf16");
    k.buffer("sum", {2, rows, size.hidden}, "sbuf", "bf16");
  }

  std::string rowsOf(std::string_view name) const {
    return fmt::format("{}[b mod 2, 0:{}, 0:{}]", name, size.blockRows, size.hidden);
  }

  std::string partOf(std::string_view name, std::string_view index, uint64_t part) const {
    return fmt::format("{}[{}, {}, 0:{}, 0:{}]", name, index, part, size.part, size.blockRows);
  }

  std::string tokens() const { return fmt::format("tokens[b mod 2, 0:{}]", size.blockRows); }

  std::string gatherOp(uint64_t bytes) const {
    return fmt::format("dma_gather(rows={}, bytes={})", size.blockRows, bytes);
  }

  void body() {
    uint64_t rowBytes = size.blockRows * size.hidden * 2;
    // The expert first: who waits for the tokens has both.
    loadExpert = k.copy(loads, "load_expert", 4, "EXPERT[b, 0]", "expert[b mod 2, 0]");
    loadTokens = k.copy(loads, "load_tokens", size.blockRows * 4,
                        fmt::format("TOKENS[b, 0:{}]", size.blockRows), tokens());
    gatherRows = k.op(
        gathers, "gather_rows", gatherOp(rowBytes),
        {.reads = {"IN[@]", tokens()}, .writes = {rowsOf("rows")}, .computes = "gather(r0, r1)"});
    loadGateUp = k.op(
        loads, "load_gate_up", fmt::format("dma_copy(bytes={})", size.hidden * 2 * size.inner * 2),
        {.reads = {"GATE_UP[@]", "expert[b mod 2, 0]"},
         .writes = {fmt::format("gate_up[b mod 2, 0:{}, 0:{}]", size.hidden, 2 * size.inner)},
         .computes = "gather(r0, r1)"});
    loadDown =
        k.op(loads, "load_down", fmt::format("dma_copy(bytes={})", size.inner * size.hidden * 2),
             {.reads = {"DOWN[@]", "expert[b mod 2, 0]"},
              .writes = {fmt::format("down[b mod 2, 0:{}, 0:{}]", size.inner, size.hidden)},
              .computes = "gather(r0, r1)"});
    turnRows();
    gateAndUp();
    combine(rowBytes);
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
      evict.push_back(
          k.op(vector, fmt::format("evict{}", c), fmt::format("tensor_copy(n={})", size.blockRows),
               {.reads = {turned}, .writes = {partOf("x", "b mod 2", c)}, .computes = "r0"}));
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
      silu.push_back(k.op(scalar, fmt::format("silu{}", i),
                          fmt::format("activation(n={})", size.blockRows),
                          {.reads = {partOf("gated", "0", i)},
                           .writes = {partOf("active", "b mod 2", i)},
                           .computes = "silu(r0)"}));
      gate.push_back(k.op(vector, fmt::format("gate{}", i),
                          fmt::format("tensor_tensor.1x(n={})", size.blockRows),
                          {.reads = {partOf("active", "b mod 2", i), partOf("gated", "1", i)},
                           .writes = {partOf("h", "b mod 2", i)},
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
    InstrId product = k.op(tensor, "product" + suffix,
                           fmt::format("nc_matmul(nstat={}, nmov={})", size.part, size.blockRows),
                           {.reads = {partOf("x", "b mod 2", c)},
                            .accumulates = {partOf("gated", fmt::format("{}", half), i)},
                            .computes = sumOf(c)});
    if (!firstWeights.valid()) {
      firstWeights = weights;
      firstProduct = product;
    }
    lastProduct = product;
  }

  void combine(uint64_t rowBytes) {
    gatherAffinity = k.op(gathers, "gather_affinity", gatherOp(size.blockRows * 4),
                          {.reads = {"AFFINITY[@]", tokens(), "expert[b mod 2, 0]"},
                           .writes = {fmt::format("affinity[b mod 2, 0:{}]", size.blockRows)},
                           .computes = "gather(r0, r1, r2)"});
    gatherOld = k.op(
        gathers, "gather_old", gatherOp(rowBytes),
        {.reads = {"OUT[@]", tokens()}, .writes = {rowsOf("old")}, .computes = "gather(r0, r1)"});
    for (uint64_t i = 0; i < innerParts; ++i) {
      InstrId weights = k.op(tensor, fmt::format("weights_down_{}", i),
                             fmt::format("load_weights(n={})", size.blockRows),
                             {.reads = {partOf("h", "b mod 2", i)}, .computes = "keep(r0)"});
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
                          fmt::format("affinity[b mod 2, 0:{}]", size.blockRows)},
                .writes = {rowsOf("sum")},
                .computes = "r0 * r2 + r1"});
    scatter = k.op(
        gathers, "scatter", gatherOp(rowBytes),
        {.reads = {rowsOf("sum"), tokens()}, .writes = {"OUT[@]"}, .computes = "scatter(r0, r1)"});
  }

  void dependences(LoopId b) {
    k.raw({{loadTokens, gatherRows}, {loadExpert, loadGateUp}, {gatherRows, transpose.front()}});
    for (uint64_t c = 0; c < hiddenParts; ++c) {
      k.raw(transpose[c], evict[c]);
      k.war(evict[c], transpose[c], {{b, 1}});
    }
    k.raw({{loadGateUp, firstWeights}, {evict.back(), firstProduct}});
    for (uint64_t i = 0; i < innerParts; ++i) {
      k.raw({{silu[i], gate[i]}, {gate[i], downWeights[i]}});
    }
    k.raw({{lastProduct, silu.front()}, {lastProduct, gate.front()}});
    k.war(gate.back(), firstProduct, {{b, 1}});
    k.raw({{loadDown, down.front()},
           {down.back(), add},
           {gatherOld, add},
           {gatherAffinity, add},
           {add, scatter}});
    k.war(add, down.front(), {{b, 1}});
    k.raw(scatter, gatherOld, {{b, 1}});
    // Two buffers each; what one engine does in order is freed by the last of it.
    k.war({{scatter, loadExpert},
           {loadDown, loadExpert},
           {transpose.back(), gatherRows},
           {lastProduct, evict.front()},
           {lastProduct, loadGateUp},
           {down.back(), loadDown},
           {gate.back(), silu.front()},
           {downWeights.back(), gate.front()},
           {add, gatherAffinity},
           {add, gatherOld},
           {scatter, add}},
          {{b, 2}});
  }

  uint64_t maxBlocks;
  uint32_t experts;
  MoeSize size;
  uint64_t hiddenParts;
  uint64_t innerParts;
  KernelAuthor k;
  EngineId tensor, vector, scalar;
  QueueId loads, gathers;
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
  return Moe(name, most, experts, dims).write(routeByChance(count, experts, blockRows));
}

} // namespace tally
