// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Finds jobs and gateways on this node by the memory files that their processes hold. This works under every
// launcher and needs no file and no server.
#pragma once

#include "os/fd.hpp"

#include <string>
#include <sys/types.h>
#include <vector>

namespace zipmpi::tool {

// One memory file, with the processes that hold it.
struct SharedFile {
    dev_t device = 0;
    ino_t inode = 0;
    std::vector<pid_t> holders;
    os::Fd fd; // read-only
};

// Memory files of this name (of memfd_create) in processes that this user may inspect.
std::vector<SharedFile> find_shared_files(const std::string& name);

// True if one of these is this process or a descendant of it.
bool any_descends_from(const std::vector<pid_t>& processes, pid_t ancestor);

} // namespace zipmpi::tool
