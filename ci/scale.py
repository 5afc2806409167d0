#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""usage: ci/scale.py [BUILD_DIR [PART...]]

Large jobs on this machine, as tables for docs/performance/scale.md: up to 10,000 ranks on one host (part ranks), kill -9 of
mpiexec and of a tenth of the ranks (part kill), 200 hosts made of namespaces with 5 ranks each (part hosts), simulated jobs of
up to 10^6 ranks (part simulation). Some minutes on two cores, 12 GiB, as root.
"""
import os
import platform
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RANKS = (100, 1000, 2000, 4000, 10000)  # or as many as the limit of open files permits
HOSTS = (20, 40, 200)
RANKS_PER_HOST = 5
KILLED_RANKS = 10000
JOBS_OF_KILLED_RANKS = (200, 1000, 4000, 10000)
SECONDS = 150  # limit of one job
SIMULATED_RANKS = (10, 100, 1000, 10000, 100000, 1000000)
SIMULATED_PER_NODE = 100
MOST_FLAT_ALLTOALL = 10000  # 10 GiB; its schedules copy each block in each round


def describe_machine():
    lines = subprocess.run(["lscpu"], capture_output=True, text=True).stdout.splitlines()
    values = {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    print(f"{values.get('Model name')} (model {values.get('Model')}), {os.cpu_count()} CPUs, Linux {platform.release()}\n")


def measure_ranks(mpiexec, program):
    print("| ranks | seconds | private KiB per rank | page tables | of the machine | barrier ms | switches per rank |")
    print("|---|---|---|---|---|---|---|")
    for ranks in map(large_jobs.most_ranks, RANKS):
        f = large_jobs.run_ranks(mpiexec, program, ranks, seconds=SECONDS)
        print(f"| {ranks} | {f['seconds']:.2f} | {f['private_kib']:.0f} | {f['page_tables_kib']:.0f} | {f['machine_kib']:.0f} "
              f"| {f['barrier_ms']:.1f} | {f['switches']:.0f} |", flush=True)
    print()


def measure_kill(mpiexec, program):
    ranks = large_jobs.most_ranks(KILLED_RANKS)
    seconds = large_jobs.kill_launcher(mpiexec, program, ranks, seconds=SECONDS)
    print(f"kill -9 of mpiexec with {ranks} ranks: nothing left after {seconds:.1f} s\n", flush=True)
    print("| ranks | killed | ended s | nothing left s | --keep-going: agreed s | of it agreement ms | shrink ms | nothing left s |\n"
          "|---|---|---|---|---|---|---|---|")
    survivors = os.path.join(os.path.dirname(program), "survivors")
    for ranks in map(large_jobs.most_ranks, JOBS_OF_KILLED_RANKS):
        end, go = (large_jobs.kill_ranks(mpiexec, survivors, ranks, keep_going, SECONDS) for keep_going in (False, True))
        print(f"| {ranks} | {end['killed']} | {end['ended']:.2f} | {end['clean']:.2f} | {go['agreed']:.2f} | {go['agree_ms']:.0f} "
              f"| {go['shrink_ms']:.0f} | {go['clean']:.2f} |", flush=True)
    print()


def measure_hosts(mpiexec, program):
    print("| hosts | ranks | seconds | private KiB per rank | barrier ms |\n|---|---|---|---|---|")
    for hosts in HOSTS:
        with large_jobs.Cluster(hosts) as cluster:
            f = large_jobs.run_hosts(mpiexec, program, cluster, hosts, RANKS_PER_HOST, seconds=SECONDS)
        print(f"| {hosts} | {hosts * RANKS_PER_HOST} | {f['seconds']:.2f} | {f['private_kib']:.0f} | {f['barrier_ms']:.1f} |", flush=True)
    print()


def simulate(build, *words):
    p = subprocess.run([os.path.join(build, "tests/scale/simulate"), *map(str, words)], capture_output=True, text=True, check=True)
    return large_jobs.figures(p.stdout)


def measure_simulation(mpiexec, _):
    """Simulated times in ms; start: seconds."""
    build = os.path.dirname(os.path.dirname(mpiexec))
    print("| ranks | nodes | start s | barrier | barrier, flat | allreduce 8 B | allreduce 8 B, flat | allreduce 1 MiB "
          "| allreduce 1 MiB, flat | alltoall 8 B | alltoall 8 B, flat | KiB per rank |")
    print("|---|---|---|---|---|---|---|---|---|---|---|---|")
    for ranks in SIMULATED_RANKS:
        start = simulate(build, "start", ranks, SIMULATED_PER_NODE)
        found = {}
        for name, flat in (("barrier", []), ("barrier", ["flat"]), ("allreduce:8", []), ("allreduce:8", ["flat"]),
                           ("allreduce:1048576", []), ("allreduce:1048576", ["flat"]), ("alltoall:8", []), ("alltoall:8", ["flat"])):
            if name != "alltoall:8" or not flat or ranks <= MOST_FLAT_ALLTOALL:
                found[name, bool(flat)] = simulate(build, name, ranks, SIMULATED_PER_NODE, *flat)
        times = [f"{f['us'] / 1e3:.3g}" for f in found.values()] + [""] * (8 - len(found))
        memory = max(f["hierarchy_bytes"] + f["schedule_bytes"] for (name, flat), f in found.items() if name == "allreduce:8" and not flat)
        print(f"| {ranks} | {start['nodes']:.0f} | {start['fence_ms'] / 1e3:.3g} | " + " | ".join(times) + f" | {memory / 1024:.3g} |",
              flush=True)
    print("\n| operation, most ranks | messages | CPU s of the simulation | peak MiB |\n|---|---|---|---|")
    for (name, flat), f in (("start", False), start), *found.items():
        print(f"| {name}{', flat' if flat else ''} | {f.get('messages', f.get('frames')):.2g} | {f['cpu_s']:.1f} | {f['peak_mib']:.0f} |")
    print()


PARTS = {"simulation": measure_simulation, "ranks": measure_ranks, "kill": measure_kill, "hosts": measure_hosts}


def main():
    build = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "build/release"))
    describe_machine()
    for part in sys.argv[2:] or PARTS:
        PARTS[part](os.path.join(build, "bin/mpiexec"), os.path.join(build, "tests/scale/large_job"))


if __name__ == "__main__":
    sys.path.insert(0, os.path.join(ROOT, "tests/scale"))
    build_dir = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "build/release"))
    os.environ.setdefault("CLUSTER_TOOL", os.path.join(build_dir, "tests/multinode/host"))
    import large_jobs
    main()
