// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/protocol/crypto.hpp"

#include "os/host.hpp"

namespace zipmpi::launch {

Diagnostic no_crypto(const std::string& reason) {
    return {"connections between hosts cannot be encrypted, so this job cannot start on several hosts",
            "host " + os::host_name(), reason,
            "install a ZipMPI built with OpenSSL (Debian: libssl3), the same on all hosts"};
}

} // namespace zipmpi::launch
