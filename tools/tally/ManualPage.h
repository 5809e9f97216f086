//===- ManualPage.h - A command as a page of the manual -------------------===//
//
// The same words as its help, with the macros of man(7): name, synopsis, options, and a section for
// each paragraph of the footer that has a title.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_TOOLS_TALLY_MANUALPAGE_H
#define TALLY_TOOLS_TALLY_MANUALPAGE_H

#include "CommandTree.h"

namespace tally::tool {

/// `tally-machine-check` for `tally machine check`.
std::string manualName(const CommandTree &command);

/// The page of one command.
std::string manualPage(const CommandTree &command);

} // namespace tally::tool

#endif // TALLY_TOOLS_TALLY_MANUALPAGE_H
