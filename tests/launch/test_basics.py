# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
import os
import select
import subprocess
import tempfile
import time
import unittest

from harness import Case, LOCAL_AGENT, MPIEXEC, children, environment, expand, run, shell, start, ticks, wait_until


class Starting(Case):
    def test_rank_and_size_variables(self):
        r = shell(5, 'echo "$PMI_RANK/$PMI_SIZE/$MPI_LOCALRANKID/$MPI_LOCALNRANKS/$ZIPMPI_LOCAL_INDEX/$PMI_SPAWNED"')
        self.quiet(r)
        self.assertEqual(sorted(r.out.split()), [f"{i}/5/{i}/5/{i}/0" for i in range(5)])

    def test_descriptors_are_inherited(self):
        r = shell(2, 'test -S /proc/self/fd/$PMI_FD && readlink /proc/self/fd/$ZIPMPI_NODE_FD')
        self.quiet(r)
        self.assertEqual(r.out.count("memfd:zipmpi-node"), 2)

    def test_env_is_passed_and_set(self):
        r = run("-n", 2, "--env", "A=x y", "--env", "B=", "sh", "-c", 'echo "$A|$B|$C"', env={"C": "kept", "A": "old"})
        self.assertEqual(r.out, "x y||kept\n" * 2)

    def test_variables_of_outer_launchers_are_removed(self):
        r = shell(1, 'echo "$PMI_RANK $PMIX_RANK. $OMPI_COMM_WORLD_RANK $OMPI_UNIVERSE_SIZE. $SLURM_JOB_ID"', "--pmix", "no",
                  env={"PMI_RANK": "9", "PMIX_RANK": "9", "OMPI_COMM_WORLD_RANK": "9", "OMPI_UNIVERSE_SIZE": "9",
                       "SLURM_JOB_ID": "5"})
        self.assertEqual(r.out, "0 . 0 . 5\n")

    def test_huge_pages(self):
        program = ("import os; kept = bytearray(64 << 20); lines = open('/proc/self/smaps_rollup').read().splitlines();"
                   "huge = [int(l.split()[1]) for l in lines if l.startswith('AnonHugePages')];"
                   "print(os.environ.get('GLIBC_TUNABLES'), huge[0] >= 32 << 10)")
        with open("/sys/kernel/mm/transparent_hugepage/enabled") as f:
            mode = f.read()
        for setting, expected in (("yes", ("glibc.malloc.hugetlb=1", "[never]" not in mode)),
                                  ("no", (None, "[always]" in mode))):
            r = run("-n", 1, "python3", "-c", program, env={"ZIPMPI_LAUNCH_HUGE_PAGES": setting})
            self.quiet(r)
            self.assertEqual(r.out, "%s %s\n" % expected)

    def test_options_end_at_the_program(self):
        self.assertEqual(run("-n", 1, "echo", "-n", "x").out, "x")
        self.assertEqual(run("-np", 1, "-label", "printf", "%s\\n", "--label").out, "[0] --label\n")

    def test_several_programs(self):
        r = run("-n", 1, "sh", "-c", "echo a$PMI_RANK/$PMI_SIZE", ":", "-n", 2, "--env", "X=1", "sh", "-c", "echo b$PMI_RANK$X")
        self.assertEqual(sorted(r.out.split()), ["a0/3", "b11", "b21"])

    def test_more_ranks_than_cores(self):
        r = shell(128, "echo $PMI_RANK")
        self.quiet(r)
        self.assertEqual(sorted(map(int, r.out.split())), list(range(128)))

    def test_help_and_version(self):
        for option, word in (("--help", "Examples:"), ("--version", "ZipMPI")):
            r = run(option)
            self.quiet(r)
            self.assertIn(word, r.out)

    def test_script_without_interpreter_line(self):
        path = os.path.join(os.environ.get("TMPDIR", "/tmp"), f"launch-script-{os.getpid()}")
        with open(path, "w") as f:
            f.write("echo script $PMI_RANK\n")
        os.chmod(path, 0o755)
        self.addCleanup(os.unlink, path)
        self.assertEqual(run("-n", 1, path).out, "script 0\n")


class Binding(Case):
    MASK = "grep Cpus_allowed_list /proc/self/status"

    def allowed(self, ranks, *options):
        r = shell(ranks, self.MASK, *options)
        self.quiet(r)
        return sorted(line.split()[-1] for line in r.out.splitlines())

    def test_none(self):
        mine = ",".join(map(str, sorted(os.sched_getaffinity(0))))
        for mask in self.allowed(2, "--bind-to", "none"):
            self.assertEqual(len(expand(mask)), len(mine.split(",")))

    def test_core(self):
        cores = len(os.sched_getaffinity(0))
        masks = self.allowed(2, "--bind-to", "core")
        if cores >= 2:
            self.assertEqual(len(set(masks)), 2, masks)
        self.assertEqual(len(self.allowed(cores + 1, "--bind-to", "core")), cores + 1)

    def test_no_default_binding_with_too_many_ranks(self):
        cores = len(os.sched_getaffinity(0))
        for mask in self.allowed(cores + 1):
            self.assertEqual(len(expand(mask)), cores)


def full(pipe):
    """Whether a write to a pipe would block. (Its byte count does not tell: a write that does not fit begins a new page.)"""
    other_end = os.open(f"/proc/self/fd/{pipe.fileno()}", os.O_WRONLY | os.O_NONBLOCK)
    try:
        return not select.select([], [other_end], [], 0)[1]
    finally:
        os.close(other_end)


class Output(Case):
    def test_variables_of_other_launchers(self):
        """Two hosts of unequal numbers of ranks, dealt out in turn: rank in the job and on the host, and both sizes, differ."""
        names = ["RANK", "SIZE", "LOCAL_RANK", "LOCAL_SIZE", "NODE_RANK"]
        script = "echo $PMI_RANK $PMI_SIZE $MPI_LOCALRANKID $MPI_LOCALNRANKS " + " ".join(f"$OMPI_COMM_WORLD_{n}" for n in names)
        r = shell(4, script, "--host", "a:3,b:1", "--map-by", "node", "--launch-agent", LOCAL_AGENT)
        self.quiet(r)
        self.assertEqual(sorted(r.out.splitlines()), ["0 4 0 3 0 4 0 3 0", "1 4 0 1 1 4 0 1 0", "2 4 1 3 2 4 1 3 1", "3 4 2 3 3 4 2 3 2"])

    def test_nested_job_has_its_own_variables(self):
        r = shell(3, f'"{MPIEXEC}" -n 1 sh -c "echo \\$OMPI_COMM_WORLD_SIZE \\$MPI_LOCALNRANKS"')
        self.assertEqual((r.out, r.err), ("1 1\n" * 3, ""))

    def test_stdout_and_stderr_are_separate(self):
        r = shell(3, "echo out; echo err >&2", "--label")
        self.assertEqual(sorted(r.out.splitlines()), [f"[{i}] out" for i in range(3)])
        self.assertEqual(sorted(r.err.splitlines()), [f"[{i}] err" for i in range(3)])

    def test_last_line_without_newline(self):
        self.assertEqual(run("-n", 1, "printf", "a\\nb").out, "a\nb")
        self.assertEqual(run("-n", 1, "--label", "printf", "a\\n\\nb").out, "[0] a\n[0] \n[0] b")

    def test_lines_are_complete_and_in_order(self):
        lines = 12500
        script = ("import sys\nr=sys.argv[1]\nfor i in range(%d):\n"
                  " sys.stdout.write('%%s %%d %%s\\n' %% (r, i, 'x' * (i %% 97)))" % lines)
        r = run("-n", 8, "sh", "-c", 'exec python3 -c "$0" $PMI_RANK', script)
        self.quiet(r)
        following = [0] * 8
        for line in r.out.splitlines():
            rank, number, filler = line.split(" ")
            self.assertEqual((int(number), len(filler)), (following[int(rank)], int(number) % 97))
            following[int(rank)] += 1
        self.assertEqual(following, [lines] * 8)

    def test_binary_output(self):
        data = os.urandom(3000000)
        with tempfile.NamedTemporaryFile() as f:
            f.write(data)
            f.flush()
            r = run("-n", 1, "cat", f.name, binary=True)
        self.assertEqual((r.code, r.err), (0, b""))
        self.assertTrue(r.out == data, f"{len(r.out)} bytes arrived, they differ")

    def test_slow_reader_loses_nothing(self):
        p = start("-n", 2, "sh", "-c", "seq 1 200000")
        self.assertTrue(wait_until(lambda: full(p.stdout), 10), "mpiexec did not fill the pipe")
        out, err = p.communicate(timeout=20)
        self.assertEqual((p.returncode, err), (0, ""))
        self.assertTrue(sorted(map(int, out.split())) == sorted(2 * list(range(1, 200001))), "lines were lost or changed")

    def test_reader_that_pauses_costs_no_cpu(self):
        # The rank fills all buffers, and exits. Its daemon has to keep the rest until the reader continues.
        fill = ("import os, time\nos.set_blocking(1, False)\nend = time.monotonic() + 0.5\n"
                "while time.monotonic() < end:\n"
                "    try:\n        os.write(1, b'x' * 4095 + b'\\n')\n        end = time.monotonic() + 0.5\n"
                "    except BlockingIOError:\n        time.sleep(0.01)\n")
        p = start("-n", 1, "python3", "-c", fill)
        self.assertTrue(wait_until(lambda: any(map(children, children(p.pid))), 10), "the rank did not start")
        self.assertTrue(wait_until(lambda: not any(map(children, children(p.pid))), 20), "the rank did not exit")
        self.assertTrue(children(p.pid) and full(p.stdout))
        time.sleep(1.2)  # after that time the daemon would close pipes that other processes hold
        before = sum(map(ticks, children(p.pid)))
        time.sleep(1)
        spent = sum(map(ticks, children(p.pid))) - before
        out, err = p.communicate(timeout=20)
        self.assertEqual((p.returncode, err), (0, ""))
        self.assertLess(spent, 20)

    def test_reader_that_exits(self):
        begun = time.monotonic()
        p = subprocess.run(["sh", "-c", f"'{MPIEXEC}' -n 2 yes | head -n 1"], capture_output=True, timeout=20, env=environment())
        self.assertEqual(p.stdout, b"y\n")
        self.assertLess(time.monotonic() - begun, 5)

    def test_prompt_without_newline_is_shown(self):
        p = start("-n", 2, "sh", "-c", 'test $PMI_RANK = 1 || { printf "name? "; read x; echo "hello $x"; }',
                  stdin=subprocess.PIPE)
        self.assertEqual(p.stdout.read(6), "name? ")
        out, _ = p.communicate("you\n", timeout=10)
        self.assertEqual(out, "hello you\n")

    def test_closed_descriptors(self):
        p = subprocess.run(["sh", "-c", f"'{MPIEXEC}' -n 2 echo x <&- >&- 2>&-; echo $?"], capture_output=True, timeout=20,
                           env=environment())
        self.assertEqual(p.stdout, b"0\n")


class Input(Case):
    def test_goes_to_rank_0(self):
        r = shell(3, 'echo "$PMI_RANK:$(cat)"', stdin=b"one\ntwo")
        self.assertEqual(sorted(r.out.splitlines()), ["0:one", "1:", "2:", "two"])

    def test_large(self):
        data = os.urandom(5000000)
        r = run("-n", 1, "cat", stdin=data, binary=True)
        self.assertEqual(r.out, data)

    def test_program_that_does_not_read(self):
        r = run("-n", 2, "true", stdin=b"x" * 3000000)
        self.quiet(r)

    def test_open_stdin_does_not_delay_exit(self):
        p = start("-n", 2, "true", stdin=subprocess.PIPE)
        self.assertEqual(p.wait(10), 0)
        p.communicate()

    def test_idle_stdin_uses_no_cpu(self):
        for source in (subprocess.DEVNULL, subprocess.PIPE):
            p = start("-n", 2, "sleep", "1.5", stdin=source)
            time.sleep(1.2)
            spent = ticks(p.pid)
            p.communicate()
            self.assertLess(spent, 30)


if __name__ == "__main__":
    unittest.main()
