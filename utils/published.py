"""What is published of these kernels: latency relative to barriers of all engines, and sizes.

Only the latencies choose prices (see utils/fit-prices.py), and nothing that is published chooses a kernel.
"""

BARRIERS = "barrier-all"
COLUMNS = ("published", "manual", "unrolled")  # the strategies of `tally bench` that stand for the published ones
RATIOS = {
    "add_many_loop": (0.30, 0.22, 0.04),
    "matmul": (0.90, 0.71, 0.39),
    "matmul-k-unrolled": (0.55, 0.61, 0.55),
}

# Loops that engines run, and the distances of dependences.
SHAPES = {
    "add_many_loop": (1, "0"),
    "matmul": (3, "0, 1, 2"),
    "matmul-k-unrolled": (2, "0, 1, 2"),
}

# KB of code, registers of each engine, semaphores: with barriers, and under each strategy of COLUMNS. None is not known.
SIZES = {
    "add_many_loop": ((2.5, 0, 3), (1.7, 4, 4), (1.8, 0, 4), (1.2 * 1024, 0, 4)),
    "matmul": ((4.7, 0, 5), (6.3, 11, 7), (3.7, 7, 4), (177.5, 0, 4)),
    "matmul-k-unrolled": ((6.9, 0, 5), (9.3, 8, 6), (6.1, 7, 4), (177.5, 0, 4)),
    "flash_attention": ((22.5, None, None), None, None, (1.2 * 1024, None, None)),
    "rmsnorm": (None, None, None, (508.6, None, None)),
    "adamw": (None, None, None, (11.8, None, None)),
}
