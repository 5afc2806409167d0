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

// The name tells several addresses of one process apart.
inline constexpr std::string_view address_name = "net";
bool publish_address(Launcher& launcher, std::string_view bytes, std::string_view name = address_name);
// Asks the launcher every time. Empty: it does not know.
std::string ask_address(Launcher& launcher, int world_rank, std::string_view name = address_name);
// Empty: the launcher does not know it.
std::string find_address(Launcher& launcher, const NodeSegment& segment, int world_rank);

} // namespace zipmpi::boot
