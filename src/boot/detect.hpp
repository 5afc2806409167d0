// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Which launcher started this process? A pure function of the environment: it opens nothing and asks nobody,
// so every combination can be tested as a table.
#pragma once

#include "boot/environment.hpp"
#include "boot/job.hpp"

namespace zipmpi::boot {

struct Detection {
    Protocol protocol = Protocol::singleton; // pmi2: try version 2 first, the server may only have version 1
    std::string how;
    int rank = 0; // rank and size are known here only for mpiexec, pmi1 and pmi2
    int size = 1;
    int pmi_fd = -1;
    int node_fd = -1; // the last three with mpiexec only
    int local_index = -1;
    int app_number = 0;
    std::string job_id;
};

// False: there are signs of a launcher that nobody here can speak to.
bool detect(const Environment& env, Detection& found, Problem& why);

} // namespace zipmpi::boot
