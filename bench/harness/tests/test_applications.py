# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""The suite of applications: files, options, results, groups and pages."""
import glob
import json
import os
import tempfile
import unittest

from harness import applications, busy, intervals, libraries, page, report, runner, targets
from harness.applications import Application, BadFile
from harness.stats import Key, Line, RunFailed

FILE = """
[library.zipmpi]
folder = "zipmpi"
[library.mpich]
most_ranks = 2
[[application]]
group = "kernels"
name = "cg"
command = "{folder}/cg.x {ranks}"
ranks = [2, 4]
figure = 'Time =\\s*([\\d.]+)'
verified = "SUCCESSFUL"
wall = true
[[application]]
group = "kernels"
name = "grid"
command = {4 = "{folder}/grid 2 2", 6 = "{folder}/grid 3 2"}
figure = 'Time = ([\\d.]+)'
[[target]]
number = "1"
text = "kernels"
group = "kernels"
ranks = [4]
rule = "geometric mean"
at_most = 0.9
"""


def loaded(text, folders=None, names=()):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "a.toml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return applications.load(path, {"openmpi": "/o", "mpich": "/m"} if folders is None else folders, names)


class Files(unittest.TestCase):
    def test_commands_by_library_and_ranks(self):
        suite = loaded(FILE)
        self.assertEqual([(run.name, run.ranks) for run in suite.runs], [("cg", 2), ("cg", 4), ("grid", 4), ("grid", 6)])
        self.assertEqual(suite.runs[0].only, ("zipmpi", "openmpi", "mpich", "openmpi_ucx"))
        self.assertNotIn("mpich", suite.runs[1].only)
        known = {library.key: library for library in libraries.all_libraries("/bin")}
        self.assertEqual(known["openmpi"].command(suite.runs[1], 2), ["mpirun.openmpi", "--oversubscribe", "-n", "4", "/o/cg.x", "4"])
        self.assertEqual(known["zipmpi"].command(suite.runs[0], 2)[:3], ["/bin/mpiexec", "-n", "2"])
        self.assertEqual(suite.runs[3].words(known["openmpi_ucx"]), ["/o/grid", "3", "2"])

    def test_groups_and_targets(self):
        suite = loaded(FILE)
        self.assertEqual(suite.groups()["kernels, wall time"], [Key("cg, wall time", 2, 0), Key("cg, wall time", 4, 0)])
        table = {"groups": suite.groups(), "peers": ["openmpi"]}
        self.assertEqual(targets.keys_of(suite.targets[0], table), [Key("cg", 4, 0), Key("grid", 4, 0)])
        self.assertEqual([run.name for run in loaded(FILE, names=("grid",)).runs], ["grid", "grid"])

    def test_launcher_of_file(self):
        suite = loaded(FILE + '[library.openmpi]\nlauncher = "mpiexec.openmpi --oversubscribe"\n')
        chosen = {library.key: library for library in applications.libraries(suite, libraries.all_libraries("/bin"))}
        self.assertEqual(chosen["openmpi"].launcher, ["mpiexec.openmpi", "--oversubscribe"])
        self.assertNotIn("baseline", chosen)

    def test_mistakes_are_named(self):
        application = '[library.zipmpi]\nfolder = "z"\n[[application]]\nname = "a"\ncommand = "a"\nranks = [2]\n'
        for text, reason in ((application, "figure or wall"), (application + "figure = 'a'\n", "one group"),
                             (application + "figure = '(a'\n", "figure|unterminated|missing"), (application + "wall = true\nspeed = 1\n", "speed"),
                             (application + "figure = '(a)'\nunit = 'm'\n", "unit is one of"), ("x = [", "a.toml"),
                             (application.replace("ranks = [2]\n", "wall = true\n"), "ranks are missing"),
                             (application.replace("zipmpi", "mpich") + "wall = true\n", "--folder zipmpi=DIR"),
                             ('[library.zipmpi]\nfolder = "z"\n', "no application"),
                             (application + "figure = '(a)'\n[[application]]\nname = 'b'\ncommand = 'b'\nranks = 2\nfigure = '(b)'\n"
                              "unit = 'rate'\n", "times and rates")):
            with self.assertRaisesRegex(BadFile, reason):
                loaded(text, {})

    def test_files_of_this_folder(self):
        folder = os.path.join(libraries.BENCH, "applications")
        for path in glob.glob(os.path.join(folder, "*.toml")):
            suite = applications.load(path, {"zipmpi": "/z", "openmpi": "/o", "mpich": "/m"})
            table = {"groups": suite.groups(), "peers": []}
            for target in suite.targets:
                self.assertTrue(targets.keys_of(target, table), target["number"])
            for file in {file for run in suite.runs for _, file in run.files}:
                self.assertTrue(os.path.exists(file), file)

    def test_figures_and_named_files(self):
        suite = loaded(FILE + """
[[application]]
name = "many"
command = "{folder}/many"
ranks = [2, 4]
files = {"in.txt" = "in.{ranks}.txt"}
[[application.figures]]
name = "rate"
figure = 'a=(.*)'
unit = "GB/s"
group = "rates"
[[application.figures]]
name = "latency"
figure = 'b=(.*)'
unit = "us"
""", names=("many",))
        self.assertEqual(suite.groups(), {"rates": [Key("many rate", 2, 0), Key("many rate", 4, 0)],
                                          "applications": [Key("many latency", 2, 0), Key("many latency", 4, 0)]})
        self.assertEqual([(name, os.path.basename(path)) for name, path in suite.runs[1].files], [("in.txt", "in.4.txt")])
        self.assertEqual(suite.runs[0].lines("a=1.5\nb=2e-1\n", 0, 1), [Line("many rate", 0, 1.5, "GB/s"), Line("many latency", 0, 0.2, "us")])

    def test_mistakes_in_figures_are_named(self):
        application = '[library.zipmpi]\nfolder = "z"\n[[application]]\nname = "a"\ncommand = "a"\nranks = [2]\n'
        rate = "[[application.figures]]\nname = 'b'\nfigure = '(b)'\nunit = 'rate'\n"
        for text, reason in (("[[application.figures]]\nname = 'b'\n", "figure is missing"), (rate + "speed = 1\n", "speed"),
                             (rate.replace("(b)", "b"), "one group"), (rate.replace("'rate'", "'m'"), "unit is one of"),
                             (rate + rate, "same name"), (rate + rate.replace("'b'", "'c'").replace("rate", "us"), "times and rates")):
            with self.assertRaisesRegex(BadFile, reason):
                loaded(application + text, {})

    def test_summary_of_hpcc(self):
        """The output is abridged; each line of the summary is a name, an equals sign and a number."""
        path = os.path.join(libraries.BENCH, "applications", "hpcc.toml")
        run = applications.load(path, {"zipmpi": "/z"}).runs[0]
        values = {"HPL_Tflops": "0.0125", "PTRANS_GBs": "1.5", "MPIRandomAccess_LCG_GUPs": "7", "MPIRandomAccess_GUPs": "0.02",
                  "MPIFFT_Gflops": "0.75", "AvgPingPongBandwidth_GBytes": "9", "NaturallyOrderedRingBandwidth_GBytes": "3",
                  "RandomlyOrderedRingBandwidth_GBytes": "2.5", "AvgPingPongLatency_usec": "0.3",
                  "NaturallyOrderedRingLatency_usec": "0.4", "RandomlyOrderedRingLatency_usec": "0.5"}
        text = ("HPL 0.0125 of another section\nBegin of Summary section.\nSuccess=1\n" +
                "".join(f"{name}={value}\n" for name, value in values.items()) + "End of Summary section.\n")
        found = {line.name.removeprefix("hpcc "): (line.value, line.unit) for line in run.lines(text, 0, 1)}
        self.assertEqual(found, {
            "HPL": (0.0125, "Tflop/s"), "PTRANS": (1.5, "GB/s"), "RandomAccess": (0.02, "GUP/s"), "FFT": (0.75, "Gflop/s"),
            "ping-pong bandwidth": (9, "GB/s"), "natural ring bandwidth": (3, "GB/s"), "random ring bandwidth": (2.5, "GB/s"),
            "ping-pong latency": (0.3, "us"), "natural ring latency": (0.4, "us"), "random ring latency": (0.5, "us")})
        for broken in (text.replace("Success=1", "Success=0"), text.replace("PTRANS_GBs=1.5\n", "")):
            with self.assertRaises(RunFailed):
                run.lines(broken, 0, 1)

    def test_variants_run_the_executables_of_zipmpi(self):
        for name, added in (("ZIPMPI_CMA_ENABLE", []), ("--bind-to", ["--bind-to", "no"])):
            variants = libraries.variants_of("/bin", name, ["yes", "no"])
            suite = applications.varied(loaded(FILE), variants)
            self.assertEqual(suite.targets, [])
            self.assertEqual(suite.runs[0].only, ("zipmpi", "yes", "no"))
            self.assertEqual(variants[2].command(suite.runs[1], 2)[:-4], ["/bin/mpiexec"] + added)
            self.assertEqual(variants[2].command(suite.runs[1], 2)[-1], "4")
            self.assertEqual(variants[2].settings, () if added else ((name, "no"),))

    def test_one_program_by_options(self):
        suite = applications.from_options({"zipmpi": "/z/a.x -n 3", "openmpi": "/o/a.x"}, [2, 4], None, "s", None)
        self.assertEqual([(run.name, run.ranks, run.wall) for run in suite.runs], [("a.x", 2, True), ("a.x", 4, True)])
        with self.assertRaises(BadFile):
            applications.from_options({"openmpi": "a"}, [2], None, "s", None)


class Launcher(libraries.Library):
    """Starts the command itself."""

    def __init__(self, key):
        super().__init__(key, key, None, ["env"], [], [], ["true"])

    def command(self, run, cores):
        return run.words(self)


class OutputOfPrograms(unittest.TestCase):
    RUN = Application("cg", 2, (("zipmpi", "x"),), r"Time =\s*([\d.]+)", "s", "SUCCESSFUL", True)

    def test_figure_and_wall_time(self):
        lines = self.RUN.lines("Time =   1.5\nSUCCESSFUL\n", 10 ** 9, 3 * 10 ** 9)
        self.assertEqual(lines, [Line("cg", 0, 1.5, "s"), Line("cg, wall time", 0, 2.0, "s")])

    def test_output_without_verification_fails(self):
        with self.assertRaisesRegex(RunFailed, "lacks SUCCESSFUL"):
            self.RUN.lines("Time = 1.5\nUNSUCCESFUL\n", 0, 1)
        with self.assertRaisesRegex(RunFailed, "lacks Time"):
            self.RUN.lines("SUCCESSFUL\n", 0, 1)

    def test_files_of_a_run(self):
        with tempfile.TemporaryDirectory() as folder:
            given = os.path.join(folder, "in.txt")
            with open(given, "w", encoding="utf-8") as file:
                file.write("Time = 7 SUCCESSFUL")
            run = self.RUN._replace(commands=(("zipmpi", "sh -c 'cp in.txt result.out; pwd'"),), files=(("in.txt", given),), output="*.out")
            self.assertEqual(runner.execute(Launcher("zipmpi"), run, 2)[0].value, 7)
            self.assertEqual(os.listdir(folder), ["in.txt"])


class WholeSuite(unittest.TestCase):
    """Shell commands in place of libraries: their figures are 0.8 and 1, both times a factor that differs by round."""

    def compared(self, plan, settled=lambda results, key: False):
        with tempfile.TemporaryDirectory() as folder:
            self.log = os.path.join(folder, "log")
            script = ("sh -c 'echo {0} >> {1}; n=$(grep -c {0} {1}); awk -v n=$n \"BEGIN {{ print \\\"Time = \\\" {2} * (1 + n) }}\"; "
                      "echo SUCCESSFUL'")
            commands = tuple((key, script.format(key, self.log, value)) for key, value in (("zipmpi", 0.8), ("openmpi", 1), ("mpich", 2)))
            run = Application("cg", 2, commands, r"Time = ([\d.]+)", verified="SUCCESSFUL", group="NPB")
            rounds = runner.Rounds([Launcher(key) for key, _ in commands], [run], plan, 2, settled)
            rounds.progress.stream = open(os.devnull, "w", encoding="utf-8")  # pylint: disable=consider-using-with
            results = rounds.all()
            rounds.progress.stream.close()
            with open(self.log, encoding="utf-8") as file:
                self.order = file.read().split()
        return rounds, results

    def comparison(self):
        rounds, results = self.compared(runner.Plan(6, 60, 0.04, 1))
        table = {"peers": ["openmpi", "mpich"], "groups": {"NPB": [Key("cg", 2, 0)]}, "limit": [], "target": [
            {"number": "N1", "text": "NPB", "set": "applications", "group": "NPB", "ranks": [2], "rule": "geometric mean",
             "reference": "best peer", "at_most": 0.92}]}
        host = {"processor": "p", "cores": 2, "caches": "c", "memory": "m", "virtualization": "none", "kernel": "k", "system": "s",
                "load": 0.0}
        named = [{"key": key, "title": key, "version": "1", "command": "run"} for key in ("zipmpi", "openmpi", "mpich")]
        return {"date": "d", "commit": "c", "set": "applications", "rounds": rounds.number, "seconds": 1.0, "seed": 1, "busy": "one",
                "host": host, "absent": {"openmpi_ucx": "no component"}, "failures": [], "libraries": named, "results": results,
                "vary": None, "table": table, "verdicts": targets.evaluate_all(results, table, ("applications",))}

    def test_report(self):
        made = self.comparison()
        self.assertEqual(made["verdicts"][0].outcome, targets.MET)
        text = report.Report(made, True).whole()
        for part in ("| cg | 2 |", "0.80 (0.80-0.80)", "| openmpi_ucx | absent | no component |", "beside one other busy process",
                     "| NPB | 2 | 1 | 0.80 (0.80-0.80) |", "| N1 | NPB | at most 0.92 | 0.80 (0.80-0.80) | met |"):
            self.assertIn(part, text)
        data = json.loads(json.dumps(report.as_json(made)))
        self.assertEqual((data["ratios"][0]["best_peer"], data["ratios"][0]["pairs"], data["means"][0]["ranks"]), ("openmpi", 6, 2))
        self.assertAlmostEqual(data["means"][0]["mean"]["middle"], 0.8)

    def test_page_is_filled_again(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "npb.md")
            with open(path, "w", encoding="utf-8") as file:
                file.write(f"# NPB\n\n{page.BEGIN}\nold\n{page.END}\n\nAfter.\n")
            self.assertTrue(page.has_place(path))
            for _ in range(2):
                page.fill(path, report.Report(self.comparison(), True).page_part())
            text = page.read(path)
            self.assertFalse(page.has_place(os.path.join(folder, "absent.md")))
        self.assertEqual((text.count("| cg | 2 |"), text.count(page.END), "old" in text), (1, 1, False))
        self.assertTrue(text.startswith("# NPB\n") and text.endswith("\n\nAfter.\n"))

    def test_neighbors_of_a_round_are_shuffled_by_seed(self):
        orders = []
        for seed in (1, 1, 2):
            self.compared(runner.Plan(5, 60, 0.04, seed))
            orders.append(self.order)
        self.assertEqual(orders[0], orders[1])
        self.assertNotEqual(orders[0], orders[2])
        rounds = [tuple(orders[0][i:i + 3]) for i in range(0, 15, 3)]
        self.assertEqual({frozenset(names) for names in rounds}, {frozenset(("zipmpi", "openmpi", "mpich"))})
        self.assertGreater(len(set(rounds)), 1)

    def test_repeats_until_narrow_or_late(self):
        def narrow(results, key):
            return len(results.figure("zipmpi", key).values) >= 8
        self.assertEqual(self.compared(runner.Plan(None, 60, 0.04, 1), narrow)[0].number, 8)
        self.assertEqual(self.compared(runner.Plan(None, 0, 0.04, 1))[0].number, 1)
        self.assertEqual(self.compared(runner.Plan(None, 60, 0.04, 1), lambda results, key: True)[0].number, intervals.MIN_PAIRS)


class Slow(unittest.TestCase):
    def rounds(self, values):
        run = Application("cg", 2, tuple((key, "true") for key in values), "(x)")
        rounds = runner.Rounds([Launcher(key) for key in values], [run], runner.Plan(9, 60, 0.04, 1), 2, None)
        for key, value in values.items():
            for number in (1, 2, 3):
                rounds.results.add(key, 2, Line("cg", 0, value, "s"), number)
            rounds.slow.add((key, run))
        rounds.keys[run].add(Key("cg", 2, 0))
        rounds.abandon_slow(run, 3)
        return [library.key for library in rounds.participants(run)]

    def test_slow_peer_that_cannot_be_best_is_abandoned(self):
        self.assertEqual(self.rounds({"zipmpi": 1, "openmpi": 2, "mpich": 9}), ["zipmpi", "openmpi"])
        self.assertEqual(self.rounds({"zipmpi": 1, "openmpi": 20, "mpich": 30}), ["zipmpi", "openmpi", "mpich"])
        self.assertEqual(self.rounds({"zipmpi": 90, "openmpi": 2, "mpich": 3}), ["zipmpi", "openmpi", "mpich"])


class BusyProcesses(unittest.TestCase):
    def test_they_run_and_end(self):
        for kind, count in ((busy.NONE, 0), (busy.ONE, 1), (busy.CORES, len(os.sched_getaffinity(0)))):
            with busy.beside(kind) as processes:
                self.assertEqual(len(processes), count)
                self.assertTrue(all(process.poll() is None for process in processes))
            self.assertTrue(all(process.poll() is not None for process in processes))


if __name__ == "__main__":
    unittest.main()
