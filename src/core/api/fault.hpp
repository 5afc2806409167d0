// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Calls for recovery after a failure (ULFM extension).
#pragma once

#include "core/api/common.hpp"

namespace zipmpi::core {

Err comm_revoke(Comm& comm);
Err comm_is_revoked(Comm& comm, bool& flag);
// Results of the nonblocking calls are valid when the request completes.
Err comm_shrink(Comm& comm, Comm*& result);
Err comm_ishrink(Comm& comm, Comm*& result, Request*& request);
Err comm_agree(Comm& comm, int& flag);
Err comm_iagree(Comm& comm, int& flag, Request*& request);
Err comm_get_failed(Comm& comm, Group*& group);
Err comm_ack_failed(Comm& comm, int num_to_ack, int& num_acked);
Err comm_failure_ack(Comm& comm);
Err comm_failure_get_acked(Comm& comm, Group*& group);

} // namespace zipmpi::core
