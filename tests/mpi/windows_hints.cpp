// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Info hints of windows: their values, and what they change. usage: windows_hints [hybrid]
// With "hybrid" the window has RDMA: a hybrid lock that migrates after one turn is counted.
#include "check.hpp"

#include <cstdint>
#include <cstring>
#include <string>

namespace {

struct Window {
    MPI_Win win = MPI_WIN_NULL;
    int64_t* base = nullptr;

    // Values of ranks other than 0 differ, and do not count.
    Window(const char* key, const char* value) {
        MPI_Info info = MPI_INFO_NULL;
        MPI_Info_create(&info);
        MPI_Info_set(info, key, rank_ == 0 ? value : "none of them");
        CHECK(MPI_Win_allocate(16, 8, info, MPI_COMM_WORLD, &base, &win) == MPI_SUCCESS);
        MPI_Info_free(&info);
        MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
        base[0] = base[1] = 0;
        MPI_Barrier(MPI_COMM_WORLD);
    }
    ~Window() { CHECK(MPI_Win_free(&win) == MPI_SUCCESS); }
    Window(const Window&) = delete;
    Window& operator=(const Window&) = delete;

    [[nodiscard]] std::string hint(const char* key) const {
        MPI_Info info = MPI_INFO_NULL;
        char value[100] = "";
        int length = sizeof value;
        int flag = 0;
        CHECK(MPI_Win_get_info(win, &info) == MPI_SUCCESS);
        CHECK(MPI_Info_get_string(info, key, &length, value, &flag) == MPI_SUCCESS);
        MPI_Info_free(&info);
        return flag != 0 ? value : "-";
    }
};

// Puts to all ranks arrive by each kind of fence.
void put_and_fence(const Window& w) {
    CHECK(MPI_Win_fence(0, w.win) == MPI_SUCCESS);
    for (int64_t round = 1; round <= 20; ++round) {
        const int next = (rank_ + 1) % size_;
        CHECK(MPI_Put(&round, 1, MPI_INT64_T, next, round % 2, 1, MPI_INT64_T, w.win) == MPI_SUCCESS);
        CHECK(MPI_Win_fence(0, w.win) == MPI_SUCCESS);
        CHECK(w.base[round % 2] == round);
    }
    CHECK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w.win) == MPI_SUCCESS);
}

void values() {
    {
        const Window w("zipmpi_fence", "acknowledged");
        CHECK(w.hint("zipmpi_fence") == "acknowledged" && w.hint("zipmpi_lock") == "auto");
        CHECK(w.hint("no_locks") == "false" && w.hint("zipmpi_lock_turns") == "-");
        put_and_fence(w);
    }
    {
        const Window w("zipmpi_fence", "counted");
        CHECK(w.hint("zipmpi_fence") == "counted");
        put_and_fence(w);
    }
    {
        const Window w("zipmpi_fence", "notified");
        CHECK(w.hint("zipmpi_fence") == "notified");
        put_and_fence(w);
    }
    {
        const Window w("zipmpi_lock_turns", "7");
        CHECK(w.hint("zipmpi_lock_turns") == "7");
    }
    for (const char* const wrong : {"", "7x", "-1", "99999999999"}) {
        const Window w("zipmpi_lock_turns", wrong);
        CHECK(w.hint("zipmpi_lock_turns") == "-");
    }
    {
        const Window w("zipmpi_lock", "unknown");
        CHECK(w.hint("zipmpi_lock") == "auto");
    }
}

void no_locks() {
    const Window w("no_locks", "true");
    CHECK(w.hint("no_locks") == "true");
    FAILS(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w.win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_lock_all(0, w.win), MPI_ERR_RMA_SYNC);
    put_and_fence(w);
    int64_t got = -1;
    CHECK(MPI_Win_fence(0, w.win) == MPI_SUCCESS);
    MPI_Get(&got, 1, MPI_INT64_T, (rank_ + 1) % size_, 0, 1, MPI_INT64_T, w.win);
    CHECK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w.win) == MPI_SUCCESS);
    CHECK(got == 20);
}

// Counts of this rank from the construction on.
class Count {
  public:
    explicit Count(const char* name) {
        int index = 0;
        int count = 0;
        CHECK(MPI_T_pvar_session_create(&session_) == MPI_SUCCESS);
        CHECK(MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_COUNTER, &index) == MPI_SUCCESS);
        CHECK(MPI_T_pvar_handle_alloc(session_, index, nullptr, &handle_, &count) == MPI_SUCCESS &&
              count == 1);
        CHECK(MPI_T_pvar_start(session_, handle_) == MPI_SUCCESS);
    }
    ~Count() {
        MPI_T_pvar_handle_free(session_, &handle_);
        MPI_T_pvar_session_free(&session_);
    }
    Count(const Count&) = delete;
    Count& operator=(const Count&) = delete;

    [[nodiscard]] uint64_t over_ranks() const {
        uint64_t own = read();
        uint64_t all = 0;
        MPI_Allreduce(&own, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
        return all;
    }

  private:
    [[nodiscard]] uint64_t read() const {
        unsigned long long value = 0;
        CHECK(MPI_T_pvar_read(session_, handle_, &value) == MPI_SUCCESS);
        return value;
    }

    MPI_T_pvar_session session_ = MPI_T_PVAR_SESSION_NULL;
    MPI_T_pvar_handle handle_ = MPI_T_PVAR_HANDLE_NULL;
};

// Messages of all ranks in 100 fences, each after a put to every rank.
uint64_t messages_with(const char* fence) {
    constexpr int fences = 100;
    const Window w("zipmpi_fence", fence);
    CHECK(MPI_Win_fence(0, w.win) == MPI_SUCCESS);
    const Count sends("counter.sends");
    for (int64_t i = 0; i < fences; ++i) {
        for (int r = 0; r < size_; ++r) MPI_Put(&i, 1, MPI_INT64_T, r, 0, 1, MPI_INT64_T, w.win);
        CHECK(MPI_Win_fence(0, w.win) == MPI_SUCCESS);
    }
    return sends.over_ranks();
}

// Between hosts without RDMA: nothing is acknowledged in a counted fence.
void fence_messages() {
    const uint64_t counted = messages_with("counted");
    const uint64_t acknowledged = messages_with("acknowledged");
    if (rank_ == 0)
        std::printf("messages of 100 fences: counted %llu, acknowledged %llu\n",
                    static_cast<unsigned long long>(counted), static_cast<unsigned long long>(acknowledged));
    CHECK(counted < acknowledged);
}

// All ranks take the lock of rank 0 in turn, so that it migrates with a turn count of 1 and not with 1000.
uint64_t migrations_with(const char* turns) {
    const Count migrations("counter.lock_migrations");
    MPI_Info info = MPI_INFO_NULL;
    MPI_Info_create(&info);
    MPI_Info_set(info, "zipmpi_lock", "hybrid");
    MPI_Info_set(info, "zipmpi_lock_turns", turns);
    int64_t* base = nullptr;
    MPI_Win win = MPI_WIN_NULL;
    CHECK(MPI_Win_allocate(8, 8, info, MPI_COMM_WORLD, &base, &win) == MPI_SUCCESS);
    MPI_Info_free(&info);
    for (int round = 0; round < 20 * size_; ++round) {
        if (round % size_ == rank_) {
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
            MPI_Win_unlock(0, win);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    CHECK(MPI_Win_free(&win) == MPI_SUCCESS);
    return migrations.over_ranks();
}

void hybrid_locks() {
    const uint64_t eager = migrations_with("1");
    const uint64_t reluctant = migrations_with("1000");
    if (eager < 20 || reluctant != 0)
        std::fprintf(stderr, "%llu and %llu migrations\n", static_cast<unsigned long long>(eager),
                     static_cast<unsigned long long>(reluctant));
    CHECK(eager >= 20 && reluctant == 0);
}

} // namespace

int main(int argc, char** argv) {
    const Session session(&argc, &argv);
    int provided = 0;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    const bool has_rdma = argc > 1 && std::strcmp(argv[1], "hybrid") == 0;
    values();
    no_locks();
    if (!has_rdma && !on_one_host()) fence_messages();
    if (has_rdma) hybrid_locks();
    MPI_T_finalize();
    session.end("windows_hints");
    return 0;
}
