"""What the code of an engine does, by itself: its list of waits, issues, signals, resets and drains.

Control never reads memory and never reads semaphores other than by waiting, so the list depends on
the decisions alone. Every threshold in it is a number.
"""

from walk import Limit

WAIT, ISSUE, SIGNAL, RESET, DRAIN = "wait", "issue", "signal", "reset", "drain"


class Operation:
    """`semaphore` and `number` are those of a wait (threshold), a signal (amount) or a reset (count);
    of an issue those of its signal, or None; `run` is what is issued."""

    def __init__(self, kind, semaphore=None, number=None, run=None, dependences=()):
        self.kind = kind
        self.semaphore = semaphore
        self.number = number
        self.run = run
        self.dependences = dependences

    def __repr__(self):
        if self.kind == ISSUE:
            return f"issue {self.run}"
        return f"{self.kind} {self.semaphore} {self.number}"


class NotAsTheKernel(Exception):
    """The code does not issue what the kernel says [json/Execution.md#when-code-is-right]."""


class Control:
    """Executes the operations of one engine [json/Execution.md#engines]."""

    def __init__(self, code, engine, choice, runs, most=100_000):
        self.machine = code.machine
        self.kernel = code.kernel
        self.engine = engine
        self.choice = choice
        self.steps_left = most
        self.registers = [0] * len(code.registers.get(engine, []))  # [json/Execution.md#registers]
        self.iterations = {}  # of loops, from 0
        self.reached = {}
        self.operations = []
        self.waiting_for = ()
        self.expected = iter(runs)
        self.block(code.programs.get(engine, []))
        left = next(self.expected, None)
        if left:
            raise NotAsTheKernel(f"engine '{engine}' never issues {left}")

    def block(self, operations):
        for operation in operations:
            self.steps_left -= 1
            if self.steps_left < 0:
                raise Limit()
            getattr(self, "do_" + operation["op"])(operation)

    def value(self, operand):
        return self.registers[operand["register"]] if "register" in operand else operand["value"]

    # ---- Registers [json/Execution.md#registers] ----

    def do_alu(self, operation):
        a = self.value(operation["a"])
        b = self.value(operation["b"]) if "b" in operation else 0
        self.registers[operation["dst"]] = self.compute(operation["operation"], a, b)

    def compute(self, operation, a, b):
        if operation == "move":
            return a
        if operation == "add":
            return (a + b) % self.machine.range
        if operation == "mul":
            return a * b % self.machine.range
        if operation == "min":
            return min(a, b)
        if operation == "gt":
            return int(a > b)
        return max(0, a - b) if self.machine.saturates else (a - b) % self.machine.range

    # ---- Loops, branches and `when` [json/Execution.md#loops-branches-and-when] ----

    def do_loop(self, operation):
        loop = self.kernel.loops[operation["loop"]]
        trips = self.choice.trips_of(loop, self.engine, self.reach(loop), self.iterations)
        for iteration in range(1, trips + 1):
            self.iterations[loop.name] = iteration - 1
            if operation["counter"] is not None:
                self.registers[operation["counter"]] = iteration % self.machine.range
            self.block(operation["body"])

    def do_if(self, operation):
        branch = self.kernel.ifs[operation["if"]]
        then = self.choice.takes_then(branch, self.engine, self.reach(branch), self.iterations)
        self.block(operation["then"] if then else operation.get("else", []))

    def reach(self, what):
        """The n-th time here is the n-th time in the kernel."""
        count = self.reached.get(what, 0)
        self.reached[what] = count + 1
        return count

    def do_when(self, operation):
        if self.value(operation["condition"]):
            self.block(operation["body"])

    def do_barrier(self, operation):
        self.block(operation["body"])

    # ---- Issue, wait, signal [json/Execution.md#issue-wait-signal] ----

    def do_issue(self, operation):
        if operation["wait"] is not None:
            self.wait(operation["wait"])
        run = next(self.expected, None)
        if not run or run.instruction.name != operation["instr"]:
            found = f"'{operation['instr']}' of engine '{self.engine}' is issued"
            raise NotAsTheKernel(found + (f", but next is {run}" if run else " once too often"))
        signal = operation["signal"]
        self.operations.append(Operation(ISSUE, signal and signal["semaphore"], signal and signal["amount"], run,
                                         self.waiting_for))
        self.waiting_for = ()

    def do_wait(self, operation):
        self.wait(operation["wait"])

    def wait(self, wait):
        dependences = tuple(wait.get("dependences", ()))
        self.waiting_for += tuple((item, wait["semaphore"]) for item in dependences)
        self.operations.append(Operation(WAIT, wait["semaphore"], self.value(wait["threshold"]), None, dependences))

    def do_signal(self, operation):
        signal = operation["signal"]
        self.operations.append(Operation(SIGNAL, signal["semaphore"], signal["amount"]))

    def do_reset(self, operation):
        self.operations.append(Operation(RESET, operation["semaphore"], operation["count"]))

    def do_drain(self, operation):
        self.operations.append(Operation(DRAIN))


def operations_of(code, choice, meaning, most=100_000):
    """The list of each engine, in the order of the kernel's engines."""
    return {engine: Control(code, engine, choice, meaning.runs[engine], most).operations
            for engine in code.kernel.engines}

