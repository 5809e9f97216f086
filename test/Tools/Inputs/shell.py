"""Looks at what a shell knows of tally.

  complete WORD...   what bash offers for the last word, sorted, on one line
  walk FOLDER        help, manual and completion of every command name the same options, and each command has
                     examples of its own, with options that it has; FOLDER: for the pages of the manual
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path


def output(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def complete(words):
    script = output("tally", "completion", "bash")
    script += f"COMP_WORDS=({shlex.join(words)}); COMP_CWORD={len(words) - 1}; _tally\n"
    script += 'printf "%s\\n" "${COMPREPLY[@]}"\n'
    return sorted(output("bash", "-uc", script).split())


def options_in_help(text):
    """Each option by its long name, from the columns of help."""
    lists = re.findall(r"^  ((?:-\w,)?--[\w,-]+)", text, re.M)
    return {name for names in lists for name in names.split(",") if name.startswith("--")}


def commands_in_help(text):
    part = text.partition("\nSubcommands:\n")[2]
    return re.findall(r"^  (\w+) ", part.partition("\n\n")[0], re.M)


def problems_of(path, folder):
    """What is wrong with one command, and with those below it."""
    help_text = output(*path, "--help")
    options, commands = options_in_help(help_text), commands_in_help(help_text)
    if not options:
        yield f"{path}: no options in help"
    offered = {word.rstrip("=") for word in complete([*path, "-"])}
    if offered != options:
        yield f"{path}: bash offers {sorted(offered ^ options)}, or does not"
    zsh = output("tally", "completion", "zsh")
    function = re.search(rf"^_{'_'.join(path)}\(\) {{\n(.*?)^}}", zsh, re.M | re.S)[1]
    named = set(re.findall(r"^    '\*?(--[\w-]+)[=\[]", function, re.M))
    if named != options:
        yield f"{path}: zsh offers {sorted(named ^ options)}, or does not"
    page = Path(folder, "-".join(path) + ".1").read_text(encoding="utf-8")
    terms = re.findall(r"^\.TP\n(.*)", page, re.M)
    told = {name.replace("\\", "") for term in terms for name in re.findall(r"\\fB(\\-\\-[\w\\-]+?)\\fR", term)}
    if told != options:
        yield f"{path}: the manual has {sorted(told ^ options)}, or does not"
    yield from wrong_examples(path, help_text, options, commands)
    for name in commands:
        yield from problems_of([*path, name], folder)


def wrong_examples(path, help_text, options, commands):
    examples = [line for line in help_text.splitlines() if line.startswith(f"  {' '.join(path)} ")]
    if "\nExamples:\n" not in help_text or not examples:
        yield f"{path}: no examples of its own"
    for line in examples:
        used = set(re.findall(r"(--[\w-]+)", line.split("|")[0])) if not commands else set()
        if used - options:
            yield f"{path}: an example uses {sorted(used - options)}"


def walk(folder):
    output("tally", "manual", f"--all={folder}")
    problems = list(problems_of(["tally"], folder))
    pages = sorted(os.listdir(folder))
    if len(pages) < 15:
        problems.append(f"pages are {pages}")
    if shutil.which("groff"):  # what is no macro, or has no end
        for page in pages:
            said = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z", Path(folder, page)], text=True,
                                  stderr=subprocess.PIPE, check=False).stderr
            problems += [f"{page}: {said}"] if said else []
    sys.exit("\n".join(problems) or 0)


if __name__ == "__main__":
    if sys.argv[1] == "walk":
        walk(sys.argv[2])
    print(" ".join(complete(sys.argv[2:])))
