# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Median time of all_reduce in microseconds, with the refill of the tensor: `BACKEND RANKS BYTES MEDIAN` per line.

usage: latency.py BACKEND"""
import statistics
import sys
import time

import torch
import torch.distributed as dist
from start import start

start(sys.argv[1])
for size, repetitions in ((64, 400), (4096, 400), (4 << 20, 30)):
    t = torch.ones(size // 4)
    times = []
    for _ in range(repetitions):
        dist.barrier()
        begin = time.perf_counter()
        t.fill_(1)
        dist.all_reduce(t)
        times.append(time.perf_counter() - begin)
    if dist.get_rank() == 0:
        print(sys.argv[1], dist.get_world_size(), size, round(statistics.median(times) * 1e6, 1), flush=True)
dist.barrier()
dist.destroy_process_group()
