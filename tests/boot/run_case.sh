#!/bin/bash
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
#
# run_case.sh PROBE runs N PROTOCOL [LAUNCHER...]   all N ranks print their line once, stderr is empty
# run_case.sh PROBE aborts LAUNCHER...              the launcher's status is that of the abort
# run_case.sh PROBE refused TEXT LAUNCHER...        nonzero status within 10 s, and a message with TEXT
# run_case.sh PROBE silent_pmix                     refused: the server accepts connections and sends nothing
# Ends with 77 if the launcher is not installed.
set -u
probe=$1 kind=$2
shift 2
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
here=$(dirname "$0")
unset ZIPMPI_WAIT_FAIL_ON_MISSED_WAKEUP # the probe links only part of the library, without this parameter
export LSAN_OPTIONS="suppressions=$here/lsan.supp:print_suppressions=0" # read by a sanitizer build only
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

fail() {
    echo "FAILED: $1"
    cat "$work/out" "$work/err"
    exit 1
}
need() { # skips unless every launcher among the arguments is installed
    local word
    for word in "$@"; do
        case $word in mpi*) command -v "$word" >/dev/null || { echo "not installed: $word"; exit 77; } ;; esac
    done
}
run() { timeout -k 2 30 "$@" </dev/null >"$work/out" 2>"$work/err"; }

refused() {
    local text=$1 begin=$SECONDS
    shift
    run "$@" "$probe" && fail "status 0"
    [ $((SECONDS - begin)) -le 10 ] || fail "it took $((SECONDS - begin)) s"
    grep -qF -e "$text" "$work/err" || fail "no message with: $text"
    local part
    for part in '^  where:' '^  why:' '^  fix:'; do grep -q "$part" "$work/err" || fail "no line $part"; done
    grep -q '^rank ' "$work/out" && fail "a rank ran although startup must fail"
}

case $kind in
runs)
    n=$1 protocol=$2
    shift 2
    need "$@"
    run "$@" "$probe" "$n" "$protocol" || fail "status $?"
    [ -s "$work/err" ] && fail "stderr is not empty"
    [ "$(grep -o "^rank [0-9]* of $n " "$work/out" | sort -u | wc -l)" = "$n" ] || fail "not every rank was seen"
    ;;
aborts)
    need "$@"
    BOOT_PROBE_ABORT=1 run "$@" "$probe"
    status=$?
    [ $status -eq 7 ] || fail "status $status"
    grep -q 'returned' "$work/err" && fail "abort returned"
    ;;
refused)
    need "$@"
    refused "$@"
    ;;
silent_pmix)
    command -v python3 >/dev/null || exit 77
    python3 -c 'import socket, time
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(); print(s.getsockname()[1], flush=True); time.sleep(20)' >"$work/port" &
    server=$!
    trap 'kill $server; rm -rf "$work"' EXIT
    until [ -s "$work/port" ]; do sleep 0.05; done
    refused PMIX_NAMESPACE env PMIX_NAMESPACE=stale PMIX_RANK=0 PMIX_SECURITY_MODE=native \
        "PMIX_SERVER_URI41=stale.0;tcp4://127.0.0.1:$(cat "$work/port")"
    ;;
*) fail "no such kind of case: $kind" ;;
esac
exit 0
