"""One test ends its process after its call, and so the one after it does not begin."""

import os
import signal

import numpy as np
from prepared import after_the_end, before_the_end

x = np.random.rand(32, 16).astype(np.float32)


def test_before():
    before_the_end(x)
    os.kill(os.getpid(), signal.SIGSEGV)  # as code does that is not in Python


def test_after():
    np.testing.assert_allclose(after_the_end(x), 2 * x)
