// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Change of a library counter since its construction. Use between MPI_T_init_thread() and MPI_T_finalize().
#pragma once

#include "check.hpp"

struct Counted {
    MPI_T_pvar_session session = MPI_T_PVAR_SESSION_NULL;
    MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
    explicit Counted(const char* name) {
        int index = 0;
        int count = 0;
        CHECK(MPI_T_pvar_session_create(&session) == MPI_SUCCESS);
        CHECK(MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_COUNTER, &index) == MPI_SUCCESS);
        CHECK(MPI_T_pvar_handle_alloc(session, index, nullptr, &handle, &count) == MPI_SUCCESS);
        CHECK(MPI_T_pvar_start(session, handle) == MPI_SUCCESS);
    }
    ~Counted() { MPI_T_pvar_session_free(&session); }
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;
    [[nodiscard]] unsigned long long value() const {
        unsigned long long value = 0;
        CHECK(MPI_T_pvar_read(session, handle, &value) == MPI_SUCCESS);
        return value;
    }
    [[nodiscard]] unsigned long long sum_of_all() const {
        unsigned long long sum = value();
        MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
        return sum;
    }
};
