// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// RMA window: a memory region per member of a team, the access path to each, and the shared state for
// synchronization. Epochs are handled in core; here an operation is complete or in flight when its call
// returns.
//
// The access path of a target is resolved at the first access, in resolve_path(), and then fixed:
//   shared  local memory, or memory in the node segment: load, store, CPU atomics
//   cma     private memory of another process: process_vm_readv and writev, several segments per call
//   rdma    on another host, by RDMA (rdma_path.hpp); unsupported operations use active messages
//   am      otherwise: active messages that the target serves (am_origin.hpp)
// The first three need no progress of the target; the first two complete immediately.
//
// Threads: under the lock of the progress engine, except peek(), target_address() and
// try_accumulate_contiguous().
#pragma once

#include "proto/rma/accumulate_op.hpp"
#include "proto/team.hpp"
#include "transport/rdma_device.hpp"
#include "wire/rma_layout.hpp"

#include <memory>
#include <utility>
#include <vector>

namespace zipmpi::proto::rma {

// A member's memory region, as exchanged between members.
struct Region {
    uint64_t base; // address in the member's memory
    uint64_t size;
    int64_t disp_unit;     // bytes per unit of displacement
    uint64_t arena_offset; // in the arena of `owner`, plus 1; 0: private memory
    int32_t owner;         // member
    uint32_t reserved;
};

enum class AccessPath : uint8_t { unknown, shared, cma, rdma, am };

struct Target {
    // Written last by resolve_path(): a reader of a resolved path may read base, size and disp_unit without
    // the lock.
    std::atomic<AccessPath> resolved_path{AccessPath::unknown};
    std::byte* base = nullptr; // shared: local mapping; else address in the target's memory
    uint64_t size = 0;
    int64_t disp_unit = 1;
    bool cpu_atomics = false; // all origins map the memory, so CPU atomics are allowed
    bool exclusive = false;   // set by core: no other origin has access
    bool remote = false;      // on another host: shares no memory with this rank
    transport::Peer peer = 0;
    std::byte* mapped = nullptr; // mapping to release, `size` bytes; or null

    // pairs with set_path()
    [[nodiscard]] AccessPath path() const { return resolved_path.load(std::memory_order_acquire); }
    void set_path(AccessPath reach) { resolved_path.store(reach, std::memory_order_release); }
};

// Elements in memory; contiguous bytes if layout is null.
struct TypedBuffer {
    std::byte* base = nullptr; // of a target: see target_address()
    const packing::Layout* layout = nullptr;
    int64_t elements = 0;
    uint64_t bytes = 0;
};

// Pending operation with results, alive until its last reply.
struct FetchOp {
    TypedBuffer result;   // destination of fetched bytes
    uint32_t pending = 1; // replies, plus 1 while requests are being created
    Err error = Err::success;
    void (*on_done)(FetchOp&) = nullptr; // may destroy it

    void complete_part() {
        if (--pending == 0) on_done(*this);
    }
};

class RdmaContext;

class Window {
  public:
    // Decodes the operation codes of peers.
    struct OpDecoder {
        bool (*decode_accumulate)(uint32_t code, AccumulateOp& c);
        bool (*decode_swap)(uint32_t code, CompareSwapOp& s);
    };
    static constexpr uint64_t dynamic_size = UINT64_MAX; // the size of a dynamic window

    // control: offset of the zeroed control block in the node segment. regions: of all members.
    Window(Team& team, uint64_t control, const std::vector<Region>& regions, const OpDecoder& codes);
    ~Window();
    Window(const Window&) = delete;
    Window& operator=(const Window&) = delete;

    // Collective, before any access: uses RDMA between hosts if all members have a device.
    Err use_rdma(RdmaContext& device);

    [[nodiscard]] Team& team() const { return team_; }
    [[nodiscard]] bool spans_hosts() const { return spans_hosts_; }
    // At least one target needs active messages.
    [[nodiscard]] bool needs_am();
    // The target without resolving its path.
    [[nodiscard]] Target& peek(int rank) { return targets_[static_cast<size_t>(rank)]; }
    [[nodiscard]] Target& target(int rank) {
        Target& t = peek(rank);
        if (t.path() == AccessPath::unknown) [[unlikely]]
            resolve_path(rank, t);
        return t;
    }
    // Sets the base of a target whose memory is already mapped.
    void set_shared_base(int rank, std::byte* base);

    // Operations. `there` is in the target; its base is from target_address(). Operations that fetch by
    // active message or through a staging buffer, and RDMA operations with `immediate` that complete later,
    // call `make` for a FetchOp. Otherwise the origin buffers may be reused on return, except by RDMA: a
    // contiguous origin buffer is in use until flush_local().
    struct FetchFactory {
        FetchOp* (*make)(void* maker); // null: no memory
        void* context;
        bool immediate = false; // a caller may wait for this operation alone
    };
    [[nodiscard]] static std::byte* target_address(const Target& t, uint64_t offset) {
        return t.path() >= AccessPath::rdma ? reinterpret_cast<std::byte*>(offset) : t.base + offset;
    }
    Err put(int rank, const TypedBuffer& here, const TypedBuffer& there, const FetchFactory& maker);
    Err get(int rank, const TypedBuffer& here, const TypedBuffer& there, const FetchFactory& maker);
    // result.bytes == 0: nothing is fetched
    Err accumulate(int rank, const AccumulateOp& c, const TypedBuffer& here, const TypedBuffer& result,
                   const TypedBuffer& there, const FetchFactory& maker);
    // Fast path for contiguous elements in a mapped target, at `there`; at most 64 KiB, which bounds how long
    // it holds accumulate_lock. Returns false if accumulate() is needed.
    bool try_accumulate_contiguous(int rank, const AccumulateOp& c, const std::byte* in, std::byte* fetched,
                                   std::byte* there, uint64_t bytes) {
        constexpr uint64_t most = uint64_t{64} << 10;
        const bool by_cpu = rdma_ == nullptr; // with RDMA even local memory may need RDMA atomics
        return by_cpu && bytes <= most &&
               accumulate_contiguous(c, {there, bytes}, in, fetched, guard_of(rank, peek(rank)));
    }
    Err compare_and_swap(int rank, const CompareSwapOp& s, const void* compare, const void* value,
                         void* fetched, std::byte* there, const FetchFactory& maker);

    // Waits until all operations to this target (or to all) are complete at the target.
    void flush(int rank) {
        if (am_ != nullptr) [[unlikely]]
            flush_requests(rank);
    }
    void flush_all() {
        if (am_ != nullptr) [[unlikely]]
            flush_requests(-1);
    }
    // Waits until all results from this target, or from all (-1), have arrived.
    void flush_local(int rank) {
        if (am_ != nullptr) [[unlikely]]
            await_fetches(rank);
    }
    // Returns and clears the error of a pending operation.
    [[nodiscard]] Err take_failure() { return std::exchange(failure_, Err::success); }

    // The lock of a remote target is requested along with the first operation and released along with the
    // last, so an epoch without operations costs nothing. With RDMA it is acquired immediately: acquiring it
    // at the first operation would mean waiting while holding other locks.
    void lock(int rank, bool exclusive);
    void unlock(int rank, bool exclusive); // flushes
    // First half of unlock(), for several targets concurrently; flush_all() completes it.
    void begin_unlock(int rank, bool exclusive);

    void post_to(int origin);
    void await_post(int target);
    void complete_to(int target); // after all operations to the target
    [[nodiscard]] bool all_completed(uint32_t origins) const {
        return members_[team_.rank].completed.load(std::memory_order_seq_cst) >= origins;
    }
    void await_completes(uint32_t origins);
    void consume_completes(uint32_t origins) {
        members_[team_.rank].completed.fetch_sub(origins, std::memory_order_seq_cst);
    }

    // Completes all operations on this member; no rank starts the next epoch before all have arrived.
    Err fence();

    // Memory of a dynamic window. attach() returns false on overlap, detach() if base is not attached.
    bool attach(uint64_t base, uint64_t size);
    bool detach(uint64_t base);
    [[nodiscard]] bool is_attached(uint64_t base, uint64_t size) const;

  private:
    struct AmPath;
    struct RdmaPath;
    struct TargetAssist;
    enum class DeviceLocks : uint8_t { cpu, network, hybrid };
    struct AttachedRange {
        uint64_t base;
        uint64_t size;
    };

    [[gnu::cold]] void resolve_path(int rank, Target& t);
    [[nodiscard]] std::atomic<uint64_t>* post_flags(int rank) const;
    void await(bool (*condition)(const Window& w, int64_t argument), int64_t argument, int wait_peer);
    [[gnu::cold]] void flush_requests(int rank);
    [[gnu::cold]] void await_fetches(int rank);
    void record_post(int from);
    Err fence_by_counts();
    void sync_node_fence();
    [[nodiscard]] AccumulateGuard guard_of(int rank, const Target& t) const {
        return {t.exclusive ? nullptr : &members_[rank].accumulate_lock, t.cpu_atomics};
    }
    // For requests that this rank executes on its own memory for other origins.
    [[nodiscard]] AccumulateGuard guard_for_requests() {
        return {&members_[team_.rank].accumulate_lock, target(team_.rank).cpu_atomics};
    }

    // rdma_path.cpp
    [[nodiscard]] DeviceLocks choose_locks() const;
    int rdma_endpoint(int rank);
    void flush_rdma(int rank);
    [[gnu::cold]] static Err no_connection_error(int rank);
    // rdma_access.cpp
    [[nodiscard]] uint64_t remote_address(int rank, const std::byte* address) const;
    Err add_completion(int endpoint, const FetchFactory& maker);
    std::byte* stage_result(int endpoint, FetchOp& fetch, uint64_t from, uint64_t bytes,
                            const FetchFactory& maker);
    Err put_rdma(int rank, const TypedBuffer& here, const TypedBuffer& there, const FetchFactory& maker);
    Err get_rdma(int rank, const TypedBuffer& here, const TypedBuffer& there, const FetchFactory& maker);
    [[nodiscard]] bool can_accumulate_rdma(int rank, const AccumulateOp& c, const TypedBuffer& there) const;
    [[nodiscard]] bool can_swap_rdma(int rank, const CompareSwapOp& s, const std::byte* there) const;
    void order_accumulates(int rank, bool by_device);
    uint64_t update_word_rdma(int rank, int endpoint, const AccumulateOp& c, uint64_t in,
                              const transport::RemoteAddress& word);
    void update_rdma(int rank, int endpoint, const AccumulateOp& c, const TypedBuffer& here,
                     const TypedBuffer& result, const TypedBuffer& there);
    Err fetch_add_rdma(int rank, int endpoint, const AccumulateOp& c, const TypedBuffer& here,
                       const TypedBuffer& result, const TypedBuffer& there, const FetchFactory& maker);
    Err accumulate_rdma(int rank, const AccumulateOp& c, const TypedBuffer& here, const TypedBuffer& result,
                        const TypedBuffer& there, const FetchFactory& maker);
    Err swap_rdma(int rank, const void* compare, const void* value, void* fetched, std::byte* there,
                  const FetchFactory& maker);
    // rdma_lock.cpp
    [[nodiscard]] bool uses_rdma_locks() const;
    void lock_local(int rank, bool exclusive);
    void unlock_local(int rank, bool exclusive);
    void lock_remote(int rank, bool exclusive);
    void release_as_reader(int rank);
    void unlock_remote(int rank, bool exclusive);
    bool lock_by_am(int rank, bool exclusive);
    void lock_by_network(int rank, bool exclusive);
    void unlock_by_network(int rank, bool exclusive);
    void lock_by_cpu(int rank, bool exclusive);
    void unlock_by_cpu(int rank, bool exclusive);

    // access.cpp
    Err cma_error(transport::cma::Copier::Result result, int rank) const;
    Err move_cma(int rank, const Target& t, bool write, const TypedBuffer& here, const TypedBuffer& there);
    Err accumulate_cma(int rank, const Target& t, const AccumulateOp& c, const iovec* iov, size_t count,
                       uint64_t bytes, const std::byte* in, std::byte* fetched);
    Err accumulate_chunk(int rank, const AccumulateOp& c, const iovec* iov, size_t count, uint64_t bytes,
                         const std::byte* in, std::byte* fetched);
    Err swap_cma(int rank, const Target& t, const CompareSwapOp& s, const void* compare, const void* value,
                 void* fetched, std::byte* there);
    // am_requests.cpp
    [[gnu::cold]] static Err no_memory_error();
    Err send_requests(int rank, wire::RmaKind kind, const AccumulateOp* c, const TypedBuffer& here,
                      const TypedBuffer& there, const TypedBuffer& result, const FetchFactory& maker);
    Err send_swap(int rank, const CompareSwapOp& s, const void* compare, const void* value, void* fetched,
                  std::byte* there, const FetchFactory& maker);

    Team& team_;
    uint64_t control_;
    const std::vector<Region>& regions_;
    OpDecoder op_decoder_;
    wire::WindowMember* members_;
    std::vector<Target> targets_;
    std::vector<AttachedRange> attached_;
    ScratchBuffers scratch_;
    Operation wait_operation_; // for reports
    bool spans_hosts_ = false; // members on several hosts
    uint32_t fences_ = 0;
    Err failure_ = Err::success;
    std::unique_ptr<RdmaPath> rdma_; // null: RDMA is not used
    std::unique_ptr<AmPath> am_;
    std::unique_ptr<TargetAssist> assist_; // null: no private memory, or the window spans hosts
};

} // namespace zipmpi::proto::rma
