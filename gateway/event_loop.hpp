// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The event loop of a gateway.
#pragma once

#include "gateway/links.hpp"

namespace zipmpi::gateway {

// Forwards frames until SIGTERM, or until the launcher closes its connection.
void serve(Forwarder& forwarder, GatewayLinks& links, int launcher);

} // namespace zipmpi::gateway
