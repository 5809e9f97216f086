//===- Interrupt.cpp - Ending a long command by a signal ------------------===//

#include "Interrupt.h"

#include "Messages.h"

#include <csignal>

namespace tally::tool {

static StopFlag flag = false;

static void onSignal(int) {
  flag.store(true, std::memory_order_relaxed);
}

const StopFlag *stopOnSignals() {
  struct sigaction action{};
  action.sa_handler = onSignal;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  for (int signal : {SIGINT, SIGTERM}) {
    struct sigaction before{};
    sigaction(signal, nullptr, &before);
    if (before.sa_handler != SIG_IGN) { // as for commands in the background of a script
      sigaction(signal, &action, nullptr);
    }
  }
  return &flag;
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
