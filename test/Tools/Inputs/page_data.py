"""The data of a page of `tally report`, unpacked: what lib/Report/PageData.h describes.

usage: page_data.py PAGE.html       prints it as JSON
"""

import base64
import json
import re
import sys
import zlib
from itertools import accumulate
from pathlib import Path

KINDS = ["control", "wait", "full", "drain", "instruction", "path", "wait"]


def unpacked(text):
    found = re.search(r'<script type="application/octet-stream" id="data">([^<]*)</script>', text)
    return json.loads(zlib.decompress(base64.b64decode(found.group(1))))


def pieces(columns):
    """(kind, start, end, operation) of each piece of a lane or path."""
    ends = list(accumulate(gap + span for gap, span in zip(columns["gap"], columns["span"])))
    return [(kind, end - span, end, op) for kind, span, end, op in
            zip(columns["kind"], columns["span"], ends, accumulate(columns["op"]))]


if __name__ == "__main__":
    print(json.dumps(unpacked(Path(sys.argv[1]).read_text())))
