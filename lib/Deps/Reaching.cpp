//===- Reaching.cpp - Which accesses of one place reach which -------------===//

#include "Reaching.h"

#include <algorithm>
#include <map>
#include <memory>

namespace tally::deps {
namespace {

/// What may be the last to have touched the place; if that was in phase p, perhaps only of those
/// who come in other phases.
struct Left {
  struct Touch {
    const PlaceUse *use;
    uint32_t when;
  };

  std::vector<Touch> writers;
  std::vector<Touch> readers;
  bool hides = false; ///< all that was there before
  /// If not: phases, and when last a loop has written over all that one of that phase touches.
  std::map<int64_t, uint32_t> hidden;
  uint32_t now = 0;

  bool isHidden(const Touch &touch, const PlaceUse &consumer) const {
    return hiddenSince(*touch.use, touch.when) || hiddenSince(consumer, touch.when);
  }

  /// Whether what `use` touches has been written over after a time.
  bool hiddenSince(const PlaceUse &use, uint32_t when) const {
    if (hidden.empty() || use.isGuest) {
      return false;
    }
    auto found = hidden.find(use.phase);
    return found != hidden.end() && found->second > when;
  }

  void hide(int64_t phase) { hidden[phase] = ++now; }

  /// What comes after all that is here.
  void add(const Left &other) {
    if (other.hides) {
      *this = other;
      return;
    }
    for (const auto &[phase, when] : other.hidden) {
      hidden[phase] = now + when;
    }
    forget();
    for (const Touch &touch : other.writers) {
      writers.push_back({touch.use, now + touch.when});
    }
    for (const Touch &touch : other.readers) {
      readers.push_back({touch.use, now + touch.when});
    }
    now += other.now;
  }

  /// As add(), but nobody knows what in `other` came after what.
  void addUnordered(const Left &other) {
    for (const Touch &touch : other.writers) {
      writers.push_back({touch.use, now});
    }
    for (const Touch &touch : other.readers) {
      readers.push_back({touch.use, now});
    }
  }

private:
  /// All of whose place has been written over.
  void forget() {
    auto isOver = [&](const Touch &touch) { return hiddenSince(*touch.use, touch.when); };
    if (!hidden.empty()) {
      std::erase_if(writers, isOver);
      std::erase_if(readers, isOver);
    }
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
  bool isSure;              ///< all runs that get here have passed it
  bool isElsewhere = false; ///< the place was another one there
};

class Place {
public:
  Place(const Kernel &kernel, const LoopsAlike &alike, PlaceRing ring,
        const std::function<void(const PlaceUse &, const PlaceUse &)> &visit)
      : kernel(kernel), alike(alike), ring(ring), visit(visit) {}

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
      isInRing |= isRing(l);
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
                                                    : phaseOf(item, isRing(loop) ? phase : 0);
    if (!found) {
      found = std::make_unique<Body>();
      found->loop = loop;
      found->phase = isRing(loop) ? phase : 0;
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
    if (moves(body)) {
      body.leaves.hides = false;
      std::erase_if(body.leaves.writers,
                    [](const Left::Touch &touch) { return touch.use->isGuest; });
      std::erase_if(body.leaves.readers,
                    [](const Left::Touch &touch) { return touch.use->isGuest; });
      addGuests(body.leaves, body);
    }
  }

  /// Whether the place is any other one in the next run of a body.
  bool moves(const Body &body) const { return ring.moves.valid() && body.loop == ring.moves; }

  /// All in a body: what was written over in one iteration may be where guests have not been.
  static void addGuests(Left &left, const Body &body) {
    for (const Body::Item &item : body.items) {
      for (const PlaceUse &use : item.uses) {
        if (use.isGuest) {
          (use.writes ? left.writers : left.readers).push_back({&use, left.now});
        }
      }
      for (const std::unique_ptr<Body> &phase : item.phases) {
        addGuests(left, *phase);
      }
      for (const std::unique_ptr<Body> &branch : item.branches) {
        if (branch) {
          addGuests(left, *branch);
        }
      }
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
      auto isOfOther = [&](const Left::Touch &touch) { return touch.use->instr != uses[0].instr; };
      std::erase_if(left.writers, isOfOther);
      std::erase_if(left.readers, isOfOther);
      left.hides = true;
      last.clear();
    }
    for (const PlaceUse &use : uses) {
      if (use.writes) {
        left.writers.push_back({&use, left.now});
      } else if (isOwn) {
        addRead(left, last, use);
      } else {
        left.readers.push_back({&use, left.now});
      }
    }
  }

  void addRead(Left &left, LastReads &last, const PlaceUse &use) {
    QueueId queue = kernel.instrs[use.instr].queue;
    auto known = std::find_if(last.begin(), last.end(),
                              [&](const auto &entry) { return entry.first == queue; });
    if (known == last.end()) {
      last.emplace_back(queue, left.readers.size());
      left.readers.push_back({&use, left.now});
    } else {
      left.readers[known->second] = {&use, left.now};
    }
  }

  /// A loop or an `if`.
  void pass(Left &left, LastReads &last, const Body::Item &item) const {
    Left leaves = !item.phases.empty() ? leavesOfLoop(item) : leavesOfBranches(item);
    if (leaves.hides || !leaves.hidden.empty()) {
      last.clear();
    }
    left.add(leaves);
  }

  /// A loop whose iterations are the phases has no iteration exactly if none of those like it has.
  Left leavesOfLoop(const Body::Item &item) const {
    if (!isRing(item.loop)) {
      if (isSure(item.loop)) {
        return item.phases[0]->leaves;
      }
      Left leaves;
      leaves.addUnordered(item.phases[0]->leaves);
      return leaves;
    }
    Left leaves;
    bool isOneAfterAnother = ring.length == 0;
    for (const std::unique_ptr<Body> &phase : item.phases) {
      if (phase->leaves.hides) {
        leaves.hide(phase->phase / 2);
      }
      if (isOneAfterAnother) {
        leaves.addUnordered(phase->leaves);
      }
    }
    if (!isOneAfterAnother) {
      for (const std::unique_ptr<Body> &phase : item.phases) {
        leaves.addUnordered(phase->leaves);
      }
    }
    // Each place of a ring that the loop goes all around has been written.
    leaves.hides = !isOneAfterAnother && !leaves.hidden.empty() &&
                   leastTrips(item.loop) >= static_cast<uint64_t>(ring.length);
    return leaves;
  }

  static Left leavesOfBranches(const Body::Item &item) {
    Left leaves;
    const std::unique_ptr<Body> *branches = item.branches;
    if (branches[0] && branches[1]) {
      leaves.hides = branches[0]->leaves.hides && branches[1]->leaves.hides;
      for (const auto &[phase, when] : branches[0]->leaves.hidden) {
        if (branches[1]->leaves.hidden.contains(phase)) {
          leaves.hide(phase);
        }
      }
    }
    for (const std::unique_ptr<Body> &branch : item.branches) {
      if (branch) {
        leaves.addUnordered(branch->leaves);
      }
    }
    return leaves;
  }

  bool isRing(LoopId loop) const { return ring.loop.valid() && alike[loop] == ring.loop; }

  bool isSure(LoopId loop) const { return leastTrips(loop) >= 1; }

  uint64_t leastTrips(LoopId loop) const {
    const Trip &trip = kernel.loops[loop].trip;
    return trip.kind == Trip::Kind::Guard ? 0 : trip.least();
  }

  //===--- What is found --------------------------------------------------===//

  void walk(const Body &body, const Layer *before) {
    Left left;
    LastReads last;
    for (const Body::Item &item : body.items) {
      Layer here{left, before, true};
      if (!item.uses.empty()) {
        meet(here, item.uses);
        touch(left, last, item.uses);
        continue;
      }
      for (const std::unique_ptr<Body> &branch : item.branches) {
        if (branch) {
          Layer elsewhere{nothing, &here, false, true};
          walk(*branch, moves(*branch) ? &elsewhere : &here);
        }
      }
      walkLoop(item, here);
      pass(left, last, item);
    }
  }

  /// Earlier iterations, nearest first, up to one that hides those before it.
  void walkLoop(const Body::Item &item, const Layer &before) {
    size_t numPhases = item.phases.size();
    for (size_t n = 0; n < numPhases; ++n) {
      Left earlier;
      if (!isRing(item.loop)) {
        earlier = item.phases[n]->leaves;
      } else {
        size_t reach = ring.length == 0 ? n : numPhases;
        for (size_t back = 1; back <= reach && !earlier.hides; ++back) {
          const Left &leaves = item.phases[(n + numPhases - back) % numPhases]->leaves;
          earlier.addUnordered(leaves);
          earlier.hides = leaves.hides;
        }
      }
      // The first iterations see what was before the loop.
      Layer around{earlier, &before, false, moves(*item.phases[n])};
      walk(*item.phases[n], &around);
    }
  }

  void meet(const Layer &nearest, std::span<const PlaceUse> uses) {
    Left passed; // what is nearer than a layer, and has surely been passed
    for (const Layer *layer = &nearest; layer; layer = layer->below) {
      if (layer->isElsewhere && uses[0].isGuest) {
        passed = {};
      }
      if (passed.hides && !(uses[0].isGuest && ring.moves.valid())) {
        return;
      }
      if (passed.hides) {
        continue;
      }
      for (const PlaceUse &use : uses) {
        visitAll(layer->left, layer->left.writers, passed, use);
        if (use.writes) {
          visitAll(layer->left, layer->left.readers, passed, use);
        }
      }
      if (layer->isSure) {
        passed.hides = layer->left.hides;
        for (const auto &[phase, when] : layer->left.hidden) {
          passed.hide(phase);
        }
      }
    }
  }

  void visitAll(const Left &left, const std::vector<Left::Touch> &producers, const Left &passed,
                const PlaceUse &consumer) {
    if (passed.hiddenSince(consumer, 0)) {
      return;
    }
    for (const Left::Touch &producer : producers) {
      if ((!producer.use->isGuest || !consumer.isGuest) && !passed.hiddenSince(*producer.use, 0) &&
          !left.isHidden(producer, consumer)) {
        visit(*producer.use, consumer);
      }
    }
  }

  const Kernel &kernel;
  const LoopsAlike &alike;
  PlaceRing ring;
  std::vector<int64_t> phases;
  const Left nothing;
  const std::function<void(const PlaceUse &, const PlaceUse &)> &visit;
};

} // namespace

void forReaching(const Kernel &kernel, const LoopsAlike &alike, PlaceRing ring,
                 std::span<const PlaceUse> uses,
                 const std::function<void(const PlaceUse &, const PlaceUse &)> &visit) {
  Place(kernel, alike, ring, visit).run(uses);
}

} // namespace tally::deps
