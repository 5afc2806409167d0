#!/bin/bash
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
# Two clusters of namespaces with two gateways; faults hit one of them repeatedly while sequenced, checksummed messages flow in both
# directions: ci/bridge_failover.sh [TIMES [MESSAGES [BUILD [FAULT]]]]. As root. Prints the longest times without a message.
# FAULT: kill (SIGKILL), stop (SIGSTOP for 1.6 s), cut (its networks are down for 1.6 s), reset (ss -K of all its connections).
set -euo pipefail
cd "$(dirname "$0")/.."
exec python3 -B tests/bridge/failover.py "${1:-200}" "${2:-1000000}" "${3:-build/release}" "${4:-kill}"
