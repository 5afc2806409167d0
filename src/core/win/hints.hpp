// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Info hints of windows: those of the standard, and zipmpi_lock, zipmpi_lock_turns and zipmpi_fence.
#pragma once

#include "core/info/info.hpp"
#include "proto/rma/window_policy.hpp"

namespace zipmpi::core {

// The hints that windows support, with their values for a new window. Unknown keys and invalid values of
// ZipMPI's own keys are left out.
Hints window_hints(const Hints& user_hints);
// What the hints choose.
proto::rma::WindowPolicy policy_of(const Hints& hints);
// The hints of the policy that the members have agreed on.
void set_policy_hints(const proto::rma::WindowPolicy& policy, Hints& hints);

} // namespace zipmpi::core
