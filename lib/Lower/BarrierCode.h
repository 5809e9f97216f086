//===- BarrierCode.h - The operations by which engines meet ---------------===//
//
// A barrier is made of what every machine has. Each member drains its own instructions; then all
// shake hands, semaphores are set to zero, and all shake hands again:
//
//   first member (coordinator)          every other member m
//     drain                               drain
//     wait arrive >= members - 1          signal arrive
//     reset arrive                        wait release.m >= 1
//     signal release.m  for every m       reset release.m
//
// `arrive` belongs to the set of members, `release.m` to the engine. Handshakes do not mix: a
// member arrives again only after its release, before which the coordinator has reset
// `arrive`; and it is released again only after it has reset its own. Where nothing is to be reset
// the second handshake can be left out.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_LOWER_BARRIERCODE_H
#define TALLY_LIB_LOWER_BARRIERCODE_H

#include "tally/Code/Code.h"

#include <map>

namespace tally::lowering {

/// In ascending order.
using EngineSet = std::vector<EngineId>;

/// Semaphores with consecutive numbers, which one operation resets.
struct SemaRun {
  uint32_t first = 0;
  uint32_t count = 0;
};

/// A barrier at one place of the kernel, for all its members.
struct BarrierSite {
  BarrierId id;
  SemaId arrive; ///< none if there is one member only
  std::vector<SemaRun> reset;
  bool shakesTwice = false;
};

/// Adds barriers and their semaphores to the code, and writes their operations.
class BarrierCode {
public:
  BarrierCode(const Kernel &kernel, Code &code)
      : kernel(kernel), code(code), release(kernel.engines.size()) {}

  BarrierSite add(const EngineSet &members, std::vector<SemaRun> reset, bool shakesTwice);

  bool isMember(const BarrierSite &site, EngineId engine) const;

  /// What a member executes there, appended to its operations.
  void write(const BarrierSite &site, EngineId engine, std::vector<Op> &ops) const;

private:
  SemaId arriveOf(const EngineSet &members);
  void handshake(const BarrierSite &site, EngineId engine, std::vector<Op> &ops) const;

  const Kernel &kernel;
  Code &code;
  std::map<EngineSet, SemaId> arrive;
  IdVector<EngineId, SemaId> release;
};

} // namespace tally::lowering

#endif // TALLY_LIB_LOWER_BARRIERCODE_H
