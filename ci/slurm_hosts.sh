#!/bin/bash
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
#
# mpiexec inside allocations of a real Slurm with three hosts made of namespaces (tests/multinode/cluster.py), each with its
# own slurmd. srun must start the daemons; there is no ssh. As root. The build is build/release, or the folder named by BUILD.
# Debian packages: slurm-wlm munge. Exits with 0 if every run passed; 77 if it cannot run here. Takes about 15 s.
set -u
cd "$(dirname "$0")/.." || exit 1
readonly RUN_LIMIT=40 # seconds for one run
build=$(readlink -f "${BUILD:-build/release}")
export CLUSTER_TOOL=$build/tests/multinode/host
[ -n "${CLUSTER_DIR:-}" ] || exec python3 -B tests/multinode/cluster.py run 3 "$PWD/ci/slurm_hosts.sh"

SLURM_STATE_IN=/var/tmp # the hosts have their own /tmp
# shellcheck source=ci/slurm_functions.sh
. ci/slurm_functions.sh

# check NAME LINES COMMAND...: must exit with 0, and print the expected lines, in any order.
check() {
    local name=$1 lines=$2 status=0
    shift 2
    timeout -k 5 "$RUN_LIMIT" "$@" </dev/null >"$state/out" 2>"$state/err" || status=$?
    [ $status -eq 0 ] || { complain "$name: exit status $status"; return; }
    [ "$(sort "$state/out")" = "$lines" ] || { complain "$name: wrong output"; return; }
    echo "ok: $name"
}

write_configuration 10.99.0.1 "NodeName=n1 NodeAddr=10.99.0.1 Port=16818 CPUs=4 State=UNKNOWN
NodeName=n2 NodeAddr=10.99.0.2 Port=16818 CPUs=4 State=UNKNOWN
NodeName=n3 NodeAddr=10.99.0.3 Port=16818 CPUs=4 State=UNKNOWN"
start_controller && start_node n1 || exit 1
for host in n2 n3; do
    # shellcheck disable=SC2086 # the agent is several words
    start_node $host $CLUSTER_AGENT $host
done
wait_for_nodes 3 || exit 1

mpiexec=$build/bin/mpiexec
# shellcheck disable=SC2016 # expanded by the ranks
where='echo "$PMI_RANK $(hostname)"'
six=$'0 n1\n1 n1\n2 n2\n3 n2\n4 n3\n5 n3'
check 'all slots of an allocation' "$six" salloc -Q -N 3 --ntasks-per-node=2 "$mpiexec" sh -c "$where"
[ ! -s "$state/err" ] || complain 'all slots of an allocation: stderr is not empty'
check 'daemons of daemons' "$six" salloc -Q -N 3 --ntasks-per-node=2 "$mpiexec" --launch-fanout 1 sh -c "$where"
check 'some hosts of an allocation' $'0 n2\n1 n3' salloc -Q -N 3 -n 3 "$mpiexec" --host n2,n3 sh -c "$where"
check '-v names srun' $'0 n1\n1 n2' salloc -Q -N 2 -n 2 "$mpiexec" -v sh -c "$where"
grep -q '^agent srun ' "$state/err" || complain '-v does not name srun'
check 'within a step' $'0 n1\n1 n2' salloc -Q -N 2 -n 2 srun --quiet -N 1 -n 1 -w n1 "$mpiexec" -n 2 --map-by node sh -c "$where"
check 'MPI between the hosts' 'exchange: ok, 6 ranks' salloc -Q -N 3 --ntasks-per-node=2 "$mpiexec" \
    "$build/tests/launchers/launchers_exchange" small=500 large=262144
check 'exit status' '' salloc -Q -N 2 -n 2 sh -c "\"$mpiexec\" sh -c 'exit 7'; [ \$? = 7 ]"
for pid in $(pgrep -x zipmpi-noded); do
    grep -qsF "$state" "/proc/$pid/environ" && complain "a daemon is left: $pid"
done
echo "slurm_hosts.sh: $failures failures, $SECONDS s"
[ $failures -eq 0 ]
