// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Builds a collective call in its blocking, nonblocking or persistent form. The families (bcast.cpp,
// reduce.cpp, ...) add steps to a CollectiveBuilder; collective() then waits for it, returns it as a request,
// or keeps it for MPI_Start.
//
// Algorithms work on contiguous bytes. Noncontiguous user buffers are packed into scratch memory by the first
// steps and unpacked by the last ones.
#pragma once

#include "core/api/call_form.hpp"
#include "core/comm/comm.hpp"
#include "core/datatype/datatype.hpp"
#include "core/op/op.hpp"
#include "core/request/request.hpp"
#include "proto/coll/coll.hpp"
#include "proto/coll/inter.hpp"

#include <vector>

namespace zipmpi::core {

enum class CollectiveRole : uint8_t { barrier, other };

class CollectiveBuilder {
  public:
    CollectiveBuilder(Comm& comm, proto::coll::Collective::Form form)
        : comm_(comm)
        , collective_(comm.team, form) {}
    ~CollectiveBuilder();
    CollectiveBuilder(const CollectiveBuilder&) = delete;
    CollectiveBuilder& operator=(const CollectiveBuilder&) = delete;

    [[nodiscard]] Comm& comm() { return comm_; }
    [[nodiscard]] proto::Team& team() { return comm_.team; }
    [[nodiscard]] proto::coll::InterTeams inter() { return {*comm_.local, comm_.team}; }
    [[nodiscard]] proto::coll::Collective& collective() { return collective_; }
    [[nodiscard]] proto::coll::Schedule& schedule() { return collective_.schedule(); }

    // Contiguous bytes of a buffer that is read, written, or both.
    const std::byte* outgoing(const void* buf, int64_t count, Datatype& type);
    std::byte* incoming(void* buf, int64_t count, Datatype& type);
    std::byte* in_and_out(void* buf, int64_t count, Datatype& type);

    // One block per rank, at displacements in units of the type's extent. The content of block
    // `preserved_block` is loaded, too.
    proto::coll::Blocks outgoing(const void* buf, CountArray counts, CountArray displs, Datatype& type,
                                 int n);
    proto::coll::Blocks incoming(void* buf, CountArray counts, CountArray displs, Datatype& type, int n,
                                 int preserved_block = -1);
    // One block per rank, with displacements in bytes and one type per block.
    proto::coll::Blocks outgoing(const void* buf, CountArray counts, CountArray displs, Datatype** types,
                                 int n);
    proto::coll::Blocks incoming(void* buf, CountArray counts, CountArray displs, Datatype** types, int n);
    // A copy of blocks that will be overwritten.
    proto::coll::Blocks copy_of(proto::coll::Blocks blocks);
    proto::coll::Block* blocks(int n);

    // Sets the operation and the number of elements of a reduction; operands are made contiguous as the
    // operation requires.
    void reduce_with(Op& op, Datatype& type, int64_t count);
    const std::byte* operands_in(const void* buf, int64_t count, Datatype& type);
    std::byte* operands_out(void* buf, int64_t count, Datatype& type);
    std::byte* operands_in_and_out(void* buf, int64_t count, Datatype& type);

    void set_role(CollectiveRole role) { role_ = role; }
    [[nodiscard]] CollectiveRole role() const { return role_; }

    // Ends the description: adds the steps that copy results from scratch memory to user buffers.
    void finish();

  private:
    struct Staging;
    void retain_type(Datatype& type);
    Staging* make_staging(void* buf, int64_t count, Datatype& type);
    template <class BlockOf>
    proto::coll::Blocks list_blocks(CountArray counts, int n, const BlockOf& block_of);
    proto::coll::Block out_block(const void* buf, int64_t offset, int64_t count, Datatype& type);
    proto::coll::Block in_block(void* buf, int64_t offset, int64_t count, Datatype& type);

    Comm& comm_;
    proto::coll::Collective collective_;
    std::vector<Staging*> unpacks_;
    std::vector<Datatype*> types_; // reference-counted: the application may free them before completion
    Op* op_ = nullptr;             // reference-counted
    bool packed_operands_ = false; // operands of a reduction are packed
    CollectiveRole role_ = CollectiveRole::other;
};

// Packed bytes of elements of a type.
size_t wire_bytes(int64_t count, const Datatype& type);
// Checks counts passed as an array, which the ABI binding does not check.
Err check_counts(CountArray counts, int n);

// Starts a collective described by fill(CollectiveBuilder&).
Err finish_blocking(CollectiveBuilder& builder);
Err make_collective(const CallForm& form, Comm& comm, void (*fill)(const void*, CollectiveBuilder&),
                    const void* filler);
template <class Fill>
Err collective(const CallForm& form, Comm& comm, const Fill& fill) {
    if (form.is_blocking()) {
        CollectiveBuilder builder(comm, proto::coll::Collective::Form::blocking);
        fill(builder);
        return finish_blocking(builder);
    }
    return make_collective(
        form, comm,
        [](const void* f, CollectiveBuilder& builder) { (*static_cast<const Fill*>(f))(builder); }, &fill);
}

[[gnu::cold]] Err intracomm_only(const char* function);

// The role of this process in a rooted collective on an intercommunicator.
proto::coll::InterRoot inter_root(int root);

} // namespace zipmpi::core
