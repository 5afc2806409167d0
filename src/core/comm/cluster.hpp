// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Which cluster this process is in, for jobs over several that share no network.
#pragma once

#include <string>

namespace zipmpi::core {

// In info objects: what MPI_Comm_split_type and MPI_Get_hw_resource_info call a cluster, and the keys of
// MPI_INFO_ENV with the name of the own cluster and the number of clusters.
inline constexpr const char* cluster_resource = "zipmpi://cluster";
inline constexpr const char* cluster_key = "zipmpi_cluster";
inline constexpr const char* clusters_key = "zipmpi_clusters";

struct OwnCluster {
    int number = 0;   // of a node in several clusters: the first
    int count = 1;    // clusters of the job
    std::string name; // empty: the job was not started with mpiexec --grid
};
OwnCluster own_cluster();

} // namespace zipmpi::core
