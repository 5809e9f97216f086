"""Holds a page of `tally report` to what `tally sim` says of the same runs.

usage: check-report.py PAGE.html PART.html RUN.json...

RUN.json    `tally sim --format=json` of each timeline
PART.html   a page of the same runs that holds a part of them (--from, --until): what the script shows
            of this part must look as if drawn without it

The page is read as it is, and as a browser makes it of it; both must show the simulator's numbers, in
tables and as lengths of pieces. Nothing may refer to anything outside, and nothing may be said on
the browser's console. Then the script: zoomed by the address, by keys, by the wheel; asked for pieces;
at three sizes of the window.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from html.parser import HTMLParser
from pathlib import Path

from page_data import KINDS, pieces, unpacked

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


def check_pieces(data, runs):
    """The lengths of pieces add up to the same; only for pages that hold all pieces."""
    stalls = {"control": "control_ps", "wait": "waiting_ps", "full": "queue_full_ps", "drain": "draining_ps"}
    equal("runs of the data", [run["strategy"] for run in data["runs"]], [run["strategy"] for run in runs])
    for drawn, run in zip(data["runs"], runs):
        engines = {e["engine"]: e for e in run["engines"]}
        queues = {q["queue"]: q for q in run["queues"]}
        equal("queues", sorted(lane["queue"] for lane in drawn["lanes"] if lane["queue"]),
              sorted(name for name, queue in queues.items() if queue["instructions"] > 0))
        for lane in drawn["lanes"]:
            found = pieces(lane)
            equal("nothing left to sums", lane["buckets"], [])
            if lane["queue"]:
                queue = queues[lane["queue"]]
                spans = [(start, end + tail) for (_, start, end, _), tail in zip(found, lane["finish"])]
                equal(f"busy, {lane['queue']}", covered(spans), queue["busy_ps"])
                equal(f"pieces, {lane['queue']}", len(found), queue["instructions"])
                continue
            sums = dict.fromkeys(stalls.values(), 0)
            for kind, start, end, _ in found:
                sums[stalls[KINDS[kind]]] += end - start
            engine = engines[lane["engine"]]
            equal(f"lane {lane['engine']}", sums, {key: engine[key] for key in sums})
        check_path(drawn, run)


def check_path(drawn, run):
    """The critical path goes from the beginning to the end without a gap, and has the simulator's sums."""
    equal("the path has no gaps", set(drawn["path"]["gap"]), {0})
    found = pieces(drawn["path"])
    equal("the path reaches the end", found[-1][2], run["total_ps"])
    names = ["control", "startup", "occupied", "execute", "visible", "wake"]
    sums = defaultdict(int)
    for kind, start, end, op in found:
        sums[drawn["strings"][drawn["ops"]["engine"][op]], names[kind]] += end - start
    expected = defaultdict(int)
    for share in run["critical_path"]:
        expected[share["engine"], share["kind"]] += share["span_ps"]
    equal("shares of the path", dict(sums), dict(expected))


def check_bandwidth(page, data, runs):
    """What transfers need of the bandwidth is how long any of them had it: they share it fairly, and one
    alone has all of it."""
    for table in page.all("table", "bandwidth"):
        number = [run["strategy"] for run in runs].index(table["data-strategy"])
        row = next(row for row in table.all("tr") if row.attributes.get("data-name") == "bandwidth")
        spans = [(start, end) for lane in data["runs"][number]["lanes"] if lane["queue"]
                 for kind, start, end, op in pieces(lane)
                 if data["runs"][number]["strings"][data["runs"][number]["ops"]["does"][op]].startswith("dma")]
        found = cells(row)["busy"]
        if abs(found - covered(spans)) > len(spans):  # each is rounded to a picosecond
            sys.exit(f"bandwidth: found {found}, but transfers last {covered(spans)}")


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


# Of the whole page: below this width it is that of a narrow window, and at 1232 the picture is as wide as
# without its script.
SIZES = [500, 1232, 2000]
SAME_SIZE = 1232


def run_browser(path, address, width, *wanted):
    with tempfile.TemporaryDirectory() as home:
        done = subprocess.run(
            [browser(), "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--no-first-run", "--disable-background-networking", "--proxy-server=127.0.0.1:9",
             "--hide-scrollbars", f"--window-size={width},1200",
             f"--user-data-dir={home}", "--enable-logging=stderr", "--virtual-time-budget=4000", *wanted,
             path.resolve().as_uri() + address],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=90, env=dict(os.environ, HOME=home))
    said = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    equal("console", said, [])
    return done.stdout


def rendered(path, address="", width=SAME_SIZE):
    """The document after its scripts have run. Whatever stands on the console is an error."""
    page = read(run_browser(path, address, width, "--dump-dom"))
    equal("script has run", page.all("html")[0].attributes.get("data-ready"), "yes")
    return page


def texts_of(svg, style):
    """The texts of groups of this class, and where they stand."""
    return [(text.text, text["x"], text["y"]) for group in svg.all("g", style) for text in group.all("text")]


def check_zoom(path, part_path):
    """The script's picture of a part is the one that was drawn without it."""
    part = part_path.read_text()
    svg = next(node for node in read(part).all("noscript")[0].all("svg"))
    span = unpacked(part)["view"]
    page = rendered(path, "#t=%d-%d" % tuple(span)).one("timelines")
    for style in ("axis", "names"):
        equal(f"{style} of the part", texts_of(page, style), texts_of(svg, style))
        equal(f"there are {style}", len(texts_of(svg, style)) > 4, True)
    shapes = {"drawn": sorted((p["class"], p["d"]) for p in page.all("path")),
              "static": sorted((p["class"], p["d"]) for p in svg.all("path"))}
    equal("there are shapes", len(shapes["static"]) > 20, True)
    for drawn, static in zip(shapes["drawn"], shapes["static"]):
        equal("shapes of the part", drawn, static)
    equal("number of shapes", len(shapes["drawn"]), len(shapes["static"]))


# Colours as the browser has them, and what the page is too wide by.
MEASURES = """<script>
addEventListener("load", () => setTimeout(() => {
  const svg = document.getElementById("timelines");
  const colour = (style) => {
    const rect = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    rect.setAttribute("class", style);
    svg.append(rect);
    const value = getComputedStyle(rect).fill;
    rect.remove();
    return value;
  };
  const styles = ["paper", "i", "j", "c", "w0", "w1", "w2", "w3", "w4", "w5", "alarm"];
  document.body.dataset.colours = styles.map((style) => style + "=" + colour(style)).join(";");
  document.body.dataset.excess = document.documentElement.scrollWidth - window.innerWidth;
}, 1500));
</script>"""


def with_script(path, script, width=SAME_SIZE):
    """The body of the page, after this script at its end has run, too."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "acted.html"
        copy.write_text(path.read_text().replace("</body>", script + "</body>"))
        return rendered(copy, width=width).all("body")[0]


def check_sizes(path, runs):
    """At each size the whole page fits, and every lane is there; work is darker than what waits; each
    filling in the picture has its name in the legend."""
    for width in SIZES:
        page = with_script(path, MEASURES, width)
        equal(f"too wide by, of {width}", int(page["data-excess"]) <= 0, True)
        svg = page.one("timelines")
        equal(f"titles at {width}", len([t for t in svg.all("text") if "strategy" in t.classes()]), len(runs))
        legend = {rect.classes()[0] for rect in page.one("legend").all("rect")}
        used = {name for shape in svg.all("path") for name in shape.classes()} - {"tail", "way", "by", "j"}
        equal("fillings without a name", used - legend, set())
    light = {}
    for entry in page["data-colours"].split(";"):
        name, _, value = entry.partition("=")
        light[name] = sum(map(int, re.findall(r"\d+", value)[:3]))
    darkest = min(light[name] for name in light if name.startswith("w") or name == "alarm")
    equal("work is darker than waits", max(light["i"], light["j"], light["c"]) < darkest < light["paper"], True)


ACTIONS = """<script>
addEventListener("load", function act() {
  if (document.documentElement.dataset.ready !== "yes") return setTimeout(act, 20);
  const key = (name) => (document.activeElement || document).dispatchEvent(
    new KeyboardEvent("keydown", {key: name, bubbles: true, cancelable: true}));
  const svg = document.getElementById("timelines");
  const piece = document.getElementById("piece"), search = document.getElementById("search");
  const note = (name) => { document.body.dataset[name] = location.hash + "|" + piece.textContent; };
  const pointer = (type, target, x, y) =>
    target.dispatchEvent(new PointerEvent(type, {button: 0, clientX: x, clientY: y, bubbles: true}));
  svg.focus();
  key("+"); note("in");
  key("ArrowRight"); note("right");
  key("-"); note("out");
  const frame = svg.getBoundingClientRect();
  svg.dispatchEvent(new WheelEvent("wheel", {ctrlKey: true, deltaY: -200, clientX: frame.left + frame.width / 2, bubbles: true, cancelable: true}));
  note("wheel");
  key("0"); note("all");
  key("n"); note("next");
  key("ArrowDown"); note("down");
  for (let i = 0; i < 200 && !piece.textContent.includes("for semaphore '"); ++i) key("n");
  note("wait");
  document.body.dataset.arrow = svg.querySelectorAll(".marks path.by").length;
  const box = svg.querySelector(".chosen").getBoundingClientRect();
  const middle = [box.left + box.width / 2, box.top + box.height / 2];
  key("Escape"); note("none");
  pointer("pointermove", svg, ...middle);
  document.body.dataset.tip = document.getElementById("tip").textContent;
  pointer("pointerdown", svg, ...middle);
  pointer("pointerup", window, ...middle);
  note("click");
  key("e"); note("ender");
  key("0");
  document.body.dataset.ways = svg.querySelectorAll("path.way").length;
  key("c");
  document.body.dataset.noways = svg.querySelectorAll("path.way").length;
  key("c");
  key("/");
  document.body.dataset.focus = document.activeElement.id;
  search.value = "SEARCHED";
  search.dispatchEvent(new Event("input"));
  document.body.dataset.found = document.getElementById("found").textContent;
  key("Enter"); note("match");
  key("Escape");
  document.body.dataset.lost = document.getElementById("found").textContent;
  document.body.dataset.done = "yes";
});
</script>"""


def check_actions(path, data):
    """Keys, wheel, pointer and search, done by a script at the end of a copy."""
    run = data["runs"][0]
    lane = next(lane for lane in run["lanes"] if lane["queue"])
    name = run["strings"][run["ops"]["instr"][pieces(lane)[0][3]]]
    body = with_script(path, ACTIONS.replace("SEARCHED", name))
    equal("all was done", body.attributes.get("data-done"), "yes")
    start, stop = data["view"]

    def after(what):
        address, _, text = body["data-" + what].partition("|")
        found = re.fullmatch(r"#t=(\d+)-(\d+)", address)
        return (tuple(map(int, found.groups())) if found else (start, stop)), text

    (a, b), (c, d) = after("in")[0], after("right")[0]
    equal("+ halves the view", abs(2 * (b - a) - (stop - start)) <= 2, True)
    equal("right moves it", c > a and abs((d - c) - (b - a)) <= 1, True)
    equal("- doubles it", after("out")[0], (start, stop))
    (a, b) = after("wheel")[0]
    equal("the wheel zooms", 0 < b - a < (stop - start) / 2, True)
    equal("0 shows all", after("all")[0], (0, data["longest"]))
    equal("n goes to a piece", after("next")[1].startswith("critical path: "), True)
    equal("down goes to another lane", after("down")[1].startswith(("control: ", name)), True)
    waited = re.search(r"for semaphore '.*' >= \d+\n(?:dependence .*\n)?raised at .* us by (\S+)", after("wait")[1])
    equal("n goes on to a wait", waited is not None, True)
    equal("which points to what ended it", body["data-arrow"], "1")
    equal("Escape forgets it", after("none")[1].startswith("Click a piece"), True)
    equal("a click asks it", after("click")[1], after("wait")[1])
    equal("and so does a pointer", body["data-tip"], after("wait")[1])
    equal("e goes to what ended it", after("ender")[1].startswith((waited.group(1), "control: ")), True)
    equal("c hides the critical path", (int(body["data-ways"]) > 0, body["data-noways"]), (True, "0"))
    equal("/ asks what to search", body["data-focus"], "search")
    equal("the number of pieces found", body["data-found"], f"{matches_of(data, name)} pieces")
    equal("Enter goes to the first", name in after("match")[1], True)
    equal("Escape forgets the search", body["data-lost"], "")


def check_sources(data):
    """Each instruction leads to the line of the kernel that has its name."""
    for run in data["runs"]:
        ops, strings = run["ops"], run["strings"]
        for instr, source in zip(ops["instr"], ops["source"]):
            if strings[instr]:
                file, line, _ = strings[source].rsplit(":", 2)
                found = Path(file).read_text().splitlines()[int(line) - 1]
                equal(f"the line of {strings[instr]}", f'tally.instr "{strings[instr]}"' in found, True)


def matches_of(data, word):
    columns = ("name", "instr", "does", "source", "semaphore", "why")
    return sum(any(word in run["strings"][run["ops"][column][op]] for column in columns)
               for run in data["runs"] for lane in run["lanes"] for _, _, _, op in pieces(lane))


def main():
    path, part_path = Path(sys.argv[1]), Path(sys.argv[2])
    runs = [json.loads(Path(name).read_text())["runs"][0] for name in sys.argv[3:]]
    text = path.read_text()
    static = read(text)
    data = unpacked(text)
    check_reach(text)
    check_pieces(data, runs)
    check_sources(data)
    for page in (static, rendered(path)):
        check_tables(page, runs)
        check_bandwidth(page, data, runs)
    check_zoom(path, part_path)
    check_sizes(path, runs)
    check_actions(path, data)


main()
