//===- Held.cpp - Do written dependences imply what accesses ask for? -----===//

#include "tally/Deps/Held.h"

#include "Following.h"

#include <algorithm>

namespace tally {

using namespace deps;

namespace {

/// A dependence that is written, or one that is asked for.
struct Entry {
  const Dep *dep;
  std::span<const DistanceComponent> components;
  bool isAsked = false;
  size_t index = 0; ///< of those that are asked for
};

/// One that is written, and one that is asked for.
bool isSame(const Kernel &kernel, const Dep &a, const Extraction &asked, const Dep &b) {
  bool isSameTable = a.table.valid() == b.table.valid() &&
                     (!a.table.valid() || kernel.tables[a.table] == asked.tables[b.table]);
  return a.producer == b.producer && a.form == b.form && a.step == b.step && isSameTable &&
         std::ranges::equal(kernel.componentsOf(a), asked.componentsOf(b));
}

/// Of both sources, sorted as an extraction is. What is asked for just as it is written needs no
/// second place.
std::vector<Entry> entriesOf(const Kernel &kernel, const Extraction &asked) {
  std::vector<Entry> entries;
  IdVector<InstrId, std::vector<DepId>> writtenFor(kernel.instrs.size());
  for (DepId d : kernel.deps.ids()) {
    writtenFor[kernel.deps[d].consumer].push_back(d);
    entries.push_back({&kernel.deps[d], kernel.componentsOf(kernel.deps[d])});
  }
  for (size_t i = 0; i < asked.deps.size(); ++i) {
    const Dep &dep = asked.deps[i].dep;
    bool isWritten = std::ranges::any_of(writtenFor[dep.consumer], [&](DepId d) {
      return isSame(kernel, kernel.deps[d], asked, dep) ||
             isSame(kernel, kernel.deps[d], asked, asked.deps[i].asNeeded());
    });
    if (!isWritten) {
      entries.push_back({&dep, asked.componentsOf(dep), true, i});
    }
  }
  std::ranges::stable_sort(entries, {}, [](const Entry &entry) {
    return std::pair(entry.dep->consumer, entry.dep->producer);
  });
  return entries;
}

void append(std::vector<DistanceComponent> &all, Dep &dep,
            std::span<const DistanceComponent> components) {
  dep.firstComponent = static_cast<uint32_t>(all.size());
  all.insert(all.end(), components.begin(), components.end());
}

RunTableId take(Extraction &all, const IdVector<RunTableId, RunTable> &tables, RunTableId id) {
  return id.valid() ? all.tables.push(tables[id]) : id;
}

} // namespace

Held holdDeps(const Kernel &kernel, const ExtractOptions &options, Extractor &extractor) {
  Held held{extractor.extract(kernel, options), {}};
  std::vector<Entry> entries = entriesOf(kernel, held.asked);
  Extraction all;
  std::vector<bool> isOpen;
  for (const Entry &entry : entries) {
    DerivedDep &derived = all.deps.emplace_back();
    derived.dep = *entry.dep;
    append(all.components, derived.dep, entry.components);
    if (entry.isAsked) {
      const DerivedDep &asked = held.asked.deps[entry.index];
      derived.from = asked.from;
      derived.fromRun = asked.fromRun;
      derived.isTableAlone = asked.isTableAlone;
      derived.table = take(all, held.asked.tables, asked.table);
    }
    const auto &tables = entry.isAsked ? held.asked.tables : kernel.tables;
    derived.dep.table = take(all, tables, derived.dep.table);
    isOpen.push_back(entry.isAsked);
  }
  isOpen = markFollowing(kernel, all, isOpen);
  for (size_t d = 0; d < isOpen.size(); ++d) {
    if (isOpen[d]) {
      held.open.push_back(entries[d].index);
    }
  }
  std::ranges::sort(held.open);
  return held;
}

Kernel withOpenDeps(const Kernel &kernel, const Held &held) {
  Kernel result = kernel;
  for (size_t d : held.open) {
    Dep dep = held.asked.deps[d].dep;
    append(result.components, dep, held.asked.componentsOf(dep));
    result.deps.push(dep);
  }
  return result;
}

} // namespace tally
