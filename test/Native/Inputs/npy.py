"""Writes a file of NumPy that holds one number everywhere: npy.py FILE TYPE SHAPE [NUMBER], as in x.npy "<f4" 4,2 0."""

import math
import struct
import sys
from pathlib import Path

path, kind, shape = sys.argv[1:4]
number = float(sys.argv[4]) if len(sys.argv) > 4 else 0
shape = [int(extent) for extent in shape.split(",")]
header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {tuple(shape)}, }}"
header += " " * ((64 - (len(header) + 11) % 64) % 64) + "\n"
element = struct.pack("<f", number) if kind == "<f4" else struct.pack("<i", int(number))
Path(path).parent.mkdir(parents=True, exist_ok=True)
Path(path).write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + element * math.prod(shape))
