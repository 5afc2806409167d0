// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The message for hosts where the cryptography of control connections cannot be loaded.
#pragma once

#include "base/diagnostic.hpp"
#include "os/crypto_module.hpp"

namespace zipmpi::launch {

Diagnostic no_crypto(const std::string& reason);

} // namespace zipmpi::launch
