#!/usr/bin/env python3
"""Runs the commands in README.md and docs/ and checks the links of all Markdown files.

A fenced block marked `console` is a transcript that must hold:

    ```console
    $ tally compile kernels/matmul.mlir --listing
    engine pe
    ...
    ```

A line that begins with `$ ` is a command; a backslash at its end continues it, and so does `<<'END'`,
up to the line `END`. The lines up to the next command are its expected output. There, a line `...` stands for any number of lines,
and a line that ends in `...` for any line that begins so. Without expected lines, only the exit
status counts, which must be 0 in any case; lines of `...` alone expect nothing and are refused. The line `again: tally ...` that ends most texts, and the empty one before it, may be
left out; so are lines of progress of `tally-nki`, which a slow machine has more of. To show a refusal, end the command in
`; echo "exit $?"`. The blocks of a document that are marked `mlir` are together one module that
`tally-opt` must accept; one that begins with neither a kernel nor code is a part of a kernel of its
own. Blocks marked otherwise (`sh`, `text`, ...) are not run.

Commands see the repository's files by the same relative names, and the built programs on PATH.
They run in a folder of their own for each document, also named $TMP: what they write stays out
of the repository and is there for the commands after them. A document that is for readers without
the repository says so in a line `<!-- commands: need only the installed programs and this page -->`;
its commands see no other file, except pictures that stand next to the page. Commands of a page with the line
`<!-- commands: need only the installed programs and the files next to this page -->` see the files of its folder, and no others.

Links: a relative one must lead to a file, and its `#part` to a heading of that file. Every page of
docs/ is at most two clicks from README.md, and so is every answer to a question of a newcomer
(docs/guide/Questions.md): an answer is a link with a `#part`.

Length: a page of docs/guide/ answers one question within two screens, which is 120 lines. A few may
be longer: the tutorials, which are one walk each, and lists to look things up in. A page of docs/internals/ is
no longer than 200 lines.

Prints each case that fails, then 'N passed, N failed'. With --write, an expected line that differs from the printed one
only in its numbers is first put right in its document, and so is a picture (`cmp new.svg shown.svg`).
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
HERE_DOCUMENT = re.compile(r"<<'(\w+)'")
ALONE = "<!-- commands: need only the installed programs and this page -->"
IN_FOLDER = "<!-- commands: need only the installed programs and the files next to this page -->"
TIMEOUT_SECONDS = 120
START = ROOT / "README.md"
QUESTIONS = ROOT / "docs/guide/Questions.md"
LEAST_QUESTIONS = 10
MOST_CLICKS = 2
MOST_LINES = {"docs/guide": 120, "docs/internals": 200}
LONG_PAGES = {"docs/guide/Tutorial.md", "docs/guide/Simulated.md", "docs/guide/Nki.md", "docs/guide/NkiTutorial.md",
              "docs/guide/NkiMeasured.md"}


class Case:
    """One command of a document, with the output it should have."""

    def __init__(self, document, line, command):
        self.document = document
        self.line = line
        self.command = command
        self.expected = []
        self.numbers = []  # of the lines of `expected`

    def place(self):
        return f"{self.document.relative_to(ROOT)}:{self.line}"


def fenced_blocks(document):
    """Yields (language, line number of the first line, lines) of each fenced block."""
    language, first, lines = None, 0, []
    for number, line in enumerate(document.read_text(encoding="utf-8").splitlines(), 1):
        if not line.startswith("```"):
            if language is not None:
                lines.append(line)
            continue
        if language is None:
            language, first, lines = line[3:].strip(), number + 1, []
        else:
            yield language, first, lines
            language = None


def cases_of(document):
    cases = []
    for language, first, lines in fenced_blocks(document):
        if language != "console":
            continue
        continued, end = False, None  # `end`: of the here-document that the line is in
        for number, line in enumerate(lines, first):
            if continued or end:
                cases[-1].command += "\n" + line
                end = None if line == end else end
            elif line.startswith("$ "):
                cases.append(Case(document, number, line[2:]))
            elif number == first:
                raise SystemExit(f"error: {document}:{number}: a console block begins with '$ '")
            else:
                cases[-1].expected.append(line.rstrip())
                cases[-1].numbers.append(number)
            begins = continued or line.startswith("$ ")
            here = HERE_DOCUMENT.search(line) if begins else None
            end = here[1] if here else end
            continued = begins and line.endswith("\\")
        if end:
            raise SystemExit(f"error: {document}:{first}: no line '{end}' ends the here-document")
    return cases


def module_of(document):
    """The text of a document's `mlir` blocks; None if it has none."""
    parts = []
    for language, first, lines in fenced_blocks(document):
        if language == "mlir":
            text = "\n".join(lines)
            whole = text.startswith(("tally.kernel", "tally.code"))
            parts.append(text if whole else f'tally.kernel @line_{first} {{\ntally.engine "e"\n{text}\n}}')
    return "\n\n".join(parts) + "\n" if parts else None


def line_matches(expected, actual):
    if expected.endswith("..."):
        return actual.startswith(expected[:-3])
    return expected == actual


def output_matches(expected, actual):
    """Whether the lines match, `...` being any number of lines (greedy with retreat)."""
    reached = {0}  # how many actual lines the expected ones so far can have used up
    for line in expected:
        if line.strip() == "...":
            reached = set(range(min(reached, default=len(actual) + 1), len(actual) + 1))
        else:
            reached = {n + 1 for n in reached if n < len(actual) and line_matches(line, actual[n])}
    return len(actual) in reached


def but_for_numbers(line):
    return re.sub(r" +", " ", re.sub(r"[0-9][0-9.,]*", "0", line))


def renumbered_line(expected, actual):
    if line_matches(expected, actual):
        return expected
    if expected.endswith("..."):
        start = but_for_numbers(expected[:-3])
        return actual[: len(expected) - 3] + "..." if but_for_numbers(actual).startswith(start) else None
    return actual if but_for_numbers(expected) == but_for_numbers(actual) else None


def renumbered(expected, actual):
    """The expected lines with the numbers of the actual ones; None if they differ in more than numbers."""
    ways = {0: []}  # by how many actual lines are used up: what the expected lines so far become
    for line in expected:
        following = {}
        for used, done in ways.items():
            if line.strip() == "...":
                for end in range(used, len(actual) + 1):
                    following.setdefault(end, done + [line])
            elif used < len(actual) and (new := renumbered_line(line, actual[used])) is not None:
                following.setdefault(used + 1, done + [new])
        ways = following
    return ways.get(len(actual))


def put_right(case, actual):
    """Writes the numbers of the actual lines into the document, if they are all that differs."""
    lines = renumbered(case.expected, actual)
    if lines:
        text = case.document.read_text(encoding="utf-8").splitlines(keepends=True)
        for number, line in zip(case.numbers, lines):
            text[number - 1] = line + "\n"
        case.document.write_text("".join(text), encoding="utf-8")
        case.expected = lines


def without_repetition(lines):
    """Without the command that finds the same again, which would only say what the reader has just read."""
    kept = []
    for line in lines:
        if line.startswith("again: tally "):
            if kept and not kept[-1]:
                kept.pop()
        else:
            kept.append(line)
    return kept


def without_progress(lines):
    """Without what is said of a trace that takes more than some seconds, which depends on the machine."""
    return [line for line in lines if not re.match(r"\.\.\. \d+ operations after \d+ s", line)]


def expects_nothing(case):
    """Whether any output would do, though the document shows a block of it."""
    return bool(case.expected) and all(line.strip() in ("", "...") for line in case.expected)


def run(case, folder, programs, write=False):
    """None if the command does what the document says, or what it did instead."""
    if expects_nothing(case):
        return "any output would do: show a line that matters next to '...', or no line"
    environment = dict(os.environ, TMP=str(folder), PATH=f"{programs}:{os.environ['PATH']}")
    command = re.sub(r"^cmp (?=\S+\.svg \S+\.svg$)", "cp ", case.command) if write else case.command
    try:
        done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, errors="replace", timeout=TIMEOUT_SECONDS)
    except subprocess.TimeoutExpired:
        return f"did not end within {TIMEOUT_SECONDS} s"
    actual = without_progress([line.rstrip() for line in done.stdout.splitlines()])
    if done.returncode != 0:
        return "\n".join([f"exit status {done.returncode}, with this output:", *actual])
    if not any(line.startswith("again: ") for line in case.expected):
        actual = without_repetition(actual)
    if write and case.expected and not output_matches(case.expected, actual):
        put_right(case, actual)
    if case.expected and not output_matches(case.expected, actual):
        return "\n".join(["other output than documented:", *actual])
    return None


def link_files(document, folder):
    """Makes the files that a document's commands may use reachable from `folder` by the same names."""
    lines = document.read_text(encoding="utf-8").splitlines()
    if ALONE in lines or IN_FOLDER in lines:
        for file in sorted(document.parent.glob("*" if IN_FOLDER in lines else "*.svg")):
            (folder / file.name).symlink_to(file)
        return
    for entry in sorted(ROOT.iterdir()):
        if not entry.name.startswith("."):
            (folder / entry.name).symlink_to(entry)


def results_of_commands(document, programs, write):
    """(name, problem or None) of each command of a document, in their order."""
    results = []
    with tempfile.TemporaryDirectory(prefix="tally-docs-") as name:
        folder = Path(name)
        link_files(document, folder)
        for case in cases_of(document):
            results.append((f"{case.place()}: {case.command}", run(case, folder, programs, write)))
        module = module_of(document)
        if module:
            (folder / "module.mlir").write_text(module, encoding="utf-8")
            case = Case(document, 1, "tally-opt module.mlir >/dev/null")
            results.append((f"{document.relative_to(ROOT)}: its mlir blocks", run(case, folder, programs)))
    return results


def anchors_of(document):
    """The names that `#...` links to a document may have, made as code hosts make them."""
    anchors = set()
    in_fence = False
    for line in document.read_text(encoding="utf-8").splitlines():
        in_fence ^= line.startswith("```")
        if line.startswith("#") and not in_fence:
            words = re.sub(r"[^\w\- ]", "", line.lstrip("#").strip().lower())
            anchors.add(words.replace(" ", "-"))
    return anchors


def without_code(text):
    """The text without fenced blocks and `code`, in which brackets are not links."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"`[^`\n]*`", "", text)


def links_of(document):
    """(link as written, file, part) of each relative link."""
    for target in LINK.findall(without_code(document.read_text(encoding="utf-8"))):
        if not re.match(r"[a-z]+:", target):
            path, _, part = target.partition("#")
            yield target, (document.parent / path).resolve() if path else document, part


def bad_links(document):
    bad = []
    for target, file, part in links_of(document):
        if not file.exists():
            bad.append(f"no file '{target}'")
        elif part and part not in anchors_of(file):
            bad.append(f"no heading '{target}'")
    return bad


def clicks_from(start):
    """How many links lead from a document to each file; a picture or a program has no links of its own."""
    clicks = {start: 0}
    waiting = [start]
    for document in waiting:
        for _, file, _ in links_of(document):
            if file not in clicks and file.exists():
                clicks[file] = clicks[document] + 1
                if file.suffix == ".md":
                    waiting.append(file)
    return clicks


def far_pages():
    """Pages of docs/ that are too many clicks from the start."""
    clicks = clicks_from(START)
    return [f"{page.relative_to(ROOT)} is {clicks.get(page, 'no number of')} clicks from {START.name}; {MOST_CLICKS} are allowed"
            for page in sorted((ROOT / "docs").rglob("*.md")) if clicks.get(page, MOST_CLICKS + 1) > MOST_CLICKS]


def far_answers():
    """Questions of newcomers without an answer that is near: a heading, at most two clicks away."""
    bad, asked = [], 0
    clicks = clicks_from(START)
    for entry in re.split(r"^(?=\d+\. )", QUESTIONS.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        asked += 1
        question = re.match(r"\d+\. \*\*(.+?\?)\*\*", entry, re.DOTALL)
        answers = [target for target in LINK.findall(without_code(entry)) if "#" in target]
        if not question or not answers:
            bad.append(f"no question in bold, or no link to a heading, in: {entry.splitlines()[0]}")
        elif clicks.get(QUESTIONS, MOST_CLICKS) + 1 > MOST_CLICKS:
            bad.append(f"the answer is too many clicks from {START.name}: {question[1]}")
    if asked < LEAST_QUESTIONS:
        bad.append(f"{asked} questions; there are to be {LEAST_QUESTIONS}")
    return bad


def long_pages(root, folder):
    """Pages of a folder that are longer than they may be."""
    for page in sorted((root / folder).rglob("*.md")):
        count, name = len(page.read_text(encoding="utf-8").splitlines()), str(page.relative_to(root))
        if count > MOST_LINES[folder] and name not in LONG_PAGES:
            yield f"{name} has {count} lines; {MOST_LINES[folder]} are allowed: make two pages of it"


def markdown_files():
    ignored = {".git", "build"}
    return [path for path in sorted(ROOT.rglob("*.md"))
            if not any(part in ignored or part.startswith("build")
                       for part in path.relative_to(ROOT).parts[:-1])]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default=ROOT / "build/release/bin", type=Path,
                        help="where the built programs are")
    parser.add_argument("documents", nargs="*", metavar="DOCUMENT", type=lambda name: Path(name).resolve(),
                        help="run only the commands of these (default: README.md and all of docs/)")
    parser.add_argument("--write", action="store_true", help="put numbers right in the documents")
    parser.add_argument("--results", type=Path, help="a file for the two numbers")
    options = parser.parse_args()

    counts = {"passed": 0, "failed": 0}

    def report(name, problem):
        counts["failed" if problem else "passed"] += 1
        if problem:
            print(f"FAILED {name}\n{problem}\n")

    documents = options.documents or [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    with ThreadPoolExecutor(os.cpu_count()) as pool:  # commands of one page follow one another
        for results in pool.map(lambda page: results_of_commands(page, options.bin.resolve(), options.write), documents):
            for name, problem in results:
                report(name, problem)
    for document in [] if options.documents else markdown_files():
        report(f"links of {document.relative_to(ROOT)}", "\n".join(bad_links(document)))
    if not options.documents:
        report("clicks from README.md to each page", "\n".join(far_pages()))
        report("clicks from README.md to each answer", "\n".join(far_answers()))
        for folder in MOST_LINES:
            report(f"length of each page of {folder}", "\n".join(long_pages(ROOT, folder)))

    print(f"{counts['passed']} passed, {counts['failed']} failed")
    if options.results:
        options.results.write_text(f"{counts['passed']} {counts['failed']}\n", encoding="utf-8")
    sys.exit(1 if counts["failed"] else 0)


if __name__ == "__main__":
    main()
