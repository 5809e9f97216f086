//===- CriticalPath.cpp - What the end of the run was due to --------------===//

#include "CriticalPath.h"

#include <algorithm>
#include <numeric>

namespace tally {

Tick PathShare::sum() const {
  return std::accumulate(spans.begin(), spans.end(), Tick(0));
}

namespace sim {

/// The way from the start to a node is then a part of `totals`, and told.
void CriticalPath::sumUp(PathNode last) {
  std::vector<PathNode> way;
  for (PathNode node = last; node != pathStart; node = nodes[node].parent) {
    way.push_back(node);
  }
  for (auto at = way.rbegin(); at != way.rend(); ++at) {
    const Node &node = nodes[*at];
    if (node.taken != none) {
      for (const auto &[key, span] : sums[node.taken]) {
        totals[key.first][static_cast<size_t>(key.second)] += span;
        told += span;
      }
    }
    totals[node.op][static_cast<size_t>(node.kind)] += node.span;
    if (tell && node.span > 0) {
      tell(node.op, node.kind, told, told + node.span);
    }
    told += node.span;
  }
}

/// The last node that the ways from all roots lead through, roots included. Parents have lower
/// numbers than their children, so going down, the ways that are still apart are counted.
PathNode CriticalPath::meeting(const std::vector<bool> &isKept,
                               const std::vector<bool> &isRoot) const {
  std::vector<bool> isOpen(nodes.size(), false);
  size_t numOpen = 0;
  size_t rootsLeft = static_cast<size_t>(std::count(isRoot.begin(), isRoot.end(), true));
  auto open = [&](PathNode node) {
    numOpen += !isOpen[node];
    isOpen[node] = true;
  };
  for (PathNode node = static_cast<PathNode>(nodes.size()); --node > pathStart;) {
    if (!isKept[node]) {
      continue;
    }
    if (isRoot[node]) {
      open(node);
      --rootsLeft;
    }
    if (numOpen == 1 && rootsLeft == 0) {
      return node;
    }
    --numOpen;
    open(nodes[node].parent);
  }
  return pathStart;
}

void CriticalPath::collect(const std::vector<PathNode *> &roots) {
  std::vector<bool> isRoot(nodes.size(), false);
  for (PathNode *root : roots) {
    isRoot[*root] = true;
  }
  std::vector<bool> isKept = isRoot;
  for (PathNode node = static_cast<PathNode>(nodes.size()); --node > pathStart;) {
    if (isKept[node]) {
      isKept[nodes[node].parent] = true;
    }
  }
  PathNode base = meeting(isKept, isRoot);
  sumUp(base);
  keepOnly(base, isKept, roots);
  if (!tell && nodes.size() * 4 > limit) {
    takeChains(roots);
  }
  limit = std::max(limit, nodes.size() * 4);
}

/// Of what follows `base`. The sums of nodes that are dropped stay until chains are taken again.
void CriticalPath::keepOnly(PathNode base, const std::vector<bool> &isKept,
                            const std::vector<PathNode *> &roots) {
  std::vector<PathNode> newNumber(nodes.size(), pathStart);
  PathNode next = 1;
  for (PathNode node = base + 1; node < nodes.size(); ++node) {
    if (isKept[node]) {
      nodes[next] = nodes[node];
      nodes[next].parent = newNumber[nodes[next].parent];
      newNumber[node] = next++;
    }
  }
  nodes.resize(next);
  for (PathNode *root : roots) {
    *root = newNumber[*root];
  }
}

/// Each node takes its parent, and what that has taken, if it is the only one that the parent leads
/// to.
void CriticalPath::takeChains(const std::vector<PathNode *> &roots) {
  std::vector<uint32_t> numUses(nodes.size(), 0);
  for (PathNode node = pathStart + 1; node < nodes.size(); ++node) {
    ++numUses[nodes[node].parent];
  }
  for (PathNode *root : roots) {
    numUses[*root] += 2; // stays, however many nodes it leads to
  }
  std::vector<bool> isKept(nodes.size(), true);
  for (PathNode node = pathStart + 1; node < nodes.size(); ++node) { // parents first
    const PathNode parent = nodes[node].parent;
    if (parent != pathStart && numUses[parent] == 1) {
      take(nodes[node], nodes[parent]);
      isKept[parent] = false;
    }
  }
  keepOnly(pathStart, isKept, roots);
  std::vector<Sums> kept;
  for (Node &node : nodes) {
    if (node.taken != none) {
      kept.push_back(std::move(sums[node.taken]));
      node.taken = static_cast<uint32_t>(kept.size() - 1);
    }
  }
  sums = std::move(kept);
}

void CriticalPath::take(Node &node, Node &parent) {
  if (parent.taken == none) {
    parent.taken = static_cast<uint32_t>(sums.size());
    sums.emplace_back();
  }
  Sums &all = sums[parent.taken];
  all[{parent.op, parent.kind}] += parent.span;
  if (node.taken != none) {
    for (const auto &[key, span] : sums[node.taken]) {
      all[key] += span;
    }
  }
  node.taken = parent.taken;
  node.parent = parent.parent;
}

const std::vector<std::array<Tick, numPathKinds>> &CriticalPath::finish(PathNode end) {
  sumUp(end);
  return totals;
}

} // namespace sim
} // namespace tally
