//===- Catalogue.cpp - The kernels that come with tally -------------------===//

#include "Kernels.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

namespace tally {

using namespace kernels;

static constexpr std::array<CatalogueEntry, 9> entries{{
    {"add_many_loop", "adds tile by tile; no iteration needs another", addManyLoop},
    {"adamw", "one step of AdamW, chunk by chunk, buffers in turn", adamw},
    {"flash_attention", "attention forward, exponentials one group behind", flashAttention},
    {"rmsnorm", "RMS normalisation of rows, and their quantisation to 8 bits", rmsnorm},
    {"matmul", "tiled matrix product, three loops", matmul},
    {"matmul-k-unrolled", "the same, the innermost loop written out", matmulKUnrolled},
    {"moe-384-4", "mixture of experts over the active blocks: 384 tokens, 4 experts",
     [](KernelSize size) { return moe("moe-384-4", 384, 4, size); }},
    {"moe-2048-8", "the same with 2048 tokens, 8 experts",
     [](KernelSize size) { return moe("moe-2048-8", 2048, 8, size); }},
    {"moe-4096-16", "the same with 4096 tokens, 16 experts",
     [](KernelSize size) { return moe("moe-4096-16", 4096, 16, size); }},
}};

std::span<const CatalogueEntry> catalogue() {
  return entries;
}

const CatalogueEntry *findKernel(std::string_view name) {
  auto found = std::find_if(entries.begin(), entries.end(),
                            [&](const CatalogueEntry &entry) { return entry.name == name; });
  return found != entries.end() ? &*found : nullptr;
}

WrittenKernel kernels::finished(KernelAuthor &author, std::vector<std::string> trips,
                                std::vector<Contents> contents) {
  Diagnostics diagnostics;
  std::optional<Kernel> kernel = author.finish(diagnostics);
  if (!kernel) {
    std::fputs(render(diagnostics, {}).c_str(), stderr);
    std::abort(); // a mistake in this folder
  }
  return {std::move(*kernel), std::move(trips), std::move(contents)};
}

} // namespace tally
