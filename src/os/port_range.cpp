// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Apart from socket.cpp: the module of UCX has a copy of that file, without parameters.
#include "base/param.hpp"
#include "os/socket.hpp"

namespace zipmpi::os {
namespace {

Param<std::string> ports{"net.ports",
                         "",
                         nullptr,
                         Level::user,
                         Scope::job_wide,
                         "range of TCP ports that mpiexec, daemons, gateways and ranks listen on, such as "
                         "20000-20999; empty: any port"};

} // namespace

const std::string& port_range() { return ports.get(); }

} // namespace zipmpi::os
