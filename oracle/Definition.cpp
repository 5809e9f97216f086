//===- Definition.cpp - When is a dependence satisfied? By enumeration ----===//

#include "oracle/Definition.h"

#include "oracle/KernelWalk.h"

#include "tally/Model/Place.h"

#include <algorithm>
#include <optional>

namespace tally::oracle {

static bool isRealLoop(const Kernel &kernel, LoopId loop) {
  return kernel.loops[loop].kind == LoopKind::Loop;
}

/// `loop` and all bodies around it, the root first.
static std::vector<LoopId> pathOf(const Kernel &kernel, LoopId loop) {
  std::vector<LoopId> path;
  for (; loop.valid(); loop = kernel.loops[loop].parent) {
    path.push_back(loop);
  }
  std::reverse(path.begin(), path.end());
  return path;
}

namespace {

/// A dependence, prepared for counting.
struct Ends {
  DepId dep;
  LoopId producerHome;
  std::vector<int64_t> delta; ///< on each loop around both
  size_t numOuter = 0;        ///< components up to and including the carrying loop's
  bool flat = false;
  bool isElement = false;
  int64_t step = 0;                ///< of a flat distance, or between elements
  const RunTable *table = nullptr; ///< instead of that
  bool inOneLoop = false;          ///< both are, and the table says which of its runs is needed
  bool isOver = false;             ///< the table goes over a loop
  bool isOverInnermost = false;    ///< which is the innermost around both
  size_t around = 0;               ///< loops around both
  int64_t iterationsBack = 0;      ///< of that loop, at least
  bool producerLater = false; ///< this iteration's run of the producer comes after the consumer
};

} // namespace

/// Where the bodies around both ends stop being the same.
static size_t numCommon(const std::vector<LoopId> &a, const std::vector<LoopId> &b) {
  size_t shared = 0;
  while (shared < a.size() && shared < b.size() && a[shared] == b[shared]) {
    ++shared;
  }
  return shared;
}

static std::vector<int64_t> deltaOf(const Kernel &kernel, const Dep &dep,
                                    const std::vector<LoopId> &common) {
  std::vector<int64_t> delta;
  for (LoopId loop : common) {
    if (!isRealLoop(kernel, loop)) {
      continue;
    }
    delta.push_back(0);
    for (const DistanceComponent &c : kernel.componentsOf(dep)) {
      delta.back() += c.loop == loop ? c.distance : 0;
    }
  }
  return delta;
}

/// Whether the producer lies directly in a body around the consumer, and behind it there. In one
/// block a distance 0 says that it comes first; any other distance lets it come last.
static bool runsLater(const Kernel &kernel, const Dep &dep, const std::vector<LoopId> &consumerPath,
                      bool zero) {
  const Instr &producer = kernel.instrs[dep.producer];
  const Instr &consumer = kernel.instrs[dep.consumer];
  auto home = std::find(consumerPath.begin(), consumerPath.end(), producer.home);
  if (home == consumerPath.end()) {
    return false;
  }
  bool direct = home + 1 == consumerPath.end();
  StmtId towards = direct ? consumer.block : kernel.loops[*(home + 1)].stmt;
  if (towards == producer.block) {
    return !zero;
  }
  return kernel.stmts[producer.block].position > kernel.stmts[towards].position;
}

static Ends endsOf(const Kernel &kernel, DepId id) {
  const Dep &dep = kernel.deps[id];
  std::vector<LoopId> producerPath = pathOf(kernel, kernel.instrs[dep.producer].home);
  std::vector<LoopId> consumerPath = pathOf(kernel, kernel.instrs[dep.consumer].home);
  std::vector<LoopId> common(producerPath.begin(),
                             producerPath.begin() +
                                 std::ptrdiff_t(numCommon(producerPath, consumerPath)));
  const bool inOneLoop = dep.table.valid() && producerPath == consumerPath;
  Ends ends;
  ends.around = deltaOf(kernel, dep, common).size();
  // Runs are numbered in all iterations of their loop, or of the one that the table goes over.
  LoopId over = dep.table.valid() ? kernel.tables[dep.table].over : LoopId();
  ends.isOver = over.valid();
  ends.isOverInnermost = over == common.back();
  ends.iterationsBack = ends.isOver ? placeOf(kernel, dep).offset : 0;
  for (bool isOut = !inOneLoop && !over.valid(); !isOut; common.pop_back()) {
    isOut = !over.valid() || common.back() == over;
  }
  ends.dep = id;
  ends.producerHome = producerPath.back();
  ends.delta = deltaOf(kernel, dep, common);
  ends.flat = dep.form == DistanceForm::Flat;
  ends.isElement = dep.form == DistanceForm::Element;
  ends.step = dep.step;
  ends.table = dep.table.valid() ? &kernel.tables[dep.table] : nullptr;
  ends.inOneLoop = inOneLoop;
  bool zero = !(ends.flat && dep.step != 0) && dep.numComponents == 0 &&
              !(inOneLoop && ends.table->shortestDistance() > 0);
  ends.producerLater = runsLater(kernel, dep, consumerPath, zero);
  ends.numOuter = ends.delta.size();
  auto carrier =
      std::find_if(ends.delta.begin(), ends.delta.end(), [](int64_t d) { return d != 0; });
  if (!ends.isElement && carrier != ends.delta.end()) {
    ends.numOuter = carrier - ends.delta.begin() + 1;
  }
  return ends;
}

/// Walks the kernel, writes the history, and counts at each block.
class DefinitionVisitor {
public:
  DefinitionVisitor(Definition &result, EngineId engine)
      : kernel(result.kernel), result(result), engine(engine) {
    consumedBy.resize(kernel.instrs.size());
    for (DepId id : kernel.deps.ids()) {
      consumedBy[kernel.deps[id].consumer].push_back(endsOf(kernel, id));
    }
  }

  void reach(const Stmt &) {}

  void enter(LoopId loop, uint64_t iteration) {
    if (isRealLoop(kernel, loop)) {
      vector.push_back(static_cast<uint32_t>(iteration));
    }
    std::vector<uint32_t> &vectors = result.vectorsOf[loop];
    vectors.insert(vectors.end(), vector.begin(), vector.end());
    result.rankOf[loop] = static_cast<uint32_t>(vector.size());
    ++result.countOf[loop];
  }

  void leave(LoopId loop) {
    if (isRealLoop(kernel, loop)) {
      vector.pop_back();
    }
  }

  void block(const Stmt &stmt) {
    for (InstrId instr : stmt.instrs) {
      result.order.push_back(instr);
      if (kernel.engineOf(instr) != engine) {
        continue;
      }
      for (const Ends &ends : consumedBy[instr]) {
        result.needsOf[ends.dep].push_back(needOf(ends, stmt.parent));
      }
    }
  }

private:
  Need needOf(const Ends &ends, LoopId consumerHome) const {
    Need need;
    uint64_t soFar = result.countOf[ends.producerHome];
    need.before = soFar - (ends.producerLater ? 1 : 0);
    if (ends.flat) {
      uint64_t q = result.countOf[consumerHome];
      auto step = static_cast<uint64_t>(ends.step);
      need.runs = need.ceiling = q > step ? q - step : 0;
      return need;
    }
    std::optional<int64_t> most; // of two in one loop, up to the shortest distance
    if (ends.inOneLoop) {
      most = static_cast<int64_t>(runsHere(consumerHome, ends.numOuter)) -
             ends.table->shortestDistance();
    }
    need.ceiling = ends.isOver ? ceilingOver(ends, consumerHome, need.before)
                               : countUpTo(ends, ends.numOuter, most);
    if (!ends.isElement) {
      need.runs = countUpTo(ends, ends.delta.size(), std::nullopt);
      return need;
    }
    auto number = static_cast<int64_t>(runsHere(consumerHome, ends.numOuter));
    number = ends.table ? neededBy(*ends.table, number) : number - ends.step;
    need.runs = number > 0 ? countUpTo(ends, ends.numOuter, number) : 0;
    return need;
  }

  /// Without its table: in one body, the shortest distance in runs, over the whole run; of the
  /// innermost loop, in its iterations; else all so far.
  uint64_t ceilingOver(const Ends &ends, LoopId consumerHome, uint64_t before) const {
    if (ends.inOneLoop) {
      auto back = static_cast<uint64_t>(ends.table->shortestDistance());
      uint64_t q = result.countOf[consumerHome];
      return q > back ? q - back : 0;
    }
    if (!ends.isOverInnermost) {
      return before;
    }
    Ends nearest = ends;
    nearest.delta.resize(ends.around, 0);
    nearest.delta.back() = ends.iterationsBack;
    return countUpTo(nearest, ends.around, std::nullopt);
  }

  /// How many runs the run of this number, from 1, needs: period by period, as the table is told.
  static int64_t neededBy(const RunTable &table, int64_t number) {
    int64_t ahead = 0;
    for (; number > static_cast<int64_t>(table.runs.size()); ahead += table.each) {
      number -= static_cast<int64_t>(table.runs.size());
    }
    return ahead + table.runs[static_cast<size_t>(number - 1)] + 1;
  }

  /// How often a body was entered so far in this iteration of the first loops around it.
  uint64_t runsHere(LoopId home, size_t length) const {
    uint64_t runs = 0;
    uint32_t rank = result.rankOf[home];
    const uint32_t *run = result.vectorsOf[home].data();
    for (uint64_t i = 0; i < result.countOf[home]; ++i, run += rank) {
      runs += std::equal(run, run + length, vector.begin());
    }
    return runs;
  }

  /// Runs of the producer so far whose first `length` components are <= t; in the iteration t
  /// itself, no more than `here`.
  uint64_t countUpTo(const Ends &ends, size_t length, std::optional<int64_t> here) const {
    std::vector<int64_t> target(length);
    for (size_t j = 0; j < length; ++j) {
      target[j] = int64_t(vector[j]) - ends.delta[j];
      if (target[j] <= 0) {
        return 0;
      }
    }
    uint64_t count = 0;
    uint32_t rank = result.rankOf[ends.producerHome];
    const uint32_t *run = result.vectorsOf[ends.producerHome].data();
    int64_t inTarget = 0;
    for (uint64_t i = 0; i < result.countOf[ends.producerHome]; ++i, run += rank) {
      inTarget += std::equal(target.begin(), target.end(), run);
      bool isBeyond =
          std::lexicographical_compare(target.begin(), target.end(), run, run + length) ||
          (here && inTarget > *here);
      count += !isBeyond;
    }
    return count;
  }

  const Kernel &kernel;
  Definition &result;
  EngineId engine;
  IdVector<InstrId, std::vector<Ends>> consumedBy;
  std::vector<uint32_t> vector; ///< of the body being walked
};

Definition::Definition(const Kernel &kernel, const Bindings &bindings, EngineId engine,
                       uint64_t maxSteps)
    : kernel(kernel), rankOf(kernel.loops.size(), 0), vectorsOf(kernel.loops.size()),
      countOf(kernel.loops.size(), 0), needsOf(kernel.deps.size()) {
  DefinitionVisitor visitor(*this, engine);
  complete = KernelWalk(kernel, bindings, engine, visitor).run(maxSteps);
}

std::span<const uint32_t> Definition::vectorOf(InstrId instr, uint64_t run) const {
  LoopId home = kernel.instrs[instr].home;
  return std::span(vectorsOf[home]).subspan(run * rankOf[home], rankOf[home]);
}

std::vector<uint64_t> Definition::valuesAfterRuns(InstrId producer, const Signals &signals) const {
  std::vector<uint64_t> values{0};
  uint64_t value = 0;
  for (InstrId instr : order) {
    if (signals[instr].counter != signals[producer].counter) {
      continue;
    }
    value += signals[instr].amount;
    if (instr == producer) {
      values.push_back(value);
    }
  }
  return values;
}

} // namespace tally::oracle
