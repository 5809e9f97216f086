//===- Id.h - Typed dense ids and the tables they index -------------------===//
//
// Every table of the project is a flat array, and every reference into one is
// a 32-bit id whose type names the table. An engine can then never be passed
// where a loop is meant, and no string is a key in an inner loop.
//
//   using LoopId = Id<struct LoopTag>;
//   IdVector<LoopId, Loop> loops;      loops[LoopId(3)]
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_SUPPORT_ID_H
#define TALLY_SUPPORT_ID_H

#include <cassert>
#include <compare>
#include <cstdint>
#include <functional>
#include <vector>

namespace tally {

/// A dense index into one table. Default construction gives `none()`, which no
/// table holds.
template <typename Tag> struct Id {
  static constexpr uint32_t noneValue = UINT32_MAX;
  uint32_t value = noneValue;

  constexpr Id() = default;

  constexpr explicit Id(uint32_t index) : value(index) {}

  static constexpr Id none() { return Id(); }

  constexpr bool valid() const { return value != noneValue; }

  constexpr auto operator<=>(const Id &) const = default;
};

/// Half-open run of consecutive ids; the usual way to name "the children of".
template <typename IdT> struct IdRange {
  uint32_t first = 0;
  uint32_t count = 0;

  struct Iterator {
    uint32_t index;

    IdT operator*() const { return IdT(index); }

    Iterator &operator++() {
      ++index;
      return *this;
    }

    bool operator!=(const Iterator &other) const { return index != other.index; }
  };

  Iterator begin() const { return {first}; }

  Iterator end() const { return {first + count}; }

  uint32_t size() const { return count; }

  bool empty() const { return count == 0; }

  IdT operator[](uint32_t i) const {
    assert(i < count && "index inside the run");
    return IdT(first + i);
  }
};

/// A vector that only its own id type can index.
template <typename IdT, typename T> class IdVector {
public:
  IdVector() = default;

  explicit IdVector(size_t size, const T &value = T()) : items(size, value) {}

  typename std::vector<T>::reference operator[](IdT id) {
    assert(id.value < items.size() && "id of this table");
    return items[id.value];
  }

  typename std::vector<T>::const_reference operator[](IdT id) const {
    assert(id.value < items.size() && "id of this table");
    return items[id.value];
  }

  IdT push(T item) {
    items.push_back(std::move(item));
    return IdT(static_cast<uint32_t>(items.size() - 1));
  }

  size_t size() const { return items.size(); }

  bool empty() const { return items.empty(); }

  void reserve(size_t size) { items.reserve(size); }

  void assign(size_t size, const T &value) { items.assign(size, value); }

  void resize(size_t size, const T &value = T()) { items.resize(size, value); }

  IdRange<IdT> ids() const { return {0, static_cast<uint32_t>(items.size())}; }

  auto begin() { return items.begin(); }

  auto end() { return items.end(); }

  auto begin() const { return items.begin(); }

  auto end() const { return items.end(); }

  std::vector<T> &raw() { return items; }

  const std::vector<T> &raw() const { return items; }

private:
  std::vector<T> items;
};

} // namespace tally

template <typename Tag> struct std::hash<tally::Id<Tag>> {
  size_t operator()(tally::Id<Tag> id) const { return std::hash<uint32_t>()(id.value); }
};

#endif // TALLY_SUPPORT_ID_H
