//===- Kernel.h - One kernel: engines, loop tree, instructions, dependences ===//
//
// A kernel is one structured program that all engines walk. Every body (the
// kernel itself, a loop, each branch of an `if`) is a *loop*: the root runs
// once, a branch runs zero or one times. An instruction belongs to one queue of
// one engine; a dependence says which earlier run of a producer a consumer
// must wait for.
//
//   root ── block ── instr, instr          home(instr)  the loop whose body
//        ├─ loop A ── block ── instr                    directly holds it
//        └─ if c ─┬─ loop "c" (then)       path(l)      l and all loops around
//                 └─ loop "c.else"                      it, up to the root
//
// A kernel is a value: it is built once (KernelBuilder.h, or a reader), checked
// (Check.h), and never edited afterwards. Its tables are flat and dense, its ids
// follow the order of the text, and the statements of one body are contiguous.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_MODEL_KERNEL_H
#define TALLY_MODEL_KERNEL_H

#include "tally/Model/RunTable.h"
#include "tally/Support/Diagnostics.h"
#include "tally/Support/Id.h"
#include "tally/Support/StringPool.h"
#include "tally/Support/Words.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tally {

using EngineId = Id<struct EngineTag>;
using QueueId = Id<struct QueueTag>;
using StmtId = Id<struct StmtTag>;
using InstrId = Id<struct InstrTag>;
using DepId = Id<struct DepTag>;
using BufferId = Id<struct BufferTag>;
using AccessId = Id<struct AccessTag>;
using TileId = Id<struct TileTag>;
using RunValueId = Id<struct RunValueTag>;

/// The root body: entered once, before anything happens.
inline constexpr LoopId rootLoop{0};

/// The most loops and branches that may enclose one another.
inline constexpr uint32_t maxDepth = 256;

/// The most engines of one kernel, so that a set of engines is one word.
inline constexpr uint32_t maxEngines = 64;

/// The largest trip count, distance and weight: half of a 32-bit counter.
inline constexpr uint64_t maxCount = (uint64_t(1) << 31) - 1;

/// The largest number of a semaphore or register that a kernel may reserve or pin.
inline constexpr uint32_t maxReserved = 65535;

/// How the completion of one instruction reaches a semaphore.
enum class Completion : uint8_t {
  Whole, ///< all of its weight at once, or never mixed with the next one's
  Split, ///< one by one, in order only per ring (see docs/guide/machines/Chip.md)
};
template <> inline constexpr auto wordsOf<Completion> = words("whole", "split");

/// A sequencer that issues its instructions in order.
struct Engine {
  NameId name;
  IdRange<QueueId> queues; ///< at least one; the first has the engine's name
  Location where;
  std::vector<uint32_t> reserved = {}; ///< numbers of registers that no code made for it uses
};

/// Where instructions retire in order. Two queues of one engine are not
/// ordered against each other.
struct Queue {
  NameId name;
  EngineId engine;
  uint32_t weight = 1; ///< what one retirement adds to a semaphore
  Completion completion = Completion::Whole;
  Location where;
  /// Whether accumulations of this queue are added up in the order of issue, so that none waits for
  /// another. A fact about the machine, which onMachine() sets; no form of a kernel says it.
  bool addsInOrder = true;
};

enum class LoopKind : uint8_t { Root, Loop, Then, Else };

/// How often a body runs each time it is reached.
struct Trip {
  enum class Kind : uint8_t {
    Constant, ///< `constant` times
    Value,    ///< a run-time value named `symbol`, between `min` and `max`
    Guard,    ///< while a condition holds; for branches, if it holds
    Formula,  ///< what the expression `symbol` says, as in `$n - i`; not at all below 1
  };
  Kind kind = Kind::Constant;
  uint64_t constant = 1;
  NameId symbol; ///< of a Value or a Guard; none: the loop's own name
  /// Of a Formula they follow from what it names, as soon as a kernel is finished.
  uint64_t min = 0;
  std::optional<uint64_t> max;
  /// Of both branches of an `if`, what decides between them: comparisons of iterations around it
  /// and run-time values, as in `j <= i and i > 0`. None: only the run knows.
  NameId condition = {};

  /// Whether only the run knows.
  bool isOpaque() const { return kind == Kind::Guard && !condition.valid(); }

  /// At least so often.
  uint64_t least() const { return kind == Kind::Constant ? constant : min; }

  /// At most this often; none: not known.
  std::optional<uint64_t> most() const {
    return kind == Kind::Constant ? std::optional(constant) : max;
  }

  /// Where bounds say it, whatever gives the number; none: it is known when the kernel runs.
  std::optional<uint64_t> known() const { return most() == least() ? most() : std::nullopt; }

  bool operator==(const Trip &) const = default;
};

template <> inline constexpr auto wordsOf<Trip::Kind> = words("trips", "value", "while", "formula");

/// A number that is one and the same throughout a run: `$n`, where it is declared, or trips or
/// conditions name it. Of a `$n` that only tiles name nothing is known.
struct RunValue {
  NameId name;
  uint64_t min = 0; ///< it is never negative
  std::optional<uint64_t> max;
  /// The first with `trips = "$n"`; if there is none, the first that names it, or the root.
  LoopId loop;
  bool isStated = false; ///< there is one: its text has the bounds, unless the value is declared
};

/// A run-time value with its bounds, as it is declared.
struct DeclaredValue {
  NameId name;
  uint64_t min = 0;
  std::optional<uint64_t> max;
  Location where;
};

/// An instruction gets a run-time value, or how often a loop runs, from memory, for its own engine:
/// that goes on as soon as it has retired (Loads.h).
struct LoadedValue {
  InstrId instr;
  NameId value;
};

/// How a loop or an `if`, with all inside, is synchronised.
enum class RegionSync : uint8_t {
  AsAround, ///< like what is around it; the root as the whole kernel is told to
  PerInstruction,
  PerLoop,
  PerEngine,
  Barrier, ///< engines meet between iterations of each loop in it that carries a dependence
};
template <>
inline constexpr auto wordsOf<RegionSync> =
    words("", "per-instruction", "per-loop", "per-engine", "barrier");

/// Of `Loop::unroll`: all iterations.
inline constexpr uint32_t fullyUnrolled = UINT32_MAX;

/// A body and how often it runs. Conditional branches are loops of trip 0/1.
struct Loop {
  NameId name;
  LoopKind kind = LoopKind::Loop;
  bool uniform = true;  ///< all engines agree on every trip count
  LoopId parent;        ///< none for the root
  LoopId otherBranch;   ///< of `Then` the `Else`, and back
  uint32_t depth = 0;   ///< number of enclosing loops; 0 for the root
  StmtId stmt;          ///< the statement of the parent that holds this body
  IdRange<StmtId> body; ///< in order
  Trip trip;
  RegionSync sync = RegionSync::AsAround;
  /// Iterations that code writes out, one after the other, for each branch back.
  uint32_t unroll = 1;
  Location where;

  bool isBranch() const { return kind == LoopKind::Then || kind == LoopKind::Else; }

  /// How often a loop runs each time it is reached. None of a branch.
  std::optional<uint64_t> knownTrips() const {
    return kind == LoopKind::Loop ? trip.known() : std::nullopt;
  }
};

/// One child of a body. Instructions between two nested statements form a
/// block: each engine runs its own in order, engines are not ordered.
struct Stmt {
  enum class Kind : uint8_t { Block, Loop, If };
  Kind kind = Kind::Block;
  LoopId parent;
  uint32_t position = 0;   ///< 0-based place in the parent's body
  IdRange<InstrId> instrs; ///< of a Block
  LoopId loop;             ///< of a Loop; of an If, its then-branch
};

struct Instr {
  NameId name;
  NameId operation; ///< what it costs; none if not said
  NameId computes;  ///< what it writes (ComputeText.h); none if not said
  QueueId queue;
  LoopId home;
  StmtId block;
  IdRange<AccessId> accesses;
  Location where;
};

/// One run of one instruction.
struct Instance {
  InstrId instr;
  uint32_t run = 0; ///< from 0, over the whole kernel

  auto operator<=>(const Instance &) const = default;
};

/// How many slots a buffer may have whose slots are taken in turn (Rings.h).
struct SlotBounds {
  uint64_t min = 1;
  uint64_t max = 1;

  bool operator==(const SlotBounds &) const = default;
};

/// Memory of two dimensions: one dimension of a buffer goes over partitions, and the elements of
/// each partition follow its address there.
struct Partitions {
  uint64_t first = 0;
  uint32_t dim = 0;

  bool operator==(const Partitions &) const = default;
};

struct Buffer {
  NameId name;
  NameId space;                         ///< memory space; none if not said
  NameId elementType;                   ///< none if not said
  std::vector<uint64_t> shape;          ///< empty: a single element
  std::optional<uint64_t> address;      ///< in bytes; the elements follow in row-major order
  std::optional<Partitions> partitions; ///< none: all of it lies in partition 0
  std::vector<BufferId> alias;          ///< earlier ones that may share its memory, somewhere
  std::vector<BufferId> noalias;        ///< earlier ones that do not, whatever the addresses say
  std::optional<SlotBounds> ring; ///< its slots are left open; the shape says how many there are
  Location where;
};

enum class AccessKind : uint8_t { Read, Write, Accumulate };

/// A tile that an instruction touches, written as in `X[A mod 2, 0:128]`; the
/// grammar is in AccessText.h. Carried through unread by everything in Sync and Code.
struct Access {
  AccessKind kind = AccessKind::Read;
  BufferId buffer;
  NameId text; ///< the whole canonical text, buffer included
};

enum class DepKind : uint8_t { Unspecified, RAW, WAR, WAW };
template <> inline constexpr auto wordsOf<DepKind> = words("", "raw", "war", "waw");

enum class DistanceForm : uint8_t {
  Vector,  ///< one component for each common loop, zero where not given
  Flat,    ///< consumer run number q needs producer run q - flat, over the whole run
  Element, ///< inner index i of the consumer's loop needs i - element of the producer's, or what a
           ///< table says
};
template <> inline constexpr auto wordsOf<DistanceForm> = words("", "flat", "element");

/// One non-zero component of a distance vector.
struct DistanceComponent {
  LoopId loop;
  int64_t distance = 0;

  bool operator==(const DistanceComponent &) const = default;
};

struct Dep {
  InstrId producer;
  InstrId consumer;
  DepKind kind = DepKind::Unspecified;
  DistanceForm form = DistanceForm::Vector;
  bool allowDivergent = false;
  uint32_t firstComponent = 0; ///< into Kernel::components, outermost first
  uint32_t numComponents = 0;
  Location where;
  int64_t step = 0;      ///< Flat: the run distance; Element: the inner distance
  RunTableId table = {}; ///< Element: instead of that
};

/// An instruction raises this semaphore, and those who depend on it wait for it there.
struct Pin {
  InstrId instr;
  uint32_t semaphore = 0;
  Location where; ///< of the instruction, or of the dependence that says so
};

/// An instruction that may be issued to other queues than its own, too. As the kernel stands, it is
/// issued to its own.
struct OpenQueues {
  InstrId instr;
  std::vector<QueueId> others;
};

class ComputeTable;
class TileTable;

struct Kernel {
  StringPool strings;
  NameId name;
  Location where;
  std::vector<std::string> files; ///< what Location::file indexes; the first is what was read

  IdVector<EngineId, Engine> engines;
  IdVector<QueueId, Queue> queues;
  IdVector<LoopId, Loop> loops;
  IdVector<StmtId, Stmt> stmts;
  IdVector<InstrId, Instr> instrs;
  IdVector<BufferId, Buffer> buffers;
  IdVector<AccessId, Access> accesses;
  std::shared_ptr<const TileTable> tiles;       ///< of the accesses, read (Tiles.h)
  std::shared_ptr<const ComputeTable> computes; ///< of the instructions, read (ComputeText.h)
  IdVector<RunValueId, RunValue> values;        ///< in the order of the loops that name them
  std::vector<DeclaredValue> declaredValues;
  IdVector<DepId, Dep> deps;
  std::vector<DistanceComponent> components;
  IdVector<RunTableId, RunTable> tables; ///< of dependences
  std::vector<uint32_t> reserved;        ///< numbers of semaphores that no code made for it uses
  std::vector<Pin> pins;                 ///< few, in the order in which they were written
  std::vector<OpenQueues> openQueues;    ///< few, in the order of the instructions
  std::vector<LoadedValue> loads;        ///< few, in the order of the instructions

  std::string_view text(NameId id) const { return strings[id]; }

  std::string_view nameOf(EngineId id) const { return text(engines[id].name); }

  std::string_view nameOf(QueueId id) const { return text(queues[id].name); }

  std::string_view nameOf(LoopId id) const { return text(loops[id].name); }

  std::string_view nameOf(InstrId id) const { return text(instrs[id].name); }

  std::string_view nameOf(RunValueId id) const { return text(values[id].name); }

  /// Null if the value is not declared.
  const DeclaredValue *declarationOf(const RunValue &value) const {
    auto found = std::ranges::find(declaredValues, value.name, &DeclaredValue::name);
    return found == declaredValues.end() ? nullptr : &*found;
  }

  /// The value `$name`; none if it gives no trips.
  RunValueId valueNamed(std::string_view name) const;

  EngineId engineOf(InstrId id) const { return queues[instrs[id].queue].engine; }

  /// Where else it may be issued.
  std::span<const QueueId> otherQueues(InstrId id) const;

  /// What it loads for its engine.
  std::span<const LoadedValue> loadsOf(InstrId id) const;

  std::span<const DistanceComponent> componentsOf(const Dep &dep) const {
    return {components.data() + dep.firstComponent, dep.numComponents};
  }

  /// The component of a vector distance on `loop`; 0 where none is given.
  int64_t distanceOn(const Dep &dep, LoopId loop) const;

  /// Of an element form: the run of the producer's nest that run `number` of the consumer's needs,
  /// both from 0; below 0: none.
  int64_t runNeeded(const Dep &dep, int64_t number) const {
    return dep.table.valid() ? tables[dep.table].at(number) : number - dep.step;
  }

  /// The innermost body around both.
  LoopId commonLoop(LoopId a, LoopId b) const;

  /// At each entry of which a dependence starts to count: the innermost body around both; of
  /// a table for two in one loop, or over a loop, the one around that.
  LoopId sharedBody(const Dep &dep) const;

  /// Whether `outer` is `inner` or encloses it.
  bool encloses(LoopId outer, LoopId inner) const;

  /// The body directly inside `ancestor` that holds `inner`; none if they are equal.
  LoopId childTowards(LoopId ancestor, LoopId inner) const;

  /// The statement of `ancestor` in which `instr` lies.
  StmtId stmtTowards(LoopId ancestor, InstrId instr) const;

  /// The innermost real loop (not a branch) at or around `loop`; the root counts as one.
  LoopId realLoop(LoopId loop) const;

  /// The real loops at or around `inner`, outermost first, from below `outer` on.
  std::vector<LoopId> realLoops(LoopId inner, LoopId outer = rootLoop) const;
};

/// ` at 'A' = 2`, ` flat 3`; empty for the same iteration.
std::string distanceText(const Kernel &kernel, const Dep &dep,
                         std::span<const DistanceComponent> components,
                         const IdVector<RunTableId, RunTable> &tables);

/// `'load' -> 'scale' at 'A' = 2`, for messages and listings.
std::string describe(const Kernel &kernel, DepId id);

} // namespace tally

#endif // TALLY_MODEL_KERNEL_H
