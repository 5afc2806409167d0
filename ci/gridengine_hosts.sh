#!/bin/bash
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
#
# mpiexec inside parallel jobs of a real SGE with three hosts made of namespaces (tests/multinode/cluster.py), each with
# its own sge_execd. `qrsh -inherit` must start the daemons; there is no ssh. As root. The build is build/release, or the folder
# named by BUILD. SGE is unpacked from Debian's packages next to the build, not installed. Exits with 0 if every run
# passed; 77 if it cannot run here. Not part of .ci/run.
set -u
cd "$(dirname "$0")/.." || exit 1
readonly RUN_LIMIT=60 # seconds for one run
readonly PACKAGES=(gridengine-master gridengine-exec gridengine-client gridengine-common libjemalloc2)
build=$(readlink -f "${BUILD:-build/release}")
work=$build.gridengine
export CLUSTER_TOOL=$build/tests/multinode/host

# The folder gets its name when it is complete.
get_gridengine() {
    [ -d "$work" ] && return
    rm -rf "$work.new"
    mkdir -p "$work.new/packages"
    (cd "$work.new/packages" && timeout 120 apt-get download -qq "${PACKAGES[@]}" 2>/dev/null) || return 1
    local package
    for package in "$work.new"/packages/*.deb; do dpkg -x "$package" "$work.new" || return 1; done
    mv "$work.new" "$work"
}
get_gridengine || { echo "gridengine_hosts.sh: skipped: the packages of SGE cannot be downloaded"; exit 77; }
[ -n "${CLUSTER_DIR:-}" ] || exec python3 -B tests/multinode/cluster.py run 3 "$PWD/ci/gridengine_hosts.sh"

state=$(mktemp -d /var/tmp/zsge.XXXXXX) || exit 1 # the hosts have their own /tmp
daemons=()
cleanup() {
    for pid in "${daemons[@]}"; do kill "$pid" 2>/dev/null; done
    sleep 0.5
    rm -rf "$state"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

arch=$("$work/usr/share/gridengine/util/arch")
programs=$work/usr/lib/gridengine
export SGE_ROOT=$state/sge SGE_CELL=default SGE_QMASTER_PORT=6444 SGE_EXECD_PORT=6445 SGE_ND=1 SGE_SINGLE_LINE=1
export LD_LIBRARY_PATH=$programs:$work/usr/lib/x86_64-linux-gnu
common=$SGE_ROOT/default/common

make_root() {
    local folder
    mkdir -p "$common" "$SGE_ROOT/default/spool/qmaster" "$state/execd" "$state/defaults" "$SGE_ROOT"/{bin,utilbin,lib}
    for folder in bin utilbin lib; do ln -s "$programs" "$SGE_ROOT/$folder/$arch"; done
    ln -s "$work/usr/share/gridengine/util" "$SGE_ROOT/util"
    echo n1 >"$common/act_qmaster"
    echo zipmpi >"$common/cluster_name"
    sed -e "s,^admin_user .*,admin_user root," -e "s,^ignore_fqdn .*,ignore_fqdn true," -e "s,^spooling_method .*,spooling_method classic," \
        -e "s,^spooling_lib .*,spooling_lib libspoolc," -e "s,^spooling_params .*,spooling_params $common;$SGE_ROOT/default/spool/qmaster," \
        -e "s,^binary_path .*,binary_path $SGE_ROOT/bin," -e "s,^qmaster_spool_dir .*,qmaster_spool_dir $SGE_ROOT/default/spool/qmaster," \
        "$work/usr/share/gridengine/default-bootstrap" >"$common/bootstrap"
    sed -e "s,^execd_spool_dir .*,execd_spool_dir $state/execd," -e 's/^min_\([ug]\)id .*/min_\1id 0/' -e 's/^mailer .*/mailer none/' \
        -e 's/^xterm .*/xterm none/' "$work/usr/share/gridengine/default-configuration" >"$state/configuration"
    "$programs/spoolinit" classic libspoolc "$common;$SGE_ROOT/default/spool/qmaster" init &&
        "$programs/spooldefaults.bin" configuration "$state/configuration" &&
        "$programs/spooldefaults.bin" complexes "$work/usr/share/gridengine/util/resources/centry" &&
        "$programs/spooldefaults.bin" usersets "$work/usr/share/gridengine/util/resources/usersets" &&
        "$programs/spooldefaults.bin" managers root
}

# SGE wants names for all addresses, and its libraries in /usr/lib/gridengine. The hosts have their own mounts.
mount_files() {
    local host
    printf '127.0.0.1 localhost\n10.99.0.1 n1\n10.99.0.2 n2\n10.99.0.3 n3\n' >"$state/hosts"
    for host in n1 n2 n3; do
        # shellcheck disable=SC2086 # the agent is several words
        $CLUSTER_AGENT $host "mount --bind $state/hosts /etc/hosts &&
            mount -t overlay -o lowerdir=$work/usr/lib:/usr/lib overlay /usr/lib" || return 1
    done
}

start_daemons() {
    local host
    "$programs/sge_qmaster" >"$state/qmaster.log" 2>&1 &
    daemons+=($!)
    for _ in $(seq 100); do "$programs/qconf" -sh >/dev/null 2>&1 && break; sleep 0.1; done
    for host in n1 n2 n3; do
        "$programs/qconf" -ah $host
        "$programs/qconf" -as $host
    done
    for host in n1 n2 n3; do
        # shellcheck disable=SC2086 # the agent is several words
        $CLUSTER_AGENT $host "exec $programs/sge_execd" >"$state/execd.$host.log" 2>&1 </dev/null &
        daemons+=($!)
    done
}

make_queue() {
    local pe=$work/usr/share/gridengine/util/resources/pe/mpi
    grep -v '^#' "$pe" | sed -e 's/fill_up/round_robin/' -e 's/^job_is_first_task .*/job_is_first_task FALSE/' >"$state/pe"
    "$programs/qconf" -Ap "$state/pe"
    printf 'group_name @three\nhostlist n1 n2 n3\n' >"$state/group"
    "$programs/qconf" -Ahgrp "$state/group"
    "$programs/qconf" -sq >"$state/queue.default"
    sed -e 's/^qname .*/qname all.q/' -e 's/^hostlist .*/hostlist @three/' -e 's/^slots .*/slots 2/' -e 's/^pe_list .*/pe_list mpi/' \
        -e 's/^load_thresholds .*/load_thresholds NONE/' -e 's,^shell .*,shell /bin/sh,' "$state/queue.default" >"$state/queue"
    "$programs/qconf" -Aq "$state/queue"
    "$programs/qconf" -ssconf | sed -e 's/^\(flush_[a-z]*_sec\) .*/\1 1/' -e 's/^schedule_interval .*/schedule_interval 0:0:1/' >"$state/schedule"
    "$programs/qconf" -Msconf "$state/schedule"
}

wait_for_hosts() {
    for _ in $(seq 300); do
        [ "$("$programs/qhost" | awk '$1 ~ /^n[123]$/ && $4 != "-"' | wc -l)" = 3 ] && return
        sleep 0.1
    done
    echo "gridengine_hosts.sh: the hosts did not become available within 30 s"
    "$programs/qhost"
    tail -n 20 "$state"/*.log "$SGE_ROOT/default/spool/qmaster/messages" "$state"/execd/*/messages
    return 1
}

failures=0
# check NAME SLOTS LINES COMMAND...: as a job; must exit with 0 and print the expected lines, in any order.
check() {
    local name=$1 slots=$2 lines=$3 status=0
    shift 3
    : >"$state/out"
    timeout -k 5 $RUN_LIMIT "$programs/qsub" -sync y -V -cwd -b y -o "$state/out" -e "$state/err" -pe mpi "$slots" "$@" >"$state/qsub" 2>&1 || status=$?
    if [ $status -eq 0 ] && [ "$(sort "$state/out")" = "$lines" ]; then
        echo "ok: $name"
    else
        echo "FAILED: $name: exit status $status"
        sed 's/^/    /' "$state"/{qsub,out,err}
        failures=$((failures + 1))
    fi
    mv "$state/err" "$state/last_err"
}

complain() {
    echo "FAILED: $1"
    sed 's/^/    /' "$state/last_err"
    failures=$((failures + 1))
}

mount_files || exit 1
make_root >"$state/make.log" 2>&1 || { cat "$state/make.log"; exit 1; }
start_daemons
make_queue
wait_for_hosts || exit 1
mpiexec=$build/bin/mpiexec
check 'all slots of a job' 6 $'n1\nn1\nn2\nn2\nn3\nn3' "$mpiexec" hostname
[ ! -s "$state/last_err" ] || complain 'all slots of a job: stderr is not empty'
check '-v names qrsh' 6 $'n1\nn1\nn2\nn2\nn3\nn3' "$mpiexec" -v hostname
grep -q "^agent $SGE_ROOT/bin/$arch/qrsh -inherit " "$state/last_err" || complain '-v does not name qrsh'
check 'daemons of daemons' 6 $'n1\nn1\nn2\nn2\nn3\nn3' "$mpiexec" --launch-fanout 1 hostname
check 'MPI between the hosts' 6 'exchange: ok, 6 ranks' "$mpiexec" "$build/tests/launchers/launchers_exchange" small=500 large=262144
printf '#!/bin/sh\n%s sh -c "exit 7" 2>/dev/null; echo "status $?"\n' "$mpiexec" >"$state/fails"
chmod +x "$state/fails"
check 'exit status' 4 'status 7' "$state/fails"
for pid in $(pgrep -x zipmpi-noded); do
    grep -qsF "$state" "/proc/$pid/environ" && complain "a daemon is left: $pid"
done
echo "gridengine_hosts.sh: $failures failures, $SECONDS s"
[ $failures -eq 0 ]
