#!/bin/sh
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
#
# usage: zipmpi_test.sh ZIPMPI PARAMS_PAGE
# Checks the output of the zipmpi command, and that docs/guide/parameters.md is current.
set -u
zipmpi=$1
params_page=$2
failures=0
for variable in $(env | sed -n 's/^\(ZIPMPI_[A-Z0-9_]*\)=.*/\1/p'); do unset "$variable"; done
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

complain() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}
# check STATUS ARGUMENTS...: runs the command; stdout and stderr are saved to files
check() {
    wanted=$1
    shift
    "$zipmpi" "$@" >"$scratch/out" 2>"$scratch/err"
    status=$?
    [ "$status" -eq "$wanted" ] || complain "zipmpi $* ended with $status, not $wanted"
    if [ "$wanted" -eq 0 ] && [ -s "$scratch/err" ]; then complain "zipmpi $* writes to stderr"; fi
}
prints() { grep -qE -- "$1" "$scratch/out" || complain "stdout has no line like: $1"; }
prints_not() { if grep -qE -- "$1" "$scratch/out"; then complain "stdout has a line like: $1"; fi; }
says() { grep -qE -- "$1" "$scratch/err" || complain "stderr has no line like: $1"; }
says_four_parts() {
    says '^zipmpi: '
    for part in where why; do says "^  $part: "; done
    says '^  fix: '
}
is_json() { python3 -c 'import json,sys; json.load(open(sys.argv[1]))' "$scratch/out" || complain "no JSON: $*"; }

check 0 --version
prints '^ZipMPI [0-9]+\.[0-9]+\.[0-9]+$'
check 0 --help
prints 'info'
check 0 info --help
prints '--params'

check 0 info
prints '^ZipMPI [0-9.]+$'
prints '^  build '
prints '^launch protocol'
prints '^  ranks on this host +shared memory'
prints '^  ranks on other hosts +UCX'
prints 'all have their defaults'
check 0 info --json
is_json info

# The launch protocol, in prepared environments; variables of an enclosing launcher, such as PMI_FD, are removed.
protocol() { # wanted pattern, variables...
    wanted=$1
    shift
    env -i PATH="$PATH" "$@" "$zipmpi" info >"$scratch/out" 2>"$scratch/err" || complain "zipmpi info with $*"
    prints "$wanted"
}
protocol '^  singleton: '
protocol '^  PMIx: ' PMIX_NAMESPACE=job PMIX_RANK=0 PMIX_SERVER_URI4=x
protocol '^  PMI-[12]: ' PMI_FD=7 PMI_RANK=0 PMI_SIZE=2
protocol '^  none: ' OMPI_COMM_WORLD_SIZE=4

check 0 info --params
prints '^name +value +origin +default +unit +level +help$'
prints '^shm\.cell_size +32k +built in +32k +bytes +tuner '
[ "$(sed -n '2,/^$/p' "$scratch/out" | sed '/^$/d' | cut -d' ' -f1)" = \
  "$(sed -n '2,/^$/p' "$scratch/out" | sed '/^$/d' | cut -d' ' -f1 | LC_ALL=C sort)" ] || complain "parameters not sorted"
check 0 info --params --json
is_json parameters
ZIPMPI_SHM_CELL_SIZE=64k check 0 info --params
prints '^shm\.cell_size +64k +environment +32k '
ZIPMPI_SHM_CELL_SIZE=64k check 0 info
prints 'shm.cell_size = 64k \(from the environment, default 32k\)'
echo 'shm.cells_per_rank = 128' > "$scratch/config"
ZIPMPI_CONFIG=$scratch/config check 0 info --params
prints '^shm\.cells_per_rank +128 +file +64 '

ZIPMPI_SHM_CELL_SISE=1 check 1 info
says_four_parts
says 'did you mean ZIPMPI_SHM_CELL_SIZE'
ZIPMPI_SHM_CELL_SIZE=1 check 1 info
says 'not between 4k and 8m'
ZIPMPI_CONFIG=$scratch/absent check 1 info
says_four_parts

# Paths of messages: built-in costs, a file of measured costs, and parameters, which override both.
check 0 info
prints '^paths of messages'
prints '^  CMA copy (works|not used)'
prints '^  same_core +inline to 40 B, multislot to 280 B, cell to '
ZIPMPI_CMA_ENABLE=no check 0 info
prints '^  CMA copy not used: disabled by the parameter cma.enable'
XDG_CONFIG_HOME=$scratch check 0 tune --seconds 0.5
prints '^written to .*/zipmpi/tune-.*\.toml$'
prints '^same_core \(CPUs [0-9]+ and [0-9]+\): '
python3 -c 'import sys,tomllib; t=tomllib.load(open(sys.argv[1],"rb")); assert t["same_core"]["cma"]["fresh"]["start_ns"] > 0 and "coop" in t["same_core"] and t["format"] == 3' \
    "$scratch"/zipmpi/tune-*.toml || complain "the cost file is not TOML with the constants"
XDG_CONFIG_HOME=$scratch check 0 tune --seconds 0.5 --dry-run --json
python3 -c 'import json,sys; c=json.load(open(sys.argv[1]))["classes"][0]; assert c["class"] == "same_core" and len(c["cpus"]) == 2 and c["costs"]["cma.fresh.start_ns"] > 0 and [t for t in c["thresholds"] if t["name"] == "eager_limit" and t["bytes"] > 0]' \
    "$scratch/out" || complain "tune --json lacks classes with thresholds and costs"
XDG_CONFIG_HOME=$scratch check 0 info
prints "costs: $scratch/zipmpi/tune-"
XDG_CONFIG_HOME=$scratch ZIPMPI_TUNE_FILE=none check 0 info
prints 'costs: built in'
printf 'format = 3\nsame_core.inline_ns = 1\nshared_l3.speed = 2\n' > "$scratch/costs"
ZIPMPI_TUNE_FILE=$scratch/costs check 0 info
prints 'not used: line 3: shared_l3.speed: no constant has this name'
prints_not 'another format'
printf 'format = 2\nsame_core.inline_ns = 1\n' > "$scratch/costs"
ZIPMPI_TUNE_FILE=$scratch/costs check 0 info
prints 'the file has another format, so built-in costs are used'
ZIPMPI_TUNE_FILE=$scratch/absent check 0 info
prints 'not used: tune.file cannot be read'
ZIPMPI_TUNE_FILE=none ZIPMPI_P2P_EAGER_LIMIT=8k check 0 info
prints 'cell to 8 KiB.*'
prints 'eager_limit by parameter p2p.eager_limit'
if ZIPMPI_TUNE_FILE=none "$zipmpi" info | grep -q '^  CMA copy works'; then
    ZIPMPI_TUNE_FILE=none ZIPMPI_P2P_COOP_COPY_MIN=100k check 0 info
    prints '^  same_core .*, CMA copy to 100 KiB, cooperative copy'
    prints 'while another message waits: .*, CMA copy to 800 KiB, cooperative copy'
    prints 'coop_min by parameter p2p.coop_copy_min'
    ZIPMPI_TUNE_FILE=none ZIPMPI_CMA_ENABLE=no ZIPMPI_P2P_COOP_COPY_MIN=100k check 0 info
    prints_not ' cooperative copy'
fi
# Killed after the first class: the next run resumes there. (A machine with one CPU has no second class.)
if [ "$(nproc)" -gt 1 ]; then
    mkdir "$scratch/killed"
    XDG_CONFIG_HOME=$scratch/killed "$zipmpi" tune --seconds 2 >/dev/null 2>&1 &
    tuner=$!
    for _ in $(seq 200); do
        if ls "$scratch"/killed/zipmpi/*.part >/dev/null 2>&1; then break; fi
        sleep 0.05
    done
    kill -9 $tuner
    wait $tuner || true
    XDG_CONFIG_HOME=$scratch/killed check 0 tune --seconds 0.5
    prints '^[0-9]+ of [0-9]+ classes were measured before the last run was interrupted'
    if ls "$scratch"/killed/zipmpi/*.part >/dev/null 2>&1; then complain "a partial measurement is left"; fi
fi
check 1 tune --seconds 0.5 --output /proc/none/costs
says_four_parts
check 2 tune --seconds never
says_four_parts

check 2
says_four_parts
check 2 nonsense
says_four_parts
check 2 info --nonsense
says_four_parts
check 2 info --missing
says_four_parts

check 0 info --coverage
prints '^ *implemented +missing +all +chapter$'
prints '^ +[0-9]+ +[0-9]+ +685 +all chapters$'
check 0 info --coverage --missing
prints '^ +685 +0 +685 +all chapters$'
check 0 info --coverage --json
is_json coverage

check 0 info --params --markdown
cmp -s "$scratch/out" "$params_page" ||
    complain "$params_page is not current: cmake --build build/release --target update-parameters-page"

[ "$failures" -eq 0 ] && echo "zipmpi: all checks passed"
exit "$failures"
