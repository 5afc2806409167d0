// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// RDMA devices of this host: those of an IP interface, and whether this process may use them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace zipmpi::transport::discovery {

struct RdmaPort {
    std::string name;  // device:port, as in UCX
    std::string error; // why it cannot be used; empty: usable
};

// Directories in which the kernel shows devices.
struct SysfsPaths {
    std::string sys = "/sys/class";
    std::string dev = "/dev/infiniband";
};

// Active ports that use the interface.
std::vector<RdmaPort> rdma_ports_of(const std::string& interface, const SysfsPaths& folders = {});

// Whether the kernel emulates the device on an IP interface.
bool is_emulated(std::string_view port, const SysfsPaths& folders = {});

// Whether the comma-separated list contains an RDMA port.
inline bool has_rdma(std::string_view devices) { return devices.find(':') != std::string_view::npos; }

} // namespace zipmpi::transport::discovery
