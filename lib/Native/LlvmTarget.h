//===- LlvmTarget.h - A target that writes LLVM IR ------------------------===//
//
// A value is a value of LLVM. What an instruction does is one function of the module, and so is
// each engine, and the thread of each further queue. Control, indices, waits, signals, copies and
// simple arithmetic are instructions of LLVM; all other arithmetic is a call of what Data computes
// with (Library.h).
//
// Buffers, rooms, counters, queues and values are globals that are defined elsewhere: by the
// process that runs the module.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_NATIVE_LLVMTARGET_H
#define TALLY_LIB_NATIVE_LLVMTARGET_H

#include "../Exec/Subject.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

#include <array>
#include <map>

namespace tally::native {

using exec::Argument;
using exec::Count;
using exec::Kind;
using exec::Memory;
using exec::Place;
using exec::Subject;
using exec::Target;
using exec::Task;
using exec::Value;

/// A global whose place the process says.
struct Array {
  std::string symbol;
  std::optional<Format> format; ///< of a buffer
  Kind kind = Kind::Number;     ///< of a room
  uint64_t size = 0;
};

class LlvmTarget final : public Target {
public:
  LlvmTarget(const Subject &subject, llvm::LLVMContext &context);

  /// The module, when all is written.
  std::unique_ptr<llvm::Module> take() { return std::move(module); }

  // The symbols that the process defines, and those of threads.
  const IdVector<Memory, Array> &memories() const { return arrays; } ///< buffers first

  const IdVector<SemaId, std::string> &semaphores() const { return semaSymbols; }

  const IdVector<QueueId, std::string> &queues() const { return queueSymbols; }

  const IdVector<RunValueId, std::string> &runValues() const { return valueSymbols; }

  const IdVector<EngineId, std::string> &engines() const { return engineSymbols; }

  /// Of queues with a thread of their own.
  const IdVector<QueueId, std::string> &servers() const { return serverSymbols; }

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
  void endCount() override;
  void beginWhen(Value condition) override;
  void beginOtherwise() override;
  void endWhen() override;

  void beginInstr(InstrId id, std::span<const Count> counts) override;
  void endInstr() override;

  void callOwn(std::span<const Value>, std::span<const exec::OwnTile>) override {
    llvm_unreachable("options say that there are functions of the user's in C++ only");
  }

  void pause() override;
  void touch(Memory memory, Value element) override;
  void beginEngine(EngineId id, const IdVector<LoopId, bool> &isCounted) override;
  void endEngine() override;
  void beginLoop(LoopId loop, Value trips) override;
  void endLoop() override;
  void beginBranch(LoopId thenBranch, Value holds) override;
  void beginOtherBranch(LoopId otherBranch) override;
  void endBranch() override;
  Value tripsOf(LoopId loop) override;
  Value iterationNumber(LoopId loop) override;

  Value word(uint32_t number) override;
  Value wordOf(Value index) override;
  Value readRegister(RegId reg) override;
  void setRegister(RegId reg, Value word) override;
  Value compute(AluOp op, Value a, Value b) override;
  Value isNotZero(Value word) override;
  void at(uint32_t op) override;
  void wait(SemaId semaphore, Value threshold) override;
  void raise(SemaId semaphore, uint32_t amount) override;
  void reset(SemaId first, uint32_t count) override;
  void drain() override;
  void run(InstrId id, std::span<const Value> counts, SemaId signal, uint32_t amount) override;
  void enqueue(InstrId id, std::span<const Value> counts, SemaId signal, uint32_t amount) override;

  void note(std::string_view) override {}

private:
  /// A loop that is open: where it is decided whether to go on, and what counts it.
  struct OpenLoop {
    llvm::BasicBlock *head;
    llvm::BasicBlock *exit;
    llvm::PHINode *counter;
  };

  struct OpenWhen {
    llvm::BasicBlock *otherwise;
    llvm::BasicBlock *end;
    bool hasOtherwise = false;
  };

  Value add(llvm::Value *value) { return values.push(value); }

  llvm::Value *of(Value value) const { return values[value]; }

  llvm::GlobalVariable *external(const std::string &name, llvm::Type *type, uint64_t align);
  llvm::Function *function(const std::string &name, llvm::ArrayRef<llvm::Type *> parameters);
  llvm::CallInst *callLibrary(std::string_view name, llvm::Type *result,
                              llvm::ArrayRef<llvm::Value *> arguments);
  llvm::BasicBlock *block(const llvm::Twine &name);
  llvm::AllocaInst *variable(llvm::Type *type, const llvm::Twine &name);
  Memory addArray(const std::string &name, std::optional<Format> format, Kind kind, uint64_t size);
  llvm::Type *typeOf(const Array &array) const;
  llvm::Value *place(Memory memory, Value element);
  llvm::Value *loadBits(Memory memory, Value element);
  llvm::Value *text(std::string_view text);
  llvm::Value *masked(llvm::Value *word);
  llvm::Value *flag(llvm::Value *condition);
  llvm::Value *scalarCall(ComputeOp op, std::span<const Value> operands);
  llvm::Value *argument(const Argument &argument);
  std::vector<llvm::Value *> argumentsOf(std::span<const Argument> arguments);
  void leaveUnless(llvm::Value *inside, Value index, uint64_t size, std::string_view tile);
  OpenLoop openLoop(llvm::Value *trips, const llvm::Twine &name);
  void closeLoop(const OpenLoop &loop);
  void countEntry(LoopId loop);
  void lookForStop();
  void addTo(SemaId semaphore, uint32_t amount);
  void record(std::string_view what);
  void callInstr(InstrId id, llvm::ArrayRef<llvm::Value *> counts);
  llvm::AllocaInst *countRoom(QueueId queue);
  void serve(QueueId queue);
  void serveTask(const Task &task, llvm::AllocaInst *counts);

  const Subject &subject;
  const Kernel &kernel;
  llvm::LLVMContext &context;
  std::unique_ptr<llvm::Module> module;
  llvm::IRBuilder<> builder;
  llvm::Type *number_, *whole_, *index_, *nothing_, *pointer_;
  llvm::GlobalVariable *stopped; ///< whether all threads are to end

  IdVector<Value, llvm::Value *> values;
  IdVector<Memory, Array> arrays;
  IdVector<Memory, llvm::GlobalVariable *> globals;
  IdVector<QueueId, std::array<Memory, 2>> keptRooms; ///< by kind
  IdVector<SemaId, llvm::GlobalVariable *> semas;
  IdVector<QueueId, llvm::GlobalVariable *> queueGlobals;
  IdVector<RunValueId, llvm::GlobalVariable *> valueGlobals;
  IdVector<InstrId, llvm::Function *> instrs;
  IdVector<SemaId, std::string> semaSymbols;
  IdVector<QueueId, std::string> queueSymbols;
  IdVector<QueueId, std::string> serverSymbols;
  IdVector<RunValueId, std::string> valueSymbols;
  IdVector<EngineId, std::string> engineSymbols;
  IdVector<QueueId, std::map<Task, uint32_t>> tasks;

  // Of the function that is written.
  EngineId engine;
  InstrId instr;
  std::map<Count, llvm::Value *> counts;
  IdVector<LoopId, llvm::AllocaInst *> totals, reached;
  std::vector<llvm::AllocaInst *> registers;
  std::vector<OpenLoop> loops;
  std::vector<OpenWhen> whens;
};

} // namespace tally::native

#endif // TALLY_LIB_NATIVE_LLVMTARGET_H
