//===- DataRun.cpp - One order of commits, computed -----------------------===//

#include "EffectTable.h"
#include "Value.h"

#include "tally/Model/Source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tally {

using namespace data;

/// Room that is used again and again: values of nodes, and what queues keep.
struct DataRun::Scratch {
  std::vector<Value> values; ///< by node
  std::vector<uint8_t> isKnown;
  Value spread;
  std::vector<float> sum;
  std::vector<TilePlace> reads;
  std::vector<TilePlace> writes;
  IdVector<QueueId, std::optional<Value>> kept;
};

/// What one run of one instruction reads, and computes of it.
class DataRun::Computation {
public:
  Computation(DataRun &run, const Effect &effect, Instance instance)
      : run(run), scratch(*run.scratch), kernel(run.effects.table->kernel), effect(effect),
        instance(instance), indices(run.effects.table->runs.indices(instance)) {
    place(effect.reads, scratch.reads);
    const size_t numNodes = effect.compute.nodes.size();
    scratch.values.resize(std::max(scratch.values.size(), numNodes));
    scratch.isKnown.assign(numNodes, 0);
  }

  void place(const std::vector<Tile> &tiles, std::vector<TilePlace> &places) {
    places.resize(std::max(places.size(), tiles.size()));
    std::string problem;
    for (size_t i = 0; i < tiles.size(); ++i) {
      [[maybe_unused]] bool isInside = tiles[i].place(indices, places[i], problem);
      assert(isInside && "the places of all runs have been looked at");
    }
  }

  int64_t iteration(uint32_t depth) const { return indices[depth].iteration; }

  /// Counts a fault once in a run.
  void report(DataFault fault) {
    auto known = std::find_if(run.found.begin(), run.found.end(), [&](const DataFault &other) {
      return other.kind == fault.kind && other.buffer == fault.buffer &&
             other.instance.instr == instance.instr;
    });
    if (known == run.found.end()) {
      known = run.found.insert(known, fault);
    }
    known->count += known->latest != instance;
    known->latest = instance;
  }

  void reportPoison(BufferId id, const TilePlace &place) {
    const BufferData &buffer = run.contents[id];
    place.forRuns([&](const ElementRun &stretch, size_t) {
      for (size_t i = 0; buffer.numPoison() > 0 && i < stretch.count; ++i) {
        size_t element = stretch.first + i * stretch.stride;
        if (buffer.isPoison(element)) {
          return report({DataFault::Kind::PoisonRead, instance, id, element});
        }
      }
    });
  }

  void evaluate(ComputeId id) {
    if (scratch.isKnown[id.value] != 0) {
      return;
    }
    scratch.isKnown[id.value] = 1;
    const ComputeNode &node = effect.compute.nodes[id];
    Value &value = scratch.values[id.value];
    switch (node.op) {
    case ComputeOp::Number:
      value.reset({});
      value.data[0] = node.number;
      return;
    case ComputeOp::Iteration:
      value.reset({});
      value.data[0] = static_cast<float>(
          indices[depthOf(kernel, kernel.instrs[instance.instr].home, node.word)].iteration);
      return;
    case ComputeOp::Read:
      return load(node.read, value);
    case ComputeOp::Kept:
      return takeKept(effect.shapes[id], value);
    case ComputeOp::Gather:
      return gather(node, effect.shapes[id], value);
    default:
      break;
    }
    std::vector<const Value *> operands;
    std::array<Value, 3> wholes;
    for (ComputeId operand : node.operands) {
      if (operand.valid()) {
        evaluate(operand);
        operands.push_back(&scratch.values[operand.value]);
        if (takesWholes(node) && readsWholes(operand)) {
          loadWholes(effect.compute.nodes[operand].read, wholes[operands.size() - 1]);
          operands.back() = &wholes[operands.size() - 1];
        }
      }
    }
    data::evaluate(node, operands, effect.shapes[id], value);
  }

  void keep(ComputeId id) { scratch.kept[kernel.instrs[instance.instr].queue] = value(id); }

  /// One that is evaluated.
  const Value &value(ComputeId id) const { return scratch.values[id.value]; }

  bool readsWholes(ComputeId id) const {
    const ComputeNode &node = effect.compute.nodes[id];
    return node.op == ComputeOp::Read &&
           isWhole(run.contents[effect.reads[node.read].buffer()].format());
  }

  /// A tile of whole numbers, exactly. What is poison has been told when it was loaded as numbers.
  void loadWholes(uint32_t read, Value &value) {
    const BufferData &buffer = run.contents[effect.reads[read].buffer()];
    value.reset(effect.readShapes[read]);
    value.isWhole = true;
    if (!scratch.reads[read].isTouched) {
      return std::fill(value.data.begin(), value.data.end(), 0.0F);
    }
    scratch.reads[read].forRuns([&](const ElementRun &stretch, size_t before) {
      for (size_t i = 0; i < stretch.count; ++i) {
        size_t element = stretch.first + i * stretch.stride;
        value.setWhole(before + i, decodeWhole(buffer.format(), buffer.bits(element)));
        if (buffer.isPoison(element)) {
          value.makePoison(before + i);
        }
      }
    });
  }

  /// The number of a row, if it is one of `numRows`.
  std::optional<size_t> rowOf(const Value &index, size_t i, uint64_t numRows, BufferId buffer) {
    if (index.isPoison(i)) {
      report({DataFault::Kind::PoisonIndex, instance, buffer});
      return std::nullopt;
    }
    float row = index.number(i);
    bool isRow = row >= 0 && row < static_cast<float>(numRows) && row == std::floor(row);
    if (!isRow) {
      report({DataFault::Kind::BadIndex, instance, buffer, 0, row});
      return std::nullopt;
    }
    return static_cast<size_t>(row);
  }

private:
  void load(uint32_t read, Value &value) {
    const Tile &tile = effect.reads[read];
    const BufferData &buffer = run.contents[tile.buffer()];
    value.reset(effect.readShapes[read]);
    if (!scratch.reads[read].isTouched) { // its guards do not hold
      return std::fill(value.data.begin(), value.data.end(), 0.0F);
    }
    scratch.reads[read].forRuns([&](const ElementRun &stretch, size_t before) {
      buffer.load(stretch, value.data.data() + before);
      for (size_t i = 0; buffer.numPoison() > 0 && i < stretch.count; ++i) {
        size_t element = stretch.first + i * stretch.stride;
        if (buffer.isPoison(element)) {
          value.makePoison(before + i);
          report({DataFault::Kind::PoisonRead, instance, tile.buffer(), element});
        }
      }
    });
  }

  void takeKept(const Shape &shape, Value &value) {
    const std::optional<Value> &kept = scratch.kept[kernel.instrs[instance.instr].queue];
    if (kept && kept->shape == shape) {
      value = *kept;
      return;
    }
    value.reset(shape);
    value.poison.assign(value.data.size(), 1);
    report({DataFault::Kind::NothingKept, instance, BufferId()});
  }

  void gather(const ComputeNode &node, const Shape &shape, Value &value) {
    uint32_t read = effect.compute.nodes[node.operands[0]].read;
    if (!scratch.reads[read].isTouched) {
      value.reset(shape);
      return std::fill(value.data.begin(), value.data.end(), 0.0F);
    }
    BufferId table = effect.reads[read].buffer();
    const BufferData &buffer = run.contents[table];
    std::vector<const Value *> indices;
    for (size_t n = 1; n < node.operands.size() && node.operands[n].valid(); ++n) {
      evaluate(node.operands[n]);
      indices.push_back(&scratch.values[node.operands[n].value]);
    }
    value.reset(shape);
    size_t numRows = indices[0]->data.size();
    size_t length = value.data.size() / numRows;
    for (size_t i = 0; i < numRows; ++i) {
      std::optional<size_t> row = 0;
      for (size_t n = 0; n < indices.size() && row; ++n) {
        size_t at = indices[n]->data.size() == 1 ? 0 : i;
        std::optional<size_t> next = rowOf(*indices[n], at, buffer.shape()[n], table);
        row = next ? std::optional(*row * buffer.shape()[n] + *next) : std::nullopt;
      }
      gatherRow(buffer, table, row, i * length, length, value);
    }
  }

  void gatherRow(const BufferData &buffer, BufferId table, std::optional<size_t> row, size_t to,
                 size_t length, Value &value) {
    if (row) {
      buffer.load({*row * length, length, 1}, &value.data[to]);
    }
    for (size_t j = 0; j < length && (!row || buffer.numPoison() > 0); ++j) {
      if (!row || buffer.isPoison(*row * length + j)) {
        value.makePoison(to + j);
      }
      if (row && buffer.isPoison(*row * length + j)) {
        report({DataFault::Kind::PoisonRead, instance, table, *row * length + j});
      }
    }
  }

  DataRun &run;
  Scratch &scratch;
  const Kernel &kernel;
  const Effect &effect;
  Instance instance;
  std::span<const LoopIndex> indices;
};

/// The stretches of the two tiles need not be equally long.
static void copyRuns(BufferData &to, const TilePlace &target, const BufferData &from,
                     const TilePlace &source) {
  std::vector<ElementRun> sources;
  source.forRuns([&](const ElementRun &stretch, size_t) { sources.push_back(stretch); });
  size_t next = 0;
  size_t used = 0;
  target.forRuns([&](const ElementRun &stretch, size_t) {
    for (size_t done = 0; done < stretch.count;) {
      const ElementRun &s = sources[next];
      size_t count = std::min(stretch.count - done, s.count - used);
      to.copy({stretch.first + done * stretch.stride, count, stretch.stride}, from,
              {s.first + used * s.stride, count, s.stride});
      done += count;
      used += count;
      if (used == s.count) {
        ++next;
        used = 0;
      }
    }
  });
}

/// The effect of one run of one instruction. All results are computed before the first is written.
class DataRun::Step {
public:
  Step(DataRun &run, const Effect &effect, Instance instance)
      : run(run), scratch(*run.scratch), effect(effect), instance(instance),
        computed(run, effect, instance) {
    computed.place(effect.writes, scratch.writes);
  }

  void perform() {
    const ParsedCompute &compute = effect.compute;
    if (copies()) {
      return;
    }
    for (const ComputeResult &result : compute.results) {
      computed.evaluate(result.value);
      if (result.index.valid()) {
        computed.evaluate(result.index);
      }
    }
    std::vector<std::optional<Value>> moved = movedWholes();
    uint32_t tile = 0;
    for (size_t i = 0; i < compute.results.size(); ++i) {
      const ComputeResult &result = compute.results[i];
      if (result.kind != ComputeResult::Kind::Keep && !scratch.writes[tile].isTouched) {
        ++tile;
        continue;
      }
      switch (result.kind) {
      case ComputeResult::Kind::Keep:
        computed.keep(result.value);
        break;
      case ComputeResult::Kind::Scatter:
        scatter(result, tile++);
        break;
      default:
        store(moved[i] ? *moved[i] : computed.value(result.value), tile, adds(i, tile));
        ++tile;
      }
    }
  }

private:
  /// A result that only copies a tile to a buffer of the same format copies its bits.
  bool copies() {
    const ParsedCompute &compute = effect.compute;
    const ComputeNode &node = compute.nodes[compute.results[0].value];
    if (compute.results.size() != 1 || node.op != ComputeOp::Read ||
        compute.results[0].kind != ComputeResult::Kind::Value || effect.numWrites != 1) {
      return false;
    }
    if (!scratch.reads[node.read].isTouched || !scratch.writes[0].isTouched) {
      return false;
    }
    const BufferData &from = run.contents[effect.reads[node.read].buffer()];
    BufferData &to = run.contents[effect.writes[0].buffer()];
    if (from.format() != to.format() || &from == &to ||
        numElements(effect.readShapes[node.read]) != numElements(effect.writeShapes[0])) {
      return false;
    }
    computed.reportPoison(effect.reads[node.read].buffer(), scratch.reads[node.read]);
    copyRuns(to, scratch.writes[0], from, scratch.reads[node.read]);
    noteWrite(0);
    return true;
  }

  /// Whether a result is added to its tile.
  bool adds(size_t result, uint32_t tile) const {
    if (tile < effect.numWrites) {
      return false;
    }
    uint32_t depth = effect.startDepths[result];
    bool isStart = effect.compute.results[result].kind == ComputeResult::Kind::Start;
    return !isStart || (depth != Effect::always && computed.iteration(depth) != 0);
  }

  /// Of all of a tile, which has at least one element.
  void noteWrite(uint32_t tile) {
    run.written = true;
    if (run.watchedBuffer == effect.writes[tile].buffer() &&
        scratch.writes[tile].contains(run.watchedElement)) {
      run.writer = instance;
    }
  }

  /// Whole numbers that only change their place or format stay exact. By result, if it is such.
  std::vector<std::optional<Value>> movedWholes() {
    const std::vector<ComputeResult> &results = effect.compute.results;
    std::vector<std::optional<Value>> moved(results.size());
    uint32_t tile = 0;
    for (size_t i = 0; i < results.size(); ++i) {
      if (results[i].kind == ComputeResult::Kind::Keep) {
        continue;
      }
      Format to = run.contents[effect.writes[tile].buffer()].format();
      if (results[i].kind != ComputeResult::Kind::Scatter && !adds(i, tile) && isWhole(to) &&
          computed.readsWholes(results[i].value)) {
        moved[i] = movedWhole(results[i].value, to);
      }
      ++tile;
    }
    return moved;
  }

  Value movedWhole(ComputeId id, Format to) {
    uint32_t read = effect.compute.nodes[id].read;
    Format from = run.contents[effect.reads[read].buffer()].format();
    Value wholes;
    computed.loadWholes(read, wholes);
    for (size_t i = 0; i < wholes.data.size(); ++i) {
      int64_t number = decodeWhole(from, static_cast<uint32_t>(wholes.whole(i)));
      wholes.setWhole(i, encodeWhole(to, number));
    }
    return wholes;
  }

  void store(const Value &result, uint32_t tile, bool isAdded) {
    BufferId id = effect.writes[tile].buffer();
    const Shape &shape = effect.writeShapes[tile];
    bool fills = numElements(result.shape) == numElements(shape);
    if (!fills) {
      spread(result, shape, scratch.spread);
    }
    const Value &value = fills ? result : scratch.spread;
    scratch.writes[tile].forRuns([&](const ElementRun &stretch, size_t before) {
      storeRun(id, stretch, value, before, isAdded);
    });
    noteWrite(tile);
  }

  /// Writes, or adds, the elements of a value from `before` on.
  void storeRun(BufferId id, const ElementRun &stretch, const Value &value, size_t before,
                bool isAdded) {
    BufferData &buffer = run.contents[id];
    std::vector<size_t> poisoned = poisonOf(id, stretch, value, before, isAdded);
    if (value.isWhole && isWhole(buffer.format()) && !isAdded) {
      for (size_t i = 0; i < stretch.count; ++i) {
        buffer.setBits(stretch.first + i * stretch.stride,
                       static_cast<uint32_t>(value.whole(before + i)));
      }
    } else {
      buffer.store(stretch, numbersToStore(buffer, stretch, value, before, isAdded));
    }
    for (size_t element : poisoned) {
      buffer.makePoison(element);
    }
  }

  const float *numbersToStore(const BufferData &buffer, const ElementRun &stretch,
                              const Value &value, size_t before, bool isAdded) {
    if (!isAdded && !value.isWhole) {
      return &value.data[before];
    }
    scratch.sum.assign(stretch.count, 0);
    if (isAdded) {
      buffer.load(stretch, scratch.sum.data());
    }
    for (size_t i = 0; i < stretch.count; ++i) {
      float number = value.number(before + i);
      scratch.sum[i] = isAdded ? scratch.sum[i] + number : number;
    }
    return scratch.sum.data();
  }

  /// Elements that are poison once this has been written or added.
  std::vector<size_t> poisonOf(BufferId id, const ElementRun &stretch, const Value &value,
                               size_t before, bool isAdded) {
    const BufferData &buffer = run.contents[id];
    std::vector<size_t> poisoned;
    bool mayBePoison = !value.poison.empty() || (isAdded && buffer.numPoison() > 0);
    for (size_t i = 0; mayBePoison && i < stretch.count; ++i) {
      size_t element = stretch.first + i * stretch.stride;
      bool wasPoison = isAdded && buffer.isPoison(element);
      if (wasPoison) {
        computed.report({DataFault::Kind::PoisonRead, instance, id, element});
      }
      if (wasPoison || value.isPoison(before + i)) {
        poisoned.push_back(element);
      }
    }
    return poisoned;
  }

  /// Where the rows should have gone is not known if an index is poison: then all may be wrong.
  void scatter(const ComputeResult &result, uint32_t tile) {
    BufferId id = effect.writes[tile].buffer();
    BufferData &buffer = run.contents[id];
    const Value &value = computed.value(result.value);
    const Value &index = computed.value(result.index);
    size_t length = value.data.size() / index.data.size();
    for (size_t i = 0; i < index.data.size(); ++i) {
      std::optional<size_t> row = computed.rowOf(index, i, buffer.shape()[0], id);
      size_t first = row ? *row * length : 0;
      size_t count = row ? length : index.isPoison(i) ? buffer.size() : 0;
      if (row) {
        storeRun(id, {first, length, 1}, value, i * length, false);
      }
      for (size_t j = 0; j < count; ++j) {
        if (!row || value.isPoison(i * length + j)) {
          buffer.makePoison(first + j);
        }
      }
      run.written |= count != 0;
      if (run.watchedBuffer == id && run.watchedElement - first < count) {
        run.writer = instance;
      }
    }
  }

  DataRun &run;
  Scratch &scratch;
  const Effect &effect;
  Instance instance;
  Computation computed;
};

DataRun::DataRun(const Effects &effects, Memory memory)
    : effects(effects), contents(std::move(memory)), scratch(std::make_unique<Scratch>()) {
  scratch->kept.resize(effects.table->kernel.queues.size());
}

DataRun::DataRun(DataRun &&) noexcept = default;
DataRun::~DataRun() = default;

void DataRun::watch(BufferId buffer, size_t element) {
  watchedBuffer = buffer;
  watchedElement = element;
}

void DataRun::commit(Instance instance) {
  const std::optional<Effect> &effect = effects.table->effects[instance.instr];
  if (effect && instance.run < effects.table->runs.numRuns(instance.instr)) {
    Step(*this, *effect, instance).perform();
  }
}

//===----------------------------------------------------------------------===//
// What came of it
//===----------------------------------------------------------------------===//

std::string describe(const Kernel &kernel, const Runs &runs, const DataFault &fault) {
  std::string when = iterationText(kernel, runs, fault.instance);
  std::string who =
      nameWithSource(kernel, fault.instance.instr) + (when.empty() ? "" : " at ") + when;
  std::string again =
      fault.count > 1 ? fmt::format(" ({} runs of it do so)", fault.count) : std::string();
  auto buffer = [&] { return kernel.text(kernel.buffers[fault.buffer].name); };
  switch (fault.kind) {
  case DataFault::Kind::PoisonRead:
    return fmt::format("{} reads {}, which is not written yet{}", who,
                       elementText(kernel, fault.buffer, fault.element), again);
  case DataFault::Kind::PoisonIndex:
    return fmt::format("{} takes rows of '{}' by an index that is not written yet{}", who, buffer(),
                       again);
  case DataFault::Kind::BadIndex:
    return fmt::format("{} takes row {} of '{}', which has rows 0 to {}{}", who, fault.index,
                       buffer(), kernel.buffers[fault.buffer].shape[0] - 1, again);
  case DataFault::Kind::NothingKept:
    return fmt::format("{} uses a kept tile, but none of its shape is kept{}", who, again);
  }
  return {};
}

static std::string numberText(const BufferData &buffer, size_t element) {
  return buffer.isPoison(element) ? "poison" : fmt::format("{}", buffer.value(element));
}

/// Runs the commits again to see who wrote an element.
static std::optional<Instance> writerOf(const Effects &effects, const Memory &memory,
                                        const std::vector<Instance> &commits, BufferId buffer,
                                        size_t element) {
  DataRun run(effects, memory);
  run.watch(buffer, element);
  for (Instance instance : commits) {
    run.commit(instance);
  }
  return run.lastWriter();
}

std::vector<DataDifference> compareWithSequential(const Effects &effects, const Runs &runs,
                                                  const Memory &memory,
                                                  const std::vector<Instance> &commits) {
  DataRun run(effects, memory);
  DataRun sequential(effects, memory);
  for (Instance instance : commits) {
    run.commit(instance);
  }
  for (Instance instance : runs.order()) {
    sequential.commit(instance);
  }
  std::vector<DataDifference> differences;
  for (BufferId id : memory.ids()) {
    const BufferData &is = run.memory()[id];
    const BufferData &should = sequential.memory()[id];
    if (std::optional<size_t> element = firstDifference(is, should)) {
      differences.push_back({id, *element, writerOf(effects, memory, commits, id, *element),
                             writerOf(effects, memory, runs.order(), id, *element),
                             numberText(is, *element), numberText(should, *element)});
    }
  }
  return differences;
}

} // namespace tally
