"""Random kernels: rolled up and out again, and in tally's data, at the traced trips and at others."""

import os
import re
import tempfile
import unittest
from pathlib import Path

import numpy as np

from tally.nki import Refusal, trace_file

from . import support
from .draw import ROWS, Kernel
from .expand import expanded
from .support import differences, tensor
from .test_loads import missed, unloaded

COUNT = int(os.environ.get("TALLY_NKI_KERNELS", "6"))
SEED = int(os.environ.get("TALLY_NKI_SEED", "1"))


def values(traced):
    """What loops run by. A register that is loaded again holds another one."""
    return set(re.findall(r'"value": "(.*?)"', support.dumped(traced)))


class RandomTest(unittest.TestCase):
    def traced(self, folder, kernel, trips, **options):
        path = Path(folder) / "kernel.py"
        path.write_text(kernel.text(), encoding="utf-8")
        given = {"x": tensor(support.random(128, ROWS, 8))}
        for (name, _), number in zip(kernel.registers, trips):
            given[name] = tensor(np.array([[number]], np.int32))
        return trace_file(path, "kernel", given, **options)

    def test_static(self):
        for seed in range(SEED, SEED + COUNT):
            with self.subTest(seed=seed), tempfile.TemporaryDirectory() as folder:
                kernel = Kernel(seed)
                traced = self.traced(folder, kernel, (), keep_log=True)
                self.assertEqual(expanded(traced), traced.recorder.log)
                self.assertEqual(differences(traced, strategies=("auto",)), [], kernel.text())

    def test_dynamic(self):
        said = 0
        for seed in range(SEED, SEED + COUNT):
            with self.subTest(seed=seed), tempfile.TemporaryDirectory() as folder:
                kernel = Kernel(seed, dynamic=True)
                try:
                    trips = [trips for _, trips in kernel.registers]
                    traced = self.traced(folder, kernel, trips, keep_log=True)
                except Refusal:
                    continue
                said += 1
                self.assertTrue(missed(traced) or not unloaded(traced), kernel.text())
                self.assertEqual(expanded(traced), traced.recorder.log)
                for change in (0, -2, 2):
                    trips = [max(0, min(6, trips + change)) for _, trips in kernel.registers]
                    again = self.traced(folder, kernel, trips, only_run=True)
                    bound = [f"{value}={number}" for (name, _), number in zip(kernel.registers, trips)
                             for value in values(traced) if value.partition(".")[0] == f"register_{name}"]
                    self.assertEqual(differences(traced, trips=bound, inputs=again.inputs,
                                                 expected=again.expected, strategies=("per-loop",)), [],
                                     kernel.text())
        self.assertGreater(said, COUNT // 2)


if __name__ == "__main__":
    unittest.main()
