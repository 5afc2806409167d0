# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Base of the launcher tests: starts mpiexec, and counts leftovers."""
import os
import subprocess
import sys
import time
import unittest
import uuid

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from installed import needed  # noqa: E402
from processes import children, ticks, wait_until  # noqa: E402,F401 (re-exported)

MPIEXEC = os.environ["TEST_MPIEXEC"]
HELPERS = os.environ.get("TEST_HELPERS", "")
# Starts the daemons of other hosts on this one: --launch-agent.
LOCAL_AGENT = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "multinode", "local_agent.sh")
SECONDS = 20


class Result:
    def __init__(self, code, out, err, seconds):
        self.code, self.out, self.err, self.seconds = code, out, err, seconds

    def __repr__(self):
        return f"status {self.code} after {self.seconds:.2f} s\nstdout: {self.out[-2000:]}\nstderr: {self.err[-4000:]}"


def environment(extra=None):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("PMI", "MPIEXEC_"))}
    env.update(extra or {})
    return env


def run(*args, stdin=b"", env=None, binary=False):
    """Runs mpiexec with these arguments until it exits."""
    start = time.monotonic()
    p = subprocess.run([MPIEXEC, *map(str, args)], input=stdin, capture_output=True, timeout=SECONDS, env=environment(env))
    out, err = (p.stdout, p.stderr) if binary else (p.stdout.decode(), p.stderr.decode())
    return Result(p.returncode, out, err, time.monotonic() - start)


def shell(ranks, script, *options, **kw):
    return run("-n", ranks, *options, "sh", "-c", script, **kw)


def start(*args, **kw):
    kw.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.Popen([MPIEXEC, *map(str, args)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            env=environment(), **kw)


def mark():
    """A variable in the environment of all processes of one job."""
    return f"LAUNCH_TEST_MARK={uuid.uuid4().hex}"


def marked(name):
    """Pids of processes with this mark."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as f:
                if name.encode() in f.read().split(b"\0"):
                    found.append(int(pid))
        except OSError:
            pass
    return found


def first_good(runs, attempt, good):
    """The first good result of up to `runs` attempts, otherwise the last one. For results that other load on this machine can
    only make worse."""
    for _ in range(runs):
        result = attempt()
        if good(result):
            break
    return result


def expand(text):
    """The numbers of a list such as 0-3,8."""
    numbers = set()
    for part in text.split(","):
        low, _, high = part.partition("-")
        numbers.update(range(int(low), int(high or low) + 1))
    return numbers


def leftovers():
    """Files of the launcher left in the usual folders."""
    names = []
    for place in ("/tmp", "/dev/shm", "/run"):
        names += [f"{place}/{n}" for n in os.listdir(place) if n.startswith(("zipmpi-", "vader_segment"))
                  and not n.startswith("zipmpi-cpus-")]  # shared with other jobs: see test_placement.py
    return sorted(names)


def helper(name):
    path = os.path.join(HELPERS, name)
    if not os.path.exists(path):
        raise unittest.SkipTest(f"{name} was not built")
    return path


def needs(program):
    needed(program)
    return program


class Case(unittest.TestCase):
    def four_parts(self, text, program="mpiexec"):
        lines = text.splitlines()
        heads = [i for i, line in enumerate(lines) if line.startswith(program + ": ")]
        self.assertEqual(len(heads), 1, text)
        for i, part in enumerate(("  where: ", "  why:   ", "  fix:   ")):
            self.assertTrue(lines[heads[0] + 1 + i].startswith(part), text)
            self.assertGreater(len(lines[heads[0] + 1 + i]), len(part) + 3, text)

    def quiet(self, result):
        self.assertEqual((result.code, result.err), (0, ""), result)
