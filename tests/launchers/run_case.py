#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Starts one program with one launcher and accepts only success: status 0, the one line of rank 0, and an empty stderr.
Exits with 77 if the launcher is not installed, or if the case needs root."""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time

SKIPPED = 77
OTHER_USER = 65534
EXTERNAL = ("PMI", "OMPI_", "ZIPMPI_", "MPIEXEC_", "HYDRA_", "SLURM_")
SUITE_VARIABLE = "ZIPMPI_WAIT_FAIL_ON_MISSED_WAKEUP"  # tests/environment.cmake
LAUNCHERS = {
    "zipmpi": ["{mpiexec}", "-n", "{ranks}"],
    "openmpi": ["mpirun.openmpi", "--oversubscribe", "-n", "{ranks}"],
    "hydra": ["mpiexec.mpich", "-n", "{ranks}"],
    "singleton": [],
}


def skip(reason):
    print("skipped:", reason)
    sys.exit(SKIPPED)


def fail(reason, out=b"", err=b""):
    print("FAILED:", reason)
    print("stdout:", out.decode(errors="replace")[-2000:])
    print("stderr:", err.decode(errors="replace")[-4000:])
    sys.exit(1)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mpiexec", required=True, help="ZipMPI's launcher in the build tree")
    parser.add_argument("--library", help="libmpi_abi.so.1, for --as-other-user")
    parser.add_argument("--expect", default="exchange: ok, {ranks} ranks", help="the one line of output")
    parser.add_argument("--seconds", type=float, default=60, help="time limit of the run")
    parser.add_argument("--cpus", help="restrict everything to these CPUs with taskset")
    parser.add_argument("--as-other-user", action="store_true", help="run as user 65534 in a folder of another user")
    parser.add_argument("--through-script", action="store_true", help="start the program from a shell script")
    parser.add_argument("--two-programs", action="store_true", help="start the last rank with a separate command line")
    parser.add_argument("launcher", choices=LAUNCHERS)
    parser.add_argument("ranks", type=int)
    parser.add_argument("command", nargs=argparse.REMAINDER, help="the program and its arguments")
    return parser.parse_args()


def environment():
    env = {k: v for k, v in os.environ.items() if not k.startswith(EXTERNAL) or k == SUITE_VARIABLE}
    env.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMP_NUM_THREADS="3")
    # Used by sanitizer builds only: suppresses leaks of libpmix.
    suppressions = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "boot", "lsan.supp")
    env["LSAN_OPTIONS"] = f"suppressions={suppressions}:print_suppressions=0"
    return env


def copy_world_readable(args, folder, env):
    """Copies the program: the build tree may be in a folder that only its owner can enter."""
    if os.geteuid() != 0:
        skip("only root can become another user")
    os.chmod(folder, 0o755)
    for path in (args.mpiexec, args.command[0], args.library):
        shutil.copy(path, folder)
    os.symlink(os.path.basename(args.library), os.path.join(folder, "libmpi_abi.so.1"))
    args.mpiexec = os.path.join(folder, os.path.basename(args.mpiexec))
    args.command[0] = os.path.join(folder, os.path.basename(args.command[0]))
    env["LD_LIBRARY_PATH"] = folder
    env["HOME"] = "/nonexistent"


def wrap_in_script(args, folder):
    script = os.path.join(folder, "program with a space.sh")
    with open(script, "w", encoding="utf-8") as file:
        file.write('#!/bin/sh\ncd / || exit 9\n"$@"\nstatus=$?\ntrue\nexit $status\n')
    os.chmod(script, 0o755)
    args.command.insert(0, script)


def command_line(args):
    launcher = [word.format(mpiexec=args.mpiexec, ranks=args.ranks) for word in LAUNCHERS[args.launcher]]
    if launcher and shutil.which(launcher[0]) is None:
        skip(launcher[0] + " is not installed")
    line = [*launcher, *args.command]
    if args.two_programs:
        check = 'test "$SECOND" = "a b" && test "$FIRST" = "" && exec "$@"'
        line = [args.mpiexec, "-n", str(args.ranks - 1), "--env", "FIRST=1", *args.command, ":",
                "-n", "1", "--env", "SECOND=a b", "sh", "-c", check, "sh", *args.command]
    if args.cpus:
        allowed = sorted(os.sched_getaffinity(0))
        line = ["taskset", "-c", args.cpus.format(first=allowed[0], last=allowed[-1]), *line]
    return line


def main():
    args = arguments()
    env = environment()
    with tempfile.TemporaryDirectory(prefix="launchers-") as folder:
        if args.as_other_user:
            copy_world_readable(args, folder, env)
        if args.through_script:
            wrap_in_script(args, folder)
        line = command_line(args)
        user = {"user": OTHER_USER, "group": OTHER_USER, "extra_groups": []} if args.as_other_user else {}
        begin = time.monotonic()
        try:
            run = subprocess.run(line, stdin=subprocess.DEVNULL, capture_output=True, timeout=args.seconds, env=env,
                                 check=False, **user)
        except subprocess.TimeoutExpired as late:
            fail(f"not done after {args.seconds} s: {' '.join(line)}", late.stdout or b"", late.stderr or b"")
    if run.returncode != 0:
        fail(f"status {run.returncode}: {' '.join(line)}", run.stdout, run.stderr)
    if run.stdout.decode() != args.expect.format(ranks=args.ranks) + "\n":
        fail("rank 0 printed something else", run.stdout, run.stderr)
    if run.stderr:
        fail("stderr is not empty", run.stdout, run.stderr)
    print(f"ok, {time.monotonic() - begin:.2f} s: {' '.join(line)}")


if __name__ == "__main__":
    main()
