//===- EffectShapes.cpp - What an instruction makes, and of which shape ---===//

#include "EffectShapes.h"

#include "Value.h"

#include <fmt/format.h>

#include <algorithm>

namespace tally::data {
namespace {

/// Indices are f32 while they are computed, which tells no more whole numbers apart.
constexpr uint64_t maxRows = uint64_t(1) << 24;

/// 2 GiB.
constexpr uint64_t mostNumbers = uint64_t(1) << 29;

std::string_view textOf(const Kernel &kernel, const Tile &tile) {
  return kernel.text(kernel.accesses[tile.access()].text);
}

class ShapeFinder {
public:
  ShapeFinder(const Kernel &kernel, Effect &effect, QueueId queue, const std::optional<Shape> &kept)
      : kernel(kernel), effect(effect), queue(queue), kept(kept) {}

  std::string infer() {
    const ParsedCompute &compute = effect.compute;
    effect.shapes.assign(compute.nodes.size(), {});
    uint64_t numNumbers = 0;
    for (ComputeId id : compute.nodes.ids()) {
      std::string problem = inferNode(id);
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
                                ? scatterProblem(result, tile)
                                : storeProblem(result, tile);
      if (!problem.empty()) {
        return problem;
      }
      ++tile;
    }
    return {};
  }

private:
  std::string inferNode(ComputeId id) {
    const ComputeNode &node = effect.compute.nodes[id];
    switch (node.op) {
    case ComputeOp::Number:
    case ComputeOp::Iteration:
      return {};
    case ComputeOp::Read:
      effect.shapes[id] = effect.readShapes[node.read];
      return {};
    case ComputeOp::Kept:
      if (!kept) {
        return fmt::format("nothing is kept on queue '{}' before it", kernel.nameOf(queue));
      }
      effect.shapes[id] = *kept;
      return {};
    case ComputeOp::Gather:
      return inferGather(id);
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

  std::string inferGather(ComputeId id) {
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
    return tile.isAnywhere() ||
           textOf(kernel, tile) == kernel.text(kernel.buffers[tile.buffer()].name) ||
           (tile.place(first, whole, problem) && whole.shape == shape);
  }

  std::string scatterProblem(const ComputeResult &result, uint32_t tile) const {
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

  std::string storeProblem(const ComputeResult &result, uint32_t tile) const {
    const Shape &value = effect.shapes[result.value];
    if (effect.writes[tile].isAnywhere()) {
      return fmt::format("where in '{}' it writes is not said; 'scatter' says it by indices",
                         textOf(kernel, effect.writes[tile]));
    }
    if (!fitsTile(value, effect.writeShapes[tile])) {
      return fmt::format("a result is {}, but '{}' is {}", shapeText(value),
                         textOf(kernel, effect.writes[tile]), shapeText(effect.writeShapes[tile]));
    }
    return {};
  }

  const Kernel &kernel;
  Effect &effect;
  QueueId queue;
  const std::optional<Shape> &kept;
};

} // namespace

Effect readTiles(const Kernel &kernel, InstrId id, std::span<const int64_t> known) {
  Effect effect;
  std::vector<Tile> accumulates;
  for (AccessId a : kernel.instrs[id].accesses) {
    AccessKind kind = kernel.accesses[a].kind;
    (kind == AccessKind::Read    ? effect.reads
     : kind == AccessKind::Write ? effect.writes
                                 : accumulates)
        .emplace_back(kernel, a, known);
  }
  effect.numWrites = static_cast<uint32_t>(effect.writes.size());
  effect.writes.insert(effect.writes.end(), accumulates.begin(), accumulates.end());
  return effect;
}

std::optional<Effect> readEffect(const Kernel &kernel, InstrId id, std::span<const int64_t> known,
                                 std::vector<std::string> &problems) {
  const Instr &instr = kernel.instrs[id];
  Effect effect = readTiles(kernel, id, known);
  if (!instr.computes.valid()) {
    if (!effect.writes.empty()) {
      problems.emplace_back("it does not say what it computes; add 'computes', as in computes "
                            "\"r0\" for a copy");
    }
    return std::nullopt;
  }
  effect.compute = (*kernel.computes)[instr.computes].compute;
  for (const ComputeResult &result : effect.compute.results) {
    effect.startDepths.push_back(result.loop.empty() ? Effect::always
                                                     : depthOf(kernel, instr.home, result.loop));
  }
  for (const std::vector<Tile> *tiles : {&effect.reads, &effect.writes}) {
    for (const Tile &tile : *tiles) {
      if (!tile.unknownValue().empty()) {
        problems.push_back(fmt::format("the place of '{}' depends on '${}', which has no value "
                                       "here; write a number",
                                       textOf(kernel, tile), tile.unknownValue()));
      }
    }
  }
  return effect;
}

std::string inferShapes(const Kernel &kernel, Effect &effect, QueueId queue,
                        const std::optional<Shape> &kept) {
  return ShapeFinder(kernel, effect, queue, kept).infer();
}

} // namespace tally::data
