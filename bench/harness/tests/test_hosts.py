# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
import os
import subprocess
import tempfile
import time
import unittest
from unittest import mock

from harness import targets, hosts, libraries, suites, runner, ucx_hosts
from harness.stats import Key, Line
from harness.suites import Run


class FakeCluster:
    """Hosts with names only."""
    hosts = []

    @staticmethod
    def command(name, words):
        return ["on", name, *words]


def library(key):
    found = next(entry for entry in hosts.all_libraries("/bin", FakeCluster()) if entry.key == key)
    found.folder = "/programs"
    return found


class Commands(unittest.TestCase):
    PAIR, OVERSUBSCRIBED = Run("latency", ("sizes=8",), 2, hosts=2), Run("collectives", (), 16, hosts=4)

    def test_launcher_runs_on_first_host(self):
        for key in ("zipmpi", "openmpi", "openmpi_ucx", "mpich"):
            command = library(key).command(self.PAIR, 2)
            self.assertEqual(command[:2], ["on", "n1"])
            self.assertEqual(command[-2:], ["/programs/latency", "sizes=8"])
            self.assertIn("n1:1,n2:1", command)
            self.assertIn(hosts.AGENT, command)

    def test_libraries_are_pinned_equally(self):
        pinned = {tuple(library(key).command(self.PAIR, 2)[-6:-2]) for key in ("zipmpi", "openmpi", "openmpi_ucx", "mpich")}
        self.assertEqual(len(pinned), 1)
        self.assertIn("% 2", pinned.pop()[2])

    def test_oversubscribed_ranks_are_not_pinned(self):
        for key in ("zipmpi", "openmpi", "openmpi_ucx", "mpich"):
            command = library(key).command(self.OVERSUBSCRIBED, 2)
            self.assertIn("n1:4,n2:4,n3:4,n4:4", command)
            self.assertNotIn("pin", command)
        self.assertIn("mpi_yield_when_idle", library("openmpi").command(self.OVERSUBSCRIBED, 2))
        self.assertNotIn("mpi_yield_when_idle", library("openmpi").command(self.PAIR, 2))

    def test_hosts_have_equal_ranks(self):
        with self.assertRaises(ValueError):
            library("zipmpi").command(Run("latency", (), 5, hosts=2), 2)
        for run in suites.runs_of("cluster"):
            self.assertEqual(run.ranks % run.hosts, 0)
            self.assertLessEqual(run.hosts, suites.MAX_HOSTS)

    def test_pinned_core_of_each_rank(self):
        for name in ("PMI_RANK", "OMPI_COMM_WORLD_RANK"):
            command = ["sh", "-c", hosts.PIN.replace("CORES", "1"), "pin", "echo", "two words"]
            run = subprocess.run(command, env=os.environ | {name: "3"}, capture_output=True, text=True, check=True)
            self.assertEqual(run.stdout, "two words\n")

    def test_agent_skips_options(self):
        env = os.environ | {"CLUSTER_AGENT": "echo agent"}
        run = subprocess.run([hosts.AGENT, "-x", "-q", "n2", "ls", "-l"], env=env, capture_output=True, text=True, check=True)
        self.assertEqual(run.stdout, "agent n2 ls -l\n")

    def test_no_hosts_without_root(self):
        with tempfile.TemporaryDirectory() as folder, mock.patch("os.geteuid", return_value=1000), \
                mock.patch.dict(os.environ), self.assertRaisesRegex(hosts.NoHosts, "only root"), hosts.made(2, folder):
            self.fail("made hosts")


class BaselineUcx(unittest.TestCase):
    def test_every_point_is_in_each_sweep(self):
        lines = ucx_hosts.list_of_tests().splitlines()
        self.assertEqual(len(lines), ucx_hosts.SWEEPS * sum(len(ucx_hosts.sizes_of(name)) for name in ucx_hosts.TESTS))
        self.assertTrue(lines[0].startswith("ucx_am_latency.8 -t ucp_am_lat -s 8 -n "))

    def test_median_of_sweeps(self):
        text = ("list,iterations,50.0_percentile_lat,avg_lat,overall_lat,avg_bw,overall_bw,avg_mr,overall_mr\n"
                "ucx_am_latency.8,1000,5.7,158.4,9.0,0.05,0.05,6309,6309\n"
                "ucx_am_latency.8,1000,5.7,158.4,7.0,0.05,0.05,6309,6309\n"
                "ucx_am_latency.8,1000,5.7,158.4,5.0,0.05,0.05,6309,6309\n"
                "ucx_am_bandwidth.65536, 300,6.6,126.2,126.2,494.9,500.0,7919,7919\n")
        self.assertEqual(ucx_hosts.parse_list(text), [Line("ucx_am_latency", 8, 7.0, "us"),
                                                      Line("ucx_am_bandwidth", 65536, 524.288, "MB/s")])
        self.assertEqual(ucx_hosts.parse_list("error\n"), [])

    def test_batch_sizes(self):
        for name in ucx_hosts.TESTS:
            for size in suites.NETWORK_SIZES:
                self.assertTrue(20 <= ucx_hosts.iterations(name, size) <= ucx_hosts.BATCH)


class RunsThatDoNotEnd(unittest.TestCase):
    def fail_with(self, script, limit, **words):
        begin = time.monotonic()
        with mock.patch.object(runner, "TO_END", 0.5), self.assertRaises(runner.RunFailed) as caught:
            runner.output_of(["sh", "-c", script], limit, **words)
        self.assertLess(time.monotonic() - begin, 20)
        return caught.exception

    def test_output_is_kept(self):
        reason = self.fail_with("echo latency 8 1 us; exec sleep 60", 60, at_once=True)
        self.assertIn("after its results", str(reason))
        self.assertEqual(reason.lines, [Line("latency", 8, 1.0, "us")])

    def test_no_output_waits_for_limit(self):
        reason = self.fail_with("exec sleep 60", 1.5, at_once=True)
        self.assertIn("within 1.5 s", str(reason))
        self.assertEqual(reason.lines, [])

    def test_pause_between_results_is_not_the_end(self):
        out = runner.output_of(["sh", "-c", "echo a; sleep 1.2; echo b"], 20)
        self.assertEqual(out, "a\nb\n")

    def test_hosts_are_cleaned_up(self):
        cleaned = []
        self.fail_with("exec sleep 60", 0.2, clean_up=lambda: cleaned.append(1))
        self.assertEqual(cleaned, [1])

    def test_failed_run_has_no_figures(self):
        self.assertEqual(self.fail_with("echo latency 8 1 us; exit 3", 20).lines, [])


class Points(unittest.TestCase):
    FIGURES = {"latency": ("latency",), "bandwidth": ("bandwidth",), "startup": ("startup",),
               "noncontig": ("contiguous_bandwidth", "vector_64_bandwidth", "vector_128_bandwidth"),
               "collectives": ("coll_bcast", "coll_allreduce", "coll_alltoall")}

    def planned(self):
        keys = {}
        for run in suites.runs_of("cluster"):
            options = dict(argument.partition("=")[::2] for argument in run.arguments)
            sizes = [int(size) for size in options.get("sizes", "0").split(",")]
            figures = (options["name"],) if "name" in options else self.FIGURES.get(run.program, ())
            names = [(name, size) for name in figures for size in sizes]
            if run.program == "memory":
                names = [("memory_start", 0), ("memory_ring", 1024)]
            if run.program == "gups":
                names = [("updates_accumulate", 8), ("updates_aggregated", 8)]
            keys.update({Key(name, run.ranks, size): run.only for name, size in names})
        return keys

    def test_every_program_is_built(self):
        built = {*libraries.MPI_PROGRAMS, *libraries.BASELINE_PROGRAMS}
        for name in set(suites.SUITES) - {suites.APPLICATIONS}:
            self.assertLessEqual({run.program for run in suites.runs_of(name)}, built, name)

    def test_runs_are_chosen_by_program_and_ranks(self):
        for name in ("collectives", "default"):
            runs = suites.runs_of(name)
            self.assertEqual(suites.chosen(runs), runs)
            self.assertEqual({run.ranks for run in suites.chosen(runs, (), [2, 4])}, {2, 4})
        self.assertEqual({(run.program, run.ranks) for run in suites.chosen(suites.runs_of("onesided"), ("lu", "gups"), [4])},
                         {("lu", 4), ("gups", 4)})
        self.assertEqual(suites.chosen(suites.runs_of("collectives"), (), [3]), [])

    def test_targets_are_in_suite(self):
        table, planned = targets.load(), self.planned()
        for entry in table["target"]:
            if entry["set"] != "cluster":
                continue
            for key in targets.keys_of(entry, table):
                self.assertIn(key, planned, entry["number"])
                if entry["reference"] == targets.BEST_PEER:
                    self.assertEqual(planned[key], suites.EVERY_LIBRARY, entry["number"])
                if entry["reference"] == targets.UCX:
                    self.assertIn(key.size, ucx_hosts.sizes_of(entry["reference_figure"]), entry["number"])


if __name__ == "__main__":
    unittest.main()
