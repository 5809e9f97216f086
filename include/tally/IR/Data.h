//===- Data.h - What the operations of the dialect say --------------------===//
//
// One plain struct per operation, held as its property. A struct lists its fields once:
//
//   struct SignalData {
//     std::string semaphore;
//     uint64_t amount = 1;
//     static constexpr auto fields() {
//       return std::tuple(field("semaphore", &SignalData::semaphore), ...);
//     }
//   };
//
// From that list StructProperties.h makes everything that MLIR asks of a property:
// the generic form, hashing, bytecode. Text in pretty form is in Assembly.cpp.
//
// The structs hold what was written, names as text and numbers unjudged (a count too large for
// the core is still a count here), so that any text that parses can be printed again.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_IR_DATA_H
#define TALLY_IR_DATA_H

#include "tally/Code/Code.h"
#include "tally/Model/Kernel.h"

#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace tally::ir {

/// A field of a struct and its name in the generic form.
template <typename Struct, typename T> struct Field {
  const char *name;
  T Struct::*member;
};

template <typename Struct, typename T>
constexpr Field<Struct, T> field(const char *name, T Struct::*member) {
  return {name, member};
}

using Names = std::vector<std::string>;

struct KernelData {
  std::vector<uint64_t> reserves; ///< semaphores

  static constexpr auto fields() { return std::tuple(field("reserves", &KernelData::reserves)); }

  bool operator==(const KernelData &) const = default;
};

struct QueueData {
  std::string name;
  uint64_t weight = 1;
  Completion completion = Completion::Whole;

  static constexpr auto fields() {
    return std::tuple(field("name", &QueueData::name), field("weight", &QueueData::weight),
                      field("completion", &QueueData::completion));
  }

  bool operator==(const QueueData &) const = default;
};

struct EngineData {
  QueueData own;                  ///< the engine's name, and its own queue
  std::vector<QueueData> queues;  ///< further ones
  std::vector<uint64_t> reserves; ///< registers

  static constexpr auto fields() {
    return std::tuple(field("own", &EngineData::own), field("queues", &EngineData::queues),
                      field("reserves", &EngineData::reserves));
  }

  bool operator==(const EngineData &) const = default;
};

struct BufferData {
  std::string name;
  std::vector<uint64_t> shape; ///< empty: a single element
  std::string elementType;     ///< empty: not said
  std::string space;           ///< empty: not said
  std::optional<uint64_t> address;
  Names alias;   ///< earlier buffers
  Names noalias; ///< earlier buffers

  static constexpr auto fields() {
    return std::tuple(field("name", &BufferData::name), field("shape", &BufferData::shape),
                      field("type", &BufferData::elementType), field("space", &BufferData::space),
                      field("at", &BufferData::address), field("alias", &BufferData::alias),
                      field("noalias", &BufferData::noalias));
  }

  bool operator==(const BufferData &) const = default;
};

struct LoopData {
  std::string name;
  Trip::Kind kind = Trip::Kind::Constant;
  uint64_t trips = 0;          ///< of a Constant
  std::string symbol;          ///< of a Value or a Guard
  uint64_t min = 0;            ///< of a Value
  std::optional<uint64_t> max; ///< of a Value
  bool divergent = false;
  uint64_t unroll = 1; ///< UINT64_MAX: all iterations
  std::string sync;    ///< a strategy; empty: as around it

  static constexpr auto fields() {
    return std::tuple(field("name", &LoopData::name), field("kind", &LoopData::kind),
                      field("trips", &LoopData::trips), field("symbol", &LoopData::symbol),
                      field("min", &LoopData::min), field("max", &LoopData::max),
                      field("divergent", &LoopData::divergent), field("unroll", &LoopData::unroll),
                      field("sync", &LoopData::sync));
  }

  bool operator==(const LoopData &) const = default;
};

struct IfData {
  std::string name;
  bool divergent = false;
  std::string sync; ///< a strategy; empty: as around it

  static constexpr auto fields() {
    return std::tuple(field("name", &IfData::name), field("divergent", &IfData::divergent),
                      field("sync", &IfData::sync));
  }

  bool operator==(const IfData &) const = default;
};

struct InstrData {
  std::string name;
  std::string queue;
  std::string operation; ///< empty: not said
  std::string computes;  ///< empty: not said
  Names reads;
  Names writes;
  Names accumulates;
  std::optional<uint64_t> semaphore; ///< pinned to it

  static constexpr auto fields() {
    return std::tuple(field("name", &InstrData::name), field("on", &InstrData::queue),
                      field("op", &InstrData::operation), field("computes", &InstrData::computes),
                      field("reads", &InstrData::reads), field("writes", &InstrData::writes),
                      field("accumulates", &InstrData::accumulates),
                      field("semaphore", &InstrData::semaphore));
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

struct DepData {
  std::string producer;
  std::string consumer;
  DepKind kind = DepKind::Unspecified;
  DistanceForm form = DistanceForm::Vector;
  int64_t step = 0; ///< of Flat and Element
  std::vector<ComponentData> components;
  bool allowDivergent = false;
  std::optional<uint64_t> semaphore; ///< its producer is pinned to it

  static constexpr auto fields() {
    return std::tuple(field("producer", &DepData::producer), field("consumer", &DepData::consumer),
                      field("kind", &DepData::kind), field("form", &DepData::form),
                      field("step", &DepData::step), field("at", &DepData::components),
                      field("allow_divergent", &DepData::allowDivergent),
                      field("semaphore", &DepData::semaphore));
  }

  bool operator==(const DepData &) const = default;
};

struct CodeData {
  std::string strategy; ///< empty: not said, that is "manual"
  std::string machine;  ///< empty: not said

  static constexpr auto fields() {
    return std::tuple(field("strategy", &CodeData::strategy), field("machine", &CodeData::machine));
  }

  bool operator==(const CodeData &) const = default;
};

struct SemaphoreData {
  std::string name;

  static constexpr auto fields() { return std::tuple(field("name", &SemaphoreData::name)); }

  bool operator==(const SemaphoreData &) const = default;
};

struct ProgramData {
  std::string engine;

  static constexpr auto fields() { return std::tuple(field("engine", &ProgramData::engine)); }

  bool operator==(const ProgramData &) const = default;
};

struct RegisterData {
  std::string name;
  std::string role; ///< empty: not said

  static constexpr auto fields() {
    return std::tuple(field("name", &RegisterData::name), field("role", &RegisterData::role));
  }

  bool operator==(const RegisterData &) const = default;
};

/// A register by name, or a number.
struct OperandData {
  bool isRegister = false;
  std::string name;
  uint64_t number = 0;

  static constexpr auto fields() {
    return std::tuple(field("register", &OperandData::isRegister),
                      field("name", &OperandData::name), field("number", &OperandData::number));
  }

  bool operator==(const OperandData &) const = default;
};

struct SetData {
  std::string target;
  AluOp op = AluOp::Move;
  OperandData a;
  OperandData b; ///< unless Move

  static constexpr auto fields() {
    return std::tuple(field("target", &SetData::target), field("op", &SetData::op),
                      field("a", &SetData::a), field("b", &SetData::b));
  }

  bool operator==(const SetData &) const = default;
};

struct ForData {
  std::string loop;
  std::string counter; ///< register; empty: none
  uint64_t unroll = 1; ///< 0: only additions, made at once

  static constexpr auto fields() {
    return std::tuple(field("loop", &ForData::loop), field("counter", &ForData::counter),
                      field("unroll", &ForData::unroll));
  }

  bool operator==(const ForData &) const = default;
};

struct BranchData {
  std::string name;

  static constexpr auto fields() { return std::tuple(field("name", &BranchData::name)); }

  bool operator==(const BranchData &) const = default;
};

struct WaitData {
  std::string semaphore;
  OperandData threshold;
  std::vector<uint64_t> reasons; ///< numbers of the dependences behind it

  static constexpr auto fields() {
    return std::tuple(field("semaphore", &WaitData::semaphore),
                      field("threshold", &WaitData::threshold), field("for", &WaitData::reasons));
  }

  bool operator==(const WaitData &) const = default;
};

struct SignalData {
  std::string semaphore;
  uint64_t amount = 1;

  static constexpr auto fields() {
    return std::tuple(field("semaphore", &SignalData::semaphore), field("by", &SignalData::amount));
  }

  bool operator==(const SignalData &) const = default;
};

struct IssueData {
  std::string instr;
  std::optional<WaitData> wait;
  std::optional<SignalData> signal;

  static constexpr auto fields() {
    return std::tuple(field("instr", &IssueData::instr), field("waits", &IssueData::wait),
                      field("signals", &IssueData::signal));
  }

  bool operator==(const IssueData &) const = default;
};

struct ResetData {
  std::string semaphore; ///< the first one
  uint64_t count = 1;

  static constexpr auto fields() {
    return std::tuple(field("semaphore", &ResetData::semaphore), field("count", &ResetData::count));
  }

  bool operator==(const ResetData &) const = default;
};

struct BarrierData {
  Names participants;

  static constexpr auto fields() {
    return std::tuple(field("participants", &BarrierData::participants));
  }

  bool operator==(const BarrierData &) const = default;
};

struct WhenData {
  OperandData condition;

  static constexpr auto fields() { return std::tuple(field("condition", &WhenData::condition)); }

  bool operator==(const WhenData &) const = default;
};

struct TripsData {
  std::string loop;

  static constexpr auto fields() { return std::tuple(field("loop", &TripsData::loop)); }

  bool operator==(const TripsData &) const = default;
};

struct GuardData {
  std::string name;

  static constexpr auto fields() { return std::tuple(field("name", &GuardData::name)); }

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

} // namespace tally::ir

#endif // TALLY_IR_DATA_H
