# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Every error text of the product has the parts what, where, why and fix, and is printed once."""
import os
import tempfile
import unittest

from harness import Case, program, run, tool

RANK_1 = r"^rank 1 of 3, host \S+, pid \d+"
HERE = r"^host \S+, pid \d+$"
LINE = "^command line of mpiexec$"


def failed(function, error):
    return f"^{function} failed: MPI_ERR_{error}" + ("$" if error == "OTHER" else ", [a-z]")


def on(comm):
    return RANK_1 + f", on {comm}$"


ALONE = RANK_1 + "$"
WORLD = on("MPI_COMM_WORLD")
# case: what, where, why, fix
LIBRARY = {
    "bad_rank": (failed("MPI_Send", "RANK"), WORLD, "^destination 99 is not in MPI_COMM_WORLD, which has 3 ranks$",
                 "from 0 to 2, or MPI_PROC_NULL"),
    "bad_source": (failed("MPI_Recv", "RANK"), WORLD, "^source -7 is not in MPI_COMM_WORLD", "MPI_ANY_SOURCE"),
    "bad_tag": (failed("MPI_Send", "TAG"), WORLD, "^tag is -5, which is negative$", "from 0 to 2147483647"),
    "any_tag_in_send": (failed("MPI_Send", "TAG"), WORLD, "MPI_ANY_TAG .* only a receive", "from 0 to 2147483647"),
    "bad_count": (failed("MPI_Send", "COUNT"), WORLD, "^count is -3$", "pass 0 or more"),
    "null_buffer": (failed("MPI_Send", "BUFFER"), WORLD, "^buf is the address 0 with a count of 4$", "address of your data"),
    "in_place_in_send": (failed("MPI_Send", "BUFFER"), WORLD, "^buf is MPI_IN_PLACE", "address of your data"),
    "null_comm": (failed("MPI_Comm_size", "COMM"), ALONE, "^comm is MPI_COMM_NULL$", "valid communicator"),
    "null_pointer": (failed("MPI_Comm_size", "ARG"), WORLD, "^size is a null pointer$", "address of a variable"),
    "null_type": (failed("MPI_Send", "TYPE"), WORLD, "^datatype is MPI_DATATYPE_NULL$", "valid datatype"),
    "wrong_handle": (failed("MPI_Send", "TYPE"), WORLD, r"^datatype \(0x101\) is not a valid datatype handle",
                     "valid datatype"),
    "bad_root": (failed("MPI_Bcast", "ROOT"), WORLD, "^root 77 is not in MPI_COMM_WORLD, which has 3 ranks$", "from 0 to 2"),
    "null_op": (failed("MPI_Allreduce", "OP"), WORLD, "^op is MPI_OP_NULL$", "valid op"),
    "op_for_type": (failed("MPI_Allreduce", "OP"), WORLD, "^MPI_BAND is not defined for MPI_DOUBLE$", "MPI_Op_create"),
    "null_errhandler": (failed("MPI_Comm_set_errhandler", "ERRHANDLER"), WORLD, "is MPI_ERRHANDLER_NULL$",
                        "valid error handler"),
    "bad_error_code": (failed("MPI_Error_class", "ARG"), ALONE, "-5 is not a valid error code", "."),
    "second_init": (failed("MPI_Init", "OTHER"), ALONE, "^MPI is already initialized$", "only once; MPI_Initialized"),
    "no_such_port": (failed("MPI_Close_port", "PORT"), ALONE, '^"nonsense" is not a valid port name$', "MPI_Open_port"),
    "freed_comm": (failed("MPI_Comm_rank", "COMM"), ALONE, r"^comm \(0x[0-9a-f]+\) is not a valid communicator handle; it may have been freed", "not freed"),
    "free_world": (failed("MPI_Comm_free", "COMM"), WORLD, "^MPI_COMM_WORLD cannot be freed$", "that the application created"),
    "stale_request": (failed("MPI_Wait", "REQUEST"), ALONE, r"^request \(0x[0-9a-f]+\) is not a valid request handle", "valid request"),
    "stale_request_in_array": (failed("MPI_Waitall", "REQUEST"), ALONE, r"^array_of_requests\[2\] \(0x[0-9a-f]+\) is not a valid",
                               "MPI_REQUEST_NULL"),
    "truncation": (failed("MPI_Recv", "TRUNCATE"), WORLD,
                   "^the message from rank 1 with tag 6 has 16 bytes, the receive buffer has 4$", "receive buffer"),
    "truncation_in_waitall": (failed("MPI_Waitall", "TRUNCATE"), WORLD,
                              "^the message from rank 1 with tag 6 has 16 bytes, the receive buffer has 4$", "receive buffer"),
    "counts_differ": (failed("MPI_Bcast", "TRUNCATE"), r"^rank [12] of 3, .*, on MPI_COMM_WORLD$",
                      "^rank [012] has sent 32 bytes in this collective, this rank expects 16$", "same count"),
    "sent_less": (failed("MPI_Bcast", "NOT_SAME"), r"^rank [12] of 3, .*, on MPI_COMM_WORLD$",
                  "^rank [012] has sent 8 bytes in this collective, this rank expects 32$", "same count"),
    "functions_differ": (failed("MPI_Bcast", "NOT_SAME"), WORLD,
                         "^rank 0 has sent 0 bytes in this collective, this rank expects 32$", "same collective"),
    "own_abort": ("^rank 1 called MPI_Abort with error code 7$", WORLD, "the program requested it",
                  "output above"),
    "own_abort_zero": ("^rank 1 called MPI_Abort with error code 0$", WORLD, "the program requested it",
                       "output above"),
    "before_init": (failed("MPI_Comm_size", "OTHER"), r"^rank \d of 3, host \S+, pid \d+$",
                    "^MPI_Comm_size was called before MPI_Init$", "call MPI_Init or MPI_Init_thread first"),
    "after_finalize": (failed("MPI_Barrier", "OTHER"), r"^rank \d of 3, host \S+, pid \d+$",
                       "^MPI_Barrier was called after MPI_Finalize$", "before MPI_Finalize"),
}
STATUS = {"own_abort": 7}
NOT_RETURNED = {"functions_differ", "own_abort", "own_abort_zero", "before_init", "after_finalize"}


def job(*args, ranks=3, options=(), env=None):
    return run(tool("mpiexec"), "-n", ranks, *options, program("faulty"), *args, env=env)


class LibraryMessages(Case):
    """Rank 1 makes a mistake: one message, from the library or from mpiexec, and the status of the job."""

    def test_each(self):
        for case, patterns in LIBRARY.items():
            with self.subTest(case):
                p = job(case)
                self.assertEqual((p.returncode, p.stdout), (STATUS.get(case, 1), ""), p.stderr)
                self.check_message(p.stderr, "zipmpi", patterns)

    def test_alone(self):
        """A singleton prints the message, too."""
        p = run(program("faulty"), "bad_rank", "all")
        self.assertEqual(p.returncode, 1)
        self.check_message(p.stderr, "zipmpi", (failed("MPI_Send", "RANK"), "^rank 0 of 1", "which has 1 rank$", "pass rank 0"))


class AllRanks(Case):
    """Eight ranks make a mistake at once: one message."""

    def test_each(self):
        for case in ("bad_rank", "truncation", "null_comm", "own_abort", "before_init", "after_finalize", "counts_differ"):
            for _ in range(3):
                with self.subTest(case):
                    p = job(case, "all", ranks=8)
                    self.assertEqual((p.returncode, p.stdout), (STATUS.get(case, 1), ""), p.stderr)
                    what, where, _, _ = self.take_apart(p.stderr, "zipmpi")
                    self.assertRegex(where, r"^rank [0-7] of 8, host \S+, pid \d+")
                    self.assertRegex(what, "MPI_")


class Returned(Case):
    """Under MPI_ERRORS_RETURN a mistake returns the error class, and its text has the detail; the job continues."""

    def test_each(self):
        for case, (_, _, why, _) in LIBRARY.items():
            if case in NOT_RETURNED:
                continue
            with self.subTest(case):
                p = job(case, "return")
                self.assertEqual((p.returncode, p.stderr), (0, ""), p.stdout)
                self.assertTrue(p.stdout.startswith("right class: "), p.stdout)
                self.assertEqual(p.stdout.count("\n"), 1)
                self.assertRegex(p.stdout.strip().split("; ", 1)[1], why)


DIED = r"host \S+, pid \d+, outside MPI; its last MPI call was MPI_Barrier$"


class LauncherMessages(Case):
    def check(self, p, code, source, *patterns):
        self.assertEqual((p.returncode, p.stdout), (code, ""), p.stderr)
        self.check_message(p.stderr, source, patterns)

    def test_deaths(self):
        ended = "; the other 2 ranks were terminated$"
        for case, code, what, why in (
                ("segfault", 139, r"^rank 1 was killed by SIGSEGV \(signal 11\)", "invalid memory access"),
                ("kill_itself", 137, r"^rank 1 was killed by SIGKILL \(signal 9\)", "killed from outside"),
                ("exit_3", 3, "^rank 1 exited with status 3", "returned this status"),
                ("no_finalize", 1, "^rank 1 exited without calling MPI_Finalize", "had called MPI_Init")):
            with self.subTest(case):
                self.check(job(case), code, "mpiexec", what + ".*" + ended, "^rank 1 of 3, " + DIED, why, ".")

    def test_timeout(self):
        self.check(job("sleeps", options=("--timeout", "0.5"), env={"ZIPMPI_LAUNCH_STACK_SECONDS": "0"}), 124, "mpiexec", "^the job was terminated after 0.5 s$",
                   r"^mpiexec, host \S+$", "--timeout", "--report-hang")

    def test_command_line(self):
        mpiexec = tool("mpiexec")
        for args, code, *patterns in (
                ((), 2, "no program to start", LINE, "no program follows the options", "mpiexec -n 4"),
                (("-n", "many", "true"), 2, "value of -n", LINE, "'many' is not a number of ranks", "mpiexec -n 4"),
                (("--lable", "true"), 2, "--lable is not known", LINE, "no option of this name", "did you mean --label"),
                (("--env", "=x", "true"), 2, "value of --env", LINE, "'=x' is not NAME=VALUE", "."),
                (("--bind-to", "moon", "true"), 2, "value of --bind-to", LINE, "'moon'", "core, socket or none"),
                (("--timeout", "-1", "true"), 2, "value of --timeout", LINE, "negative", "positive"),
                (("./no-such-program",), 127, "no-such-program", r"host \S+", "No such file", "."),
                (("no-such-program-anywhere",), 127, "no-such-program-anywhere", r"host \S+", "No such file", "PATH"),
                (("/tmp",), 126, "/tmp", r"host \S+", "directory", "not a directory")):
            with self.subTest(args):
                self.check(run(mpiexec, *args), code, "mpiexec", *patterns)

    def test_not_executable(self):
        with tempfile.NamedTemporaryFile(suffix=".txt") as f:
            self.check(run(tool("mpiexec"), f.name), 126, "mpiexec", os.path.basename(f.name), r"host \S+",
                       "Permission denied|not executable|x bit", r"chmod \+x")

    def test_launchers_without_supported_protocol(self):
        """Variables of a launcher without a usable protocol: one message, never rank 0 of 1."""
        what = "^a launcher started this process, but the MPI library cannot connect to it"
        srun = {"SLURM_PROCID": "2", "SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": "4", "SLURM_JOB_ID": "77"}
        for env, why, todo in (
                (srun, "^srun reports that it started 4 processes .SLURM_STEP_NUM_TASKS=4.", "srun --mpi=pmix"),
                ({"OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_RANK": "1"},
                 "^Open MPI's mpirun reports that it started 4 processes", "ZipMPI's mpiexec"),
                ({"PMI_PORT": "host:1234", "PMI_SIZE": "4", "PMI_RANK": "1"}, "PMI_PORT=host:1234", "without -pmi-port"),
                ({"PMI_FD": "9", "PMI_RANK": "5", "PMI_SIZE": "4"}, "PMI_RANK=5 PMI_SIZE=4", "env -u PMI_FD")):
            with self.subTest(why):
                self.check(run(program("faulty"), "sleeps", env=env), 1, "zipmpi", what, HERE, why, todo)

    def test_closed_descriptor(self):
        self.check(run(program("faulty"), "sleeps", env={"PMI_FD": "99", "PMI_RANK": "1", "PMI_SIZE": "4"}), 1, "zipmpi",
                   "^the launcher's variables for PMI are set, but no launcher replies$", r"^rank 1 of 4, host \S+, pid \d+$",
                   "99", "env -u PMI_FD")


class ToolMessages(Case):
    def test_wrappers(self):
        for wrapper in ("mpicc", "mpicxx"):
            for args, env, code, *patterns in (
                    ((), {}, 1, "^there is nothing to compile$", "command line", "no files", wrapper + " -O2"),
                    (("-showme:moon",), {}, 2, "-showme:moon is not known", "command line", "incdirs", "-showme:help"),
                    (("a.c",), {"ZIPMPI_CC": "no-such-cc", "ZIPMPI_CXX": "no-such-cc"}, 127,
                     "the compiler no-such-cc was not found", wrapper, "PATH", "ZIPMPI_C")):
                with self.subTest((wrapper, args)):
                    p = run(tool(wrapper), *args, env=env)
                    self.assertEqual((p.returncode, p.stdout), (code, ""))
                    self.check_message(p.stderr, wrapper, patterns)

    def test_zipmpi(self):
        for args, *patterns in ((("moon",), "the command line is not valid", "zipmpi", "moon|subcommand", "zipmpi --help"),
                                ((), "the command line is not valid", "zipmpi", "subcommand", "zipmpi --help"),
                                (("info", "--moon"), "the command line is not valid", "zipmpi", "--moon", "zipmpi info --help")):
            with self.subTest(args):
                p = run(tool("zipmpi"), *args)
                self.assertEqual((p.returncode, p.stdout), (2, ""))
                self.check_message(p.stderr, "zipmpi", patterns)

    def test_settings(self):
        """An invalid setting does not stop a job, so its status is 0; one rank reports that it is ignored."""
        with tempfile.NamedTemporaryFile("w", suffix=".conf") as f:
            f.write("wait.spin = 5\n")
            f.flush()
            for env, *patterns in (
                    ({"ZIPMPI_WAIT_SPINZ": "5"}, "variable ZIPMPI_WAIT_SPINZ", "no parameter", "did you mean ZIPMPI_WAIT_SPINS"),
                    ({"ZIPMPI_WAIT_SPINS": "lots"}, "variable ZIPMPI_WAIT_SPINS", '"lots": not a number', "default 3000"),
                    ({"ZIPMPI_P2P_EAGER_LIMIT": "99g"}, "ZIPMPI_P2P_EAGER_LIMIT", "not between -1 and 16m", "default -1"),
                    ({"ZIPMPI_CONFIG": "/no/such/file"}, "ZIPMPI_CONFIG=/no/such/file", "No such file", "correct the path"),
                    ({"ZIPMPI_CONFIG": f.name}, f.name + " line 1, parameter wait.spin", "no parameter", "did you mean wait.spins")):
                with self.subTest(env):
                    p = job("nothing", env=env)
                    self.assertEqual((p.returncode, p.stdout), (0, ""))
                    self.check_message(p.stderr, "zipmpi", ("^a setting is ignored$", *patterns))
                    p = run(tool("zipmpi"), "info", env=env)
                    self.assertEqual(p.returncode, 1)
                    self.check_message(p.stderr, "zipmpi", ("^a setting is ignored$", *patterns))


class Quiet(Case):
    """Nothing on stderr when nothing is wrong."""

    def test_success(self):
        for command in ((tool("mpiexec"), "-n", 4, program("faulty"), "nothing"),
                        (program("faulty"), "nothing"),
                        (tool("mpiexec"), "-n", 3, program("exchange"), "small=2000", "large=1000000"),
                        (tool("mpiexec"), "-n", 2, "true"),
                        (tool("zipmpi"), "info"),
                        (tool("mpicc"), "-show")):
            with self.subTest(command):
                p = run(*command)
                self.assertEqual((p.returncode, p.stderr), (0, ""), p.stdout)


if __name__ == "__main__":
    unittest.main()
