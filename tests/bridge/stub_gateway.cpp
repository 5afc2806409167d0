// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Replaces zipmpi-gateway where only the launcher is tested: publishes its keys and sleeps. With
// STUB_GATEWAY_EXITS set it exits at once.
#include "boot/pmi_client.hpp"

#include <cstdlib>
#include <string>
#include <unistd.h>

using namespace zipmpi;

int main() {
    const auto variable = [](const char* name) {
        return std::string(std::getenv(name) != nullptr ? std::getenv(name) : "");
    };
    if (!variable("STUB_GATEWAY_EXITS").empty()) return 3;
    boot::PmiIdentity me;
    me.rank = std::atoi(variable("PMI_RANK").c_str());
    me.size = std::atoi(variable("PMI_SIZE").c_str());
    std::string why;
    const auto launcher = boot::open_pmi(std::atoi(variable("PMI_FD").c_str()), false, me, why);
    const bool put = launcher != nullptr && launcher->put("number", variable("ZIPMPI_GATEWAY")) &&
                     launcher->put("devices.0", "eth7") &&
                     launcher->put("epoch", variable("ZIPMPI_GATEWAY_EPOCH"));
    if (!put || variable("ZIPMPI_CLUSTERS").empty() || variable("ZIPMPI_NODE_FD").empty()) return 1;
    const bool again = variable("ZIPMPI_GATEWAY_EPOCH") != "1";
    if (again != (variable("ZIPMPI_CLUSTERS").find(" a 0 eth7") != std::string::npos)) return 2;
    for (;;) pause();
}
