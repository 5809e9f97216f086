//===- StateTable.h - A set of states, kept whole -------------------------===//
//
// Open addressing over records of a fixed number of words. A hash only says where to look; two
// states are the same if all their words are.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_CHECK_STATETABLE_H
#define TALLY_LIB_CHECK_STATETABLE_H

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tally::check {

class StateTable {
public:
  /// For records of `width` words whose first word is never 0.
  explicit StateTable(size_t width) : width(width), words(width * 1024, 0), numSlots(1024) {}

  /// Whether the record was not there before.
  bool insert(const uint64_t *record) {
    assert(record[0] != 0 && "0 marks a free slot");
    if (2 * (count + 1) > numSlots) {
      grow();
    }
    return place(record);
  }

  /// Where a record is looked for first.
  static uint64_t hashOf(const uint64_t *record, size_t width) {
    uint64_t hash = 0;
    for (size_t i = 0; i < width; ++i) {
      hash = mix(hash * 0x9e3779b97f4a7c15u + record[i]);
    }
    return hash;
  }

  uint64_t size() const { return count; }

  /// Bytes held now; while it grows, half as much again.
  uint64_t bytes() const { return words.size() * sizeof(uint64_t); }

  /// Bytes that one more record may need.
  uint64_t bytesForNext() const { return 2 * (count + 1) > numSlots ? 3 * bytes() : bytes(); }

private:
  static uint64_t mix(uint64_t x) {
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    x ^= x >> 32;
    return x;
  }

  bool place(const uint64_t *record) {
    size_t slot = hashOf(record, width) & (numSlots - 1);
    while (words[slot * width] != 0) {
      if (std::equal(record, record + width,
                     words.begin() + static_cast<std::ptrdiff_t>(slot * width))) {
        return false;
      }
      slot = (slot + 1) & (numSlots - 1);
    }
    std::copy(record, record + width, words.begin() + static_cast<std::ptrdiff_t>(slot * width));
    ++count;
    return true;
  }

  void grow() {
    std::vector<uint64_t> old = std::move(words);
    numSlots *= 2;
    count = 0;
    words.assign(numSlots * width, 0);
    for (size_t i = 0; i < old.size(); i += width) {
      if (old[i] != 0) {
        place(old.data() + i);
      }
    }
  }

  size_t width;
  std::vector<uint64_t> words;
  size_t numSlots;
  uint64_t count = 0;
};

} // namespace tally::check

#endif // TALLY_LIB_CHECK_STATETABLE_H
