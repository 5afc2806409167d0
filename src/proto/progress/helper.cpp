// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/progress/helper.hpp"

#include "os/memory_checker.hpp"
#include "proto/p2p/lane.hpp"
#include "proto/progress/wait.hpp"

#include <algorithm>
#include <csignal>
#include <ctime>
#include <poll.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <utility>

namespace zipmpi::proto {
namespace {

// Nobody came for so long: the program computes.
constexpr int64_t absent_ns = 30'000;
// Between two looks at a program that goes in and out of MPI: longer and longer, while it does.
constexpr int64_t shortest_nap_ns = 100'000;
constexpr int64_t least_nap_ns = 50'000; // while that leaves something to do: not all calls make progress
constexpr int64_t longest_nap_ns = 2'000'000;
// At one that stays there, and wakes the helper when it leaves.
constexpr int64_t longest_park_ns = 100'000'000;
constexpr int64_t longest_sleep_ns = 1'000'000'000;
// Looks in vain before it sleeps: what has been asked for once is often asked for again.
constexpr int looks_before_sleep = 20;

// As the kernel has it; the headers of some systems define it twice, others not at all.
struct SchedulingAttributes {
    uint32_t size;
    uint32_t policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime; // of SCHED_OTHER: the slice
    uint64_t deadline;
    uint64_t period;
};

// Whoever asks waits for an answer, and that takes microseconds: where the kernel lets a thread say so, it is
// served in short slices but at once.
void take_short_slices() {
    constexpr uint64_t slice_ns = 100'000;
    SchedulingAttributes attributes{};
    if (syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) != 0 ||
        attributes.policy != SCHED_OTHER)
        return;
    attributes.runtime = slice_ns;
    syscall(SYS_sched_setattr, 0, &attributes, 0);
}

void nap(int64_t ns) {
    const timespec time{0, ns};
    nanosleep(&time, nullptr);
}

bool add(int set, int descriptor) {
    epoll_event event{};
    event.events = EPOLLIN;
    return epoll_ctl(set, EPOLL_CTL_ADD, descriptor, &event) == 0;
}

} // namespace

bool Helper::start() {
    descriptors_ = os::Fd(epoll_create1(EPOLL_CLOEXEC));
    event_ = os::Fd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!descriptors_ || !event_ || !add(descriptors_.get(), event_.get())) return false;
    if (lane_.network() != nullptr && !add(descriptors_.get(), lane_.network()->descriptor())) return false;
    if (lane_.network() == nullptr && !lane_.shm().hear_a_bell()) return false;
    // Signals are for threads of the program.
    sigset_t all{};
    sigset_t before{};
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    runs_ = pthread_create(
                &thread_, nullptr,
                [](void* helper) -> void* {
                    os::quiet_memory_sanitizer();
                    static_cast<Helper*>(helper)->run();
                    return nullptr;
                },
                this) == 0;
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return runs_;
}

Helper::~Helper() {
    if (!runs_) return;
    over_.store(true, std::memory_order_release);
    const uint64_t one = 1;
    static_cast<void>(!write(event_.get(), &one, sizeof one)); // an event that is there already does as well
    lane_.hand_over().wake();
    pthread_join(thread_, nullptr);
}

void Helper::run() {
    prctl(PR_SET_NAME, "zipmpi helper");
    prctl(PR_SET_TIMERSLACK, 1UL);
    take_short_slices();
    HandOver& hand_over = lane_.hand_over();
    uint32_t seen = hand_over.entries();
    int64_t nap_ns = shortest_nap_ns;
    while (!is_over()) {
        hand_over.park();
        bool found = false;
        if (lane_.try_to_help()) {
            found = lane_.progress_all() > 0;
            lane_.stop_helping();
            if (nobody_comes()) {
                hand_over.unpark();
                watch();
                nap_ns = shortest_nap_ns;
                continue;
            }
        }
        const uint32_t now = hand_over.entries();
        if (std::exchange(seen, now) == now) {
            if (!is_over()) hand_over.sleep(longest_park_ns);
        } else {
            hand_over.unpark(); // many short calls need not look after it
            nap_ns = found ? least_nap_ns : std::min(2 * nap_ns, longest_nap_ns);
            nap(nap_ns);
        }
    }
}

bool Helper::nobody_comes() {
    const uint32_t before = lane_.hand_over().entries();
    nap(absent_ns);
    return lane_.hand_over().entries() == before && !is_over();
}

void Helper::watch() {
    const uint32_t before = lane_.hand_over().entries();
    int vain = 0;
    while (!is_over() && lane_.hand_over().entries() == before) {
        bool listens = false;
        uint32_t ticket = 0;
        const int patience = lane_.oversubscribed() ? 1 : looks_before_sleep;
        const Look found = look(vain + 1 >= patience, listens, ticket);
        if (found == Look::refused) return;
        vain = found == Look::busy ? 0 : vain + 1;
        if (vain < patience) continue;
        if (listens)
            sleep_and_listen(ticket, before);
        else
            sleep_deaf();
        vain = 0;
    }
}

// Makes progress. Before a sleep it sees to it that it will be woken: by the network, and by ranks of this
// node if anything is expected from them.
Helper::Look Helper::look(bool sleeps_next, bool& listens, uint32_t& ticket) {
    if (!lane_.try_to_help()) return Look::refused;
    int happened = lane_.progress_all();
    transport::ucx::Network* const network = lane_.network();
    if (sleeps_next && happened == 0) {
        listens = network == nullptr || lane_.watches();
        if (listens) {
            ticket = lane_.shm().arm();
            happened = lane_.progress_all();
        }
        if (happened == 0 && network != nullptr && !network->arm()) happened = 1;
        if (happened != 0 && listens) lane_.shm().disarm();
        if (happened == 0 && !listens) lane_.hand_over().set_deaf(event_.get());
    }
    lane_.stop_helping();
    return happened != 0 ? Look::busy : Look::quiet;
}

// What the program has left behind since the helper looked needs no wake-up from elsewhere.
void Helper::sleep_and_listen(uint32_t ticket, uint32_t entries) {
    bool missed = false;
    if (!lane_.shm().sleep_on_descriptors(ticket, descriptors_.get(), longest_sleep_ns) &&
        lane_.try_to_help()) {
        const uint32_t own = lane_.shm().own_wakes();
        const bool found = lane_.progress_all() > 0;
        ticket += lane_.shm().own_wakes() - own;
        missed = found && lane_.network() == nullptr && lane_.hand_over().entries() == entries;
        lane_.stop_helping();
    }
    if (missed && no_wake_comes(lane_, ticket)) lane_.counters().add(Counter::late_wakes);
    lane_.shm().disarm();
}

// Only the network can wake it, and rouse().
void Helper::sleep_deaf() {
    pollfd one{descriptors_.get(), POLLIN, 0};
    const timespec limit{longest_sleep_ns / 1'000'000'000, longest_sleep_ns % 1'000'000'000};
    ppoll(&one, 1, &limit, nullptr);
    lane_.hand_over().set_deaf(-1);
    uint64_t events = 0;
    static_cast<void>(!read(event_.get(), &events, sizeof events)); // none is fine
}

} // namespace zipmpi::proto
