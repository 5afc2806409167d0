// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Facts about this host that need no name resolution and no device.
#pragma once

#include <string>

namespace zipmpi::os {

std::string host_name();    // as uname(2) says it; never looked up
int usable_cpus() noexcept; // CPUs this process may run on: affinity mask, capped by the cgroup CPU quota

} // namespace zipmpi::os
