//===- Verdict.h - Yes, no, or could not decide ---------------------------===//
//
// What every check answers. The third answer is never counted as the first: a check that
// ran out of time or states, or that looked at some schedules out of many, has decided
// nothing.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_CHECK_VERDICT_H
#define TALLY_CHECK_VERDICT_H

#include <cstdint>
#include <string_view>

namespace tally {

enum class Verdict : uint8_t {
  Yes,       ///< the property holds, in every schedule that the check speaks about
  No,        ///< it does not, and there is a witness
  Undecided, ///< nothing wrong was seen, but not everything was looked at
};

constexpr std::string_view toString(Verdict verdict) {
  return verdict == Verdict::Yes ? "yes" : verdict == Verdict::No ? "no" : "could not decide";
}

/// The exit status of a command that gives this answer.
constexpr int exitStatus(Verdict verdict) {
  return static_cast<int>(verdict);
}

/// The answer to "do both hold?".
constexpr Verdict both(Verdict a, Verdict b) {
  if (a == Verdict::No || b == Verdict::No) {
    return Verdict::No;
  }
  return a == Verdict::Yes && b == Verdict::Yes ? Verdict::Yes : Verdict::Undecided;
}

} // namespace tally

#endif // TALLY_CHECK_VERDICT_H
