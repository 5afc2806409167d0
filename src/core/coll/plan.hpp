// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A collective call in any of its three forms. The families (bcast.cpp, reduce.cpp, ...) say what is to be
// done by adding to a Plan; collective() then waits for it, hands it out as a request, or keeps it for
// MPI_Start.
//
// Algorithms work on contiguous bytes. What is not contiguous in the program's memory is packed into scratch
// memory by the plan's first steps and unpacked by its last.
#pragma once

#include "core/comm/comm.hpp"
#include "core/datatype/datatype.hpp"
#include "core/op/op.hpp"
#include "core/request/request.hpp"
#include "proto/coll/coll.hpp"
#include "proto/coll/inter.hpp"

#include <vector>

namespace zipmpi::core {

// How a collective was called.
struct Form {
    Request** request = nullptr; // null: blocking
    bool persistent = false;
};

class Plan {
  public:
    Plan(Comm& comm, proto::coll::Schedule::Form form)
        : comm_(comm)
        , schedule_(comm.team, form) {}
    ~Plan();
    Plan(const Plan&) = delete;
    Plan& operator=(const Plan&) = delete;

    [[nodiscard]] Comm& comm() { return comm_; }
    [[nodiscard]] proto::Team& team() { return comm_.team; }
    [[nodiscard]] proto::coll::Inter inter() { return {*comm_.local, comm_.team}; }
    [[nodiscard]] proto::coll::Schedule& schedule() { return schedule_; }

    // Contiguous bytes of a buffer that is only read, only written, or both.
    const std::byte* outgoing(const void* buf, int64_t count, Datatype& type);
    std::byte* incoming(void* buf, int64_t count, Datatype& type);
    std::byte* in_and_out(void* buf, int64_t count, Datatype& type);

    // One block per rank, at displacements in units of the type's extent. What block `kept` has counts, too.
    proto::coll::Blocks outgoing(const void* buf, CountArray counts, CountArray displs, Datatype& type,
                                 int n);
    proto::coll::Blocks incoming(void* buf, CountArray counts, CountArray displs, Datatype& type, int n,
                                 int kept = -1);
    // The same with displacements in bytes and a type for each.
    proto::coll::Blocks outgoing(const void* buf, CountArray counts, CountArray displs, Datatype** types,
                                 int n);
    proto::coll::Blocks incoming(void* buf, CountArray counts, CountArray displs, Datatype** types, int n);
    // A copy of blocks that will be overwritten.
    proto::coll::Blocks copy_of(proto::coll::Blocks blocks);
    proto::coll::Block* blocks(int n);

    // The operation of a reduction of count elements, and the elements: side by side as the operation wants
    // them.
    void reduce_with(Op& op, Datatype& type, int64_t count);
    const std::byte* operands_in(const void* buf, int64_t count, Datatype& type);
    std::byte* operands_out(void* buf, int64_t count, Datatype& type);
    std::byte* operands_in_and_out(void* buf, int64_t count, Datatype& type);

    // Everything is said: what was written to scratch memory goes to the program's buffers.
    void seal();

  private:
    struct Conversion;
    void keep(Datatype& type);
    Conversion* conversion(void* buf, int64_t count, Datatype& type);
    template <class Place>
    proto::coll::Blocks list_blocks(CountArray counts, int n, const Place& place);
    proto::coll::Block out_block(const void* buf, int64_t offset, int64_t count, Datatype& type);
    proto::coll::Block in_block(void* buf, int64_t offset, int64_t count, Datatype& type);

    Comm& comm_;
    proto::coll::Schedule schedule_;
    std::vector<Conversion*> unpacks_;
    std::vector<Datatype*> types_; // counted: the program may free them before the collective is done
    Op* op_ = nullptr;             // counted
    bool packed_operands_ = false; // elements of a reduction are packed on their way
};

// How many bytes elements of a type have on their way.
size_t wire_bytes(int64_t count, const Datatype& type);
// Counts that a collective gets as an array are checked here, not by the face.
Err check_counts(CountArray counts, int n);

// Launches a plan that is filled by fill(Plan&).
Err finish_blocking(Plan& plan);
Err make_collective(Comm& comm, bool persistent, Request*& request, void (*fill)(const void*, Plan&),
                    const void* filler);
template <class Fill>
Err collective(const Form& form, Comm& comm, const Fill& fill) {
    if (form.request == nullptr) {
        Plan plan(comm, proto::coll::Schedule::Form::blocking);
        fill(plan);
        return finish_blocking(plan);
    }
    return make_collective(
        comm, form.persistent, *form.request,
        [](const void* f, Plan& plan) { (*static_cast<const Fill*>(f))(plan); }, &fill);
}

[[gnu::cold]] Err not_between_groups(const char* function);

// Who this process is in a collective with a root on an intercommunicator.
proto::coll::InterRoot inter_root(int root);

} // namespace zipmpi::core
