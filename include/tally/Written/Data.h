//===- Data.h - What kernels and code say, as it was written --------------===//
//
// One plain struct for each kind of declaration, statement and operation, with one list of its
// fields (Fields.h). Text, JSON and MLIR's operations are forms of these structs; Resolve.h makes
// a Kernel of them, Write.h goes the other way.
//
// The structs hold what was written, names as text and numbers unjudged (a count too large for
// the core is still a count here), so that any text that parses can be printed again.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_WRITTEN_DATA_H
#define TALLY_WRITTEN_DATA_H

#include "tally/Code/Code.h"
#include "tally/Model/Kernel.h"
#include "tally/Model/Overlap.h"
#include "tally/Written/Fields.h"

namespace tally::written {

using Names = std::vector<std::string>;

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// Where something comes from, if not from this text; of statements MLIR has locations of its own.
struct LocData {
  std::string file;
  uint64_t line = 0;
  uint64_t column = 0;

  static constexpr auto fields = std::tuple(
      first("file", &LocData::file, "a file"),
      field("line", &LocData::line, {.needed = "a line", .min = 1, .max = UINT32_MAX}),
      field("column", &LocData::column, {.needed = "a column", .max = UINT32_MAX})); // 0: not known
};

struct KernelData {
  static constexpr std::string_view word = "kernel";
  std::vector<uint64_t> reserves; ///< semaphores

  static constexpr auto fields =
      std::tuple(field("reserves", &KernelData::reserves, {.max = maxReserved}));
};

struct QueueData {
  std::string name;
  uint64_t weight = 1;
  Completion completion = Completion::Whole;
  std::optional<LocData> loc; ///< none: its engine's place

  static constexpr auto fields =
      std::tuple(first("name", &QueueData::name, "a queue"),
                 field("weight", &QueueData::weight, {.min = 1, .max = maxCount}),
                 field("completion", &QueueData::completion, {.topic = "how a queue completes"}),
                 field("from", &QueueData::loc, {.key = "loc"}));
};

struct EngineData {
  static constexpr std::string_view word = "engine";
  QueueData own;                  ///< the engine's name, and its own queue
  std::vector<QueueData> queues;  ///< further ones
  std::vector<uint64_t> reserves; ///< registers

  static constexpr auto fields = std::tuple(
      field("own", &EngineData::own, {.what = "an engine"}), field("queues", &EngineData::queues),
      field("reserves", &EngineData::reserves, {.max = maxReserved}));
};

struct ValueData {
  static constexpr std::string_view word = "value";
  std::string name;
  uint64_t min = 0;
  std::optional<uint64_t> max;

  static constexpr auto fields =
      std::tuple(first("name", &ValueData::name, "a run-time value"), field("min", &ValueData::min),
                 field("max", &ValueData::max));
};

/// How many slots a buffer may have.
struct SlotsData {
  uint64_t min = 1;
  uint64_t max = 0;

  static constexpr auto fields =
      std::tuple(field("min", &SlotsData::min, {.min = 1}),
                 field("max", &SlotsData::max, {.needed = "the most slots", .min = 1}));
};

/// Which dimension of a buffer goes over partitions, and from which one on.
struct PartitionsData {
  uint64_t first = 0;
  uint64_t dim = 0;

  static constexpr auto fields =
      std::tuple(field("first", &PartitionsData::first, {.max = maxPartitions - 1}),
                 field("dim", &PartitionsData::dim, {.max = UINT32_MAX}));
};

struct BufferData {
  static constexpr std::string_view word = "buffer";
  std::string name;
  std::vector<uint64_t> shape; ///< empty: a single element
  std::string elementType;     ///< empty: not said
  std::string space;           ///< empty: not said
  std::optional<uint64_t> address;
  std::optional<PartitionsData> partitions;
  Names alias;   ///< earlier buffers
  Names noalias; ///< earlier buffers
  std::optional<SlotsData> ring;

  static constexpr auto fields =
      std::tuple(first("name", &BufferData::name, "a buffer"),
                 field("shape", &BufferData::shape, {.max = INT64_MAX}),
                 field("type", &BufferData::elementType, {.what = "an element type"}),
                 field("space", &BufferData::space, {.what = "a memory space"}),
                 field("at", &BufferData::address, {.key = "address"}),
                 field("partitions", &BufferData::partitions),
                 field("alias", &BufferData::alias, {.what = "a buffer"}),
                 field("noalias", &BufferData::noalias, {.what = "a buffer"}),
                 field("ring", &BufferData::ring));
};

/// How often a loop runs. In text `trips 64`, `trips "n" min 1`, `trips = "$n - i"`, `while "c"`;
/// in JSON a number or an object.
struct TripData {
  Trip::Kind kind = Trip::Kind::Constant;
  uint64_t trips = 0;          ///< of a Constant
  std::string symbol;          ///< of a Value or a Guard; of a Formula, its text
  uint64_t min = 0;            ///< of a Value, or of a Formula that is one run-time value
  std::optional<uint64_t> max; ///< likewise

  static constexpr auto fields =
      std::tuple(field("kind", &TripData::kind), field("trips", &TripData::trips),
                 field("symbol", &TripData::symbol), field("min", &TripData::min),
                 field("max", &TripData::max));
};

inline constexpr uint64_t allIterations = UINT64_MAX;

struct LoopData {
  static constexpr std::string_view word = "loop";
  std::string name;
  TripData trip;
  bool divergent = false;
  uint64_t unroll = 1;
  std::string sync; ///< a strategy; empty: as around it

  static constexpr auto fields = std::tuple(
      first("name", &LoopData::name, "a loop", {.key = "loop"}),
      field("trips", &LoopData::trip, {.needed = "trips", .topic = "how often the loop runs"}),
      field("divergent", &LoopData::divergent, {.key = "uniform", .inverted = true}),
      field("unroll", &LoopData::unroll,
            {.word = "full", .wordValue = allIterations, .min = 1, .max = maxCount}),
      field("sync", &LoopData::sync, {.what = "a strategy"}));
};

struct IfData {
  static constexpr std::string_view word = "if";
  std::string name;
  std::string when; ///< what decides; empty: only the run knows
  bool divergent = false;
  std::string sync; ///< a strategy; empty: as around it

  static constexpr auto fields =
      std::tuple(first("name", &IfData::name, "a condition", {.key = "if"}),
                 field("when", &IfData::when, {.what = "a comparison"}),
                 field("divergent", &IfData::divergent, {.key = "uniform", .inverted = true}),
                 field("sync", &IfData::sync, {.what = "a strategy"}));
};

struct InstrData {
  static constexpr std::string_view word = "instr";
  std::string name;
  std::string queue;
  Names others;          ///< further queues that it may be issued to
  std::string operation; ///< empty: not said
  std::string computes;  ///< empty: not said
  Names reads;
  Names writes;
  Names accumulates;
  Names loads;                       ///< run-time values
  std::optional<uint64_t> semaphore; ///< pinned to it

  static constexpr auto fields = std::tuple(
      first("name", &InstrData::name, "an instruction", {.key = "instr"}),
      field(
          "on", &InstrData::queue,
          {.key = "queue", .what = "a queue", .needed = "the queue that the instruction runs on"}),
      field("or", &InstrData::others, {.what = "a queue"}),
      field("op", &InstrData::operation, {.what = "an operation"}),
      field("computes", &InstrData::computes, {.what = "an expression"}),
      field("reads", &InstrData::reads, {.what = "a tile"}),
      field("writes", &InstrData::writes, {.what = "a tile"}),
      field("accumulates", &InstrData::accumulates, {.what = "a tile"}),
      field("loads", &InstrData::loads, {.what = "a run-time value"}),
      field("semaphore", &InstrData::semaphore, {.max = maxReserved}));
};

struct ComponentData {
  std::string loop;
  int64_t distance = 0;

  static constexpr auto fields =
      std::tuple(field("loop", &ComponentData::loop), field("distance", &ComponentData::distance));
};

/// How far a dependence reaches. In text `flat 3`, `element 1 at "A" = 2`, `element [0, 0] each 1`;
/// in JSON the keys `distance`, `flat` and `element`.
struct DistanceData {
  DistanceForm form = DistanceForm::Vector;
  int64_t step = 0;          ///< of Flat and Element; of a table, by how much its runs grow
  std::vector<int64_t> runs; ///< of a table; otherwise empty
  std::string over;          ///< of a table: the loop over which runs are numbered; or empty
  std::vector<ComponentData> components;

  static constexpr auto fields =
      std::tuple(field("form", &DistanceData::form), field("step", &DistanceData::step),
                 field("runs", &DistanceData::runs), field("over", &DistanceData::over),
                 field("at", &DistanceData::components));
};

struct DepData {
  static constexpr std::string_view word = "dep";
  std::string producer;
  std::string consumer;
  DepKind kind = DepKind::Unspecified;
  DistanceData distance;
  bool allowDivergent = false;
  std::optional<uint64_t> semaphore; ///< its producer is pinned to it

  static constexpr auto fields =
      std::tuple(first("producer", &DepData::producer, "the producer"),
                 first("consumer", &DepData::consumer, "the consumer", {.lead = "->"}),
                 field("kind", &DepData::kind, {.topic = "what kind it is"}),
                 field("distance", &DepData::distance, {.topic = "how far the dependence reaches"}),
                 field("allow_divergent", &DepData::allowDivergent),
                 field("semaphore", &DepData::semaphore, {.max = maxReserved}));
};

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

struct CodeData {
  static constexpr std::string_view word = "code";
  std::string strategy; ///< empty: not said, that is "manual"
  std::string machine;  ///< empty: not said

  static constexpr auto fields =
      std::tuple(field("strategy", &CodeData::strategy, {.what = "a strategy"}),
                 field("machine", &CodeData::machine, {.what = "a machine"}));
};

/// What code counts on of its machine; in JSON alone.
struct RulesData {
  uint64_t counterBits = 32;
  Subtraction subtraction = Subtraction::Wraps;
  WaitCompare waitCompare = WaitCompare::Unsigned;
  bool queueOverlap = true;
  Completion completion = Completion::Whole;
  std::optional<uint64_t> semaphores;
  std::optional<uint64_t> registers;
  std::optional<Names> sumsInOrder;

  static constexpr auto fields = std::tuple(
      field("counter_bits", &RulesData::counterBits, {.neededInJson = true, .min = 8, .max = 32}),
      field("subtraction", &RulesData::subtraction, {.neededInJson = true}),
      field("compare", &RulesData::waitCompare, {.neededInJson = true}),
      field("overlap", &RulesData::queueOverlap, {.neededInJson = true}),
      field("completion", &RulesData::completion, {.neededInJson = true}),
      field("semaphores", &RulesData::semaphores, {.max = maxCount}),
      field("registers", &RulesData::registers, {.max = maxCount}),
      field("sums_in_order", &RulesData::sumsInOrder, {.what = "an engine"}));
};

/// A semaphore or register: in text its name, in JSON its number.
struct Ref {
  Ref(std::string name = {}, std::optional<uint32_t> number = {})
      : name(std::move(name)), number(number) {}

  std::string name;
  std::optional<uint32_t> number; ///< not known of what was read as text

  bool isGiven() const { return !name.empty() || number; }

  bool operator==(const Ref &) const = default;
};

struct SemaphoreData {
  static constexpr std::string_view word = "semaphore";
  std::string name;

  static constexpr auto fields = std::tuple(first("name", &SemaphoreData::name, "a semaphore"));
};

struct ProgramData {
  static constexpr std::string_view word = "program";
  std::string engine;

  static constexpr auto fields = std::tuple(first("engine", &ProgramData::engine, "an engine"));
};

struct RegisterData {
  static constexpr std::string_view word = "register";
  std::string name;
  std::string role; ///< empty: not said

  static constexpr auto fields = std::tuple(first("name", &RegisterData::name, "a register"),
                                            field("role", &RegisterData::role, {.what = "a role"}));
};

/// A register or a number.
struct OperandData {
  Ref reg;
  uint64_t number = 0; ///< if there is no register

  static constexpr auto fields =
      std::tuple(field("register", &OperandData::reg),
                 field("number", &OperandData::number, {.key = "value", .max = UINT32_MAX}));
};

/// The types of what stands before clauses.
template <typename T>
inline constexpr bool mayBeFirst = std::is_same_v<T, std::string> || std::is_same_v<T, Names> ||
                                   std::is_same_v<T, OperandData> || std::is_same_v<T, Ref>;

struct SetData {
  static constexpr std::string_view word = "set", jsonWord = "alu";
  AluOp op = AluOp::Move;
  Ref target;
  OperandData a;
  std::optional<OperandData> b; ///< unless Move

  static constexpr auto fields =
      std::tuple(field("op", &SetData::op, {.key = "operation", .neededInJson = true}),
                 field("target", &SetData::target, {.key = "dst", .neededInJson = true}),
                 field("a", &SetData::a, {.neededInJson = true}), field("b", &SetData::b));
};

struct ForData {
  static constexpr std::string_view word = "for", jsonWord = "loop";
  std::string loop;
  Ref counter;
  uint64_t unroll = 1; ///< 0: only additions, made at once

  static constexpr auto fields =
      std::tuple(first("loop", &ForData::loop, "a loop"),
                 field("counter", &ForData::counter, {.what = "a register", .mayBeNull = true}),
                 field("unroll", &ForData::unroll,
                       {.topic = "how the loop is written out",
                        .word = "at_once",
                        .wordValue = atOnce,
                        .wordAlone = true,
                        .max = maxCount}));
};

struct BranchData {
  static constexpr std::string_view word = "branch", jsonWord = "if";
  std::string name;

  static constexpr auto fields =
      std::tuple(first("name", &BranchData::name, "a condition", {.key = "if"}));
};

struct WaitData {
  static constexpr std::string_view word = "wait", jsonWord = word;
  Ref semaphore;
  OperandData threshold;
  std::vector<uint64_t> reasons; ///< numbers of the dependences behind it
  bool once = false;             ///< in each pass of the unrolled loop around

  static constexpr auto fields =
      std::tuple(first("semaphore", &WaitData::semaphore, "a semaphore"),
                 first("threshold", &WaitData::threshold, "a threshold", {.lead = ">="}),
                 field("for", &WaitData::reasons,
                       {.key = "dependences", .neededInJson = true, .max = UINT32_MAX}),
                 field("once", &WaitData::once));
};

struct SignalData {
  static constexpr std::string_view word = "signal", jsonWord = word;
  Ref semaphore;
  uint64_t amount = 1;

  static constexpr auto fields = std::tuple(
      first("semaphore", &SignalData::semaphore, "a semaphore"),
      field("by", &SignalData::amount, {.key = "amount", .neededInJson = true, .max = UINT32_MAX}));
};

struct IssueData {
  static constexpr std::string_view word = "issue", jsonWord = word;
  std::string instr;
  std::optional<WaitData> wait;
  std::optional<SignalData> signal;

  static constexpr auto fields =
      std::tuple(first("instr", &IssueData::instr, "an instruction"),
                 field("waits", &IssueData::wait, {.key = "wait", .mayBeNull = true}),
                 field("signals", &IssueData::signal, {.key = "signal", .mayBeNull = true}));
};

struct ResetData {
  static constexpr std::string_view word = "reset", jsonWord = word;
  Ref semaphore; ///< the first one
  uint64_t count = 1;

  static constexpr auto fields =
      std::tuple(first("semaphore", &ResetData::semaphore, "a semaphore"),
                 field("count", &ResetData::count, {.neededInJson = true, .max = UINT32_MAX}));
};

struct DrainData {
  static constexpr std::string_view word = "drain", jsonWord = word;

  static constexpr auto fields = std::tuple<>();
};

/// In text it names the engines that meet; in JSON it is one of the barriers that the document
/// lists.
struct BarrierData {
  static constexpr std::string_view word = "barrier", jsonWord = word;
  Names participants;
  std::optional<uint32_t> number = {};

  static constexpr auto fields =
      std::tuple(first("participants", &BarrierData::participants, "an engine"));
};

struct WhenData {
  static constexpr std::string_view word = "when", jsonWord = word;
  OperandData condition;

  static constexpr auto fields =
      std::tuple(first("condition", &WhenData::condition, "a condition"));
};

template <typename S>
inline constexpr bool hasBranches = std::is_same_v<S, IfData> || std::is_same_v<S, BranchData>;

template <typename S>
inline constexpr bool hasBody =
    hasBranches<S> || std::is_same_v<S, LoopData> || std::is_same_v<S, ForData> ||
    std::is_same_v<S, BarrierData> || std::is_same_v<S, WhenData>;

/// What stands in the program of an engine, those with bodies last.
template <typename Fn> void forSteps(Fn &&fn) {
  std::apply([&](auto... data) { (fn(data), ...); },
             std::tuple<IssueData, WaitData, SignalData, ResetData, DrainData, SetData, ForData,
                        BranchData, BarrierData, WhenData>());
}

struct TripsData {
  std::string loop;

  static constexpr auto fields = std::tuple(first("loop", &TripsData::loop, "a loop"));
};

struct GuardData {
  std::string name;

  static constexpr auto fields = std::tuple(first("name", &GuardData::name, "a condition"));
};

struct AwaitData {
  std::string semaphore;
  std::vector<uint64_t> reasons;

  static constexpr auto fields =
      std::tuple(field("semaphore", &AwaitData::semaphore), field("for", &AwaitData::reasons));
};

struct RunData {
  std::string instr;
  std::optional<AwaitData> wait; ///< its threshold is the operand
  std::optional<SignalData> signal;

  static constexpr auto fields =
      std::tuple(field("instr", &RunData::instr), field("waits", &RunData::wait),
                 field("signals", &RunData::signal));
};

} // namespace tally::written

#endif // TALLY_WRITTEN_DATA_H
