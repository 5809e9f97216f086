//===- Matmul.cpp - Tiled matrix product ----------------------------------===//
//
//   load the panels of the first tile
//   for n:  load the right panel of the next column
//     for m:  load the left panel of the next tile
//       for k:  tensor   bank[m mod 2] += left[k] * right[k]
//       vector   tile[m mod 2] := bank[m mod 2]
//       store the tile
//
// Loads run ahead: by one tile on the left, by one column on the right. So panels come in pairs,
// like banks and tiles. A bank is drained two tiles before it is used again, also across the end of
// the inner loop: the last two tiles of a column are the turn before the first two of the next one.
// The copy frees the left panel, too: all products of its tile are in what it copies. Within the
// tensor engine, the array keeps weights and products in order by itself.
//
// The last tile and the last column have no next one. They load the first panels again, which
// nothing reads: two loads more than a product needs.
//===----------------------------------------------------------------------===//

#include "Kernels.h"

#include <fmt/format.h>

namespace tally {

using namespace kernels;

namespace {

struct MatmulSize {
  uint64_t rowTiles;    ///< m
  uint64_t columnTiles; ///< n
  uint64_t innerTiles;  ///< k
  uint64_t tile;        ///< rows of a tile, and how much k advances
  uint64_t columns;     ///< of a tile
};

class Matmul {
public:
  Matmul(std::string_view name, const MatmulSize &size, bool unrolled)
      : size(size), unrolled(unrolled), k(name) {}

  WrittenKernel write() {
    k.engine("sync");
    loads = k.transfers("load");
    tensor = k.engine("tensor");
    vector = k.engine("vector");
    k.engine("gpsimd");
    stores = k.transfers("store");
    buffers();
    firstRight = rightPanel("first_right", "0", "0");
    firstLeft = leftPanel("first_left", "0", "0");
    LoopId n = k.loop("n", size.columnTiles, [&] { column(); });
    dependences(n);
    return finished(k);
  }

private:
  void buffers() {
    uint64_t depth = size.innerTiles * size.tile;
    k.buffer("L", {depth, size.rowTiles * size.tile}, "hbm", "bf16");
    k.buffer("R", {depth, size.columnTiles * size.columns}, "hbm", "bf16");
    k.buffer("OUT", {size.rowTiles * size.tile, size.columnTiles * size.columns}, "hbm", "bf16");
    k.buffer("left", {2, size.innerTiles, size.tile, size.tile}, "sbuf", "bf16");
    k.buffer("right", {2, size.innerTiles, size.tile, size.columns}, "sbuf", "bf16");
    k.buffer("bank", {2, size.tile, size.columns}, "psum", "f32");
    k.buffer("out", {2, size.tile, size.columns}, "sbuf", "bf16");
  }

  /// Which of two: turns go on from one column to the next.
  std::string turn() const { return "total(m) mod 2"; }

  /// Column `column` of the right operand, into one of two panels.
  InstrId rightPanel(std::string_view name, std::string_view column, std::string_view panel) {
    return k.copy(loads, name, size.innerTiles * size.tile * size.columns * 2,
                  fmt::format("R[0:{}, {}*({}):{}]", size.innerTiles * size.tile, size.columns,
                              column, size.columns),
                  fmt::format("right[{}, 0:{}, 0:{}, 0:{}]", panel, size.innerTiles, size.tile,
                              size.columns));
  }

  /// Row `row` of the left operand.
  InstrId leftPanel(std::string_view name, std::string_view row, std::string_view panel) {
    return k.copy(
        loads, name, size.innerTiles * size.tile * size.tile * 2,
        fmt::format("L[0:{}, {}*({}):{}]", size.innerTiles * size.tile, size.tile, row, size.tile),
        fmt::format("left[{}, 0:{}, 0:{}, 0:{}]", panel, size.innerTiles, size.tile, size.tile));
  }

  void column() {
    loadRight =
        rightPanel("load_right", fmt::format("(n + 1) mod {}", size.columnTiles), "(n + 1) mod 2");
    m = k.loop("m", size.rowTiles, [&] { tile(); });
  }

  void tile() {
    loadLeft = leftPanel("load_left", fmt::format("(m + 1) mod {}", size.rowTiles),
                         "(total(m) + 1) mod 2");
    if (unrolled) {
      for (uint64_t i = 0; i < size.innerTiles; ++i) {
        product(fmt::format("{}", i), fmt::format("{}", i),
                i == 0 ? "start(matmul(kept, r0))" : "matmul(kept, r0)");
      }
    } else {
      k.loop("k", size.innerTiles, [&] { product("", "k", "start(k, matmul(kept, r0))"); });
    }
    std::string all = fmt::format("0:{}, 0:{}", size.tile, size.columns);
    copy = k.op(vector, "copy", fmt::format("tensor_copy(n={})", size.columns),
                {.reads = {fmt::format("bank[{}, {}]", turn(), all)},
                 .writes = {fmt::format("out[{}, {}]", turn(), all)},
                 .computes = "r0"});
    store = k.copy(
        stores, "store", size.tile * size.columns * 2, fmt::format("out[{}, {}]", turn(), all),
        fmt::format("OUT[{}*m:{}, {}*n:{}]", size.tile, size.tile, size.columns, size.columns),
        softwareCopy);
  }

  void product(const std::string &suffix, const std::string &index, std::string computes) {
    InstrId w = k.op(
        tensor, "weights" + suffix, fmt::format("load_weights(n={})", size.tile),
        {.reads = {fmt::format("left[{}, {}, 0:{}, 0:{}]", turn(), index, size.tile, size.tile)},
         .computes = "keep(r0)"});
    Tiles tiles{
        .reads = {fmt::format("right[n mod 2, {}, 0:{}, 0:{}]", index, size.tile, size.columns)}};
    std::string bank = fmt::format("bank[{}, 0:{}, 0:{}]", turn(), size.tile, size.columns);
    tiles.accumulates.push_back(bank);
    tiles.computes = std::move(computes);
    lastProduct = k.op(tensor, "product" + suffix,
                       fmt::format("nc_matmul(nstat={}, nmov={})", size.tile, size.columns), tiles);
    if (!weights.valid()) {
      weights = w;
      firstProduct = lastProduct;
    }
  }

  void dependences(LoopId n) {
    // What is loaded before the loops, and then one column or tile ahead.
    k.raw({{firstLeft, weights}, {firstRight, firstProduct}});
    k.raw(loadRight, firstProduct, {{n, 1}});
    k.raw({{lastProduct, copy}, {copy, store}});
    k.warFlat(copy, loadLeft, 1);
    k.warFlat(store, copy, 2);
    k.war(lastProduct, loadRight, {{n, 1}});
    if (unrolled) {
      k.rawFlat(loadLeft, weights, 1);
      k.warFlat(copy, firstProduct, 2);
      return;
    }
    // One tile is in the loop of the other: the distance goes on from column to column.
    int64_t rows = static_cast<int64_t>(size.rowTiles);
    k.raw(loadLeft, weights, {{m, 1}});
    k.raw(loadLeft, weights, {{n, 1}, {m, 1 - rows}});
    k.war(copy, firstProduct, {{m, 2}});
    k.war(copy, firstProduct, {{n, 1}, {m, 2 - rows}});
  }

  MatmulSize size;
  bool unrolled;
  KernelAuthor k;
  EngineId tensor, vector;
  QueueId loads, stores;
  LoopId m;
  InstrId firstRight, firstLeft, loadRight, loadLeft, weights, firstProduct, lastProduct, copy,
      store;
};

constexpr MatmulSize paperSize{16, 4, 16, 128, 512};
constexpr MatmulSize smallSize{3, 3, 2, 2, 4};

} // namespace

WrittenKernel kernels::matmul(KernelSize size) {
  return Matmul("matmul", size == KernelSize::Paper ? paperSize : smallSize, false).write();
}

WrittenKernel kernels::matmulKUnrolled(KernelSize size) {
  return Matmul("matmul-k-unrolled", size == KernelSize::Paper ? paperSize : smallSize, true)
      .write();
}

} // namespace tally
