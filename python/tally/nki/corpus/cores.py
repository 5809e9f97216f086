"""The programs of a launch grid, run together: each is a core that may send to others and wait for them.

One of them runs at a time, and goes on until it waits: for a message that was not sent yet, or at a barrier
that others have not reached. Then the next one runs. So what happens is the same in each run. They share
their tensors in HBM.
"""

import threading

from ..refusal import Refusal


class Cores:
    def __init__(self, count):
        self.count, self.turn, self.done = count, 0, set()
        self.mail, self.barriers = {}, [0] * count
        self.waited = 0  # how often the turn was passed on since anything happened
        self.changed = threading.Condition()
        self.shared = {}  # tensors in HBM
        self.failed = False  # one of them has raised something, so no other goes on

    def run(self, functions):
        """Results and errors, by program."""
        results, errors = [None] * self.count, [None] * self.count

        def program(me):
            with self.changed:
                self.changed.wait_for(lambda: self.turn == me)
            try:
                results[me] = functions[me]() if not self.failed else None
            except BaseException as error:  # told to the caller
                errors[me], self.failed = error, True
            finally:
                self.waited = 0
                self.done.add(me)
                self._pass_on(me)

        threads = [threading.Thread(target=program, args=(me,), daemon=True) for me in range(self.count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return results, errors

    def exchange(self, me, to, source, pipe, array):
        """Sends to one program, and gives what another one sends."""
        self.mail.setdefault((me, to, pipe), []).append(array)
        self.waited = 0
        letters = self.mail.setdefault((source, me, pipe), [])
        self._wait(me, lambda: letters, f"a message from program {source}")
        return letters.pop(0)

    def barrier(self, me):
        self.barriers[me] += 1
        self.waited = 0
        self._wait(me, lambda: all(count >= self.barriers[me] or core in self.done
                                   for core, count in enumerate(self.barriers)), "other programs at a barrier")

    def _wait(self, me, ready, what):
        while not ready():
            if self.waited > self.count:
                raise Stuck(f"program {me} waits for {what}, and that never comes")
            self.waited += 1
            self._pass_on(me)
            with self.changed:
                self.changed.wait_for(lambda: self.turn == me)
            if self.failed:
                raise Stuck("another program has ended")

    def _pass_on(self, me):
        with self.changed:
            others = [(me + step) % self.count for step in range(1, self.count + 1)]
            self.turn = next((core for core in others if core not in self.done), -1)
            self.changed.notify_all()


class Stuck(Refusal):
    """All programs wait; another one of them may have ended for a reason of its own."""
