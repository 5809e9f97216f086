"""A page says under what its runs were found, for readers at each size of the window, and its command makes the same page.

usage: check-conditions.py PAGE.html RUN.json...

RUN.json    `tally sim --format=json` of each timeline, under the conditions of the page

Each condition must be on the page as shown: within the window, in a size and a colour that can be read. Then the command is
taken from the page and run, so PAGE.html must be where the command writes it.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

from browser import READY, Browser

SIZES = (500, 1232, 2000)

# The text of an element as shown, whether it is within the window's width, the size of its letters, and whether they have another
# colour than the paper.
SHOWN = """(() => {
  const element = document.querySelector(%s);
  if (!element) return null;
  const box = element.getBoundingClientRect(), style = getComputedStyle(element);
  const paper = getComputedStyle(document.body).backgroundColor;
  return {text: element.innerText, fits: box.left >= 0 && box.right <= innerWidth && element.scrollWidth <= element.clientWidth + 1,
          height: box.height, letters: parseFloat(style.fontSize), differs: style.color !== paper && style.visibility === "visible"};
})()"""


def shown(page, selector):
    found = page.value(SHOWN % json.dumps(selector))
    assert found, f"nothing is '{selector}'"
    readable = found["fits"] and found["height"] > 10 and found["letters"] >= 10 and found["differs"]
    assert readable, f"'{selector}' cannot be read: {found}"
    return found["text"]


def expected_lines(run):
    """What the page says of a run, line by line."""
    why = run.get("machine_not_given")
    yield f"machine: {run['machine']}" + (f" (not given: {why})" if why else "")
    trips = [*run["trips"], *(f"{trip} (not given)" for trip in run["trips_not_given"])]
    if trips:
        yield f"trips: {'; '.join(trips)}"
    if "guards" in run:
        yield f"guards: seed {run['guards']}" + ("" if run["guards_given"] else " (not given)")
    yield f"seed: {run['seed']}, " + ("delays of up to 25%" if run["seed"] else "no random delays")


def check_size(page, runs):
    lines = shown(page, "#conditions").rstrip("\n").split("\n")
    for run in runs:
        for line in expected_lines(run):
            assert line in lines, f"no line '{line}' in {lines}"
        row = f'#summary tr[data-strategy="{run["strategy"]}"] td'
        assert shown(page, row) == run["strategy"], f"the row of '{run['strategy']}' has another name"
    assert lines[-1].startswith("tally report "), f"no command in {lines}"
    return lines[-1]


def without_conditions(path):
    """What was chosen the first time is given the second time, and nothing else differs."""
    return re.sub(r'<pre id="conditions">.*?</pre>', "", path.read_text(encoding="utf-8"), flags=re.S)


def again(path, command):
    """The page that the command writes; then the first one is put back."""
    before = path.read_bytes()
    subprocess.run(["bash", "-c", command], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    found = without_conditions(path)
    path.write_bytes(before)
    return found


def main():
    path = Path(sys.argv[1])
    runs = [json.loads(Path(name).read_text(encoding="utf-8"))["runs"][0] for name in sys.argv[2:]]
    commands = set()
    with Browser() as browser:
        for width in SIZES:
            page = browser.open(path, width)
            assert page.wait_for(READY), f"the page is not ready: {page.errors}"
            commands.add(check_size(page, runs))
            assert not page.errors, page.errors
    assert len(commands) == 1, f"several commands: {commands}"
    assert again(path, commands.pop()) == without_conditions(path), "the command of the page makes another page"


main()
