// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What the calls that access a window share: checks, places, and how an operation by messages ends.
#pragma once

#include "core/datatype/contiguous.hpp"
#include "core/p2p.hpp"
#include "core/request/request.hpp"
#include "core/win/win.hpp"

namespace zipmpi::core {

// Calls whose short way needs no lock take it for the long one.
class Locked {
  public:
    Locked() { lock_engine(); }
    ~Locked() { unlock_engine(); }
    Locked(const Locked&) = delete;
    Locked& operator=(const Locked&) = delete;
};

// The target's side of a call.
struct TargetSide {
    int rank;
    int64_t disp;
    int64_t count;
    Datatype& type;
};

inline proto::rma::Data data_of(const void* buffer, int64_t count, const Datatype& type) {
    if (is_contiguous(count, type))
        return {static_cast<std::byte*>(contiguous_start(buffer, type)), nullptr, 0,
                packed_bytes(count, type)};
    return {static_cast<std::byte*>(const_cast<void*>(buffer)), type.program, count,
            packed_bytes(count, type)};
}

// Checks that the process may access the target and that the elements lie in its window.
Err find_place(Win& win, const TargetSide& place, proto::rma::Data& there);
[[gnu::cold]] Err not_in_range(const proto::rma::Target& t, const TargetSide& place);
[[gnu::cold]] Err different_sizes(uint64_t here, uint64_t there);

// Where whole elements lie if they are in the window of a target that is seen here; null: look closer.
[[gnu::always_inline]] inline std::byte* quick_place(Win& win, int target, int64_t disp, int64_t count,
                                                     const Datatype& type, int64_t target_count,
                                                     const Datatype& target_type, uint64_t& bytes) {
    if (target < 0 || type.program != nullptr || target_type.program != nullptr) return nullptr;
    const Near& near = win.near_of(target);
    bytes = packed_bytes(count, type);
    const bool same =
        (&type == &target_type && count == target_count) || bytes == packed_bytes(target_count, target_type);
    return same && win.may_access(near) ? near.place(disp, bytes) : nullptr;
}

// Makes the exchange of a call that goes by messages, and its request if it has one.
class Sending {
  public:
    Sending(Win& win, Request** request)
        : win_(win)
        , request_(request) {}
    // Types that must live until the replies are there.
    void keep(Datatype& type) { type_ = &type; }
    [[nodiscard]] proto::rma::Window::Maker maker() {
        return {[](void* s) { return static_cast<Sending*>(s)->make(); }, this, request_ != nullptr};
    }
    // Gives out the request of an operation that is done, unless it went by messages.
    Err finish(Err result);

  private:
    proto::rma::Exchange* make();
    Win& win_;
    Request** request_;
    Datatype* type_ = nullptr;
    bool sent_ = false;
};

} // namespace zipmpi::core
