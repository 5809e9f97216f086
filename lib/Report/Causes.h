//===- Causes.h - What sequencers waited for ------------------------------===//
//
// All waits of all runs, put together by what they waited for: of the dependences behind a wait,
// the one whose producer ended it. So the same dependence has the same number, and the same colour,
// whatever the strategy and whatever it shares a wait with.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_REPORT_CAUSES_H
#define TALLY_LIB_REPORT_CAUSES_H

#include "tally/Report/Report.h"

#include <map>
#include <tuple>

namespace tally::report {

class CauseTable {
public:
  explicit CauseTable(const Report &report);

  const std::vector<Cause> &all() const { return causes; }

  /// Of a wait that lasted, and that `by` ended, its place in all().
  uint32_t of(size_t timeline, EngineId engine, uint32_t op, InstrId by) const;

private:
  using Key = std::pair<Cause::Kind, std::string>;

  Key keyOf(size_t timeline, EngineId engine, uint32_t at, InstrId by) const;
  void add(const Key &key, size_t timeline, Tick span);
  void sort();
  void findWaits();

  const Report &report;
  std::vector<IdVector<EngineId, std::vector<bool>>> inBarrier; ///< by timeline and operation
  std::vector<Cause> causes;
  std::map<Key, uint32_t> numbers;
  std::map<std::tuple<size_t, EngineId, uint32_t, InstrId>, uint32_t> ofWaits; ///< places in all()
};

} // namespace tally::report

#endif // TALLY_LIB_REPORT_CAUSES_H
