//===- StringPool.h - Names as dense ids ----------------------------------===//
//
// A kernel has as many names as instructions. They lie in one character array;
// a name is its number. Equal strings get equal ids, so a name is compared and
// looked up without touching its characters.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_SUPPORT_STRINGPOOL_H
#define TALLY_SUPPORT_STRINGPOOL_H

#include "tally/Support/Id.h"

#include <string>
#include <string_view>
#include <vector>

namespace tally {

using NameId = Id<struct NameTag>;

class StringPool {
public:
  StringPool();

  /// The id of `text`, the same one for equal texts.
  NameId intern(std::string_view text);

  /// The id of `text`, or none if it was never interned.
  NameId find(std::string_view text) const;

  /// The text of `id`; empty for none. Valid until the next intern().
  std::string_view operator[](NameId id) const {
    if (!id.valid()) {
      return {};
    }
    return std::string_view(chars).substr(offsets[id.value],
                                          offsets[id.value + 1] - offsets[id.value]);
  }

  size_t size() const { return offsets.size() - 1; }

private:
  /// The slot of the hash table where `text` is or would go.
  size_t slotOf(std::string_view text) const;
  void grow();

  std::string chars;
  std::vector<size_t> offsets; ///< offsets[i]..offsets[i+1] is name i
  std::vector<uint32_t> slots; ///< open addressing; holds name ids
};

} // namespace tally

#endif // TALLY_SUPPORT_STRINGPOOL_H
