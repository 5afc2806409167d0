// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Huge pages for the memory that ranks allocate, where the kernel gives them only on request: the C library
// requests them if a variable of the environment says so (docs/decisions/0055).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace zipmpi::launch {

// What a host offers.
struct HugePageSupport {
    std::string mode;             // as in /sys/kernel/mm/transparent_hugepage/enabled
    uint64_t available_bytes = 0; // memory for new processes
    bool returns_free_pages = false;
};
HugePageSupport read_huge_page_support();

// Whether this is a virtual machine that returns free memory to its host: the first use of a page then often
// waits for the host. folder: /sys/bus/virtio/devices.
bool returns_free_pages(const std::filesystem::path& folder);

// setting: value of launch.huge_pages. `auto` leaves ranks with little memory each alone, since a rank uses
// at least one huge page more, and hosts where their first use is slow.
bool should_use_huge_pages(std::string_view setting, const HugePageSupport& support, size_t ranks);

// Changes the environment of a program; a choice of the user is kept.
void add_huge_pages(std::vector<std::string>& environment);

} // namespace zipmpi::launch
