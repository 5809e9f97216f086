"""interrupt.py COMMAND...: starts a long command, sends it SIGINT once it is ready for that, and prints
what it says and its exit status."""

import os
import signal
import subprocess
import sys
import time


def catches(process, wanted):
    """Whether the process has a handler for this signal."""
    try:
        with open(f"/proc/{process.pid}/status", encoding="ascii") as status:
            for line in status:
                if line.startswith("SigCgt:"):
                    return int(line.split()[1], 16) >> (wanted - 1) & 1
    except OSError:
        pass
    return False


def is_at_work(process, since):
    """Whether it has computed for a while, or waits for something, as for input."""
    try:
        with open(f"/proc/{process.pid}/stat", encoding="ascii") as stat:
            state, *numbers = stat.read().rpartition(")")[2].split()
    except OSError:
        return True
    seconds = (int(numbers[10]) + int(numbers[11])) / os.sysconf("SC_CLK_TCK")
    return seconds >= 0.15 or (state == "S" and time.monotonic() - since >= 1)


# A runner of tests may ignore the signal, which its children inherit.
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
end = time.monotonic() + 60
while not catches(process, signal.SIGINT) and process.poll() is None:
    if time.monotonic() > end:
        sys.exit("it never waits for a signal")
    time.sleep(0.01)
since = time.monotonic()
while not is_at_work(process, since) and process.poll() is None:
    if time.monotonic() > end:
        sys.exit("it does not get to work")
    time.sleep(0.01)
process.send_signal(signal.SIGINT)
output, _ = process.communicate(timeout=60)
sys.stdout.write(output.decode())
print(f"exit {process.returncode}")
