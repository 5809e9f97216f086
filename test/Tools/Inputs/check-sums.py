"""Pieces and sums of a page together are what `tally sim` counted.

usage: check-sums.py PAGE.html RUN.json
"""

import json
import sys
from collections import defaultdict
from pathlib import Path

from page_data import KINDS, pieces, unpacked

page = unpacked(Path(sys.argv[1]).read_text())
run = json.loads(Path(sys.argv[2]).read_text())["runs"][0]
drawn = page["runs"][0]
styles = [name for name, _, _ in page["styles"]]
engines = {e["engine"]: e for e in run["engines"]}


def parts(lane, of):
    """The time of each kind in pieces and in sums. A bucket that is held in part counts in part."""
    sums = defaultdict(float)
    for i, (kind, start, end, _) in enumerate(pieces(lane)):
        inside = min(end, drawn["until"]) - max(start, drawn["from"])
        sums[of(KINDS[kind], styles[lane["style"][i]])] += inside
    for start, length, width, *shares in lane["buckets"]:
        for style, span in zip(shares[::2], shares[1::2]):
            sums[of(None, styles[style])] += span * length / width
    return sums


def stall_of(_, style):
    return {"c": "control_ps", "d": "draining_ps", "f": "queue_full_ps"}.get(style, "waiting_ps")


assert any(lane["buckets"] for lane in drawn["lanes"]), "this page holds sums"
bucket = max(width for lane in drawn["lanes"] for _, _, width, *_ in lane["buckets"])
for lane in drawn["lanes"]:
    if lane["queue"]:
        continue
    found = parts(lane, stall_of)
    for key in ("control_ps", "waiting_ps", "queue_full_ps", "draining_ps"):
        expected = engines[lane["engine"]][key]
        # Two buckets are held in part.
        if abs(found[key] - expected) > 2 * bucket:
            sys.exit(f"{lane['engine']}, {key}: found {found[key]}, expected {expected} within {2 * bucket}")
