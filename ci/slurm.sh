#!/bin/bash
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
#
# Runs a program under a real Slurm: munged, slurmctld and one slurmd on this host, all state in a private
# folder, on free ports. A Slurm already on the host is not touched.
#
#   ci/slurm.sh                       boot_probe and exchange of the build, their output checked, and programs built for
#                                     other MPIs
#   ci/slurm.sh PROGRAM [ARGUMENT..]  any MPI program; it must exit with 0 and write nothing to stderr
#
# The build is build/release, or the folder named by BUILD. Debian packages: slurm-wlm munge. Exits with 0 if every
# run passed; 77 if Slurm is not installed. Takes about 15 s.
set -u
cd "$(dirname "$0")/.." || exit 1
readonly RUN_LIMIT=30 # seconds for one srun
build=$(readlink -f "${BUILD:-build/release}")
# shellcheck source=ci/slurm_functions.sh
. ci/slurm_functions.sh

# step MPI RANKS PROGRAM...: the program must exit with 0 and an empty stderr; its output is in $state/out.
# --quiet: otherwise srun reports on stderr that it waits for the previous job.
step() {
    local name="srun --mpi=$1 -n $2 ${3##*/}" mpi=$1 n=$2 status=0
    shift 2
    timeout -k 5 "$RUN_LIMIT" srun --quiet --mpi="$mpi" -N 1 -n "$n" "$@" </dev/null >"$state/out" 2>"$state/err" || status=$?
    if [ $status -ne 0 ]; then complain "$name: exit status $status"; return 1; fi
    if [ -s "$state/err" ]; then complain "$name: stderr is not empty"; return 1; fi
    echo "ok: $name"
}

# Every rank prints its line once, with the expected protocol.
probe_step() { # MPI RANKS PROTOCOL
    step "$1" "$2" "$probe" "$2" "$3" || return
    [ "$(sort -u -k2,2n "$state/out" | grep -c "^rank [0-9]* of $2 protocol \"$3\"")" = "$2" ] ||
        complain "srun --mpi=$1 -n $2: not every rank printed its line"
}

exchange_step() { # MPI RANKS
    step "$1" "$2" "${exchange[@]}" || return
    [ "$(cat "$state/out")" = "exchange: ok, $2 ranks" ] || complain "srun --mpi=$1 -n $2: wrong output"
}

# A process started by the shell of an allocation is a singleton, whatever the size of the allocation.
singleton_in_allocation() {
    local name="salloc -n 4 ${exchange[0]##*/}"
    timeout -k 5 "$RUN_LIMIT" salloc -Q -N 1 -n 4 "${exchange[@]}" </dev/null >"$state/out" 2>"$state/err" ||
        { complain "$name: exit status $?"; return; }
    [ ! -s "$state/err" ] && [ "$(cat "$state/out")" = "exchange: ok, 1 ranks" ] || { complain "$name"; return; }
    echo "ok: $name runs as a singleton"
}

# Without a common protocol the ranks must fail with a status and a message with the fix, not run as N singletons.
refused_without_pmi() { # PROGRAM...
    local name="srun --mpi=none -n 2 ${1##*/}"
    timeout -k 5 "$RUN_LIMIT" srun --quiet --mpi=none -N 1 -n 2 "$@" </dev/null >"$state/out" 2>"$state/err" &&
        { complain "$name: exit status 0"; return; }
    [ ! -s "$state/out" ] || { complain "$name: a rank ran although it must fail"; return; }
    local part
    for part in 'cannot connect to it' '  where: ' '  why:   ' 'srun --mpi=pmix or srun --mpi=pmi2'; do
        grep -q -e "$part" "$state/err" || { complain "$name: the message lacks '$part'"; return; }
    done
    [ "$(grep -c 'cannot connect to it' "$state/err")" -le 2 ] || { complain "$name: printed more than once by a rank"; return; }
    echo "ok: $name is rejected with the fix"
}

# A program that was compiled for another MPI, after `zipmpi env`.
foreign_step() { # BINDING
    local program=$build/tests/bindings/interface_$1
    [ -x "$program" ] || { echo "not built: a program for $1"; return; }
    ldd "$program" | grep -q "=> $build/lib/bindings/$1/" || { complain "${program##*/} would not load ZipMPI's library"; return; }
    step pmix 2 "$program" "$state/data" || return
    [ "$(cat "$state/out")" = ok ] || complain "srun ${program##*/}: wrong output"
}

foreign_programs() {
    local -x LD_LIBRARY_PATH=${LD_LIBRARY_PATH:-}
    eval "$("$build/bin/zipmpi" env)"
    foreign_step openmpi
    foreign_step mpich
}

own_programs() {
    local n mpi
    for n in 1 2 3 4; do
        probe_step pmix $n PMIx
        probe_step pmi2 $n PMI-2
    done
    for n in 1 2 4 7; do
        for mpi in pmix pmi2; do exchange_step $mpi $n; done
    done
    singleton_in_allocation
    refused_without_pmi "$probe"
    refused_without_pmi "${exchange[@]}"
    foreign_programs
}

given_program() {
    local n
    for n in 1 2 3 4; do
        step pmix $n "$@"
        step pmi2 $n "$@"
    done
    refused_without_pmi "$@"
}

probe=$build/tests/boot/boot_probe
exchange=("$build/tests/launchers/launchers_exchange" small=2000 large=1048576)
for program in "${1:-$probe}" "${1:-${exchange[0]}}"; do
    command -v "$program" >/dev/null || { echo "slurm.sh: no program $program"; exit 1; }
done

write_configuration 127.0.0.1 "NodeName=znode NodeHostname=$(hostname) NodeAddr=127.0.0.1 Port=$(free_port) CPUs=32 State=UNKNOWN"
start_controller && start_node znode && wait_for_nodes 1 || exit 1
if [ $# -gt 0 ]; then given_program "$@"; else own_programs; fi
echo "slurm.sh: $failures failures, $SECONDS s"
[ $failures -eq 0 ]
