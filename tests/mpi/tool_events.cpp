// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// usage: tool_events [fault]
// Events of the tool interface: each type is raised by what it describes, with the right elements, and not
// after its registration has ended. With two ranks or more. fault: rank 1 fails (mpiexec --keep-going).
#include "check.hpp"

#include <csignal>
#include <map>
#include <string>
#include <unistd.h>

namespace {

constexpr int tag = 9;
constexpr int large = 1 << 20;
bool on_one_host_ = true;

struct Log {
    std::vector<std::vector<MPI_Count>> events;
    MPI_Count last_time = 0;
    int refused = 0; // calls in callbacks that are not permitted there
};

// Reads the event in both ways.
void on_event(MPI_T_event_instance instance, MPI_T_event_registration, MPI_T_cb_safety safety, void* data) {
    Log& log = *static_cast<Log*>(data);
    MPI_Count all[8] = {};
    MPI_Count one = 0;
    MPI_Count time = 0;
    int source = -1;
    int n = 0;
    CHECK(safety == MPI_T_CB_REQUIRE_MPI_RESTRICTED || safety == MPI_T_CB_REQUIRE_THREAD_SAFE);
    CHECK(MPI_T_event_copy(instance, all) == MPI_SUCCESS);
    std::vector<MPI_Count> elements;
    while (MPI_T_event_read(instance, static_cast<int>(elements.size()), &one) == MPI_SUCCESS) {
        CHECK(one == all[elements.size()]);
        elements.push_back(one);
    }
    CHECK(MPI_T_event_get_timestamp(instance, &time) == MPI_SUCCESS && time >= log.last_time);
    CHECK(MPI_T_event_get_source(instance, &source) == MPI_SUCCESS && source == 0);
    if (MPI_T_pvar_get_num(&n) == MPI_T_ERR_NOT_ACCESSIBLE) ++log.refused;
    log.last_time = time;
    log.events.push_back(elements);
}

struct Listener {
    Log log;
    MPI_T_event_registration registration{};
    explicit Listener(const char* name, MPI_T_cb_safety safety = MPI_T_CB_REQUIRE_THREAD_SAFE) {
        int index = -1;
        CHECK(MPI_T_event_get_index(name, &index) == MPI_SUCCESS);
        CHECK(MPI_T_event_handle_alloc(index, nullptr, MPI_INFO_NULL, &registration) == MPI_SUCCESS);
        CHECK(MPI_T_event_register_callback(registration, safety, MPI_INFO_NULL, &log, on_event) ==
              MPI_SUCCESS);
    }
    ~Listener() { CHECK(MPI_T_event_handle_free(registration, nullptr, nullptr) == MPI_SUCCESS); }
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;
    [[nodiscard]] size_t count(const std::vector<MPI_Count>& wanted) const {
        size_t n = 0;
        for (const auto& e : log.events)
            n += std::equal(wanted.begin(), wanted.end(), e.begin(),
                            e.begin() + std::min(wanted.size(), e.size()))
                     ? 1
                     : 0;
        return n;
    }
};

void descriptions() {
    int n = 0;
    CHECK(MPI_T_event_get_num(&n) == MPI_SUCCESS && n >= 8);
    for (int i = 0; i < n; ++i) {
        char name[64];
        int name_length = sizeof name;
        char help[256];
        int help_length = sizeof help;
        int elements = 8;
        int bind = -1;
        MPI_Datatype types[8];
        MPI_Aint displacements[8];
        CHECK(MPI_T_event_get_info(i, name, &name_length, nullptr, types, displacements, &elements, nullptr,
                                   nullptr, help, &help_length, &bind) == MPI_SUCCESS);
        CHECK(std::strchr(name, '.') != nullptr && help_length > 10 && bind == MPI_T_BIND_NO_OBJECT);
        CHECK(elements >= 1 && elements <= 3 && types[0] == MPI_COUNT);
        CHECK(displacements[elements - 1] == static_cast<MPI_Aint>((elements - 1) * sizeof(MPI_Count)));
        int found = -1;
        CHECK(MPI_T_event_get_index(name, &found) == MPI_SUCCESS && found == i);
    }
}

// A message of this rank to itself arrives before its receive.
void unexpected() {
    int x = 7;
    int y = 0;
    {
        const Listener arrived("p2p.unexpected_message");
        const Listener matched("p2p.unexpected_match", MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE);
        MPI_Send(&x, 1, MPI_INT, 0, tag, MPI_COMM_SELF);
        CHECK(arrived.log.events.size() == 1 && arrived.count({0, tag, 4}) == 1 && arrived.log.refused == 1);
        CHECK(matched.log.events.empty());
        MPI_Recv(&y, 1, MPI_INT, 0, tag, MPI_COMM_SELF, MPI_STATUS_IGNORE);
        CHECK(y == 7 && matched.log.events.size() == 1 && matched.count({0, tag, 4}) == 1);
    }
    MPI_Send(&x, 1, MPI_INT, 0, tag, MPI_COMM_SELF); // no callback is registered
    MPI_Recv(&y, 1, MPI_INT, 0, tag, MPI_COMM_SELF, MPI_STATUS_IGNORE);
}

MPI_Count dropped = 0;
void on_dropped(MPI_Count count, MPI_T_event_registration, int, MPI_T_cb_safety, void*) { dropped += count; }

// A callback that may call MPI cannot be called inside of it.
void weak_callback() {
    int x = 0;
    {
        const Listener arrived("p2p.unexpected_message", MPI_T_CB_REQUIRE_NONE);
        CHECK(MPI_T_event_set_dropped_handler(arrived.registration, on_dropped) == MPI_SUCCESS);
        for (int i = 0; i < 2; ++i) {
            MPI_Send(&x, 1, MPI_INT, 0, tag, MPI_COMM_SELF);
            MPI_Recv(&x, 1, MPI_INT, 0, tag, MPI_COMM_SELF, MPI_STATUS_IGNORE);
        }
        CHECK(arrived.log.events.empty());
    }
    CHECK(dropped == 2);
}

bool freed = false;
void on_free(MPI_T_event_registration, MPI_T_cb_safety, void* data) { *static_cast<bool*>(data) = true; }

void free_callback() {
    MPI_T_event_registration registration{};
    CHECK(MPI_T_event_handle_alloc(0, nullptr, MPI_INFO_NULL, &registration) == MPI_SUCCESS);
    CHECK(MPI_T_event_handle_free(registration, &freed, on_free) == MPI_SUCCESS && freed);
    CHECK(MPI_T_event_handle_free(registration, nullptr, nullptr) == MPI_T_ERR_INVALID_HANDLE);
}

// Rank 0 sends a long message to rank 1, which waits for it.
void long_message() {
    std::vector<char> data(large);
    const Listener start("p2p.rendezvous_start");
    const Listener copy("p2p.rendezvous_copy");
    const Listener sleep("wait.sleep");
    const Listener wakeup("wait.wakeup");
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_ == 0) {
        usleep(200'000); // rank 1 falls asleep
        MPI_Send(data.data(), large, MPI_CHAR, 1, tag, MPI_COMM_WORLD);
        CHECK(start.count({1, tag, large}) == 1);
    } else if (rank_ == 1) {
        MPI_Recv(data.data(), large, MPI_CHAR, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(copy.count({0, large}) == 1);
        CHECK(copy.log.events.back()[2] >= 0 && copy.log.events.back()[2] <= 4);
        CHECK(!sleep.log.events.empty() && !wakeup.log.events.empty());
        MPI_Count longest = 0;
        for (const auto& e : wakeup.log.events) longest = std::max(longest, e[0]);
        CHECK(longest > 1'000'000);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

// More messages than the ring of a receiver holds that does not receive.
void queued_sends() {
    constexpr int many = 2000;
    std::vector<MPI_Request> requests(many);
    int x = 0;
    const Listener queued("p2p.send_queued");
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_ == 0) {
        for (MPI_Request& r : requests) MPI_Isend(&x, 1, MPI_INT, 1, tag, MPI_COMM_WORLD, &r);
        if (on_one_host_) CHECK(queued.count({1, tag, 4}) > 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_ == 0) MPI_Waitall(many, requests.data(), MPI_STATUSES_IGNORE);
    for (int i = 0; i < many && rank_ == 1; ++i)
        MPI_Recv(&x, 1, MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

void failed_rank() {
    const Listener failed("fault.rank_failed");
    const Listener revoked("fault.comm_revoked");
    int x = 0;
    if (rank_ == 1) raise(SIGKILL);
    CHECK(MPI_Recv(&x, 1, MPI_INT, 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE) != MPI_SUCCESS);
    CHECK(failed.log.events.size() == 1 && failed.count({1}) == 1);
    MPIX_Comm_revoke(MPI_COMM_WORLD);
    CHECK(revoked.log.events.size() == 1);
}

} // namespace

int main(int argc, char** argv) {
    MPI_T_init_thread(MPI_THREAD_SINGLE, nullptr);
    // Registered before MPI_Init.
    int index = -1;
    MPI_T_event_registration registration{};
    Log first;
    MPI_T_event_get_index("p2p.first_message", &index);
    MPI_T_event_handle_alloc(index, nullptr, MPI_INFO_NULL, &registration);
    MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_THREAD_SAFE, MPI_INFO_NULL, &first,
                                  on_event);
    const Session session(&argc, &argv);
    if (argc > 1) {
        failed_rank();
        session.end("tool_events");
        return 0;
    }
    descriptions();
    unexpected();
    weak_callback();
    free_callback();
    if (size_ > 1) {
        on_one_host_ = on_one_host();
        long_message();
        queued_sends();
        if (rank_ == 0) {
            size_t to_rank_1 = 0;
            for (const auto& e : first.events) to_rank_1 += e[0] == 1 ? 1 : 0;
            CHECK(to_rank_1 == 1);
        }
    }
    session.end("tool_events");
    MPI_T_finalize();
    return 0;
}
