// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// How long an engine waits for the launcher to report a rank whose connection has ended.
#pragma once

#include <cstdint>

namespace zipmpi::transport {

inline constexpr uint64_t failure_report_ns = 2'000'000'000; // the launcher needs less

} // namespace zipmpi::transport
