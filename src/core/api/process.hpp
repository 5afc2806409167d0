// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Calls of process creation and management (MPI chapter 11): startup and shutdown, sessions, spawned and
// connected jobs.
#pragma once

#include "core/api/common.hpp"

#include <string>
#include <vector>

namespace zipmpi::core {

struct AppSpec; // core/dpm/spawn.hpp

// --- startup and shutdown
Err init(int* argc, char*** argv);
Err init_thread(int* argc, char*** argv, ThreadLevel required, ThreadLevel& provided);
Err initialized(bool& flag);
Err finalize();
Err finalized(bool& flag);
Err abort(Comm& comm, int code);
Err query_thread(ThreadLevel& provided);
Err is_thread_main(bool& flag);
Err session_init(Info* info, Errhandler* errhandler, Session*& session); // either may be null
Err session_finalize(Session*& session);
Err session_get_num_psets(Session& session, Info* info, int& count);
Err session_get_nth_pset(Session& session, Info* info, int n, std::string& name);
Err session_get_info(Session& session, Info*& info);
Err session_get_pset_info(Session& session, const char* pset, Info*& info);
Err comm_disconnect(Comm*& comm);
Err comm_get_parent(Comm*& parent); // null: not spawned

// --- other jobs
Err comm_join(int fd, Comm*& result);
Err comm_spawn(const std::vector<AppSpec>& apps, int root, Comm& comm,
               Comm*& result); // apps: significant in the root
Err open_port(Info* info, std::string& name);
Err close_port(const char* name);
Err comm_accept(const char* port_name, Info* info, int root, Comm& comm, Comm*& result);
Err comm_connect(const char* port_name, Info* info, int root, Comm& comm, Comm*& result);
Err publish_name(const char* service, Info* info, const char* port);
Err unpublish_name(const char* service, Info* info, const char* port);
Err lookup_name(const char* service, Info* info, std::string& port);

} // namespace zipmpi::core
