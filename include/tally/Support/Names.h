//===- Names.h - Names that there are not, and new ones -------------------===//
//
// A name that is not known is mostly a known one with a slip in it. So the message lists the known
// ones where they are few, and names the nearest:
//
//   unknown queue 'dam'; the queues of this kernel are 'act', 'dma'; did you mean 'dma'?
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_SUPPORT_NAMES_H
#define TALLY_SUPPORT_NAMES_H

#include "tally/Support/StringPool.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tally {

/// The known name with the fewest changes from `name`, of the first; empty if none is near.
std::string_view nearestName(std::string_view name, const std::vector<std::string_view> &known);

/// What to say of a name that is none of `known`, which are `plural` ("queues of this kernel").
/// `effort` counts down how many nearest names may still be looked for, so that many unknown names
/// in a large input cost no more than reading it.
std::string unknownName(std::string_view kind, std::string_view plural, std::string_view name,
                        const std::vector<std::string_view> &known, uint32_t &effort);

/// The same for one name.
std::string unknownName(std::string_view kind, std::string_view plural, std::string_view name,
                        const std::vector<std::string_view> &known);

/// Names for what the tool makes, of which no two are equal: the second of one name gets `#2` at
/// its end.
class FreshNames {
public:
  /// A name with a number is none of `avoided`.
  explicit FreshNames(const StringPool &avoided) : avoided(avoided) {}

  /// `name`, or the first of `name#2`, `name#3` ... that is free.
  std::string add(std::string name);

private:
  const StringPool &avoided;
  StringPool taken;
  std::vector<uint32_t> lastNumber; ///< that was tried, of each name taken
};

} // namespace tally

#endif // TALLY_SUPPORT_NAMES_H
