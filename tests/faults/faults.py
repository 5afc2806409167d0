# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Base of the fault tests: private folders in which leftovers are counted, and shortages of a host."""
import ctypes
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "launch"))
from harness import Case, children, environment, helper, marked, wait_until  # noqa: E402,F401 (re-exported)
from harness import MPIEXEC  # noqa: E402,F401

SKIPPED = 77
NEW_MOUNTS, NEW_UTS, NEW_IPC, NEW_NET = 0x00020000, 0x04000000, 0x08000000, 0x40000000
_RECURSIVE_PRIVATE = 0x4000 | 0x40000
_libc = ctypes.CDLL(None, use_errno=True)


def _checked(result):
    if result != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def unshare(flags):
    _checked(_libc.unshare(flags))
    if flags & NEW_MOUNTS:
        _checked(_libc.mount(b"none", b"/", None, _RECURSIVE_PRIVATE, None))


def mount_tmpfs(place, options="mode=1777"):
    _checked(_libc.mount(b"tmpfs", place.encode(), b"tmpfs", 0, options.encode()))


def namespaces_work():
    """Whether this user may create the namespaces of the bad hosts; tried in a child."""
    pid = os.fork()
    if pid == 0:
        try:
            unshare(NEW_MOUNTS | NEW_UTS | NEW_IPC | NEW_NET)
            mount_tmpfs("/dev/shm", "size=1m,mode=1777")
            os._exit(0)
        except OSError:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def private_places():
    """Gives this process and its children a private /tmp, /dev/shm and SysV ids. Returns False without permission."""
    if not namespaces_work():
        return False
    unshare(NEW_MOUNTS | NEW_IPC)
    needed = os.path.realpath(helper("workload"))
    for place in ("/tmp", "/dev/shm"):
        if not needed.startswith(place + "/"):  # otherwise it would hide the build tree
            mount_tmpfs(place)
    return True


def left_behind():
    """Files in the usual folders and SysV ids; processes are found by their mark."""
    found = []
    for place in {"/tmp", "/dev/shm", "/run", os.environ.get("TMPDIR", "/tmp")}:
        for folder, folders, files in os.walk(place):
            found += [os.path.join(folder, name) for name in folders + files]
            if place == "/run":
                break
    for kind in ("shm", "sem", "msg"):
        with open(f"/proc/sysvipc/{kind}") as f:
            found += [f"SysV {kind} {line.split()[1]}" for line in f.readlines()[1:]]
    return sorted(found)


def main():
    program = unittest.main(exit=False)
    result = program.result
    if not result.wasSuccessful():
        sys.exit(1)
    sys.exit(SKIPPED if result.skipped and len(result.skipped) == result.testsRun else 0)
