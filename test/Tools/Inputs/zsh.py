"""What zsh offers for a line and a tab, in a terminal of its own, as a user sees it.

usage: zsh.py FUNCTIONS LINE...
"""

import os
import pty
import select
import sys
import time

PROMPT = "ready> "
LONGEST_SECONDS = 20


class Shell:
    """An interactive zsh without the files of a user."""

    def __init__(self, functions):
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.environ.update(TERM="dumb", PS1=PROMPT, LINES="200", COLUMNS="200")
            os.execvp("zsh", ["zsh", "-f", "-i"])
        self.read_until(PROMPT)
        self.send(f"fpath=({functions} $fpath); autoload -U compinit; compinit -u -D; setopt no_beep\n")
        self.read_until("no_beep")
        self.read_until(PROMPT)

    def send(self, text):
        os.write(self.terminal, text.encode())

    def read(self, seconds):
        if not select.select([self.terminal], [], [], seconds)[0]:
            return ""
        return os.read(self.terminal, 1 << 16).decode(errors="replace")

    def read_until(self, end):
        text, until = "", time.monotonic() + LONGEST_SECONDS
        while end not in text:
            if time.monotonic() > until:
                sys.exit(f"zsh does not say '{end}' but: {text}")
            text += self.read(1)
        return text

    def offered(self, line):
        """All that comes until zsh is quiet; the list ends with the prompt, drawn again."""
        self.send(line + "\t")
        text, until = "", time.monotonic() + LONGEST_SECONDS
        while time.monotonic() < until:
            more = self.read(1 if text.count("\n") > 1 else 3)
            if not more:
                break
            text += more
        self.send("\x03")  # the line is given up
        self.read_until(PROMPT)
        return text


def main():
    shell = Shell(sys.argv[1])
    for line in sys.argv[2:]:
        print(f"--- {line}")
        print(" ".join(shell.offered(line).replace(line, "", 1).split()))
    shell.send("exit\n")
    os.waitpid(shell.pid, 0)


main()
