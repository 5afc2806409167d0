# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Calls of torch.distributed with results that each rank can compute itself. Runs with any backend, so that gloo confirms what is
expected; calls that gloo does not have are left out there.

usage: checks.py BACKEND [WORDS]   under mpiexec or torchrun; WORDS: only checks whose names contain them"""
import datetime
import os
import sys
import time

import torch
import torch.distributed as dist

BACKEND = sys.argv[1]
ONLY = sys.argv[2:]
CHECKS = []
ZIPMPI = BACKEND == "zipmpi"


def check(function):
    CHECKS.append(function)
    return function


def only_zipmpi(function):
    return check(function) if ZIPMPI else function


def begin():
    if ZIPMPI:
        import zipmpi_torch
        zipmpi_torch.init_process_group()
        return
    os.environ.setdefault("RANK", os.environ.get("PMI_RANK", "0"))
    os.environ.setdefault("WORLD_SIZE", os.environ.get("PMI_SIZE", "1"))
    dist.init_process_group(BACKEND)


def data(rank, count=7, dtype=torch.float32):
    """Small whole numbers, so that sums are exact in every type."""
    return ((torch.arange(count) * (rank + 2) + rank) % 5 + 1).to(dtype)


def everyone(count=7, dtype=torch.float32):
    return [data(r, count, dtype) for r in range(SIZE)]


def same(got, expected):
    assert got.dtype == expected.dtype and got.shape == expected.shape, (got, expected)
    assert torch.equal(got, expected), f"rank {RANK}: {got} instead of {expected}"


TYPES = [torch.float32, torch.float64, torch.float16, torch.uint8, torch.int8, torch.int32, torch.int64]


@check
def allreduce_of_all_types():
    for dtype in TYPES + ([torch.bfloat16, torch.int16] if ZIPMPI else []):
        for op, combine in ((dist.ReduceOp.SUM, torch.add), (dist.ReduceOp.MIN, torch.minimum), (dist.ReduceOp.MAX, torch.maximum),
                            (dist.ReduceOp.PRODUCT, torch.mul)):
            t, expected = data(RANK, dtype=dtype), data(0, dtype=dtype)
            for r in range(1, SIZE):
                expected = combine(expected, data(r, dtype=dtype))
            dist.all_reduce(t, op)
            same(t, expected)


@only_zipmpi
def allreduce_of_bits_bool_and_complex():
    t = data(RANK, dtype=torch.int32)
    dist.all_reduce(t, dist.ReduceOp.BOR)
    expected = data(0, dtype=torch.int32)
    for r in range(1, SIZE):
        expected = expected | data(r, dtype=torch.int32)
    same(t, expected)
    flag = torch.tensor([RANK == 0, True, False])
    dist.all_reduce(flag, dist.ReduceOp.SUM)
    same(flag, torch.tensor([True, True, False]))
    c = torch.complex(data(RANK), data(RANK))
    dist.all_reduce(c)
    same(c, torch.complex(sum(everyone()), sum(everyone())))


@only_zipmpi
def average():
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        t = data(RANK, dtype=dtype)
        dist.all_reduce(t, dist.ReduceOp.AVG)
        same(t, sum(everyone(dtype=dtype)) / SIZE)
    try:
        dist.all_reduce(data(RANK, dtype=torch.int32), dist.ReduceOp.AVG)
        raise AssertionError("AVG of integers is accepted")
    except RuntimeError as e:
        assert "AVG needs floating-point" in str(e), e


@check
def long_and_not_contiguous():
    t = data(RANK, 1_000_003, torch.float64)
    dist.all_reduce(t)
    same(t, sum(everyone(1_000_003, torch.float64)))
    empty = torch.empty(0)
    dist.all_reduce(empty)


@only_zipmpi
def not_contiguous():
    t = data(RANK, 12).view(3, 4).t()
    dist.all_reduce(t)
    same(t, sum(everyone(12)).view(3, 4).t())
    t = data(RANK, 12)[::2]
    dist.broadcast(t, SIZE - 1)
    same(t, data(SIZE - 1, 12)[::2])


@check
def broadcast_and_reduce():
    for root in range(SIZE):
        t = data(RANK)
        dist.broadcast(t, root)
        same(t, data(root))
        t = data(RANK)
        dist.reduce(t, root)
        if RANK == root:
            same(t, sum(everyone()))


@check
def gather_and_scatter():
    for root in range(SIZE):
        out = [torch.zeros(7) for _ in range(SIZE)] if RANK == root else None
        dist.gather(data(RANK), out, root)
        for r in range(SIZE if RANK == root else 0):
            same(out[r], data(r))
        t = torch.zeros(7)
        dist.scatter(t, everyone() if RANK == root else None, root)
        same(t, data(RANK))


@check
def allgather():
    out = [torch.zeros(7, dtype=torch.float16) for _ in range(SIZE)]
    dist.all_gather(out, data(RANK, dtype=torch.float16))
    for r in range(SIZE):
        same(out[r], data(r, dtype=torch.float16))
    objects = [None] * SIZE
    dist.all_gather_object(objects, {"rank": RANK, "text": "x" * RANK})
    assert [o["rank"] for o in objects] == list(range(SIZE)), objects


@only_zipmpi
def allgather_into_one_tensor():
    out = torch.zeros(SIZE, 7)
    dist._all_gather_base(out, data(RANK))
    same(out, torch.stack(everyone()))
    lists = [[torch.zeros(3), torch.zeros(2, 2)] for _ in range(SIZE)]
    dist.all_gather_coalesced(lists, [data(RANK, 3), data(RANK, 4).view(2, 2)])
    for r in range(SIZE):
        same(lists[r][0], data(r, 3))
        same(lists[r][1], data(r, 4).view(2, 2))


@check
def allreduce_coalesced():
    tensors = [data(RANK, 3), data(RANK, 4).view(2, 2)]
    dist.all_reduce_coalesced(tensors)
    same(tensors[0], sum(everyone(3)))
    same(tensors[1], sum(everyone(4)).view(2, 2))


@only_zipmpi
def reduce_scatter():
    t = torch.zeros(5)
    dist.reduce_scatter(t, [data(RANK + r, 5) for r in range(SIZE)])
    same(t, sum(data(RANK + r, 5) for r in range(SIZE)))
    t = torch.zeros(5, dtype=torch.bfloat16)
    dist._reduce_scatter_base(t, torch.stack([data(RANK + r, 5, torch.bfloat16) for r in range(SIZE)]), dist.ReduceOp.AVG)
    same(t, sum(data(RANK + r, 5, torch.bfloat16) for r in range(SIZE)) / SIZE)


@check
def alltoall_of_one_tensor():
    out = torch.zeros(SIZE, 2)
    dist.all_to_all_single(out, torch.stack([data(RANK * SIZE + r, 2) for r in range(SIZE)]))
    same(out, torch.stack([data(r * SIZE + RANK, 2) for r in range(SIZE)]))
    send, recv = [r + 1 for r in range(SIZE)], [RANK + 1] * SIZE
    out = torch.zeros(sum(recv), 2)
    dist.all_to_all_single(out, torch.full((sum(send), 2), float(RANK)), recv, send)
    same(out, torch.cat([torch.full((RANK + 1, 2), float(r)) for r in range(SIZE)]))


@only_zipmpi
def alltoall():
    out = [torch.zeros(r + 1) for r in range(SIZE)]
    dist.all_to_all(out, [torch.full((RANK + 1,), float(RANK * SIZE + r)) for r in range(SIZE)])
    for r in range(SIZE):
        same(out[r], torch.full((r + 1,), float(r * SIZE + RANK)))


@check
def send_and_receive():
    if SIZE == 1:
        return
    to, source = (RANK + 1) % SIZE, (RANK - 1) % SIZE
    t = torch.zeros(7)
    requests = [dist.isend(data(RANK), to, tag=3), dist.irecv(t, source, tag=3)]
    for request in requests:
        request.wait()
    same(t, data(source))
    if RANK == 0:
        seen = set()
        for _ in range(SIZE - 1):
            seen.add(dist.recv(t, tag=4))
        assert seen == set(range(1, SIZE)), seen
    else:
        dist.send(data(RANK), 0, tag=4)


@check
def groups_of_a_part():
    groups = [dist.new_group([r, (r + 1) % SIZE]) for r in range(SIZE)] if SIZE > 2 else [dist.new_group([0])]
    for r, group in enumerate(groups):
        members = sorted({r, (r + 1) % SIZE}) if SIZE > 2 else [0]
        if RANK in members:
            t = data(RANK)
            dist.all_reduce(t, group=group)
            same(t, sum(data(m) for m in members))
    dist.barrier()


@check
def futures_complete_without_wait():
    t = data(RANK)
    work = dist.all_reduce(t, async_op=True)
    future = work.get_future()
    end = time.monotonic() + 10
    while not future.done() and time.monotonic() < end:
        time.sleep(0.001)
    assert future.done()
    same(future.value()[0], sum(everyone()))
    doubled = dist.all_reduce(data(RANK), async_op=True).get_future().then(lambda f: f.value()[0] * 2)
    same(doubled.wait(), sum(everyone()) * 2)


@check
def many_at_once_in_any_order_of_waits():
    tensors = [data(RANK, 50 + i) for i in range(20)]
    works = [dist.all_reduce(t, async_op=True) for t in tensors]
    for work in reversed(works):
        work.wait()
    for i, t in enumerate(tensors):
        same(t, sum(everyone(50 + i)))
    dist.all_reduce(data(RANK, 1000), async_op=True)  # its work is dropped
    dist.barrier()


@only_zipmpi
def threads():
    import threading
    groups = [dist.new_group(list(range(SIZE))) for _ in range(3)]
    wrong = []

    def reduce(group):
        for _ in range(20):
            t = data(RANK, 100)
            dist.all_reduce(t, group=group)
            if not torch.equal(t, sum(everyone(100))):
                wrong.append(t)
    all_threads = [threading.Thread(target=reduce, args=(g,)) for g in groups]
    for t in all_threads:
        t.start()
    for t in all_threads:
        t.join()
    assert not wrong


def timeout():
    """Run separately: the job is not usable afterwards."""
    group = dist.new_group(list(range(SIZE)), timeout=datetime.timedelta(seconds=1))
    start = time.monotonic()
    if RANK != 0:
        time.sleep(2)
        return
    try:
        dist.barrier(group=group)
        raise AssertionError("no timeout")
    except RuntimeError as e:
        assert "did not complete within 1000 ms" in str(e), e
    assert time.monotonic() - start < 5


torch.set_num_threads(1)
begin()
RANK, SIZE = dist.get_rank(), dist.get_world_size()
if ONLY == ["timeout"]:
    timeout()
    print(f"rank {RANK}: timeout ok", flush=True)
    sys.exit(0)
for function in CHECKS:
    if not ONLY or any(word in function.__name__ for word in ONLY):
        function()
        dist.barrier()
if RANK == 0:
    print(f"{BACKEND}, {SIZE} ranks: {len(CHECKS)} checks ok", flush=True)
dist.destroy_process_group()
