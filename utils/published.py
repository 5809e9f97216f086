"""What is published of these kernels: latency relative to barriers of all engines.

Nothing else that is published may choose a kernel or a price; see utils/fit-prices.py.
"""

BARRIERS = "barrier-all"
COLUMNS = ("published", "manual", "unrolled")  # the strategies of `tally bench` that stand for the published ones
RATIOS = {
    "add_many_loop": (0.30, 0.22, 0.04),
    "matmul": (0.90, 0.71, 0.39),
    "matmul-k-unrolled": (0.55, 0.61, 0.55),
}
