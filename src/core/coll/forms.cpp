// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The names by which faces call collectives: blocking, non-blocking, and persistent. Hints of the info object
// of a persistent one are not used.
#include "core/coll/forms.hpp"

namespace zipmpi::core {

Err barrier(Comm& comm) { return barrier(Form{}, comm); }

Err ibarrier(Comm& comm, Request*& request) { return barrier(Form{&request, false}, comm); }

Err barrier_init(Comm& comm, Info*, Request*& request) { return barrier(Form{&request, true}, comm); }

Err bcast(void* buf, int64_t count, Datatype& type, int root, Comm& comm) {
    return bcast(Form{}, buf, count, type, root, comm);
}

Err ibcast(void* buf, int64_t count, Datatype& type, int root, Comm& comm, Request*& request) {
    return bcast(Form{&request, false}, buf, count, type, root, comm);
}

Err bcast_init(void* buf, int64_t count, Datatype& type, int root, Comm& comm, Info*, Request*& request) {
    return bcast(Form{&request, true}, buf, count, type, root, comm);
}

Err gather(const void* sbuf, int64_t scount, Datatype* stype, void* rbuf, int64_t rcount, Datatype* rtype,
           int root, Comm& comm) {
    return gather(Form{}, sbuf, scount, stype, rbuf, rcount, rtype, root, comm);
}

Err igather(const void* sbuf, int64_t scount, Datatype* stype, void* rbuf, int64_t rcount, Datatype* rtype,
            int root, Comm& comm, Request*& request) {
    return gather(Form{&request, false}, sbuf, scount, stype, rbuf, rcount, rtype, root, comm);
}

Err gather_init(const void* sbuf, int64_t scount, Datatype* stype, void* rbuf, int64_t rcount,
                Datatype* rtype, int root, Comm& comm, Info*, Request*& request) {
    return gather(Form{&request, true}, sbuf, scount, stype, rbuf, rcount, rtype, root, comm);
}

Err gatherv(const void* sbuf, int64_t scount, Datatype* stype, void* rbuf, CountArray rcounts,
            CountArray displs, Datatype* rtype, int root, Comm& comm) {
    return gatherv(Form{}, sbuf, scount, stype, rbuf, rcounts, displs, rtype, root, comm);
}

Err igatherv(const void* sbuf, int64_t scount, Datatype* stype, void* rbuf, CountArray rcounts,
             CountArray displs, Datatype* rtype, int root, Comm& comm, Request*& request) {
    return gatherv(Form{&request, false}, sbuf, scount, stype, rbuf, rcounts, displs, rtype, root, comm);
}

Err gatherv_init(const void* sbuf, int64_t scount, Datatype* stype, void* rbuf, CountArray rcounts,
                 CountArray displs, Datatype* rtype, int root, Comm& comm, Info*, Request*& request) {
    return gatherv(Form{&request, true}, sbuf, scount, stype, rbuf, rcounts, displs, rtype, root, comm);
}

Err scatter(const void* sbuf, int64_t scount, Datatype* stype, void* rbuf, int64_t rcount, Datatype* rtype,
            int root, Comm& comm) {
    return scatter(Form{}, sbuf, scount, stype, rbuf, rcount, rtype, root, comm);
}

Err iscatter(const void* sbuf, int64_t scount, Datatype* stype, void* rbuf, int64_t rcount, Datatype* rtype,
             int root, Comm& comm, Request*& request) {
    return scatter(Form{&request, false}, sbuf, scount, stype, rbuf, rcount, rtype, root, comm);
}

Err scatter_init(const void* sbuf, int64_t scount, Datatype* stype, void* rbuf, int64_t rcount,
                 Datatype* rtype, int root, Comm& comm, Info*, Request*& request) {
    return scatter(Form{&request, true}, sbuf, scount, stype, rbuf, rcount, rtype, root, comm);
}

Err scatterv(const void* sbuf, CountArray scounts, CountArray displs, Datatype* stype, void* rbuf,
             int64_t rcount, Datatype* rtype, int root, Comm& comm) {
    return scatterv(Form{}, sbuf, scounts, displs, stype, rbuf, rcount, rtype, root, comm);
}

Err iscatterv(const void* sbuf, CountArray scounts, CountArray displs, Datatype* stype, void* rbuf,
              int64_t rcount, Datatype* rtype, int root, Comm& comm, Request*& request) {
    return scatterv(Form{&request, false}, sbuf, scounts, displs, stype, rbuf, rcount, rtype, root, comm);
}

Err scatterv_init(const void* sbuf, CountArray scounts, CountArray displs, Datatype* stype, void* rbuf,
                  int64_t rcount, Datatype* rtype, int root, Comm& comm, Info*, Request*& request) {
    return scatterv(Form{&request, true}, sbuf, scounts, displs, stype, rbuf, rcount, rtype, root, comm);
}

Err allgather(const void* sbuf, int64_t scount, Datatype* stype, void* rbuf, int64_t rcount, Datatype& rtype,
              Comm& comm) {
    return allgather(Form{}, sbuf, scount, stype, rbuf, rcount, rtype, comm);
}

Err iallgather(const void* sbuf, int64_t scount, Datatype* stype, void* rbuf, int64_t rcount, Datatype& rtype,
               Comm& comm, Request*& request) {
    return allgather(Form{&request, false}, sbuf, scount, stype, rbuf, rcount, rtype, comm);
}

Err allgather_init(const void* sbuf, int64_t scount, Datatype* stype, void* rbuf, int64_t rcount,
                   Datatype& rtype, Comm& comm, Info*, Request*& request) {
    return allgather(Form{&request, true}, sbuf, scount, stype, rbuf, rcount, rtype, comm);
}

Err allgatherv(const void* sbuf, int64_t scount, Datatype* stype, void* rbuf, CountArray rcounts,
               CountArray displs, Datatype& rtype, Comm& comm) {
    return allgatherv(Form{}, sbuf, scount, stype, rbuf, rcounts, displs, rtype, comm);
}

Err iallgatherv(const void* sbuf, int64_t scount, Datatype* stype, void* rbuf, CountArray rcounts,
                CountArray displs, Datatype& rtype, Comm& comm, Request*& request) {
    return allgatherv(Form{&request, false}, sbuf, scount, stype, rbuf, rcounts, displs, rtype, comm);
}

Err allgatherv_init(const void* sbuf, int64_t scount, Datatype* stype, void* rbuf, CountArray rcounts,
                    CountArray displs, Datatype& rtype, Comm& comm, Info*, Request*& request) {
    return allgatherv(Form{&request, true}, sbuf, scount, stype, rbuf, rcounts, displs, rtype, comm);
}

Err alltoall(const void* sbuf, int64_t scount, Datatype* stype, void* rbuf, int64_t rcount, Datatype& rtype,
             Comm& comm) {
    return alltoall(Form{}, sbuf, scount, stype, rbuf, rcount, rtype, comm);
}

Err ialltoall(const void* sbuf, int64_t scount, Datatype* stype, void* rbuf, int64_t rcount, Datatype& rtype,
              Comm& comm, Request*& request) {
    return alltoall(Form{&request, false}, sbuf, scount, stype, rbuf, rcount, rtype, comm);
}

Err alltoall_init(const void* sbuf, int64_t scount, Datatype* stype, void* rbuf, int64_t rcount,
                  Datatype& rtype, Comm& comm, Info*, Request*& request) {
    return alltoall(Form{&request, true}, sbuf, scount, stype, rbuf, rcount, rtype, comm);
}

Err alltoallv(const void* sbuf, CountArray scounts, CountArray sdispls, Datatype* stype, void* rbuf,
              CountArray rcounts, CountArray rdispls, Datatype& rtype, Comm& comm) {
    return alltoallv(Form{}, sbuf, scounts, sdispls, stype, rbuf, rcounts, rdispls, rtype, comm);
}

Err ialltoallv(const void* sbuf, CountArray scounts, CountArray sdispls, Datatype* stype, void* rbuf,
               CountArray rcounts, CountArray rdispls, Datatype& rtype, Comm& comm, Request*& request) {
    return alltoallv(Form{&request, false}, sbuf, scounts, sdispls, stype, rbuf, rcounts, rdispls, rtype,
                     comm);
}

Err alltoallv_init(const void* sbuf, CountArray scounts, CountArray sdispls, Datatype* stype, void* rbuf,
                   CountArray rcounts, CountArray rdispls, Datatype& rtype, Comm& comm, Info*,
                   Request*& request) {
    return alltoallv(Form{&request, true}, sbuf, scounts, sdispls, stype, rbuf, rcounts, rdispls, rtype,
                     comm);
}

Err alltoallw(const void* sbuf, CountArray scounts, CountArray sdispls, Datatype** stypes, void* rbuf,
              CountArray rcounts, CountArray rdispls, Datatype** rtypes, Comm& comm) {
    return alltoallw(Form{}, sbuf, scounts, sdispls, stypes, rbuf, rcounts, rdispls, rtypes, comm);
}

Err ialltoallw(const void* sbuf, CountArray scounts, CountArray sdispls, Datatype** stypes, void* rbuf,
               CountArray rcounts, CountArray rdispls, Datatype** rtypes, Comm& comm, Request*& request) {
    return alltoallw(Form{&request, false}, sbuf, scounts, sdispls, stypes, rbuf, rcounts, rdispls, rtypes,
                     comm);
}

Err alltoallw_init(const void* sbuf, CountArray scounts, CountArray sdispls, Datatype** stypes, void* rbuf,
                   CountArray rcounts, CountArray rdispls, Datatype** rtypes, Comm& comm, Info*,
                   Request*& request) {
    return alltoallw(Form{&request, true}, sbuf, scounts, sdispls, stypes, rbuf, rcounts, rdispls, rtypes,
                     comm);
}

Err reduce(const void* sbuf, void* rbuf, int64_t count, Datatype& type, Op& op, int root, Comm& comm) {
    return reduce(Form{}, sbuf, rbuf, count, type, op, root, comm);
}

Err ireduce(const void* sbuf, void* rbuf, int64_t count, Datatype& type, Op& op, int root, Comm& comm,
            Request*& request) {
    return reduce(Form{&request, false}, sbuf, rbuf, count, type, op, root, comm);
}

Err reduce_init(const void* sbuf, void* rbuf, int64_t count, Datatype& type, Op& op, int root, Comm& comm,
                Info*, Request*& request) {
    return reduce(Form{&request, true}, sbuf, rbuf, count, type, op, root, comm);
}

Err allreduce(const void* sbuf, void* rbuf, int64_t count, Datatype& type, Op& op, Comm& comm) {
    return allreduce(Form{}, sbuf, rbuf, count, type, op, comm);
}

Err iallreduce(const void* sbuf, void* rbuf, int64_t count, Datatype& type, Op& op, Comm& comm,
               Request*& request) {
    return allreduce(Form{&request, false}, sbuf, rbuf, count, type, op, comm);
}

Err allreduce_init(const void* sbuf, void* rbuf, int64_t count, Datatype& type, Op& op, Comm& comm, Info*,
                   Request*& request) {
    return allreduce(Form{&request, true}, sbuf, rbuf, count, type, op, comm);
}

Err reduce_scatter(const void* sbuf, void* rbuf, CountArray rcounts, Datatype& type, Op& op, Comm& comm) {
    return reduce_scatter(Form{}, sbuf, rbuf, rcounts, type, op, comm);
}

Err ireduce_scatter(const void* sbuf, void* rbuf, CountArray rcounts, Datatype& type, Op& op, Comm& comm,
                    Request*& request) {
    return reduce_scatter(Form{&request, false}, sbuf, rbuf, rcounts, type, op, comm);
}

Err reduce_scatter_init(const void* sbuf, void* rbuf, CountArray rcounts, Datatype& type, Op& op, Comm& comm,
                        Info*, Request*& request) {
    return reduce_scatter(Form{&request, true}, sbuf, rbuf, rcounts, type, op, comm);
}

Err reduce_scatter_block(const void* sbuf, void* rbuf, int64_t rcount, Datatype& type, Op& op, Comm& comm) {
    return reduce_scatter_block(Form{}, sbuf, rbuf, rcount, type, op, comm);
}

Err ireduce_scatter_block(const void* sbuf, void* rbuf, int64_t rcount, Datatype& type, Op& op, Comm& comm,
                          Request*& request) {
    return reduce_scatter_block(Form{&request, false}, sbuf, rbuf, rcount, type, op, comm);
}

Err reduce_scatter_block_init(const void* sbuf, void* rbuf, int64_t rcount, Datatype& type, Op& op,
                              Comm& comm, Info*, Request*& request) {
    return reduce_scatter_block(Form{&request, true}, sbuf, rbuf, rcount, type, op, comm);
}

Err scan(const void* sbuf, void* rbuf, int64_t count, Datatype& type, Op& op, Comm& comm) {
    return scan(Form{}, sbuf, rbuf, count, type, op, comm);
}

Err iscan(const void* sbuf, void* rbuf, int64_t count, Datatype& type, Op& op, Comm& comm,
          Request*& request) {
    return scan(Form{&request, false}, sbuf, rbuf, count, type, op, comm);
}

Err scan_init(const void* sbuf, void* rbuf, int64_t count, Datatype& type, Op& op, Comm& comm, Info*,
              Request*& request) {
    return scan(Form{&request, true}, sbuf, rbuf, count, type, op, comm);
}

Err exscan(const void* sbuf, void* rbuf, int64_t count, Datatype& type, Op& op, Comm& comm) {
    return exscan(Form{}, sbuf, rbuf, count, type, op, comm);
}

Err iexscan(const void* sbuf, void* rbuf, int64_t count, Datatype& type, Op& op, Comm& comm,
            Request*& request) {
    return exscan(Form{&request, false}, sbuf, rbuf, count, type, op, comm);
}

Err exscan_init(const void* sbuf, void* rbuf, int64_t count, Datatype& type, Op& op, Comm& comm, Info*,
                Request*& request) {
    return exscan(Form{&request, true}, sbuf, rbuf, count, type, op, comm);
}

} // namespace zipmpi::core
