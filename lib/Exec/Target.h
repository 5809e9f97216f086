//===- Target.h - What a machine is asked to do ---------------------------===//
//
// Everything that code and its computations come down to, one function each. ProgramWriter and
// InstrWriter say what happens, in order; a target says how its machine does it. A target keeps
// what it has made of a value by number, so that the writers need not know what that is: text, or
// an instruction of LLVM.
//
//   Value    an index (64 bits, with a sign), a number (f32), a whole number (32 bits), a word of a
//            sequencer, or a condition; the writers know which
//   Memory   a buffer of the kernel, in the bits of its format, or a room: what an instruction
//            keeps for itself while it computes, f32 or whole numbers of 32 bits
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_EXEC_TARGET_H
#define TALLY_LIB_EXEC_TARGET_H

#include "tally/Code/Code.h"
#include "tally/Data/Format.h"
#include "tally/Model/ComputeText.h"
#include "tally/Model/Tiles.h"

#include <optional>
#include <variant>

namespace tally::exec {

using Value = Id<struct TargetValueTag>;
using Memory = Id<struct TargetMemoryTag>;

/// What an element of a tile is while it is computed.
enum class Kind : uint8_t { Number, Whole };

/// What a tile may ask about the loops around its instruction, or about the whole run. Instructions
/// take them as arguments, as they may run elsewhere than their engine.
struct Count {
  TileExpr::Kind kind = TileExpr::Kind::Loop; ///< Loop, Total or Trips
  LoopId loop;

  auto operator<=>(const Count &) const = default;
};

/// The rows of some memory from an element on.
struct Place {
  Memory memory;
  Value element;
};

/// What a function of the user's gets of a tile.
struct OwnTile {
  Place place;
  std::optional<Value> guard; ///< it is not there unless this holds
  bool isRead;                ///< and not written
};

/// Of a function of rows: where they are, how many, a number, or the sign of an operation.
using Argument = std::variant<Place, uint64_t, Value, char>;

class Target {
public:
  virtual ~Target() = default;

  //===--- Memory ---------------------------------------------------------===//

  virtual Memory buffer(BufferId id) = 0;
  /// Room for as many elements, which the instruction that is being written keeps.
  virtual Memory room(std::string_view name, Kind kind, uint64_t size) = 0;
  /// Where a queue keeps tiles of this kind from instruction to instruction.
  virtual Memory roomOf(QueueId queue, Kind kind) = 0;

  /// An element as arithmetic takes it, and a whole number exactly.
  virtual Value loadNumber(Memory memory, Value element) = 0;
  virtual Value loadWhole(Memory memory, Value element) = 0;
  /// A number is rounded to the format; of a whole number, the low bits stay.
  virtual void storeNumber(Memory memory, Value element, Value number) = 0;
  virtual void storeWhole(Memory memory, Value element, Value whole) = 0;
  /// Reads an element, and does nothing with it.
  virtual void touch(Memory memory, Value element) = 0;
  /// The same bits.
  virtual void copy(Memory to, Value element, Memory from, Value source) = 0;

  //===--- Indices --------------------------------------------------------===//

  virtual Value index(int64_t number) = 0;
  virtual Value count(const Count &count) = 0;
  virtual Value runValue(RunValueId id) = 0;
  /// Add to FloorDiv; of the last three, b is a positive number or, of Scale, any.
  virtual Value indexOf(TileExpr::Kind kind, Value a, Value b) = 0;
  virtual Value compare(TileGuard::Relation relation, Value a, Value b) = 0;
  virtual Value both(Value a, Value b) = 0;
  virtual Value either(Value a, Value b) = 0;
  /// The index, if it is from 0 to size - 1; otherwise the run ends, as the tile is outside.
  virtual Value within(Value index, uint64_t size, std::string_view tile) = 0;
  /// The same, but only if the condition holds.
  virtual Value withinIf(Value condition, Value index, uint64_t size, std::string_view tile) = 0;
  /// Gives a value a name, and computes it once.
  virtual Value named(std::string_view name, Value index) = 0;
  virtual Value namedCondition(std::string_view name, Value condition) = 0;

  //===--- Numbers --------------------------------------------------------===//

  virtual Value number(float number) = 0;
  virtual Value numberOf(Value index) = 0;
  /// What a function makes of one element of each operand, all of the kind that it takes.
  virtual Value apply(ComputeOp op, std::span<const Value> operands) = 0;
  virtual Value toNumber(Value whole) = 0;
  virtual Value toWhole(Value number) = 0;
  /// Rounded as if it were stored; a whole number if the format is one.
  virtual Value convert(Format format, Value value, Kind from) = 0;
  /// What a whole number that was read from one format is in another: the nearest there.
  virtual Value nearest(Format to, Format from, Value whole) = 0;
  /// The number of a row, which is one of `rows`; otherwise the run ends.
  virtual Value rowIndex(Value number, uint64_t rows, std::string_view buffer) = 0;

  /// A function of Arithmetic.h: one that gives a number, and one that writes rows.
  virtual Value callForNumber(std::string_view function, std::span<const Argument> arguments) = 0;
  virtual void call(std::string_view function, std::span<const Argument> arguments) = 0;

  //===--- What is done several times, or perhaps not ---------------------===//

  virtual Value beginCount(uint64_t count) = 0;
  virtual void endCount() = 0;
  virtual void beginWhen(Value condition) = 0;
  virtual void beginOtherwise() = 0;
  virtual void endWhen() = 0;

  //===--- Instructions and engines ---------------------------------------===//

  virtual void beginInstr(InstrId id, std::span<const Count> counts) = 0;
  virtual void endInstr() = 0;
  /// Calls the function that the user writes for the instruction, with these indices and tiles.
  virtual void callOwn(std::span<const Value> indices, std::span<const OwnTile> tiles) = 0;
  /// Lets other threads run, perhaps.
  virtual void pause() = 0;

  /// `isCounted`: loops and branches whose entries some tile asks for.
  virtual void beginEngine(EngineId id, const IdVector<LoopId, bool> &isCounted) = 0;
  virtual void endEngine() = 0;
  virtual void beginLoop(LoopId loop, Value trips) = 0;
  virtual void endLoop() = 0;
  virtual void beginBranch(LoopId thenBranch, Value holds) = 0;
  virtual void beginOtherBranch(LoopId otherBranch) = 0;
  virtual void endBranch() = 0;
  /// How often a loop without a formula runs this time.
  virtual Value tripsOf(LoopId loop) = 0;
  /// The number of the iteration, from 1.
  virtual Value iterationNumber(LoopId loop) = 0;

  virtual Value word(uint32_t number) = 0;
  virtual Value wordOf(Value index) = 0;
  virtual Value readRegister(RegId reg) = 0;
  virtual void setRegister(RegId reg, Value word) = 0;
  virtual Value compute(AluOp op, Value a, Value b) = 0;
  virtual Value isNotZero(Value word) = 0;

  /// What follows is of this operation of the engine's code.
  virtual void at(uint32_t /*op*/) {}

  /// Blocks the engine until the semaphore has reached the threshold, and sees what was done before
  /// it was raised.
  virtual void wait(SemaId semaphore, Value threshold) = 0;
  virtual void raise(SemaId semaphore, uint32_t amount) = 0;
  virtual void reset(SemaId first, uint32_t count) = 0;
  /// Blocks the engine until its queues are empty.
  virtual void drain() = 0;
  /// Runs an instruction on the engine's own thread, and then raises the semaphore, if any.
  virtual void run(InstrId id, std::span<const Value> counts, SemaId signal, uint32_t amount) = 0;
  /// The same on the thread of its queue, while the engine goes on.
  virtual void enqueue(InstrId id, std::span<const Value> counts, SemaId signal,
                       uint32_t amount) = 0;
  /// For those who read the code.
  virtual void note(std::string_view text) = 0;
};

} // namespace tally::exec

#endif // TALLY_LIB_EXEC_TARGET_H
