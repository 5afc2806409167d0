# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Random kill -9 of ranks, of mpiexec and of its daemon. FAULTS_SEED and FAULTS_KILLS repeat a run."""
import itertools
import os
import random
import signal
import subprocess
import threading
import time
import unittest
import uuid

from faults import MPIEXEC, Case, children, environment, helper, left_behind, main, marked, private_places, wait_until

KILLS = int(os.environ.get("FAULTS_KILLS", 200))
SEED = int(os.environ.get("FAULTS_SEED", random.SystemRandom().randrange(1 << 32)))
EXIT_WITHIN = 2.0
HANGS_AFTER = 10.0


class Plan:
    """One job and one kill, derived from the seed."""

    def __init__(self, number):
        rng = random.Random(f"{SEED}/{number}")
        self.number = number
        self.ranks = rng.randint(2, 8)
        self.victim = rng.choice(("rank", "rank", "mpiexec", "daemon"))
        self.delay = rng.random() * 0.15
        self.program = [helper("workload"), str(rng.choice((1, 60, 120, 5000)))]
        self.in_shell = rng.random() < 0.25
        self.pmix = rng.choice(("auto", "auto", "yes", "no"))
        self.pick = rng.random()

    def command(self):
        inner = ["sh", "-c", f"{' '.join(self.program)}; exit $?"] if self.in_shell else self.program
        return [MPIEXEC, "-n", str(self.ranks), "--pmix", self.pmix, *inner]

    def victims(self, mpiexec):
        daemon = children(mpiexec)[:1]
        if self.victim == "mpiexec" or not daemon:
            return [mpiexec]
        if self.victim == "daemon":
            return daemon
        ranks = children(daemon[0])
        return ranks + [child for rank in ranks for child in children(rank)]

    def __str__(self):
        return (f"kill {self.number} of seed {SEED}: {self.victim} after {self.delay * 1000:.1f} ms of "
                f"{' '.join(self.command())}")


def stuck(pids):
    """State of processes that should have ended."""
    text = []
    for pid in pids:
        for name in ("cmdline", "wchan", "status"):
            try:
                with open(f"/proc/{pid}/{name}") as f:
                    text.append(f"{pid} {name}: " + f.read().replace("\0", " ")[:400])
            except OSError:
                pass
    return "\n".join(text)


class Kills(Case):
    @classmethod
    def setUpClass(cls):
        if not private_places():
            raise unittest.SkipTest("needs root and mount namespaces")
        print(f"FAULTS_SEED={SEED} FAULTS_KILLS={KILLS}", flush=True)

    def one(self, plan):
        name = f"FAULTS_MARK={uuid.uuid4().hex}"
        p = subprocess.Popen(plan.command(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             text=True, env=environment(dict([name.split("=")])))
        time.sleep(plan.delay)
        victims = plan.victims(p.pid) if p.poll() is None else []
        victim = victims[int(plan.pick * len(victims))] if victims else None
        if victim is not None:
            try:
                os.kill(victim, signal.SIGKILL)
            except ProcessLookupError:
                victim = None
        elif p.poll() is None:  # between two steps of the startup: no process to kill yet
            p.kill()
            victim = p.pid
        killed = time.monotonic()
        try:
            out, err = p.communicate(timeout=HANGS_AFTER)
        except subprocess.TimeoutExpired:
            report = stuck(marked(name))
            p.kill()
            p.communicate()
            self.fail(f"{plan}: hangs\n{report}")
        if not wait_until(lambda: not marked(name), max(0.0, killed + EXIT_WITHIN - time.monotonic())):
            self.fail(f"{plan}: left {stuck(marked(name))}")
        self.check_end(plan, p, victim, out, err)
        return victim is not None

    def check_end(self, plan, p, victim, out, err):
        finished = out.count("done\n") == plan.ranks
        if victim is None or finished and p.returncode == 0:
            self.assertTrue(finished, f"{plan}\n{out}{err}")
            self.assertEqual((p.returncode, err), (0, ""), plan)
        elif victim == p.pid:
            self.assertEqual(p.returncode, -signal.SIGKILL, plan)
        else:
            self.assertGreater(p.returncode, 0, f"{plan}\n{out}{err}")
            own = "\n".join(line for line in err.splitlines() if line != "Killed") + "\n"  # printed by a shell
            self.four_parts(own)

    def test_random_kills(self):
        before, begun = left_behind(), time.monotonic()
        numbers, lock, failures, hits = itertools.count(), threading.Lock(), [], []

        def work():
            while not failures and sum(hits) < KILLS:
                with lock:
                    plan = Plan(next(numbers))
                try:
                    hits.append(self.one(plan))
                except Exception as e:  # noqa: BLE001 (any exception must reach the main thread)
                    failures.append(f"{plan}\n{e}")

        workers = [threading.Thread(target=work) for _ in range(2)]
        for w in workers:
            w.start()
        for w in workers:
            w.join()
        print(f"{sum(hits)} of {len(hits)} jobs were hit before their end, {time.monotonic() - begun:.1f} s", flush=True)
        self.assertEqual(failures, [])
        self.assertTrue(wait_until(lambda: left_behind() == before, EXIT_WITHIN), left_behind())


if __name__ == "__main__":
    main()
