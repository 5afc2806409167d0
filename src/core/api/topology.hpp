// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Calls on topologies, and neighborhood collectives (MPI chapter 8).
#pragma once

#include "core/api/call_form.hpp"
#include "core/api/common.hpp"

namespace zipmpi::core {

Err topo_test(Comm& comm, TopologyKind& kind);
Err dims_create(int nnodes, int ndims, int* dims);
Err cart_create(Comm& comm, int ndims, const int* dims, const int* periods, bool reorder, Comm*& result);
Err cart_map(Comm& comm, int ndims, const int* dims, const int* periods, int& new_rank);
Err cartdim_get(Comm& comm, int& ndims);
Err cart_get(Comm& comm, int maxdims, int* dims, int* periods, int* coords);
Err cart_rank(Comm& comm, const int* coords, int& rank);
Err cart_coords(Comm& comm, int rank, int maxdims, int* coords);
Err cart_shift(Comm& comm, int direction, int disp, int& source, int& destination);
Err cart_sub(Comm& comm, const int* remain, Comm*& result);
Err graph_create(Comm& comm, int nnodes, const int* index, const int* edges, bool reorder, Comm*& result);
Err graph_map(Comm& comm, int nnodes, const int* index, const int* edges, int& new_rank);
Err graphdims_get(Comm& comm, int& nnodes, int& nedges);
Err graph_get(Comm& comm, int maxindex, int maxedges, int* index, int* edges);
Err graph_neighbors_count(Comm& comm, int rank, int& count);
Err graph_neighbors(Comm& comm, int rank, int max, int* neighbors);
// weights may be unweighted or weights_empty
Err dist_graph_create(Comm& comm, int64_t n, const int* sources, const int* degrees, const int* destinations,
                      const int* weights, Info* info, bool reorder, Comm*& result);
Err dist_graph_create_adjacent(Comm& comm, int indegree, const int* sources, const int* source_weights,
                               int outdegree, const int* destinations, const int* destination_weights,
                               Info* info, bool reorder, Comm*& result);
Err dist_graph_neighbors_count(Comm& comm, int& indegree, int& outdegree, bool& weighted);
Err dist_graph_neighbors(Comm& comm, int64_t max_in, int* sources, int* source_weights, int64_t max_out,
                         int* destinations, int* destination_weights);

// Rebinds the ranks of each node by the messages that they have exchanged. Collective; does not wait for it.
Err comm_remap(Comm& comm);

// --- neighborhood collectives
Err neighbor_allgather(const CallForm& form, const void* sbuf, int64_t scount, Datatype& stype, void* rbuf,
                       int64_t rcount, Datatype& rtype, Comm& comm);
Err neighbor_allgatherv(const CallForm& form, const void* sbuf, int64_t scount, Datatype& stype, void* rbuf,
                        CountArray rcounts, CountArray displs, Datatype& rtype, Comm& comm);
Err neighbor_alltoall(const CallForm& form, const void* sbuf, int64_t scount, Datatype& stype, void* rbuf,
                      int64_t rcount, Datatype& rtype, Comm& comm);
Err neighbor_alltoallv(const CallForm& form, const void* sbuf, CountArray scounts, CountArray sdispls,
                       Datatype& stype, void* rbuf, CountArray rcounts, CountArray rdispls, Datatype& rtype,
                       Comm& comm);
Err neighbor_alltoallw(const CallForm& form, const void* sbuf, CountArray scounts, CountArray sdispls,
                       Datatype** stypes, void* rbuf, CountArray rcounts, CountArray rdispls,
                       Datatype** rtypes, Comm& comm);

} // namespace zipmpi::core
