//===- CheckRuns.h - Which runs the race check tried, and what none did ---===//
#ifndef TALLY_TOOLS_TALLY_CHECKRUNS_H
#define TALLY_TOOLS_TALLY_CHECKRUNS_H

#include "CheckAnswer.h"

#include "tally/Check/Choices.h"
#include "tally/Check/Turns.h"

#include <set>

namespace tally::tool {

/// The runs of our own choice that counted, in numbers.
class TriedRuns {
public:
  /// The arguments must outlive this.
  TriedRuns(const Kernel &kernel, const Turns &turns, const Given &given);

  /// `fuel`: the operations that are looked at for turns.
  void add(const Bindings &bindings, uint64_t fuel);

  /// Turns that none of these has passed, and waits that no run tells of, as texts.
  std::vector<std::string> unpassed() const;

  /// `         with --trips=B=3 given, tried: trips of 'A' up to 21; 18 of 64 decisions`
  std::string text() const;
  Json json() const;

private:
  const Kernel &kernel;
  const Given &given;
  const Turns &turns;
  std::vector<bool> passed; ///< by turn: in some run
  const std::vector<Decision> decisions;
  std::set<std::vector<bool>> decided; ///< at the first entry of each branch
  std::vector<LoopId> loops;           ///< that kernel and user leave open
  std::vector<RunValueId> values;      ///< the same
  IdVector<LoopId, uint64_t> longest;
  IdVector<RunValueId, int64_t> largest;
};

/// What no run ever did was compared with nothing: instructions, tiles, and pairs that never met.
class NeverDone {
public:
  /// The arguments must outlive this.
  NeverDone(const Subject &subject, const Machine &machine, const Given &given);

  void add(const Bindings &bindings, const RaceResult &result, const StopFlag *stop);

  /// No run brought these together.
  void addApart(const std::vector<Apart> &pairs);

  /// There are more pairs than were looked at.
  void addMorePairs() { leavesOut = true; }

  /// Once all runs are done.
  void conclude(const std::vector<std::string> &unpassed);

  const RunsDo &runsDo() const { return runs; }

  const std::vector<std::string> &texts() const { return never; }

  const Json &json() const { return told; }

  /// Some of that may conflict with something.
  bool mayBeWrong() const { return isDoubtful; }

private:
  void findUntouched();
  void noteUntouched();

  bool isTouched(Party party) const { return party.access.valid() && touched[party.access]; }

  void noteApart(const Apart &pair);
  void noteUnowed();
  void note(const char *kind, Json what, std::string text, const std::string &needs = "");

  const Subject &subject;
  const Kernel &kernel;
  const Machine &machine;
  const Given &given;
  RunsDo runs;
  IdVector<InstrId, bool> ranOnce; ///< in some run
  IdVector<AccessId, bool> touched;
  std::vector<Apart> open; ///< pairs that no run brought together
  bool leavesOut = false;
  bool isDoubtful = false;
  std::vector<std::string> never;
  Json told;
};

} // namespace tally::tool

#endif // TALLY_TOOLS_TALLY_CHECKRUNS_H
