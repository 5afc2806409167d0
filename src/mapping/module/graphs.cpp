// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Entry point of the module zipmpi_graphs.so: functions of the libraries it was built with.
#include "mapping/module/parts.hpp"

extern "C" [[gnu::visibility("default")]] const zipmpi::mapping::GraphTools zipmpi_graph_tools_1;

extern "C" const zipmpi::mapping::GraphTools zipmpi_graph_tools_1 = {
#ifdef ZIPMPI_HAS_SCOTCH
    zipmpi::mapping::partition_by_scotch,
#else
    nullptr,
#endif
#ifdef ZIPMPI_HAS_METIS
    zipmpi::mapping::separate_by_metis
#else
    nullptr
#endif
};
