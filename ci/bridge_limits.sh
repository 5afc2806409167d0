#!/bin/bash
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
# Two performance targets of the bridge, in namespaces, as root: ci/bridge_limits.sh flood|paths [BUILD [MESSAGES]].
# flood (B12): MESSAGES of 64 KiB without a posted receive; the memory of the gateway, and the rate of another flow.
# paths (B15): goodput over two gateways with a rate limit, while one of them is stopped, and after it continues.
set -euo pipefail
cd "$(dirname "$0")/.."
exec python3 -B tests/bridge/limits.py "${1:-flood}" "${2:-build/release}" "${3:-10000}"
