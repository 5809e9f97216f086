//===- Interrupt.cpp - Ending a long command by a signal ------------------===//

#include "Interrupt.h"

#include "Messages.h"

#include "tally/Deps/GiveUp.h"
#include "tally/Support/WholeFile.h"

#include <string_view>
#include <unistd.h>

namespace tally::tool {

static StopFlag flag = false;

static void onSignal(int signal) {
  if (flag.exchange(true, std::memory_order_relaxed)) {
    removeTemporaryFiles();
    std::signal(signal, SIG_DFL); // and it comes as soon as this function is left
    std::raise(signal);
  }
  giveUpQuestions();
}

static volatile std::sig_atomic_t hasWritten = 0;
static volatile pid_t companion = 0;

/// In a handler only what needs no lock and no memory.
static void tellAndEnd(int) {
  constexpr std::string_view texts[2][2] = {
      {"error: interrupted; nothing was written\n", "error: interrupted\n"},
      {R"({"severity":"error","place":null,"message":"interrupted; nothing was written","notes":[]})"
       "\n",
       R"({"severity":"error","place":null,"message":"interrupted","notes":[]})"
       "\n"}};
  std::string_view text = texts[messagesAsJson() ? 1 : 0][hasWritten != 0 ? 1 : 0];
  if (companion != 0) {
    ::kill(companion, SIGKILL);
  }
  removeTemporaryFiles();
  ssize_t ignored = ::write(STDERR_FILENO, text.data(), text.size());
  static_cast<void>(ignored);
  ::_exit(2);
}

static constexpr std::array handled{SIGINT, SIGTERM};

static void handleSignals(void (*handler)(int)) {
  struct sigaction action{};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  for (int signal : handled) {
    struct sigaction before{};
    sigaction(signal, nullptr, &before);
    if (before.sa_handler != SIG_IGN) { // as for commands in the background of a script
      sigaction(signal, &action, nullptr);
    }
  }
}

void endOnSignals() {
  handleSignals(tellAndEnd);
}

const StopFlag *stopOnSignals() {
  handleSignals(onSignal);
  return &flag;
}

EndsOnSignals::EndsOnSignals() {
  for (size_t i = 0; i < handled.size(); ++i) {
    sigaction(handled[i], nullptr, &before[i]);
  }
  endOnSignals();
}

EndsOnSignals::~EndsOnSignals() {
  for (size_t i = 0; i < handled.size(); ++i) {
    sigaction(handled[i], &before[i], nullptr);
  }
}

SignalsWait::SignalsWait() {
  sigset_t both;
  sigemptyset(&both);
  for (int signal : handled) {
    sigaddset(&both, signal);
  }
  pthread_sigmask(SIG_BLOCK, &both, &before);
}

SignalsWait::~SignalsWait() {
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

UninterruptedWrite::UninterruptedWrite() {
  hasWritten = 1;
}

void endTogetherWith(pid_t process) {
  companion = process;
}

bool wasInterrupted() {
  return isSet(&flag);
}

void tellInterrupt() {
  if (wasInterrupted()) {
    tellNote("interrupted; this is what is known so far");
  }
}

} // namespace tally::tool
