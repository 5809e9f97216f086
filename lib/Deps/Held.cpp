//===- Held.cpp - Do written dependences imply what accesses ask for? -----===//

#include "tally/Deps/Held.h"

#include "ChainSearch.h"
#include "Clocks.h"

#include <algorithm>

namespace tally {
namespace {

/// Dependences from both sources in one list, sorted as an extraction is.
struct Merged {
  struct Origin {
    bool isAsked = false;
    size_t index = 0; ///< into the dependences of the kernel, or those that are asked for
  };

  Extraction all;
  std::vector<Origin> origins;

  void add(const Dep &dep, const DistanceComponent *components, Origin origin);
  void sort();
};

void Merged::add(const Dep &dep, const DistanceComponent *components, Origin origin) {
  DerivedDep derived;
  derived.dep = dep;
  derived.dep.firstComponent = static_cast<uint32_t>(all.components.size());
  all.components.insert(all.components.end(), components, components + dep.numComponents);
  all.deps.push_back(derived);
  origins.push_back(origin);
}

void Merged::sort() {
  std::vector<size_t> order(all.deps.size());
  for (size_t i = 0; i < order.size(); ++i) {
    order[i] = i;
  }
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const Dep &x = all.deps[a].dep;
    const Dep &y = all.deps[b].dep;
    return std::tuple(x.consumer, x.producer) < std::tuple(y.consumer, y.producer);
  });
  std::vector<DerivedDep> deps;
  std::vector<Origin> sorted;
  for (size_t i : order) {
    deps.push_back(all.deps[i]);
    sorted.push_back(origins[i]);
  }
  all.deps = std::move(deps);
  origins = std::move(sorted);
}

bool isSame(const Dep &a, const DistanceComponent *ofA, const Dep &b,
            const DistanceComponent *ofB) {
  return a.producer == b.producer && a.consumer == b.consumer && a.form == b.form &&
         a.step == b.step && std::equal(ofA, ofA + a.numComponents, ofB, ofB + b.numComponents);
}

/// Dependences that are written, by consumer.
class WrittenDeps {
public:
  explicit WrittenDeps(const Kernel &kernel) : kernel(kernel), depsOf(kernel.instrs.size()) {
    for (DepId d : kernel.deps.ids()) {
      depsOf[kernel.deps[d].consumer].push_back(d);
    }
  }

  bool hold(const Dep &asked, const DistanceComponent *components) const {
    const std::vector<DepId> &all = depsOf[asked.consumer];
    return std::any_of(all.begin(), all.end(), [&](DepId d) {
      const Dep &dep = kernel.deps[d];
      return isSame(dep, kernel.componentsBegin(dep), asked, components);
    });
  }

private:
  const Kernel &kernel;
  IdVector<InstrId, std::vector<DepId>> depsOf;
};

/// What is asked for just as it is written needs no second place.
Merged mergedOf(const Kernel &kernel, const Extraction &asked) {
  Merged merged;
  WrittenDeps written(kernel);
  for (DepId d : kernel.deps.ids()) {
    merged.add(kernel.deps[d], kernel.componentsBegin(kernel.deps[d]), {false, d.value});
  }
  for (size_t i = 0; i < asked.deps.size(); ++i) {
    const Dep &dep = asked.deps[i].dep;
    const DistanceComponent *components = asked.components.data() + dep.firstComponent;
    if (!written.hold(dep, components)) {
      merged.add(dep, components, {true, i});
    }
  }
  merged.sort();
  return merged;
}

/// Shows as many as possible of those that are asked for to follow. What was shown may serve in a
/// later chain, so they are gone through until nothing changes; true for those that are left.
std::vector<bool> openOf(const Kernel &kernel, Extraction &all, std::vector<bool> isOpen) {
  markImpliedByClocks(kernel, all, isOpen);
  for (size_t d = 0; d < isOpen.size(); ++d) {
    isOpen[d] = isOpen[d] && !all.deps[d].isImplied();
  }
  Places places(kernel);
  WaitIndex index(kernel, all);
  Scratch scratch(kernel);
  ChainProblem problem{places, index, all, isOpen, scratch};
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t d = 0; d < isOpen.size(); ++d) {
      if (isOpen[d] && !findChain(problem, d).steps.empty()) {
        isOpen[d] = false;
        changed = true;
      }
    }
  }
  return isOpen;
}

} // namespace

Held holdDeps(const Kernel &kernel, const ExtractOptions &options, Extractor &extractor) {
  Held held{extractor.extract(kernel, options), {}};
  Merged merged = mergedOf(kernel, held.asked);
  std::vector<bool> isAsked;
  for (const Merged::Origin &origin : merged.origins) {
    isAsked.push_back(origin.isAsked);
  }
  std::vector<bool> isOpen = openOf(kernel, merged.all, isAsked);
  for (size_t d = 0; d < isOpen.size(); ++d) {
    if (isOpen[d]) {
      held.open.push_back(merged.origins[d].index);
    }
  }
  std::sort(held.open.begin(), held.open.end());
  return held;
}

Kernel withOpenDeps(const Kernel &kernel, const Held &held) {
  Kernel result = kernel;
  for (size_t d : held.open) {
    Dep dep = held.asked.deps[d].dep;
    const DistanceComponent *components = held.asked.components.data() + dep.firstComponent;
    dep.firstComponent = static_cast<uint32_t>(result.components.size());
    result.components.insert(result.components.end(), components, components + dep.numComponents);
    result.deps.push(dep);
  }
  return result;
}

} // namespace tally
