// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// File descriptors of a daemon: raises the limit, and checks before the start of any rank that it suffices.
#pragma once

#include "base/diagnostic.hpp"
#include "os/fd.hpp"

#include <cstdint>
#include <sys/resource.h>

namespace zipmpi::launch {

// Raises the limit of open files to the hard limit. Returns the previous limit, which the ranks get.
rlimit raise_open_files();

// Whether this process can open `more` descriptors in addition to its open ones.
bool suffices_for(uint64_t more);

// Returns false and the reason if this process cannot open `more` descriptors in addition to its open ones.
// ranks: number of ranks that they serve.
bool check_descriptor_limit(uint64_t more, size_t ranks, const std::string& host, Diagnostic& why);

// The highest descriptor that children of this process inherit, because it is not close-on-exec.
int highest_inherited_descriptor();

// Moves a descriptor of the daemon to a high number. Low numbers remain for the ends of the next rank, which
// then inherits few descriptors (SpawnArgs::highest_inherited).
void move_above_inherited(os::Fd& end);

} // namespace zipmpi::launch
