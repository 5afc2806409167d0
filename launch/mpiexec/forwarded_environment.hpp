// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Variables that ranks inherit in jobs that use other hosts. Others may be secrets (tokens, agents, sockets
// of the session) and are not sent.
#pragma once

#include <string_view>

namespace zipmpi::launch {

// '*' at the end of a name matches any suffix.
bool matches_name(std::string_view name, std::string_view variable);

// In the list of forwarded_environment.cpp, or in `more`: names, comma-separated.
bool is_forwarded(std::string_view variable, std::string_view more);

} // namespace zipmpi::launch
