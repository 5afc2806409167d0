#!/bin/bash
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
#
# Runs a program under a real Slurm: munged, slurmctld and one slurmd on this host, all state in a private
# folder, ports picked free. Nothing of a Slurm already on the host is touched.
#
#   ci/slurm.sh                       boot_probe of build/release, its output checked
#   ci/slurm.sh PROGRAM [ARGUMENT..]  any MPI program; it must exit with 0
#
# Debian packages: slurm-wlm munge. Ends with 0 if every run held; 77 if Slurm is not installed.
set -u
cd "$(dirname "$0")/.." || exit 1
readonly RUN_LIMIT=20 # seconds for one srun
for tool in srun sinfo slurmctld slurmd munged mungekey; do
    PATH=$PATH:/usr/sbin:/sbin command -v "$tool" >/dev/null || { echo "slurm.sh: no $tool (packages slurm-wlm, munge)"; exit 77; }
done
PATH=$PATH:/usr/sbin:/sbin

state=$(mktemp -d "${TMPDIR:-/tmp}/zslurm.XXXXXX") || exit 1
daemons=()
cleanup() {
    local pid
    for pid in "${daemons[@]}"; do kill "$pid" 2>/dev/null; done
    for pid in "${daemons[@]}"; do # slurmd waits for its steps: do not wait for ever with it
        for _ in $(seq 50); do kill -0 "$pid" 2>/dev/null || break; sleep 0.1; done
        kill -9 "$pid" 2>/dev/null
        wait "$pid" 2>/dev/null
    done
    rm -rf "$state"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

free_port() {
    local port
    while port=$((20000 + RANDOM % 12000)); do
        (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || { echo "$port"; return; }
    done
}

write_configuration() {
    local host user
    host=$(hostname) user=$(id -un)
    export SLURM_CONF=$state/slurm.conf
    mkdir "$state/spool" "$state/save" "$state/tmp"
    echo 'CgroupPlugin=cgroup/v1' >"$state/cgroup.conf"
    cat >"$SLURM_CONF" <<EOF
ClusterName=zipmpi
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$(free_port)
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/munge
AuthInfo=socket=$state/munge.socket
CredType=cred/munge
StateSaveLocation=$state/save
SlurmdSpoolDir=$state/spool
TmpFS=$state/tmp
SlurmctldPidFile=$state/slurmctld.pid
SlurmdPidFile=$state/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
ReturnToService=2
KillWait=2
SlurmdParameters=config_overrides
NodeName=znode NodeHostname=$host NodeAddr=127.0.0.1 Port=$(free_port) CPUs=32 State=UNKNOWN
PartitionName=p Nodes=znode Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:4
EOF
}

start_daemons() {
    mungekey --create --keyfile "$state/munge.key" || return 1
    munged --foreground --force --key-file="$state/munge.key" --socket="$state/munge.socket" \
        --pid-file="$state/munged.pid" --log-file="$state/munged.log" --seed-file="$state/munge.seed" \
        >"$state/munged.out" 2>&1 &
    daemons+=($!)
    for _ in $(seq 50); do [ -S "$state/munge.socket" ] && break; sleep 0.1; done
    slurmctld -D -f "$SLURM_CONF" >"$state/slurmctld.log" 2>&1 &
    daemons+=($!)
    slurmd -D -N znode -f "$SLURM_CONF" >"$state/slurmd.log" 2>&1 &
    daemons+=($!)
    for _ in $(seq 100); do
        [ "$(timeout 5 sinfo -h -o %T 2>/dev/null)" = idle ] && return 0
        sleep 0.1
    done
    echo "slurm.sh: the node did not become idle within 10 s"
    tail -n 20 "$state"/*.log
    return 1
}

failures=0
complain() {
    echo "FAILED: $1"
    sed 's/^/    /' "$state/out" "$state/err"
    failures=$((failures + 1))
}

# run_one MPI RANKS EXPECTED_PROTOCOL: the program must end well and, if it is the probe, say nothing on stderr
# and show every rank once. --quiet: srun tells on stderr when a job has to wait for the end of the one before.
run_one() {
    local mpi=$1 n=$2 name="srun --mpi=$1 -n $2"
    local -a arguments=("${program[@]}")
    $probe && arguments+=("$n" "$3")
    timeout -k 5 "$RUN_LIMIT" srun --quiet --mpi="$mpi" -N 1 -n "$n" "${arguments[@]}" </dev/null >"$state/out" 2>"$state/err"
    local status=$?
    if [ $status -ne 0 ]; then complain "$name: exit status $status"; return; fi
    if $probe; then
        [ -s "$state/err" ] && { complain "$name: stderr is not empty"; return; }
        [ "$(sort -u -k2,2n "$state/out" | grep -c "^rank [0-9]* of $n protocol \"$3\"")" = "$n" ] ||
            { complain "$name: not every rank showed itself"; return; }
    fi
    echo "ok: $name"
}

# Without a common protocol the ranks must stop, not run as N times rank 0.
run_without_pmi() {
    timeout -k 5 "$RUN_LIMIT" srun --mpi=none -N 1 -n 2 "${program[@]}" </dev/null >"$state/out" 2>"$state/err" &&
        { complain "srun --mpi=none -n 2: exit status 0"; return; }
    grep -q 'srun --mpi=pmix or srun --mpi=pmi2' "$state/err" && [ ! -s "$state/out" ] ||
        { complain "srun --mpi=none -n 2: no helpful message"; return; }
    echo "ok: srun --mpi=none -n 2 is refused with the remedy"
}

probe=false
program=("$@")
if [ $# -eq 0 ]; then
    probe=true
    program=("$PWD/build/release/tests/boot/boot_probe")
fi
[ -x "${program[0]}" ] || command -v "${program[0]}" >/dev/null || { echo "slurm.sh: no program ${program[0]}"; exit 1; }

write_configuration && start_daemons || exit 1
for n in 1 2 3 4; do
    run_one pmix $n PMIx
    run_one pmi2 $n PMI-2
done
run_without_pmi
echo "slurm.sh: $failures failures, $SECONDS s"
[ $failures -eq 0 ]
