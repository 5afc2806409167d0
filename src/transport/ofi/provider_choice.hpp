// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Chooses among the providers and domains that libfabric offers. Pure functions.
#pragma once

#include <rdma/fabric.h>
#include <string_view>

namespace zipmpi::transport::ofi {

// The best of the list for the comma-separated devices, the first of which is preferred. provider: the only
// one that is accepted; empty: those that are known to work. Returns null if none suits.
const fi_info* choose_info(const fi_info* offered, std::string_view devices, std::string_view provider);

} // namespace zipmpi::transport::ofi
