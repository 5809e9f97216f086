//===- Completion.h - Completion of a command line in bash and zsh --------===//
//
// A script for each shell, made of the definitions of commands and options. What only a machine
// knows at the time (which descriptions of machines there are), the script asks the program.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_TOOLS_TALLY_COMPLETION_H
#define TALLY_TOOLS_TALLY_COMPLETION_H

#include "CommandTree.h"

namespace tally::tool {

std::string bashCompletion(const CommandTree &program);
std::string zshCompletion(const CommandTree &program);

} // namespace tally::tool

#endif // TALLY_TOOLS_TALLY_COMPLETION_H
