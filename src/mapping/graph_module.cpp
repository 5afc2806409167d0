// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mapping/graph_module.hpp"

#include "os/module_folder.hpp"

namespace zipmpi::mapping {

const GraphTools* graph_tools() {
    static const GraphTools* tools = []() -> const GraphTools* {
        std::string why; // without the module the caller uses its own algorithms
        return static_cast<const GraphTools*>(
            os::load_symbol(os::module_path(graph_module_file), graph_tools_symbol, why));
    }();
    return tools;
}

} // namespace zipmpi::mapping
