// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Opening a PMI connection on an inherited descriptor. The first exchange tells which version the launcher
// speaks; the rest of the conversation is in pmi1.cpp or pmi2.cpp.
#pragma once

#include "boot/job.hpp"
#include "boot/text_protocol.hpp"

#include <memory>
#include <string>

namespace zipmpi::boot {

// What the launcher says about this process; rank and size are filled in from the environment before.
struct PmiIdentity {
    Protocol protocol = Protocol::pmi1;
    std::string job_id;
    int rank = 0;
    int size = 1;
    int app_number = -1;
    int universe_size = -1;
    std::string mapping;     // PMI_process_mapping, empty if the launcher has none
    bool of_mpiexec = false; // ours, which knows words of its own
};

// Null and `why` on failure. The answer to the first message has the limit boot.handshake_timeout.
std::unique_ptr<Launcher> open_pmi(int fd, bool try_version_2, PmiIdentity& me, std::string& why);

// The second step, once the version is agreed.
std::unique_ptr<Launcher> open_pmi1(TextConnection connection, PmiIdentity& me, std::string& why);
std::unique_ptr<Launcher> open_pmi2(TextConnection connection, PmiIdentity& me, std::string& why);

// Keys are one name space for the whole job in both versions: the rank that put it is part of the key.
inline std::string key_of(int rank, std::string_view key) {
    return "zipmpi-" + std::to_string(rank) + "-" + std::string(key);
}

} // namespace zipmpi::boot
