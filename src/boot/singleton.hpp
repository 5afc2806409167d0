// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Singleton: a process without a launcher, the only rank of its job.
#pragma once

#include "boot/job.hpp"

namespace zipmpi::boot {

void make_singleton(Job& job);

} // namespace zipmpi::boot
