// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Collectives under the names of api.hpp: blocking, nonblocking and persistent. The info object of a
// persistent call is ignored.
#include "core/coll/forms.hpp"

namespace zipmpi::core {

Err barrier(Comm& comm) { return barrier(CallForm{}, comm); }

Err ibarrier(Comm& comm, Request*& request) { return barrier(CallForm{&request, false}, comm); }

Err barrier_init(Comm& comm, Info*, Request*& request) { return barrier(CallForm{&request, true}, comm); }

Err bcast(void* buf, int64_t count, Datatype& type, int root, Comm& comm) {
    return bcast(CallForm{}, buf, count, type, root, comm);
}

Err ibcast(void* buf, int64_t count, Datatype& type, int root, Comm& comm, Request*& request) {
    return bcast(CallForm{&request, false}, buf, count, type, root, comm);
}

Err bcast_init(void* buf, int64_t count, Datatype& type, int root, Comm& comm, Info*, Request*& request) {
    return bcast(CallForm{&request, true}, buf, count, type, root, comm);
}

Err gather(const void* sbuf, int64_t scount, Datatype* stype, void* rbuf, int64_t rcount, Datatype* rtype,
           int root, Comm& comm) {
    return gather(CallForm{}, sbuf, scount, stype, rbuf, rcount, rtype, root, comm);
}

Err igather(const void* sbuf, int64_t scount, Datatype* stype, void* rbuf, int64_t rcount, Datatype* rtype,
            int root, Comm& comm, Request*& request) {
    return gather(CallForm{&request, false}, sbuf, scount, stype, rbuf, rcount, rtype, root, comm);
}

Err gather_init(const void* sbuf, int64_t scount, Datatype* stype, void* rbuf, int64_t rcount,
                Datatype* rtype, int root, Comm& comm, Info*, Request*& request) {
    return gather(CallForm{&request, true}, sbuf, scount, stype, rbuf, rcount, rtype, root, comm);
}

Err gatherv(const void* sbuf, int64_t scount, Datatype* stype, void* rbuf, CountArray rcounts,
            CountArray displs, Datatype* rtype, int root, Comm& comm) {
    return gatherv(CallForm{}, sbuf, scount, stype, rbuf, rcounts, displs, rtype, root, comm);
}

Err igatherv(const void* sbuf, int64_t scount, Datatype* stype, void* rbuf, CountArray rcounts,
             CountArray displs, Datatype* rtype, int root, Comm& comm, Request*& request) {
    return gatherv(CallForm{&request, false}, sbuf, scount, stype, rbuf, rcounts, displs, rtype, root, comm);
}

Err gatherv_init(const void* sbuf, int64_t scount, Datatype* stype, void* rbuf, CountArray rcounts,
                 CountArray displs, Datatype* rtype, int root, Comm& comm, Info*, Request*& request) {
    return gatherv(CallForm{&request, true}, sbuf, scount, stype, rbuf, rcounts, displs, rtype, root, comm);
}

Err scatter(const void* sbuf, int64_t scount, Datatype* stype, void* rbuf, int64_t rcount, Datatype* rtype,
            int root, Comm& comm) {
    return scatter(CallForm{}, sbuf, scount, stype, rbuf, rcount, rtype, root, comm);
}

Err iscatter(const void* sbuf, int64_t scount, Datatype* stype, void* rbuf, int64_t rcount, Datatype* rtype,
             int root, Comm& comm, Request*& request) {
    return scatter(CallForm{&request, false}, sbuf, scount, stype, rbuf, rcount, rtype, root, comm);
}

Err scatter_init(const void* sbuf, int64_t scount, Datatype* stype, void* rbuf, int64_t rcount,
                 Datatype* rtype, int root, Comm& comm, Info*, Request*& request) {
    return scatter(CallForm{&request, true}, sbuf, scount, stype, rbuf, rcount, rtype, root, comm);
}

Err scatterv(const void* sbuf, CountArray scounts, CountArray displs, Datatype* stype, void* rbuf,
             int64_t rcount, Datatype* rtype, int root, Comm& comm) {
    return scatterv(CallForm{}, sbuf, scounts, displs, stype, rbuf, rcount, rtype, root, comm);
}

Err iscatterv(const void* sbuf, CountArray scounts, CountArray displs, Datatype* stype, void* rbuf,
              int64_t rcount, Datatype* rtype, int root, Comm& comm, Request*& request) {
    return scatterv(CallForm{&request, false}, sbuf, scounts, displs, stype, rbuf, rcount, rtype, root, comm);
}

Err scatterv_init(const void* sbuf, CountArray scounts, CountArray displs, Datatype* stype, void* rbuf,
                  int64_t rcount, Datatype* rtype, int root, Comm& comm, Info*, Request*& request) {
    return scatterv(CallForm{&request, true}, sbuf, scounts, displs, stype, rbuf, rcount, rtype, root, comm);
}

Err allgather(const void* sbuf, int64_t scount, Datatype* stype, void* rbuf, int64_t rcount, Datatype& rtype,
              Comm& comm) {
    return allgather(CallForm{}, sbuf, scount, stype, rbuf, rcount, rtype, comm);
}

Err iallgather(const void* sbuf, int64_t scount, Datatype* stype, void* rbuf, int64_t rcount, Datatype& rtype,
               Comm& comm, Request*& request) {
    return allgather(CallForm{&request, false}, sbuf, scount, stype, rbuf, rcount, rtype, comm);
}

Err allgather_init(const void* sbuf, int64_t scount, Datatype* stype, void* rbuf, int64_t rcount,
                   Datatype& rtype, Comm& comm, Info*, Request*& request) {
    return allgather(CallForm{&request, true}, sbuf, scount, stype, rbuf, rcount, rtype, comm);
}

Err allgatherv(const void* sbuf, int64_t scount, Datatype* stype, void* rbuf, CountArray rcounts,
               CountArray displs, Datatype& rtype, Comm& comm) {
    return allgatherv(CallForm{}, sbuf, scount, stype, rbuf, rcounts, displs, rtype, comm);
}

Err iallgatherv(const void* sbuf, int64_t scount, Datatype* stype, void* rbuf, CountArray rcounts,
                CountArray displs, Datatype& rtype, Comm& comm, Request*& request) {
    return allgatherv(CallForm{&request, false}, sbuf, scount, stype, rbuf, rcounts, displs, rtype, comm);
}

Err allgatherv_init(const void* sbuf, int64_t scount, Datatype* stype, void* rbuf, CountArray rcounts,
                    CountArray displs, Datatype& rtype, Comm& comm, Info*, Request*& request) {
    return allgatherv(CallForm{&request, true}, sbuf, scount, stype, rbuf, rcounts, displs, rtype, comm);
}

Err alltoall(const void* sbuf, int64_t scount, Datatype* stype, void* rbuf, int64_t rcount, Datatype& rtype,
             Comm& comm) {
    return alltoall(CallForm{}, sbuf, scount, stype, rbuf, rcount, rtype, comm);
}

Err ialltoall(const void* sbuf, int64_t scount, Datatype* stype, void* rbuf, int64_t rcount, Datatype& rtype,
              Comm& comm, Request*& request) {
    return alltoall(CallForm{&request, false}, sbuf, scount, stype, rbuf, rcount, rtype, comm);
}

Err alltoall_init(const void* sbuf, int64_t scount, Datatype* stype, void* rbuf, int64_t rcount,
                  Datatype& rtype, Comm& comm, Info*, Request*& request) {
    return alltoall(CallForm{&request, true}, sbuf, scount, stype, rbuf, rcount, rtype, comm);
}

Err alltoallv(const void* sbuf, CountArray scounts, CountArray sdispls, Datatype* stype, void* rbuf,
              CountArray rcounts, CountArray rdispls, Datatype& rtype, Comm& comm) {
    return alltoallv(CallForm{}, sbuf, scounts, sdispls, stype, rbuf, rcounts, rdispls, rtype, comm);
}

Err ialltoallv(const void* sbuf, CountArray scounts, CountArray sdispls, Datatype* stype, void* rbuf,
               CountArray rcounts, CountArray rdispls, Datatype& rtype, Comm& comm, Request*& request) {
    return alltoallv(CallForm{&request, false}, sbuf, scounts, sdispls, stype, rbuf, rcounts, rdispls, rtype,
                     comm);
}

Err alltoallv_init(const void* sbuf, CountArray scounts, CountArray sdispls, Datatype* stype, void* rbuf,
                   CountArray rcounts, CountArray rdispls, Datatype& rtype, Comm& comm, Info*,
                   Request*& request) {
    return alltoallv(CallForm{&request, true}, sbuf, scounts, sdispls, stype, rbuf, rcounts, rdispls, rtype,
                     comm);
}

Err alltoallw(const void* sbuf, CountArray scounts, CountArray sdispls, Datatype** stypes, void* rbuf,
              CountArray rcounts, CountArray rdispls, Datatype** rtypes, Comm& comm) {
    return alltoallw(CallForm{}, sbuf, scounts, sdispls, stypes, rbuf, rcounts, rdispls, rtypes, comm);
}

Err ialltoallw(const void* sbuf, CountArray scounts, CountArray sdispls, Datatype** stypes, void* rbuf,
               CountArray rcounts, CountArray rdispls, Datatype** rtypes, Comm& comm, Request*& request) {
    return alltoallw(CallForm{&request, false}, sbuf, scounts, sdispls, stypes, rbuf, rcounts, rdispls,
                     rtypes, comm);
}

Err alltoallw_init(const void* sbuf, CountArray scounts, CountArray sdispls, Datatype** stypes, void* rbuf,
                   CountArray rcounts, CountArray rdispls, Datatype** rtypes, Comm& comm, Info*,
                   Request*& request) {
    return alltoallw(CallForm{&request, true}, sbuf, scounts, sdispls, stypes, rbuf, rcounts, rdispls, rtypes,
                     comm);
}

Err reduce(const void* sbuf, void* rbuf, int64_t count, Datatype& type, Op& op, int root, Comm& comm) {
    return reduce(CallForm{}, sbuf, rbuf, count, type, op, root, comm);
}

Err ireduce(const void* sbuf, void* rbuf, int64_t count, Datatype& type, Op& op, int root, Comm& comm,
            Request*& request) {
    return reduce(CallForm{&request, false}, sbuf, rbuf, count, type, op, root, comm);
}

Err reduce_init(const void* sbuf, void* rbuf, int64_t count, Datatype& type, Op& op, int root, Comm& comm,
                Info*, Request*& request) {
    return reduce(CallForm{&request, true}, sbuf, rbuf, count, type, op, root, comm);
}

Err allreduce(const void* sbuf, void* rbuf, int64_t count, Datatype& type, Op& op, Comm& comm) {
    return allreduce(CallForm{}, sbuf, rbuf, count, type, op, comm);
}

Err iallreduce(const void* sbuf, void* rbuf, int64_t count, Datatype& type, Op& op, Comm& comm,
               Request*& request) {
    return allreduce(CallForm{&request, false}, sbuf, rbuf, count, type, op, comm);
}

Err allreduce_init(const void* sbuf, void* rbuf, int64_t count, Datatype& type, Op& op, Comm& comm, Info*,
                   Request*& request) {
    return allreduce(CallForm{&request, true}, sbuf, rbuf, count, type, op, comm);
}

Err reduce_scatter(const void* sbuf, void* rbuf, CountArray rcounts, Datatype& type, Op& op, Comm& comm) {
    return reduce_scatter(CallForm{}, sbuf, rbuf, rcounts, type, op, comm);
}

Err ireduce_scatter(const void* sbuf, void* rbuf, CountArray rcounts, Datatype& type, Op& op, Comm& comm,
                    Request*& request) {
    return reduce_scatter(CallForm{&request, false}, sbuf, rbuf, rcounts, type, op, comm);
}

Err reduce_scatter_init(const void* sbuf, void* rbuf, CountArray rcounts, Datatype& type, Op& op, Comm& comm,
                        Info*, Request*& request) {
    return reduce_scatter(CallForm{&request, true}, sbuf, rbuf, rcounts, type, op, comm);
}

Err reduce_scatter_block(const void* sbuf, void* rbuf, int64_t rcount, Datatype& type, Op& op, Comm& comm) {
    return reduce_scatter_block(CallForm{}, sbuf, rbuf, rcount, type, op, comm);
}

Err ireduce_scatter_block(const void* sbuf, void* rbuf, int64_t rcount, Datatype& type, Op& op, Comm& comm,
                          Request*& request) {
    return reduce_scatter_block(CallForm{&request, false}, sbuf, rbuf, rcount, type, op, comm);
}

Err reduce_scatter_block_init(const void* sbuf, void* rbuf, int64_t rcount, Datatype& type, Op& op,
                              Comm& comm, Info*, Request*& request) {
    return reduce_scatter_block(CallForm{&request, true}, sbuf, rbuf, rcount, type, op, comm);
}

Err scan(const void* sbuf, void* rbuf, int64_t count, Datatype& type, Op& op, Comm& comm) {
    return scan(CallForm{}, sbuf, rbuf, count, type, op, comm);
}

Err iscan(const void* sbuf, void* rbuf, int64_t count, Datatype& type, Op& op, Comm& comm,
          Request*& request) {
    return scan(CallForm{&request, false}, sbuf, rbuf, count, type, op, comm);
}

Err scan_init(const void* sbuf, void* rbuf, int64_t count, Datatype& type, Op& op, Comm& comm, Info*,
              Request*& request) {
    return scan(CallForm{&request, true}, sbuf, rbuf, count, type, op, comm);
}

Err exscan(const void* sbuf, void* rbuf, int64_t count, Datatype& type, Op& op, Comm& comm) {
    return exscan(CallForm{}, sbuf, rbuf, count, type, op, comm);
}

Err iexscan(const void* sbuf, void* rbuf, int64_t count, Datatype& type, Op& op, Comm& comm,
            Request*& request) {
    return exscan(CallForm{&request, false}, sbuf, rbuf, count, type, op, comm);
}

Err exscan_init(const void* sbuf, void* rbuf, int64_t count, Datatype& type, Op& op, Comm& comm, Info*,
                Request*& request) {
    return exscan(CallForm{&request, true}, sbuf, rbuf, count, type, op, comm);
}

} // namespace zipmpi::core
