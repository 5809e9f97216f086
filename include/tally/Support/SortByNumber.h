//===- SortByNumber.h - Sorting by a small number, in linear time ---------===//
//
// What is made in another order than it is read (found place by place, wanted consumer by
// consumer) is sorted by a dense id: one pass counts, one pass moves.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_SUPPORT_SORTBYNUMBER_H
#define TALLY_SUPPORT_SORTBYNUMBER_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace tally {

/// Sorts by `numberOf(item)`, which is below `numNumbers`, and those of one number by `isBefore`:
/// fast where they are few, or in order.
template <typename Item, typename NumberOf, typename IsBefore>
void sortByNumber(std::vector<Item> &items, size_t numNumbers, const NumberOf &numberOf,
                  const IsBefore &isBefore) {
  auto isInOrder = [&](const Item &a, const Item &b) {
    return numberOf(a) != numberOf(b) ? numberOf(a) < numberOf(b) : isBefore(a, b);
  };
  if (std::is_sorted(items.begin(), items.end(), isInOrder)) {
    return;
  }
  std::vector<size_t> ends(numNumbers + 1, 0);
  for (const Item &item : items) {
    ++ends[numberOf(item) + 1];
  }
  std::partial_sum(ends.begin(), ends.end(), ends.begin());
  std::vector<Item> sorted(items.size());
  for (const Item &item : items) {
    sorted[ends[numberOf(item)]++] = item; // from where its number begins to where it ends
  }
  items = std::move(sorted);
  for (size_t number = 0, first = 0; number < numNumbers; first = ends[number++]) {
    auto begin = items.begin() + static_cast<std::ptrdiff_t>(first);
    auto end = items.begin() + static_cast<std::ptrdiff_t>(ends[number]);
    if (!std::is_sorted(begin, end, isBefore)) {
      std::sort(begin, end, isBefore);
    }
  }
}

} // namespace tally

#endif // TALLY_SUPPORT_SORTBYNUMBER_H
