//===- Counted.h - "1 step", "2 steps" ------------------------------------===//

#ifndef TALLY_SUPPORT_COUNTED_H
#define TALLY_SUPPORT_COUNTED_H

#include <cstdint>
#include <string>
#include <string_view>

namespace tally {

/// `1 step`, `2 steps`, `2 entries`, `2 accesses`
std::string counted(uint64_t count, std::string_view noun);

} // namespace tally

#endif // TALLY_SUPPORT_COUNTED_H
