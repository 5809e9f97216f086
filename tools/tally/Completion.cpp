//===- Completion.cpp - Completion of a command line in bash and zsh ------===//

#include "Completion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tally::tool {
namespace {

std::string joined(const std::vector<std::string> &words) {
  return fmt::format("{}", fmt::join(words, " "));
}

/// `tally`
std::string programOf(const CommandTree &command) {
  return command.path.substr(0, command.path.find(' '));
}

/// The words after the program, each with a blank before it: ` machine check`.
std::string wordsOf(const CommandTree &command) {
  return command.path.substr(programOf(command).size());
}

/// The program and all commands below it.
std::vector<const CommandTree *> allOf(const CommandTree &command) {
  std::vector<const CommandTree *> all{&command};
  for (const CommandTree &below : command.commands) {
    std::vector<const CommandTree *> deeper = allOf(below);
    all.insert(all.end(), deeper.begin(), deeper.end());
  }
  return all;
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

//===----------------------------------------------------------------------===//
// bash
//===----------------------------------------------------------------------===//
//
// One function with three tables, as `case`: which words are commands, what the value of an option
// may be, and what may stand in a command. In a list with commas, only its last part is completed.

/// Assignments that say what a value may be.
std::string bashValues(const CommandOption &option) {
  std::string text;
  if (!option.suggestions.empty()) {
    text += fmt::format(" values='{}'", joined(option.suggestions));
  }
  if (!option.suggestedBy.empty()) {
    text += fmt::format(" values=$(\"${{COMP_WORDS[0]}}\" {} 2>/dev/null | cut -d' ' -f1)",
                        option.suggestedBy);
  }
  if (option.takesFile() || !option.suggestedBy.empty()) {
    text += " files=yes";
  }
  if (option.delimiter != 0) {
    text += fmt::format(" delimiter={}", option.delimiter);
  }
  return text.empty() ? " :" : text; // `:` does nothing
}

std::string bashOptionCases(const CommandTree &command) {
  std::string text;
  for (const CommandOption &option : command.options) {
    if (!option.isPositional && !option.isFlag() && !option.mayLackValue) {
      std::vector<std::string> patterns;
      for (const std::string &name : option.names) {
        patterns.push_back(fmt::format("'{} {}'", wordsOf(command), name));
      }
      text += fmt::format("  {}){} ;;\n", fmt::join(patterns, " | "), bashValues(option));
    }
  }
  return text;
}

std::string bashCommandCase(const CommandTree &command) {
  std::vector<std::string> names;
  std::string arguments;
  for (const CommandOption &option : command.options) {
    if (option.isPositional) {
      arguments += bashValues(option);
    } else {
      for (const std::string &name : option.names) {
        if (name.starts_with("--")) {
          names.push_back(name + (option.isFlag() || option.mayLackValue ? "" : "="));
        }
      }
    }
  }
  std::vector<std::string> commands;
  for (const CommandTree &below : command.commands) {
    commands.emplace_back(below.name());
  }
  if (!commands.empty()) {
    arguments += fmt::format(" values='{}'", joined(commands));
  }
  return fmt::format("    '{}') names='{}'{} ;;\n", wordsOf(command), joined(names), arguments);
}

constexpr std::string_view bashScript =
    R"(# Completion of {program} for bash: made by '{program} completion bash'.
_{program}() {
  local cur=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
  local command="" option="" names="" values="" files="" delimiter="" prefix="" i
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case "$command ${COMP_WORDS[i]}" in
    {commands}) command+=" ${COMP_WORDS[i]}" ;;
    esac
  done
  if [[ $cur == = ]]; then # bash makes '=' a word of its own
    option=$before cur=""
  elif [[ $before == = ]]; then
    option=${COMP_WORDS[COMP_CWORD - 2]}
  elif [[ $before == -* ]]; then
    option=$before
  fi
  case "$command $option" in
{options}  *) option="" ;;
  esac
  if [[ -z $option ]]; then
    case "$command" in
{arguments}    esac
  fi
  COMPREPLY=()
  if [[ $cur == -* && -z $option ]]; then
    COMPREPLY=($(compgen -W "$names" -- "$cur"))
    [[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace 2>/dev/null
    return 0
  fi
  if [[ -n $delimiter && $cur == *"$delimiter"* ]]; then
    prefix=${cur%"$delimiter"*}$delimiter
  fi
  COMPREPLY=($(compgen -P "$prefix" -W "$values" -- "${cur#"$prefix"}"))
  if [[ -n $files ]]; then
    compopt -o filenames 2>/dev/null
    while IFS= read -r i; do COMPREPLY+=("$i"); done < <(compgen -f -- "$cur")
  fi
  return 0
}
complete -F _{program} {program}
)";

//===----------------------------------------------------------------------===//
// zsh
//===----------------------------------------------------------------------===//
//
// One function for each command, which says with _arguments what it takes.

/// Text within single quotes and brackets, in which a colon ends a part.
std::string zshText(std::string text) {
  for (std::string_view special : {"\\", "[", "]", ":"}) {
    text = replaced(std::move(text), special, fmt::format("\\{}", special));
  }
  return replaced(std::move(text), "'", "'\\''");
}

/// What completes a value.
std::string zshAction(const CommandTree &command, const CommandOption &option) {
  if (!option.suggestions.empty()) {
    return option.delimiter != 0
               ? fmt::format("_values -s {} value {}", option.delimiter, joined(option.suggestions))
               : fmt::format("({})", joined(option.suggestions));
  }
  if (!option.suggestedBy.empty()) {
    return fmt::format("{{_{}_rows {}; _files}}", programOf(command), option.suggestedBy);
  }
  return option.takesFile() ? "_files" : " ";
}

std::string zshOption(const CommandTree &command, const CommandOption &option) {
  std::string value = option.isFlag()       ? ""
                      : option.mayLackValue ? fmt::format("::value:{}", zshAction(command, option))
                                            : fmt::format(":value:{}", zshAction(command, option));
  std::string text;
  for (const std::string &name : option.names) {
    std::string_view sign = option.isFlag()          ? ""
                            : option.mayLackValue    ? "=-"
                            : name.starts_with("--") ? "="
                                                     : "+";
    text += fmt::format("    '{}{}{}[{}]{}' \\\n", option.isRepeated ? "*" : "", name, sign,
                        zshText(option.help), value);
  }
  return text;
}

/// The name of the function of a command.
std::string zshName(const CommandTree &command) {
  std::string name = command.path;
  std::ranges::replace(name, ' ', '_');
  return "_" + name;
}

/// The end of a function: the arguments, or the commands below it, of which one goes on.
std::string zshArguments(const CommandTree &command) {
  std::string text;
  if (command.commands.empty()) {
    for (const CommandOption &option : command.options) {
      if (option.isPositional) {
        text += fmt::format("    '{}:{}:{}' \\\n",
                            option.isRepeated   ? "*"
                            : option.isRequired ? ""
                                                : ":",
                            zshText(option.names.back()), zshAction(command, option));
      }
    }
    return text + "    && return 0\n";
  }
  text += "    '1:command:->command' '*::argument:->argument' && return 0\n"
          "  case $state in\n  command)\n    local -a commands=(\n";
  for (const CommandTree &below : command.commands) {
    text += fmt::format("      '{}:{}'\n", below.name(), zshText(below.summary));
  }
  text += "    )\n    _describe command commands\n    ;;\n  argument)\n    case $words[1] in\n";
  for (const CommandTree &below : command.commands) {
    text += fmt::format("    {}) {} ;;\n", below.name(), zshName(below));
  }
  return text + "    esac\n    ;;\n  esac\n";
}

std::string zshFunction(const CommandTree &command) {
  std::string options;
  for (const CommandOption &option : command.options) {
    options += option.isPositional ? "" : zshOption(command, option);
  }
  bool isProgram = command.path.find(' ') == command.path.npos;
  return fmt::format("{}() {{\n{}  local curcontext=$curcontext state line\n"
                     "  typeset -A opt_args\n  _arguments -C \\\n{}{}}}\n\n",
                     zshName(command), isProgram ? "  local program=$words[1]\n" : "", options,
                     zshArguments(command));
}

} // namespace

std::string bashCompletion(const CommandTree &program) {
  std::vector<std::string> words;
  std::string options, arguments;
  for (const CommandTree *command : allOf(program)) {
    if (command != &program) {
      words.push_back(fmt::format("'{}'", wordsOf(*command)));
    }
    options += bashOptionCases(*command);
    arguments += bashCommandCase(*command);
  }
  std::string script(bashScript);
  script = replaced(script, "{commands}", fmt::format("{}", fmt::join(words, " | ")));
  script = replaced(script, "{options}", options);
  script = replaced(script, "{arguments}", arguments);
  return replaced(script, "{program}", program.path);
}

std::string zshCompletion(const CommandTree &program) {
  std::string text =
      fmt::format("#compdef {0}\n# Completion of {0} for zsh: made by '{0} completion zsh'.\n\n"
                  "# The first words of what a command prints.\n"
                  "_{0}_rows() {{\n"
                  "  local -a rows=(${{(f)\"$($program $@ 2>/dev/null | cut -d' ' -f1)\"}})\n"
                  "  compadd -a rows\n}}\n\n",
                  program.path);
  for (const CommandTree *command : allOf(program)) {
    text += zshFunction(*command);
  }
  return text + fmt::format("_{} \"$@\"\n", program.path);
}

} // namespace tally::tool
