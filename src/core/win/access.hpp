// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Helpers shared by RMA calls: checks, target addresses, and completion of operations by active messages.
#pragma once

#include "core/datatype/contiguous.hpp"
#include "core/p2p/p2p.hpp"
#include "core/request/request.hpp"
#include "core/win/win.hpp"

namespace zipmpi::core {

// Takes the lock for the slow path of calls whose fast path runs without it.
class RuntimeLockGuard {
  public:
    RuntimeLockGuard() { lock_runtime(); }
    ~RuntimeLockGuard() { unlock_runtime(); }
    RuntimeLockGuard(const RuntimeLockGuard&) = delete;
    RuntimeLockGuard& operator=(const RuntimeLockGuard&) = delete;
};

// The target arguments of a call.
struct TargetSpec {
    int rank;
    int64_t disp;
    int64_t count;
    Datatype& type;
};

inline proto::rma::TypedBuffer typed_buffer_of(const void* buffer, int64_t count, const Datatype& type) {
    if (is_contiguous(count, type))
        return {static_cast<std::byte*>(contiguous_start(buffer, type)), nullptr, 0,
                packed_bytes(count, type)};
    return {static_cast<std::byte*>(const_cast<void*>(buffer)), type.layout, count,
            packed_bytes(count, type)};
}

// Checks that the process may access the target and that the elements are within its window.
Err resolve_target(Win& win, const TargetSpec& spec, proto::rma::TypedBuffer& there);
[[gnu::cold]] Err not_in_range(const proto::rma::Target& t, const TargetSpec& spec);
[[gnu::cold]] Err size_mismatch(uint64_t here, uint64_t there);

// Address of contiguous elements in the window of a target with mapped memory; null: use resolve_target().
[[gnu::always_inline]] inline std::byte* fast_address(Win& win, int target, int64_t disp, int64_t count,
                                                      const Datatype& type, int64_t target_count,
                                                      const Datatype& target_type, uint64_t& bytes) {
    if (target < 0 || type.layout != nullptr || target_type.layout != nullptr) return nullptr;
    const TargetCache& cache = win.cache_of(target);
    bytes = packed_bytes(count, type);
    const bool same =
        (&type == &target_type && count == target_count) || bytes == packed_bytes(target_count, target_type);
    return same && win.may_access(cache) ? cache.address_of(disp, bytes) : nullptr;
}

// Creates the exchange of an active-message operation, and its request if the call has one.
class RmaCall final : public proto::rma::FetchFactory {
  public:
    RmaCall(Win& win, Request** request)
        : FetchFactory(request != nullptr ? Completion::immediate : Completion::at_flush)
        , win_(win)
        , request_(request) {}
    // Keeps a type alive until the replies have arrived.
    void keep_alive(Datatype& type) { type_ = &type; }
    [[nodiscard]] proto::rma::FetchOp* make() override;
    // Returns the request of an operation that has completed without active messages.
    Err finish(Err result);

  private:
    Win& win_;
    Request** request_;
    Datatype* type_ = nullptr;
    bool has_fetch_ = false;
};

} // namespace zipmpi::core
