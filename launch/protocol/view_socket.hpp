// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The socket by which `zipmpi top --all-hosts` asks mpiexec for the state of all ranks: a Unix socket in the
// abstract namespace of its host, named after the job. Both sides check that the other belongs to the same
// user. The client sends `request_view`; the reply is a `view` frame per node, and `view_end`.
#pragma once

#include "os/fd.hpp"

#include <string>
#include <sys/types.h>
#include <vector>

namespace zipmpi::launch {

os::Fd listen_for_views(const std::string& job_id);
os::Fd accept_view_client(const os::Fd& listener); // invalid: there is none, or it is of another user

struct ViewConnection {
    os::Fd socket; // invalid: it does not exist, or is of another user
    pid_t mpiexec = 0;
};
ViewConnection connect_to_views(const std::string& job_id);

// Ids of the jobs whose mpiexec runs in this network namespace, of all users.
std::vector<std::string> find_view_sockets();

} // namespace zipmpi::launch
