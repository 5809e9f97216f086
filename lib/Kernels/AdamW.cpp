//===- AdamW.cpp - One optimizer step -------------------------------------===//
//
// For each chunk of parameters, with g the gradient:
//
//   m := b1*m + (1-b1)*g          v := b2*v + (1-b2)*g^2
//   p := wd*p - step*m / (sqrt(v)*inv + eps)
//
// with b1 = 0.9, b2 = 0.999, wd = 1 - 1e-2 * 0.01, eps = 1e-8; step and inv correct the bias of the
// tenth step.
//
// Parameters and moments are f32: a step changes v by a thousandth of itself and p by less, which
// bf16 with its 8 bits would round away. Gradients are bf16.
//
// Loads on sync, stores on gpsimd, and the arithmetic goes back and forth between scalar and
// vector. Every tile has two buffers. Chunk A+2 is loaded as soon as the scalar engine has read
// chunk A, whose buffers it gets; the first two chunks are loaded before the loop. So the last two
// iterations load chunks that nothing reads. The arrays have room for them: `spare` chunks.
//===----------------------------------------------------------------------===//

#include "Kernels.h"

#include <fmt/format.h>

#include <array>

namespace tally {

using namespace kernels;

namespace {

class AdamW {
public:
  AdamW(uint64_t chunks, uint64_t columns) : chunks(chunks), columns(columns), k("adamw") {}

  WrittenKernel write() {
    sync = k.engine("sync");
    loads = k.transfers("load");
    vector = k.engine("vector");
    scalar = k.engine("scalar");
    gpsimd = k.engine("gpsimd");
    stores = k.transfers("store");
    for (const char *name : {"P", "G", "M", "V"}) {
      k.buffer(name, {chunks + spare, 128, columns}, "hbm", typeOf(name));
    }
    for (const char *name : {"p", "g", "m", "v", "t1", "t2", "t3", "t4", "m2", "v2", "root", "rec",
                             "u", "decay", "p2"}) {
      k.buffer(name, {2, 128, columns}, "sbuf", typeOf(name));
    }
    for (uint64_t chunk = 0; chunk < spare; ++chunk) {
      for (size_t i = 0; i < inputs.size(); ++i) {
        first[i][chunk] = load(fmt::format("first_{}{}", inputs[i].tile, chunk), inputs[i],
                               fmt::format("{}", chunk), fmt::format("{}", chunk));
      }
    }
    LoopId a = k.loop("A", chunks, [&] { body(); });
    dependences(a);
    return finished(
        k, {},
        {{"P", -0.02F, 0.02F}, {"G", -0.1F, 0.1F}, {"M", -0.02F, 0.02F}, {"V", 1e-6F, 1e-4F}});
  }

private:
  /// An array in memory, and its tile on the chip.
  struct Input {
    std::string_view array;
    std::string_view tile;
  };

  static constexpr std::array<Input, 4> inputs{{{"G", "g"}, {"M", "m"}, {"V", "v"}, {"P", "p"}}};
  static constexpr uint64_t spare = 2;

  static std::string_view typeOf(std::string_view name) {
    return name == "G" || name == "g" ? "bf16" : "f32";
  }

  uint64_t bytesOf(std::string_view name) const {
    return 128 * columns * (typeOf(name) == "f32" ? 4 : 2);
  }

  std::string tile(std::string_view name, std::string_view slot = "A mod 2") const {
    return fmt::format("{}[{}, 0:128, 0:{}]", name, slot, columns);
  }

  std::string chunk(std::string_view name, std::string_view index = "A") const {
    return fmt::format("{}[{}, 0:128, 0:{}]", name, index, columns);
  }

  InstrId load(std::string_view name, const Input &input, std::string_view index,
               std::string_view slot) {
    return k.copy(loads, name, bytesOf(input.array), chunk(input.array, index),
                  tile(input.tile, slot));
  }

  InstrId loadAhead(size_t input) {
    return load(fmt::format("load_{}", inputs[input].tile), inputs[input], "A + 2", "A mod 2");
  }

  InstrId store(std::string_view name, std::string_view from, std::string_view to) {
    return k.copy(stores, name, bytesOf(to), tile(from), chunk(to), softwareCopy);
  }

  InstrId activate(std::string_view name, std::string_view from, std::string_view to,
                   std::string computes) {
    return k.op(scalar, name, fmt::format("activation(n={})", columns),
                {.reads = {tile(from)}, .writes = {tile(to)}, .computes = std::move(computes)});
  }

  InstrId combine(std::string_view name, std::string_view a, std::string_view b,
                  std::string_view to, std::string computes) {
    return k.op(
        vector, name, fmt::format("tensor_tensor(n={})", columns),
        {.reads = {tile(a), tile(b)}, .writes = {tile(to)}, .computes = std::move(computes)});
  }

  void body() {
    gradient = activate("gradient", "g", "t1", "0.1 * r0");
    momentum = activate("momentum", "m", "t2", "0.9 * r0");
    square = activate("square", "g", "t3", "square(0.03162277660168379 * r0)");
    variance = activate("variance", "v", "t4", "0.999 * r0");
    newM = combine("new_m", "t1", "t2", "m2", "r0 + r1");
    newV = combine("new_v", "t3", "t4", "v2", "r0 + r1");
    root = activate("root", "v2", "root", "sqrt(100.45082541138463 * r0)");
    decay = activate("decay", "p", "decay", "0.9999 * r0");
    inverse = k.op(
        vector, "inverse", fmt::format("tensor_scalar(n={})", columns),
        {.reads = {tile("root")}, .writes = {tile("rec")}, .computes = "reciprocal(r0 + 1e-8)"});
    update = k.op(vector, "update", fmt::format("scalar_tensor_tensor(n={})", columns),
                  {.reads = {tile("m2"), tile("rec")},
                   .writes = {tile("u")},
                   .computes = "r0 * 0.015353399327876296 * r1"});
    newP = combine("new_p", "decay", "u", "p2", "r0 - r1");
    loadG = loadAhead(0);
    loadM = loadAhead(1);
    loadV = loadAhead(2);
    loadP = loadAhead(3);
    storeM = store("store_m", "m2", "M");
    storeV = store("store_v", "v2", "V");
    storeP = store("store_p", "p2", "P");
  }

  void dependences(LoopId a) {
    // What is loaded before the loop: the last reader of the first chunk waits for all of the
    // second one, too. Then two chunks ahead.
    k.raw({{first[0][0], gradient},
           {first[1][0], momentum},
           {first[2][0], variance},
           {first[3][1], decay}});
    for (auto [from, to] :
         {std::pair(loadG, gradient), {loadM, momentum}, {loadV, variance}, {loadP, decay}}) {
      k.raw(from, to, {{a, 2}});
    }
    k.raw({{gradient, newM},
           {momentum, newM},
           {square, newV},
           {variance, newV},
           {newV, root},
           {root, inverse},
           {newM, update},
           {inverse, update},
           {decay, newP},
           {update, newP},
           {newM, storeM},
           {newV, storeV},
           {newP, storeP}});
    // Buffers of loads, of results, and of what is in between. The scalar engine reads the gradient
    // twice, in order.
    k.war({{square, loadG}, {momentum, loadM}, {variance, loadV}, {decay, loadP}}, {});
    k.war({{storeM, newM},
           {update, newM},
           {storeV, newV},
           {root, newV},
           {storeP, newP},
           {newM, gradient},
           {newM, momentum},
           {newV, square},
           {newV, variance},
           {inverse, root},
           {update, inverse},
           {newP, update},
           {newP, decay}},
          {{a, 2}});
  }

  uint64_t chunks;
  uint64_t columns;
  KernelAuthor k;
  EngineId sync, vector, scalar, gpsimd;
  QueueId loads, stores;
  std::array<std::array<InstrId, spare>, 4> first; ///< loads of each input's first chunks
  InstrId loadG, loadM, loadV, loadP, gradient, momentum, square, variance, newM, newV, root, decay,
      inverse, update, newP, storeM, storeV, storeP;
};

} // namespace

WrittenKernel kernels::adamw(KernelSize size) {
  return size == KernelSize::Paper ? AdamW(8, 1024).write() : AdamW(5, 4).write();
}

} // namespace tally
