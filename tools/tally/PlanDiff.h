//===- PlanDiff.h - How two plans differ, dependence by dependence --------===//
//
// Dependences belong together if they read the same: producer, consumer and distance by name. So
// two versions of a kernel can be compared, or one kernel under two strategies.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_TOOLS_TALLY_PLANDIFF_H
#define TALLY_TOOLS_TALLY_PLANDIFF_H

#include "Output.h"

#include "tally/Compile/Compile.h"

namespace tally::tool {

/// A kernel with what was made of it.
struct Planned {
  const Kernel &kernel;
  const Compiled &compiled;
};

class PlanDiff {
public:
  PlanDiff(const Planned &first, const Planned &second, const Machine &machine);

  std::string text() const;
  Json json() const;

private:
  /// How one dependence is waited for.
  struct Waited {
    std::string waitClass;
    bool exact = true;
    std::string semaphore; ///< who raises it, in words; empty: no wait
    std::string threshold;
    uint32_t operations = 0;

    bool operator==(const Waited &) const = default;
  };

  /// One dependence in both plans, as far as it is there.
  struct Pair {
    std::string dependence;
    std::optional<Waited> first, second;
  };

  /// What one engine, or all, need in both.
  struct Need {
    std::string what;
    size_t first = 0;
    size_t second = 0;
  };

  static Waited waited(const Planned &planned, const Machine &machine, DepId dep);
  static std::string line(char sign, const Waited &waited);
  static Json json(const std::optional<Waited> &waited);
  std::string heading() const;
  void pairUp(const Machine &machine);
  void findNeeds();

  const Planned first, second;
  std::vector<Pair> pairs; ///< in the order of the first plan, then those only in the second
  Need semaphores{"semaphores"};
  std::vector<Need> registers; ///< by engine, as `pairs`
};

} // namespace tally::tool

#endif // TALLY_TOOLS_TALLY_PLANDIFF_H
