//===- IdleGuards.cpp - Guards that always hold -----------------------------===//

#include "IdleGuards.h"

#include "Isl.h"
#include "LeavingText.h"

#include <unordered_map>

namespace tally::deps {
namespace {

constexpr uint64_t maxOperations = 20'000;
constexpr size_t mostQuestions = 1000; ///< different ones
constexpr uint32_t mostSplits = 6;

class IdleFinder {
public:
  explicit IdleFinder(const Kernel &kernel) : kernel(kernel) {}

  /// Those of a tile that some run may fail, though it meets all others of them.
  std::vector<TileGuard> lastingOf(const TileBox &tile, const BodyTile &read) {
    BodyTile failing = read; // one guard fails, and the others hold
    std::vector<TileGuard> &guards = failing.access.guards;
    for (size_t g = 0; g < guards.size();) {
      guards[g] = guards[g].opposite();
      bool isIdle = neverTouches(tile, failing);
      guards[g] = guards[g].opposite();
      if (isIdle) {
        guards.erase(guards.begin() + static_cast<std::ptrdiff_t>(g));
      } else {
        ++g;
      }
    }
    return guards;
  }

private:
  /// False where it is not known.
  bool neverTouches(const TileBox &tile, const BodyTile &read) {
    LeavingText text(kernel, tile, read, std::nullopt);
    if (text.numSplits() > mostSplits) {
      return false;
    }
    std::string question = text.touchingAtAll();
    auto found = answers.find(question);
    if (found != answers.end() || answers.size() == mostQuestions) {
      return found != answers.end() && found->second;
    }
    isl.startQuestion(maxOperations);
    bool isEmpty = isl.parse(question).isEmpty() && !isl.gaveUp();
    answers.emplace(std::move(question), isEmpty);
    return isEmpty;
  }

  const Kernel &kernel;
  IslContext isl;
  std::unordered_map<std::string, bool> answers;
};

} // namespace

std::optional<Kernel> withoutIdleGuards(const Kernel &kernel) {
  std::optional<IdleFinder> finder;
  std::shared_ptr<TileTable> without;
  const TileTable &tiles = *kernel.tiles;
  std::vector<bool> isDone(tiles.size());
  for (AccessId access : kernel.accesses.ids()) {
    TileId id = tiles.of(access);
    const BodyTile &read = tiles[id];
    if (read.access.guards.empty() || isDone[id.value]) {
      continue;
    }
    isDone[id.value] = true;
    if (!finder) {
      finder.emplace(kernel);
    }
    const TileBox box{
        .id = id, .buffer = kernel.accesses[access].buffer, .home = read.home, .hull = {}};
    std::vector<TileGuard> lasting = finder->lastingOf(box, read);
    if (lasting.size() < read.access.guards.size()) {
      without = without ? without : std::make_shared<TileTable>(tiles);
      without->setGuards(id, std::move(lasting));
    }
  }
  if (!without) {
    return std::nullopt;
  }
  Kernel result = kernel;
  result.tiles = std::move(without);
  return result;
}

} // namespace tally::deps
