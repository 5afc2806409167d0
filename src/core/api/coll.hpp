// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Collectives and reduction operations (MPI chapter 6). IN_PLACE arrives as in_place. A datatype is null with
// in_place, and where it is not significant.
#pragma once

#include "core/api/call_form.hpp"
#include "core/api/common.hpp"

namespace zipmpi::core {

Err barrier(const CallForm& form, Comm& comm);
Err bcast(const CallForm& form, void* buf, int64_t count, Datatype& type, int root, Comm& comm);
Err gather(const CallForm& form, const void* sbuf, int64_t scount, Datatype* stype, void* rbuf,
           int64_t rcount, Datatype* rtype, int root, Comm& comm);
Err gatherv(const CallForm& form, const void* sbuf, int64_t scount, Datatype* stype, void* rbuf,
            CountArray rcounts, CountArray displs, Datatype* rtype, int root, Comm& comm);
Err scatter(const CallForm& form, const void* sbuf, int64_t scount, Datatype* stype, void* rbuf,
            int64_t rcount, Datatype* rtype, int root, Comm& comm);
Err scatterv(const CallForm& form, const void* sbuf, CountArray scounts, CountArray displs, Datatype* stype,
             void* rbuf, int64_t rcount, Datatype* rtype, int root, Comm& comm);
Err allgather(const CallForm& form, const void* sbuf, int64_t scount, Datatype* stype, void* rbuf,
              int64_t rcount, Datatype& rtype, Comm& comm);
Err allgatherv(const CallForm& form, const void* sbuf, int64_t scount, Datatype* stype, void* rbuf,
               CountArray rcounts, CountArray displs, Datatype& rtype, Comm& comm);
Err alltoall(const CallForm& form, const void* sbuf, int64_t scount, Datatype* stype, void* rbuf,
             int64_t rcount, Datatype& rtype, Comm& comm);
Err alltoallv(const CallForm& form, const void* sbuf, CountArray scounts, CountArray sdispls, Datatype* stype,
              void* rbuf, CountArray rcounts, CountArray rdispls, Datatype& rtype, Comm& comm);
Err alltoallw(const CallForm& form, const void* sbuf, CountArray scounts, CountArray sdispls,
              Datatype** stypes, void* rbuf, CountArray rcounts, CountArray rdispls, Datatype** rtypes,
              Comm& comm);
Err reduce(const CallForm& form, const void* sbuf, void* rbuf, int64_t count, Datatype& type, Op& op,
           int root, Comm& comm);
Err allreduce(const CallForm& form, const void* sbuf, void* rbuf, int64_t count, Datatype& type, Op& op,
              Comm& comm);
Err scan(const CallForm& form, const void* sbuf, void* rbuf, int64_t count, Datatype& type, Op& op,
         Comm& comm);
Err exscan(const CallForm& form, const void* sbuf, void* rbuf, int64_t count, Datatype& type, Op& op,
           Comm& comm);
Err reduce_scatter(const CallForm& form, const void* sbuf, void* rbuf, CountArray rcounts, Datatype& type,
                   Op& op, Comm& comm);
Err reduce_scatter_block(const CallForm& form, const void* sbuf, void* rbuf, int64_t rcount, Datatype& type,
                         Op& op, Comm& comm);

// --- operations
Err op_create(void* user_function, UserReduction call, bool commutes, Op*& op);
void* user_function_of(const Op& op) noexcept;
void set_user_function(Op& op, void* user_function, UserReduction call) noexcept; // before its first use
Err op_free(Op*& op);
Err op_commutative(Op& op, bool& commutes);
Err reduce_local(const void* in, void* inout, int64_t count, Datatype& type, Op& op);

} // namespace zipmpi::core
