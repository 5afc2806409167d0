// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// In place of zipmpi-gateway where only the launcher is tested: puts keys and sleeps. With STANDIN_ENDS it
// ends at once.
#include "boot/pmi_text.hpp"

#include <cstdlib>
#include <string>
#include <unistd.h>

using namespace zipmpi;

int main() {
    const auto variable = [](const char* name) {
        return std::string(std::getenv(name) != nullptr ? std::getenv(name) : "");
    };
    if (!variable("STANDIN_ENDS").empty()) return 3;
    boot::PmiIdentity me;
    me.rank = std::atoi(variable("PMI_RANK").c_str());
    me.size = std::atoi(variable("PMI_SIZE").c_str());
    std::string why;
    const auto launcher = boot::open_pmi(std::atoi(variable("PMI_FD").c_str()), false, me, why);
    const bool put = launcher != nullptr && launcher->put("number", variable("ZIPMPI_GATEWAY")) &&
                     launcher->put("devices.0", "eth7") &&
                     launcher->put("epoch", variable("ZIPMPI_GATEWAY_EPOCH"));
    if (!put || variable("ZIPMPI_GRID").empty() || variable("ZIPMPI_NODE_FD").empty()) return 1;
    const bool again = variable("ZIPMPI_GATEWAY_EPOCH") != "1";
    if (again != (variable("ZIPMPI_GRID").find(" a 0 eth7") != std::string::npos)) return 2;
    for (;;) pause();
}
