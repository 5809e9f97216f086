//===- Counted.h - "1 step", "'a' and 2 more" -----------------------------===//

#ifndef TALLY_SUPPORT_COUNTED_H
#define TALLY_SUPPORT_COUNTED_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tally {

/// `1 step`, `2 steps`, `2 entries`, `2 accesses`
std::string counted(uint64_t count, std::string_view noun);

/// `'a'`, `'a' and 'b'`, `'a', 'b', 'c' and 2 more`
std::string listed(const std::vector<std::string> &names, size_t most = 3);

} // namespace tally

#endif // TALLY_SUPPORT_COUNTED_H
