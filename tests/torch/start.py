# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Starts torch.distributed with a backend, in ranks of mpiexec."""
import os

import torch
import torch.distributed as dist


def start(backend):
    torch.set_num_threads(1)
    if backend == "zipmpi":
        import zipmpi_torch
        zipmpi_torch.init_process_group()
    else:
        os.environ.setdefault("RANK", os.environ.get("PMI_RANK", "0"))
        os.environ.setdefault("WORLD_SIZE", os.environ.get("PMI_SIZE", "1"))
        dist.init_process_group(backend)
