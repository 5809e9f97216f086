//===- Subject.cpp - Code that can be executed, with all that it needs ----===//
//
// Steps:  1. tiles   the text of each instruction, and the shapes of its tiles
//         2. shapes  of everything that it makes; again while queues get to know what they keep
//         3. kinds   number or whole number, of everything that it makes
//         4. counts  what it asks of the loops around it
//
//===----------------------------------------------------------------------===//

#include "Subject.h"

#include "../Data/EffectShapes.h"
#include "../Data/Value.h"

#include "tally/Data/Memory.h"
#include "tally/Data/Runs.h"
#include "tally/Model/Bindings.h"

#include <fmt/format.h>

#include <algorithm>

namespace tally::exec {
namespace {

class Preparation {
public:
  Preparation(const Kernel &kernel, const Code &code, const Machine &machine,
              const ProgramOptions &options, Diagnostics &diagnostics)
      : kernel(kernel), diagnostics(diagnostics), subject{.kernel = kernel,
                                                          .code = code,
                                                          .machine = machine,
                                                          .options = options,
                                                          .values = {},
                                                          .formats = {},
                                                          .effects = {},
                                                          .kinds = {},
                                                          .counts = {},
                                                          .kept = {},
                                                          .keptSizes = {}} {
    if (code.rules) {
      subject.machine = withRules(machine, *code.rules);
    }
    Bindings usual(kernel);
    subject.values.assign(usual.values().begin(), usual.values().end());
    subject.effects.resize(kernel.instrs.size());
    subject.kinds.resize(kernel.instrs.size());
    subject.counts.resize(kernel.instrs.size());
    subject.kept.resize(kernel.instrs.size());
    subject.keptSizes.resize(kernel.queues.size());
    kept.resize(kernel.queues.size());
  }

  /// The tiles refer to the values, so these move along.
  std::optional<Subject> run() {
    checkSequential(kernel, diagnostics);
    subject.formats = formatsOf(kernel, diagnostics);
    for (InstrId id : kernel.instrs.ids()) {
      read(id);
    }
    findShapes();
    if (subject.options.calls) {
      refuseConditions();
    }
    for (InstrId id : kernel.instrs.ids()) {
      if (subject.effects[id]) {
        findCounts(id);
      }
    }
    return diagnostics.hasErrors() ? std::nullopt : std::optional(std::move(subject));
  }

private:
  void error(InstrId id, const std::string &problem) {
    diagnostics.error(
        kernel.instrs[id].where,
        fmt::format("there is no code for what '{}' does: {}", kernel.nameOf(id), problem));
  }

  //===--- 1. Tiles -------------------------------------------------------===//

  void read(InstrId id) {
    std::vector<std::string> problems;
    std::optional<Effect> effect = subject.isCall(id)
                                       ? data::readTiles(kernel, id, subject.values)
                                       : data::readEffect(kernel, id, subject.values, problems);
    if (effect) {
      addShapes(effect->reads, effect->readShapes, problems);
      addShapes(effect->writes, effect->writeShapes, problems);
    }
    for (const std::string &problem : problems) {
      error(id, problem);
    }
    if (problems.empty()) {
      subject.effects[id] = effect || !subject.options.pauses ? std::move(effect) : onlyReads(id);
    }
  }

  /// Of an instruction that computes nothing; none if it reads nothing, or it is not known what.
  std::optional<Effect> onlyReads(InstrId id) const {
    Effect effect = data::readTiles(kernel, id, subject.values);
    std::vector<std::string> problems;
    addShapes(effect.reads, effect.readShapes, problems);
    bool areKnown = std::ranges::all_of(effect.reads, [&](const data::Tile &tile) {
      return tile.unknownValue().empty() && !subject.bodyOf(tile).access.anywhere;
    });
    bool isRead = !effect.reads.empty() && problems.empty() && areKnown;
    return isRead ? std::optional(std::move(effect)) : std::nullopt;
  }

  void addShapes(const std::vector<data::Tile> &tiles, std::vector<Shape> &shapes,
                 std::vector<std::string> &problems) const {
    for (const data::Tile &tile : tiles) {
      shapes.emplace_back();
      const ParsedAccess &access = subject.bodyOf(tile).access;
      const Shape &extents = kernel.buffers[tile.buffer()].shape;
      if (access.dims.empty()) {
        shapes.back() = extents;
        continue;
      }
      for (size_t d = 0; d < access.dims.size(); ++d) {
        std::string problem = addDim(access, access.dims[d], extents[d], shapes.back());
        if (!problem.empty()) {
          problems.push_back(
              fmt::format("'{}' {}", kernel.text(kernel.accesses[tile.access()].text), problem));
          break;
        }
      }
    }
  }

  static std::string addDim(const ParsedAccess &access, const TileDim &dim, uint64_t extent,
                            Shape &shape) {
    if (!dim.size.valid()) {
      return {};
    }
    if (!access.isConstant(dim.size)) {
      return "is not always equally large; write a number after the ':'";
    }
    int64_t size = access.exprs[dim.size].value;
    if (size < 1 || static_cast<uint64_t>(size) > extent) {
      return fmt::format("has {} elements in a dimension of {}", size, extent);
    }
    shape.push_back(static_cast<uint64_t>(size));
    return {};
  }

  /// Chance decides them elsewhere, which is of no use to functions of the user's.
  void refuseConditions() {
    for (const Loop &loop : kernel.loops) {
      if (loop.trip.isOpaque() && loop.kind != LoopKind::Else) {
        diagnostics.error(loop.where,
                          fmt::format("nothing decides the condition of '{}', as '--calls' has no "
                                      "function for it; let a function decide what it does",
                                      kernel.text(loop.name)));
      }
    }
  }

  //===--- 2. Shapes, and 3. kinds ----------------------------------------===//

  /// A queue keeps what the last instruction before, in the order of the text, made it keep. Before
  /// the first one that is the last of all, as in a loop; so there is another round. Kernels in
  /// which that depends on the iterations are not followed by Data, either.
  void findShapes() {
    std::vector<std::string> problems(kernel.instrs.size());
    for (int round = 0; round < 2; ++round) {
      for (InstrId id : kernel.instrs.ids()) {
        const std::optional<Effect> &effect = subject.effects[id];
        if (effect && !effect->compute.results.empty()) {
          problems[id.value] = findShapesOf(id);
        }
      }
    }
    for (InstrId id : kernel.instrs.ids()) {
      if (!problems[id.value].empty()) {
        error(id, problems[id.value]);
      }
    }
  }

  std::string findShapesOf(InstrId id) {
    Effect &effect = *subject.effects[id];
    QueueId queue = kernel.instrs[id].queue;
    std::optional<Kept> &now = kept[queue];
    std::string problem = data::inferShapes(
        kernel, effect, queue, now ? std::optional(now->shape) : std::optional<Shape>());
    if (!problem.empty()) {
      return problem;
    }
    subject.kept[id] = now;
    findKinds(id);
    for (const ComputeResult &result : effect.compute.results) {
      if (result.kind == ComputeResult::Kind::Keep) {
        now = Kept{effect.shapes[result.value], subject.kinds[id][result.value]};
        subject.keptSizes[queue] =
            std::max(subject.keptSizes[queue], data::numElements(now->shape));
      }
    }
    return {};
  }

  void findKinds(InstrId id) {
    const Effect &effect = *subject.effects[id];
    IdVector<ComputeId, Kind> &kinds = subject.kinds[id];
    kinds.assign(effect.compute.nodes.size(), Kind::Number);
    for (ComputeId node : effect.compute.nodes.ids()) {
      kinds[node] = kindOf(effect.compute.nodes[node], kinds, subject.kept[id]);
    }
  }

  static Kind kindOf(const ComputeNode &node, const IdVector<ComputeId, Kind> &kinds,
                     const std::optional<Kept> &kept) {
    switch (node.op) {
    case ComputeOp::Number:
    case ComputeOp::Iteration:
    case ComputeOp::Read:
    case ComputeOp::Gather:
    case ComputeOp::FromBits:
      return Kind::Number;
    case ComputeOp::Kept:
      return kept ? kept->kind : Kind::Number;
    case ComputeOp::Bits:
      return Kind::Whole;
    case ComputeOp::Select:
      return std::min(kinds[node.operands[1]], kinds[node.operands[2]]);
    case ComputeOp::Transpose:
    case ComputeOp::Permute:
    case ComputeOp::Reshape:
      return kinds[node.operands[0]];
    default:
      return data::takesWholes(node) ? Kind::Whole : Kind::Number;
    }
  }

  //===--- 4. Counts ------------------------------------------------------===//

  void findCounts(InstrId id) {
    const Effect &effect = *subject.effects[id];
    for (const std::vector<data::Tile> *tiles : {&effect.reads, &effect.writes}) {
      for (const data::Tile &tile : *tiles) {
        const BodyTile &body = subject.bodyOf(tile);
        for (const TileExpr &node : body.access.exprs) {
          if (node.kind == TileExpr::Kind::Loop || node.kind == TileExpr::Kind::Total ||
              node.kind == TileExpr::Kind::Trips) {
            addCount(id, {node.kind, body.loopOf(node)});
          }
        }
      }
    }
    for (const ComputeNode &node : effect.compute.nodes) {
      if (node.op == ComputeOp::Iteration) {
        addIteration(id, data::depthOf(kernel, kernel.instrs[id].home, node.word));
      }
    }
    for (uint32_t depth : effect.startDepths) {
      if (depth != Effect::always) {
        addIteration(id, depth);
      }
    }
    for (LoopId loop = kernel.instrs[id].home; subject.isCall(id) && loop != rootLoop;
         loop = kernel.loops[loop].parent) {
      if (!kernel.loops[loop].isBranch()) {
        addCount(id, {TileExpr::Kind::Loop, loop});
      }
    }
    std::ranges::sort(subject.counts[id]);
  }

  void addIteration(InstrId id, uint32_t depth) {
    addCount(id, {TileExpr::Kind::Loop, loopAt(kernel, kernel.instrs[id].home, depth)});
  }

  void addCount(InstrId id, Count count) {
    std::vector<Count> &counts = subject.counts[id];
    if (std::ranges::find(counts, count) == counts.end()) {
      counts.push_back(count);
    }
  }

  const Kernel &kernel;
  Diagnostics &diagnostics;
  Subject subject;
  IdVector<QueueId, std::optional<Kept>> kept; ///< after the instruction that was looked at last
};

} // namespace

size_t Subject::numCounts(QueueId queue) const {
  size_t most = 1;
  for (InstrId id : kernel.instrs.ids()) {
    if (kernel.instrs[id].queue == queue) {
      most = std::max(most, counts[id].size());
    }
  }
  return most;
}

LoopId loopAt(const Kernel &kernel, LoopId home, uint32_t depth) {
  while (kernel.loops[home].depth != depth + 1) {
    home = kernel.loops[home].parent;
  }
  return home;
}

/// Whether, if it runs at all, it first runs before anything that stands behind it in the text.
static bool isFirstInText(const Kernel &kernel, LoopId home) {
  for (; home != rootLoop; home = kernel.loops[home].parent) {
    const Loop &loop = kernel.loops[home];
    if (loop.isBranch() || (loop.parent != rootLoop && loop.trip.least() == 0)) {
      return false;
    }
  }
  return true;
}

IdVector<BufferId, bool> neededBuffers(const Subject &subject) {
  const Kernel &kernel = subject.kernel;
  IdVector<BufferId, bool> isNeeded(kernel.buffers.size(), false);
  IdVector<BufferId, bool> isRead = isNeeded, isWritten = isNeeded;
  for (InstrId id : kernel.instrs.ids()) {
    if (subject.effects[id] && isFirstInText(kernel, kernel.instrs[id].home)) {
      const Effect &effect = *subject.effects[id];
      for (const ComputeNode &node : effect.compute.nodes) {
        if (node.op == ComputeOp::Read || node.op == ComputeOp::Gather) {
          const data::Tile &tile = effect.reads[node.read];
          BufferId buffer = kernel.accesses[tile.access()].buffer;
          bool isSure = subject.bodyOf(tile).ownGuards().empty();
          isNeeded[buffer] = isNeeded[buffer] || (isSure && !isWritten[buffer]);
        }
      }
    }
    for (AccessId access : kernel.instrs[id].accesses) {
      BufferId buffer = kernel.accesses[access].buffer;
      (kernel.accesses[access].kind == AccessKind::Read ? isRead : isWritten)[buffer] = true;
    }
  }
  for (BufferId id : kernel.buffers.ids()) {
    isNeeded[id] = isNeeded[id] || (isRead[id] && !isWritten[id]);
  }
  return isNeeded;
}

std::optional<Subject> prepare(const Kernel &kernel, const Code &code, const Machine &machine,
                               Diagnostics &diagnostics, const ProgramOptions &options) {
  return Preparation(kernel, code, machine, options, diagnostics).run();
}

} // namespace tally::exec
