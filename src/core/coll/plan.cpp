// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
#include "core/coll/plan.hpp"

#include "core/p2p.hpp"

#include <new>

namespace zipmpi::core {

namespace coll = proto::coll;

namespace {

// A collective that is under way without its caller, or waits for its next start.
class CollectiveRequest : public Compound {
  public:
    CollectiveRequest(Comm& comm)
        : plan(comm, coll::Schedule::Form::detached) {}
    void start() override { plan.schedule().start(); }
    [[nodiscard]] const proto::Operation* shown() const override {
        return const_cast<CollectiveRequest*>(this)->plan.schedule().shown();
    }
    Plan plan;
};

void collective_ended(void* argument) {
    Request& request = *static_cast<Request*>(argument);
    request.error = static_cast<CollectiveRequest&>(*request.compound).plan.schedule().error();
    complete_whole(request);
}

} // namespace

Err finish_blocking(Plan& plan) {
    plan.seal();
    return plan.schedule().run();
}

Err make_collective(Comm& comm, bool persistent, Request*& request, void (*fill)(const void*, Plan&),
                    const void* filler) {
    std::unique_ptr<CollectiveRequest> made(new (std::nothrow) CollectiveRequest(comm));
    if (made == nullptr) return no_request();
    fill(filler, made->plan);
    made->plan.seal();
    coll::Schedule& schedule = made->plan.schedule();
    if (schedule.state() != Err::success) return schedule.state();
    proto::Operation whole;
    whole.kind = proto::Operation::Kind::send; // a status of it tells nothing
    request = make_request(whole, &comm, builtin_type(TypeId::BYTE));
    if (request == nullptr) return no_request();
    request->role = Request::collective;
    request->persistent = persistent;
    request->active = !persistent;
    request->compound = std::move(made);
    schedule.on_end(collective_ended, request);
    if (!persistent) schedule.start();
    return Err::success;
}

coll::InterRoot inter_root(int root) {
    if (root == root_here) return {coll::Part::root, 0};
    if (root == proc_null) return {coll::Part::bystander, 0};
    return {coll::Part::other_side, root};
}

Err check_counts(CountArray counts, int n) {
    for (int i = 0; i < n; ++i)
        if (counts[i] < 0)
            return fail(Err::count, "pass counts of 0 or more", "the count for rank %d is %lld", i,
                        static_cast<long long>(counts[i]));
    return Err::success;
}

Plan::~Plan() {
    if (op_ != nullptr) release(*op_);
    for (Datatype* type : types_) release(*type);
}

void Plan::keep(Datatype& type) {
    if (is_named(type)) return;
    retain(type);
    types_.push_back(&type);
}

coll::Block* Plan::blocks(int n) {
    return reinterpret_cast<coll::Block*>(schedule_.scratch(static_cast<size_t>(n) * sizeof(coll::Block)));
}

// What is the same in all forms of a list of blocks; place(i) gives the bytes of block i.
template <class Place>
coll::Blocks Plan::list_blocks(CountArray counts, int n, const Place& place) {
    if (const Err e = check_counts(counts, n); e != Err::success) schedule_.refuse(e);
    coll::Block* list = blocks(n);
    if (list == nullptr || schedule_.state() != Err::success) return {};
    for (int i = 0; i < n; ++i) list[i] = place(i);
    return {list, static_cast<size_t>(n)};
}

coll::Block Plan::out_block(const void* buf, int64_t offset, int64_t count, Datatype& type) {
    const std::byte* at = static_cast<const std::byte*>(buf) + offset;
    return {const_cast<std::byte*>(outgoing(at, count, type)), wire_bytes(count, type)};
}

coll::Block Plan::in_block(void* buf, int64_t offset, int64_t count, Datatype& type) {
    return {incoming(static_cast<std::byte*>(buf) + offset, count, type), wire_bytes(count, type)};
}

coll::Blocks Plan::outgoing(const void* buf, CountArray counts, CountArray displs, Datatype& type, int n) {
    return list_blocks(counts, n,
                       [&](int i) { return out_block(buf, displs[i] * type.extent, counts[i], type); });
}

coll::Blocks Plan::incoming(void* buf, CountArray counts, CountArray displs, Datatype& type, int n,
                            int kept) {
    return list_blocks(counts, n, [&](int i) {
        const int64_t offset = displs[i] * type.extent;
        if (i != kept) return in_block(buf, offset, counts[i], type);
        return coll::Block{in_and_out(static_cast<std::byte*>(buf) + offset, counts[i], type),
                           wire_bytes(counts[i], type)};
    });
}

coll::Blocks Plan::outgoing(const void* buf, CountArray counts, CountArray displs, Datatype** types, int n) {
    return list_blocks(counts, n, [&](int i) { return out_block(buf, displs[i], counts[i], *types[i]); });
}

coll::Blocks Plan::incoming(void* buf, CountArray counts, CountArray displs, Datatype** types, int n) {
    return list_blocks(counts, n, [&](int i) { return in_block(buf, displs[i], counts[i], *types[i]); });
}

coll::Blocks Plan::copy_of(coll::Blocks from) {
    coll::Block* list = blocks(static_cast<int>(from.size()));
    if (list == nullptr) return {};
    for (size_t i = 0; i < from.size(); ++i) {
        list[i] = {schedule_.scratch(from[i].bytes), from[i].bytes};
        schedule_.copy(list[i].data, from[i].data, from[i].bytes);
    }
    return {list, from.size()};
}

Err not_between_groups(const char* function) {
    return fail(Err::comm, "call it on an intracommunicator, such as one made by MPI_Intercomm_merge",
                "%s is not defined on an intercommunicator", function);
}

} // namespace zipmpi::core
