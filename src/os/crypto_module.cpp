// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "os/crypto_module.hpp"

#include "os/module_folder.hpp"

namespace zipmpi::os {

const Crypto* load_crypto(std::string& why) {
    void* const get = load_symbol(module_path("zipmpi_crypto.so"), crypto_module_symbol, why);
    return get != nullptr ? reinterpret_cast<GetCrypto>(get)() : nullptr;
}

} // namespace zipmpi::os
