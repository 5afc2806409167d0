// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Calls of core/api.hpp for dynamic process management (MPI chapter 11).
#pragma once

#include "base/err.hpp"
#include "core/object.hpp"

#include <string>
#include <vector>

namespace zipmpi::core {

struct AppSpec; // core/dpm/spawn.hpp

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
