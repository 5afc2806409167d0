// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Jobs and gateways on this node, found by the memory files that their processes hold: that works under every
// launcher, and needs no file and no server.
#pragma once

#include "os/fd.hpp"

#include <string>
#include <sys/types.h>
#include <vector>

namespace zipmpi::tool {

// A memory file, once, with those that hold it.
struct SharedFile {
    dev_t device = 0;
    ino_t number = 0;
    std::vector<pid_t> holders;
    os::Fd fd; // for reading only
};

// Files of this name (of memfd_create) in processes that this user may look into.
std::vector<SharedFile> find_shared_files(const std::string& name);

// Whether one of these is this process, or was started by it or by one that it has started.
bool any_started_by(const std::vector<pid_t>& processes, pid_t ancestor);

} // namespace zipmpi::tool
