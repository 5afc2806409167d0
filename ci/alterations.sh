#!/bin/sh
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
# Alters control connections, frames between clusters and messages between hosts 100,000 times each: ci/alterations.sh [BUILD_FOLDER [ALTERATIONS [SEED]]]
set -eu
cd "$(dirname "$0")/.."
seed=${3:-$(date +%s)}
for link in control bridge network; do
    echo "$link, seed $seed"
    "${1:-build/dev}/tests/security/${link}_relay" "${2:-100000}" "$seed"
done
