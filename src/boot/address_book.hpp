// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Where ranks on other hosts are reached: each rank publishes its address through the launcher once; others
// ask when they first need it, and leave the answer in the segment for their node.
#pragma once

#include "boot/job.hpp"

#include <string>
#include <string_view>

namespace zipmpi::boot {

bool publish_address(Launcher& launcher, std::string_view bytes);
// Empty: the launcher does not know it.
std::string find_address(Launcher& launcher, const NodeSegment& segment, int world_rank);

} // namespace zipmpi::boot
