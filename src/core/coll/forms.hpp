// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The collectives of chapter 6 with their form as first argument; forms.cpp gives them the names of api.hpp.
#pragma once

#include "core/coll/plan.hpp"

namespace zipmpi::core {

Err barrier(const Form& form, Comm& comm);
Err bcast(const Form& form, void* buf, int64_t count, Datatype& type, int root, Comm& comm);
Err gather(const Form& form, const void* sbuf, int64_t scount, Datatype* stype, void* rbuf, int64_t rcount,
           Datatype* rtype, int root, Comm& comm);
Err gatherv(const Form& form, const void* sbuf, int64_t scount, Datatype* stype, void* rbuf,
            CountArray rcounts, CountArray displs, Datatype* rtype, int root, Comm& comm);
Err scatter(const Form& form, const void* sbuf, int64_t scount, Datatype* stype, void* rbuf, int64_t rcount,
            Datatype* rtype, int root, Comm& comm);
Err scatterv(const Form& form, const void* sbuf, CountArray scounts, CountArray displs, Datatype* stype,
             void* rbuf, int64_t rcount, Datatype* rtype, int root, Comm& comm);
Err allgather(const Form& form, const void* sbuf, int64_t scount, Datatype* stype, void* rbuf, int64_t rcount,
              Datatype& rtype, Comm& comm);
Err allgatherv(const Form& form, const void* sbuf, int64_t scount, Datatype* stype, void* rbuf,
               CountArray rcounts, CountArray displs, Datatype& rtype, Comm& comm);
Err alltoall(const Form& form, const void* sbuf, int64_t scount, Datatype* stype, void* rbuf, int64_t rcount,
             Datatype& rtype, Comm& comm);
Err alltoallv(const Form& form, const void* sbuf, CountArray scounts, CountArray sdispls, Datatype* stype,
              void* rbuf, CountArray rcounts, CountArray rdispls, Datatype& rtype, Comm& comm);
Err alltoallw(const Form& form, const void* sbuf, CountArray scounts, CountArray sdispls, Datatype** stypes,
              void* rbuf, CountArray rcounts, CountArray rdispls, Datatype** rtypes, Comm& comm);
Err reduce(const Form& form, const void* sbuf, void* rbuf, int64_t count, Datatype& type, Op& op, int root,
           Comm& comm);
Err allreduce(const Form& form, const void* sbuf, void* rbuf, int64_t count, Datatype& type, Op& op,
              Comm& comm);
Err scan(const Form& form, const void* sbuf, void* rbuf, int64_t count, Datatype& type, Op& op, Comm& comm);
Err exscan(const Form& form, const void* sbuf, void* rbuf, int64_t count, Datatype& type, Op& op, Comm& comm);
Err reduce_scatter(const Form& form, const void* sbuf, void* rbuf, CountArray rcounts, Datatype& type, Op& op,
                   Comm& comm);
Err reduce_scatter_block(const Form& form, const void* sbuf, void* rbuf, int64_t rcount, Datatype& type,
                         Op& op, Comm& comm);

// --- with the neighbours in a topology
Err neighbor_allgather(const Form& form, const void* sbuf, int64_t scount, Datatype& stype, void* rbuf,
                       int64_t rcount, Datatype& rtype, Comm& comm);
Err neighbor_allgatherv(const Form& form, const void* sbuf, int64_t scount, Datatype& stype, void* rbuf,
                        CountArray rcounts, CountArray displs, Datatype& rtype, Comm& comm);
Err neighbor_alltoall(const Form& form, const void* sbuf, int64_t scount, Datatype& stype, void* rbuf,
                      int64_t rcount, Datatype& rtype, Comm& comm);
Err neighbor_alltoallv(const Form& form, const void* sbuf, CountArray scounts, CountArray sdispls,
                       Datatype& stype, void* rbuf, CountArray rcounts, CountArray rdispls, Datatype& rtype,
                       Comm& comm);
Err neighbor_alltoallw(const Form& form, const void* sbuf, CountArray scounts, CountArray sdispls,
                       Datatype** stypes, void* rbuf, CountArray rcounts, CountArray rdispls,
                       Datatype** rtypes, Comm& comm);

} // namespace zipmpi::core
