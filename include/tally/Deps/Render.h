//===- Render.h - Found dependences for people and programs ---------------===//
#ifndef TALLY_DEPS_RENDER_H
#define TALLY_DEPS_RENDER_H

#include "tally/Deps/Extract.h"

namespace tally {

/// One line for each dependence that is kept; with `explain`, below it the two accesses, two
/// iterations that conflict, and why it waits for more, if it does; and then those that are
/// implied, and how.
std::string renderText(const Kernel &kernel, const Extraction &extraction, std::string_view machine,
                       bool explain);

/// One JSON object; see docs/guide/json/Dependences.md.
std::string renderJson(const Kernel &kernel, const Extraction &extraction);

/// A graph for Graphviz: instructions by engine; dashed edges wait for more than is known to be
/// needed.
std::string renderDot(const Kernel &kernel, const Extraction &extraction);

/// `'scale' -> 'load' at 'A' = 2 ('load' writes X[A mod 2]; 'scale' reads X[A mod 2])`.
std::string describe(const Kernel &kernel, const Extraction &extraction, const DerivedDep &derived);

/// The chain that implies it, from the consumer back to the producer.
std::string derivationText(const Kernel &kernel, const Extraction &extraction,
                           const DerivedDep &derived);

/// Why one instruction waits for another or does not: of each conflict of the two, whether it is
/// kept, implied, or written over in between, and by what it follows.
std::string whyText(const Kernel &kernel, const ExtractOptions &options, Extractor &extractor,
                    InstrId producer, InstrId consumer);

/// Why a dependence waits for more than is known to be needed, and what to state to sharpen it.
std::string reasonOf(const Kernel &kernel, const DerivedDep &derived);

} // namespace tally

#endif // TALLY_DEPS_RENDER_H
