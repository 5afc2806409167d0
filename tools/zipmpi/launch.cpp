// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "info.hpp"

namespace zipmpi::tool {

Json launch_facts(const char* const*) { return {{"protocol", "unknown"}, {"why", "not in this build"}}; }

} // namespace zipmpi::tool
