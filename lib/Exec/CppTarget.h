//===- CppTarget.h - A target that writes C++ -----------------------------===//
//
// A value is an expression, and each function of the target a statement or a part of an
// expression. What an instruction does is one function of the program, and so is each engine.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_EXEC_CPPTARGET_H
#define TALLY_LIB_EXEC_CPPTARGET_H

#include "Names.h"
#include "Subject.h"

#include <array>
#include <map>

namespace tally::exec {

class CppTarget final : public Target {
public:
  explicit CppTarget(const Subject &subject);

  /// The parts of the program, when all is written.
  std::string declarations() const;

  std::string functions() const { return done; }

  /// start() for a main() of ours; with functions of the user's, run() for theirs.
  std::string startFunction() const;

  /// Those that the user writes.
  std::string ownFunctions() const { return ownDeclarations; }

  Memory buffer(BufferId id) override { return Memory(id.value); }

  Memory room(std::string_view name, Kind kind, uint64_t size) override;
  Memory roomOf(QueueId queue, Kind kind) override;
  Value loadNumber(Memory memory, Value element) override;
  Value loadWhole(Memory memory, Value element) override;
  void storeNumber(Memory memory, Value element, Value number) override;
  void storeWhole(Memory memory, Value element, Value whole) override;
  void copy(Memory to, Value element, Memory from, Value source) override;

  Value index(int64_t number) override;
  Value count(const Count &count) override;
  Value runValue(RunValueId id) override;
  Value indexOf(TileExpr::Kind kind, Value a, Value b) override;
  Value compare(TileGuard::Relation relation, Value a, Value b) override;
  Value both(Value a, Value b) override;
  Value either(Value a, Value b) override;
  Value within(Value index, uint64_t size, std::string_view tile) override;
  Value withinIf(Value condition, Value index, uint64_t size, std::string_view tile) override;
  Value named(std::string_view name, Value index) override;
  Value namedCondition(std::string_view name, Value condition) override;

  Value number(float number) override;
  Value numberOf(Value index) override;
  Value apply(ComputeOp op, std::span<const Value> operands) override;
  Value toNumber(Value whole) override;
  Value toWhole(Value number) override;
  Value convert(Format format, Value value, Kind from) override;
  Value nearest(Format to, Format from, Value whole) override;
  Value rowIndex(Value number, uint64_t rows, std::string_view buffer) override;
  Value callForNumber(std::string_view function, std::span<const Argument> arguments) override;
  void call(std::string_view function, std::span<const Argument> arguments) override;

  Value beginCount(uint64_t count) override;

  void endCount() override { close(); }

  void beginWhen(Value condition) override;
  void beginOtherwise() override;

  void endWhen() override { close(); }

  void beginInstr(InstrId id, std::span<const Count> counts) override;
  void endInstr() override;
  void callOwn(std::span<const Value> indices, std::span<const OwnTile> tiles) override;
  void pause() override;
  void touch(Memory memory, Value element) override;
  void beginEngine(EngineId id, const IdVector<LoopId, bool> &isCounted) override;
  void endEngine() override;
  void beginLoop(LoopId loop, Value trips) override;

  void endLoop() override { close(); }

  void beginBranch(LoopId thenBranch, Value holds) override;
  void beginOtherBranch(LoopId otherBranch) override;

  void endBranch() override { close(); }

  Value tripsOf(LoopId loop) override;
  Value iterationNumber(LoopId loop) override;

  Value word(uint32_t number) override;
  Value wordOf(Value index) override;
  Value readRegister(RegId reg) override;
  void setRegister(RegId reg, Value word) override;
  Value compute(AluOp op, Value a, Value b) override;
  Value isNotZero(Value word) override;
  void wait(SemaId semaphore, Value threshold) override;
  void raise(SemaId semaphore, uint32_t amount) override;
  void reset(SemaId first, uint32_t count) override;
  void drain() override;
  void run(InstrId id, std::span<const Value> counts, SemaId signal, uint32_t amount) override;
  void enqueue(InstrId id, std::span<const Value> counts, SemaId signal, uint32_t amount) override;
  void note(std::string_view text) override;

private:
  /// An expression.
  struct Text {
    std::string text;
    bool isAtom = true; ///< needs no parentheses inside another one
    bool isNotNegative = false;
    std::optional<int64_t> constant = {};
    bool isProduct = false; ///< binds more closely than a sum
  };

  /// A buffer or a room, as an array.
  struct Array {
    std::string name;
    std::string type;
    uint64_t size = 0;
    std::optional<Format> format; ///< of a buffer
    std::string note = {};
  };

  Value add(Text text);

  Value atom(std::string text) { return add({std::move(text)}); }

  Value atomNotNegative(std::string text) { return add({std::move(text), true, true}); }

  const Text &of(Value value) const { return values[value]; }

  std::string inner(Value value) const;
  std::string elementOf(Memory memory, Value element) const;
  std::string argumentText(const Argument &argument) const;
  std::string argumentsText(std::span<const Argument> arguments) const;
  std::string nameOf(const Count &count) const;
  std::string firstCountText() const;
  std::string raised(SemaId signal, uint32_t amount) const;
  std::string callText(InstrId id, const std::vector<std::string> &counts) const;
  void serve(QueueId queue);
  std::vector<std::pair<std::string, std::string>> runParameters() const;
  std::string masked(std::string text) const;

  void line(std::string_view text);
  void open(std::string_view text);
  void close();

  const Subject &subject;
  const Kernel &kernel;
  Names names;
  IdVector<Value, Text> values;
  IdVector<Memory, Array> arrays;                     ///< buffers first
  IdVector<QueueId, std::array<Memory, 2>> keptRooms; ///< by kind
  IdVector<InstrId, std::string> instrNames;
  IdVector<InstrId, std::string> ownNames; ///< of functions that the user writes
  IdVector<LoopId, std::string> loopNames;
  IdVector<SemaId, std::string> semaNames;
  IdVector<QueueId, std::string> queueNames;
  IdVector<EngineId, std::string> engineNames;
  IdVector<RunValueId, std::string> valueNames;
  std::vector<std::string> registerNames; ///< of the engine that is written
  IdVector<QueueId, std::map<Task, size_t>> tasks;
  IdVector<LoopId, bool> isCounted;
  EngineId engine;
  InstrId instr;
  std::vector<std::string> indices; ///< of loops over elements that are open
  int depth = 0;
  std::string done;
  std::string ownDeclarations;
};

} // namespace tally::exec

#endif // TALLY_LIB_EXEC_CPPTARGET_H
