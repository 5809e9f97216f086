//===- StringPool.cpp - Interning of names --------------------------------===//

#include "tally/Support/StringPool.h"

namespace tally {

static constexpr uint32_t emptySlot = UINT32_MAX;

/// FNV-1a with a final mix: the same on every platform, and short names differ
/// in their low bits, which pick the slot.
static uint64_t hashOf(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (unsigned char c : text) {
    hash = (hash ^ c) * 0x100000001b3u;
  }
  return hash ^ (hash >> 29);
}

StringPool::StringPool() : offsets{0}, slots(16, emptySlot) {}

size_t StringPool::slotOf(std::string_view text) const {
  size_t mask = slots.size() - 1;
  size_t slot = hashOf(text) & mask;
  while (slots[slot] != emptySlot && (*this)[NameId(slots[slot])] != text) {
    slot = (slot + 1) & mask;
  }
  return slot;
}

NameId StringPool::find(std::string_view text) const {
  uint32_t id = slots[slotOf(text)];
  return id == emptySlot ? NameId() : NameId(id);
}

NameId StringPool::intern(std::string_view text) {
  size_t slot = slotOf(text);
  if (slots[slot] != emptySlot) {
    return NameId(slots[slot]);
  }
  NameId id(static_cast<uint32_t>(size()));
  chars += text;
  offsets.push_back(chars.size());
  slots[slot] = id.value;
  if (2 * size() > slots.size()) {
    grow();
  }
  return id;
}

void StringPool::grow() {
  slots.assign(4 * slots.size(), emptySlot);
  for (uint32_t id = 0; id < size(); ++id) {
    slots[slotOf((*this)[NameId(id)])] = id;
  }
}

} // namespace tally
