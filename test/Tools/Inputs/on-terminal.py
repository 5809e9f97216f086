"""Runs a command whose stderr, or stdout, is a terminal, and prints what that shows, escapes as `^[`.

usage: on-terminal.py [--stdout] COMMAND...
"""

import os
import pty
import subprocess
import sys

master, terminal = pty.openpty()
shows_stdout = sys.argv[1] == "--stdout"
done = subprocess.Popen(sys.argv[2:] if shows_stdout else sys.argv[1:], stdin=subprocess.DEVNULL,
                        stdout=terminal if shows_stdout else subprocess.DEVNULL,
                        stderr=subprocess.DEVNULL if shows_stdout else terminal, env=dict(os.environ, TERM="xterm"))
os.close(terminal)
shown = b""
while True:
    try:
        part = os.read(master, 4096)
    except OSError:  # the other end is closed
        break
    if not part:
        break
    shown += part
done.wait()
print(shown.decode().replace("\x1b", "^[").replace("\r\n", "\n"), end="")
