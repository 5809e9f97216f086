//===- Effects.cpp - Whether all effects of a kernel can be followed ------===//
//
// Steps:  1. read    the text of each instruction, its tiles and loops
//         2. shapes  of everything that it makes, at its first run in sequential order
//         3. places  of its tiles in every run: within their buffers, always of the same shape
//
// EffectShapes.h has 1 and 2. 2 and 3 go through the sequential run together, as the shape of what
// is kept is that of the last instruction that kept something.
//
//===----------------------------------------------------------------------===//

#include "EffectShapes.h"

#include <fmt/format.h>

#include <algorithm>

namespace tally {

using namespace data;

namespace {

class EffectReader {
public:
  EffectReader(const Kernel &kernel, const Runs &runs, Diagnostics &diagnostics)
      : kernel(kernel), runs(runs), diagnostics(diagnostics), effects(kernel.instrs.size()),
        isWrong(kernel.instrs.size(), false), hasShapes(kernel.instrs.size(), false),
        kept(kernel.queues.size()) {}

  IdVector<InstrId, std::optional<Effect>> run() {
    for (InstrId id : kernel.instrs.ids()) {
      read(id);
    }
    for (Instance instance : runs.order()) {
      if (effects[instance.instr] && !isWrong[instance.instr]) {
        inspect(instance);
      }
    }
    return std::move(effects);
  }

private:
  void error(InstrId id, const std::string &problem) {
    isWrong[id] = true;
    diagnostics.error(
        kernel.instrs[id].where,
        fmt::format("the data of '{}' cannot be followed: {}", kernel.nameOf(id), problem));
  }

  //===--- 1. Read --------------------------------------------------------===//

  void read(InstrId id) {
    std::vector<std::string> problems;
    effects[id] = readEffect(kernel, id, runs.values(), problems);
    for (const std::string &problem : problems) {
      error(id, problem);
    }
  }

  std::string_view text(const Tile &tile) const {
    return kernel.text(kernel.accesses[tile.access()].text);
  }

  //===--- 2. and 3. ------------------------------------------------------===//

  void inspect(Instance instance) {
    InstrId id = instance.instr;
    Effect &effect = *effects[id];
    bool isFirst = !hasShapes[id];
    hasShapes[id] = true;
    if (!inspectTiles(instance, effect.reads, effect.readShapes) ||
        !inspectTiles(instance, effect.writes, effect.writeShapes)) {
      return;
    }
    QueueId queue = kernel.instrs[id].queue;
    if (isFirst) {
      std::string problem = inferShapes(kernel, effect, queue, kept[queue]);
      if (!problem.empty()) {
        return error(id, problem);
      }
    } else if (!keptShapeStays(effect, queue)) {
      return error(id, "the tile that is kept for it has another shape than in its first run");
    }
    for (const ComputeResult &result : effect.compute.results) {
      if (result.kind == ComputeResult::Kind::Keep) {
        kept[queue] = effect.shapes[result.value];
      }
    }
  }

  bool inspectTiles(Instance instance, const std::vector<Tile> &tiles, std::vector<Shape> &shapes) {
    for (size_t i = 0; i < tiles.size(); ++i) {
      std::string problem;
      if (!tiles[i].place(runs.indices(instance), place, problem)) {
        std::string when = iterationText(kernel, runs, instance);
        error(instance.instr, fmt::format("'{}'{}{} lies outside its buffer: {}", text(tiles[i]),
                                          when.empty() ? "" : " at ", when, problem));
        return false;
      }
      if (i == shapes.size()) {
        shapes.push_back(place.shape);
      } else if (shapes[i] != place.shape) {
        error(instance.instr,
              fmt::format("'{}' is {} and then {}; tiles keep their size", text(tiles[i]),
                          shapeText(shapes[i]), shapeText(place.shape)));
        return false;
      }
    }
    return true;
  }

  bool keptShapeStays(const Effect &effect, QueueId queue) const {
    for (ComputeId node : effect.compute.nodes.ids()) {
      if (effect.compute.nodes[node].op == ComputeOp::Kept &&
          (!kept[queue] || effect.shapes[node] != *kept[queue])) {
        return false;
      }
    }
    return true;
  }

  const Kernel &kernel;
  const Runs &runs;
  Diagnostics &diagnostics;
  IdVector<InstrId, std::optional<Effect>> effects;
  IdVector<InstrId, bool> isWrong;
  IdVector<InstrId, bool> hasShapes;
  IdVector<QueueId, std::optional<Shape>> kept;
  TilePlace place;
};

} // namespace

std::optional<Effects> Effects::of(const Kernel &kernel, const Runs &runs,
                                   Diagnostics &diagnostics) {
  IdVector<InstrId, std::optional<Effect>> effects = EffectReader(kernel, runs, diagnostics).run();
  if (diagnostics.hasErrors()) {
    return std::nullopt;
  }
  return Effects{std::make_shared<Table>(kernel, runs, std::move(effects))};
}

} // namespace tally
