"""Holds a page of `tally report` to what `tally sim` says of the same runs.

usage: check-report.py PAGE.html PART.html RUN.json...

RUN.json    `tally sim --format=json` of each timeline
PART.html   a page of the same runs that holds a part of them (--from, --until): what the script shows
            of this part must look as if drawn without it

The page is read as it is, and as a browser makes it of it; both must show the simulator's numbers, in
tables and as lengths of pieces. Nothing may refer to anything outside, and nothing may be said on
the browser's console. Then the script: zoomed by the address, by keys, by the wheel; asked for pieces.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from decimal import Decimal
from html.parser import HTMLParser
from pathlib import Path

VOID = {"meta", "br", "link", "input", "img", "hr"}


class Node:
    def __init__(self, tag, attributes):
        self.tag = tag
        self.attributes = dict(attributes)
        self.children = []
        self.text = ""

    def __getitem__(self, name):
        return self.attributes[name]

    def classes(self):
        return self.attributes.get("class", "").split()

    def walk(self):
        yield self
        for child in self.children:
            yield from child.walk()

    def all(self, tag, style=None):
        return [n for n in self.walk() if n.tag == tag and (not style or style in n.classes())]

    def one(self, identity):
        return next(n for n in self.walk() if n.attributes.get("id") == identity)


class Tree(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.open = [Node("", {})]
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        node = Node(tag, attributes)
        self.open[-1].children.append(node)
        if tag not in VOID:
            self.open.append(node)

    def handle_startendtag(self, tag, attributes):
        self.open[-1].children.append(Node(tag, attributes))

    def handle_endtag(self, tag):
        while self.open[-1].tag != tag:
            self.open.pop()
        self.open.pop()

    def handle_data(self, data):
        self.open[-1].text += data


def read(text):
    return Tree(text).open[0]


def equal(what, found, expected):
    if found != expected:
        sys.exit(f"{what}: found {found}, expected {expected}")


def ps(text):
    return int(Decimal(text) * 1000)


# ---- Numbers ------------------------------------------------------------------------------------


def cells(row):
    return {cell["data-key"]: int(cell["data-ps"]) for cell in row.all("td") if "data-ps" in cell.attributes}


def covered(spans):
    """The length of the union of spans."""
    total, end = 0, 0
    for start, stop in sorted(spans):
        total += max(0, stop - max(start, end))
        end = max(end, stop)
    return total


def check_tables(page, runs):
    rows = [row for row in page.one("summary").all("tr") if "data-strategy" in row.attributes]
    equal("strategies", [row["data-strategy"] for row in rows], [run["strategy"] for run in runs])
    equal("totals", [cells(row)["total"] for row in rows], [run["total_ps"] for run in runs])
    waited = defaultdict(int)
    for row in page.one("causes").all("tr"):
        for strategy, time in cells(row).items():
            waited[strategy] += time
    tables = {(kind, table["data-strategy"]): {row["data-name"]: cells(row) for row in table.all("tr")
                                               if "data-name" in row.attributes}
              for kind in ("sequencers", "queues") for table in page.all("table", kind)}
    for run in runs:
        name = run["strategy"]
        expected = {e["engine"]: {k[:-3]: v for k, v in e.items() if k.endswith("_ps")} for e in run["engines"]}
        equal(f"sequencers, {name}", tables["sequencers", name], expected)
        busy = {q["queue"]: {"busy": q["busy_ps"], "idle": run["total_ps"] - q["busy_ps"]}
                for q in run["queues"] if q["instructions"] > 0}
        equal(f"queues, {name}", tables["queues", name], busy)
        stalls = sum(e[k] for e in run["engines"] for k in ("waiting_ps", "queue_full_ps", "draining_ps"))
        equal(f"causes, {name}", waited[name], stalls)


def check_pieces(page, runs):
    """The lengths of pieces add up to the same; only for pages that show whole runs."""
    kinds = {"c": "control_ps", "f": "queue_full_ps", "d": "draining_ps"}
    panels = page.all("g", "panel")
    equal("panels", [panel["data-strategy"] for panel in panels], [run["strategy"] for run in runs])
    for panel, run in zip(panels, runs):
        engines = {e["engine"]: e for e in run["engines"]}
        queues = {q["queue"]: q for q in run["queues"]}
        for lane in panel.all("g", "lane"):
            rects = [r for group in lane.all("g", "time") for r in group.all("rect")]
            spans = [(r.classes()[0], ps(r["x"]), ps(r["x"]) + ps(r["width"])) for r in rects]
            if lane["data-queue"]:
                queue = queues[lane["data-queue"]]
                equal(f"busy, {lane['data-queue']}", covered(s[1:] for s in spans), queue["busy_ps"])
                equal(f"pieces, {lane['data-queue']}", sum(s[0] == "i" for s in spans), queue["instructions"])
                continue
            sums = dict.fromkeys(("control_ps", "waiting_ps", "queue_full_ps", "draining_ps"), 0)
            for style, start, stop in spans:
                sums[kinds.get(style, "waiting_ps")] += stop - start
            engine = engines[lane["data-engine"]]
            equal(f"lane {lane['data-engine']}", sums, {key: engine[key] for key in sums})


def check_reach(text):
    """Nothing from outside, and a browser that is told so."""
    for pattern in (r"https?:", r"\bsrc\s*=", r'href\s*=\s*"(?!#)', r"@import", r"url\((?!#)", r"<link"):
        found = re.search(pattern, text)
        if found:
            sys.exit(f"the page refers to something: {text[found.start() - 40:found.end() + 40]!r}")
    equal("policy", "default-src 'none'" in text, True)


# ---- In a browser -------------------------------------------------------------------------------


def browser():
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if shutil.which(name):
            return name
    sys.exit("no Chromium: install Debian's package 'chromium'")


def rendered(path, address=""):
    """The document after its scripts have run. Whatever stands on the console is an error."""
    with tempfile.TemporaryDirectory() as home:
        done = subprocess.run(
            [browser(), "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--no-first-run", "--disable-background-networking", "--proxy-server=127.0.0.1:9",
             f"--user-data-dir={home}", "--enable-logging=stderr", "--virtual-time-budget=2000", "--dump-dom",
             path.resolve().as_uri() + address],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=90, env=dict(os.environ, HOME=home))
    said = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    equal("console", said, [])
    page = read(done.stdout)
    equal("script has run", "scripted" in page.all("html")[0].classes(), True)
    return page


def view_of(page):
    """The part of time that a page shows, by the transform of its pieces, in picoseconds."""
    svg = page.all("svg", "timelines")[0]
    left, width = int(svg["data-left"]), int(svg["data-width"])
    transforms = {group["transform"] for group in svg.all("g", "time")}
    equal("one transform for all", len(transforms), 1)
    shift, scale = map(float, re.fullmatch(r"translate\((\S+) 0\) scale\((\S+) 1\)", transforms.pop()).groups())
    start = (left - shift) / scale * 1000
    return round(start), round(start + width / scale * 1000)


def texts_of(page, style):
    """The texts of groups of this class, and where they stand."""
    return [(text.text, text["x"], text["y"]) for group in page.all("g", style) for text in group.all("text")]


def check_zoom(path, part):
    """The script's picture of a part is the one that was drawn without it."""
    svg = part.all("svg", "timelines")[0]
    span = int(svg["data-from"]), int(svg["data-until"])
    page = rendered(path, "#t=%d-%d" % span)
    equal("view of the part", view_of(page), span)
    for style in ("axis", "names"):
        equal(f"{style} of the part", texts_of(page, style), texts_of(part, style))
        equal(f"there are {style}", len(texts_of(part, style)) > 4, True)


ACTIONS = """<script>
addEventListener("load", () => {
  const key = (name) => document.dispatchEvent(new KeyboardEvent("keydown", {key: name, bubbles: true, cancelable: true}));
  const svg = document.querySelector("svg.timelines");
  const note = (name) => { document.body.dataset[name] = location.hash + "|" + document.getElementById("piece").textContent; };
  key("+"); note("in");
  key("ArrowRight"); note("right");
  key("-"); note("out");
  const frameBox = svg.getBoundingClientRect();
  svg.dispatchEvent(new WheelEvent("wheel", {ctrlKey: true, deltaY: -200, clientX: frameBox.left + frameBox.width / 2, bubbles: true, cancelable: true}));
  note("wheel");
  key("0"); note("all");
  key("n"); note("next");
  const wait = svg.querySelector("rect[data-by]");
  wait.dispatchEvent(new PointerEvent("pointerdown", {button: 0, bubbles: true}));
  window.dispatchEvent(new PointerEvent("pointerup", {button: 0}));
  note("click");
  document.body.dataset.arrow = svg.querySelectorAll(".marks path").length;
  key("Escape"); note("none");
});
</script>"""


def check_actions(path, static):
    """Keys, wheel and pointer, done by a script at the end of a copy."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "acted.html"
        copy.write_text(path.read_text().replace("</body>", ACTIONS + "</body>"))
        body = rendered(copy).all("body")[0]
    svg = static.all("svg", "timelines")[0]
    start, stop = int(svg["data-from"]), int(svg["data-until"])

    def after(name):
        address, _, text = body["data-" + name].partition("|")
        found = re.fullmatch(r"#t=(\d+)-(\d+)", address)
        return (tuple(map(int, found.groups())) if found else (start, stop)), text

    (a, b), (c, d) = after("in")[0], after("right")[0]
    equal("+ halves the view", abs(2 * (b - a) - (stop - start)) <= 2, True)
    equal("right moves it", c > a and abs((d - c) - (b - a)) <= 1, True)
    equal("- doubles it", after("out")[0], (start, stop))
    (a, b) = after("wheel")[0]
    equal("the wheel zooms", 0 < b - a < (stop - start) / 2, True)
    equal("0 shows all", after("all")[0], (start, stop))
    titles = [t.text for t in svg.all("title")]
    equal("n goes to a piece", after("next")[1] in titles, True)
    equal("a click asks a wait", "for semaphore '" in after("click")[1] and after("click")[1] in titles, True)
    equal("and points to what ended it", body["data-arrow"], "1")
    equal("Escape forgets it", after("none")[1].startswith("Click a piece"), True)


def main():
    path = Path(sys.argv[1])
    part = read(Path(sys.argv[2]).read_text())
    runs = [json.loads(Path(name).read_text())["runs"][0] for name in sys.argv[3:]]
    text = path.read_text()
    static = read(text)
    check_reach(text)
    for page in (static, rendered(path)):
        check_tables(page, runs)
        check_pieces(page, runs)
    check_zoom(path, part)
    check_actions(path, static)


main()
