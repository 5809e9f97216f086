//===- ThreadProgram.cpp - Code on threads of this process ----------------===//
//
// Steps:  1. write    the module, and memory for all that it leaves to the process
//         2. compile  optimised, for this processor
//         3. run      threads wait until all are there; meanwhile this thread watches them
//
//===----------------------------------------------------------------------===//

#include "tally/Native/ThreadProgram.h"

#include "Library.h"
#include "LlvmTarget.h"
#include "Workers.h"

#include "../Exec/ProgramWriter.h"

#include "tally/Data/Npy.h"

#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <mutex>
#include <new>
#include <numeric>

namespace tally {

using exec::Subject;
using native::Blocker;
using native::Clock;
using native::Counter;
using native::LlvmTarget;
using native::Recorder;
using native::Shared;
using native::TaskQueue;
using native::Worker;

namespace {

/// Room on cache lines of its own, all zeros.
class Room {
public:
  explicit Room(size_t size)
      : size(size), start(static_cast<std::byte *>(
                        ::operator new(std::max<size_t>(size, 1), std::align_val_t(64)))) {
    std::memset(start, 0, size);
  }

  Room(Room &&other) noexcept : size(other.size), start(std::exchange(other.start, nullptr)) {}

  Room(const Room &) = delete;

  ~Room() { ::operator delete(start, std::align_val_t(64)); }

  size_t size;
  std::byte *start;
};

std::unique_ptr<llvm::Module> writeModule(const Subject &subject, LlvmTarget &target) {
  exec::writeProgram(subject, target);
  std::unique_ptr<llvm::Module> module = target.take();
  assert(!llvm::verifyModule(*module, &llvm::errs()) && "what is written is well formed");
  return module;
}

} // namespace

//===----------------------------------------------------------------------===//
// 1. Write, and 2. compile
//===----------------------------------------------------------------------===//

class ThreadProgram::Parts {
public:
  explicit Parts(Subject prepared)
      : subject(std::move(prepared)), counters(subject.code.semaphores.size()),
        queues(subject.kernel.queues.size()), values(subject.kernel.values.size()) {}

  /// Why it could not be compiled; empty: it is.
  std::string compile() {
    static std::once_flag once; // several programs may be made at the same time
    std::call_once(once, [] {
      llvm::InitializeNativeTarget();
      llvm::InitializeNativeTargetAsmPrinter();
    });
    auto context = std::make_unique<llvm::LLVMContext>();
    LlvmTarget target(subject, *context);
    std::unique_ptr<llvm::Module> module = writeModule(subject, target);
    llvm::Error error = link(std::move(module), std::move(context), target);
    return error ? llvm::toString(std::move(error)) : "";
  }

  const Subject subject;
  IdVector<BufferId, Room *> buffers;
  std::vector<Counter> counters;
  std::vector<std::unique_ptr<TaskQueue>> queues; ///< by number; of those with a thread
  IdVector<RunValueId, int64_t> values;
  std::atomic<uint8_t> stopped{0};

  struct Thread {
    std::string name;
    EngineId engine;
    void (*code)();
  };

  std::vector<Thread> threads;

private:
  llvm::Error link(std::unique_ptr<llvm::Module> module, std::unique_ptr<llvm::LLVMContext> context,
                   const LlvmTarget &target) {
    auto host = llvm::orc::JITTargetMachineBuilder::detectHost();
    if (!host) {
      return host.takeError();
    }
    host->setCodeGenOptLevel(llvm::CodeGenOptLevel::Default);
    auto machine = host->createTargetMachine();
    if (!machine) {
      return machine.takeError();
    }
    module->setDataLayout((*machine)->createDataLayout());
    module->setTargetTriple((*machine)->getTargetTriple());
    optimise(*module, **machine);
    auto made = llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(std::move(*host)).create();
    if (!made) {
      return made.takeError();
    }
    jit = std::move(*made);
    if (llvm::Error error =
            jit->getMainJITDylib().define(llvm::orc::absoluteSymbols(symbols(target)))) {
      return error;
    }
    if (llvm::Error error =
            jit->addIRModule(llvm::orc::ThreadSafeModule(std::move(module), std::move(context)))) {
      return error;
    }
    return findThreads(target);
  }

  static void optimise(llvm::Module &module, llvm::TargetMachine &machine) {
    llvm::LoopAnalysisManager loops;
    llvm::FunctionAnalysisManager functions;
    llvm::CGSCCAnalysisManager components;
    llvm::ModuleAnalysisManager modules;
    llvm::PassBuilder passes(&machine);
    passes.registerModuleAnalyses(modules);
    passes.registerCGSCCAnalyses(components);
    passes.registerFunctionAnalyses(functions);
    passes.registerLoopAnalyses(loops);
    passes.crossRegisterProxies(loops, functions, components, modules);
    passes.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2).run(module, modules);
  }

  /// Where everything is that the module leaves open.
  llvm::orc::SymbolMap symbols(const LlvmTarget &target) {
    llvm::orc::SymbolMap all;
    auto define = [&](const std::string &name, const void *address) {
      all[jit->mangleAndIntern(name)] = {llvm::orc::ExecutorAddr::fromPtr(address),
                                         llvm::JITSymbolFlags::Exported};
    };
    for (const native::LibraryFunction &function : native::library()) {
      define(function.symbol, function.address);
    }
    define(std::string(native::stoppedSymbol), &stopped);
    rooms.reserve(target.memories().size());
    for (const native::Array &array : target.memories()) {
      rooms.emplace_back(array.size * (array.format ? sizeOf(*array.format) : 4));
      define(array.symbol, rooms.back().start);
    }
    for (BufferId id : subject.kernel.buffers.ids()) {
      buffers.push(&rooms[id.value]);
    }
    for (SemaId id : target.semaphores().ids()) {
      define(target.semaphores()[id], &counters[id.value]);
    }
    for (QueueId id : target.queues().ids()) {
      if (!target.queues()[id].empty()) {
        queues[id.value] = std::make_unique<TaskQueue>();
        define(target.queues()[id], queues[id.value].get());
      }
    }
    for (RunValueId id : target.runValues().ids()) {
      define(target.runValues()[id], &values[id]);
    }
    return all;
  }

  llvm::Error findThreads(const LlvmTarget &target) {
    const Kernel &kernel = subject.kernel;
    for (EngineId engine : kernel.engines.ids()) {
      if (llvm::Error error = addThread(kernel.nameOf(engine), engine, target.engines()[engine])) {
        return error;
      }
      for (QueueId queue : kernel.engines[engine].queues) {
        const std::string &server = target.servers()[queue];
        if (server.empty()) {
          continue;
        }
        if (llvm::Error error = addThread(kernel.nameOf(queue), engine, server)) {
          return error;
        }
      }
    }
    return llvm::Error::success();
  }

  llvm::Error addThread(std::string_view name, EngineId engine, const std::string &symbol) {
    auto address = jit->lookup(symbol);
    if (!address) {
      return address.takeError();
    }
    threads.push_back({std::string(name), engine, address->toPtr<void (*)()>()});
    return llvm::Error::success();
  }

  std::vector<Room> rooms; ///< buffers first
  std::unique_ptr<llvm::orc::LLJIT> jit;
};

//===----------------------------------------------------------------------===//
// 3. Run
//===----------------------------------------------------------------------===//

namespace {

/// All workers of one run, each on its thread.
class Crew {
public:
  explicit Crew(Shared &shared) : shared(shared) {}

  /// Whatever happens, no thread is left behind.
  ~Crew() {
    shared.stopped.store(1);
    join();
  }

  Crew(const Crew &) = delete;

  void add(const std::string &name, EngineId engine, void (*code)()) {
    workers.push_back(std::make_unique<Worker>(shared, name, engine, code));
    threads.emplace_back([worker = workers.back().get()] { worker->work(); });
  }

  /// Lets them run until all have ended.
  ThreadRun run(const StopFlag *stop) {
    ThreadRun result;
    begin = Clock::now();
    shared.mayBegin.store(true, std::memory_order_release);
    std::chrono::microseconds pause{50};
    while (!haveEnded()) {
      std::this_thread::sleep_for(pause);
      pause = std::min<std::chrono::microseconds>(2 * pause, std::chrono::milliseconds(20));
      if (isSet(stop)) {
        result.outcome = ThreadRun::Outcome::Stopped;
        shared.stopped.store(1);
      } else if (result.outcome == ThreadRun::Outcome::Finished && findStuck(result)) {
        result.outcome = ThreadRun::Outcome::Stuck;
        shared.stopped.store(1);
      }
    }
    join();
    for (const std::unique_ptr<Worker> &worker : workers) {
      result.time = std::max<std::chrono::nanoseconds>(result.time, worker->end() - begin);
    }
    if (!shared.reason.empty()) {
      result.outcome = ThreadRun::Outcome::Failed;
      result.reason = shared.reason;
    }
    return result;
  }

  /// Of the run that has ended.
  Recording recording(const Subject &subject) const {
    Recording recording;
    IdVector<InstrId, uint64_t> runs(subject.kernel.instrs.size(), 0);
    for (const std::unique_ptr<Worker> &worker : workers) {
      recording.total = std::max(recording.total, tick(worker->end()));
      for (const Recorder::Moment &moment : worker->recorder.moments) {
        Tick from = tick(moment.from), to = tick(moment.to);
        const Op &op = subject.code.engines[worker->engine].ops[moment.op];
        if (!moment.blocker && op.kind == OpKind::Issue) {
          InstrId id = op.instr();
          recording.executions.push_back({id, subject.kernel.instrs[id].queue, moment.op,
                                          runs[id]++, tick(moment.handed), from, to, to, to});
        } else {
          recording.spells.push_back(
              {worker->engine, moment.op, stallOf(moment.blocker), from, to});
        }
      }
    }
    return recording;
  }

private:
  /// From the beginning of the run.
  Tick tick(Clock::time_point time) const {
    return static_cast<Tick>(std::chrono::nanoseconds(time - begin).count()) * 1000;
  }

  static std::optional<Stall> stallOf(std::optional<Blocker> blocker) {
    if (!blocker) {
      return std::nullopt;
    }
    return *blocker == Blocker::Counter ? Stall::Wait
           : *blocker == Blocker::Room  ? Stall::QueueFull
                                        : Stall::Drain;
  }

  void join() {
    for (std::thread &thread : threads) {
      if (thread.joinable()) {
        thread.join();
      }
    }
  }

  bool haveEnded() const {
    return std::ranges::all_of(workers, [](const std::unique_ptr<Worker> &worker) {
      std::lock_guard guard(worker->mutex());
      return worker->hasEnded();
    });
  }

  /// With all locks held, whoever waits goes on waiting.
  bool findStuck(ThreadRun &result) const {
    std::vector<std::unique_lock<std::mutex>> locks;
    size_t numEnded = 0;
    for (const std::unique_ptr<Worker> &worker : workers) {
      locks.emplace_back(worker->mutex());
      numEnded += worker->hasEnded();
      if (!worker->hasEnded() && !worker->isBlocked()) {
        return false;
      }
    }
    if (numEnded == workers.size()) {
      return false;
    }
    for (const std::unique_ptr<Worker> &worker : workers) {
      if (!worker->hasEnded() && worker->blockedOn != Blocker::Work) {
        SemaId semaphore = worker->semaphore();
        uint32_t value =
            semaphore.valid() ? shared.counters[semaphore.value].now() - shared.firstCount : 0;
        result.stuck.push_back({worker->name, semaphore, value, worker->threshold()});
      }
    }
    return true;
  }

  Shared &shared;
  Clock::time_point begin;
  std::vector<std::unique_ptr<Worker>> workers;
  std::vector<std::thread> threads;
};

} // namespace

std::string describeStuck(const Code &code, const ThreadRun &run) {
  std::string text;
  for (const StuckThread &thread : run.stuck) {
    text +=
        thread.semaphore.valid()
            ? fmt::format("'{}' waits until '{}' is {}, but it is {}\n", thread.name,
                          code.semaphores[thread.semaphore].name, thread.threshold, thread.value)
            : fmt::format("'{}' waits for its queues\n", thread.name);
  }
  return text;
}

ThreadProgram::ThreadProgram(std::unique_ptr<Parts> parts) : parts(std::move(parts)) {}

ThreadProgram::~ThreadProgram() = default;

std::unique_ptr<ThreadProgram> ThreadProgram::of(const Kernel &kernel, const Code &code,
                                                 const Machine &machine, Diagnostics &diagnostics,
                                                 const ProgramOptions &options) {
  std::optional<Subject> subject = exec::prepare(kernel, code, machine, diagnostics, options);
  if (!subject) {
    return nullptr;
  }
  auto parts = std::make_unique<Parts>(std::move(*subject));
  std::string problem;
  try {
    problem = parts->compile();
  } catch (const std::bad_alloc &) {
    problem = "out of memory";
  }
  if (!problem.empty()) {
    diagnostics.error(kernel.where, fmt::format("it cannot be run here: {}", problem));
    return nullptr;
  }
  return std::unique_ptr<ThreadProgram>(new ThreadProgram(std::move(parts)));
}

size_t ThreadProgram::numThreads() const {
  return parts->threads.size();
}

namespace {

/// Elements of a buffer in memory of the process.
struct Elements {
  std::byte *start;
  uint32_t size; ///< of one

  Elements(const Room &room, Format format) : start(room.start), size(sizeOf(format)) {}

  uint32_t bits(size_t element) const {
    uint32_t bits = 0;
    std::memcpy(&bits, start + element * size, size);
    return bits;
  }

  void setBits(size_t element, uint32_t bits) const {
    std::memcpy(start + element * size, &bits, size);
  }
};

uint32_t fileBits(const BufferData &data, size_t element) {
  return data.isPoison(element) ? unwrittenBits(data.format()) : data.bits(element);
}

/// Which NaN an operation makes is not said.
bool isSame(Format format, uint32_t a, uint32_t b) {
  return a == b ||
         (!isWhole(format) && std::isnan(decode(format, a)) && std::isnan(decode(format, b)));
}

} // namespace

void ThreadProgram::setMemory(const Memory &memory) {
  for (BufferId id : memory.ids()) {
    Elements elements(*parts->buffers[id], memory[id].format());
    for (size_t i = 0; i < memory[id].size(); ++i) {
      elements.setBits(i, fileBits(memory[id], i));
    }
  }
}

void ThreadProgram::readInto(Memory &memory) const {
  for (BufferId id : memory.ids()) {
    Elements elements(*parts->buffers[id], memory[id].format());
    for (size_t i = 0; i < memory[id].size(); ++i) {
      if (elements.bits(i) != fileBits(memory[id], i)) {
        memory[id].setBits(i, elements.bits(i));
      }
    }
  }
}

std::optional<size_t> ThreadProgram::firstDifference(BufferId id,
                                                     const BufferData &expected) const {
  Elements elements(*parts->buffers[id], expected.format());
  for (size_t i = 0; i < expected.size(); ++i) {
    if (!isSame(expected.format(), elements.bits(i), fileBits(expected, i))) {
      return i;
    }
  }
  return std::nullopt;
}

ThreadRun ThreadProgram::run(const Bindings &bindings, const StopFlag *stop) {
  for (Counter &counter : parts->counters) {
    counter.reset(parts->subject.options.firstCount);
  }
  for (std::unique_ptr<TaskQueue> &queue : parts->queues) {
    if (queue) {
      std::destroy_at(queue.get()); // made code knows its place
      std::construct_at(queue.get());
    }
  }
  std::ranges::copy(bindings.values(), parts->values.begin());
  parts->stopped.store(0);
  Shared shared(parts->counters, parts->subject.options.firstCount, bindings, parts->stopped,
                parts->subject.options.records);
  exec::runtime::expectThreads(parts->threads.size());
  Crew crew(shared);
  for (const Parts::Thread &thread : parts->threads) {
    crew.add(thread.name, thread.engine, thread.code);
  }
  ThreadRun result = crew.run(stop);
  if (parts->subject.options.records) {
    result.recording = crew.recording(parts->subject);
  }
  for (const Counter &counter : parts->counters) {
    result.counts.push(counter.now() - parts->subject.options.firstCount);
  }
  return result;
}

std::optional<std::string> emitLlvm(const Kernel &kernel, const Code &code, const Machine &machine,
                                    Diagnostics &diagnostics, const ProgramOptions &options) {
  std::optional<Subject> subject = exec::prepare(kernel, code, machine, diagnostics, options);
  if (!subject) {
    return std::nullopt;
  }
  llvm::LLVMContext context;
  LlvmTarget target(*subject, context);
  std::unique_ptr<llvm::Module> module = writeModule(*subject, target);
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream, nullptr);
  return text;
}

} // namespace tally
