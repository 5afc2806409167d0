// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The network device for one-sided communication, opened when the first window over several hosts is made.
#pragma once

#include "proto/rma/device.hpp"

namespace zipmpi::core {

// Null: there is none that does everything by itself, or it is not to be used.
proto::rma::Device* window_device();

} // namespace zipmpi::core
