"""Tally from Python. `tally.nki` reads kernels that are written in NKI; see docs/guide/Nki.md."""

__version__ = "0.1.0"
