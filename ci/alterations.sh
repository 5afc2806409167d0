#!/bin/sh
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
# Alters control connections 100,000 times: ci/alterations.sh [BUILD_FOLDER [ALTERATIONS [SEED]]]
set -eu
cd "$(dirname "$0")/.."
exec "${1:-build/dev}/tests/security/control_relay" "${2:-100000}" "${3:-$(date +%s)}"
