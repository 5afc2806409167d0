// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Addresses of ranks on other hosts. Each rank publishes its address once through the launcher; other ranks
// fetch it on first use and cache it in the node segment.
#pragma once

#include "boot/job.hpp"

#include <string>
#include <string_view>

namespace zipmpi::boot {

// The name distinguishes several addresses of one process.
inline constexpr std::string_view address_name = "net";
bool publish_address(Launcher& launcher, std::string_view bytes, std::string_view name = address_name);
// Always queries the launcher. Empty: the address is not published.
std::string fetch_address(Launcher& launcher, int world_rank, std::string_view name = address_name);
// From the node segment, else from the launcher. Empty: the address is not published.
std::string find_address(Launcher& launcher, const segment::NodeSegment& segment, int world_rank);

} // namespace zipmpi::boot
