// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Loads the PMIx module. It is never unloaded, because libpmix has threads.
#pragma once

#include "boot/pmix/module.hpp"

#include <memory>

namespace zipmpi::boot {

std::unique_ptr<Launcher> open_pmix(PmixIdentity& me, Diagnostic& why);

} // namespace zipmpi::boot
