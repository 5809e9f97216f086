#!/usr/bin/env python3
"""Gives a collection of hostile code to the checker of certificates, and to the outside interpreter.

usage: python3 utils/outside/hostile.py --certify=PATH [--show] [FILE...]

Each file is a small edit of a base document of code JSON, with the verdict that it must get and why;
without FILE, all of test/Certify/hostile. docs/internals/testing/Certified.md says what is in them:

    base      the document that is edited, in bases/
    edits     in order: {"at": PATH, "was": VALUE, "is": VALUE}. Without "was" something new is put there (in a
              list: before what has that place), without "is" what was there goes. A step of PATH is a key, a place,
              "end", or the name of an engine, loop, branch, instruction or queue
    json      edits of the text of the base, before it is read: {"text": OLD, "is": NEW}
    text      edits of the text of the certificate
    verdict   "certified", "rejected", "not covered", or "error": it cannot be read
    says      words of the answer
    judged    what the outside interpreter says of the code when it runs it: "yes", what is wrong (a kind of
              finding, as "early"), "could not decide", or "malformed". "certified" goes with "yes" alone, or with
              "overflow" where the answer names a condition
    because   for people: what is wrong with it, or why it is right

--show prints the answers. Exit status 1 if one is not as expected.
"""

import argparse
import glob
import json
import os
import random
import subprocess
import sys
import tempfile

import documents
from certificate import certificate_of
from choices import choose
from judge import judge

FOLDER = os.path.join(os.path.dirname(__file__), "..", "..", "test", "Certify", "hostile")
CHOICES = 12
SECONDS = 60
NAMES = ("engine", "name", "loop", "if", "instr")
VERDICTS = ("certified", "rejected", "not covered", "error")


class Stale(Exception):
    """The file does not fit its base."""


# ---- Edits --------------------------------------------------------------------------------


def step_into(value, step):
    """The key or place that a step means."""
    if isinstance(value, dict):
        return step
    if step == "end":
        return len(value)
    if step.isdigit():
        return int(step)
    named = [place for place, item in enumerate(value) if step in (item.get(key) for key in NAMES)]
    if not named:
        raise Stale(f"nothing is called '{step}'")
    return named[0]


def edit(document, change):
    """One edit, in place."""
    documents.check_fields(change, "edits", ("at",), ("was", "is"))
    at = change["at"]
    *steps, last = at.split("/")
    try:
        for step in steps:
            document = document[step_into(document, step)]
        key = step_into(document, last)
        if "was" not in change:
            put(document, key, change["is"], at)
        elif document[key] != change["was"]:
            raise Stale(f"{at} is {json.dumps(document[key])}")
        elif "is" in change:
            document[key] = change["is"]
        else:
            del document[key]
    except (KeyError, IndexError, TypeError) as error:
        raise Stale(f"{at}: {error!r}") from None


def put(document, key, value, at):
    if isinstance(document, list):
        document.insert(key, value)
    elif key in document:
        raise Stale(f"{at} is there already")
    else:
        document[key] = value


def edit_text(text, change):
    if text.count(change["text"]) != 1:
        raise Stale(f"'{change['text']}' is there {text.count(change['text'])} times")
    return text.replace(change["text"], change["is"])


# ---- One file -----------------------------------------------------------------------------


class Case:
    """What a file asks for. `document` and `certificate` are None if the JSON or the code cannot be read, for `unread`."""

    def __init__(self, path):
        self.name = os.path.relpath(path, FOLDER)
        with open(path, encoding="utf-8") as file:
            self.asks = json.load(file)
        documents.check_fields(self.asks, self.name, ("base", "verdict", "judged", "because"),
                               ("edits", "json", "text", "says"))
        self.document = self.certificate = self.unread = None
        text = read(os.path.join(FOLDER, "bases", self.asks["base"]))
        for change in self.asks.get("json", ()):
            text = edit_text(text, change)
        try:
            self.document = documents.parse(text)
            for change in self.asks.get("edits", ()):
                edit(self.document, change)
            self.certificate = certificate_of(self.document)
        except documents.Wrong as error:
            self.unread = f"error: {error}"
            return
        for change in self.asks.get("text", ()):
            self.certificate = edit_text(self.certificate, change)

    def answer(self, certify, folder):
        """What the checker says."""
        if self.unread:
            return self.unread
        path = os.path.join(folder, "case.cert")
        # Edits of the text may name single bytes.
        with open(path, "wb") as file:
            file.write(self.certificate.encode("utf-8", "surrogateescape"))
        done = subprocess.run([certify, path], capture_output=True, text=True, timeout=SECONDS, check=False)
        if done.returncode not in (0, 1, 2):
            return f"exit {done.returncode}"
        return (done.stdout + done.stderr).strip()

    def judged(self):
        """What the outside interpreter says of the code; it sees no edits of the certificate's text."""
        if self.document is None:
            return "malformed"
        try:
            code = documents.Code(self.document)
            verdict, _ = judge(code, choose(code.kernel, random.Random(1), CHOICES), exact=True)
            return verdict.findings[0].kind if verdict.findings else verdict.answer()
        except documents.Wrong:
            return "malformed"

    def complaints(self, answer):
        verdict = answer.split(":")[0]
        if "\n" in answer:
            yield "the answer is more than one line"
        if verdict != self.asks["verdict"]:
            yield f"expected {self.asks['verdict']}"
        if self.asks.get("says", "") not in answer:
            yield f"expected '{self.asks['says']}'"
        judged = self.judged()
        if judged != self.asks["judged"]:
            yield f"the outside interpreter says {judged}, expected {self.asks['judged']}"
        conditional = judged == "overflow" and "; while no " in answer
        if verdict == "certified" and judged != "yes" and not conditional:
            yield "certified, though running it does not show it to be right"


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


# ---- All files ----------------------------------------------------------------------------


def files_of(folder):
    return sorted(path for path in glob.glob(os.path.join(folder, "**", "*.json"), recursive=True)
                  if os.path.basename(os.path.dirname(path)) != "bases")


def check(path, certify, folder, show):
    """Whether the answer is as expected."""
    try:
        case = Case(path)
        answer = case.answer(certify, folder)
        complaints = list(case.complaints(answer))
    except Stale as error:
        answer, complaints = "", [f"it does not fit its base: {error}"]
    if show or complaints:
        print(f"{os.path.relpath(path, FOLDER)}: {answer}")
    for complaint in complaints:
        print(f"  WRONG: {complaint}")
    return not complaints


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n\n")[0])
    parser.add_argument("--certify", required=True)
    parser.add_argument("--show", action="store_true")
    parser.add_argument("files", nargs="*")
    options = parser.parse_args()
    paths = options.files or files_of(FOLDER)
    with tempfile.TemporaryDirectory() as folder:
        right = [check(path, options.certify, folder, options.show) for path in paths]
    print(f"hostile: {len(right)} files, {len(right) - sum(right)} not as expected")
    return 0 if right and all(right) else 1


if __name__ == "__main__":
    sys.exit(main())
