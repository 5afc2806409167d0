# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Windows over hosts with an emulated RDMA device (stub_device.cpp): every kind of lock and of atomics."""
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../multinode"))
from cluster import SKIP, CannotRun  # noqa: E402
from harness import ClusterCase  # noqa: E402

FOLDER = os.environ["TEST_MPI_FOLDER"]
STUB_DEVICE = os.environ["TEST_STUB_DEVICE"]
IDLE_TARGET = os.environ["TEST_IDLE_TARGET"]
SYNCHRONIZATION = os.environ["TEST_SYNCHRONIZATION"]
ROUNDS = os.environ.get("TEST_ROUNDS", "12")
LOCKS = ("cpu", "network", "hybrid")


class StubCase(ClusterCase):
    def program(self, path, *arguments, hosts="n1:2,n2:2", ranks=4, stub=(), **settings):
        """stub: settings of the device."""
        settings = {"RMA_RDMA_MODULE": STUB_DEVICE, **settings}
        words = [*stub, *(f"ZIPMPI_{name}={value}" for name, value in settings.items())]
        r = self.mpiexec("-n", str(ranks), "--host", hosts, "env", *words, path, *arguments)
        self.quiet(r)
        self.assertIn(f"{os.path.basename(path)}: ok", r.out)


class Windows(StubCase):
    HOSTS = 2

    def mpi_program(self, name, *arguments, **settings):
        self.program(os.path.join(FOLDER, name), *arguments, **settings)

    def test_windows(self):
        for atomics in ("cpu", "network"):
            with self.subTest(atomics=atomics):
                self.mpi_program("windows", RMA_ATOMICS=atomics)
        self.mpi_program("windows_errors")
        for lock in LOCKS:
            with self.subTest(lock=lock):
                self.mpi_program("windows_nonblocking", RMA_LOCK_MODE=lock)
        self.mpi_program("windows_hints", "hybrid")
        self.mpi_program("windows_busy_target", RMA_ATOMICS="network")

    def test_random(self):
        for number, lock in enumerate(LOCKS):
            for atomics in ("cpu", "network"):
                with self.subTest(lock=lock, atomics=atomics):
                    self.mpi_program("random_windows", f"seed={31 + number}", f"rounds={ROUNDS}", RMA_LOCK_MODE=lock, RMA_ATOMICS=atomics,
                                     RMA_HYBRID_LOCK_TURNS=2)

    def test_threads(self):
        self.mpi_program("random_windows", "seed=41", f"rounds={int(ROUNDS) // 3}", "threads=3", RMA_ATOMICS="network", RMA_HYBRID_LOCK_TURNS=1)

    def test_target_computes(self):
        """Only the device of the target takes part."""
        for lock in ("network", "hybrid", "auto"):
            with self.subTest(lock=lock):
                self.program(IDLE_TARGET, "compute", hosts="n1:2,n2:1", ranks=3, RMA_ATOMICS="network", RMA_LOCK_MODE=lock, RMA_PROGRESS_THREAD="no")

    def test_any_order(self):
        """Operations to different targets take effect in any order, long after the origin has issued them."""
        for seed in (1, 2):
            with self.subTest(seed=seed):
                self.mpi_program("random_windows", f"seed={50 + seed}", f"rounds={int(ROUNDS) // 3}", stub=[f"STUB_SEED={seed}", "STUB_HOLD_US=100"], RMA_LOCK_MODE=LOCKS[seed],
                                 RMA_ATOMICS="network")


class ManyTargets(StubCase):
    """One rank on each of four hosts, and puts to all."""
    HOSTS = 4

    def synchronization(self, *arguments, stub=(), **settings):
        self.program(SYNCHRONIZATION, *arguments, hosts="n1:1,n2:1,n3:1,n4:1", stub=stub, **settings)

    def reports(self, *arguments, stub=()):
        """What the devices counted: most flushes in flight, atomic additions."""
        with tempfile.NamedTemporaryFile("r", dir=os.path.dirname(STUB_DEVICE)) as report:
            self.synchronization(*arguments, stub=[f"STUB_REPORT={report.name}", *stub])
            return [tuple(map(int, line.split())) for line in report.read().splitlines()]

    def test_flushes_are_in_flight_at_once(self):
        """Each device has flushes of all three targets in flight: one round trip, not three."""
        for kind in ("fence", "complete", "unlock_all"):
            with self.subTest(kind=kind):
                found = self.reports(kind, "20", "acknowledged", stub=["STUB_SEED=7", "STUB_HOLD_US=3000"])
                self.assertEqual([flushes for flushes, _ in found], [3] * 4)

    def test_order(self):
        for seed, fence in enumerate(("acknowledged", "notified", "auto"), start=1):
            for device in ("kept", "none"):
                with self.subTest(fence=fence, device=device):
                    order = [] if device == "kept" else [f"STUB_ORDER={device}"]
                    self.synchronization("order", "30", fence, stub=[f"STUB_SEED={seed}", *order])

    def test_notifications(self):
        """One atomic per target and fence, if the device keeps the order of puts and atomics."""
        for kind in ("fence", "ifence"):
            for fence, stub, expected in (("notified", (), 60), ("auto", (), 60), ("acknowledged", (), 0), ("notified", ["STUB_ORDER=none"], 0)):
                with self.subTest(kind=kind, fence=fence, stub=stub):
                    found = self.reports(kind, "20", fence, stub=["STUB_SEED=4", *stub])
                    self.assertEqual([additions for _, additions in found], [expected] * 4)

    def test_order_matters(self):
        """The program fails on a device that does not keep the order that it claims."""
        words = (f"ZIPMPI_RMA_RDMA_MODULE={STUB_DEVICE}", "STUB_SEED=5", "STUB_ORDER=claimed", "STUB_HOLD_US=20000")
        r = self.mpiexec("-n", "4", "--host", "n1:1,n2:1,n3:1,n4:1", "env", *words, SYNCHRONIZATION, "fence", "50", "notified")
        self.assertIn("check failed", r.err, r)


if __name__ == "__main__":
    try:
        unittest.main()
    except CannotRun as why:
        print(why)
        sys.exit(SKIP)
