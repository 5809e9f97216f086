//===- CommandTree.h - A program's commands and options as data -----------===//
//
// What manual pages and completion in shells are made of: the definitions by which the command line
// is read, walked once. So neither can name an option that is not there, or miss one.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_TOOLS_TALLY_COMMANDTREE_H
#define TALLY_TOOLS_TALLY_COMMANDTREE_H

#include "Options.h"

#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
} // namespace CLI

namespace tally::tool {

/// An option, or a positional argument, which has one name without hyphens.
struct CommandOption {
  std::vector<std::string> names; ///< `-o`, `--output`; the last one is the long one
  std::string help;
  std::string value;                    ///< `FILE`, `UINT`; empty: a flag
  std::string byDefault;                ///< as help shows it
  std::string title;                    ///< of the options that it stands with
  std::vector<std::string> suggestions; ///< values that a shell offers
  std::string suggestedBy;              ///< ... or the command whose rows begin with them
  char delimiter = 0;                   ///< between several values in one; 0: there is one
  bool isPositional = false;
  bool isRequired = false;
  bool mayLackValue = false;
  bool isRepeated = false; ///< may be given several times

  bool isFlag() const { return value.empty(); }

  bool takesFile() const { return value == fileShape || value == folderShape; }
};

struct CommandTree {
  std::string path; ///< `tally machine check`
  std::string summary;
  std::string footer; ///< examples, exit status and the like, each in a paragraph
  std::string usage;
  std::string version; ///< of the program: `tally 0.1.0`
  std::vector<CommandOption> options;
  std::vector<CommandTree> commands;

  /// The last word of its path.
  std::string_view name() const { return std::string_view(path).substr(path.rfind(' ') + 1); }
};

/// The program of which `app` is a command, or is itself.
CommandTree treeOf(const CLI::App &app);

} // namespace tally::tool

#endif // TALLY_TOOLS_TALLY_COMMANDTREE_H
