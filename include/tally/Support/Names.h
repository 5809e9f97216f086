//===- Names.h - Messages about names that there are not ------------------===//
//
// A name that is not known is mostly a known one with a slip in it. So the message lists the known
// ones where they are few, and names the nearest:
//
//   unknown queue 'dam'; the queues of this kernel are 'act', 'dma'; did you mean 'dma'?
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_SUPPORT_NAMES_H
#define TALLY_SUPPORT_NAMES_H

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

} // namespace tally

#endif // TALLY_SUPPORT_NAMES_H
