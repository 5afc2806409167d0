// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "hwtopo/topology_module.hpp"

#include "os/module_folder.hpp"

#include <dlfcn.h>

namespace zipmpi::hwtopo {

bool read_machine(Machine& machine, const char* synthetic) {
    void* module = dlopen(os::module_path(module_file).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (module == nullptr) return false;
    const auto describe = reinterpret_cast<DescribeMachine>(dlsym(module, describe_symbol));
    const auto add = [](void* arg, const CpuLocality& cpu) {
        static_cast<Machine*>(arg)->cpus.push_back(cpu);
    };
    machine = {};
    const bool ok =
        describe != nullptr && describe(synthetic, add, &machine, machine.l2_bytes, machine.l3_bytes);
    dlclose(module); // releases its memory
    return ok;
}

} // namespace zipmpi::hwtopo
