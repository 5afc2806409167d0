#!/bin/sh
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
# The launch agent of the hosts for every launcher: some pass options before the host, as to ssh.
while [ "${1#-}" != "$1" ]; do shift; done
# shellcheck disable=SC2086 # a program and its first argument
exec $CLUSTER_AGENT "$@"
