//===- Inputs.cpp - What memory holds before a kernel starts --------------===//

#include "tally/Data/Inputs.h"

#include "tally/Support/Mix.h"

#include <algorithm>

namespace tally {

static uint64_t hashOf(std::string_view name) {
  uint64_t hash = 0xCBF29CE484222325;
  for (char c : name) {
    hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001B3;
  }
  return hash;
}

void fill(BufferData &data, const Contents &contents, uint64_t seed) {
  if (!contents.numbers.empty()) {
    assert(contents.numbers.size() == data.size() && "a number for each element");
    for (size_t i = 0; i < data.size(); ++i) {
      data.setBits(i, isWhole(data.format())
                          ? encodeWhole(data.format(), contents.numbers[i])
                          : encode(data.format(), static_cast<float>(contents.numbers[i])));
    }
    return;
  }
  uint64_t stream = mix(seed + hashOf(contents.buffer));
  float range = contents.high - contents.low;
  for (size_t i = 0; i < data.size(); ++i) {
    float u = static_cast<float>(mix(stream + i) >> 40) * 0x1p-24F;
    data.set(i, contents.low + u * range);
  }
}

Memory initialMemory(const Kernel &kernel, std::span<const Contents> contents, uint64_t seed,
                     Diagnostics &diagnostics) {
  Memory memory = emptyMemory(kernel, diagnostics);
  if (diagnostics.hasErrors()) {
    return memory;
  }
  IdVector<BufferId, bool> isWritten(kernel.buffers.size(), false);
  for (const Access &access : kernel.accesses) {
    isWritten[access.buffer] = isWritten[access.buffer] || access.kind != AccessKind::Read;
  }
  for (BufferId id : kernel.buffers.ids()) {
    std::string_view name = kernel.text(kernel.buffers[id].name);
    auto given = std::find_if(contents.begin(), contents.end(),
                              [&](const Contents &c) { return c.buffer == name; });
    if (given != contents.end()) {
      fill(memory[id], *given, seed);
    } else if (!isWritten[id]) {
      float range = isWhole(memory[id].format()) ? 0.0F : 1.0F;
      fill(memory[id], {std::string(name), -range, range}, seed);
    }
  }
  return memory;
}

} // namespace tally
