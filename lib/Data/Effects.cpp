//===- Effects.cpp - Whether all effects of a kernel can be followed ------===//
//
// Steps:  1. read    the text of each instruction, its tiles and loops
//         2. shapes  of everything that it makes, at its first run in sequential order
//         3. places  of its tiles in every run: within their buffers, always of the same shape
//
// 2 and 3 go through the sequential run together, as the shape of what is kept is that of the last
// instruction that kept something.
//
//===----------------------------------------------------------------------===//

#include "EffectTable.h"
#include "Value.h"

#include <fmt/format.h>

#include <algorithm>

namespace tally {

using namespace data;

namespace {

/// Indices are f32 while they are computed, which tells no more whole numbers apart.
constexpr uint64_t maxRows = uint64_t(1) << 24;

/// 2 GiB.
constexpr uint64_t mostNumbers = uint64_t(1) << 29;

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
    const Instr &instr = kernel.instrs[id];
    Effect effect;
    std::vector<Tile> accumulates;
    for (AccessId a : instr.accesses) {
      AccessKind kind = kernel.accesses[a].kind;
      (kind == AccessKind::Read    ? effect.reads
       : kind == AccessKind::Write ? effect.writes
                                   : accumulates)
          .emplace_back(kernel, a, runs.values());
    }
    effect.numWrites = static_cast<uint32_t>(effect.writes.size());
    effect.writes.insert(effect.writes.end(), accumulates.begin(), accumulates.end());
    if (!instr.computes.valid()) {
      if (!effect.writes.empty()) {
        error(id, "it does not say what it computes; add 'computes', as in computes \"r0\" "
                  "for a copy");
      }
      return;
    }
    effect.compute = (*kernel.computes)[instr.computes].compute;
    for (const ComputeResult &result : effect.compute.results) {
      effect.startDepths.push_back(result.loop.empty() ? Effect::always
                                                       : depthOf(kernel, instr.home, result.loop));
    }
    for (const std::vector<Tile> *tiles : {&effect.reads, &effect.writes}) {
      for (const Tile &tile : *tiles) {
        if (!tile.unknownValue().empty()) {
          error(id, fmt::format("the place of '{}' depends on '${}', which has no value here; "
                                "write a number",
                                text(tile), tile.unknownValue()));
        }
      }
    }
    effects[id] = std::move(effect);
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
      std::string problem = inferShapes(effect, queue);
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

  std::string inferShapes(Effect &effect, QueueId queue) const {
    const ParsedCompute &compute = effect.compute;
    effect.shapes.assign(compute.nodes.size(), {});
    uint64_t numNumbers = 0;
    for (ComputeId id : compute.nodes.ids()) {
      std::string problem = inferNode(effect, id, queue);
      if (!problem.empty()) {
        return problem;
      }
      numNumbers += numElements(effect.shapes[id]);
      if (numNumbers > mostNumbers) {
        return fmt::format("its tiles and what it makes of them are more than {} numbers, the most "
                           "of one instruction; make it several instructions",
                           mostNumbers);
      }
    }
    uint32_t tile = 0;
    for (const ComputeResult &result : compute.results) {
      if (result.kind == ComputeResult::Kind::Keep) {
        continue;
      }
      std::string problem = result.kind == ComputeResult::Kind::Scatter
                                ? scatterProblem(effect, result, tile)
                                : storeProblem(effect, result, tile);
      if (!problem.empty()) {
        return problem;
      }
      ++tile;
    }
    return {};
  }

  std::string inferNode(Effect &effect, ComputeId id, QueueId queue) const {
    const ComputeNode &node = effect.compute.nodes[id];
    switch (node.op) {
    case ComputeOp::Number:
    case ComputeOp::Iteration:
      return {};
    case ComputeOp::Read:
      effect.shapes[id] = effect.readShapes[node.read];
      return {};
    case ComputeOp::Kept:
      if (!kept[queue]) {
        return fmt::format("nothing is kept on queue '{}' before it", kernel.nameOf(queue));
      }
      effect.shapes[id] = *kept[queue];
      return {};
    case ComputeOp::Gather:
      return inferGather(effect, id);
    default:
      break;
    }
    std::vector<Shape> operands;
    for (ComputeId operand : node.operands) {
      if (operand.valid()) {
        operands.push_back(effect.shapes[operand]);
      }
    }
    std::string problem;
    shapeOf(node, operands, effect.shapes[id], problem);
    return problem;
  }

  std::string inferGather(Effect &effect, ComputeId id) const {
    const ComputeNode &node = effect.compute.nodes[id];
    const ComputeNode &table = effect.compute.nodes[node.operands[0]];
    if (table.op != ComputeOp::Read || !isWhole(effect.reads[table.read])) {
      return "'gather' takes rows of a whole buffer; write X[@] for X";
    }
    const Shape &rows = effect.shapes[node.operands[0]];
    const Shape &index = effect.shapes[node.operands[1]];
    size_t numIndices = node.operands[2].valid() ? 2 : 1;
    if (rows.size() < numIndices) {
      return fmt::format("'gather' has {} indices, but its buffer is {}", numIndices,
                         shapeText(rows));
    }
    if (*std::max_element(rows.begin(), rows.begin() + static_cast<ptrdiff_t>(numIndices)) >
        maxRows) {
      return tooManyRows();
    }
    if (numIndices == 2 && numElements(effect.shapes[node.operands[2]]) != 1 &&
        effect.shapes[node.operands[2]] != index) {
      return "the two indices of 'gather' must have one shape, or the second be one number";
    }
    effect.shapes[id] = index;
    effect.shapes[id].insert(effect.shapes[id].end(),
                             rows.begin() + static_cast<ptrdiff_t>(numIndices), rows.end());
    return {};
  }

  static std::string tooManyRows() {
    return fmt::format(
        "an index tells at most {} rows apart; give the buffer fewer and larger ones", maxRows);
  }

  bool isWhole(const Tile &tile) const {
    TilePlace whole;
    std::string problem;
    const std::vector<LoopIndex> first(maxDepth);
    const Shape &shape = kernel.buffers[tile.buffer()].shape;
    return tile.isAnywhere() || text(tile) == kernel.text(kernel.buffers[tile.buffer()].name) ||
           (tile.place(first, whole, problem) && whole.shape == shape);
  }

  std::string scatterProblem(const Effect &effect, const ComputeResult &result,
                             uint32_t tile) const {
    const Shape &rows = effect.writeShapes[tile];
    if (!isWhole(effect.writes[tile]) || rows.empty()) {
      return "'scatter' writes rows of a whole buffer; write X[@] for X";
    }
    if (rows[0] > maxRows) {
      return tooManyRows();
    }
    uint64_t perRow = numElements(rows) / rows[0];
    if (numElements(effect.shapes[result.value]) !=
        numElements(effect.shapes[result.index]) * perRow) {
      return fmt::format("'scatter' has {} indices for rows of {} elements, but the value is {}",
                         numElements(effect.shapes[result.index]), perRow,
                         shapeText(effect.shapes[result.value]));
    }
    return {};
  }

  std::string storeProblem(const Effect &effect, const ComputeResult &result, uint32_t tile) const {
    const Shape &value = effect.shapes[result.value];
    if (effect.writes[tile].isAnywhere()) {
      return fmt::format("where in '{}' it writes is not said; 'scatter' says it by indices",
                         text(effect.writes[tile]));
    }
    if (!fitsTile(value, effect.writeShapes[tile])) {
      return fmt::format("a result is {}, but '{}' is {}", shapeText(value),
                         text(effect.writes[tile]), shapeText(effect.writeShapes[tile]));
    }
    return {};
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
