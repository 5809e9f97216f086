//===- Reaching.cpp - Which accesses of one place reach which -------------===//

#include "Reaching.h"

#include <algorithm>
#include <map>
#include <memory>

namespace tally::deps {
namespace {

/// What may be the last to have touched the place.
struct Left {
  std::vector<const PlaceUse *> writers;
  std::vector<const PlaceUse *> readers;
  bool hides = false; ///< all that was there before

  void add(const Left &other) {
    if (other.hides) {
      *this = other;
      return;
    }
    writers.insert(writers.end(), other.writers.begin(), other.writers.end());
    readers.insert(readers.end(), other.readers.begin(), other.readers.end());
  }
};

/// The statements of a body that touch the place.
struct Body {
  struct Item {
    std::span<const PlaceUse> uses;            ///< of one instruction; none: a loop or an `if`
    LoopId loop;                               ///< of an `if`, its then-branch
    std::vector<std::unique_ptr<Body>> phases; ///< a loop: one, or one for each phase, in order
    std::unique_ptr<Body> branches[2];
  };

  LoopId loop;
  int64_t phase = 0;
  std::vector<Item> items;
  Left leaves;
};

/// What reaches a point, nearest first, in layers.
struct Layer {
  const Left &left;
  const Layer *below;
  bool hides;
};

class Place {
public:
  Place(const Kernel &kernel, PlaceRing ring,
        const std::function<void(const PlaceUse &, const PlaceUse &)> &visit)
      : kernel(kernel), ring(ring), visit(visit) {}

  void run(std::span<const PlaceUse> uses) {
    findPhases(uses);
    Body root;
    root.loop = rootLoop;
    for (size_t first = 0; first < uses.size();) {
      size_t end = first + 1;
      while (end < uses.size() && areTogether(uses[first], uses[end])) {
        ++end;
      }
      add(root, uses.subspan(first, end - first));
      first = end;
    }
    sumUp(root);
    walk(root, nullptr);
  }

private:
  //===--- The tree -------------------------------------------------------===//

  static bool areTogether(const PlaceUse &a, const PlaceUse &b) {
    return a.instr == b.instr && a.isGuest == b.isGuest && a.phase == b.phase;
  }

  /// Those of the uses, doubled; and, in between, those of the iterations in which only guests may
  /// touch the place.
  void findPhases(std::span<const PlaceUse> uses) {
    std::vector<int64_t> own;
    for (const PlaceUse &use : uses) {
      if (!use.isGuest) {
        own.push_back(use.phase);
      }
    }
    std::sort(own.begin(), own.end());
    own.erase(std::unique(own.begin(), own.end()), own.end());
    if (ring.length == 0) {
      phases.push_back(2 * own.front() - 1);
    }
    for (size_t i = 0; i < own.size(); ++i) {
      phases.push_back(2 * own[i]);
      bool isLast = i + 1 == own.size();
      bool goesOn = isLast ? ring.length != 0 && own[0] + ring.length == own[i] + 1
                           : own[i + 1] == own[i] + 1;
      if (!goesOn) {
        phases.push_back(2 * own[i] + 1);
      }
    }
  }

  void add(Body &root, std::span<const PlaceUse> uses) {
    std::vector<LoopId> path;
    bool isInRing = false;
    for (LoopId l = kernel.instrs[uses[0].instr].home; l != rootLoop; l = kernel.loops[l].parent) {
      path.push_back(l);
      isInRing |= l == ring.loop;
    }
    if (!uses[0].isGuest || !isInRing) {
      bodyFor(root, path, 2 * uses[0].phase).items.push_back({uses, {}, {}, {}});
      return;
    }
    for (int64_t phase : phases) {
      bodyFor(root, path, phase).items.push_back({uses, {}, {}, {}});
    }
  }

  /// The body of the tree at the end of a path, outermost last.
  Body &bodyFor(Body &root, const std::vector<LoopId> &path, int64_t phase) {
    Body *body = &root;
    for (size_t i = path.size(); i-- > 0;) {
      body = &inside(*body, path[i], phase);
    }
    return *body;
  }

  Body &inside(Body &body, LoopId loop, int64_t phase) {
    const Loop &inner = kernel.loops[loop];
    LoopId name = inner.kind == LoopKind::Else ? inner.otherBranch : loop;
    if (body.items.empty() || body.items.back().loop != name) {
      body.items.emplace_back().loop = name;
    }
    Body::Item &item = body.items.back();
    std::unique_ptr<Body> &found = inner.isBranch() ? item.branches[inner.kind == LoopKind::Else]
                                                    : phaseOf(item, loop == ring.loop ? phase : 0);
    if (!found) {
      found = std::make_unique<Body>();
      found->loop = loop;
      found->phase = loop == ring.loop ? phase : 0;
    }
    return *found;
  }

  std::unique_ptr<Body> &phaseOf(Body::Item &item, int64_t phase) {
    auto at = std::lower_bound(
        item.phases.begin(), item.phases.end(), phase,
        [](const std::unique_ptr<Body> &body, int64_t asked) { return body->phase < asked; });
    return at != item.phases.end() && (*at)->phase == phase ? *at
                                                            : *item.phases.insert(at, nullptr);
  }

  //===--- Sums -----------------------------------------------------------===//

  void sumUp(Body &body) {
    LastReads last;
    for (Body::Item &item : body.items) {
      if (!item.uses.empty()) {
        touch(body.leaves, last, item.uses);
        continue;
      }
      for (const std::unique_ptr<Body> &phase : item.phases) {
        sumUp(*phase);
      }
      for (const std::unique_ptr<Body> &branch : item.branches) {
        if (branch) {
          sumUp(*branch);
        }
      }
      pass(body.leaves, last, item);
    }
  }

  /// The last read of each queue among those directly in a body, by its place among the readers.
  using LastReads = std::vector<std::pair<QueueId, size_t>>;

  /// Accesses of one instruction. Each of them matters, whatever the others write over: two
  /// instructions that add on one queue need no wait, but for what else the first reads and writes.
  void touch(Left &left, LastReads &last, std::span<const PlaceUse> uses) {
    bool isOwn = !uses[0].isGuest;
    if (isOwn &&
        std::any_of(uses.begin(), uses.end(), [](const PlaceUse &use) { return use.writes; })) {
      auto isOfOther = [&](const PlaceUse *use) { return use->instr != uses[0].instr; };
      std::erase_if(left.writers, isOfOther);
      std::erase_if(left.readers, isOfOther);
      left.hides = true;
      last.clear();
    }
    for (const PlaceUse &use : uses) {
      if (use.writes) {
        left.writers.push_back(&use);
      } else if (isOwn) {
        addRead(left, last, use);
      } else {
        left.readers.push_back(&use);
      }
    }
  }

  void addRead(Left &left, LastReads &last, const PlaceUse &use) {
    QueueId queue = kernel.instrs[use.instr].queue;
    auto known = std::find_if(last.begin(), last.end(),
                              [&](const auto &entry) { return entry.first == queue; });
    if (known == last.end()) {
      last.emplace_back(queue, left.readers.size());
      left.readers.push_back(&use);
    } else {
      left.readers[known->second] = &use;
    }
  }

  /// A loop or an `if`.
  void pass(Left &left, LastReads &last, const Body::Item &item) const {
    Left leaves;
    for (const std::unique_ptr<Body> &phase : item.phases) {
      leaves.writers.insert(leaves.writers.end(), phase->leaves.writers.begin(),
                            phase->leaves.writers.end());
      leaves.readers.insert(leaves.readers.end(), phase->leaves.readers.begin(),
                            phase->leaves.readers.end());
    }
    leaves.hides = item.phases.size() == 1 && item.phases[0]->leaves.hides && isSure(item.loop) &&
                   (item.loop != ring.loop || ring.length == 1);
    for (const std::unique_ptr<Body> &branch : item.branches) {
      if (branch) {
        leaves.writers.insert(leaves.writers.end(), branch->leaves.writers.begin(),
                              branch->leaves.writers.end());
        leaves.readers.insert(leaves.readers.end(), branch->leaves.readers.begin(),
                              branch->leaves.readers.end());
      }
    }
    if (item.branches[0] && item.branches[1]) {
      leaves.hides = item.branches[0]->leaves.hides && item.branches[1]->leaves.hides;
    }
    if (leaves.hides) {
      last.clear();
    }
    left.add(leaves);
  }

  bool isSure(LoopId loop) const {
    const Trip &trip = kernel.loops[loop].trip;
    return trip.kind != Trip::Kind::Guard ? trip.least() >= 1 : false;
  }

  //===--- What is found --------------------------------------------------===//

  void walk(const Body &body, const Layer *before) {
    Left left;
    LastReads last;
    for (const Body::Item &item : body.items) {
      Layer here{left, before, left.hides};
      if (!item.uses.empty()) {
        meet(here, item.uses);
        touch(left, last, item.uses);
        continue;
      }
      for (const std::unique_ptr<Body> &branch : item.branches) {
        if (branch) {
          walk(*branch, &here);
        }
      }
      walkLoop(item, here);
      pass(left, last, item);
    }
  }

  /// Earlier iterations, nearest first, up to one that hides those before it.
  void walkLoop(const Body::Item &item, const Layer &before) {
    size_t numPhases = item.phases.size();
    bool isRing = item.loop == ring.loop;
    for (size_t n = 0; n < numPhases; ++n) {
      Left earlier;
      size_t reach = isRing && ring.length == 0 ? n : numPhases;
      for (size_t back = 1; back <= reach && !earlier.hides; ++back) {
        const Left &leaves = item.phases[(n + numPhases - back) % numPhases]->leaves;
        earlier.writers.insert(earlier.writers.end(), leaves.writers.begin(), leaves.writers.end());
        earlier.readers.insert(earlier.readers.end(), leaves.readers.begin(), leaves.readers.end());
        earlier.hides = leaves.hides;
      }
      Layer around{earlier, &before, false}; // the first iterations see what was before the loop
      walk(*item.phases[n], &around);
    }
  }

  void meet(const Layer &nearest, std::span<const PlaceUse> uses) {
    for (const PlaceUse &use : uses) {
      for (const Layer *layer = &nearest; layer; layer = layer->hides ? nullptr : layer->below) {
        visitAll(layer->left.writers, use);
        if (use.writes) {
          visitAll(layer->left.readers, use);
        }
      }
    }
  }

  void visitAll(const std::vector<const PlaceUse *> &producers, const PlaceUse &consumer) {
    for (const PlaceUse *producer : producers) {
      if (!producer->isGuest || !consumer.isGuest) {
        visit(*producer, consumer);
      }
    }
  }

  const Kernel &kernel;
  PlaceRing ring;
  std::vector<int64_t> phases;
  const std::function<void(const PlaceUse &, const PlaceUse &)> &visit;
};

} // namespace

void forReaching(const Kernel &kernel, PlaceRing ring, std::span<const PlaceUse> uses,
                 const std::function<void(const PlaceUse &, const PlaceUse &)> &visit) {
  Place(kernel, ring, visit).run(uses);
}

} // namespace tally::deps
