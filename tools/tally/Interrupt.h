//===- Interrupt.h - Ending a long command by a signal --------------------===//
//
// The first SIGINT (Ctrl-C) or SIGTERM asks a long command to end with what it knows so far; the
// second ends the program. A command that knows nothing before its end just says that it was
// interrupted, and ends at once.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_TOOLS_TALLY_INTERRUPT_H
#define TALLY_TOOLS_TALLY_INTERRUPT_H

#include "tally/Support/Stop.h"

#include <array>
#include <csignal>

namespace tally::tool {

/// Until stopOnSignals(), signals end the program with a message and exit status 2.
void endOnSignals();

/// While it lives, signals end the program as at first: nothing is known while input is read.
class EndsOnSignals {
public:
  EndsOnSignals();
  ~EndsOnSignals();
  EndsOnSignals(const EndsOnSignals &) = delete;

private:
  std::array<struct sigaction, 2> before;
};

/// While it lives, such a signal waits; a process that is started meanwhile never gets one.
class SignalsWait {
public:
  SignalsWait();
  ~SignalsWait();
  SignalsWait(const SignalsWait &) = delete;

private:
  sigset_t before{};
};

/// A file is written as a whole, or not begun. What is written counts as the result of the command.
class UninterruptedWrite : SignalsWait {
public:
  UninterruptedWrite();
};

/// A signal that ends the program ends this process first, until told of another; 0: of none.
void endTogetherWith(pid_t process);

/// From now on signals set the flag that is returned.
const StopFlag *stopOnSignals();

/// Whether one has come.
bool wasInterrupted();

/// Says so, if one has.
void tellInterrupt();

} // namespace tally::tool

#endif // TALLY_TOOLS_TALLY_INTERRUPT_H
