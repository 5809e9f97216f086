//===- CheckAnswer.h - What tally check has found -------------------------===//
#ifndef TALLY_TOOLS_TALLY_CHECKANSWER_H
#define TALLY_TOOLS_TALLY_CHECKANSWER_H

#include "CheckCommand.h"
#include "Result.h"

#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

namespace tally::tool {

/// What one of the two ways to ask has found.
struct Answer {
  Verdict verdict = Verdict::Undecided;
  std::string text;
  Json json;
  std::vector<Fault> faults;
};

/// Tells on stderr, every few seconds, what is being done.
class Heartbeat {
public:
  Heartbeat() : thread([this](const std::stop_token &isOver) { beat(isOver); }) {}

  /// What from now on is being done.
  void doing(std::string what);

private:
  void beat(const std::stop_token &isOver);

  std::mutex mutex;
  std::condition_variable_any changed;
  std::string text;
  std::jthread thread; ///< ends before the others
};

/// `given`: the values that --trips and --guards bind.
Answer exploreSubject(const CheckOptions &options, const Subject &subject, const Machine &machine,
                      const Bindings &given, Heartbeat &heartbeat);
Answer raceSubject(const CheckOptions &options, const Subject &subject, const Machine &machine,
                   const Bindings &given, Heartbeat &heartbeat);

/// `1 state`, `2 states`.
std::string counted(uint64_t count, std::string_view what);

/// Why nothing was compared; empty if something was. `hasNeeds`: there is something that the code
/// is held to; `most`: what the busiest run does.
std::string nothingToCompare(const Subject &subject, bool hasNeeds, RunDoes most);

/// What a yes takes for granted about memory, a line for each.
std::string grantedText(const Kernel &kernel);

} // namespace tally::tool

#endif // TALLY_TOOLS_TALLY_CHECKANSWER_H
