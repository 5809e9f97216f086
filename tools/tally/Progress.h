//===- Progress.h - What a long command is doing --------------------------===//
//
// A command says what it does as it goes on; those who wait are told on stderr every few seconds.
// A command that is done sooner says nothing.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_TOOLS_TALLY_PROGRESS_H
#define TALLY_TOOLS_TALLY_PROGRESS_H

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

namespace tally::tool {

/// What is being done from now on. Means something while a Heartbeat lives.
void nowDoing(std::string what);

/// Tells on stderr, every few seconds, what is being done. A program has at most one.
class Heartbeat {
public:
  explicit Heartbeat(std::chrono::milliseconds period = std::chrono::seconds(3));
  ~Heartbeat();
  Heartbeat(const Heartbeat &) = delete;

private:
  friend void nowDoing(std::string what);
  void beat(std::chrono::milliseconds period, const std::stop_token &isOver);

  std::mutex mutex;
  std::condition_variable_any changed;
  std::string text;
  std::jthread thread; ///< ends before the others
};

} // namespace tally::tool

#endif // TALLY_TOOLS_TALLY_PROGRESS_H
