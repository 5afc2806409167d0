// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// One-sided communication (MPI chapter 12). A target may be proc_null. With NO_OP the origin arguments are
// ignored, and the origin datatype may be null.
#pragma once

#include "core/api/common.hpp"

namespace zipmpi::core {

Err win_create(void* base, int64_t size, int64_t unit, Info* info, Comm& comm, Win*& win);
Err win_allocate(int64_t size, int64_t unit, Info* info, Comm& comm, void*& base, Win*& win);
Err win_allocate_shared(int64_t size, int64_t unit, Info* info, Comm& comm, void*& base, Win*& win);
Err win_create_dynamic(Info* info, Comm& comm, Win*& win);
Err win_attach(Win& win, void* base, int64_t size);
Err win_detach(Win& win, const void* base);
Err win_shared_query(Win& win, int rank, int64_t& size, int64_t& unit, void*& base);
Err win_free(Win*& win);
Err win_get_group(Win& win, Group*& group);
Err win_get_info(Win& win, Info*& info);
Err win_set_info(Win& win, Info* info);
WinFlavor flavor_of(const Win& win) noexcept;
void* win_attribute(Win& win, WinAttribute which) noexcept; // base, or the address of size or disp_unit
Err win_fence(int assertion, Win& win);
Err win_post(Group& group, int assertion, Win& win);
Err win_start(Group& group, int assertion, Win& win);
Err win_complete(Win& win);
Err win_wait(Win& win);
Err win_test(Win& win, bool& flag);
Err win_lock(LockType type, int rank, int assertion, Win& win);
Err win_lock_all(int assertion, Win& win);
Err win_unlock(int rank, Win& win);
Err win_unlock_all(Win& win);
Err win_flush(int rank, Win& win);
Err win_flush_all(Win& win);
Err win_flush_local(int rank, Win& win);
Err win_flush_local_all(Win& win);
Err win_sync(Win& win);
Err win_ifence(int assertion, Win& win, Request*& request);
Err win_fence_neighbors(Group& group, int assertion, Win& win);
Err win_ifence_neighbors(Group& group, int assertion, Win& win, Request*& request);
Err win_iflush(int rank, Win& win, Request*& request);
Err win_iflush_all(Win& win, Request*& request);
Err win_iunlock(int rank, Win& win, Request*& request);
Err win_iunlock_all(Win& win, Request*& request);
Err put(const void* origin, int64_t count, Datatype& type, int target, int64_t disp, int64_t target_count,
        Datatype& target_type, Win& win);
Err get(void* origin, int64_t count, Datatype& type, int target, int64_t disp, int64_t target_count,
        Datatype& target_type, Win& win);
Err accumulate(const void* origin, int64_t count, Datatype& type, int target, int64_t disp,
               int64_t target_count, Datatype& target_type, Op& op, Win& win);
Err get_accumulate(const void* origin, int64_t count, Datatype* type, void* result, int64_t result_count,
                   Datatype& result_type, int target, int64_t disp, int64_t target_count,
                   Datatype& target_type, Op& op, Win& win);
Err fetch_and_op(const void* origin, void* result, Datatype& type, int target, int64_t disp, Op& op,
                 Win& win);
Err compare_and_swap(const void* origin, const void* compare, void* result, Datatype& type, int target,
                     int64_t disp, Win& win);
Err rput(const void* origin, int64_t count, Datatype& type, int target, int64_t disp, int64_t target_count,
         Datatype& target_type, Win& win, Request*& request);
Err rget(void* origin, int64_t count, Datatype& type, int target, int64_t disp, int64_t target_count,
         Datatype& target_type, Win& win, Request*& request);
Err raccumulate(const void* origin, int64_t count, Datatype& type, int target, int64_t disp,
                int64_t target_count, Datatype& target_type, Op& op, Win& win, Request*& request);
Err rget_accumulate(const void* origin, int64_t count, Datatype* type, void* result, int64_t result_count,
                    Datatype& result_type, int target, int64_t disp, int64_t target_count,
                    Datatype& target_type, Op& op, Win& win, Request*& request);

} // namespace zipmpi::core
