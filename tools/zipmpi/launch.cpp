// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "info.hpp"

#include "boot/detect.hpp"

namespace zipmpi::tool {

Json launch_facts(const char* const* environ_like) {
    boot::Detection found;
    Diagnostic problem;
    if (!boot::detect(boot::Environment(environ_like), found, problem))
        return {{"protocol", "none"}, {"why", problem.what + ": " + problem.why}, {"fix", problem.fix}};
    return {{"protocol", boot::protocol_name(found.protocol)}, {"why", found.how}};
}

} // namespace zipmpi::tool
