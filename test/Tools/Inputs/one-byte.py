"""Gives tally a file of each single byte that no text begins with: one-byte.py TALLY FOLDER"""
import os
import subprocess
import sys

tally, folder = sys.argv[1:]
path = os.path.join(folder, "byte.mlir")
for byte in range(128, 256, 3):
    with open(path, "wb") as file:
        file.write(bytes([byte]))
    run = subprocess.run([tally, "plan", path], capture_output=True, check=False)
    assert run.returncode == 2 and b"1:1: error" in run.stderr, (byte, run)
