#!/bin/bash
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
set -euo pipefail
: "${SRC_DIR:?set by conda-build}" "${PREFIX:?set by conda-build}"
# shellcheck disable=SC2086 # several words
cmake -S "$SRC_DIR" -B build -G Ninja ${CMAKE_ARGS:-} -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$PREFIX" \
    -DCMAKE_INSTALL_LIBDIR=lib -DZIPMPI_TESTS=OFF -DZIPMPI_WITH_SCOTCH=OFF -DZIPMPI_WITH_METIS=OFF
cmake --build build
cmake --install build --strip
