"""A page of many pieces is small, is soon there, and answers a key; nothing goes wrong in it.

usage: check-many.py PAGE.html FEWEST-PIECES

The page is opened a few times, since the computer may do other things: what it can do is the least of the times. An
error of a script, or anything on the console, fails at once.
"""

import sys
from pathlib import Path

from browser import READY, Browser
from page_data import unpacked

MOST_BYTES, MOST_SECONDS = 20_000_000, 3.0
TIMES = 3


def shown(browser, path):
    """Seconds until the page is ready, and until it has answered a key."""
    page = browser.open(path)
    assert page.wait_for(READY), f"the page is not ready after {page.seconds():.0f} s: {page.errors}"
    ready = page.seconds()
    assert page.value("document.querySelectorAll('#timelines path').length") > 5, "the picture is empty"
    page.press("+")
    assert page.wait_for("location.hash.startsWith('#t=')"), f"the page does not answer a key: {page.errors}"
    answered = page.seconds()
    assert not page.errors, page.errors
    page.ask("Page.close")
    return ready, answered


def main():
    path, fewest = Path(sys.argv[1]), int(sys.argv[2])
    count = sum(len(lane["gap"]) for run in unpacked(path.read_text())["runs"] for lane in run["lanes"])
    size = path.stat().st_size
    assert count >= fewest, f"{count} pieces, expected {fewest}"
    assert size <= MOST_BYTES, f"{size} bytes, expected {MOST_BYTES}"
    with Browser() as browser:
        ready, answered = (min(times) for times in zip(*(shown(browser, path) for _ in range(TIMES))))
    print(f"{count} pieces, {size} bytes, shown after {ready:.2f} s, key answered after {answered:.2f} s")
    assert answered <= MOST_SECONDS, f"expected {MOST_SECONDS} s"


main()
