// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The RDMA device for RMA, opened when the first multi-host window is created.
#pragma once

#include "proto/rma/rdma_context.hpp"

namespace zipmpi::core {

// Null if no device supports all operations, or if RDMA is disabled.
proto::rma::RdmaContext* window_rdma_context();

} // namespace zipmpi::core
