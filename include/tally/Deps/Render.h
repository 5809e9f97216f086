//===- Render.h - Found dependences for people and programs ---------------===//
#ifndef TALLY_DEPS_RENDER_H
#define TALLY_DEPS_RENDER_H

#include "tally/Deps/Extract.h"

namespace tally {

/// One line for each dependence that is kept; with `explain`, below it the two accesses, two
/// iterations that conflict, and why it waits for more, if it does; and then those that are
/// implied, and how.
std::string renderText(const Kernel &kernel, const Extraction &extraction, bool explain);

/// One JSON object; see docs/guide/Dependences.md.
std::string renderJson(const Kernel &kernel, const Extraction &extraction);

/// A graph for Graphviz: instructions by engine; dashed edges wait for more than is known to be
/// needed.
std::string renderDot(const Kernel &kernel, const Extraction &extraction);

/// `'scale' -> 'load' at 'A' = 2 ('load' writes X[A mod 2]; 'scale' reads X[A mod 2])`.
std::string describe(const Kernel &kernel, const Extraction &extraction, const DerivedDep &derived);

/// Why a dependence waits for more than is known to be needed, and what to state to sharpen it.
std::string reasonOf(const Kernel &kernel, const DerivedDep &derived);

} // namespace tally

#endif // TALLY_DEPS_RENDER_H
