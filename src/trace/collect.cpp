// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What needs communication: the distance of the hosts' clocks at the start and at the end, and the sums of
// the profile. Both take a logarithmic number of steps.
#include "trace/call.hpp"

#include <cstdio>
#include <memory>
#include <new>
#include <unistd.h>

namespace zipmpi::trace {
namespace {

constexpr int clock_rounds = 10;
constexpr int clock_tag = 1;

struct Helpers {
    MPI_Comm all, node, leaders; // leaders: the first rank of each host
    bool valid;
    bool is_leader;
};
Helpers helpers{};

void make_helpers() noexcept {
    static const auto dup = find<decltype(&PMPI_Comm_dup)>("PMPI_Comm_dup");
    static const auto split_type = find<decltype(&PMPI_Comm_split_type)>("PMPI_Comm_split_type");
    static const auto split = find<decltype(&PMPI_Comm_split)>("PMPI_Comm_split");
    static const auto comm_rank = find<decltype(&PMPI_Comm_rank)>("PMPI_Comm_rank");
    static const auto set_errhandler = find<decltype(&PMPI_Comm_set_errhandler)>("PMPI_Comm_set_errhandler");
    if (dup(predefined().world, &helpers.all) != MPI_SUCCESS) return;
    set_errhandler(helpers.all, predefined().errors_return); // and the communicators made from it
    int rank = 0;
    int node_rank = 0;
    comm_rank(helpers.all, &rank);
    helpers.valid =
        split_type(helpers.all, MPI_COMM_TYPE_SHARED, rank, predefined().null_info, &helpers.node) ==
            MPI_SUCCESS &&
        comm_rank(helpers.node, &node_rank) == MPI_SUCCESS &&
        split(helpers.all, node_rank == 0 ? 0 : MPI_UNDEFINED, rank, &helpers.leaders) == MPI_SUCCESS;
    helpers.is_leader = node_rank == 0;
}

// Sends the clock to a child as often as it asks, then the distance of this host from rank 0.
bool answer(int child, int64_t own_offset) noexcept {
    static const auto recv = find<decltype(&PMPI_Recv)>("PMPI_Recv");
    static const auto send = find<decltype(&PMPI_Send)>("PMPI_Send");
    for (int round = 0; round < clock_rounds; ++round) {
        int64_t now = 0;
        if (recv(&now, sizeof now, predefined().byte, child, clock_tag, helpers.leaders, MPI_STATUS_IGNORE) !=
            MPI_SUCCESS)
            return false;
        now = static_cast<int64_t>(os::now_ns());
        send(&now, sizeof now, predefined().byte, child, clock_tag, helpers.leaders);
    }
    return send(&own_offset, sizeof own_offset, predefined().byte, child, clock_tag, helpers.leaders) ==
           MPI_SUCCESS;
}

// Distance from rank 0: that from the parent, by the fastest of several round trips, and the parent's own.
bool ask(int parent, int64_t& offset) noexcept {
    static const auto recv = find<decltype(&PMPI_Recv)>("PMPI_Recv");
    static const auto send = find<decltype(&PMPI_Send)>("PMPI_Send");
    int64_t best = INT64_MAX;
    int64_t there = 0;
    for (int round = 0; round < clock_rounds; ++round) {
        const auto before = static_cast<int64_t>(os::now_ns());
        send(&before, sizeof before, predefined().byte, parent, clock_tag, helpers.leaders);
        if (recv(&there, sizeof there, predefined().byte, parent, clock_tag, helpers.leaders,
                 MPI_STATUS_IGNORE) != MPI_SUCCESS)
            return false;
        const auto after = static_cast<int64_t>(os::now_ns());
        if (after - before >= best) continue;
        best = after - before;
        offset = there - (before + (after - before) / 2);
    }
    if (recv(&there, sizeof there, predefined().byte, parent, clock_tag, helpers.leaders,
             MPI_STATUS_IGNORE) != MPI_SUCCESS)
        return false;
    offset += there;
    return true;
}

void measure_clock() noexcept {
    static const auto comm_rank = find<decltype(&PMPI_Comm_rank)>("PMPI_Comm_rank");
    static const auto comm_size = find<decltype(&PMPI_Comm_size)>("PMPI_Comm_size");
    static const auto bcast = find<decltype(&PMPI_Bcast)>("PMPI_Bcast");
    int64_t offset = 0;
    if (helpers.is_leader) {
        int self = 0;
        int size = 0;
        comm_rank(helpers.leaders, &self);
        comm_size(helpers.leaders, &size);
        if (self != 0 && !ask((self - 1) / 2, offset)) return;
        for (int child = 2 * self + 1; child <= 2 * self + 2 && child < size; ++child) answer(child, offset);
    }
    if (bcast(&offset, sizeof offset, predefined().byte, 0, helpers.node) == MPI_SUCCESS)
        recording.file().set_offset(offset);
}

void print_profile() noexcept {
    static const auto reduce = find<decltype(&PMPI_Reduce)>("PMPI_Reduce");
    static const auto comm_rank = find<decltype(&PMPI_Comm_rank)>("PMPI_Comm_rank");
    static const auto comm_size = find<decltype(&PMPI_Comm_size)>("PMPI_Comm_size");
    struct Both {
        ProfileSums sums, all_sums;
        ProfileMaxima maxima, all_maxima;
    };
    const std::unique_ptr<Both> both(new (std::nothrow) Both{});
    if (both == nullptr) return;
    recording.fill(both->sums, both->maxima);
    int rank = 0;
    int ranks = 0;
    comm_rank(helpers.all, &rank);
    comm_size(helpers.all, &ranks);
    const auto doubles = [](size_t bytes) { return static_cast<int>(bytes / sizeof(double)); };
    const bool done = reduce(&both->sums, &both->all_sums, doubles(sizeof(ProfileSums)), predefined().number,
                             predefined().sum, 0, helpers.all) == MPI_SUCCESS &&
                      reduce(&both->maxima, &both->all_maxima, doubles(sizeof(ProfileMaxima)),
                             predefined().number, predefined().max, 0, helpers.all) == MPI_SUCCESS;
    if (!done || rank != 0) return;
    const std::string text = profile_text(both->all_sums, both->all_maxima, static_cast<uint32_t>(ranks));
    std::fflush(stdout); // the output of the program comes first
    if (write(STDERR_FILENO, text.data(), text.size()) < 0) return;
}

void free_helpers() noexcept {
    static const auto comm_free = find<decltype(&PMPI_Comm_free)>("PMPI_Comm_free");
    if (helpers.is_leader) comm_free(&helpers.leaders);
    comm_free(&helpers.node);
    comm_free(&helpers.all);
    helpers = {};
}

} // namespace

void begin_recording() noexcept {
    static const auto initialized = find<decltype(&PMPI_Initialized)>("PMPI_Initialized");
    static const auto query_thread = find<decltype(&PMPI_Query_thread)>("PMPI_Query_thread");
    int world = 0;
    int level = MPI_THREAD_MULTIPLE; // of sessions
    initialized(&world);
    recording.begin();
    if (world != 0) query_thread(&level);
    if (recording.is_tracing() && recording.bytes_in_status() == SIZE_MAX)
        recording.set_bytes_in_status(find_bytes_in_status());
    recording.set_threads(level == MPI_THREAD_MULTIPLE);
    if (!recording.is_active() || world == 0 || helpers.valid) return;
    make_helpers();
    if (helpers.valid && recording.is_tracing()) measure_clock();
}

void end_recording() noexcept {
    if (helpers.valid && recording.is_active()) {
        if (recording.is_tracing()) measure_clock();
        if (recording.is_profiling()) print_profile();
        free_helpers();
    }
    recording.end();
}

void abandon_recording() noexcept { recording.end(); }

} // namespace zipmpi::trace
