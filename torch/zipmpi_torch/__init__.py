# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Backend `zipmpi` of torch.distributed.

    import zipmpi_torch
    zipmpi_torch.init_process_group()                       # started by mpiexec or torchrun
    torch.distributed.init_process_group("zipmpi")          # the same, if RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT are set
"""
import atexit
import os
import socket
from datetime import timedelta

import torch.distributed as dist

from . import _c10d, store_launcher

LAUNCHER_VARIABLES = ("PMI_FD", "PMI_RANK", "PMIX_NAMESPACE", "PMIX_RANK")
DEFAULT_TIMEOUT = timedelta(minutes=30)


def _is_under_mpi_launcher():
    return any(name in os.environ for name in LAUNCHER_VARIABLES)


def _create(store, rank, size, timeout):
    """Called by torch for each group that this process is in."""
    if not _c10d.is_initialized():
        if size > 1 and not _is_under_mpi_launcher():
            store_launcher.serve(store, rank, size)
        _c10d.initialize()
    return _c10d.create(store, rank, size, timeout)


def init_process_group(timeout=DEFAULT_TIMEOUT, **options):
    """torch.distributed.init_process_group("zipmpi"), also without the variables that torchrun sets."""
    if "RANK" in os.environ and "MASTER_PORT" in os.environ:
        return dist.init_process_group("zipmpi", timeout=timeout, **options)
    _c10d.initialize()
    rank, size = _c10d.rank(), _c10d.size()
    address = os.environ.get("MASTER_ADDR") or ("127.0.0.1" if _c10d.is_one_host() else socket.gethostname())
    store = dist.TCPStore(address, 0, size, True, timeout, wait_for_workers=False) if rank == 0 else None
    place = _c10d.broadcast_text(f"{address} {store.port}" if rank == 0 else "")
    if rank != 0:
        address, port = place.split()
        store = dist.TCPStore(address, int(port), size, False, timeout, wait_for_workers=False)
    return dist.init_process_group("zipmpi", store=store, rank=rank, world_size=size, timeout=timeout, **options)


dist.Backend.register_backend("zipmpi", _create)
atexit.register(_c10d.finalize)
