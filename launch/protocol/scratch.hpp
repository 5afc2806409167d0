// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Scratch directories of ranks linked with other MPIs. Their names derive from the job id, so mpiexec and the
// daemon can each remove them if the other was killed.
#pragma once

#include <cstdint>
#include <string>

namespace zipmpi::launch {

// Name for one node of a multi-node job: several daemons may run on one machine.
inline std::string node_scratch_name(const std::string& job_id, uint32_t node) {
    return job_id + "-" + std::to_string(node);
}

// A new directory on disk or in memory; "" if no location is writable.
std::string make_file_scratch(const std::string& job_id);
std::string make_memory_scratch(const std::string& job_id);

// Removes both directories recursively.
void remove_scratch(const std::string& job_id);

} // namespace zipmpi::launch
