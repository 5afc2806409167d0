// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Network devices of this host that UCX cannot drive and libfabric can: Slingshot (cxi), EFA, Omni-Path
// (hfi1).
#pragma once

#include "transport/discovery/rdma_ports.hpp"

namespace zipmpi::transport::discovery {

// Their names, comma-separated, as the kernel shows them; empty: there are none.
std::string ofi_devices(const SysfsPaths& folders = {});

// Whether the comma-separated list contains one of them.
bool has_ofi_device(std::string_view devices, const SysfsPaths& folders = {});

} // namespace zipmpi::transport::discovery
