// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Calls of partitioned communication (MPI chapter 4).
#pragma once

#include "core/api/common.hpp"

namespace zipmpi::core {

Err psend_init(const void* buf, int partitions, int64_t count, Datatype& type, int dest, int tag, Comm& comm,
               Info* info, Request*& request);
Err precv_init(void* buf, int partitions, int64_t count, Datatype& type, int source, int tag, Comm& comm,
               Info* info, Request*& request);
Err pready(int partition, Request& request);
Err pready_range(int low, int high, Request& request); // both inclusive
Err pready_list(int n, const int* partitions, Request& request);
Err parrived(Request* request, int partition, bool& flag);

} // namespace zipmpi::core
