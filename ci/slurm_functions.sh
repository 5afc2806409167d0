# shellcheck shell=bash
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
#
# A private Slurm, for the scripts that source this: all state in a folder, on free ports. A Slurm already on the host is
# not touched. Sets `state` and `daemons`; everything ends with the script. Status 77: Slurm is not installed.

PATH=$PATH:/usr/sbin:/sbin
for tool in srun salloc sinfo slurmctld slurmd munged mungekey; do
    command -v "$tool" >/dev/null || { echo "slurm: no $tool (packages slurm-wlm, munge)"; exit 77; }
done

state=$(mktemp -d "${SLURM_STATE_IN:-${TMPDIR:-/tmp}}/zslurm.XXXXXX") || exit 1
daemons=()
cleanup() {
    local pid
    for pid in "${daemons[@]}"; do kill "$pid" 2>/dev/null; done
    for pid in "${daemons[@]}"; do # slurmd waits for its steps: bound the wait
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

# write_configuration ADDRESS NODES: the address of this host, and the NodeName lines.
write_configuration() {
    local user
    user=$(id -un)
    export SLURM_CONF=$state/slurm.conf
    mkdir "$state/save" "$state/tmp"
    echo 'CgroupPlugin=cgroup/v1' >"$state/cgroup.conf"
    cat >"$SLURM_CONF" <<EOF2
ClusterName=zipmpi
SlurmctldHost=$(hostname)($1)
SlurmctldPort=$(free_port)
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/munge
AuthInfo=socket=$state/munge.socket
CredType=cred/munge
StateSaveLocation=$state/save
SlurmdSpoolDir=$state/spool.%n
TmpFS=$state/tmp
SlurmctldPidFile=$state/slurmctld.pid
SlurmdPidFile=$state/slurmd.%n.pid
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
$2
PartitionName=p Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:4
EOF2
}

start_controller() {
    mungekey --create --keyfile "$state/munge.key" || return 1
    munged --foreground --force --key-file="$state/munge.key" --socket="$state/munge.socket" \
        --pid-file="$state/munged.pid" --log-file="$state/munged.log" --seed-file="$state/munge.seed" \
        >"$state/munged.out" 2>&1 &
    daemons+=($!)
    for _ in $(seq 50); do [ -S "$state/munge.socket" ] && break; sleep 0.1; done
    slurmctld -D -f "$SLURM_CONF" >"$state/slurmctld.log" 2>&1 &
    daemons+=($!)
}

# start_node NAME [AGENT...]: its slurmd, on another host through an agent.
start_node() {
    local name=$1
    shift
    mkdir -p "$state/spool.$name"
    "$@" slurmd -D -N "$name" -f "$SLURM_CONF" >"$state/slurmd.$name.log" 2>&1 </dev/null &
    daemons+=($!)
}

# wait_for_nodes NUMBER: until the given number of nodes is idle.
wait_for_nodes() {
    for _ in $(seq 100); do
        [ "$(timeout 5 sinfo -h -N -t idle -o %n 2>/dev/null | sort -u | wc -l)" = "$1" ] && return 0
        sleep 0.1
    done
    echo "slurm: the nodes did not become idle within 10 s"
    tail -n 20 "$state"/*.log
    return 1
}

failures=0
complain() {
    echo "FAILED: $1"
    sed 's/^/    /' "$state/out" "$state/err"
    failures=$((failures + 1))
}
