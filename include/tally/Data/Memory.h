//===- Memory.h - What the buffers of a kernel hold -----------------------===//
//
// Every buffer is one flat array of its elements, the last dimension running fastest, in the
// bits of its format. An element that is not written yet is *poison*: one bit each says so.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_DATA_MEMORY_H
#define TALLY_DATA_MEMORY_H

#include "tally/Data/Format.h"
#include "tally/Model/Kernel.h"

namespace tally {

/// Elements first, first + stride, ..., `count` of them.
struct ElementRun {
  size_t first = 0;
  size_t count = 0;
  size_t stride = 1;
};

class BufferData {
public:
  BufferData() = default;

  /// All poison.
  BufferData(Format format, std::vector<uint64_t> shape);

  Format format() const { return elementFormat; }

  const std::vector<uint64_t> &shape() const { return extents; }

  size_t size() const { return numElements; }

  uint32_t bits(size_t element) const;

  float value(size_t element) const { return decode(elementFormat, bits(element)); }

  bool isPoison(size_t element) const { return (poison[element / 64] >> (element % 64) & 1) != 0; }

  size_t numPoison() const { return poisoned; }

  /// Writes an element, which then is not poison.
  void setBits(size_t element, uint32_t bits);

  void set(size_t element, float value) { setBits(element, encode(elementFormat, value)); }

  void makePoison(size_t element);

  /// Reads elements as f32; those that are poison as 0.
  void load(const ElementRun &run, float *values) const;

  /// Rounds and writes elements; none of them is poison then.
  void store(const ElementRun &run, const float *values);

  /// Copies the bits of as many elements of a buffer of the same format, poison included.
  void copy(const ElementRun &to, const BufferData &from, const ElementRun &source);

  /// The elements' bytes in order, for files.
  const std::vector<std::byte> &bytes() const { return storage; }

private:
  void clearPoison(const ElementRun &run);

  Format elementFormat = Format::F32;
  std::vector<uint64_t> extents;
  size_t numElements = 0;
  size_t poisoned = 0;
  std::vector<std::byte> storage;
  std::vector<uint64_t> poison; ///< one bit for each element
};

using Memory = IdVector<BufferId, BufferData>;

/// The most bytes of all buffers together.
inline constexpr uint64_t mostBytes = uint64_t(16) << 30;

/// What each buffer of a kernel holds. Errors: element types that are not formats, buffers that lie
/// over one another, more than `maxBytes` in all.
IdVector<BufferId, Format> formatsOf(const Kernel &kernel, Diagnostics &diagnostics,
                                     uint64_t maxBytes = mostBytes);

/// Room for all buffers of a kernel, nothing written. Errors as those of formatsOf().
Memory emptyMemory(const Kernel &kernel, Diagnostics &diagnostics, uint64_t maxBytes = mostBytes);

/// The first element in which two buffers of one kind differ: in bits, or because one is poison.
std::optional<size_t> firstDifference(const BufferData &a, const BufferData &b);

/// `X[1, 5]`
std::string elementText(const Kernel &kernel, BufferId buffer, size_t element);

} // namespace tally

#endif // TALLY_DATA_MEMORY_H
