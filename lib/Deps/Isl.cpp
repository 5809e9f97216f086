//===- Isl.cpp - Sets of integer points -----------------------------------===//

#include "Isl.h"

#include "tally/Deps/GiveUp.h"

#include <isl/aff.h>
#include <isl/ctx.h>
#include <isl/ilp.h>
#include <isl/map.h>
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
