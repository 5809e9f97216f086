//===- Progress.cpp - What a long command is doing ------------------------===//

#include "Progress.h"

#include "Messages.h"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <csignal>

namespace tally::tool {

static std::atomic<Heartbeat *> current = nullptr;

void nowDoing(std::string what) {
  if (Heartbeat *heartbeat = current) {
    std::scoped_lock lock(heartbeat->mutex);
    heartbeat->text = std::move(what);
  }
}

Heartbeat::Heartbeat(std::chrono::milliseconds period) {
  // Signals are for the thread that works: it may have reasons to let them wait.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  thread = std::jthread([this, period](const std::stop_token &isOver) { beat(period, isOver); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  current = this;
}

Heartbeat::~Heartbeat() {
  current = nullptr;
}

void Heartbeat::beat(std::chrono::milliseconds period, const std::stop_token &isOver) {
  std::unique_lock lock(mutex);
  for (auto since = period;
       !changed.wait_for(lock, isOver, period, [] { return false; }) && !isOver.stop_requested();
       since += period) {
    if (!text.empty()) {
      tellProgress(fmt::format("{} ({} s)", text, floor<std::chrono::seconds>(since).count()));
    }
  }
}

} // namespace tally::tool
