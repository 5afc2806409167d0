// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Detects the launcher that started this process. A pure function of the environment, without I/O, so every
// combination can be tested from a table.
#pragma once

#include "boot/environment.hpp"
#include "boot/job.hpp"

namespace zipmpi::boot {

struct Detection {
    Protocol protocol =
        Protocol::singleton; // pmi2: try version 2 first; the server may support only version 1
    std::string how;
    int rank = 0; // rank and size are known here only for mpiexec, pmi1 and pmi2
    int size = 1;
    int pmi_fd = -1;
    int node_fd = -1; // node_fd, local_index and app_number: ZipMPI's mpiexec only
    int local_index = -1;
    int app_number = 0;
    std::string job_id;
};

// Returns false if the environment indicates a launcher that is not supported.
bool detect(const Environment& env, Detection& found, Diagnostic& why);

} // namespace zipmpi::boot
