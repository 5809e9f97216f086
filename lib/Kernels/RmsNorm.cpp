//===- RmsNorm.cpp - Normalise rows, quantise them to 8 bits --------------===//
//
// For each tile of 128 rows x:
//
//   y := x * rsqrt(mean(x^2) + eps) * gamma
//   scale := max(absmax(y) / 240, 1e-6)          q := y / scale
//
// gamma is spread over all partitions once, before the loop. The row is normalised in slices, as
// the arithmetic of two operands takes 512 columns at a time.
//
// x has two buffers, and the rows that are normalised have their own. So tile A+2 is loaded as soon
// as tile A is normalised, while its rows are measured and quantised; the first two tiles are
// loaded before the loop. The last two iterations load tiles that nothing reads: X has room for
// them.
//===----------------------------------------------------------------------===//

#include "Kernels.h"

#include <fmt/format.h>

namespace tally {

using namespace kernels;

namespace {

class RmsNorm {
public:
  RmsNorm(uint64_t tiles, uint64_t columns, uint64_t slices)
      : tiles(tiles), columns(columns), slices(slices), k("rmsnorm") {}

  WrittenKernel write() {
    k.engine("sync");
    loads = k.transfers("load");
    vector = k.engine("vector");
    scalar = k.engine("scalar");
    gpsimd = k.engine("gpsimd");
    stores = k.transfers("store");
    buffers();
    InstrId loadGamma = k.copy(loads, "load_gamma", columns * 2, "GAMMA", "row");
    InstrId spread = k.op(gpsimd, "spread", fmt::format("tensor_copy(n={})", columns),
                          {.reads = {"row"}, .writes = {"gamma"}, .computes = "r0"});
    for (uint64_t tile = 0; tile < spare; ++tile) {
      first.push_back(
          load(fmt::format("first{}", tile), fmt::format("{}", tile), fmt::format("{}", tile)));
    }
    LoopId a = k.loop("A", tiles, [&] { body(); });
    k.raw(loadGamma, spread);
    k.raw(spread, normalise.front());
    dependences(a);
    return finished(k, {}, {{"X", -2, 2}, {"GAMMA", 0.5F, 1.5F}});
  }

private:
  static constexpr uint64_t spare = 2; ///< tiles

  void buffers() {
    k.buffer("X", {tiles + spare, 128, columns}, "hbm", "bf16");
    k.buffer("Q", {tiles, 128, columns}, "hbm", "fp8");
    k.buffer("SCALE", {tiles, 128}, "hbm", "f32");
    k.buffer("GAMMA", {1, columns}, "hbm", "bf16");
    k.buffer("row", {1, columns}, "sbuf", "bf16");
    k.buffer("gamma", {128, columns}, "sbuf", "bf16");
    k.buffer("x", {2, 128, columns}, "sbuf", "bf16");
    k.buffer("y", {2, 128, columns}, "sbuf", "bf16");
    k.buffer("q", {2, 128, columns}, "sbuf", "fp8");
    for (const char *name : {"sum", "rms", "amax", "part", "scale", "inverse"}) {
      k.buffer(name, {2, 128}, "sbuf", "f32");
    }
  }

  std::string row(std::string_view name) const {
    return fmt::format("{}[A mod 2, 0:128, 0:{}]", name, columns);
  }

  static std::string column(std::string_view name) {
    return fmt::format("{}[A mod 2, 0:128]", name);
  }

  InstrId load(std::string_view name, std::string_view tile, std::string_view slot) {
    return k.copy(loads, name, 128 * columns * 2, fmt::format("X[{}, 0:128, 0:{}]", tile, columns),
                  fmt::format("x[{}, 0:128, 0:{}]", slot, columns));
  }

  void body() {
    std::string wide = fmt::format("n={}", columns);
    sumSquares =
        k.op(scalar, "sum_squares", fmt::format("activation_reduce({})", wide),
             {.reads = {row("x")}, .writes = {column("sum")}, .computes = "sum(square(r0))"});
    rsqrt = k.op(scalar, "rsqrt", "activation(n=1)",
                 {.reads = {column("sum")},
                  .writes = {column("rms")},
                  .computes = fmt::format("rsqrt(r0 / {} + 1e-6)", columns)});
    uint64_t width = columns / slices;
    for (uint64_t j = 0; j < slices; ++j) {
      std::string slice = fmt::format("[A mod 2, 0:128, {}:{}]", j * width, width);
      normalise.push_back(k.op(vector, fmt::format("normalise{}", j),
                               fmt::format("scalar_tensor_tensor.1x(n={})", width),
                               {.reads = {"x" + slice, column("rms"),
                                          fmt::format("gamma[0:128, {}:{}]", j * width, width)},
                                .writes = {"y" + slice},
                                .computes = "r0 * r1 * r2"}));
    }
    loadAhead = load("load", "A + 2", "A mod 2");
    absMax = k.op(vector, "abs_max", fmt::format("tensor_scalar_reduce({})", wide),
                  {.reads = {row("y")}, .writes = {column("amax")}, .computes = "max(abs(r0))"});
    part = k.op(scalar, "part", "activation(n=1)",
                {.reads = {column("amax")}, .writes = {column("part")}, .computes = "r0 / 240"});
    atLeast =
        k.op(vector, "at_least", "tensor_scalar(n=1)",
             {.reads = {column("part")}, .writes = {column("scale")}, .computes = "max(r0, 1e-6)"});
    reciprocal = k.op(
        vector, "reciprocal", "reciprocal(n=1)",
        {.reads = {column("scale")}, .writes = {column("inverse")}, .computes = "reciprocal(r0)"});
    quantise =
        k.op(vector, "quantise", fmt::format("tensor_scalar.2x({})", wide),
             {.reads = {row("y"), column("inverse")}, .writes = {row("q")}, .computes = "r0 * r1"});
    storeQ = k.copy(stores, "store_q", 128 * columns, row("q"),
                    fmt::format("Q[A, 0:128, 0:{}]", columns), softwareCopy);
    storeScale =
        k.copy(stores, "store_scale", 512, column("scale"), "SCALE[A, 0:128]", softwareCopy);
  }

  /// One engine's instructions start in order, and retire in order: who waits for the last of
  /// several waits for all, and the first of several waits for them all.
  void dependences(LoopId a) {
    k.raw(first.back(), sumSquares);
    k.raw(loadAhead, sumSquares, {{a, 2}});
    k.raw({{sumSquares, rsqrt},
           {rsqrt, normalise.front()},
           {normalise.back(), absMax},
           {absMax, part},
           {part, atLeast},
           {atLeast, reciprocal},
           {reciprocal, quantise},
           {quantise, storeQ},
           {atLeast, storeScale}});
    k.war(normalise.back(), loadAhead);
    k.war({{storeQ, quantise}, {storeScale, atLeast}}, {{a, 2}});
  }

  uint64_t tiles;
  uint64_t columns;
  uint64_t slices;
  KernelAuthor k;
  EngineId vector, scalar, gpsimd;
  QueueId loads, stores;
  InstrId loadAhead, sumSquares, rsqrt, absMax, part, atLeast, reciprocal, quantise, storeQ,
      storeScale;
  std::vector<InstrId> first, normalise;
};

} // namespace

WrittenKernel kernels::rmsnorm(KernelSize size) {
  return size == KernelSize::Paper ? RmsNorm(256, 8192, 16).write() : RmsNorm(5, 8, 2).write();
}

} // namespace tally
