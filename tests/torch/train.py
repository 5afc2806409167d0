# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Trains a small model with DistributedDataParallel; rank 0 writes the parameters, and all ranks must have the same.

usage: train.py BACKEND FILE       train.py compare FILE FILE"""
import sys

import torch
import torch.distributed as dist
from start import start
from torch import nn
from torch.nn.parallel import DistributedDataParallel

if sys.argv[1] == "compare":
    a, b = (torch.load(name) for name in sys.argv[2:4])
    assert a.keys() == b.keys()
    far = {k: (a[k] - b[k]).abs().max().item() for k in a if not torch.allclose(a[k], b[k], rtol=1e-5, atol=1e-7)}
    assert not far, far
    print("parameters agree; largest difference", max((a[k] - b[k]).abs().max().item() for k in a))
    sys.exit(0)

start(sys.argv[1])
torch.manual_seed(1)
model = DistributedDataParallel(nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 10)),
                                bucket_cap_mb=0.05)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
torch.manual_seed(100 + dist.get_rank())
for _ in range(10):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(torch.randn(16, 64)), torch.randint(10, (16,)))
    loss.backward()
    optimizer.step()
for p in model.parameters():
    first = p.detach().clone()
    dist.broadcast(first, 0)
    assert torch.equal(first, p.detach()), "ranks have different parameters"
if dist.get_rank() == 0:
    torch.save(model.module.state_dict(), sys.argv[2])
dist.barrier()
dist.destroy_process_group()
