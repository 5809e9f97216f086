//===- CriticalPath.h - What the end of the run was due to ----------------===//
//
// Every moment of the run that others may depend on is a node; its parent is the one moment that
// it had to wait for, and the edge between them has a kind, an operation and a span. Going from the
// last moment back to the start gives the critical path, whose spans add up to the total.
//
// Only nodes that lead to something still going on are kept. When the table is full, the others
// are dropped; and up to the node where all that is kept comes together, the path can no longer
// change, so it is summed up and forgotten. Ways that never come together (of engines that run side
// by side) are still long: unless a listener is told each piece, a node takes the sums of those
// before it that lead to nothing else. So the table grows with what goes on at once, not with the
// length of the run.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_SIM_CRITICALPATH_H
#define TALLY_LIB_SIM_CRITICALPATH_H

#include "tally/Sim/Simulate.h"

#include <functional>
#include <map>

namespace tally::sim {

using PathNode = uint32_t;
inline constexpr PathNode pathStart = 0; ///< the beginning of the run

class CriticalPath {
public:
  /// Is told each piece, in the order of time: the operation, the kind, from and to.
  using Teller = std::function<void(uint32_t, PathKind, Tick, Tick)>;

  explicit CriticalPath(size_t limit) : limit(limit) { nodes.push_back({}); }

  void setTeller(Teller teller) { tell = std::move(teller); }

  /// For `numOps` operations, numbered over all engines.
  void resize(size_t numOps) { totals.resize(numOps); }

  PathNode add(PathNode parent, PathKind kind, uint32_t op, Tick span) {
    nodes.push_back({parent, op, span, kind});
    return static_cast<PathNode>(nodes.size() - 1);
  }

  size_t size() const { return nodes.size(); }

  bool isFull() const { return nodes.size() >= limit; }

  /// Drops what none of these leads back to. They are renumbered.
  void collect(const std::vector<PathNode *> &roots);

  /// The spans on the way to `end`, by operation and kind.
  const std::vector<std::array<Tick, numPathKinds>> &finish(PathNode end);

private:
  struct Node {
    PathNode parent = pathStart;
    uint32_t op = 0;
    Tick span = 0;
    PathKind kind = PathKind::Control;
    uint32_t taken = none; ///< the sums of those between it and its parent
  };

  /// Spans by operation and kind.
  using Sums = std::map<std::pair<uint32_t, PathKind>, Tick>;

  static constexpr uint32_t none = UINT32_MAX;

  void sumUp(PathNode last);
  void keepOnly(PathNode base, const std::vector<bool> &isKept,
                const std::vector<PathNode *> &roots);
  void takeChains(const std::vector<PathNode *> &roots);
  void take(Node &node, Node &parent);
  PathNode meeting(const std::vector<bool> &isKept, const std::vector<bool> &isRoot) const;

  std::vector<Node> nodes;
  std::vector<Sums> sums;
  Teller tell;
  Tick told = 0; ///< up to here, the path is summed up and told
  size_t limit;
  std::vector<std::array<Tick, numPathKinds>> totals;
};

} // namespace tally::sim

#endif // TALLY_LIB_SIM_CRITICALPATH_H
