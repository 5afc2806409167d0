#!/bin/sh
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
# A launch agent that starts everything on this machine: every host name is one more node. Needs no privileges.
#   mpiexec -n 4 --host a:2,b:2 --launch-agent tests/multinode/local_agent.sh ./a.out
shift
exec sh -c "$*"
