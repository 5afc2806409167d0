// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The file descriptors of a daemon: as many as it may have, and whether they are enough before any rank
// starts.
#pragma once

#include "base/problem.hpp"

#include <cstdint>
#include <sys/resource.h>

namespace zipmpi::launch {

// Raises the limit of open files as far as the system allows. Returns what it was before: ranks get that.
rlimit raise_open_files();

// False, with the reason, if this process cannot open `more` descriptors beside those that it has. They are
// for this many ranks.
bool enough_descriptors(uint64_t more, size_t ranks, const std::string& host, Problem& why);

} // namespace zipmpi::launch
