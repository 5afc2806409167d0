// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mapping/graph_module.hpp"

#include "boot/module_folder.hpp"

#include <dlfcn.h>

namespace zipmpi::mapping {

const GraphTools* graph_tools() {
    static const GraphTools* tools = []() -> const GraphTools* {
        void* module = dlopen(boot::module_path(graph_module_file).c_str(), RTLD_NOW | RTLD_LOCAL);
        return module == nullptr ? nullptr
                                 : static_cast<const GraphTools*>(dlsym(module, graph_tools_symbol));
    }();
    return tools;
}

} // namespace zipmpi::mapping
