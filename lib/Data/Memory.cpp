//===- Memory.cpp - What the buffers of a kernel hold ---------------------===//

#include "tally/Data/Memory.h"

#include "Arithmetic.h"
#include "Tiles.h"
#include "tally/Model/Overlap.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace tally {

using namespace data;
using arithmetic::decodeBF16;
using arithmetic::encodeBF16;

/// Decoding one or two bytes is looking them up.
static const std::vector<float> &valuesOf(Format format) {
  static const std::array<std::vector<float>, numFormats> tables = [] {
    std::array<std::vector<float>, numFormats> result;
    for (uint8_t i = 0; i < numFormats; ++i) {
      size_t size = sizeOf(Format(i)) > 2 ? 0 : size_t(1) << 8 * sizeOf(Format(i));
      for (size_t bits = 0; bits < size; ++bits) {
        result[i].push_back(decode(Format(i), static_cast<uint32_t>(bits)));
      }
    }
    return result;
  }();
  return tables[static_cast<size_t>(format)];
}

BufferData::BufferData(Format format, std::vector<uint64_t> shape)
    : elementFormat(format), extents(std::move(shape)), numElements(tally::numElements(extents)),
      poisoned(numElements) {
  storage.resize(numElements * sizeOf(format));
  poison.assign((numElements + 63) / 64, ~uint64_t(0));
}

uint32_t BufferData::bits(size_t element) const {
  uint32_t value = 0;
  uint32_t size = sizeOf(elementFormat);
  std::memcpy(&value, &storage[element * size], size); // the machine is little-endian [asserted]
  static_assert(std::endian::native == std::endian::little);
  return value;
}

void BufferData::setBits(size_t element, uint32_t bits) {
  uint32_t size = sizeOf(elementFormat);
  std::memcpy(&storage[element * size], &bits, size);
  clearPoison({element, 1, 1});
}

void BufferData::makePoison(size_t element) {
  poisoned += !isPoison(element);
  poison[element / 64] |= uint64_t(1) << (element % 64);
}

/// Whole words at once, as tiles are mostly long rows.
void BufferData::clearPoison(const ElementRun &run) {
  if (poisoned == 0 || run.count == 0) {
    return;
  }
  auto clear = [&](size_t word, uint64_t mask) {
    poisoned -= static_cast<size_t>(std::popcount(poison[word] & mask));
    poison[word] &= ~mask;
  };
  if (run.stride != 1) {
    for (size_t i = 0; i < run.count; ++i) {
      size_t element = run.first + i * run.stride;
      clear(element / 64, uint64_t(1) << (element % 64));
    }
    return;
  }
  size_t last = run.first + run.count - 1;
  for (size_t word = run.first / 64; word <= last / 64; ++word) {
    uint64_t from = word == run.first / 64 ? ~uint64_t(0) << (run.first % 64) : ~uint64_t(0);
    uint64_t to = word == last / 64 ? ~uint64_t(0) >> (63 - last % 64) : ~uint64_t(0);
    clear(word, from & to);
  }
}

void BufferData::load(const ElementRun &run, float *values) const {
  const std::byte *base = storage.data();
  auto each = [&](auto decodeAt) {
    for (size_t i = 0; i < run.count; ++i) {
      values[i] = decodeAt(run.first + i * run.stride);
    }
  };
  switch (elementFormat) {
  case Format::BF16:
    each([&](size_t at) { return decodeBF16(reinterpret_cast<const uint16_t *>(base)[at]); });
    break;
  case Format::F32:
    each([&](size_t at) { return reinterpret_cast<const float *>(base)[at]; });
    break;
  default:
    switch (const std::vector<float> &table = valuesOf(elementFormat); sizeOf(elementFormat)) {
    case 1:
      each([&](size_t at) { return table[static_cast<uint8_t>(base[at])]; });
      break;
    case 2:
      each([&](size_t at) { return table[reinterpret_cast<const uint16_t *>(base)[at]]; });
      break;
    default:
      each([&](size_t at) { return value(at); });
    }
  }
  if (poisoned > 0) {
    for (size_t i = 0; i < run.count; ++i) {
      values[i] = isPoison(run.first + i * run.stride) ? 0 : values[i];
    }
  }
}

void BufferData::store(const ElementRun &run, const float *values) {
  std::byte *base = storage.data();
  auto each = [&](auto storeAt) {
    for (size_t i = 0; i < run.count; ++i) {
      storeAt(run.first + i * run.stride, values[i]);
    }
  };
  switch (elementFormat) {
  case Format::BF16:
    each([&](size_t at, float v) { reinterpret_cast<uint16_t *>(base)[at] = encodeBF16(v); });
    break;
  case Format::F32:
    each([&](size_t at, float v) { reinterpret_cast<float *>(base)[at] = v; });
    break;
  default:
    each([&, size = sizeOf(elementFormat)](size_t at, float v) {
      uint32_t bits = encode(elementFormat, v);
      std::memcpy(base + at * size, &bits, size);
    });
  }
  clearPoison(run);
}

void BufferData::copy(const ElementRun &to, const BufferData &from, const ElementRun &source) {
  size_t size = sizeOf(elementFormat);
  if (to.stride == 1 && source.stride == 1) {
    std::memmove(&storage[to.first * size], &from.storage[source.first * size], to.count * size);
  } else {
    for (size_t i = 0; i < to.count; ++i) {
      std::memmove(&storage[(to.first + i * to.stride) * size],
                   &from.storage[(source.first + i * source.stride) * size], size);
    }
  }
  clearPoison(to);
  if (from.poisoned > 0) {
    for (size_t i = 0; i < to.count; ++i) {
      if (from.isPoison(source.first + i * source.stride)) {
        makePoison(to.first + i * to.stride);
      }
    }
  }
}

//===----------------------------------------------------------------------===//
// All buffers
//===----------------------------------------------------------------------===//

static uint64_t bytesOf(const Buffer &buffer, Format format) {
  uint64_t bytes = sizeOf(format);
  for (uint64_t extent : buffer.shape) {
    if (__builtin_mul_overflow(bytes, extent, &bytes)) {
      return UINT64_MAX;
    }
  }
  return bytes;
}

static void checkOverlaps(const Kernel &kernel, const IdVector<BufferId, Format> &formats,
                          Diagnostics &diagnostics) {
  IdVector<BufferId, Region> regions;
  for (BufferId id : kernel.buffers.ids()) {
    regions.push(regionOf(kernel.buffers[id], sizeOf(formats[id])));
  }
  for (const Buffer &buffer : kernel.buffers) {
    for (BufferId earlier : buffer.alias) {
      diagnostics.error(
          buffer.where,
          fmt::format(
              "it is not known where buffer '{}' shares memory with '{}', so data cannot be "
              "followed; give both addresses, or leave out 'alias'",
              kernel.text(buffer.name), kernel.text(kernel.buffers[earlier].name)));
    }
  }
  for (Overlap overlap : findOverlaps(kernel, regions)) {
    const Buffer &low = kernel.buffers[overlap.low];
    const Buffer &high = kernel.buffers[overlap.high];
    diagnostics
        .error(high.where,
               fmt::format("buffer '{}' lies over '{}'; data can be followed only where buffers "
                           "are apart: leave the addresses out, or write one buffer",
                           kernel.text(high.name), kernel.text(low.name)))
        .note(low.where, fmt::format("'{}' is here", kernel.text(low.name)));
  }
}

IdVector<BufferId, Format> formatsOf(const Kernel &kernel, Diagnostics &diagnostics,
                                     uint64_t maxBytes) {
  IdVector<BufferId, Format> formats(kernel.buffers.size(), Format::F32);
  uint64_t left = maxBytes;
  for (BufferId id : kernel.buffers.ids()) {
    const Buffer &buffer = kernel.buffers[id];
    std::optional<Format> format = formatNamed(kernel.text(buffer.elementType));
    if (!format) {
      diagnostics.error(
          buffer.where,
          buffer.elementType.valid()
              ? fmt::format("buffer '{}' holds '{}', which is not a number format; there are {}",
                            kernel.text(buffer.name), kernel.text(buffer.elementType), allFormats())
              : fmt::format("buffer '{}' does not say what it holds; add type \"f32\", or another "
                            "of {}",
                            kernel.text(buffer.name), allFormats()));
      continue;
    }
    formats[id] = *format;
    uint64_t bytes = bytesOf(buffer, *format);
    if (bytes > left) {
      diagnostics.error(buffer.where, fmt::format("with buffer '{}', memory is larger than the {} "
                                                  "bytes that are simulated",
                                                  kernel.text(buffer.name), maxBytes));
      return formats;
    }
    left -= bytes;
  }
  checkOverlaps(kernel, formats, diagnostics);
  return formats;
}

Memory emptyMemory(const Kernel &kernel, Diagnostics &diagnostics, uint64_t maxBytes) {
  IdVector<BufferId, Format> formats = formatsOf(kernel, diagnostics, maxBytes);
  Memory memory(kernel.buffers.size());
  if (!diagnostics.hasErrors()) {
    for (BufferId id : kernel.buffers.ids()) {
      memory[id] = BufferData(formats[id], kernel.buffers[id].shape);
    }
  }
  return memory;
}

std::optional<size_t> firstDifference(const BufferData &a, const BufferData &b) {
  if (a.numPoison() == 0 && b.numPoison() == 0 && a.bytes() == b.bytes()) {
    return std::nullopt;
  }
  for (size_t i = 0; i < a.size(); ++i) {
    if (a.isPoison(i) != b.isPoison(i) || (!a.isPoison(i) && a.bits(i) != b.bits(i))) {
      return i;
    }
  }
  return std::nullopt;
}

std::string elementText(const Kernel &kernel, BufferId buffer, size_t element) {
  const std::vector<uint64_t> &shape = kernel.buffers[buffer].shape;
  std::vector<uint64_t> indices(shape.size());
  for (size_t d = shape.size(); d-- > 0;) {
    indices[d] = element % shape[d];
    element /= shape[d];
  }
  return fmt::format("{}{}", kernel.text(kernel.buffers[buffer].name),
                     shape.empty() ? "" : fmt::format("[{}]", joined(indices)));
}

} // namespace tally
