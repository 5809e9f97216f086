//===- Overview.cpp - A whole run of any length, in a thousand buckets ----===//

#include "tally/Report/Overview.h"

#include <algorithm>

namespace tally {

static constexpr size_t leastLimit = 16;

/// Shares of one class become one; the classes stand in order.
static void putInOrder(Overview::Bucket &bucket) {
  std::ranges::sort(bucket, {}, &Overview::Share::of);
  size_t last = 0;
  for (size_t i = 1; i < bucket.size(); ++i) {
    if (bucket[i].of == bucket[last].of) {
      bucket[last].span += bucket[i].span;
    } else {
      bucket[++last] = bucket[i];
    }
  }
  bucket.resize(std::min(bucket.size(), last + 1));
}

/// The limit doubles with what stays, so that a share costs little however many there are.
void Overview::put(size_t bucket, const Share &share) {
  Bucket &shares = all[bucket];
  if (!shares.empty() && shares.back().of == share.of) {
    shares.back().span += share.span;
    return;
  }
  if (shares.size() >= limits[bucket]) {
    putInOrder(shares);
    limits[bucket] = std::max(leastLimit, 2 * shares.size());
  }
  shares.push_back(share);
}

void Overview::reach(Tick until) {
  while (until > width * numBuckets) {
    for (size_t i = 0; i < all.size(); i += 2) {
      Bucket both = std::move(all[i]);
      if (i + 1 < all.size()) {
        both.insert(both.end(), all[i + 1].begin(), all[i + 1].end());
      }
      putInOrder(both);
      limits[i / 2] = std::max(leastLimit, 2 * both.size());
      all[i / 2] = std::move(both);
    }
    all.resize((all.size() + 1) / 2);
    limits.resize(all.size());
    width *= 2;
  }
  size_t needed = (until + width - 1) / width;
  if (needed > all.size()) {
    all.resize(needed);
    limits.resize(needed, leastLimit);
  }
}

void Overview::add(const PieceClass &of, Tick from, Tick to) {
  reach(to);
  for (Tick at = from; at < to;) {
    size_t bucket = at / width;
    Tick until = std::min(to, (bucket + 1) * width);
    put(bucket, {of, until - at});
    at = until;
  }
}

void Overview::finish(Tick total) {
  reach(total);
  for (Bucket &bucket : all) {
    putInOrder(bucket);
  }
}

} // namespace tally
