// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Interface of the module zipmpi_otf2.so, the only code that uses libotf2.
#pragma once

#include "tracing/trace_data.hpp"

namespace zipmpi::tool {

using Otf2Writer = bool(const Trace& trace, const std::string& folder, std::string& why);
inline constexpr const char* otf2_writer_name = "zipmpi_write_otf2";

} // namespace zipmpi::tool
