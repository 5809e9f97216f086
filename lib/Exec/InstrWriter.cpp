//===- InstrWriter.cpp - What an instruction computes, for a target -------===//
//
// Does what Data does (DataRun.cpp, Value.cpp), bit for bit, but as loops over elements instead of
// values: `r0 * 2 + r1` becomes one loop that reads two elements and writes one.
//
// Steps:  1. places   where each tile begins, and how far apart its elements are
//         2. needs    in the order of the expression, what cannot be computed element by element
//                     gets a room: sums of rows, products, what is used twice, and what is smaller
//                     than what it is used for
//         3. results  all of them first get rooms where one could read what another one writes;
//                     then each goes to its tile
//
// Terms:  held      a node whose elements lie in memory: a tile, or a room
//         steps     how far apart neighbours along each axis lie there
//         position  an index for each axis of a node's shape
//
//===----------------------------------------------------------------------===//

#include "InstrWriter.h"

#include "../Data/RowFunctions.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace tally::exec {
namespace {

using data::numElements;
using Position = std::vector<Value>;

/// Elements in memory.
struct Held {
  Memory memory;
  Value first;
  std::vector<uint64_t> steps;
  Kind kind = Kind::Number; ///< of a room; a buffer holds both
  bool isRoom = false;
};

std::vector<uint64_t> rowMajor(const Shape &shape) {
  std::vector<uint64_t> steps(shape.size(), 1);
  for (size_t axis = shape.size(); axis-- > 1;) {
    steps[axis - 1] = steps[axis] * shape[axis];
  }
  return steps;
}

/// Without axes of one element.
Shape squeezed(const Shape &shape) {
  Shape result;
  std::ranges::copy_if(shape, std::back_inserter(result), [](uint64_t n) { return n != 1; });
  return result;
}

bool isWideRow(const Shape &shape, const std::vector<uint64_t> &steps) {
  std::vector<uint64_t> dense = rowMajor(shape);
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] != 1 && steps[axis] != dense[axis]) {
      return false;
    }
  }
  return true;
}

class InstrWriter {
public:
  InstrWriter(const Subject &subject, Target &target, InstrId id)
      : subject(subject), kernel(subject.kernel), target(target), id(id),
        effect(*subject.effects[id]), nodes(effect.compute.nodes), kinds(subject.kinds[id]),
        held(nodes.size()), wholes(nodes.size()), numUses(nodes.size(), 0),
        isNeeded(nodes.size(), false) {}

  void write() {
    target.beginInstr(id, subject.counts[id]);
    if (subject.options.pauses) {
      target.pause();
    }
    zero = target.index(0);
    placeTiles(effect.reads, effect.readShapes, "r", reads);
    placeTiles(effect.writes, effect.writeShapes, "w", writes);
    if (subject.options.pauses) {
      touchReads();
    }
    if (subject.isCall(id)) {
      callOwn();
    } else if (effect.compute.results.empty()) {
      // nothing: it only reads
    } else if (!copies()) {
      countUses();
      for (const ComputeResult &result : effect.compute.results) {
        need(result.value);
        if (result.index.valid()) {
          need(result.index);
        }
      }
      if (readsWhatItWrites()) {
        stage();
      }
      storeResults();
    }
    target.endInstr();
  }

private:
  //===--- 1. Places ------------------------------------------------------===//

  struct Placed {
    Held held;
    Shape shape;
    std::optional<Value> guard; ///< it is touched only if this holds
    Format format = Format::F32;
  };

  Value indexOf(const BodyTile &body, TileExprId expr) {
    return writeIndex(body, expr, kernel, target);
  }

  void placeTiles(const std::vector<data::Tile> &tiles, const std::vector<Shape> &shapes,
                  std::string_view name, std::vector<Placed> &places) {
    for (size_t i = 0; i < tiles.size(); ++i) {
      places.push_back(place(tiles[i], shapes[i], fmt::format("{}{}", name, i)));
    }
  }

  Placed place(const data::Tile &tile, const Shape &shape, const std::string &name) {
    const BodyTile &body = subject.bodyOf(tile);
    const Shape &extents = kernel.buffers[tile.buffer()].shape;
    Placed placed{{target.buffer(tile.buffer()), zero, {}},
                  shape,
                  guardOf(body, name),
                  subject.formats[tile.buffer()]};
    std::vector<uint64_t> strides = rowMajor(extents);
    if (body.access.dims.empty()) {
      placed.held.steps = strides;
      return placed;
    }
    Value first;
    for (size_t d = 0; d < extents.size(); ++d) {
      const TileDim &dim = body.access.dims[d];
      uint64_t count = 1;
      if (dim.size.valid()) {
        count = shape[placed.held.steps.size()];
        placed.held.steps.push_back(strides[d] * static_cast<uint64_t>(dim.stride));
      }
      Value from = inside(tile, body, dim, extents[d], count, placed.guard);
      Value at = times(from, strides[d]);
      first = first.valid() ? plus(first, at) : at;
    }
    placed.held.first = first.valid() ? target.named(name, first) : zero;
    return placed;
  }

  /// Where a dimension begins, so that all of it is inside.
  Value inside(const data::Tile &tile, const BodyTile &body, const TileDim &dim, uint64_t extent,
               uint64_t count, const std::optional<Value> &guard) {
    uint64_t span = (count - 1) * static_cast<uint64_t>(dim.stride);
    Value from = indexOf(body, dim.first);
    uint64_t size = extent - std::min(span, extent); // of where it may begin
    std::string_view text = kernel.text(kernel.accesses[tile.access()].text);
    const TileExpr &expr = body.access.exprs[dim.first];
    bool isConstant = expr.kind == TileExpr::Kind::Constant;
    bool isSmall =
        isConstant ? expr.value >= 0 && static_cast<uint64_t>(expr.value) < size
                   : expr.kind == TileExpr::Kind::Mod && static_cast<uint64_t>(expr.value) <= size;
    if (isSmall) {
      return from;
    }
    // What is not touched may be outside.
    return guard ? target.withinIf(*guard, from, size, text) : target.within(from, size, text);
  }

  std::optional<Value> guardOf(const BodyTile &body, const std::string &name) {
    std::optional<Value> all;
    for (const TileGuard &guard : body.ownGuards()) { // where it runs, the others hold
      Value holds =
          target.compare(guard.relation, indexOf(body, guard.left), indexOf(body, guard.right));
      all = all ? target.both(*all, holds) : holds;
    }
    return all ? std::optional(target.namedCondition("touches_" + name, *all)) : std::nullopt;
  }

  void touchReads() {
    for (const Placed &read : reads) {
      if (read.guard) {
        target.beginWhen(*read.guard);
      }
      forEach(read.shape, [&](const Position &position) {
        target.touch(read.held.memory, addressOf(read.held, position));
      });
      if (read.guard) {
        target.endWhen();
      }
    }
  }

  void callOwn() {
    std::vector<Value> indices;
    for (const Count &count : subject.counts[id]) {
      if (count.kind == TileExpr::Kind::Loop) {
        indices.push_back(target.count(count));
      }
    }
    std::vector<OwnTile> tiles;
    for (const std::vector<Placed> *places : {&reads, &writes}) {
      for (const Placed &placed : *places) {
        tiles.push_back({{placed.held.memory, placed.held.first}, placed.guard, places == &reads});
      }
    }
    target.callOwn(indices, tiles);
  }

  //===--- Indices --------------------------------------------------------===//

  Value plus(Value a, Value b) { return target.indexOf(TileExpr::Kind::Add, a, b); }

  Value times(Value a, uint64_t factor) {
    return factor == 1 || a == zero ? a : target.indexOf(TileExpr::Kind::Scale, a, number(factor));
  }

  Value number(uint64_t n) { return target.index(static_cast<int64_t>(n)); }

  Value addressOf(const Held &at, const Position &position) {
    Value address = at.first;
    for (size_t axis = 0; axis < position.size(); ++axis) {
      if (position[axis] != zero) {
        Value step = times(position[axis], at.steps[axis]);
        address = address == zero ? step : plus(address, step);
      }
    }
    return address;
  }

  /// Opens a loop for each axis; close with endLoops().
  Position beginLoops(const Shape &shape) {
    Position position;
    for (uint64_t extent : shape) {
      position.push_back(extent == 1 ? zero : target.beginCount(extent));
    }
    return position;
  }

  void endLoops(const Shape &shape) {
    for (uint64_t extent : shape) {
      if (extent != 1) {
        target.endCount();
      }
    }
  }

  template <typename Body> void forEach(const Shape &shape, Body body) {
    Position position = beginLoops(shape);
    body(position);
    endLoops(shape);
  }

  Value flat(const Shape &shape, const Position &position) {
    return addressOf({{}, zero, rowMajor(shape)}, position);
  }

  /// Where the element of this number is.
  Position unflattened(const Shape &shape, Value element) {
    std::vector<uint64_t> steps = rowMajor(shape);
    Position position;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      if (shape[axis] == 1) {
        position.push_back(zero);
        continue;
      }
      Value outer = steps[axis] == 1
                        ? element
                        : target.indexOf(TileExpr::Kind::FloorDiv, element, number(steps[axis]));
      position.push_back(target.indexOf(TileExpr::Kind::Mod, outer, number(shape[axis])));
    }
    return position;
  }

  /// The element of `inner` that goes with this one of `outer`: aligned at the first axes, and an
  /// axis of one element goes with any.
  Position aligned(const Shape &inner, const Position &position) {
    Position result;
    for (size_t axis = 0; axis < inner.size(); ++axis) {
      result.push_back(inner[axis] == 1 || axis >= position.size() ? zero : position[axis]);
    }
    return result;
  }

  /// The same element in a shape that differs in axes of one element only, or the one of the same
  /// number.
  Position moved(const Shape &to, const Shape &from, const Position &position) {
    if (squeezed(to) != squeezed(from)) {
      return unflattened(to, flat(from, position));
    }
    Position result;
    size_t next = 0;
    for (uint64_t extent : to) {
      while (extent != 1 && from[next] == 1) {
        ++next;
      }
      result.push_back(extent == 1 ? zero : position[next++]);
    }
    return result;
  }

  //===--- Elements -------------------------------------------------------===//

  bool isOf(ComputeId node, ComputeOp op) const { return nodes[node].op == op; }

  const Placed &tileOf(ComputeId node) const { return reads[nodes[node].read]; }

  bool readsWholes(ComputeId node) const {
    return isOf(node, ComputeOp::Read) && isWhole(tileOf(node).format);
  }

  Value load(const Held &at, Value address, Kind kind) {
    bool isWholeRoom = at.isRoom && at.kind == Kind::Whole;
    if (kind == Kind::Whole) {
      return at.isRoom && !isWholeRoom ? target.toWhole(target.loadNumber(at.memory, address))
                                       : target.loadWhole(at.memory, address);
    }
    return isWholeRoom ? target.toNumber(target.loadWhole(at.memory, address))
                       : target.loadNumber(at.memory, address);
  }

  /// An element, as this kind.
  Value element(ComputeId node, const Position &position, Kind kind) {
    if (kind == Kind::Whole && wholes[node]) {
      return load(*wholes[node], addressOf(*wholes[node], position), kind);
    }
    if (held[node]) {
      bool isExact = kind != Kind::Whole || held[node]->isRoom || readsWholes(node);
      if (isExact) {
        return load(*held[node], addressOf(*held[node], position), kind);
      }
      return target.toWhole(load(*held[node], addressOf(*held[node], position), Kind::Number));
    }
    Value value = made(node, position);
    if (kinds[node] == kind) {
      return value;
    }
    return kind == Kind::Whole ? target.toWhole(value) : target.toNumber(value);
  }

  /// An element of what is not held, of the node's own kind.
  Value made(ComputeId node, const Position &position) {
    const ComputeNode &what = nodes[node];
    switch (what.op) {
    case ComputeOp::Number:
      return target.number(what.number);
    case ComputeOp::Iteration:
      return target.numberOf(iterationOf(data::depthOf(kernel, kernel.instrs[id].home, what.word)));
    case ComputeOp::Index:
      return target.numberOf(position[what.list.back()]);
    case ComputeOp::Transpose: {
      Position swapped = position;
      std::swap(swapped[swapped.size() - 1], swapped[swapped.size() - 2]);
      return element(what.operands[0], swapped, kinds[node]);
    }
    case ComputeOp::Permute: {
      Position before(position.size());
      for (size_t axis = 0; axis < position.size(); ++axis) {
        before[what.list[axis]] = position[axis];
      }
      return element(what.operands[0], before, kinds[node]);
    }
    case ComputeOp::Convert: {
      Kind from = operandKind(node, 0);
      return target.convert(*formatNamed(what.word), operand(node, 0, position, from), from);
    }
    default:
      break;
    }
    std::vector<Value> operands;
    for (size_t i = 0; i < what.operands.size() && what.operands[i].valid(); ++i) {
      operands.push_back(operand(node, i, position, operandKind(node, i)));
    }
    return target.apply(what.op, operands);
  }

  Value operand(ComputeId node, size_t i, const Position &position, Kind kind) {
    ComputeId of = nodes[node].operands[i];
    return element(of, aligned(effect.shapes[of], position), kind);
  }

  /// What an operation element by element takes its operand for.
  Kind operandKind(ComputeId node, size_t i) const {
    const ComputeNode &what = nodes[node];
    ComputeId of = what.operands[i];
    switch (what.op) {
    case ComputeOp::Convert:
      return data::takesWholes(what) && readsWholes(of) ? Kind::Whole : kinds[of];
    case ComputeOp::Select:
      return i == 0 ? Kind::Number : kinds[node];
    default:
      return data::takesWholes(what) ? Kind::Whole : Kind::Number;
    }
  }

  Value iterationOf(uint32_t depth) {
    return target.count({TileExpr::Kind::Loop, loopAt(kernel, kernel.instrs[id].home, depth)});
  }

  //===--- 2. Needs -------------------------------------------------------===//

  void countUses() {
    for (const ComputeNode &node : nodes) {
      for (ComputeId operand : node.operands) {
        if (operand.valid()) {
          ++numUses[operand];
        }
      }
    }
    for (const ComputeResult &result : effect.compute.results) {
      ++numUses[result.value];
      if (result.index.valid()) {
        ++numUses[result.index];
      }
    }
  }

  static bool isLeaf(ComputeOp op) {
    return op == ComputeOp::Number || op == ComputeOp::Iteration || op == ComputeOp::Index ||
           op == ComputeOp::Read || op == ComputeOp::Kept;
  }

  static bool isRowFunction(ComputeOp op) {
    return (op >= ComputeOp::RowSum && op <= ComputeOp::Replace) || op == ComputeOp::Matmul;
  }

  void need(ComputeId node) {
    if (isNeeded[node]) {
      return;
    }
    isNeeded[node] = true;
    const ComputeNode &what = nodes[node];
    for (size_t i = what.op == ComputeOp::Gather; i < what.operands.size(); ++i) {
      if (what.operands[i].valid()) {
        need(what.operands[i]);
        if (numElements(effect.shapes[what.operands[i]]) < numElements(effect.shapes[node])) {
          hold(what.operands[i]);
        }
      }
    }
    switch (what.op) {
    case ComputeOp::Read:
      return holdTile(node);
    case ComputeOp::Kept: {
      const Kept &kept = *subject.kept[id];
      held[node] = roomOf(target.roomOf(kernel.instrs[id].queue, kept.kind), kept.shape, kept.kind);
      return;
    }
    case ComputeOp::Reshape:
      return reshape(node);
    case ComputeOp::Gather:
      return gather(node);
    default:
      break;
    }
    if (isRowFunction(what.op)) {
      computeRows(node);
    } else if (numUses[node] > 1) {
      hold(node);
    }
  }

  Held roomOf(Memory memory, const Shape &shape, Kind kind) {
    return {memory, zero, rowMajor(shape), kind, true};
  }

  Held newRoom(const Shape &shape, Kind kind) {
    return roomOf(target.room(fmt::format("t{}", numRooms++), kind, numElements(shape)), shape,
                  kind);
  }

  void store(const Held &room, Value address, Value value) {
    if (room.kind == Kind::Whole) {
      target.storeWhole(room.memory, address, value);
    } else {
      target.storeNumber(room.memory, address, value);
    }
  }

  /// Gives a node a room, unless it is held, or nothing to compute.
  void hold(ComputeId node) {
    if (held[node] || isLeaf(nodes[node].op)) {
      return;
    }
    held[node] = computed(node, effect.shapes[node], kinds[node]);
  }

  /// All elements of a node in a room, spread to this shape.
  Held computed(ComputeId node, const Shape &shape, Kind kind) {
    Held room = newRoom(shape, kind);
    forEach(shape, [&](const Position &position) {
      Value value = element(node, aligned(effect.shapes[node], position), kind);
      store(room, flat(shape, position), value);
    });
    return room;
  }

  /// A tile is where it is; one whose guards do not hold is all zeros.
  void holdTile(ComputeId node) {
    const Placed &tile = tileOf(node);
    if (!tile.guard) {
      held[node] = tile.held;
      return;
    }
    held[node] = guarded(tile, Kind::Number);
    if (isWhole(tile.format)) {
      wholes[node] = guarded(tile, Kind::Whole);
    }
  }

  Held guarded(const Placed &tile, Kind kind) {
    Held room = newRoom(tile.shape, kind);
    auto fill = [&](auto value) {
      forEach(tile.shape, [&](const Position &position) {
        store(room, flat(tile.shape, position), value(position));
      });
    };
    target.beginWhen(*tile.guard);
    fill([&](const Position &position) {
      return load(tile.held, addressOf(tile.held, position), kind);
    });
    target.beginOtherwise();
    fill([&](const Position &) { return zeroOf(kind); });
    target.endWhen();
    return room;
  }

  Value zeroOf(Kind kind) {
    return kind == Kind::Number ? target.number(0) : target.toWhole(target.number(0));
  }

  /// The elements of a node one after the other, spread to this shape.
  Held dense(ComputeId node, const Shape &shape, Kind kind) {
    const Shape &own = effect.shapes[node];
    bool isRoom = held[node] && held[node]->isRoom && held[node]->kind == kind;
    bool isPlain = held[node] && !held[node]->isRoom && kind == Kind::Number &&
                   tileOf(node).format == Format::F32;
    if (own == shape && (isRoom || isPlain) && isWideRow(own, held[node]->steps)) {
      return *held[node];
    }
    return computed(node, shape, kind);
  }

  void reshape(ComputeId node) {
    ComputeId of = nodes[node].operands[0];
    Held at = dense(of, effect.shapes[of], kinds[node]);
    at.steps = rowMajor(effect.shapes[node]);
    held[node] = at;
  }

  //===--- Rows -----------------------------------------------------------===//

  Place placeOf(const Held &at, Value offset) {
    return {at.memory, offset == zero     ? at.first
                       : at.first == zero ? offset
                                          : plus(at.first, offset)};
  }

  void computeRows(ComputeId node) {
    switch (nodes[node].op) {
    case ComputeOp::RowSum:
      return reduce(node, "rowSum");
    case ComputeOp::RowProduct:
      return reduce(node, "rowProduct");
    case ComputeOp::RowMax:
      return reduce(node, "rowMax");
    case ComputeOp::RowMin:
      return reduce(node, "rowMin");
    case ComputeOp::Scan:
      return scan(node);
    case ComputeOp::Matmul:
      return multiply(node);
    default:
      return search(node);
    }
  }

  /// The axes over which it goes come last, ascending.
  void reduce(ComputeId node, std::string_view function) {
    ComputeId of = nodes[node].operands[0];
    const Shape &shape = effect.shapes[of];
    std::vector<uint64_t> axes = data::axesOf(nodes[node], shape);
    std::vector<uint64_t> order;
    for (uint64_t axis = 0; axis < shape.size(); ++axis) {
      if (!std::ranges::binary_search(axes, axis)) {
        order.push_back(axis);
      }
    }
    order.insert(order.end(), axes.begin(), axes.end());
    Held rows =
        std::ranges::is_sorted(order) ? dense(of, shape, Kind::Number) : permuted(of, order);
    uint64_t length = 1;
    for (uint64_t axis : axes) {
      length *= shape[axis];
    }
    Held room = newRoom(effect.shapes[node], Kind::Number);
    Shape all{numElements(effect.shapes[node])};
    forEach(all, [&](const Position &row) {
      Argument arguments[] = {placeOf(rows, times(row[0], length)), length};
      store(room, row[0], target.callForNumber(function, arguments));
    });
    held[node] = room;
  }

  Held permuted(ComputeId node, const std::vector<uint64_t> &order) {
    Shape shape;
    for (uint64_t axis : order) {
      shape.push_back(effect.shapes[node][axis]);
    }
    Held room = newRoom(shape, Kind::Number);
    forEach(shape, [&](const Position &position) {
      Position before(position.size());
      for (size_t axis = 0; axis < position.size(); ++axis) {
        before[order[axis]] = position[axis];
      }
      store(room, flat(shape, position), element(node, before, Kind::Number));
    });
    return room;
  }

  void multiply(ComputeId node) {
    const ComputeNode &what = nodes[node];
    const Shape &first = effect.shapes[what.operands[0]];
    const Shape &second = effect.shapes[what.operands[1]];
    Held a = dense(what.operands[0], first, Kind::Number);
    Held b = dense(what.operands[1], second, Kind::Number);
    Held room = newRoom(effect.shapes[node], Kind::Number);
    Argument arguments[] = {placeOf(a, zero), placeOf(b, zero), first[0],
                            first[1],         second[1],        placeOf(room, zero)};
    target.call("matmul", arguments);
    held[node] = room;
  }

  void scan(ComputeId node) {
    const ComputeNode &what = nodes[node];
    const Shape &shape = effect.shapes[node];
    Shape firsts = shape;
    firsts.back() = 1;
    Held a = spread(what.operands[0], shape);
    Held b = spread(what.operands[1], shape);
    Held first = spread(what.operands[2], firsts);
    Held room = newRoom(shape, Kind::Number);
    uint64_t length = shape.back();
    forEach({numElements(firsts)}, [&](const Position &row) {
      Value at = times(row[0], length);
      Value start = load(first, placeOf(first, row[0]).element, Kind::Number);
      Argument arguments[] = {data::rows::signOf(what.list[0]),
                              data::rows::signOf(what.list[1]),
                              placeOf(a, at),
                              placeOf(b, at),
                              start,
                              length,
                              placeOf(room, at)};
      target.call("rowScan", arguments);
    });
    held[node] = room;
  }

  /// As Data spreads: by alignment, whatever the number of elements.
  Held spread(ComputeId node, const Shape &shape) { return dense(node, shape, Kind::Number); }

  /// top, find and replace.
  void search(ComputeId node) {
    const ComputeNode &what = nodes[node];
    const Shape &shape = effect.shapes[what.operands[0]];
    Held rows = dense(what.operands[0], shape, Kind::Number);
    std::optional<Held> values;
    uint64_t count = effect.shapes[node].back();
    if (what.op != ComputeOp::Top) {
      const Shape &sought = effect.shapes[what.operands[1]];
      values = dense(what.operands[1], sought, Kind::Number);
      count = sought.back();
    }
    Held room = newRoom(effect.shapes[node], Kind::Number);
    uint64_t length = shape.back();
    forEach({numElements(shape) / length}, [&](const Position &row) {
      std::vector<Argument> arguments = {placeOf(rows, times(row[0], length)), length};
      if (values) {
        arguments.emplace_back(placeOf(*values, times(row[0], count)));
      }
      arguments.emplace_back(count);
      if (what.op == ComputeOp::Replace) {
        ComputeId with = what.operands[2];
        arguments.emplace_back(
            element(with, Position(effect.shapes[with].size(), zero), Kind::Number));
      }
      arguments.emplace_back(placeOf(room, times(row[0], effect.shapes[node].back())));
      target.call(what.op == ComputeOp::Top    ? "rowTop"
                  : what.op == ComputeOp::Find ? "rowFind"
                                               : "rowReplace",
                  arguments);
    });
    held[node] = room;
  }

  /// Rows of a buffer, by one index or two.
  void gather(ComputeId node) {
    const ComputeNode &what = nodes[node];
    const Placed &table = tileOf(what.operands[0]);
    BufferId buffer = effect.reads[nodes[what.operands[0]].read].buffer();
    const Shape &indices = effect.shapes[what.operands[1]];
    uint64_t length = numElements(effect.shapes[node]) / numElements(indices);
    Held room = newRoom(effect.shapes[node], Kind::Number);
    if (table.guard) {
      target.beginWhen(*table.guard);
    }
    forEach(indices, [&](const Position &position) {
      Value row = rowAt(what.operands[1], position, buffer, 0);
      if (what.operands[2].valid()) {
        Value second =
            rowAt(what.operands[2], aligned(effect.shapes[what.operands[2]], position), buffer, 1);
        row = plus(times(row, kernel.buffers[buffer].shape[1]), second);
      }
      Value from = target.named("row", times(row, length));
      Value to = times(flat(indices, position), length);
      forEach({length}, [&](const Position &j) {
        store(room, sum(to, j[0]), target.loadNumber(table.held.memory, sum(from, j[0])));
      });
    });
    if (table.guard) {
      target.beginOtherwise();
      forEach({numElements(effect.shapes[node])},
              [&](const Position &position) { store(room, position[0], target.number(0)); });
      target.endWhen();
    }
    held[node] = room;
  }

  Value sum(Value a, Value b) { return a == zero ? b : b == zero ? a : plus(a, b); }

  Value rowAt(ComputeId index, const Position &position, BufferId buffer, size_t axis) {
    return target.rowIndex(element(index, position, Kind::Number),
                           kernel.buffers[buffer].shape[axis],
                           kernel.text(kernel.buffers[buffer].name));
  }

  //===--- 3. Results -----------------------------------------------------===//

  /// A result that only copies a tile to a buffer of the same format copies its bits.
  bool copies() {
    const std::vector<ComputeResult> &results = effect.compute.results;
    if (results.size() != 1 || results[0].kind != ComputeResult::Kind::Value ||
        !isOf(results[0].value, ComputeOp::Read) || effect.numWrites != 1) {
      return false;
    }
    const Placed &from = tileOf(results[0].value);
    const Placed &to = writes[0];
    if (from.format != to.format || from.held.memory == to.held.memory ||
        numElements(from.shape) != numElements(to.shape)) {
      return false;
    }
    when(to.guard, [&] {
      if (from.guard) {
        target.beginWhen(*from.guard);
      }
      forEach(to.shape, [&](const Position &position) {
        target.copy(to.held.memory, addressOf(to.held, position), from.held.memory,
                    sourceOf(from.held, from.shape, to.shape, position));
      });
      if (from.guard) {
        target.beginOtherwise();
        forEach(to.shape, [&](const Position &position) {
          target.storeNumber(to.held.memory, addressOf(to.held, position), target.number(0));
        });
        target.endWhen();
      }
    });
    return true;
  }

  template <typename Body> void when(const std::optional<Value> &guard, Body body) {
    if (guard) {
      target.beginWhen(*guard);
    }
    body();
    if (guard) {
      target.endWhen();
    }
  }

  /// The address of the element that has the number of this one of `to`.
  Value sourceOf(const Held &from, const Shape &shape, const Shape &to, const Position &position) {
    if (squeezed(shape) != squeezed(to) && isWideRow(shape, from.steps)) {
      return sum(from.first, flat(to, position));
    }
    return addressOf(from, moved(shape, to, position));
  }

  /// Whether a result could be written over something that another result, or a later element of
  /// its own, still reads.
  bool readsWhatItWrites() const {
    bool keeps = false, takesKept = false;
    for (const ComputeResult &result : effect.compute.results) {
      keeps |= result.kind == ComputeResult::Kind::Keep;
    }
    for (const ComputeNode &node : nodes) {
      takesKept |= node.op == ComputeOp::Kept;
    }
    bool overlaps = std::ranges::any_of(writes, [&](const Placed &to) {
      return std::ranges::any_of(
          reads, [&](const Placed &from) { return from.held.memory == to.held.memory; });
    });
    return overlaps || (keeps && takesKept);
  }

  /// Of a result that goes to this tile: numbers, or whole numbers that only change their format.
  bool isMovedWhole(const ComputeResult &result, const Placed &to) const {
    return readsWholes(result.value) && isWhole(to.format);
  }

  void stage() {
    uint32_t tile = 0;
    for (const ComputeResult &result : effect.compute.results) {
      bool hasTile = result.kind != ComputeResult::Kind::Keep;
      stage(result.value,
            hasTile && isMovedWhole(result, writes[tile]) ? Kind::Whole : kinds[result.value]);
      if (result.index.valid()) {
        stage(result.index, kinds[result.index]);
      }
      tile += hasTile;
    }
  }

  void stage(ComputeId node, Kind kind) {
    if (kind == Kind::Whole && readsWholes(node)) {
      wholes[node] = wholes[node] ? wholes[node] : computed(node, effect.shapes[node], kind);
      return;
    }
    bool isOwnRoom = held[node] && held[node]->isRoom && held[node]->kind == kind &&
                     !isOf(node, ComputeOp::Kept);
    if (!isOwnRoom) {
      held[node] = computed(node, effect.shapes[node], kind);
    }
  }

  void storeResults() {
    uint32_t tile = 0;
    for (size_t i = 0; i < effect.compute.results.size(); ++i) {
      const ComputeResult &result = effect.compute.results[i];
      if (result.kind == ComputeResult::Kind::Keep) {
        keep(result.value);
        continue;
      }
      when(writes[tile].guard, [&] {
        if (result.kind == ComputeResult::Kind::Scatter) {
          scatter(result, tile);
        } else {
          storeOrAdd(result, i, tile);
        }
      });
      ++tile;
    }
  }

  void keep(ComputeId node) {
    const Shape &shape = effect.shapes[node];
    QueueId queue = kernel.instrs[id].queue;
    Held room = roomOf(target.roomOf(queue, kinds[node]), shape, kinds[node]);
    forEach(shape, [&](const Position &position) {
      store(room, flat(shape, position), element(node, position, kinds[node]));
    });
  }

  /// An accumulated tile is added to, unless the result begins a sum.
  void storeOrAdd(const ComputeResult &result, size_t number, uint32_t tile) {
    bool isAccumulated = tile >= effect.numWrites;
    bool isStart = result.kind == ComputeResult::Kind::Start;
    uint32_t depth = effect.startDepths[number];
    if (isAccumulated && isStart && depth != Effect::always) {
      target.beginWhen(
          target.compare(TileGuard::Relation::Equal, iterationOf(depth), target.index(0)));
      storeResult(result, tile, false);
      target.beginOtherwise();
      storeResult(result, tile, true);
      target.endWhen();
      return;
    }
    storeResult(result, tile, isAccumulated && !isStart);
  }

  void storeResult(const ComputeResult &result, uint32_t tile, bool isAdded) {
    const Placed &to = writes[tile];
    ComputeId node = result.value;
    const Shape &shape = effect.shapes[node];
    bool fills = numElements(shape) == numElements(to.shape);
    bool isMoved = isMovedWhole(result, to) && !isAdded;
    if (fills && squeezed(shape) != squeezed(to.shape)) {
      hold(node);
    }
    forEach(to.shape, [&](const Position &position) {
      auto valueAs = [&](Kind kind) {
        return fills ? elementAs(node, to.shape, position, kind)
                     : element(node, aligned(shape, position), kind);
      };
      storeElement(to, addressOf(to.held, position), isMoved ? Kind::Whole : kinds[node], isAdded,
                   [&](Kind kind) {
                     Value value = valueAs(kind);
                     return isMoved ? target.nearest(to.format, tileOf(node).format, value) : value;
                   });
    });
  }

  /// The element that has the number of this one of another shape.
  Value elementAs(ComputeId node, const Shape &to, const Position &position, Kind kind) {
    const std::optional<Held> &at = kind == Kind::Whole && wholes[node] ? wholes[node] : held[node];
    bool isPlain = at && (kind != Kind::Whole || at->isRoom || readsWholes(node));
    if (isPlain) {
      return load(*at, sourceOf(*at, effect.shapes[node], to, position), kind);
    }
    return element(node, moved(effect.shapes[node], to, position), kind);
  }

  /// Rounded to the format of the tile; whole numbers stay exact.
  template <typename ValueAs>
  void storeElement(const Placed &to, Value address, Kind kind, bool isAdded, ValueAs valueAs) {
    if (kind == Kind::Whole && isWhole(to.format) && !isAdded) {
      target.storeWhole(to.held.memory, address, valueAs(Kind::Whole));
      return;
    }
    Value value = valueAs(Kind::Number);
    if (isAdded) {
      Value operands[] = {target.loadNumber(to.held.memory, address), value};
      value = target.apply(ComputeOp::Add, operands);
    }
    target.storeNumber(to.held.memory, address, value);
  }

  /// Rows of the value go where the indices say, one after the other.
  void scatter(const ComputeResult &result, uint32_t tile) {
    const Placed &to = writes[tile];
    const Shape &indices = effect.shapes[result.index];
    const Shape &shape = effect.shapes[result.value];
    uint64_t numRows = numElements(indices);
    uint64_t length = numElements(shape) / numRows;
    BufferId buffer = effect.writes[tile].buffer();
    Kind kind = kinds[result.value];
    Held rows = dense(result.value, shape, kind);
    forEach({numRows}, [&](const Position &i) {
      Value row = rowAt(result.index, unflattened(indices, i[0]), buffer, 0);
      Value first = target.named("row", times(row, length));
      forEach({length}, [&](const Position &j) {
        storeElement(to, sum(first, j[0]), kind, false, [&](Kind as) {
          return load(rows, placeOf(rows, sum(times(i[0], length), j[0])).element, as);
        });
      });
    });
  }

  const Subject &subject;
  const Kernel &kernel;
  Target &target;
  InstrId id;
  const Effect &effect;
  const IdVector<ComputeId, ComputeNode> &nodes;
  const IdVector<ComputeId, Kind> &kinds;
  IdVector<ComputeId, std::optional<Held>> held;
  IdVector<ComputeId, std::optional<Held>> wholes; ///< tiles of whole numbers that are in rooms
  IdVector<ComputeId, uint32_t> numUses;
  IdVector<ComputeId, bool> isNeeded;
  std::vector<Placed> reads, writes;
  uint32_t numRooms = 0;
  Value zero;
};

} // namespace

Value writeIndex(const BodyTile &tile, TileExprId id, const Kernel &kernel, Target &target) {
  const TileExpr &node = tile.access.exprs[id];
  switch (node.kind) {
  case TileExpr::Kind::Constant:
    return target.index(node.value);
  case TileExpr::Kind::Symbol:
    return target.runValue(tile.valueOf(node));
  case TileExpr::Kind::Loop:
  case TileExpr::Kind::Trips:
    if (kernel.loops[tile.loopOf(node)].isBranch()) { // entered once, or not at all
      return target.index(node.kind == TileExpr::Kind::Trips ? 1 : 0);
    }
    return target.count({node.kind, tile.loopOf(node)});
  case TileExpr::Kind::Total:
    return target.count({node.kind, tile.loopOf(node)});
  default:
    break;
  }
  Value a = writeIndex(tile, node.a, kernel, target);
  Value b = node.b.valid() ? writeIndex(tile, node.b, kernel, target) : target.index(node.value);
  return target.indexOf(node.kind, a, b);
}

void writeInstr(const Subject &subject, Target &target, InstrId id) {
  InstrWriter(subject, target, id).write();
}

} // namespace tally::exec
