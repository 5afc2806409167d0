#!/bin/bash
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
#
# usage: ci/torch.sh FOLDER [ROOT]
# Installs the Debian packages in FOLDER (ci/package.sh) and Debian's python3-torch in a fresh Debian 12, builds the PyTorch backend
# there and runs tests/torch: results against gloo, DistributedDataParallel, times. As root; 1.5 GB, about 10 minutes; not part of
# `.ci/run`. Status 77: not possible here.
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -ge 1 ] && compgen -G "$1/*.deb" >/dev/null || { echo "usage: ci/torch.sh FOLDER [ROOT]"; exit 2; }
packages=$1
# shellcheck source=ci/clean_root_functions.sh
. ci/clean_root_functions.sh
make_root "${2:-}"
mkdir "$root/packages"
cp "$packages"/*.deb "$root/packages"
cp -r tests/torch "$root/tests"
inside apt-get -q update
inside sh -c 'apt-get -q -y install --no-install-recommends /packages/*.deb python3-torch libtorch-dev pybind11-dev python3-dev g++ \
    libhwloc15 libucx0 libssl3'
inside bash /tests/run.sh /usr/lib/zipmpi /opt/torch
