// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Operations on mapped memory of a target: loads, stores and CPU atomics. Complete on return;
// they do not fail.
//
// Threads: under the lock of the progress engine, except try_accumulate_contiguous().
#pragma once

#include "proto/rma/target_table.hpp"
#include "proto/rma/typed_buffer.hpp"

namespace zipmpi::proto::rma {

class SharedPath {
  public:
    explicit SharedPath(const TargetTable& targets)
        : targets_(targets) {}

    static Err put(const TypedBuffer& here, const TypedBuffer& there) { return copy(here, there); }
    static Err get(const TypedBuffer& here, const TypedBuffer& there) { return copy(there, here); }
    Err accumulate(int rank, const AccumulateOp& c, const TypedBuffer& here, const TypedBuffer& result,
                   const TypedBuffer& there);
    // Contiguous elements at `there`; at most 64 KiB, which bounds how long it holds accumulate_lock. Returns
    // false if accumulate() is needed.
    bool try_accumulate_contiguous(int rank, const AccumulateOp& c, const std::byte* in, std::byte* fetched,
                                   std::byte* there, uint64_t bytes) const {
        constexpr uint64_t most = uint64_t{64} << 10;
        return bytes <= most &&
               accumulate_contiguous(c, {there, bytes}, in, fetched, targets_.guard_of(rank));
    }
    Err compare_and_swap(int rank, const CompareSwapOp& s, const void* compare, const void* value,
                         void* fetched, std::byte* there) const {
        swap_element(s, there, compare, value, fetched, targets_.guard_of(rank));
        return Err::success;
    }

  private:
    static Err copy(const TypedBuffer& from, const TypedBuffer& to) {
        if (to.layout == nullptr)
            load(from, 0, to.base, to.bytes);
        else if (from.layout == nullptr)
            store(to, 0, from.base, to.bytes);
        else
            copy_noncontig(from, to);
        return Err::success;
    }
    static void copy_noncontig(const TypedBuffer& from, const TypedBuffer& to);

    const TargetTable& targets_;
    ScratchBuffers scratch_;
};

} // namespace zipmpi::proto::rma
