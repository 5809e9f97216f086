"""Writes the machine of the first file, for any engines, with counters of eight bits that saturate, and waits that
compare as the second argument says."""

import json
import sys

machine = json.load(open(sys.argv[1], encoding="utf-8"))
machine["name"] = "small"
machine["engines"] = []
machine.pop("sums_in_order", None)
machine["limits"]["counter_bits"]["value"] = 8
machine["limits"]["semaphores"]["value"] = None
machine["limits"]["registers_per_engine"]["value"] = None
machine["alu"]["subtraction"] = "saturates"
machine["wait"]["compare"] = sys.argv[2]
print(json.dumps(machine, indent=1))
