//===- GiveUp.h - Ending the search for dependences early -----------------===//
#ifndef TALLY_DEPS_GIVEUP_H
#define TALLY_DEPS_GIVEUP_H

namespace tally {

/// From now on, every question is too hard: the one that is being asked, and all later ones. What
/// is found then is right, but waits for more than it has to. For handlers of signals: it takes no
/// lock.
void giveUpQuestions();

} // namespace tally

#endif // TALLY_DEPS_GIVEUP_H
