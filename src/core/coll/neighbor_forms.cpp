// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Neighborhood collectives under the names of api.hpp: blocking, nonblocking and persistent.
#include "core/coll/forms.hpp"

namespace zipmpi::core {

Err neighbor_allgather(const void* sbuf, int64_t scount, Datatype& stype, void* rbuf, int64_t rcount,
                       Datatype& rtype, Comm& comm) {
    return neighbor_allgather(CallForm{}, sbuf, scount, stype, rbuf, rcount, rtype, comm);
}

Err ineighbor_allgather(const void* sbuf, int64_t scount, Datatype& stype, void* rbuf, int64_t rcount,
                        Datatype& rtype, Comm& comm, Request*& request) {
    return neighbor_allgather(CallForm{&request, false}, sbuf, scount, stype, rbuf, rcount, rtype, comm);
}

Err neighbor_allgather_init(const void* sbuf, int64_t scount, Datatype& stype, void* rbuf, int64_t rcount,
                            Datatype& rtype, Comm& comm, Info*, Request*& request) {
    return neighbor_allgather(CallForm{&request, true}, sbuf, scount, stype, rbuf, rcount, rtype, comm);
}

Err neighbor_allgatherv(const void* sbuf, int64_t scount, Datatype& stype, void* rbuf, CountArray rcounts,
                        CountArray displs, Datatype& rtype, Comm& comm) {
    return neighbor_allgatherv(CallForm{}, sbuf, scount, stype, rbuf, rcounts, displs, rtype, comm);
}

Err ineighbor_allgatherv(const void* sbuf, int64_t scount, Datatype& stype, void* rbuf, CountArray rcounts,
                         CountArray displs, Datatype& rtype, Comm& comm, Request*& request) {
    return neighbor_allgatherv(CallForm{&request, false}, sbuf, scount, stype, rbuf, rcounts, displs, rtype,
                               comm);
}

Err neighbor_allgatherv_init(const void* sbuf, int64_t scount, Datatype& stype, void* rbuf,
                             CountArray rcounts, CountArray displs, Datatype& rtype, Comm& comm, Info*,
                             Request*& request) {
    return neighbor_allgatherv(CallForm{&request, true}, sbuf, scount, stype, rbuf, rcounts, displs, rtype,
                               comm);
}

Err neighbor_alltoall(const void* sbuf, int64_t scount, Datatype& stype, void* rbuf, int64_t rcount,
                      Datatype& rtype, Comm& comm) {
    return neighbor_alltoall(CallForm{}, sbuf, scount, stype, rbuf, rcount, rtype, comm);
}

Err ineighbor_alltoall(const void* sbuf, int64_t scount, Datatype& stype, void* rbuf, int64_t rcount,
                       Datatype& rtype, Comm& comm, Request*& request) {
    return neighbor_alltoall(CallForm{&request, false}, sbuf, scount, stype, rbuf, rcount, rtype, comm);
}

Err neighbor_alltoall_init(const void* sbuf, int64_t scount, Datatype& stype, void* rbuf, int64_t rcount,
                           Datatype& rtype, Comm& comm, Info*, Request*& request) {
    return neighbor_alltoall(CallForm{&request, true}, sbuf, scount, stype, rbuf, rcount, rtype, comm);
}

Err neighbor_alltoallv(const void* sbuf, CountArray scounts, CountArray sdispls, Datatype& stype, void* rbuf,
                       CountArray rcounts, CountArray rdispls, Datatype& rtype, Comm& comm) {
    return neighbor_alltoallv(CallForm{}, sbuf, scounts, sdispls, stype, rbuf, rcounts, rdispls, rtype, comm);
}

Err ineighbor_alltoallv(const void* sbuf, CountArray scounts, CountArray sdispls, Datatype& stype, void* rbuf,
                        CountArray rcounts, CountArray rdispls, Datatype& rtype, Comm& comm,
                        Request*& request) {
    return neighbor_alltoallv(CallForm{&request, false}, sbuf, scounts, sdispls, stype, rbuf, rcounts,
                              rdispls, rtype, comm);
}

Err neighbor_alltoallv_init(const void* sbuf, CountArray scounts, CountArray sdispls, Datatype& stype,
                            void* rbuf, CountArray rcounts, CountArray rdispls, Datatype& rtype, Comm& comm,
                            Info*, Request*& request) {
    return neighbor_alltoallv(CallForm{&request, true}, sbuf, scounts, sdispls, stype, rbuf, rcounts, rdispls,
                              rtype, comm);
}

Err neighbor_alltoallw(const void* sbuf, CountArray scounts, CountArray sdispls, Datatype** stypes,
                       void* rbuf, CountArray rcounts, CountArray rdispls, Datatype** rtypes, Comm& comm) {
    return neighbor_alltoallw(CallForm{}, sbuf, scounts, sdispls, stypes, rbuf, rcounts, rdispls, rtypes,
                              comm);
}

Err ineighbor_alltoallw(const void* sbuf, CountArray scounts, CountArray sdispls, Datatype** stypes,
                        void* rbuf, CountArray rcounts, CountArray rdispls, Datatype** rtypes, Comm& comm,
                        Request*& request) {
    return neighbor_alltoallw(CallForm{&request, false}, sbuf, scounts, sdispls, stypes, rbuf, rcounts,
                              rdispls, rtypes, comm);
}

Err neighbor_alltoallw_init(const void* sbuf, CountArray scounts, CountArray sdispls, Datatype** stypes,
                            void* rbuf, CountArray rcounts, CountArray rdispls, Datatype** rtypes, Comm& comm,
                            Info*, Request*& request) {
    return neighbor_alltoallw(CallForm{&request, true}, sbuf, scounts, sdispls, stypes, rbuf, rcounts,
                              rdispls, rtypes, comm);
}

} // namespace zipmpi::core
