// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// RDMA devices of this host: which of them an IP interface belongs to, and whether this process may use them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace zipmpi::transport::ucx {

struct RdmaPort {
    std::string name;    // device:port, as UCX calls it
    std::string trouble; // why it cannot be used; empty: it can
};

// Where the kernel shows devices.
struct DeviceFolders {
    std::string sys = "/sys/class";
    std::string dev = "/dev/infiniband";
};

// Active ports that speak through the interface.
std::vector<RdmaPort> rdma_ports_of(const std::string& interface, const DeviceFolders& folders = {});

// A device that the kernel emulates on an IP interface.
bool is_emulated(std::string_view port, const DeviceFolders& folders = {});

// Whether some device of the list, separated by commas, is an RDMA port.
inline bool has_rdma(std::string_view devices) { return devices.find(':') != std::string_view::npos; }

} // namespace zipmpi::transport::ucx
