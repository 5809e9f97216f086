"""run-found-tests.py REPORT PREFIX SOURCES: performs the tests that `tally-fuzz --format=json` wrote.

Says how many there are and how many pass.
"""

import json
import subprocess
import sys

report, prefix, sources = sys.argv[1:]


def passes(number, finding):
    path = f"{prefix}.{number}.mlir"
    with open(path, "w") as file:
        file.write(finding["test"])
    lines = [line[8:] for line in finding["test"].splitlines() if line.startswith("// RUN: ")]
    assert lines, "a test without a RUN line"
    command = " && ".join(lines).replace("%source_dir", sources)
    command = command.replace("%t", path).replace("%s", path)
    return subprocess.run(command, shell=True, stdout=subprocess.DEVNULL).returncode == 0


with open(report) as file:
    findings = json.load(file)["findings"]
print(f"{len(findings)} tests, {sum(passes(n, f) for n, f in enumerate(findings))} pass")
