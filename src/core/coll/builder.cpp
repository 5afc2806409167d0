// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
#include "core/coll/builder.hpp"

#include "core/p2p/p2p.hpp"
#include "core/request/ended_collectives.hpp"

#include <new>

namespace zipmpi::core {

namespace coll = proto::coll;

namespace {

// A nonblocking collective in flight, or a persistent one between starts.
class CollectiveRequest : public CompoundRequest {
  public:
    CollectiveRequest(Comm& comm)
        : builder(comm, coll::Collective::Form::detached) {}
    ~CollectiveRequest() override {
        if (!ended_unseen) return;
        ended_collectives.remove();
        if (is_barrier()) builder.comm().barriers.complete();
    }
    CollectiveRequest(const CollectiveRequest&) = delete;
    CollectiveRequest& operator=(const CollectiveRequest&) = delete;
    void start() override { builder.collective().start(); }
    [[nodiscard]] const proto::Operation* pending_operation() const override {
        return const_cast<CollectiveRequest*>(this)->builder.collective().pending_operation();
    }
    [[nodiscard]] bool is_barrier() const { return builder.role() == CollectiveRole::barrier; }
    CollectiveBuilder builder;
    bool ended_unseen = false;
};

void on_collective_done(void* argument) {
    Request& request = *static_cast<Request*>(argument);
    auto& collective = static_cast<CollectiveRequest&>(*request.compound);
    request.error = collective.builder.collective().error();
    if (!request.persistent) {
        collective.ended_unseen = true;
        ended_collectives.add();
        if (collective.is_barrier()) collective.builder.comm().barriers.end();
    }
    complete_request(request);
}

} // namespace

Err finish_blocking(CollectiveBuilder& builder) {
    builder.finish();
    return builder.collective().run();
}

Err make_collective(const CallForm& form, Comm& comm, void (*fill)(const void*, CollectiveBuilder&),
                    const void* filler) {
    std::unique_ptr<CollectiveRequest> made(new (std::nothrow) CollectiveRequest(comm));
    if (made == nullptr) return request_alloc_error();
    fill(filler, made->builder);
    made->builder.finish();
    if (const Err e = made->builder.schedule().state(); e != Err::success) return e;
    coll::Collective& collective = made->builder.collective();
    proto::Operation operation;
    operation.kind = proto::Operation::Kind::send; // its status is empty
    Request*& request = form.request();
    request = make_request(operation, &comm, builtin_type(TypeId::BYTE));
    if (request == nullptr) return request_alloc_error();
    request->role = Request::collective;
    request->persistent = form.is_persistent();
    request->active = !form.is_persistent();
    request->compound = std::move(made);
    collective.on_end(on_collective_done, request);
    if (form.is_persistent()) return Err::success;
    if (static_cast<CollectiveRequest&>(*request->compound).is_barrier()) comm.barriers.start();
    collective.start();
    return Err::success;
}

coll::InterRoot inter_root(int root) {
    if (root == root_here) return {coll::RootRole::root, 0};
    if (root == proc_null) return {coll::RootRole::bystander, 0};
    return {coll::RootRole::remote, root};
}

Err check_counts(CountArray counts, int n) {
    for (int i = 0; i < n; ++i)
        if (counts[i] < 0)
            return fail(Err::count, "pass counts of 0 or more", "the count for rank %d is %lld", i,
                        static_cast<long long>(counts[i]));
    return Err::success;
}

CollectiveBuilder::~CollectiveBuilder() {
    if (op_ != nullptr) release(*op_);
    for (Datatype* type : types_) release(*type);
}

void CollectiveBuilder::retain_type(Datatype& type) {
    if (is_named(type)) return;
    retain(type);
    types_.push_back(&type);
}

coll::Block* CollectiveBuilder::blocks(int n) {
    return reinterpret_cast<coll::Block*>(schedule().scratch(static_cast<size_t>(n) * sizeof(coll::Block)));
}

// Common to all forms of a block list; block_of(i) returns block i.
template <class BlockOf>
coll::Blocks CollectiveBuilder::list_blocks(CountArray counts, int n, const BlockOf& block_of) {
    if (const Err e = check_counts(counts, n); e != Err::success) schedule().fail_build(e);
    coll::Block* list = blocks(n);
    if (list == nullptr || schedule().state() != Err::success) return {};
    for (int i = 0; i < n; ++i) list[i] = block_of(i);
    return {list, static_cast<size_t>(n)};
}

coll::Block CollectiveBuilder::out_block(const void* buf, int64_t offset, int64_t count, Datatype& type) {
    const std::byte* at = static_cast<const std::byte*>(buf) + offset;
    return {const_cast<std::byte*>(outgoing(at, count, type)), wire_bytes(count, type)};
}

coll::Block CollectiveBuilder::in_block(void* buf, int64_t offset, int64_t count, Datatype& type) {
    return {incoming(static_cast<std::byte*>(buf) + offset, count, type), wire_bytes(count, type)};
}

coll::Blocks CollectiveBuilder::outgoing(const void* buf, CountArray counts, CountArray displs,
                                         Datatype& type, int n) {
    return list_blocks(counts, n,
                       [&](int i) { return out_block(buf, displs[i] * type.extent, counts[i], type); });
}

coll::Blocks CollectiveBuilder::incoming(void* buf, CountArray counts, CountArray displs, Datatype& type,
                                         int n, int preserved_block) {
    return list_blocks(counts, n, [&](int i) {
        const int64_t offset = displs[i] * type.extent;
        if (i != preserved_block) return in_block(buf, offset, counts[i], type);
        return coll::Block{in_and_out(static_cast<std::byte*>(buf) + offset, counts[i], type),
                           wire_bytes(counts[i], type)};
    });
}

coll::Blocks CollectiveBuilder::outgoing(const void* buf, CountArray counts, CountArray displs,
                                         Datatype** types, int n) {
    return list_blocks(counts, n, [&](int i) { return out_block(buf, displs[i], counts[i], *types[i]); });
}

coll::Blocks CollectiveBuilder::incoming(void* buf, CountArray counts, CountArray displs, Datatype** types,
                                         int n) {
    return list_blocks(counts, n, [&](int i) { return in_block(buf, displs[i], counts[i], *types[i]); });
}

coll::Blocks CollectiveBuilder::copy_of(coll::Blocks from) {
    coll::Block* list = blocks(static_cast<int>(from.size()));
    if (list == nullptr) return {};
    for (size_t i = 0; i < from.size(); ++i) {
        list[i] = {schedule().scratch(from[i].bytes), from[i].bytes};
        schedule().copy(list[i].data, from[i].data, from[i].bytes);
    }
    return {list, from.size()};
}

Err intracomm_only(const char* function) {
    return fail(Err::comm, "call it on an intracommunicator, such as one created by MPI_Intercomm_merge",
                "%s is not defined on an intercommunicator", function);
}

} // namespace zipmpi::core
