"""A page of about a million pieces is small, and soon there.

usage: check-many.py PAGE.html
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from page_data import unpacked

MOST_BYTES, MOST_SECONDS = 20_000_000, 3.0


def seconds(address):
    """Of a browser that opens the page and shows it."""
    with tempfile.TemporaryDirectory() as home:
        start = time.monotonic()
        done = subprocess.run(
            ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--no-first-run", "--disable-background-networking", "--proxy-server=127.0.0.1:9",
             f"--user-data-dir={home}", "--virtual-time-budget=1000", f"--screenshot={home}/page.png", address],
            stdin=subprocess.DEVNULL, capture_output=True, timeout=120, env=dict(os.environ, HOME=home))
        assert done.returncode == 0 and Path(home, "page.png").stat().st_size > 1000
        return time.monotonic() - start


page = Path(sys.argv[1])
count = sum(len(lane["gap"]) for run in unpacked(page.read_text())["runs"] for lane in run["lanes"])
assert 900_000 <= count <= 1_000_000, f"{count} pieces"
assert page.stat().st_size <= MOST_BYTES, f"{page.stat().st_size} bytes"
with tempfile.TemporaryDirectory() as folder:
    empty = Path(folder) / "empty.html"
    empty.write_text("<!DOCTYPE html><title>empty</title><p>empty")
    # The machine may do other things: what it can do is the least of a few.
    least = min(seconds(page.resolve().as_uri()) for _ in range(3))
    start = min(seconds(empty.as_uri()) for _ in range(3))
print(f"{count} pieces, {page.stat().st_size} bytes, shown after {least - start:.2f} s")
if least - start > MOST_SECONDS:
    sys.exit(f"shown after {least - start:.2f} s, expected {MOST_SECONDS}")
