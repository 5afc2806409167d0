// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The cluster of this process in a multi-cluster job.
#pragma once

#include <string>

namespace zipmpi::core {

// Names in info objects: the resource type of MPI_Comm_split_type and MPI_Get_hw_resource_info, and the keys
// of MPI_INFO_ENV for the name of this process's cluster and the number of clusters.
inline constexpr const char* cluster_resource = "zipmpi://cluster";
inline constexpr const char* cluster_key = "zipmpi_cluster";
inline constexpr const char* clusters_key = "zipmpi_clusters";

struct OwnCluster {
    int number = 0;   // first cluster of a multihomed node
    int count = 1;    // clusters in the job
    std::string name; // empty: job not started with mpiexec --clusters
};
OwnCluster own_cluster();

} // namespace zipmpi::core
