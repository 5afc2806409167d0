// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Loads the module zipmpi_crypto.so, which alone uses OpenSSL. Processes that need no encryption do not load
// it.
#pragma once

#include "base/crypto.hpp"

namespace zipmpi::os {

// Null on failure, with the reason in why.
const Crypto* load_crypto(std::string& why);

} // namespace zipmpi::os
