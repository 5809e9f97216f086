//===- LlvmTarget.cpp - A target that writes LLVM IR ----------------------===//

#include "LlvmTarget.h"

#include "Library.h"

#include "../Data/Value.h"

#include "tally/Support/Printable.h"

#include "llvm/IR/Intrinsics.h"

#include <fmt/format.h>

#include <algorithm>

namespace tally::native {

/// As two threads that write to one line wait for each other.
static constexpr uint64_t cacheLine = 64;

//===----------------------------------------------------------------------===//
// Globals
//===----------------------------------------------------------------------===//

LlvmTarget::LlvmTarget(const Subject &subject, llvm::LLVMContext &context)
    : subject(subject), kernel(subject.kernel), context(context),
      module(std::make_unique<llvm::Module>(printable(kernel.text(kernel.name)), context)),
      builder(context), number_(builder.getFloatTy()), whole_(builder.getInt32Ty()),
      index_(builder.getInt64Ty()), nothing_(builder.getVoidTy()), pointer_(builder.getPtrTy()),
      stopped(external(std::string(stoppedSymbol), builder.getInt8Ty(), 1)),
      keptRooms(kernel.queues.size()), queueGlobals(kernel.queues.size()),
      instrs(kernel.instrs.size()), queueSymbols(kernel.queues.size()),
      serverSymbols(kernel.queues.size()), tasks(kernel.queues.size()), totals(kernel.loops.size()),
      reached(kernel.loops.size()) {
  for (BufferId id : kernel.buffers.ids()) {
    addArray(fmt::format("buffer.{}", kernel.text(kernel.buffers[id].name)), subject.formats[id],
             Kind::Number, data::numElements(kernel.buffers[id].shape));
  }
  for (const Semaphore &semaphore : subject.code.semaphores) {
    semas.push(external(fmt::format("counter.{}", semaphore.name), whole_, cacheLine));
    semaSymbols.push(semas[SemaId(static_cast<uint32_t>(semas.size() - 1))]->getName().str());
  }
  for (QueueId id : kernel.queues.ids()) {
    if (subject.hasThread(id)) {
      queueGlobals[id] = external(fmt::format("queue.{}", kernel.nameOf(id)), pointer_, cacheLine);
      queueSymbols[id] = queueGlobals[id]->getName().str();
    }
  }
  for (RunValueId id : kernel.values.ids()) {
    valueGlobals.push(external(fmt::format("value.{}", kernel.nameOf(id)), index_, 8));
    valueSymbols.push(valueGlobals[id]->getName().str());
  }
}

/// Names that are taken get a number from LLVM.
llvm::GlobalVariable *LlvmTarget::external(const std::string &name, llvm::Type *type,
                                           uint64_t align) {
  auto *global =
      new llvm::GlobalVariable(*module, type, /*isConstant=*/false,
                               llvm::GlobalValue::ExternalLinkage, nullptr, printable(name));
  global->setAlignment(llvm::Align(align));
  return global;
}

llvm::Type *LlvmTarget::typeOf(const Array &array) const {
  if (array.format) {
    return array.format == Format::F32 ? number_
                                       : llvm::IntegerType::get(context, 8 * sizeOf(*array.format));
  }
  return array.kind == Kind::Number ? number_ : whole_;
}

Memory LlvmTarget::addArray(const std::string &name, std::optional<Format> format, Kind kind,
                            uint64_t size) {
  Array array{{}, format, kind, size};
  llvm::GlobalVariable *global =
      external(name, llvm::ArrayType::get(typeOf(array), size), cacheLine);
  array.symbol = global->getName().str();
  globals.push(global);
  return arrays.push(std::move(array));
}

Memory LlvmTarget::room(std::string_view name, Kind kind, uint64_t size) {
  return addArray(fmt::format("room.{}.{}", kernel.nameOf(instr), name), {}, kind, size);
}

Memory LlvmTarget::roomOf(QueueId queue, Kind kind) {
  Memory &room = keptRooms[queue][static_cast<size_t>(kind)];
  if (!room.valid()) {
    room =
        addArray(fmt::format("kept.{}", kernel.nameOf(queue)), {}, kind, subject.keptSizes[queue]);
  }
  return room;
}

//===----------------------------------------------------------------------===//
// Functions and calls
//===----------------------------------------------------------------------===//

llvm::Function *LlvmTarget::function(const std::string &name,
                                     llvm::ArrayRef<llvm::Type *> parameters) {
  auto *function =
      llvm::Function::Create(llvm::FunctionType::get(nothing_, parameters, false),
                             llvm::GlobalValue::ExternalLinkage, printable(name), *module);
  function->setUWTableKind(llvm::UWTableKind::Async); // a worker that ends throws through it
  builder.SetInsertPoint(llvm::BasicBlock::Create(context, "entry", function));
  return function;
}

/// A function of Library.h. Its arguments say what it takes.
llvm::CallInst *LlvmTarget::callLibrary(std::string_view name, llvm::Type *result,
                                        llvm::ArrayRef<llvm::Value *> arguments) {
  std::vector<llvm::Type *> types;
  for (llvm::Value *argument : arguments) {
    types.push_back(argument->getType());
  }
  std::string symbol = fmt::format("tally_{}", name);
  bool isNew = module->getFunction(symbol) == nullptr;
  llvm::FunctionCallee callee =
      module->getOrInsertFunction(symbol, llvm::FunctionType::get(result, types, false));
  auto *declared = llvm::cast<llvm::Function>(callee.getCallee());
  if (isNew) {
    for (unsigned i = 0; i < types.size(); ++i) {
      if (types[i]->isIntegerTy(8)) {
        declared->addParamAttr(i, llvm::Attribute::SExt);
      }
    }
    if (isArithmetic(name)) {
      declared->setDoesNotThrow();
      declared->setDoesNotAccessMemory();
      declared->setWillReturn();
    }
  }
  llvm::CallInst *call = builder.CreateCall(callee, arguments);
  call->setAttributes(declared->getAttributes());
  return call;
}

llvm::BasicBlock *LlvmTarget::block(const llvm::Twine &name) {
  return llvm::BasicBlock::Create(context, name, builder.GetInsertBlock()->getParent());
}

/// At the beginning of the function, so that it is there once.
llvm::AllocaInst *LlvmTarget::variable(llvm::Type *type, const llvm::Twine &name) {
  llvm::BasicBlock &entry = builder.GetInsertBlock()->getParent()->getEntryBlock();
  llvm::IRBuilder<> atEntry(&entry, entry.begin());
  return atEntry.CreateAlloca(type, nullptr, name);
}

llvm::Value *LlvmTarget::text(std::string_view text) {
  return builder.CreateGlobalString(text);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

llvm::Value *LlvmTarget::place(Memory memory, Value element) {
  return builder.CreateInBoundsGEP(typeOf(arrays[memory]), globals[memory], of(element));
}

llvm::Value *LlvmTarget::loadBits(Memory memory, Value element) {
  return builder.CreateLoad(typeOf(arrays[memory]), place(memory, element));
}

static bool hasSign(Format format) {
  return format == Format::I8 || format == Format::I16 || format == Format::I32;
}

static llvm::Value *constantOf(llvm::IRBuilder<> &builder, Format format) {
  return builder.getInt32(static_cast<uint32_t>(format));
}

Value LlvmTarget::loadNumber(Memory memory, Value element) {
  llvm::Value *bits = loadBits(memory, element);
  if (bits->getType() == number_) {
    return add(bits);
  }
  Format format = *arrays[memory].format;
  if (isWhole(format)) {
    return add(hasSign(format) ? builder.CreateSIToFP(bits, number_)
                               : builder.CreateUIToFP(bits, number_));
  }
  return add(callLibrary("decode", number_,
                         {constantOf(builder, format), builder.CreateZExt(bits, whole_)}));
}

Value LlvmTarget::loadWhole(Memory memory, Value element) {
  std::optional<Format> format = arrays[memory].format;
  bool isSigned = !format || hasSign(*format);
  return add(builder.CreateIntCast(loadBits(memory, element), whole_, isSigned));
}

void LlvmTarget::touch(Memory memory, Value element) {
  builder.CreateLoad(typeOf(arrays[memory]), place(memory, element), /*isVolatile=*/true);
}

void LlvmTarget::storeNumber(Memory memory, Value element, Value number) {
  llvm::Value *bits = of(number);
  if (std::optional<Format> format = arrays[memory].format; format && format != Format::F32) {
    bits = builder.CreateTrunc(callLibrary("encode", whole_, {constantOf(builder, *format), bits}),
                               typeOf(arrays[memory]));
  }
  builder.CreateStore(bits, place(memory, element));
}

void LlvmTarget::storeWhole(Memory memory, Value element, Value whole) {
  builder.CreateStore(builder.CreateTrunc(of(whole), typeOf(arrays[memory])),
                      place(memory, element));
}

void LlvmTarget::copy(Memory to, Value element, Memory from, Value source) {
  builder.CreateStore(loadBits(from, source), place(to, element));
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

Value LlvmTarget::index(int64_t number) {
  return add(builder.getInt64(static_cast<uint64_t>(number)));
}

Value LlvmTarget::count(const Count &count) {
  if (count.kind == TileExpr::Kind::Total && totals[count.loop] != nullptr) {
    return add(builder.CreateLoad(index_, totals[count.loop]));
  }
  return add(counts.at(count));
}

Value LlvmTarget::runValue(RunValueId id) {
  return add(builder.CreateLoad(index_, valueGlobals[id]));
}

/// Division rounds down; divisors are positive.
Value LlvmTarget::indexOf(TileExpr::Kind kind, Value a, Value b) {
  llvm::Value *x = of(a), *y = of(b);
  switch (kind) {
  case TileExpr::Kind::Add:
    return add(builder.CreateNSWAdd(x, y));
  case TileExpr::Kind::Sub:
    return add(builder.CreateNSWSub(x, y));
  case TileExpr::Kind::Scale:
    return add(builder.CreateNSWMul(x, y));
  default:
    break;
  }
  llvm::Value *rest = builder.CreateSRem(x, y);
  llvm::Value *isBelow = builder.CreateICmpSLT(rest, builder.getInt64(0));
  if (kind == TileExpr::Kind::Mod) {
    return add(builder.CreateSelect(isBelow, builder.CreateNSWAdd(rest, y), rest));
  }
  llvm::Value *quotient = builder.CreateSDiv(x, y);
  return add(builder.CreateNSWSub(quotient, builder.CreateZExt(isBelow, index_)));
}

static llvm::CmpInst::Predicate predicateOf(TileGuard::Relation relation) {
  switch (relation) {
  case TileGuard::Relation::Equal:
    return llvm::CmpInst::ICMP_EQ;
  case TileGuard::Relation::NotEqual:
    return llvm::CmpInst::ICMP_NE;
  case TileGuard::Relation::Less:
    return llvm::CmpInst::ICMP_SLT;
  case TileGuard::Relation::LessEqual:
    return llvm::CmpInst::ICMP_SLE;
  case TileGuard::Relation::Greater:
    return llvm::CmpInst::ICMP_SGT;
  default:
    return llvm::CmpInst::ICMP_SGE;
  }
}

Value LlvmTarget::compare(TileGuard::Relation relation, Value a, Value b) {
  return add(builder.CreateICmp(predicateOf(relation), of(a), of(b)));
}

Value LlvmTarget::both(Value a, Value b) {
  return add(builder.CreateAnd(of(a), of(b)));
}

Value LlvmTarget::either(Value a, Value b) {
  return add(builder.CreateOr(of(a), of(b)));
}

void LlvmTarget::leaveUnless(llvm::Value *inside, Value index, uint64_t size,
                             std::string_view tile) {
  llvm::BasicBlock *outside = block("outside");
  llvm::BasicBlock *goOn = block("inside");
  builder.CreateCondBr(inside, goOn, outside);
  builder.SetInsertPoint(outside);
  callLibrary("outside", nothing_, {text(tile), of(index), builder.getInt64(size)});
  builder.CreateUnreachable();
  builder.SetInsertPoint(goOn);
}

Value LlvmTarget::within(Value index, uint64_t size, std::string_view tile) {
  leaveUnless(builder.CreateICmpULT(of(index), builder.getInt64(size)), index, size, tile);
  return index;
}

Value LlvmTarget::withinIf(Value condition, Value index, uint64_t size, std::string_view tile) {
  llvm::Value *isInside = builder.CreateICmpULT(of(index), builder.getInt64(size));
  leaveUnless(builder.CreateOr(isInside, builder.CreateNot(of(condition))), index, size, tile);
  return add(builder.CreateSelect(of(condition), of(index), builder.getInt64(0)));
}

Value LlvmTarget::named(std::string_view name, Value index) {
  if (!llvm::isa<llvm::Constant>(of(index)) && !of(index)->hasName()) {
    of(index)->setName(name);
  }
  return index;
}

Value LlvmTarget::namedCondition(std::string_view name, Value condition) {
  return named(name, condition);
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

Value LlvmTarget::number(float number) {
  return add(llvm::ConstantFP::get(number_, llvm::APFloat(number)));
}

Value LlvmTarget::numberOf(Value index) {
  return add(builder.CreateSIToFP(of(index), number_));
}

/// 1 or 0.
llvm::Value *LlvmTarget::flag(llvm::Value *condition) {
  return builder.CreateUIToFP(condition, number_);
}

/// What Data calls.
llvm::Value *LlvmTarget::scalarCall(ComputeOp op, std::span<const Value> operands) {
  std::vector<llvm::Value *> arguments;
  for (Value operand : operands) {
    arguments.push_back(of(operand));
  }
  return callLibrary(toString(op), arguments[0]->getType(), arguments);
}

Value LlvmTarget::apply(ComputeOp op, std::span<const Value> operands) {
  llvm::Value *x = of(operands[0]);
  llvm::Value *y = operands.size() > 1 ? of(operands[1]) : nullptr;
  switch (op) {
  case ComputeOp::Negate:
    return add(builder.CreateFNeg(x));
  case ComputeOp::Add:
    return add(builder.CreateFAdd(x, y));
  case ComputeOp::Sub:
    return add(builder.CreateFSub(x, y));
  case ComputeOp::Mul:
    return add(builder.CreateFMul(x, y));
  case ComputeOp::Div:
    return add(builder.CreateFDiv(x, y));
  case ComputeOp::Less:
    return add(flag(builder.CreateFCmpOLT(x, y)));
  case ComputeOp::LessEqual:
    return add(flag(builder.CreateFCmpOLE(x, y)));
  case ComputeOp::Greater:
    return add(flag(builder.CreateFCmpOGT(x, y)));
  case ComputeOp::GreaterEqual:
    return add(flag(builder.CreateFCmpOGE(x, y)));
  case ComputeOp::Equal:
    return add(flag(builder.CreateFCmpOEQ(x, y)));
  case ComputeOp::NotEqual:
    return add(flag(builder.CreateFCmpUNE(x, y)));
  case ComputeOp::Select: {
    llvm::Value *isChosen = builder.CreateFCmpUNE(x, llvm::ConstantFP::get(number_, 0));
    return add(builder.CreateSelect(isChosen, y, of(operands[2])));
  }
  case ComputeOp::BitAnd:
    return add(builder.CreateAnd(x, y));
  case ComputeOp::BitOr:
    return add(builder.CreateOr(x, y));
  case ComputeOp::BitXor:
    return add(builder.CreateXor(x, y));
  case ComputeOp::BitNot:
    return add(builder.CreateNot(x));
  case ComputeOp::WholeAdd:
    return add(builder.CreateAdd(x, y));
  case ComputeOp::WholeSub:
    return add(builder.CreateSub(x, y));
  case ComputeOp::WholeMul:
    return add(builder.CreateMul(x, y));
  case ComputeOp::Bits:
    return add(callLibrary("bitsOf", whole_, {x}));
  case ComputeOp::FromBits:
    return add(builder.CreateBitCast(x, number_));
  default:
    return add(scalarCall(op, operands));
  }
}

Value LlvmTarget::toNumber(Value whole) {
  return add(builder.CreateSIToFP(of(whole), number_));
}

Value LlvmTarget::toWhole(Value number) {
  return add(callLibrary("toWhole", whole_, {of(number)}));
}

Value LlvmTarget::convert(Format format, Value value, Kind from) {
  llvm::Value *to = constantOf(builder, format);
  if (!isWhole(format)) {
    Value number = from == Kind::Whole ? toNumber(value) : value;
    return add(callLibrary("rounded", number_, {to, of(number)}));
  }
  return add(from == Kind::Whole ? callLibrary("wholeAsWhole", whole_, {to, of(value)})
                                 : callLibrary("numberAsWhole", whole_, {to, of(value)}));
}

Value LlvmTarget::nearest(Format to, Format from, Value whole) {
  return to == from
             ? whole
             : add(callLibrary("nearest", whole_,
                               {constantOf(builder, to), constantOf(builder, from), of(whole)}));
}

Value LlvmTarget::rowIndex(Value number, uint64_t rows, std::string_view buffer) {
  return add(callLibrary("rowIndex", index_, {of(number), builder.getInt64(rows), text(buffer)}));
}

llvm::Value *LlvmTarget::argument(const Argument &argument) {
  if (const auto *at = std::get_if<Place>(&argument)) {
    return place(at->memory, at->element);
  }
  if (const auto *size = std::get_if<uint64_t>(&argument)) {
    return builder.getInt64(*size);
  }
  if (const auto *sign = std::get_if<char>(&argument)) {
    return builder.getInt8(static_cast<uint8_t>(*sign));
  }
  return of(std::get<Value>(argument));
}

std::vector<llvm::Value *> LlvmTarget::argumentsOf(std::span<const Argument> arguments) {
  std::vector<llvm::Value *> result;
  for (const Argument &each : arguments) {
    result.push_back(argument(each));
  }
  return result;
}

Value LlvmTarget::callForNumber(std::string_view function, std::span<const Argument> arguments) {
  return add(callLibrary(function, number_, argumentsOf(arguments)));
}

void LlvmTarget::call(std::string_view function, std::span<const Argument> arguments) {
  callLibrary(function, nothing_, argumentsOf(arguments));
}

//===----------------------------------------------------------------------===//
// What is done several times, or perhaps not
//===----------------------------------------------------------------------===//

LlvmTarget::OpenLoop LlvmTarget::openLoop(llvm::Value *trips, const llvm::Twine &name) {
  llvm::BasicBlock *before = builder.GetInsertBlock();
  OpenLoop loop{block(name + ".head"), nullptr, nullptr};
  llvm::BasicBlock *body = block(name + ".body");
  loop.exit = block(name + ".end");
  builder.CreateBr(loop.head);
  builder.SetInsertPoint(loop.head);
  loop.counter = builder.CreatePHI(index_, 2, name);
  loop.counter->addIncoming(builder.getInt64(0), before);
  builder.CreateCondBr(builder.CreateICmpSLT(loop.counter, trips), body, loop.exit);
  builder.SetInsertPoint(body);
  return loop;
}

void LlvmTarget::closeLoop(const OpenLoop &loop) {
  llvm::Value *next = builder.CreateNUWAdd(loop.counter, builder.getInt64(1));
  loop.counter->addIncoming(next, builder.GetInsertBlock());
  builder.CreateBr(loop.head);
  loop.exit->moveAfter(builder.GetInsertBlock());
  builder.SetInsertPoint(loop.exit);
}

Value LlvmTarget::beginCount(uint64_t count) {
  loops.push_back(openLoop(builder.getInt64(count), "i"));
  return add(loops.back().counter);
}

void LlvmTarget::endCount() {
  closeLoop(loops.back());
  loops.pop_back();
}

void LlvmTarget::beginWhen(Value condition) {
  llvm::BasicBlock *holds = block("when");
  OpenWhen when{block("otherwise"), block("end")};
  builder.CreateCondBr(of(condition), holds, when.otherwise);
  builder.SetInsertPoint(holds);
  whens.push_back(when);
}

void LlvmTarget::beginOtherwise() {
  builder.CreateBr(whens.back().end);
  builder.SetInsertPoint(whens.back().otherwise);
  whens.back().hasOtherwise = true;
}

void LlvmTarget::endWhen() {
  OpenWhen when = whens.back();
  whens.pop_back();
  builder.CreateBr(when.end);
  if (!when.hasOtherwise) {
    builder.SetInsertPoint(when.otherwise);
    builder.CreateBr(when.end);
  }
  builder.SetInsertPoint(when.end);
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

void LlvmTarget::beginInstr(InstrId id, std::span<const Count> asked) {
  instr = id;
  std::vector<llvm::Type *> parameters(asked.size(), index_);
  instrs[id] = function(fmt::format("instr.{}", kernel.nameOf(id)), parameters);
  counts.clear();
  for (size_t i = 0; i < asked.size(); ++i) {
    llvm::Argument *argument = instrs[id]->getArg(static_cast<unsigned>(i));
    argument->setName(printable(kernel.nameOf(asked[i].loop)));
    counts[asked[i]] = argument;
  }
}

void LlvmTarget::endInstr() {
  builder.CreateRetVoid();
}

void LlvmTarget::pause() {
  callLibrary("pause", nothing_, {});
}

/// Of the operation that the thread is at.
void LlvmTarget::record(std::string_view what) {
  if (subject.options.records) {
    callLibrary(what, nothing_, {});
  }
}

void LlvmTarget::callInstr(InstrId id, llvm::ArrayRef<llvm::Value *> arguments) {
  record("begin");
  if (instrs[id] != nullptr) { // otherwise it does nothing
    builder.CreateCall(instrs[id], arguments);
  }
  record("end");
}

void LlvmTarget::run(InstrId id, std::span<const Value> asked, SemaId signal, uint32_t amount) {
  std::vector<llvm::Value *> arguments;
  for (Value count : asked) {
    arguments.push_back(of(count));
  }
  callInstr(id, arguments);
  if (signal.valid()) {
    addTo(signal, amount);
  }
}

/// Where the counts of a run lie while it is handed over.
llvm::AllocaInst *LlvmTarget::countRoom(QueueId queue) {
  return variable(llvm::ArrayType::get(index_, subject.numCounts(queue)), "counts");
}

void LlvmTarget::enqueue(InstrId id, std::span<const Value> asked, SemaId signal, uint32_t amount) {
  QueueId queue = kernel.instrs[id].queue;
  auto number = static_cast<uint32_t>(tasks[queue].size());
  number = tasks[queue].try_emplace({id, signal, amount}, number).first->second;
  llvm::AllocaInst *room = countRoom(queue);
  for (size_t i = 0; i < asked.size(); ++i) {
    builder.CreateStore(of(asked[i]), builder.CreateConstInBoundsGEP1_64(index_, room, i));
  }
  callLibrary("push", nothing_,
              {queueGlobals[queue], builder.getInt32(number), room,
               builder.getInt64(subject.numCounts(queue))});
}

/// What the thread of a queue does, told by its engine.
void LlvmTarget::serve(QueueId queue) {
  llvm::Function *server = function(fmt::format("serve.{}", kernel.nameOf(queue)), {});
  serverSymbols[queue] = server->getName().str();
  llvm::AllocaInst *room = countRoom(queue);
  llvm::BasicBlock *next = block("next"), *retire = block("retire"), *end = block("end");
  builder.CreateBr(next);
  builder.SetInsertPoint(next);
  llvm::Value *number = callLibrary(
      "next", whole_, {queueGlobals[queue], room, builder.getInt64(subject.numCounts(queue))});
  llvm::SwitchInst *choice =
      builder.CreateSwitch(number, end, static_cast<unsigned>(tasks[queue].size()));
  for (const auto &[task, taskNumber] : tasks[queue]) {
    llvm::BasicBlock *its = block(printable(kernel.nameOf(task.instr)));
    choice->addCase(builder.getInt32(taskNumber), its);
    builder.SetInsertPoint(its);
    serveTask(task, room);
    builder.CreateBr(retire);
  }
  builder.SetInsertPoint(retire);
  callLibrary("retire", nothing_, {queueGlobals[queue]});
  builder.CreateBr(next);
  builder.SetInsertPoint(end);
  builder.CreateRetVoid();
}

void LlvmTarget::serveTask(const Task &task, llvm::AllocaInst *room) {
  std::vector<llvm::Value *> arguments;
  for (size_t i = 0; i < subject.counts[task.instr].size(); ++i) {
    arguments.push_back(
        builder.CreateLoad(index_, builder.CreateConstInBoundsGEP1_64(index_, room, i)));
  }
  callInstr(task.instr, arguments);
  if (task.signal.valid()) {
    addTo(task.signal, task.amount);
  }
}

//===----------------------------------------------------------------------===//
// Engines
//===----------------------------------------------------------------------===//

/// Registers begin with 0, and counts of entries before the first one.
void LlvmTarget::beginEngine(EngineId id, const IdVector<LoopId, bool> &isCounted) {
  engine = id;
  engineSymbols.push(function(fmt::format("engine.{}", kernel.nameOf(id)), {})->getName().str());
  auto *body = block("body");
  builder.CreateBr(body);
  builder.SetInsertPoint(body);
  counts.clear();
  registers.clear();
  for (const Register &reg : subject.code.engines[id].registers) {
    registers.push_back(variable(whole_, printable(reg.name)));
    builder.CreateStore(builder.getInt32(0), registers.back());
  }
  for (LoopId loop : kernel.loops.ids()) {
    totals[loop] = reached[loop] = nullptr;
    if (isCounted[loop]) {
      totals[loop] = variable(index_, "total." + printable(kernel.nameOf(loop)));
      builder.CreateStore(builder.getInt64(UINT64_MAX), totals[loop]);
    }
  }
  for (const Op &op : subject.code.engines[id].ops) {
    bool isEntry = op.kind == OpKind::LoopBegin || op.kind == OpKind::IfBegin;
    if (isEntry && subject.isVariable(op.loop()) && reached[op.loop()] == nullptr) {
      reached[op.loop()] = variable(index_, "reached." + printable(kernel.nameOf(op.loop())));
      builder.CreateStore(builder.getInt64(0), reached[op.loop()]);
    }
  }
}

void LlvmTarget::endEngine() {
  std::vector<QueueId> served;
  for (QueueId queue : kernel.engines[engine].queues) {
    if (subject.hasThread(queue)) {
      callLibrary("close", nothing_, {queueGlobals[queue]});
      served.push_back(queue);
    }
  }
  builder.CreateRetVoid();
  totals.assign(kernel.loops.size(), nullptr);
  for (QueueId queue : served) {
    serve(queue);
  }
}

Value LlvmTarget::tripsOf(LoopId loop) {
  if (!subject.isVariable(loop)) {
    return index(static_cast<int64_t>(kernel.loops[loop].trip.constant));
  }
  llvm::Value *entry =
      builder.CreateAdd(builder.CreateLoad(index_, reached[loop]), builder.getInt64(1));
  builder.CreateStore(entry, reached[loop]);
  return add(callLibrary("trips", index_, {builder.getInt32(loop.value), entry}));
}

void LlvmTarget::countEntry(LoopId loop) {
  if (totals[loop] != nullptr) {
    llvm::Value *total = builder.CreateLoad(index_, totals[loop]);
    builder.CreateStore(builder.CreateAdd(total, builder.getInt64(1)), totals[loop]);
  }
}

/// In each iteration, so that a signal ends a run that never waits.
void LlvmTarget::lookForStop() {
  llvm::LoadInst *isStopped = builder.CreateLoad(builder.getInt8Ty(), stopped);
  isStopped->setAtomic(llvm::AtomicOrdering::Monotonic);
  isStopped->setAlignment(llvm::Align(1));
  llvm::BasicBlock *leave = block("leave"), *goOn = block("go.on");
  builder.CreateCondBr(builder.CreateIsNull(isStopped), goOn, leave);
  builder.SetInsertPoint(leave);
  callLibrary("leave", nothing_, {});
  builder.CreateUnreachable();
  builder.SetInsertPoint(goOn);
}

void LlvmTarget::beginLoop(LoopId loop, Value trips) {
  loops.push_back(openLoop(of(trips), printable(kernel.nameOf(loop))));
  counts[{TileExpr::Kind::Loop, loop}] = loops.back().counter;
  counts[{TileExpr::Kind::Trips, loop}] = of(trips);
  lookForStop();
  countEntry(loop);
}

void LlvmTarget::endLoop() {
  endCount();
}

void LlvmTarget::beginBranch(LoopId thenBranch, Value holds) {
  beginWhen(holds);
  countEntry(thenBranch);
}

void LlvmTarget::beginOtherBranch(LoopId otherBranch) {
  beginOtherwise();
  countEntry(otherBranch);
}

void LlvmTarget::endBranch() {
  endWhen();
}

//===----------------------------------------------------------------------===//
// Registers and semaphores
//===----------------------------------------------------------------------===//

/// Within the bits of a register.
llvm::Value *LlvmTarget::masked(llvm::Value *word) {
  uint32_t mask = subject.wordMask();
  return mask == UINT32_MAX ? word : builder.CreateAnd(word, builder.getInt32(mask));
}

Value LlvmTarget::iterationNumber(LoopId loop) {
  llvm::Value *iteration = counts.at({TileExpr::Kind::Loop, loop});
  return wordOf(add(builder.CreateAdd(iteration, builder.getInt64(1))));
}

Value LlvmTarget::word(uint32_t number) {
  return add(builder.getInt32(number));
}

Value LlvmTarget::wordOf(Value index) {
  return add(masked(builder.CreateTrunc(of(index), whole_)));
}

Value LlvmTarget::readRegister(RegId reg) {
  return add(builder.CreateLoad(whole_, registers[reg.value]));
}

void LlvmTarget::setRegister(RegId reg, Value word) {
  builder.CreateStore(of(word), registers[reg.value]);
}

Value LlvmTarget::compute(AluOp op, Value a, Value b) {
  llvm::Value *x = of(a);
  llvm::Value *y = op == AluOp::Move ? nullptr : of(b);
  switch (op) {
  case AluOp::Move:
    return a;
  case AluOp::Add:
    return add(masked(builder.CreateAdd(x, y)));
  case AluOp::Mul:
    return add(masked(builder.CreateMul(x, y)));
  case AluOp::Sub:
    return add(subject.machine.subtraction == Subtraction::Saturates
                   ? builder.CreateBinaryIntrinsic(llvm::Intrinsic::usub_sat, x, y)
                   : masked(builder.CreateSub(x, y)));
  case AluOp::Min:
    return add(builder.CreateBinaryIntrinsic(llvm::Intrinsic::umin, x, y));
  case AluOp::IsGT:
    return add(builder.CreateZExt(builder.CreateICmpUGT(x, y), whole_));
  }
  return a;
}

Value LlvmTarget::isNotZero(Value word) {
  return add(builder.CreateIsNotNull(of(word)));
}

/// What is there already is seen at once; for the rest, the process waits.
void LlvmTarget::wait(SemaId semaphore, Value threshold) {
  llvm::Value *mask = builder.getInt32(subject.wordMask());
  llvm::Value *flip = builder.getInt32(subject.waitFlip());
  llvm::LoadInst *now = builder.CreateLoad(whole_, semas[semaphore]);
  now->setAtomic(llvm::AtomicOrdering::Acquire);
  uint32_t first = subject.options.firstCount;
  llvm::Value *added = first == 0 ? now : builder.CreateSub(now, builder.getInt32(first));
  llvm::Value *value = builder.CreateXor(builder.CreateAnd(added, mask), flip);
  llvm::Value *least = builder.CreateXor(of(threshold), flip);
  llvm::BasicBlock *late = block("wait"), *goOn = block("reached");
  builder.CreateCondBr(builder.CreateICmpUGE(value, least), goOn, late);
  builder.SetInsertPoint(late);
  callLibrary("wait", nothing_,
              {builder.getInt32(semaphore.value), of(threshold), mask, flip,
               builder.getInt32(subject.options.firstCount)});
  builder.CreateBr(goOn);
  builder.SetInsertPoint(goOn);
}

void LlvmTarget::at(uint32_t op) {
  OpKind kind = subject.code.engines[engine].ops[op].kind;
  bool isRecorded = kind == OpKind::Issue || kind == OpKind::Wait || kind == OpKind::Signal ||
                    kind == OpKind::Drain;
  if (subject.options.records && isRecorded) {
    callLibrary("at", nothing_, {builder.getInt32(op)});
  }
}

void LlvmTarget::raise(SemaId semaphore, uint32_t amount) {
  record("begin");
  addTo(semaphore, amount);
  record("end");
}

void LlvmTarget::addTo(SemaId semaphore, uint32_t amount) {
  builder.CreateAtomicRMW(llvm::AtomicRMWInst::Add, semas[semaphore], builder.getInt32(amount),
                          llvm::MaybeAlign(4), llvm::AtomicOrdering::Release);
}

void LlvmTarget::reset(SemaId first, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    llvm::StoreInst *store = builder.CreateStore(builder.getInt32(subject.options.firstCount),
                                                 semas[SemaId(first.value + i)]);
    store->setAtomic(llvm::AtomicOrdering::Release);
  }
}

void LlvmTarget::drain() {
  for (QueueId queue : kernel.engines[engine].queues) {
    if (subject.hasThread(queue)) {
      callLibrary("drain", nothing_, {queueGlobals[queue]});
    }
  }
}

} // namespace tally::native
