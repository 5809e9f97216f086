//===- NameTable.h - From names to ids, without string keys ---------------===//
#ifndef TALLY_WRITTEN_NAMETABLE_H
#define TALLY_WRITTEN_NAMETABLE_H

#include "tally/Model/Kernel.h"
#include "tally/Support/Names.h"

#include <algorithm>

namespace tally::written {

/// What the names of one kind stand for, dense by NameId: one hash lookup in the pool of the
/// kernel finds it. The first of several equal names stays.
template <typename IdT> class NameTable {
public:
  explicit NameTable(const StringPool &pool) : pool(pool) {}

  void add(NameId name, IdT id) {
    if (name.value >= ids.size()) {
      ids.resize(std::max<size_t>(pool.size(), name.value + 1));
    }
    if (!ids[name.value].valid()) {
      ids[name.value] = id;
    }
  }

  IdT find(std::string_view name) const {
    NameId id = pool.find(name);
    return id.valid() && id.value < ids.size() ? ids[id.value] : IdT();
  }

private:
  const StringPool &pool;
  std::vector<IdT> ids;
};

/// The names that one could have meant. Beyond a few they only serve to find the nearest,
/// which is not done forever: see unknownName().
template <typename Table>
std::vector<std::string_view> allowedNames(const Kernel &kernel, const Table &table,
                                           uint32_t effort) {
  constexpr size_t fewNames = 16;
  std::vector<std::string_view> allowed;
  if (effort == 0 && table.size() > fewNames) {
    return allowed;
  }
  for (const auto &entry : table) {
    if (std::string_view text = kernel.text(entry.name); !text.empty()) {
      allowed.push_back(text); // the root loop has no name
    }
  }
  return allowed;
}

} // namespace tally::written

#endif // TALLY_WRITTEN_NAMETABLE_H
