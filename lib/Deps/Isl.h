//===- Isl.h - Sets of integer points -------------------------------------===//
//
// The little of isl that distances need, with sets given as isl's text. A set is "bad" after a
// question that took more work than allowed; everything made from it is bad, too.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_DEPS_ISL_H
#define TALLY_LIB_DEPS_ISL_H

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

struct isl_ctx;
struct isl_set;

namespace tally::deps {

class IslContext;

class IslSet {
public:
  bool isBad() const { return set == nullptr; }

  /// Bad sets are not empty: nothing may be concluded from them.
  bool isEmpty() const;

  IslSet clone() const { return IslSet(copy()); }

  IslSet operator-(const IslSet &other) const;

  IslSet operator&(const IslSet &other) const;

  /// Those points with this value of a coordinate.
  IslSet fixed(uint32_t coordinate, int64_t value) const;

  /// Those points whose coordinate is at least this value.
  IslSet atLeast(uint32_t coordinate, int64_t value) const;

  /// What the other coordinates of its points are.
  IslSet without(uint32_t first, uint32_t count) const;

  /// The smallest value of a coordinate; none if there is no smallest, or it is not known.
  std::optional<int64_t> smallest(uint32_t coordinate) const;

  std::optional<int64_t> largest(uint32_t coordinate) const;

private:
  friend class IslContext;

  struct Free {
    void operator()(isl_set *set) const;
  };

  explicit IslSet(isl_set *set) : set(set) {}

  isl_set *copy() const;

  std::unique_ptr<isl_set, Free> set;
};

class IslContext {
public:
  IslContext();

  /// A question begins, which may take about this many steps of isl.
  void startQuestion(uint64_t maxOperations);

  /// Whether the question took too many, or isl could not make sense of it: it has no answer.
  bool gaveUp() const;

  /// Bad, as if it had taken too many steps, if the text is none of a set.
  IslSet parse(const std::string &text);

  /// The points that a relation, as text, leads into the set.
  IslSet leadsInto(const std::string &relation, const IslSet &set);

private:
  struct Free {
    void operator()(isl_ctx *ctx) const;
  };

  std::unique_ptr<isl_ctx, Free> ctx;
};

} // namespace tally::deps

#endif // TALLY_LIB_DEPS_ISL_H
