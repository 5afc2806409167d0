// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The data representation external32 of the MPI standard: big-endian, two's complement, IEEE 754, with a
// table of sizes in which long has 4 bytes and long double 16.
#pragma once

#include "base/err.hpp"
#include "core/datatype/signature.hpp"

#include <cstddef>

namespace zipmpi::core {

// Bytes of one datatype in external32.
int64_t external_bytes(const Signature& signature);
// Converts `count` datatypes of packed native data at `from`. Fails if external32 cannot represent a value.
Err to_external(const Signature& signature, int64_t count, const std::byte* from, std::byte* to);
void from_external(const Signature& signature, int64_t count, const std::byte* from, std::byte* to);

} // namespace zipmpi::core
