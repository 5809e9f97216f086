//===- ShellCommand.cpp - tally completion, tally manual ------------------===//
//
// What a shell knows about tally: how its command line is completed, and pages of the manual. Both
// are made of the definitions of commands and options, which the program of these commands holds.
//
//===----------------------------------------------------------------------===//

#include "Completion.h"
#include "ManualPage.h"
#include "Result.h"

#include <fmt/format.h>

#include <filesystem>

namespace tally::tool {
namespace {

struct CompletionCommand {
  std::string shell;
  const CLI::App *command = nullptr;

  void declareOn(CLI::App &app) {
    command = &app;
    declare(app,
            {{"shell", shell, "the shell", oneOf("shell", "shells", {"bash", "zsh"}), required}});
  }

  int run() const {
    const CommandTree program = treeOf(*command);
    return writeOutput("-", shell == "bash" ? bashCompletion(program) : zshCompletion(program))
               ? Exit::Yes
               : Exit::Undecided;
  }
};

struct ManualCommand {
  std::vector<std::string> words;
  std::string folder;
  const CLI::App *command = nullptr;

  void declareOn(CLI::App &app) {
    command = &app;
    std::vector<std::string> names;
    for (const CommandTree &each : treeOf(app).commands) {
      names.emplace_back(each.name());
    }
    declare(app,
            {{"command", words, "the command; none: the program", withSpaces,
              suggesting(std::move(names))},
             {"--all", folder, "write the pages of all commands to this folder", tool::folder}});
    refuseIf(app, {"--all"}, "together with a command", [this] { return !words.empty(); });
  }

  int run() const {
    const CommandTree program = treeOf(*command);
    if (folder.empty()) {
      return writeOutput("-", manualPage(found(program))) ? Exit::Yes : Exit::Undecided;
    }
    std::error_code failure;
    std::filesystem::create_directories(folder, failure);
    if (failure) {
      fail(fmt::format("cannot write to '{}': {}", folder, failure.message()), folder);
    }
    return writeAll(program) ? Exit::Yes : Exit::Undecided;
  }

private:
  /// The command that the user names.
  const CommandTree &found(const CommandTree &program) const {
    const CommandTree *at = &program;
    for (const std::string &word : words) {
      std::vector<std::string> names;
      const CommandTree *next = nullptr;
      for (const CommandTree &below : at->commands) {
        names.emplace_back(below.name());
        next = below.name() == word ? &below : next;
      }
      if (!areKnown({word}, names, "command", fmt::format("commands of '{}'", at->path))) {
        end();
      }
      at = next;
    }
    return *at;
  }

  bool writeAll(const CommandTree &each) const {
    bool isWritten =
        writeOutput(fmt::format("{}/{}.1", folder, manualName(each)), manualPage(each));
    for (const CommandTree &below : each.commands) {
      isWritten = isWritten && writeAll(below);
    }
    return isWritten;
  }
};

constexpr const char *completionNotes = R"(Examples:
  source <(tally completion bash)             in this shell; installed programs need no such line
  tally completion zsh > ~/.zfunc/_tally      in a folder of zsh's 'fpath'

Exit status: 0 done, 2 wrong use.)";

constexpr const char *manualNotes = R"(Examples:
  tally manual check | man -l -               the page of one command; 'man tally-check' if installed
  tally manual machine check | man -l -
  tally manual --all=share/man/man1           all pages, as files

Exit status: 0 done, 2 wrong use, or a page cannot be written.)";

} // namespace

void addShell(CLI::App &app) {
  addCommand<CompletionCommand>(
      app, {"completion", "Completion of commands and options in a shell", completionNotes});
  addCommand<ManualCommand>(app, {"manual", "Pages of the manual, for man", manualNotes});
}

} // namespace tally::tool
