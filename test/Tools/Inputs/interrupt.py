"""interrupt.py [--children=N] [--kill] COMMAND...: starts a long command, sends it SIGINT once it is ready for that,
and prints what it says and its exit status. With --children once it has N processes below it, which
then have to end as well; with --kill by SIGKILL, so that it can do nothing about them. A command that goes on computing
for more than a second has not listened."""

import os
import resource
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


def computed(process):
    """Its state, and for how many seconds it has computed; nothing if it has ended."""
    try:
        with open(f"/proc/{process.pid}/stat", encoding="ascii") as stat:
            state, *numbers = stat.read().rpartition(")")[2].split()
    except OSError:
        return "Z", 0
    return state, (int(numbers[10]) + int(numbers[11])) / os.sysconf("SC_CLK_TCK")


def is_at_work(process, since):
    """Whether it has computed for a while, or waits for something, as for input."""
    state, seconds = computed(process)
    return state == "Z" or seconds >= 0.4 or (state == "S" and time.monotonic() - since >= 1)


def parents():
    """Of each process that there is."""
    parent = {}
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{entry}/stat", encoding="utf-8", errors="replace") as stat:
                state, above, *_ = stat.read().rpartition(")")[2].split()
        except OSError:
            continue
        if state not in "ZX":
            parent[int(entry)] = int(above)
    return parent


def processes_below(process):
    parent = parents()
    below = {process.pid}
    while more := {each for each, above in parent.items() if above in below} - below:
        below |= more
    return below - {process.pid}


def has_children():
    children.update(processes_below(process))
    return len(children) >= num_children


children = set()
command = sys.argv[1:]
num_children = int(command.pop(0).partition("=")[2]) if command[0].startswith("--children=") else 0
is_killed = command[0] == "--kill"
command = command[is_killed:]
# A runner of tests may ignore the signal, which its children inherit.
process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
end = time.monotonic() + 60
while not catches(process, signal.SIGINT) and process.poll() is None:
    if time.monotonic() > end:
        sys.exit("it never waits for a signal")
    time.sleep(0.01)
since = time.monotonic()
while not (has_children() and is_at_work(process, since)) and process.poll() is None:
    if time.monotonic() > end:
        sys.exit("it does not get to work")
    time.sleep(0.01)
_, before = computed(process)
process.send_signal(signal.SIGKILL if is_killed else signal.SIGINT)
if num_children:  # which may hold what it writes to
    process.wait(timeout=60)
    end = time.monotonic() + 2  # less than they would take by themselves
    while left := children & parents().keys():
        if time.monotonic() > end:
            sys.exit(f"{len(left)} processes are still there")
        time.sleep(0.01)
output, _ = process.communicate(timeout=60)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
more = used.ru_utime + used.ru_stime - before
if not num_children and more > 1:
    print(f"it went on for {more:.1f} s")
sys.stdout.write(output.decode())
print(f"exit {process.returncode}")
