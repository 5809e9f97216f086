//===- FlashAttention.cpp - Attention forward -----------------------------===//
//
// One section of keys, group after group of 128 queries. Each iteration computes the scores of
// group g, and from the scores of group g-1, which are one iteration old, the result:
//
//   sync     next q := load Q[g+1]
//   tensor   s[t] := q * keys[t]                     for each tile of 512 keys; 4 banks
//   vector   scores[t], maxima[t] := scaled s[t]     and then their maximum
//   scalar   p[t], sums[t] := exp(scores[t] - max)   of the group before
//   sync     pt[t] := transposed p[t]
//   tensor   o[b] += pt[j] * values[j]               16 slices of 128 keys for each of the banks
//   vector   acc := sum of the banks
//   scalar   out := acc / sum of sums, gpsimd stores it
//
// So there is one iteration more than groups: the first result, of scores that are 0 when the
// kernel starts, and the last two queries are padding. The first query is loaded before the loop.
//===----------------------------------------------------------------------===//

#include "Kernels.h"

#include <fmt/format.h>

#include <cmath>

namespace tally {

using namespace kernels;

namespace {

struct AttentionSize {
  uint64_t groups;
  uint64_t keyTiles; ///< of `width` keys, a multiple of 4
  uint64_t width;    ///< a multiple of 4: its quarters are the slices of values
  uint64_t dim;      ///< of a head; also the queries of a group
};

class FlashAttention {
public:
  explicit FlashAttention(const AttentionSize &size)
      : size(size), slices(4 * size.keyTiles), banks(size.keyTiles / 4), k("flash_attention") {}

  WrittenKernel write() {
    k.engine("sync");
    loads = k.transfers("load");
    transposes = k.transfers("transpose");
    tensor = k.engine("tensor");
    vector = k.engine("vector");
    scalar = k.engine("scalar");
    k.engine("gpsimd");
    stores = k.transfers("store");
    buffers();
    LoopId s = k.loop("s", 1, [&] { section(); });
    scoresDependences();
    resultDependences();
    k.raw(loadKeys, product.front());
    k.raw(loadValues, accumulate.front());
    k.war(product.back(), loadKeys, {{s, 1}});
    k.war(accumulate.back(), loadValues, {{s, 1}});
    // The first result is made of scores that nobody computed: of zeros.
    return finished(k, {}, {{"Q", -2, 2}, {"K", -2, 2}, {"V", -1, 1}, {"scores"}, {"max"}});
  }

private:
  void buffers() {
    uint64_t keys = size.keyTiles * size.width;
    k.buffer("Q", {size.groups + 2, size.dim, size.dim}, "hbm", "bf16");
    k.buffer("K", {1, size.dim, keys}, "hbm", "bf16");
    k.buffer("V", {1, keys, size.dim}, "hbm", "bf16");
    k.buffer("O", {size.groups + 1, size.dim, size.dim}, "hbm", "bf16");
    k.buffer("keys", {size.dim, keys}, "sbuf", "bf16");
    k.buffer("values", {slices, size.width / 4, size.dim}, "sbuf", "bf16");
    k.buffer("q", {2, size.dim, size.dim}, "sbuf", "bf16");
    k.buffer("s", {4, size.dim, size.width}, "psum", "f32");
    k.buffer("scores", {2, size.dim, keys}, "sbuf", "f32");
    k.buffer("maxima", {size.dim, size.keyTiles}, "sbuf", "f32");
    k.buffer("max", {2, size.dim}, "sbuf", "f32");
    k.buffer("p", {2, size.dim, keys}, "sbuf", "bf16");
    k.buffer("sums", {2, size.dim, size.keyTiles}, "sbuf", "f32");
    k.buffer("pt", {2, slices, size.width / 4, size.dim}, "sbuf", "bf16");
    k.buffer("o", {banks, size.dim, size.dim}, "psum", "f32");
    k.buffer("acc", {2, size.dim, size.dim}, "sbuf", "f32");
    k.buffer("whole", {2, size.dim}, "sbuf", "f32");
    k.buffer("inverse", {2, size.dim}, "sbuf", "f32");
    k.buffer("out", {2, size.dim, size.dim}, "sbuf", "bf16");
  }

  void section() {
    uint64_t bytes = size.keyTiles * size.width * size.dim * 2;
    loadKeys = k.copy(loads, "load_keys", bytes, "K", "keys");
    loadValues = k.copy(loads, "load_values", bytes, "V", "values");
    firstQuery = loadQueries("first_query", "0", "0");
    g = k.loop("g", size.groups + 1, [&] {
      scoresOfThisGroup();
      resultOfTheLast();
    });
  }

  std::string square(std::string_view name, std::string_view index) const {
    return fmt::format("{}[{}, 0:{}, 0:{}]", name, index, size.dim, size.dim);
  }

  /// Columns of one key tile.
  std::string columns(std::string_view name, std::string_view index, uint64_t t) const {
    return fmt::format("{}[{}, 0:{}, {}:{}]", name, index, size.dim, t * size.width, size.width);
  }

  std::string vectorOf(std::string_view name, std::string_view index) const {
    return fmt::format("{}[{}, 0:{}]", name, index, size.dim);
  }

  /// Scores are divided by the root of the dimension.
  double temperature() const { return 1 / std::sqrt(static_cast<double>(size.dim)); }

  InstrId loadQueries(std::string_view name, std::string_view group, std::string_view slot) {
    return k.copy(loads, name, size.dim * size.dim * 2, square("Q", group), square("q", slot));
  }

  void scoresOfThisGroup() {
    loadQuery = loadQueries("load_query", "g + 1", "(g + 1) mod 2");
    query = k.op(tensor, "query", fmt::format("load_weights(n={})", size.dim),
                 {.reads = {square("q", "g mod 2")}, .computes = "keep(r0)"});
    for (uint64_t t = 0; t < size.keyTiles; ++t) {
      std::string bank = fmt::format("s[{}, 0:{}, 0:{}]", t % 4, size.dim, size.width);
      product.push_back(
          k.op(tensor, fmt::format("product{}", t),
               fmt::format("nc_matmul(nstat={}, nmov={})", size.dim, size.width),
               {.reads = {fmt::format("keys[0:{}, {}:{}]", size.dim, t * size.width, size.width)},
                .writes = {bank},
                .computes = "matmul(kept, r0)"}));
      scale.push_back(k.op(vector, fmt::format("scale{}", t),
                           fmt::format("tensor_scalar_reduce(n={})", size.width),
                           {.reads = {bank},
                            .writes = {columns("scores", "g mod 2", t),
                                       fmt::format("maxima[0:{}, {}]", size.dim, t)},
                            .computes = fmt::format("r0 * {0}; max(r0 * {0})", temperature())}));
    }
    maximum =
        k.op(vector, "maximum", fmt::format("tensor_reduce(n={})", size.keyTiles),
             {.reads = {"maxima"}, .writes = {vectorOf("max", "g mod 2")}, .computes = "max(r0)"});
  }

  void resultOfTheLast() {
    const std::string last = "(g + 1) mod 2";
    for (uint64_t t = 0; t < size.keyTiles; ++t) {
      exponential.push_back(k.op(
          scalar, fmt::format("exp{}", t), fmt::format("activation_reduce(n={})", size.width),
          {.reads = {columns("scores", last, t), vectorOf("max", last)},
           .writes = {columns("p", last, t), fmt::format("sums[{}, 0:{}, {}]", last, size.dim, t)},
           .computes = "exp(r0 - r1); sum(exp(r0 - r1))"}));
      transpose.push_back(k.op(transposes, fmt::format("transpose{}", t),
                               fmt::format("dma_transpose(bytes={})", size.dim * size.width * 2),
                               {.reads = {columns("p", last, t)},
                                .writes = {fmt::format("pt[{}, {}:4, 0:{}, 0:{}]", last, 4 * t,
                                                       size.width / 4, size.dim)},
                                .computes = "transpose(r0)"}));
    }
    for (uint64_t j = 0; j < slices; ++j) {
      slice(j, last);
    }
    for (uint64_t b = 0; b < banks; ++b) {
      Tiles tiles{.reads = {square("o", fmt::format("{}", b))}, .computes = "r0"};
      (b == 0 ? tiles.writes : tiles.accumulates).push_back(square("acc", last));
      evict.push_back(k.op(
          vector, fmt::format("evict{}", b),
          fmt::format("{}(n={})", b == 0 ? "tensor_copy" : "tensor_tensor.1x", size.dim), tiles));
    }
    divide(last);
  }

  void slice(uint64_t j, const std::string &last) {
    weights.push_back(
        k.op(tensor, fmt::format("weights{}", j), fmt::format("load_weights(n={})", size.dim),
             {.reads = {fmt::format("pt[{}, {}, 0:{}, 0:{}]", last, j, size.width / 4, size.dim)},
              .computes = "keep(r0)"}));
    // What starts a bank afresh is kept in order with the rest by the tensor engine, like every
    // sum.
    accumulate.push_back(
        k.op(tensor, fmt::format("accumulate{}", j),
             fmt::format("nc_matmul(nstat={}, nmov={})", size.dim, size.dim),
             {.reads = {fmt::format("values[{}, 0:{}, 0:{}]", j, size.width / 4, size.dim)},
              .accumulates = {square("o", fmt::format("{}", j / 16))},
              .computes = j % 16 == 0 ? "start(matmul(kept, r0))" : "matmul(kept, r0)"}));
  }

  void divide(const std::string &last) {
    sum = k.op(vector, "sum", fmt::format("tensor_reduce(n={})", size.keyTiles),
               {.reads = {fmt::format("sums[{}, 0:{}, 0:{}]", last, size.dim, size.keyTiles)},
                .writes = {vectorOf("whole", last)},
                .computes = "sum(r0)"});
    reciprocal = k.op(vector, "reciprocal", "reciprocal(n=1)",
                      {.reads = {vectorOf("whole", last)},
                       .writes = {vectorOf("inverse", last)},
                       .computes = "reciprocal(r0)"});
    output = k.op(scalar, "output", fmt::format("activation(n={})", size.dim),
                  {.reads = {square("acc", last), vectorOf("inverse", last)},
                   .writes = {square("out", last)},
                   .computes = "r0 * r1"});
    store = k.copy(stores, "store", size.dim * size.dim * 2, square("out", last), square("O", "g"),
                   softwareCopy);
  }

  void scoresDependences() {
    k.raw(firstQuery, query);
    k.raw(loadQuery, query, {{g, 1}});
    k.war(query, loadQuery, {{g, 1}});
    for (uint64_t t = 0; t < size.keyTiles; ++t) {
      k.raw(product[t], scale[t]);
      if (t + 4 < size.keyTiles) {
        k.war(scale[t], product[t + 4]);
      } else {
        k.war(scale[t], product[t % 4], {{g, 1}});
      }
      // Two buffers, but read an iteration late.
      k.war(exponential[t], scale[t], {{g, 1}});
    }
    k.raw(scale.back(), maximum);
    k.war(maximum, scale.front(), {{g, 1}});
    k.raw(maximum, exponential.front(), {{g, 1}});
  }

  void resultDependences() {
    for (uint64_t t = 0; t < size.keyTiles; ++t) {
      k.raw(exponential[t], transpose[t]);
      k.war(transpose[t], exponential[t], {{g, 2}});
      k.raw(transpose[t], weights[4 * t]);
      k.war(weights[4 * t + 3], transpose[t], {{g, 2}});
    }
    for (uint64_t b = 0; b < banks; ++b) {
      k.raw(accumulate[16 * b + 15], evict[b]);
      k.war(evict[b], accumulate[16 * b], {{g, 1}});
    }
    for (uint64_t b = 1; b < banks; ++b) {
      k.raw(evict[b - 1], evict[b]);
    }
    k.raw(exponential.back(), sum);
    k.war(sum, exponential.front(), {{g, 2}});
    k.raw({{sum, reciprocal}, {evict.back(), output}, {reciprocal, output}});
    k.war(output, evict.front(), {{g, 2}});
    k.raw(output, store);
    k.war(store, output, {{g, 2}});
  }

  AttentionSize size;
  uint64_t slices;
  uint64_t banks;
  KernelAuthor k;
  EngineId tensor, vector, scalar;
  QueueId loads, transposes, stores;
  LoopId g;
  InstrId loadKeys, loadValues, firstQuery, loadQuery, query, maximum, sum, reciprocal, output,
      store;
  std::vector<InstrId> product, scale, exponential, transpose, weights, accumulate, evict;
};

} // namespace

WrittenKernel kernels::flashAttention(KernelSize size) {
  AttentionSize paper{64, 16, 512, 128};
  AttentionSize small{3, 4, 4, 2};
  return FlashAttention(size == KernelSize::Paper ? paper : small).write();
}

} // namespace tally
