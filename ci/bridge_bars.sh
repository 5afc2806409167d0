#!/bin/bash
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
# Two bars of the bridge, in namespaces, as root: ci/bridge_bars.sh flood|lanes [BUILD [MESSAGES]].
# flood (B12): MESSAGES of 64 KiB that nobody receives yet; the memory of the gateway, and the rate of another flow.
# lanes (B15): goodput over two gateways with a rate limit, while one of them is dead, and after its return.
set -euo pipefail
cd "$(dirname "$0")/.."
exec python3 -B tests/bridge/bars.py "${1:-flood}" "${2:-build/release}" "${3:-10000}"
