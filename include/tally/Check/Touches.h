//===- Touches.h - Whether runs do anything that is compared --------------===//
//
// A yes is about what was compared: runs of consumers with what their dependences owe them, and
// tiles that are touched with others that conflict. A run may have neither.
//
//===----------------------------------------------------------------------===//
#ifndef TALLY_CHECK_TOUCHES_H
#define TALLY_CHECK_TOUCHES_H

#include "tally/Model/Bindings.h"
#include "tally/Model/Kernel.h"
#include "tally/Support/Stop.h"

namespace tally {

enum class RunDoes : uint8_t {
  Nothing, ///< no instruction runs
  Issue,   ///< some do, but no guard of their tiles holds
  Touch,   ///< some touch a tile
  Meet,    ///< two touch the same buffer, and one of them writes
};

/// What the runs of a kernel do, taken together.
class RunsDo {
public:
  explicit RunsDo(const Kernel &kernel)
      : kernel(kernel), isOwed(kernel.deps.size(), false), numUnowed(kernel.deps.size()) {}

  /// One more run of a kernel that check() accepts. Beyond its first million entries of bodies and
  /// runs of instructions on each engine no tile is looked at.
  void add(const Bindings &bindings, const StopFlag *stop);

  /// Of the run that does the most.
  RunDoes most() const { return does; }

  /// Dependences that owe nothing to any run of their consumers; none if a run was too long to
  /// tell.
  std::vector<DepId> neverOwed() const;

  /// There are dependences, and all of them are like that.
  bool owesNothing() const {
    return !kernel.deps.empty() && neverOwed().size() == kernel.deps.size();
  }

private:
  void addTouches(const Bindings &bindings);
  void addOwed(const Bindings &bindings, const StopFlag *stop);

  const Kernel &kernel;
  RunDoes does = RunDoes::Nothing;
  IdVector<DepId, bool> isOwed; ///< by some run
  size_t numUnowed;
  bool isTooLong = false;
};

} // namespace tally

#endif // TALLY_CHECK_TOUCHES_H
