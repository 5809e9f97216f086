"""What is known of the options of `tally-nki`, from its parsers: slips, a manual page, completion in shells.

    error: unknown option '--agr' of 'tally-nki'; did you mean '--arg'?
    note: 'tally-nki --help' says what there is

Nothing here names an option or a command, so no page and no completion is out of date.
"""

import argparse
import re
import sys

from .. import __version__
from .refusal import Refusal

SHELLS = ("bash", "zsh")


class Parser(argparse.ArgumentParser):
    """An error is one line, and a note that says where to look."""

    def __init__(self, **named):
        super().__init__(formatter_class=argparse.RawDescriptionHelpFormatter, **named)
        self.add_argument("--version", action="version", version=f"{self.prog} {__version__}", help="say which version this is")
        self.add_argument("--manual", action=_Manual, nargs=0, help="print a page of the manual, for man")

    def parse_args(self, args=None, namespace=None):
        for word in _options_among(args):
            self._check(word.partition("=")[0])
        return super().parse_args(args, namespace)

    def error(self, message):
        print(f"error: {message}\nnote: '{self.prog} --help' says what there is", file=sys.stderr)
        sys.exit(2)

    def _check(self, name):
        known = self._option_string_actions
        if name not in known and not (name[:2] in known and not name.startswith("--")):
            meant = nearest(name, known)
            self.error(f"unknown option '{name}' of '{self.prog}'" + (f"; did you mean '{meant}'?" if meant else ""))

    def options(self):
        """Actions with names, in the order of the help."""
        return [action for action in self._actions if action.option_strings]

    def arguments(self):
        return [action for action in self._actions if not action.option_strings]


def _options_among(args):
    """Words that are written as options, up to `--`; a number is a value."""
    for word in args:
        if word == "--":
            return
        if re.match(r"-(?!\d)\S", word):
            yield word


def check_limits(options, *names):
    for name in names:
        limit = getattr(options, name)
        if limit < 1:
            raise Refusal(f"--{name.replace('_', '-')}={limit:g}: a limit is at least 1")


def nearest(name, known):
    """The known name with the fewest slips, each one character; none if that is as much as half of the name."""
    best, found = min(len(name), 256) // 3 + 2, ""
    for candidate in known:
        distance, longer = _distance(name[:256], candidate), max(len(name), len(candidate))
        if distance < best and (longer > 1 if distance == 1 else 2 * distance < longer):
            best, found = distance, candidate
    return found


def _distance(one, other):
    """Characters to insert, drop, replace or swap with the next."""
    rows = [list(range(len(other) + 1))]
    for i, letter in enumerate(one, 1):
        row, above = [i], rows[-1]
        for j, wanted in enumerate(other, 1):
            least = min(above[j - 1] + (letter != wanted), above[j] + 1, row[j - 1] + 1)
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == wanted:
                least = min(least, rows[-2][j - 2] + 1)
            row.append(least)
        rows.append(row)
    return rows[-1][-1]


# ---- The manual ---------------------------------------------------------------------------


class _Manual(argparse.Action):
    def __call__(self, parser, namespace, values, option_string=None):
        sys.stdout.write(manual(parser))
        parser.exit(0)


def manual(parser):
    """A page in the language of man."""
    name = parser.prog.replace(" ", "-")
    usage = " ".join(parser.format_usage().partition(":")[2].split())
    lines = [f'.TH {_plain(name.upper())} 1 "" "tally {__version__}"', ".SH NAME",
             f"{_plain(name)} \\- {_plain(parser.description.rstrip('.'))}", ".SH SYNOPSIS", f"\\fB{_plain(usage)}\\fR"]
    for title, actions in (("ARGUMENTS", parser.arguments()), ("OPTIONS", parser.options())):
        lines.append(f".SH {title}")
        for action in actions:
            lines += [".TP", _term(action), _plain(_help(parser, action))]
    for title, text in _parts(parser.epilog):
        lines += [f".SH {title}", ".nf", _plain(text), ".fi"]
    return "\n".join(lines) + "\n"


def _plain(text):
    """Text as it is: no minus becomes a hyphen, no line a request."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.M)


def _term(action):
    value = "" if action.nargs == 0 else action.metavar or action.dest.upper()
    names = [f"\\fB{_plain(name)}\\fR" for name in action.option_strings] or [f"\\fB{_plain(value)}\\fR"]
    joined = ", ".join(names)
    return f"{joined} \\fI{_plain(value)}\\fR" if action.option_strings and value else joined


def _help(parser, action):
    return " ".join(parser._get_formatter()._expand_help(action).split())


def _parts(epilog):
    """Examples, what follows them, and what the exit status says."""
    titles = {"examples": "EXAMPLES", "Exit status": "EXIT STATUS"}
    for paragraph in epilog.strip("\n").split("\n\n"):
        head, _, rest = paragraph.partition(":")
        title = titles.get(head)
        yield (title, rest.strip("\n") if title == "EXAMPLES" else paragraph) if title else ("NOTES", paragraph)


# ---- Completion ---------------------------------------------------------------------------


def completion(shell, parser, commands):
    """A script for the shell: the program's own parser, and those of its commands by name."""
    parsers = {"": parser, **commands}
    return (_bash if shell == "bash" else _zsh)(parser.prog, parsers)


def _kind(action):
    """What a value is: one of a few words, a folder, a file, or nothing that a shell knows."""
    if action.choices:
        return " ".join(action.choices)
    return {"DIR": "folder", "FILE": "file"}.get(action.metavar, "")


def _bash(program, parsers):
    cases, names = [], []
    for command, parser in parsers.items():
        for action in parser.options():
            if action.nargs != 0:
                patterns = " | ".join(f"'{command} {name}'" for name in action.option_strings)
                kind = _kind(action)
                does = {"folder": "folders=yes", "file": "files=yes", "": ":"}.get(kind, f"values='{kind}'")
                cases.append(f"  {patterns}) {does} ;;")
        names.append(f"    '{command}') names='{' '.join(_offered(parser))}' ;;")
    commands = " | ".join(f"'{command}'" for command in parsers if command)
    return _BASH.format(program=program, function=program.replace("-", "_"), commands=commands, cases="\n".join(cases),
                        words=" ".join(filter(None, parsers)), names="\n".join(names))


def _offered(parser):
    """Names of options; one that takes a value ends in `=`, if it is a long one."""
    for action in parser.options():
        for name in action.option_strings:
            yield name + ("=" if action.nargs != 0 and name.startswith("--") else "")


_BASH = """# Completion of {program} for bash: made by '{program} --completion=bash'.
_{function}() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}}
  local command="" option="" names="" values="" files="" folders=""
  case ${{COMP_WORDS[1]}} in
  {commands}) ((COMP_CWORD > 1)) && command=${{COMP_WORDS[1]}} ;;
  esac
  if [[ $cur == = ]]; then # bash makes '=' a word of its own
    option=$before cur=""
  elif [[ $before == = ]]; then
    option=${{COMP_WORDS[COMP_CWORD - 2]}}
  elif [[ $before == -* ]]; then
    option=$before
  fi
  case "$command $option" in
{cases}
  *)
    case $command in
{names}
    esac
    files=yes
    ;;
  esac
  if [[ $cur == -* && -n $names ]]; then
    COMPREPLY=($(compgen -W "$names" -- "$cur"))
  else
    COMPREPLY=($(compgen -W "$values" -- "$cur"))
    [[ -n $names && -z $command && $COMP_CWORD == 1 ]] && COMPREPLY+=($(compgen -W "{words}" -- "$cur"))
    [[ -n $folders ]] && COMPREPLY+=($(compgen -d -- "$cur"))
    [[ -n $files ]] && COMPREPLY+=($(compgen -f -- "$cur"))
  fi
  if [[ ${{#COMPREPLY[@]}} == 1 && ${{COMPREPLY[0]}} == *= ]] && type compopt &>/dev/null; then
    compopt -o nospace 2>/dev/null
  fi
  return 0
}}
complete -o filenames -F _{function} {program}
"""


def _zsh(program, parsers):
    function = "_" + program.replace("-", "_")
    bodies, cases = [], []
    for command, parser in parsers.items():
        name = function + "_" + (command or "trace")
        lines = [f"{name}() {{", "  _arguments \\"]
        lines += [f"    {spec} \\" for action in parser.options() for spec in _zsh_option(parser, action)]
        lines += [f"    '{place}:{_quoted(action.metavar)}:{_zsh_values(action)}' \\"
                  for place, action in enumerate(parser.arguments(), 1)]
        lines[-1] = lines[-1].removesuffix(" \\")
        bodies.append("\n".join(lines) + "\n}\n")
        if command:
            cases.append(f"  {command}) shift words; ((--CURRENT)); {name} ;;")
    return _ZSH.format(program=program, function=function, bodies="\n".join(bodies), cases="\n".join(cases))


def _zsh_option(parser, action):
    """Each name of an option; a long one takes its value after `=` or as the next word."""
    text = _quoted(_help(parser, action))
    star = "*" if isinstance(action, argparse._AppendAction) else ""
    for name in action.option_strings:
        sign = "" if action.nargs == 0 else "=" if name.startswith("--") else "+"
        value = "" if action.nargs == 0 else f":{_quoted(action.metavar or action.dest)}:{_zsh_values(action)}"
        yield f"'{star}{name}{sign}[{text}]{value}'"


def _zsh_values(action):
    kind = _kind(action)
    return {"folder": "_files -/", "file": "_files", "": " "}.get(kind, f"({kind})")


def _quoted(text):
    return text.replace("'", "'\\''").replace("[", "\\[").replace("]", "\\]").replace(":", "\\:")


_ZSH = """#compdef {program}
# Completion of {program} for zsh: made by '{program} --completion=zsh'.

{bodies}
{function}() {{
  case $words[2] in
{cases}
  *) {function}_trace ;;
  esac
}}

if [[ $funcstack[1] == {function} ]]; then
  {function} "$@"
else
  compdef {function} {program}
fi
"""
