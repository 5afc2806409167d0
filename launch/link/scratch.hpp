// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Directories that ranks linked with other MPIs need for files. Their names follow from the job's id, so that
// mpiexec and the daemon can each remove them when the other one was killed at any moment.
#pragma once

#include <cstdint>
#include <string>

namespace zipmpi::launch {

// The name for one node of a job on several: their daemons may live on one machine.
inline std::string scratch_of_node(const std::string& job_id, uint32_t node) {
    return job_id + "-" + std::to_string(node);
}

// A new directory in a place for files, or in memory; "" if there is none that can be written to.
std::string make_file_scratch(const std::string& job_id);
std::string make_memory_scratch(const std::string& job_id);

// Removes them, with all that is in them.
void remove_scratch(const std::string& job_id);

} // namespace zipmpi::launch
