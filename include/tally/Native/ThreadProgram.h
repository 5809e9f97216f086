//===- ThreadProgram.h - Code on threads of this process ------------------===//
//
// Code becomes LLVM IR, which is compiled for this processor and run: a thread for each engine and
// for each further queue. Memory is bits, as files of the kernel's buffers have them.
//
//   std::unique_ptr<ThreadProgram> program = ThreadProgram::of(kernel, code, machine, problems);
//   program->setMemory(memory);
//   ThreadRun run = program->run(bindings);
//   program->readInto(memory);
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_NATIVE_THREADPROGRAM_H
#define TALLY_NATIVE_THREADPROGRAM_H

#include "tally/Code/Code.h"
#include "tally/Data/Memory.h"
#include "tally/Exec/ProgramOptions.h"
#include "tally/Model/Bindings.h"
#include "tally/Sim/Recording.h"
#include "tally/Support/Stop.h"

#include <chrono>
#include <memory>
#include <optional>
#include <string>

namespace tally {

/// An engine, or a further queue of one, that can never go on.
struct StuckThread {
  std::string name;
  SemaId semaphore; ///< that it waits for; none: for a queue
  uint32_t value = 0;
  uint32_t threshold = 0;
};

struct ThreadRun {
  enum class Outcome : uint8_t {
    Finished,
    Stuck,   ///< no thread can go on
    Failed,  ///< a tile or a row outside its buffer, which only the data decide
    Stopped, ///< from outside
  };
  Outcome outcome = Outcome::Finished;
  std::chrono::nanoseconds time{}; ///< from the moment when all threads may begin to the last end
  std::vector<StuckThread> stuck;
  std::string reason;                ///< Failed
  Recording recording;               ///< if the program records
  IdVector<SemaId, uint32_t> counts; ///< what each semaphore is at the end
};

/// `'act' waits until 'A.dma' is 3, but it is 2`, a line each.
std::string describeStuck(const Code &code, const ThreadRun &run);

class ThreadProgram {
public:
  /// For code that verifyCode() accepts; kernel and code must stay. None, with all reasons
  /// reported, if something that the kernel does has no code, or there is no memory for it.
  static std::unique_ptr<ThreadProgram> of(const Kernel &kernel, const Code &code,
                                           const Machine &machine, Diagnostics &diagnostics,
                                           const ProgramOptions &options = {});
  ~ThreadProgram();

  size_t numThreads() const;

  /// What all buffers hold from now on; poison as in files.
  void setMemory(const Memory &memory);

  /// What they hold: changes the elements of `memory` in which that differs.
  void readInto(Memory &memory) const;

  /// The first element of a buffer that differs from what it holds there, in bits; all NaN are one.
  std::optional<size_t> firstDifference(BufferId id, const BufferData &expected) const;

  /// Runs all of it once, with the buffers as they are. Throws std::system_error if there cannot be
  /// as many threads.
  ThreadRun run(const Bindings &bindings, const StopFlag *stop = nullptr);

private:
  class Parts;

  explicit ThreadProgram(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts;
};

/// The module as text. None, as above.
std::optional<std::string> emitLlvm(const Kernel &kernel, const Code &code, const Machine &machine,
                                    Diagnostics &diagnostics, const ProgramOptions &options = {});

} // namespace tally

#endif // TALLY_NATIVE_THREADPROGRAM_H
