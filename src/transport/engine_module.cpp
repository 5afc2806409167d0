// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/engine_module.hpp"

#include "os/module_folder.hpp"
#include "os/socket.hpp"

namespace zipmpi::transport {
namespace {

using SetPorts = void (*)(const char* range);
constexpr const char* set_ports_symbol = "zipmpi_module_set_ports_1"; // module_ports.cpp

} // namespace

void* load_engine_symbol(const std::string& file, const char* symbol, std::string& why) {
    if (!os::port_range().empty())
        if (void* const set_ports = os::load_symbol(file, set_ports_symbol, why); set_ports != nullptr)
            reinterpret_cast<SetPorts>(set_ports)(os::port_range().c_str());
    return os::load_symbol(file, symbol, why);
}

} // namespace zipmpi::transport
