// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Opens a PMI connection on an inherited descriptor. The first exchange negotiates the version; the rest of
// the protocol is in pmi1.cpp or pmi2.cpp.
#pragma once

#include "boot/job.hpp"
#include "boot/pmi_connection.hpp"

#include <memory>
#include <string>

namespace zipmpi::boot {

// Identity of this process as reported by the launcher; rank and size are set from the environment before.
struct PmiIdentity {
    Protocol protocol = Protocol::pmi1;
    std::string job_id;
    int rank = 0;
    int size = 1;
    int app_number = -1;
    int universe_size = -1;
    std::string mapping; // PMI_process_mapping, empty if the launcher has none
    bool native = false; // ZipMPI's mpiexec, which supports additional commands
};

// Null and `why` on failure. The first reply must arrive within launch.handshake_timeout.
std::unique_ptr<Launcher> open_pmi(int fd, bool try_version_2, PmiIdentity& me, std::string& why);

// Second step, after version negotiation.
std::unique_ptr<Launcher> open_pmi1(PmiConnection connection, PmiIdentity& me, std::string& why);
std::unique_ptr<Launcher> open_pmi2(PmiConnection connection, PmiIdentity& me, std::string& why);

// In both versions keys are global to the job, so the rank that puts a value is part of the key.
inline std::string key_of(int rank, std::string_view key) {
    return "zipmpi-" + std::to_string(rank) + "-" + std::string(key);
}

} // namespace zipmpi::boot
