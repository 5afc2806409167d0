# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""The key schedule of src/base/key_schedule.hpp, written a second time, and a search for keys in the memory of a process."""
import hashlib
import hmac
import os
import struct

SECRET_BYTES = 32
LONGEST_REGION = 512 << 20


def derive(secret, label, context=b""):
    extracted = hmac.new(b"zipmpi key schedule 1", secret, hashlib.sha256).digest()
    return hmac.new(extracted, label.encode() + b"\0" + context + b"\x01", hashlib.sha256).digest()


def secret_of(bootstrap):
    """Bootstrap data of a daemon: bytes that follow (4), the secret, the rest."""
    (size,) = struct.unpack_from("<I", bootstrap)
    assert len(bootstrap) == size + 4, (len(bootstrap), size)
    return bootstrap[4:4 + SECRET_BYTES]


def regions(pid):
    with open(f"/proc/{pid}/maps") as f:
        for line in f:
            span, access, *_ = line.split()
            begin, end = (int(x, 16) for x in span.split("-"))
            if access.startswith("r") and end - begin <= LONGEST_REGION and "[v" not in line:
                yield begin, end


def found_in_memory(pid, keys):
    """Names of the keys that are somewhere in the memory of a process. keys: by name."""
    found = set()
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        for begin, end in regions(pid):
            try:
                memory.seek(begin)
                content = memory.read(end - begin)
            except (OSError, ValueError, OverflowError):
                continue
            found.update(name for name, key in keys.items() if key in content)
    return found


def readable_by_users(pid):
    """Command line and environment of a process."""
    texts = b""
    for name in ("cmdline", "environ"):
        with open(f"/proc/{pid}/{name}", "rb") as f:
            texts += f.read()
    return texts


def descendants(pid):
    found = []
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/children") as f:
            for child in map(int, f.read().split()):
                found += [child, *descendants(child)]
    return found
