// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/protocol/crypto.hpp"

#include "os/host.hpp"
#include "os/module_folder.hpp"

namespace zipmpi::launch {

const Crypto* load_crypto(std::string& why) {
    void* const get = os::load_symbol(os::module_path("zipmpi_crypto.so"), crypto_module_symbol, why);
    return get != nullptr ? reinterpret_cast<GetCrypto>(get)() : nullptr;
}

Diagnostic no_crypto(const std::string& reason) {
    return {"connections between hosts cannot be encrypted, so this job cannot start on several hosts",
            "host " + os::host_name(), reason,
            "install a ZipMPI built with OpenSSL (Debian: libssl3), the same on all hosts"};
}

} // namespace zipmpi::launch
