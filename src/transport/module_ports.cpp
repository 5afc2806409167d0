// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// net.ports inside the module of an engine, which has no parameters of its own: set by the library when it
// loads the module.
#include "os/socket.hpp"

namespace {

std::string& ports() {
    static std::string range;
    return range;
}

} // namespace

namespace zipmpi::os {

const std::string& port_range() { return ports(); }

} // namespace zipmpi::os

extern "C" [[gnu::visibility("default")]] void zipmpi_module_set_ports_1(const char* range);
extern "C" void zipmpi_module_set_ports_1(const char* range) { ports() = range; }
