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
// Loads on sync, stores on gpsimd, and the arithmetic goes back and forth between scalar and
// vector. Every tile has two buffers, so that a chunk is loaded while the one before it is
// computed; a buffer is free when the last reader of two chunks ago has retired.
//===----------------------------------------------------------------------===//

#include "Kernels.h"

#include <fmt/format.h>

namespace tally {

using namespace kernels;

namespace {

class AdamW {
public:
  AdamW(uint64_t chunks, uint64_t columns)
      : chunks(chunks), columns(columns), bytes(128 * columns * 2), k("adamw") {}

  WrittenKernel write() {
    sync = k.engine("sync");
    loads = k.transfers("load");
    vector = k.engine("vector");
    scalar = k.engine("scalar");
    gpsimd = k.engine("gpsimd");
    stores = k.transfers("store");
    for (const char *name : {"P", "G", "M", "V"}) {
      k.buffer(name, {chunks, 128, columns}, "hbm", "bf16");
    }
    for (const char *name : {"p", "g", "m", "v", "t1", "t2", "t3", "t4", "m2", "v2", "root", "rec",
                             "u", "decay", "p2"}) {
      k.buffer(name, {2, 128, columns}, "sbuf", "bf16");
    }
    LoopId a = k.loop("A", chunks, [&] { body(); });
    dependences(a);
    return finished(
        k, {},
        {{"P", -0.02F, 0.02F}, {"G", -0.1F, 0.1F}, {"M", -0.02F, 0.02F}, {"V", 1e-6F, 1e-4F}});
  }

private:
  std::string tile(std::string_view name) const {
    return fmt::format("{}[A mod 2, 0:128, 0:{}]", name, columns);
  }

  std::string chunk(std::string_view name) const {
    return fmt::format("{}[A, 0:128, 0:{}]", name, columns);
  }

  InstrId load(std::string_view name, std::string_view from, std::string_view to) {
    return k.copy(loads, name, bytes, chunk(from), tile(to));
  }

  InstrId store(std::string_view name, std::string_view from, std::string_view to) {
    return k.copy(stores, name, bytes, tile(from), chunk(to));
  }

  InstrId activate(std::string_view name, std::string_view from, std::string_view to,
                   std::string computes) {
    return k.op(scalar, name, fmt::format("activation(n={})", columns),
                {.reads = {tile(from)}, .writes = {tile(to)}, .computes = std::move(computes)});
  }

  InstrId combine(std::string_view name, std::string_view a, std::string_view b,
                  std::string_view to, std::string computes) {
    return k.op(
        vector, name, fmt::format("tensor_tensor.1x(n={})", columns),
        {.reads = {tile(a), tile(b)}, .writes = {tile(to)}, .computes = std::move(computes)});
  }

  void body() {
    loadG = load("load_g", "G", "g");
    loadM = load("load_m", "M", "m");
    loadV = load("load_v", "V", "v");
    loadP = load("load_p", "P", "p");
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
    update = k.op(vector, "update", fmt::format("scalar_tensor_tensor.1x(n={})", columns),
                  {.reads = {tile("m2"), tile("rec")},
                   .writes = {tile("u")},
                   .computes = "r0 * 0.015353399327876296 * r1"});
    newP = combine("new_p", "decay", "u", "p2", "r0 - r1");
    storeM = store("store_m", "m2", "M");
    storeV = store("store_v", "v2", "V");
    storeP = store("store_p", "p2", "P");
  }

  void dependences(LoopId a) {
    k.raw({{loadG, gradient},
           {loadM, momentum},
           {loadG, square},
           {loadV, variance},
           {loadP, decay},
           {gradient, newM},
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
    // Buffers of loads, of results, and of what is in between.
    k.war({{gradient, loadG},
           {square, loadG},
           {momentum, loadM},
           {variance, loadV},
           {decay, loadP},
           {storeM, newM},
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
  uint64_t bytes;
  KernelAuthor k;
  EngineId sync, vector, scalar, gpsimd;
  QueueId loads, stores;
  InstrId loadG, loadM, loadV, loadP, gradient, momentum, square, variance, newM, newV, root, decay,
      inverse, update, newP, storeM, storeV, storeP;
};

} // namespace

WrittenKernel kernels::adamw(KernelSize size) {
  return size == KernelSize::Paper ? AdamW(8, 1024).write() : AdamW(5, 4).write();
}

} // namespace tally
