//===- Origin.h - Where operations come from ------------------------------===//
#ifndef TALLY_CODE_ORIGIN_H
#define TALLY_CODE_ORIGIN_H

#include "tally/Code/Code.h"
#include "tally/Model/Kernel.h"

namespace tally {

/// The place in the kernel that something comes from; none: where the body around it does.
struct Origin {
  Origin() = default;

  Origin(Location where, std::optional<Location> behind = {}) : where(where), behind(behind) {}

  Location place() const { return where.value_or(Location()); }

  std::optional<Location> where;
  std::optional<Location> behind; ///< of the dependence that it serves
};

/// Of its instruction or loop; for a wait alone of the consumer that it serves, with the first
/// dependence behind it.
Origin originOf(const Kernel &kernel, const Code &code, const Op &op);

/// Of each operation of each engine. What is for no instruction and no dependence, as barriers,
/// resets, and waits that name none, is for the body around it; arithmetic is for what follows, and
/// has no place of its own.
IdVector<EngineId, std::vector<Location>> placesOf(const Kernel &kernel, const Code &code);

/// Of one of them; where its engine is declared if it has none, or only that of the whole kernel.
Location placeOrEngine(const Kernel &kernel, const Code &code, EngineId engine, uint32_t op);

} // namespace tally

#endif // TALLY_CODE_ORIGIN_H
