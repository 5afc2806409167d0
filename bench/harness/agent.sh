#!/bin/sh
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
# The agent of the hosts for every launcher: some call it as they would call ssh, with options before the host.
while [ "${1#-}" != "$1" ]; do shift; done
# shellcheck disable=SC2086 # a program and its first word
exec $CLUSTER_AGENT "$@"
