#!/bin/bash
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
# Two clusters of namespaces with two gateways; one of them is killed again and again while numbered, checksummed messages
# go both ways: ci/bridge_failover.sh [KILLS [MESSAGES [BUILD]]]. As root. Prints the longest times without a message.
set -euo pipefail
cd "$(dirname "$0")/.."
exec python3 -B tests/bridge/failover.py "${1:-200}" "${2:-1000000}" "${3:-build/release}"
