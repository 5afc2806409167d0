// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Attributes of windows, and errors of window operations. usage: windows_errors
#include "check.hpp"

#include <cstdint>
#include <string>

namespace {

int handler_calls = 0;
void count_call(MPI_Win*, int*, ...) { ++handler_calls; }

void add(void*, void*, int*, MPI_Datatype*) {}

struct Memory {
    MPI_Win win = MPI_WIN_NULL;
    int64_t* base = nullptr;
    explicit Memory(MPI_Aint count) {
        CHECK(MPI_Win_allocate(count * 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win) == MPI_SUCCESS);
        MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    }
    ~Memory() { CHECK(MPI_Win_free(&win) == MPI_SUCCESS); }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
};

void outside_epochs() {
    const Memory m(4);
    int64_t x = 0;
    FAILS(MPI_Put(&x, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, m.win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Get(&x, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, m.win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Accumulate(&x, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, MPI_SUM, m.win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_unlock(0, m.win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_unlock_all(m.win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_complete(m.win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_wait(m.win), MPI_ERR_RMA_SYNC);
    int flag = 0;
    FAILS(MPI_Win_test(m.win, &flag), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_flush(0, m.win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_flush_all(m.win), MPI_ERR_RMA_SYNC);
    CHECK(MPI_Put(&x, 1, MPI_INT64_T, MPI_PROC_NULL, 0, 1, MPI_INT64_T, m.win) == MPI_SUCCESS);
    MPI_Win_fence(0, m.win);
    CHECK(MPI_Put(&x, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, m.win) == MPI_SUCCESS);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, m.win);
    FAILS(MPI_Put(&x, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, m.win), MPI_ERR_RMA_SYNC);
}

void nested_epochs() {
    const Memory m(4);
    MPI_Win copy = m.win;
    CHECK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, m.win) == MPI_SUCCESS);
    FAILS(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, m.win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_lock_all(0, m.win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_fence(0, m.win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_free(&copy), MPI_ERR_RMA_SYNC);
    MPI_Group all = MPI_GROUP_NULL;
    MPI_Win_get_group(m.win, &all);
    FAILS(MPI_Win_start(all, 0, m.win), MPI_ERR_RMA_SYNC);
    CHECK(MPI_Win_unlock(0, m.win) == MPI_SUCCESS);
    CHECK(MPI_Win_lock_all(0, m.win) == MPI_SUCCESS);
    FAILS(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, m.win), MPI_ERR_RMA_SYNC);
    CHECK(MPI_Win_unlock_all(m.win) == MPI_SUCCESS);
    FAILS(MPI_Win_lock(12345, 0, 0, m.win), MPI_ERR_LOCKTYPE);
    FAILS(MPI_Win_lock(MPI_LOCK_SHARED, 0, 1, m.win), MPI_ERR_ASSERT);
    FAILS(MPI_Win_lock(MPI_LOCK_SHARED, size_, 0, m.win), MPI_ERR_RANK);
    FAILS(MPI_Win_fence(MPI_MODE_NOCHECK, m.win), MPI_ERR_ASSERT);
    MPI_Group_free(&all);
    MPI_Barrier(MPI_COMM_WORLD);
}

// known: the library has accessed the targets before, and its fast paths are enabled.
void ranges_and_types(bool known) {
    const Memory m(4);
    int64_t x[8] = {};
    MPI_Win_lock_all(0, m.win);
    for (int r = 0; known && r < size_; ++r) {
        CHECK(MPI_Put(x, 0, MPI_INT64_T, r, 0, 0, MPI_INT64_T, m.win) == MPI_SUCCESS);
        CHECK(MPI_Put(x, 0, MPI_INT64_T, r, 4, 0, MPI_INT64_T, m.win) == MPI_SUCCESS);
        CHECK(MPI_Win_flush(r, m.win) == MPI_SUCCESS);
    }
    FAILS(MPI_Put(nullptr, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, m.win), MPI_ERR_BUFFER);
    FAILS(MPI_Put(x, 1, MPI_INT64_T, 0, 0, 2, MPI_INT64_T, m.win), MPI_ERR_ARG);
    FAILS(MPI_Put(x, 1, MPI_INT64_T, 0, 0, 1, MPI_INT32_T, m.win), MPI_ERR_ARG);
    FAILS(MPI_Fetch_and_op(x, x, MPI_INT64_T, 0, 4, MPI_SUM, m.win), MPI_ERR_RMA_RANGE);
    FAILS(MPI_Fetch_and_op(x, x, MPI_INT64_T, 0, 0, MPI_OP_NULL, m.win), MPI_ERR_OP);
    FAILS(MPI_Accumulate(x, 1, MPI_INT64_T, size_, 0, 1, MPI_INT64_T, MPI_SUM, m.win), MPI_ERR_RANK);
    FAILS(MPI_Accumulate(x, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, MPI_MAXLOC, m.win), MPI_ERR_OP);
    FAILS(MPI_Compare_and_swap(x, x, x, MPI_INT64_T, 0, -1, m.win), MPI_ERR_DISP);
    FAILS(MPI_Get_accumulate(x, 2, MPI_INT8_T, x, 1, MPI_INT8_T, 0, 0, 1, MPI_INT8_T, MPI_SUM, m.win),
          MPI_ERR_ARG);
    FAILS(MPI_Get_accumulate(x, 33, MPI_INT8_T, x, 33, MPI_INT8_T, 0, 0, 33, MPI_INT8_T, MPI_SUM, m.win),
          MPI_ERR_RMA_RANGE);
    FAILS(MPI_Win_flush(size_, m.win), MPI_ERR_RANK);
    FAILS(MPI_Win_flush(0, MPI_WIN_NULL), MPI_ERR_WIN);
    FAILS(MPI_Put(x, 5, MPI_INT64_T, 0, 0, 5, MPI_INT64_T, m.win), MPI_ERR_RMA_RANGE);
    FAILS(MPI_Get(x, 1, MPI_INT64_T, 0, 4, 1, MPI_INT64_T, m.win), MPI_ERR_RMA_RANGE);
    FAILS(MPI_Get(x, 1, MPI_INT64_T, 0, INT64_MAX / 4, 1, MPI_INT64_T, m.win), MPI_ERR_RMA_RANGE);
    FAILS(MPI_Put(x, 1, MPI_INT64_T, 0, -1, 1, MPI_INT64_T, m.win), MPI_ERR_DISP);
    FAILS(MPI_Put(x, 1, MPI_INT64_T, -7, 0, 1, MPI_INT64_T, m.win), MPI_ERR_RANK);
    FAILS(MPI_Put(x, -1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, m.win), MPI_ERR_COUNT);
    FAILS(MPI_Put(x, 1, MPI_DATATYPE_NULL, 0, 0, 1, MPI_INT64_T, m.win), MPI_ERR_TYPE);
    FAILS(MPI_Put(x, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, MPI_WIN_NULL), MPI_ERR_WIN);
    MPI_Op own = MPI_OP_NULL;
    MPI_Op_create(add, 1, &own);
    FAILS(MPI_Accumulate(x, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, own, m.win), MPI_ERR_OP);
    MPI_Op_free(&own);
    FAILS(MPI_Accumulate(x, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, MPI_BAND, m.win), MPI_ERR_OP);
    CHECK(MPI_Accumulate(x, 0, MPI_DOUBLE, 0, 0, 0, MPI_DOUBLE, MPI_BAND, m.win) == MPI_SUCCESS); // nothing
    FAILS(MPI_Compare_and_swap(x, x, x, MPI_DOUBLE, 0, 0, m.win), MPI_ERR_TYPE);
    // the origin arguments are not significant
    x[1] = -1;
    CHECK(MPI_Get_accumulate(nullptr, 0, MPI_DATATYPE_NULL, &x[1], 1, MPI_INT64_T, rank_, 0, 1, MPI_INT64_T,
                             MPI_NO_OP, m.win) == MPI_SUCCESS);
    CHECK(MPI_Fetch_and_op(nullptr, &x[1], MPI_INT64_T, rank_, 0, MPI_NO_OP, m.win) == MPI_SUCCESS);
    CHECK(x[1] == 0);
    MPI_Win_unlock_all(m.win);
    MPI_Barrier(MPI_COMM_WORLD);
}

void creation_errors() {
    MPI_Win win = MPI_WIN_NULL;
    int64_t memory[4];
    FAILS(MPI_Win_create(memory, -1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_ERR_SIZE);
    FAILS(MPI_Win_create(memory, 8, 0, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_ERR_DISP);
    FAILS(MPI_Win_create(nullptr, 8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_ERR_BASE);
    FAILS(MPI_Win_create(memory, 8, 1, MPI_INFO_NULL, MPI_COMM_NULL, &win), MPI_ERR_COMM);
    CHECK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win) == MPI_SUCCESS);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    CHECK(MPI_Win_attach(win, memory, sizeof memory) == MPI_SUCCESS);
    FAILS(MPI_Win_attach(win, memory + 1, 8), MPI_ERR_RMA_ATTACH);
    FAILS(MPI_Win_detach(win, memory + 1), MPI_ERR_RMA_ATTACH);
    FAILS(MPI_Win_attach(win, memory, -1), MPI_ERR_SIZE);
    CHECK(MPI_Win_detach(win, memory) == MPI_SUCCESS);
    MPI_Win_lock(MPI_LOCK_SHARED, rank_, 0, win);
    MPI_Aint address = 0;
    MPI_Get_address(memory, &address);
    int64_t x = 0;
    FAILS(MPI_Put(&x, 1, MPI_INT64_T, rank_, address, 1, MPI_INT64_T, win), MPI_ERR_RMA_RANGE);
    MPI_Win_unlock(rank_, win);
    if (size_ > 1) { // address 64 is not attached
        const int peer = (rank_ + 1) % size_;
        MPI_Win_lock(MPI_LOCK_SHARED, peer, 0, win);
        const int at_once = class_of(MPI_Put(&x, 1, MPI_INT64_T, peer, 64, 1, MPI_INT64_T, win));
        const int at_the_end = class_of(MPI_Win_unlock(peer, win));
        CHECK(at_once == MPI_ERR_RMA_RANGE || at_the_end == MPI_ERR_RMA_RANGE);
    }
    MPI_Win_free(&win);
    const Memory m(1);
    FAILS(MPI_Win_attach(m.win, memory, 8), MPI_ERR_RMA_FLAVOR);
}

void attributes_of(MPI_Win win, const void* base, MPI_Aint size, int unit, int flavor) {
    void* value = nullptr;
    int found = 0;
    MPI_Win_get_attr(win, MPI_WIN_BASE, &value, &found);
    CHECK(found && value == base);
    MPI_Win_get_attr(win, MPI_WIN_SIZE, &value, &found);
    CHECK(found && *static_cast<MPI_Aint*>(value) == size);
    MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &value, &found);
    CHECK(found && *static_cast<int*>(value) == unit);
    MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &value, &found);
    CHECK(found && *static_cast<int*>(value) == flavor);
    MPI_Win_get_attr(win, MPI_WIN_MODEL, &value, &found);
    CHECK(found && *static_cast<int*>(value) == MPI_WIN_UNIFIED);
}

void window_attributes() {
    {
        const Memory m(3);
        attributes_of(m.win, m.base, 24, 8, MPI_WIN_FLAVOR_ALLOCATE);
        MPI_Group group = MPI_GROUP_NULL, world = MPI_GROUP_NULL;
        MPI_Win_get_group(m.win, &group);
        MPI_Comm_group(MPI_COMM_WORLD, &world);
        int result = MPI_UNEQUAL;
        MPI_Group_compare(group, world, &result);
        CHECK(result == MPI_IDENT);
        MPI_Group_free(&group);
        MPI_Group_free(&world);
        MPI_Info info = MPI_INFO_NULL;
        CHECK(MPI_Win_get_info(m.win, &info) == MPI_SUCCESS);
        char text[64];
        int length = sizeof text, found = 0;
        MPI_Info_get_string(info, "accumulate_ops", &length, text, &found);
        CHECK(found && std::string(text) == "same_op_no_op");
        MPI_Info_free(&info);
        CHECK(MPI_Win_set_name(m.win, "a window") == MPI_SUCCESS);
        char name[MPI_MAX_OBJECT_NAME];
        MPI_Win_get_name(m.win, name, &length);
        CHECK(std::string(name) == "a window");
    }
    int64_t memory[2];
    MPI_Win win = MPI_WIN_NULL;
    MPI_Win_create(memory, sizeof memory, 4, MPI_INFO_NULL, MPI_COMM_SELF, &win);
    attributes_of(win, memory, sizeof memory, 4, MPI_WIN_FLAVOR_CREATE);
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    MPI_Win_create_errhandler(count_call, &handler);
    MPI_Win_set_errhandler(win, handler);
    MPI_Errhandler_free(&handler);
    FAILS(MPI_Win_unlock(0, win), MPI_ERR_RMA_SYNC);
    CHECK(handler_calls == 1);
    MPI_Win_free(&win);
}

} // namespace

int main(int argc, char** argv) {
    Session session(&argc, &argv);
    outside_epochs();
    nested_epochs();
    ranges_and_types(false);
    ranges_and_types(true);
    creation_errors();
    window_attributes();
    session.end("windows_errors");
}
