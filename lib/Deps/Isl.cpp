//===- Isl.cpp - Sets of integer points -----------------------------------===//

#include "Isl.h"

#include "tally/Deps/GiveUp.h"
#include "tally/Support/FloorDiv.h"

#include <isl/aff.h>
#include <isl/ctx.h>
#include <isl/ilp.h>
#include <isl/map.h>
#include <isl/mat.h>
#include <isl/options.h>
#include <isl/set.h>
#include <isl/val.h>

#include <algorithm>
#include <atomic>

namespace tally {

using namespace deps;

void IslSet::Free::operator()(isl_set *set) const {
  isl_set_free(set);
}

isl_set *IslSet::copy() const {
  return isl_set_copy(set.get());
}

bool IslSet::isEmpty() const {
  return isl_set_is_empty(set.get()) == isl_bool_true;
}

IslSet IslSet::operator-(const IslSet &other) const {
  return IslSet(isl_set_subtract(copy(), other.copy()));
}

IslSet IslSet::operator&(const IslSet &other) const {
  return IslSet(isl_set_intersect(copy(), other.copy()));
}

/// `limit` is isl's function that limits a coordinate by a value.
template <typename Limit>
static isl_set *limited(isl_set *set, Limit limit, uint32_t coordinate, int64_t value) {
  return set ? limit(set, isl_dim_set, coordinate, isl_val_int_from_si(isl_set_get_ctx(set), value))
             : nullptr;
}

IslSet IslSet::fixed(uint32_t coordinate, int64_t value) const {
  return IslSet(limited(copy(), isl_set_fix_val, coordinate, value));
}

IslSet IslSet::atLeast(uint32_t coordinate, int64_t value) const {
  return IslSet(limited(copy(), isl_set_lower_bound_val, coordinate, value));
}

IslSet IslSet::without(uint32_t first, uint32_t count) const {
  return IslSet(isl_set_project_out(copy(), isl_dim_set, first, count));
}

static std::optional<int64_t> takeInteger(isl_val *val) {
  std::optional<int64_t> number;
  if (val && isl_val_is_int(val) == isl_bool_true) {
    number = isl_val_get_num_si(val);
  }
  isl_val_free(val);
  return number;
}

namespace {

/// The best value of a coordinate over the parts of a set. isl's own functions take an empty part
/// for one that has 0.
struct Best {
  uint32_t coordinate = 0;
  bool isSmallest = true;
  bool isBounded = true;
  std::optional<int64_t> value;

  /// Takes the part.
  void see(isl_basic_set *part) {
    bool isEmpty = isl_basic_set_is_empty(part) == isl_bool_true;
    isl_set *set = isl_set_from_basic_set(part);
    int at = static_cast<int>(coordinate);
    std::optional<int64_t> own =
        takeInteger(isSmallest ? isl_set_dim_min_val(set, at) : isl_set_dim_max_val(set, at));
    if (isEmpty) {
      return;
    }
    isBounded &= own.has_value();
    if (own && (!value || (isSmallest ? *own < *value : *own > *value))) {
      value = own;
    }
  }
};

} // namespace

static isl_stat seePart(isl_basic_set *part, void *best) {
  static_cast<Best *>(best)->see(part);
  return isl_stat_ok;
}

static std::optional<int64_t> best(isl_set *set, uint32_t coordinate, bool isSmallest) {
  Best result{coordinate, isSmallest, true, {}};
  bool isGood = isl_set_foreach_basic_set(set, seePart, &result) == isl_stat_ok;
  return isGood && result.isBounded ? result.value : std::nullopt;
}

std::optional<int64_t> IslSet::smallest(uint32_t coordinate) const {
  return best(set.get(), coordinate, true);
}

std::optional<int64_t> IslSet::largest(uint32_t coordinate) const {
  return best(set.get(), coordinate, false);
}

//===----------------------------------------------------------------------===//
// Point by point
//===----------------------------------------------------------------------===//

/// A number whose sums fit; none if it is larger, or no integer.
static std::optional<int64_t> takeFactor(isl_val *val) {
  constexpr int64_t largest = INT32_MAX;
  bool isSmall = val && isl_val_cmp_si(val, largest) <= 0 && isl_val_cmp_si(val, -largest) >= 0;
  if (!isSmall) {
    isl_val_free(val);
    return std::nullopt;
  }
  return takeInteger(val);
}

struct IslPoints::Reader {
  std::vector<Part> parts;
  bool isRead = true;

  /// Takes the part.
  void see(isl_basic_set *set) {
    Part part;
    const int numCoordinates = isl_basic_set_dim(set, isl_dim_set);
    const int numQuotients = isl_basic_set_dim(set, isl_dim_div);
    isRead &= numCoordinates >= 0 && numQuotients >= 0;
    for (int i = 0; i < numQuotients; ++i) {
      part.quotients.push_back(quotient(isl_basic_set_get_div(set, i), numCoordinates, i));
    }
    part.zeros = sums(
        isl_basic_set_equalities_matrix(set, isl_dim_cst, isl_dim_param, isl_dim_set, isl_dim_div));
    part.notNegative = sums(isl_basic_set_inequalities_matrix(set, isl_dim_cst, isl_dim_param,
                                                              isl_dim_set, isl_dim_div));
    isl_basic_set_free(set);
    parts.push_back(std::move(part));
  }

private:
  int64_t factor(isl_val *val) {
    std::optional<int64_t> number = takeFactor(val);
    isRead &= number.has_value();
    return number.value_or(0);
  }

  /// Its fractions have a common divisor. It names only quotients before it.
  Sum quotient(isl_aff *aff, int numCoordinates, int numBefore) {
    Sum sum;
    isl_val *divisor = isl_aff_get_denominator_val(aff);
    auto add = [&](isl_val *val) {
      sum.factors.push_back(factor(isl_val_mul(val, isl_val_copy(divisor))));
    };
    add(isl_aff_get_constant_val(aff));
    for (int i = 0; i < numCoordinates; ++i) {
      add(isl_aff_get_coefficient_val(aff, isl_dim_in, i));
    }
    for (int i = 0; i < numBefore; ++i) {
      add(isl_aff_get_coefficient_val(aff, isl_dim_div, i));
    }
    sum.divisor = factor(divisor);
    isRead &= sum.divisor > 0;
    isl_aff_free(aff);
    return sum;
  }

  std::vector<Sum> sums(isl_mat *matrix) {
    std::vector<Sum> all;
    isRead &= matrix != nullptr;
    for (int row = 0; row < isl_mat_rows(matrix); ++row) {
      Sum &sum = all.emplace_back();
      for (int column = 0; column < isl_mat_cols(matrix); ++column) {
        sum.factors.push_back(factor(isl_mat_get_element_val(matrix, row, column)));
      }
    }
    isl_mat_free(matrix);
    return all;
  }
};

std::optional<IslPoints> IslSet::points() const {
  IslPoints::Reader reader;
  auto see = [](isl_basic_set *part, void *reader) {
    static_cast<IslPoints::Reader *>(reader)->see(part);
    return isl_stat_ok;
  };
  isl_set *known = isl_set_compute_divs(copy());
  bool isGood = isl_set_foreach_basic_set(known, see, &reader) == isl_stat_ok;
  isl_set_free(known);
  if (!isGood || !reader.isRead) {
    return std::nullopt;
  }
  IslPoints points;
  points.parts = std::move(reader.parts);
  return points;
}

bool IslPoints::contain(std::span<const int64_t> point) {
  return std::ranges::any_of(parts, [&](const Part &part) { return isIn(part, point); });
}

bool IslPoints::isIn(const Part &part, std::span<const int64_t> point) {
  values.assign(1, 1);
  values.insert(values.end(), point.begin(), point.end());
  auto valueOf = [&](const Sum &sum) {
    int64_t value = 0;
    for (size_t i = 0; i < sum.factors.size(); ++i) {
      int64_t product = 0;
      isTooLarge |= __builtin_mul_overflow(sum.factors[i], values[i], &product) ||
                    __builtin_add_overflow(value, product, &value);
    }
    return value;
  };
  for (const Sum &quotient : part.quotients) {
    values.push_back(floorDiv(valueOf(quotient), quotient.divisor));
  }
  return std::ranges::all_of(part.zeros, [&](const Sum &sum) { return valueOf(sum) == 0; }) &&
         std::ranges::all_of(part.notNegative, [&](const Sum &sum) { return valueOf(sum) >= 0; });
}

/// What a handler of signals has to know: the context that was asked last, if it still lives.
static std::atomic<isl_ctx *> asked = nullptr;
static std::atomic<bool> isGivenUp = false;

void giveUpQuestions() {
  isGivenUp = true;
  if (isl_ctx *ctx = asked) {
    isl_ctx_abort(ctx);
  }
}

void IslContext::Free::operator()(isl_ctx *ctx) const {
  isl_ctx *mine = ctx;
  asked.compare_exchange_strong(mine, nullptr);
  isl_ctx_free(ctx);
}

IslContext::IslContext() : ctx(isl_ctx_alloc()) {
  isl_options_set_on_error(ctx.get(), ISL_ON_ERROR_CONTINUE);
}

void IslContext::startQuestion(uint64_t maxOperations) {
  isl_ctx_reset_error(ctx.get());
  isl_ctx_set_max_operations(ctx.get(), maxOperations);
  isl_ctx_reset_operations(ctx.get());
  asked = ctx.get();
  if (isGivenUp) {
    isl_ctx_abort(ctx.get());
  }
}

bool IslContext::gaveUp() const {
  return isl_ctx_last_error(ctx.get()) != isl_error_none;
}

IslSet IslContext::parse(const std::string &text) {
  return IslSet(isl_set_read_from_str(ctx.get(), text.c_str()));
}

IslSet IslContext::leadsInto(const std::string &relation, const IslSet &set) {
  isl_map *map = isl_map_read_from_str(ctx.get(), relation.c_str());
  return IslSet(isl_map_domain(isl_map_intersect_range(map, set.copy())));
}

} // namespace tally
