#!/bin/bash
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
#
# usage: tests/torch/run.sh PREFIX FOLDER
# Builds the backend for the PyTorch of this system into FOLDER, and runs all checks with ZipMPI of PREFIX. Status 77: no PyTorch.
set -euo pipefail
prefix=$1
folder=$2
here=$(dirname "$(readlink -f "$0")")
export PYTHONWARNINGS=ignore MASTER_ADDR=127.0.0.1 GLOO_SOCKET_IFNAME=lo OMP_NUM_THREADS=1 PATH=$prefix/bin:$PATH PYTHONPATH=$folder
python3 -c 'import torch.distributed' 2>/dev/null || { echo "torch: python3-torch is not installed"; exit 77; }
[ -f "$folder/zipmpi_torch/_c10d.so" ] || "$prefix/share/zipmpi/torch/build.sh" "$folder" "$prefix"

port=29500
gloo() { # ranks, script, words: torch finds its ranks by the variables of the scripts
    local n=$1
    shift
    port=$((port + 1))
    MASTER_PORT=$port timeout 120 mpiexec -n "$n" python3 "$@"
}
zipmpi() { timeout 120 mpiexec -n "$1" python3 "${@:2}"; }

for n in 1 2 3 4; do zipmpi "$n" "$here/checks.py" zipmpi; done
gloo 3 "$here/checks.py" gloo
# As torchrun starts processes. torchrun itself, of Debian's PyTorch 1.13, fails with Python 3.11.
processes=()
for rank in 0 1 2; do
    RANK=$rank WORLD_SIZE=3 LOCAL_RANK=$rank MASTER_PORT=29600 timeout 120 python3 "$here/checks.py" zipmpi &
    processes+=($!)
done
for process in "${processes[@]}"; do wait "$process"; done
# A rank whose call has timed out leaves without MPI_Finalize.
{ zipmpi 2 "$here/checks.py" zipmpi timeout 2>&1 || true; } | grep 'rank 0: timeout ok'
for n in 2 4; do
    zipmpi $n "$here/train.py" zipmpi "$folder/zipmpi.$n.pt"
    gloo $n "$here/train.py" gloo "$folder/gloo.$n.pt"
    python3 "$here/train.py" compare "$folder/zipmpi.$n.pt" "$folder/gloo.$n.pt"
done
for n in 2 4 8; do
    zipmpi $n "$here/latency.py" zipmpi
    gloo $n "$here/latency.py" gloo
done | tee "$folder/latency.txt"
awk '{ t[$1, $2, $3] = $4; k[$2, $3] = $2 " ranks, " $3 " bytes" }
     END { for (x in k) { split(x, p, SUBSEP); printf "%s: zipmpi %.3f of gloo\n", k[x], t["zipmpi", p[1], p[2]] / t["gloo", p[1], p[2]] } }' \
    "$folder/latency.txt" | sort -n
