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
#include "tally/Written/Fields.h"

#include <span>

namespace tally::written {

using Names = std::vector<std::string>;

//===----------------------------------------------------------------------===//
// Words of enumerations, in their order; an empty word is never written
//===----------------------------------------------------------------------===//

inline constexpr std::string_view completionWords[] = {"whole", "split"};
inline constexpr std::string_view depKindWords[] = {"", "raw", "war", "waw"};
inline constexpr std::string_view aluWords[] = {"move", "add", "sub", "mul", "min", "gt"}; // JSON

constexpr std::span<const std::string_view> wordsOf(Completion) {
  return completionWords;
}

constexpr std::span<const std::string_view> wordsOf(DepKind) {
  return depKindWords;
}

inline constexpr std::string_view subtractionWords[] = {"wraps", "saturates"};
inline constexpr std::string_view compareWords[] = {"unsigned", "signed"};

constexpr std::span<const std::string_view> wordsOf(Subtraction) {
  return subtractionWords;
}

constexpr std::span<const std::string_view> wordsOf(WaitCompare) {
  return compareWords;
}

constexpr std::span<const std::string_view> wordsOf(AluOp) {
  return aluWords;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// Where a statement comes from, if not from this text; MLIR has locations of its own.
struct LocData {
  std::string file;
  uint64_t line = 0;
  uint64_t column = 0;

  static constexpr auto fields() {
    return std::tuple(first("file", &LocData::file, "a file"),
                      field("line", &LocData::line).within(1, UINT32_MAX).need("a line"),
                      field("column", &LocData::column).within(1, UINT32_MAX).need("a column"));
  }

  bool operator==(const LocData &) const = default;
};

struct KernelData {
  static constexpr std::string_view word = "kernel";
  std::vector<uint64_t> reserves; ///< semaphores

  static constexpr auto fields() {
    return std::tuple(field("reserves", &KernelData::reserves).within(0, maxReserved));
  }

  bool operator==(const KernelData &) const = default;
};

struct QueueData {
  std::string name;
  uint64_t weight = 1;
  Completion completion = Completion::Whole;

  static constexpr auto fields() {
    return std::tuple(first("name", &QueueData::name, "a queue"),
                      field("weight", &QueueData::weight).within(1, maxCount),
                      field("completion", &QueueData::completion).about("how a queue completes"));
  }

  bool operator==(const QueueData &) const = default;
};

struct EngineData {
  static constexpr std::string_view word = "engine";
  QueueData own;                  ///< the engine's name, and its own queue
  std::vector<QueueData> queues;  ///< further ones
  std::vector<uint64_t> reserves; ///< registers

  static constexpr auto fields() {
    return std::tuple(field("own", &EngineData::own).of("an engine"),
                      field("queues", &EngineData::queues),
                      field("reserves", &EngineData::reserves).within(0, maxReserved));
  }

  bool operator==(const EngineData &) const = default;
};

struct BufferData {
  static constexpr std::string_view word = "buffer";
  std::string name;
  std::vector<uint64_t> shape; ///< empty: a single element
  std::string elementType;     ///< empty: not said
  std::string space;           ///< empty: not said
  std::optional<uint64_t> address;
  Names alias;   ///< earlier buffers
  Names noalias; ///< earlier buffers

  static constexpr auto fields() {
    return std::tuple(first("name", &BufferData::name, "a buffer"),
                      field("shape", &BufferData::shape).within(0, INT64_MAX),
                      field("type", &BufferData::elementType).of("an element type"),
                      field("space", &BufferData::space).of("a memory space"),
                      field("at", &BufferData::address).key("address"),
                      field("alias", &BufferData::alias).of("a buffer"),
                      field("noalias", &BufferData::noalias).of("a buffer"));
  }

  bool operator==(const BufferData &) const = default;
};

/// How often a loop runs. In text `trips 64`, `trips "n" min 1`, `while "c"`; in JSON a number or
/// an object.
struct TripData {
  Trip::Kind kind = Trip::Kind::Constant;
  uint64_t trips = 0;          ///< of a Constant
  std::string symbol;          ///< of a Value or a Guard
  uint64_t min = 0;            ///< of a Value
  std::optional<uint64_t> max; ///< of a Value

  static constexpr auto fields() {
    return std::tuple(field("kind", &TripData::kind), field("trips", &TripData::trips),
                      field("symbol", &TripData::symbol), field("min", &TripData::min),
                      field("max", &TripData::max));
  }

  bool operator==(const TripData &) const = default;
};

inline constexpr uint64_t allIterations = UINT64_MAX;

struct LoopData {
  static constexpr std::string_view word = "loop";
  std::string name;
  TripData trip;
  bool divergent = false;
  uint64_t unroll = 1;
  std::string sync; ///< a strategy; empty: as around it

  static constexpr auto fields() {
    return std::tuple(
        first("name", &LoopData::name, "a loop").key("loop"),
        field("trips", &LoopData::trip).about("how often the loop runs").need("trips"),
        field("divergent", &LoopData::divergent).opposite("uniform"),
        field("unroll", &LoopData::unroll).within(1, maxCount).orWord("full", allIterations),
        field("sync", &LoopData::sync).of("a strategy"));
  }

  bool operator==(const LoopData &) const = default;
};

struct IfData {
  static constexpr std::string_view word = "if";
  std::string name;
  bool divergent = false;
  std::string sync; ///< a strategy; empty: as around it

  static constexpr auto fields() {
    return std::tuple(first("name", &IfData::name, "a condition").key("if"),
                      field("divergent", &IfData::divergent).opposite("uniform"),
                      field("sync", &IfData::sync).of("a strategy"));
  }

  bool operator==(const IfData &) const = default;
};

struct InstrData {
  static constexpr std::string_view word = "instr";
  std::string name;
  std::string queue;
  std::string operation; ///< empty: not said
  std::string computes;  ///< empty: not said
  Names reads;
  Names writes;
  Names accumulates;
  std::optional<uint64_t> semaphore; ///< pinned to it

  static constexpr auto fields() {
    return std::tuple(first("name", &InstrData::name, "an instruction").key("instr"),
                      field("on", &InstrData::queue)
                          .key("queue")
                          .of("a queue")
                          .need("the queue that the instruction runs on"),
                      field("op", &InstrData::operation).of("an operation"),
                      field("computes", &InstrData::computes).of("an expression"),
                      field("reads", &InstrData::reads).of("a tile"),
                      field("writes", &InstrData::writes).of("a tile"),
                      field("accumulates", &InstrData::accumulates).of("a tile"),
                      field("semaphore", &InstrData::semaphore).within(0, maxReserved));
  }

  bool operator==(const InstrData &) const = default;
};

struct ComponentData {
  std::string loop;
  int64_t distance = 0;

  static constexpr auto fields() {
    return std::tuple(field("loop", &ComponentData::loop),
                      field("distance", &ComponentData::distance));
  }

  bool operator==(const ComponentData &) const = default;
};

/// How far a dependence reaches. In text `flat 3`, `element 1 at "A" = 2`; in JSON the keys
/// `distance`, `flat` and `element`.
struct DistanceData {
  DistanceForm form = DistanceForm::Vector;
  int64_t step = 0; ///< of Flat and Element
  std::vector<ComponentData> components;

  static constexpr auto fields() {
    return std::tuple(field("form", &DistanceData::form), field("step", &DistanceData::step),
                      field("at", &DistanceData::components));
  }

  bool operator==(const DistanceData &) const = default;
};

struct DepData {
  static constexpr std::string_view word = "dep";
  std::string producer;
  std::string consumer;
  DepKind kind = DepKind::Unspecified;
  DistanceData distance;
  bool allowDivergent = false;
  std::optional<uint64_t> semaphore; ///< its producer is pinned to it

  static constexpr auto fields() {
    return std::tuple(first("producer", &DepData::producer, "the producer"),
                      first("consumer", &DepData::consumer, "the consumer").after("->"),
                      field("kind", &DepData::kind).about("what kind it is"),
                      field("distance", &DepData::distance).about("how far the dependence reaches"),
                      field("allow_divergent", &DepData::allowDivergent),
                      field("semaphore", &DepData::semaphore).within(0, maxReserved));
  }

  bool operator==(const DepData &) const = default;
};

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

struct CodeData {
  static constexpr std::string_view word = "code";
  std::string strategy; ///< empty: not said, that is "manual"
  std::string machine;  ///< empty: not said

  static constexpr auto fields() {
    return std::tuple(field("strategy", &CodeData::strategy).of("a strategy"),
                      field("machine", &CodeData::machine).of("a machine"));
  }

  bool operator==(const CodeData &) const = default;
};

/// What code counts on of its machine; in JSON alone.
struct RulesData {
  uint64_t counterBits = 32;
  Subtraction subtraction = Subtraction::Wraps;
  WaitCompare waitCompare = WaitCompare::Unsigned;
  bool queueOverlap = true;
  Completion completion = Completion::Whole;

  static constexpr auto fields() {
    return std::tuple(field("counter_bits", &RulesData::counterBits).within(8, 32).inJson(true),
                      field("subtraction", &RulesData::subtraction).inJson(true),
                      field("compare", &RulesData::waitCompare).inJson(true),
                      field("overlap", &RulesData::queueOverlap).inJson(true),
                      field("completion", &RulesData::completion).inJson(true));
  }
};

/// A semaphore or register: in text its name, in JSON its number.
struct Ref {
  std::string name;
  std::optional<uint32_t> number = {}; ///< not known of what was read as text

  bool isGiven() const { return !name.empty() || number; }

  bool operator==(const Ref &) const = default;
};

struct SemaphoreData {
  static constexpr std::string_view word = "semaphore";
  std::string name;

  static constexpr auto fields() {
    return std::tuple(first("name", &SemaphoreData::name, "a semaphore"));
  }

  bool operator==(const SemaphoreData &) const = default;
};

struct ProgramData {
  static constexpr std::string_view word = "program";
  std::string engine;

  static constexpr auto fields() {
    return std::tuple(first("engine", &ProgramData::engine, "an engine"));
  }

  bool operator==(const ProgramData &) const = default;
};

struct RegisterData {
  static constexpr std::string_view word = "register";
  std::string name;
  std::string role; ///< empty: not said

  static constexpr auto fields() {
    return std::tuple(first("name", &RegisterData::name, "a register"),
                      field("role", &RegisterData::role).of("a role"));
  }

  bool operator==(const RegisterData &) const = default;
};

/// A register or a number.
struct OperandData {
  Ref reg;
  uint64_t number = 0; ///< if there is no register

  static constexpr auto fields() {
    return std::tuple(field("register", &OperandData::reg),
                      field("number", &OperandData::number).key("value").within(0, UINT32_MAX));
  }

  bool operator==(const OperandData &) const = default;
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

  static constexpr auto fields() {
    return std::tuple(field("op", &SetData::op).key("operation").inJson(true),
                      field("target", &SetData::target).key("dst").inJson(true),
                      field("a", &SetData::a).inJson(true), field("b", &SetData::b));
  }

  bool operator==(const SetData &) const = default;
};

struct ForData {
  static constexpr std::string_view word = "for", jsonWord = "loop";
  std::string loop;
  Ref counter;
  uint64_t unroll = 1; ///< 0: only additions, made at once

  static constexpr auto fields() {
    return std::tuple(first("loop", &ForData::loop, "a loop"),
                      field("counter", &ForData::counter).of("a register").inJson(false),
                      field("unroll", &ForData::unroll)
                          .about("how the loop is written out")
                          .within(0, maxCount)
                          .orWord("at_once", atOnce, /*alone=*/true));
  }

  bool operator==(const ForData &) const = default;
};

struct BranchData {
  static constexpr std::string_view word = "branch", jsonWord = "if";
  std::string name;

  static constexpr auto fields() {
    return std::tuple(first("name", &BranchData::name, "a condition").key("if"));
  }

  bool operator==(const BranchData &) const = default;
};

struct WaitData {
  static constexpr std::string_view word = "wait", jsonWord = word;
  Ref semaphore;
  OperandData threshold;
  std::vector<uint64_t> reasons; ///< numbers of the dependences behind it

  static constexpr auto fields() {
    return std::tuple(
        first("semaphore", &WaitData::semaphore, "a semaphore"),
        first("threshold", &WaitData::threshold, "a threshold").after(">="),
        field("for", &WaitData::reasons).key("dependences").within(0, UINT32_MAX).inJson(false));
  }

  bool operator==(const WaitData &) const = default;
};

struct SignalData {
  static constexpr std::string_view word = "signal", jsonWord = word;
  Ref semaphore;
  uint64_t amount = 1;

  static constexpr auto fields() {
    return std::tuple(
        first("semaphore", &SignalData::semaphore, "a semaphore"),
        field("by", &SignalData::amount).key("amount").within(0, UINT32_MAX).inJson(true));
  }

  bool operator==(const SignalData &) const = default;
};

struct IssueData {
  static constexpr std::string_view word = "issue", jsonWord = word;
  std::string instr;
  std::optional<WaitData> wait;
  std::optional<SignalData> signal;

  static constexpr auto fields() {
    return std::tuple(first("instr", &IssueData::instr, "an instruction"),
                      field("waits", &IssueData::wait).key("wait").inJson(false),
                      field("signals", &IssueData::signal).key("signal").inJson(false));
  }

  bool operator==(const IssueData &) const = default;
};

struct ResetData {
  static constexpr std::string_view word = "reset", jsonWord = word;
  Ref semaphore; ///< the first one
  uint64_t count = 1;

  static constexpr auto fields() {
    return std::tuple(first("semaphore", &ResetData::semaphore, "a semaphore"),
                      field("count", &ResetData::count).within(0, UINT32_MAX).inJson(true));
  }

  bool operator==(const ResetData &) const = default;
};

struct DrainData {
  static constexpr std::string_view word = "drain", jsonWord = word;

  static constexpr auto fields() { return std::tuple<>(); }

  bool operator==(const DrainData &) const = default;
};

/// In text it names who meets; in JSON it is one of the barriers that the document lists.
struct BarrierData {
  static constexpr std::string_view word = "barrier", jsonWord = word;
  Names participants;
  std::optional<uint32_t> number = {};

  static constexpr auto fields() {
    return std::tuple(first("participants", &BarrierData::participants, "an engine"));
  }

  bool operator==(const BarrierData &) const = default;
};

struct WhenData {
  static constexpr std::string_view word = "when", jsonWord = word;
  OperandData condition;

  static constexpr auto fields() {
    return std::tuple(first("condition", &WhenData::condition, "a condition"));
  }

  bool operator==(const WhenData &) const = default;
};

template <typename S>
inline constexpr bool hasBody = std::is_same_v<S, ForData> || std::is_same_v<S, BranchData> ||
                                std::is_same_v<S, BarrierData> || std::is_same_v<S, WhenData>;

/// What stands in the program of an engine, those with bodies last.
template <typename Fn> void forSteps(Fn &&fn) {
  std::apply([&](auto... data) { (fn(data), ...); },
             std::tuple<IssueData, WaitData, SignalData, ResetData, DrainData, SetData, ForData,
                        BranchData, BarrierData, WhenData>());
}

struct TripsData {
  std::string loop;

  static constexpr auto fields() { return std::tuple(first("loop", &TripsData::loop, "a loop")); }

  bool operator==(const TripsData &) const = default;
};

struct GuardData {
  std::string name;

  static constexpr auto fields() {
    return std::tuple(first("name", &GuardData::name, "a condition"));
  }

  bool operator==(const GuardData &) const = default;
};

struct AwaitData {
  std::string semaphore;
  std::vector<uint64_t> reasons;

  static constexpr auto fields() {
    return std::tuple(field("semaphore", &AwaitData::semaphore), field("for", &AwaitData::reasons));
  }

  bool operator==(const AwaitData &) const = default;
};

struct RunData {
  std::string instr;
  std::optional<AwaitData> wait; ///< its threshold is the operand
  std::optional<SignalData> signal;

  static constexpr auto fields() {
    return std::tuple(field("instr", &RunData::instr), field("waits", &RunData::wait),
                      field("signals", &RunData::signal));
  }

  bool operator==(const RunData &) const = default;
};

} // namespace tally::written

#endif // TALLY_WRITTEN_DATA_H
