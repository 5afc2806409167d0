# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""mpiexec --profile and --trace, zipmpi trace and its formats, on a program with known messages and waits."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import installed  # noqa: E402

BIN = os.environ["TEST_BIN"]
PROGRAM = os.environ["TEST_TRACED"]
MESSAGES = 41
# Trace Event Format: the fields of each phase that zipmpi writes, all required, with their types; arguments of a call.
EVERY_EVENT = {"ph": str, "name": str, "pid": int, "tid": int}
FLOW_EVENT = EVERY_EVENT | {"cat": str, "id": int, "ts": float}
TRACE_EVENTS = {"X": EVERY_EVENT | {"cat": str, "ts": float, "dur": float, "args": dict}, "M": EVERY_EVENT | {"args": dict},
                "s": FLOW_EVENT, "f": FLOW_EVENT | {"bp": str}}
CALL_ARGUMENTS = {"bytes": int, "peer": int, "tag": int}
OTHER_CLOCK = """#!/bin/sh
host=$1; shift
[ "$host" = n2 ] && exec unshare -T --monotonic 100000 sh -c "$*"
exec sh -c "$*"
"""


def run(*command, **options):
    return subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=60, check=False, **options)


def has_time_namespaces():
    return run("unshare", "-T", "--monotonic", "100000", "true").returncode == 0


class Traced(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="zipmpi-trace-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.dir = os.path.join(self.folder, "traces")

    def good(self, *command, **options):
        p = run(*command, **options)
        self.assertEqual((p.returncode, p.stderr), (0, ""), p.stdout)
        return p.stdout

    def trace(self, *options, program=PROGRAM, arguments=()):
        self.good(f"{BIN}/mpiexec", "-n", 4, "--bind-to", "none", "--trace", self.dir, *options, program, *arguments)

    def facts(self):
        return json.loads(self.good(f"{BIN}/zipmpi", "trace", self.dir, "--json"))

    def path(self, name):
        return os.path.join(self.folder, name)

    def check_messages(self, facts):
        self.assertEqual((facts["messages"], facts["unmatched"]), (MESSAGES, 0))
        self.assertEqual([r["rank"] for r in facts["by_rank"]], [0, 1, 2, 3])
        self.assertTrue(all(r["complete"] and r["untracked_requests"] == 0 for r in facts["by_rank"]))


class Profile(Traced):
    def test_table(self):
        p = run(f"{BIN}/mpiexec", "-n", 4, "--bind-to", "none", "--profile", "--wdir", self.folder, PROGRAM)
        self.assertEqual((p.returncode, p.stdout), (0, ""), p.stderr)
        lines = p.stderr.splitlines()
        self.assertRegex(lines[0], r"^profile of 4 ranks, \d+\.\d+ m?s: [0-9.]+ % of the time in MPI; "
                                   r"lowest [0-9.]+ % \(rank [0-3]\), highest [0-9.]+ % \(rank [0-3]\)$")
        rows = {line.split()[0]: line.split() for line in lines[2:]}
        self.assertEqual(rows["MPI_Barrier"][1], "8")
        self.assertRegex(lines[-1], r"^  and \d+ other functions$")
        self.assertEqual(len(lines), 13)
        self.assertEqual(os.listdir(self.folder), [])

    def test_nothing_is_loaded_without_the_option(self):
        maps = self.good(f"{BIN}/mpiexec", "-n", 1, "cat", "/proc/self/maps")
        self.assertNotIn("zipmpi_trace", maps)
        self.assertIn("zipmpi_trace_standard.so", self.good(f"{BIN}/mpiexec", "-n", 1, "--profile", "cat", "/proc/self/maps"))

    def test_not_on_another_library(self):
        mpicc = installed.needed("mpicc.openmpi")
        program = self.path("program")
        self.good(mpicc, "-w", os.path.join(os.path.dirname(os.path.abspath(__file__)), "traced.c"), "-o", program)
        p = run(f"{BIN}/mpiexec", "-n", 1, "--mpi", "own", "--profile", "--dry-run", program)
        self.assertIn("the calls of this program are not recorded", p.stderr)


class Trace(Traced):
    def test_messages_and_waits(self):
        self.trace()
        facts = self.facts()
        self.check_messages(facts)
        self.assertEqual(sum(p["messages"] for p in facts["peers"]), MESSAGES)
        self.assertEqual(facts["bytes"], 4 * MESSAGES)
        for kind, waiting, late in (("late_senders", 1, 0), ("late_receivers", 2, 3)):
            pairs = {(w["waiting"], w["late"]): w["seconds"] for w in facts[kind]}
            self.assertGreater(pairs.get((waiting, late), 0), 0.03, kind)
        waits = {(w["waiting"], w["late"]): w["seconds"] for w in facts["collective_waits"]}
        self.assertTrue(all(waits[rank, 2] > 0.02 for rank in (0, 1, 3)), waits)
        path = facts["critical_path"]
        # It goes from the start of some rank, which may be later than the first, to the end of the last one.
        self.assertLessEqual(path["seconds"], facts["seconds"] + 0.001)
        self.assertGreaterEqual(path["seconds"], min(r["seconds"] for r in facts["by_rank"]) - 0.001)
        self.assertGreater(next(r["seconds"] for r in path["ranks"] if r["rank"] == 2), 0.02)
        text = self.good(f"{BIN}/zipmpi", "trace", self.dir)
        for line in (r"^job zipmpi-\w+: 4 of 4 ranks on 1 hosts, .* 41 messages, 164 bytes$", r"^late senders$",
                     r"^  rank 1 waits for rank 0: \d", r"^critical path: "):
            self.assertRegex(text, re.compile(line, re.M))

    def test_limit(self):
        self.trace("--trace-limit", "1", arguments=("60000",))
        facts = self.facts()
        self.assertGreater(facts["by_rank"][0]["dropped_records"], 30000)
        self.assertLessEqual(max(os.path.getsize(os.path.join(self.dir, f)) for f in os.listdir(self.dir)), (1 << 20) + 4096)
        self.assertIn("raise --trace-limit", self.good(f"{BIN}/zipmpi", "trace", self.dir))

    def test_programs_of_other_libraries(self):
        for library in ("openmpi", "mpich"):
            mpicc = installed.find("mpicc." + library)
            if mpicc is None:
                continue
            with self.subTest(library=library):
                program, self.dir = self.path(library), self.path("trace-" + library)
                self.good(mpicc, "-w", os.path.join(os.path.dirname(os.path.abspath(__file__)), "traced.c"), "-o", program)
                self.trace(program=program)
                self.check_messages(self.facts())

    def test_no_trace(self):
        p = run(f"{BIN}/zipmpi", "trace", self.folder)
        self.assertEqual((p.returncode, p.stdout), (1, ""))
        self.assertIn("no trace was found", p.stderr)

    @unittest.skipUnless(has_time_namespaces(), "time namespaces are not permitted")
    def test_clocks_of_hosts(self):
        agent = self.path("agent")
        with open(agent, "w", encoding="utf-8") as f:
            f.write(OTHER_CLOCK)
        os.chmod(agent, 0o755)
        self.trace("--host", "n1:2,n2:2", "--launch-agent", agent)
        facts = self.facts()
        self.check_messages(facts)
        self.assertLess(facts["seconds"], 60)  # the clock of n2 is 100000 s ahead
        self.good(f"{BIN}/zipmpi", "trace", self.dir, "--perfetto", self.path("out.json"))
        self.check_flows(self.path("out.json"), tolerance=20000)

    def check_flows(self, path, tolerance):
        """A message is received after it was sent, up to the error of the clocks in us."""
        with open(path, encoding="utf-8") as f:
            events = json.load(f)["traceEvents"]
        ends = {(e["ph"], e["id"]): e["ts"] for e in events if e["ph"] in "sf"}
        self.assertEqual(len(ends), 2 * MESSAGES)
        for number in range(1, MESSAGES + 1):
            self.assertLess(ends["s", number] - tolerance, ends["f", number])
        return events


class Formats(Trace):
    """Files for other tools; the tests of Trace run once."""
    test_messages_and_waits = test_limit = test_programs_of_other_libraries = test_no_trace = test_clocks_of_hosts = None

    def setUp(self):
        super().setUp()
        self.trace()

    def test_perfetto(self):
        out = self.path("out.json")
        self.assertEqual(self.good(f"{BIN}/zipmpi", "trace", self.dir, "--perfetto", out), "")
        with open(out, encoding="utf-8") as f:
            document = json.load(f)
        self.assertEqual(document.keys(), {"displayTimeUnit", "traceEvents"})
        self.assertIn(document["displayTimeUnit"], ("ms", "ns"))
        events = self.check_flows(out, tolerance=1)
        calls = 0
        for e in events:
            self.assertEqual({name: type(value) for name, value in e.items()}, TRACE_EVENTS[e["ph"]])
            self.assertGreaterEqual(e.get("ts", 0), 0)
            self.assertGreaterEqual(e.get("dur", 0), 0)
            self.assertIn(e.get("bp", "e"), ("e", "s"))
            if e["ph"] == "X":
                calls += 1
                self.assertLessEqual({(name, type(value)) for name, value in e["args"].items()}, set(CALL_ARGUMENTS.items()))
        self.assertEqual(calls, self.facts()["calls"])
        self.assertEqual({e["args"]["name"].split(" on ")[0] for e in events if e["name"] == "process_name"},
                         {"rank 0", "rank 1", "rank 2", "rank 3"})

    def test_html(self):
        page = self.path("out.html")
        self.assertEqual(self.good(f"{BIN}/zipmpi", "trace", self.dir, "--html", page), "")
        with open(page, encoding="utf-8") as f:
            text = f.read()
        self.assertNotRegex(text, r"https?://|src=|href=")
        self.assertIn("late senders", text)
        browser = installed.needed(*installed.BROWSERS)
        shown = run(browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={self.folder}/profile",
                    "--dump-dom", "file://" + page).stdout
        self.assertRegex(shown, r"<span><i style=\"background: [^>]*></i>MPI_Barrier</span>")

    def test_otf2(self):
        reader = installed.needed("otf2-print")
        if not os.path.exists(f"{BIN}/../lib/zipmpi/zipmpi_otf2.so"):
            self.skipTest("this build has no OTF2")
        self.assertEqual(self.good(f"{BIN}/zipmpi", "trace", self.dir, "--otf2", self.path("otf2")), "")
        printed = self.good(reader, self.path("otf2/trace.otf2"))
        for name, count in (("MPI_SEND", MESSAGES), ("MPI_RECV", MESSAGES), ("ENTER", self.facts()["calls"]),
                            ("LEAVE", self.facts()["calls"]), ("MPI_COLLECTIVE_END", 12)):
            self.assertEqual(len(re.findall(rf"^{name} ", printed, re.M)), count, name)
        p = run(f"{BIN}/zipmpi", "trace", self.dir, "--otf2", self.path("otf2"))
        self.assertIn("the folder exists", p.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
