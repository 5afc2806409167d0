// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/progress/progress_thread.hpp"

#include "os/memory_checker.hpp"
#include "proto/p2p/progress_engine.hpp"
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

// Without an entry into MPI for this time the application is taken to compute.
constexpr int64_t compute_after_ns = 30'000;
// Nap between two polls while the application makes short MPI calls; doubles up to the maximum.
constexpr int64_t initial_nap_ns = 100'000;
constexpr int64_t busy_nap_ns = 50'000; // after a poll with events: not all MPI calls make progress
constexpr int64_t max_nap_ns = 2'000'000;
// Park time while a thread stays inside MPI; it wakes the progress thread when it leaves.
constexpr int64_t max_park_ns = 100'000'000;
constexpr int64_t max_sleep_ns = 1'000'000'000;
// Idle polls before a sleep: a request is often followed by another one.
constexpr int idle_polls_before_sleep = 20;

// struct sched_attr of the kernel; system headers define it inconsistently or not at all.
struct SchedulingAttributes {
    uint32_t size;
    uint32_t policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime; // with SCHED_OTHER: the time slice
    uint64_t deadline;
    uint64_t period;
};

// Remote ranks wait for the microseconds of work done here. With a short time slice, if the kernel supports
// it, the thread is scheduled sooner after a wakeup.
void request_short_slices() {
    constexpr uint64_t slice_ns = 100'000;
    SchedulingAttributes attributes{};
    if (syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) != 0 ||
        attributes.policy != SCHED_OTHER)
        return;
    attributes.runtime = slice_ns;
    syscall(SYS_sched_setattr, 0, &attributes, 0);
}

void sleep_for_ns(int64_t ns) {
    const timespec time{0, ns};
    nanosleep(&time, nullptr);
}

bool add_to_epoll(int set, int descriptor) {
    epoll_event event{};
    event.events = EPOLLIN;
    return epoll_ctl(set, EPOLL_CTL_ADD, descriptor, &event) == 0;
}

} // namespace

bool ProgressThread::start() {
    descriptors_ = os::Fd(epoll_create1(EPOLL_CLOEXEC));
    event_ = os::Fd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!descriptors_ || !event_ || !add_to_epoll(descriptors_.get(), event_.get())) return false;
    if (engine_.network() != nullptr && !add_to_epoll(descriptors_.get(), engine_.network()->descriptor()))
        return false;
    if (engine_.network() == nullptr && !engine_.shm().enable_socket_wakeup()) return false;
    // Signals are delivered to application threads only.
    sigset_t all{};
    sigset_t before{};
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    started_ = pthread_create(
                   &thread_, nullptr,
                   [](void* self) -> void* {
                       os::suppress_memory_sanitizer();
                       static_cast<ProgressThread*>(self)->run();
                       return nullptr;
                   },
                   this) == 0;
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return started_;
}

ProgressThread::~ProgressThread() {
    if (!started_) return;
    stop_.store(true, std::memory_order_release);
    const uint64_t one = 1;
    static_cast<void>(!write(event_.get(), &one, sizeof one)); // fails only if the event is signaled already
    engine_.engine_lock().handoff().wake();
    pthread_join(thread_, nullptr);
}

void ProgressThread::run() {
    prctl(PR_SET_NAME, "zipmpi progress");
    prctl(PR_SET_TIMERSLACK, 1UL);
    request_short_slices();
    ProgressHandoff& handoff = engine_.engine_lock().handoff();
    uint32_t seen = handoff.entries();
    int64_t nap_ns = initial_nap_ns;
    while (!should_stop()) {
        handoff.park();
        bool found = false;
        if (engine_.engine_lock().try_lock_idle()) {
            found = engine_.progress_all() > 0;
            engine_.engine_lock().unlock_idle();
            if (idle_long_enough()) {
                handoff.unpark();
                drive_progress();
                nap_ns = initial_nap_ns;
                continue;
            }
        }
        const uint32_t now = handoff.entries();
        if (std::exchange(seen, now) == now) {
            const auto is_inside = [this] {
                return !should_stop() && engine_.engine_lock().has_thread_inside();
            };
            handoff.sleep(max_park_ns, now, is_inside);
        } else {
            handoff.unpark(); // spares frequent short calls the wakeup
            nap_ns = found ? busy_nap_ns : std::min(2 * nap_ns, max_nap_ns);
            sleep_for_ns(nap_ns);
        }
    }
}

bool ProgressThread::idle_long_enough() {
    const uint32_t before = engine_.engine_lock().handoff().entries();
    sleep_for_ns(compute_after_ns);
    return engine_.engine_lock().handoff().entries() == before && !should_stop();
}

void ProgressThread::drive_progress() {
    const uint32_t before = engine_.engine_lock().handoff().entries();
    int idle_polls = 0;
    while (!should_stop() && engine_.engine_lock().handoff().entries() == before) {
        bool shm_armed = false;
        uint32_t ticket = 0;
        const int poll_limit = engine_.wait_tuning().oversubscribed() ? 1 : idle_polls_before_sleep;
        const PollResult found = poll_once(idle_polls + 1 >= poll_limit, shm_armed, ticket);
        if (found == PollResult::refused) return;
        idle_polls = found == PollResult::busy ? 0 : idle_polls + 1;
        if (idle_polls < poll_limit) continue;
        if (shm_armed)
            sleep_on_shm_and_network(ticket, before);
        else
            sleep_on_network();
        idle_polls = 0;
    }
}

// Makes progress. Before a sleep, arms the wakeup by the network and, if hooks are installed or there is no
// network, the wakeup by ranks of this node.
ProgressThread::PollResult ProgressThread::poll_once(bool sleeps_next, bool& shm_armed, uint32_t& ticket) {
    if (!engine_.engine_lock().try_lock_idle()) return PollResult::refused;
    int happened = engine_.progress_all();
    transport::Network* const network = engine_.network();
    if (sleeps_next && happened == 0) {
        shm_armed = network == nullptr || engine_.hooks().has_hooks();
        if (shm_armed) {
            ticket = engine_.shm().arm();
            happened = engine_.progress_all();
        }
        if (happened == 0 && network != nullptr && !network->arm()) happened = 1;
        if (happened != 0 && shm_armed) engine_.shm().disarm();
        if (happened == 0 && !shm_armed) engine_.engine_lock().handoff().arm_event(event_.get());
    }
    engine_.engine_lock().unlock_idle();
    return happened != 0 ? PollResult::busy : PollResult::idle;
}

// A wakeup counts as missed only if no application thread has entered MPI since.
void ProgressThread::sleep_on_shm_and_network(uint32_t ticket, uint32_t entries) {
    bool missed = false;
    if (!engine_.shm().sleep_on_descriptors(ticket, descriptors_.get(), max_sleep_ns) &&
        engine_.engine_lock().try_lock_idle()) {
        const uint32_t earlier_self_wakeups = engine_.shm().self_wakeups();
        const bool found = engine_.progress_all() > 0;
        ticket += engine_.shm().self_wakeups() - earlier_self_wakeups;
        missed =
            found && engine_.network() == nullptr && engine_.engine_lock().handoff().entries() == entries;
        engine_.engine_lock().unlock_idle();
    }
    if (missed && is_wakeup_missing(engine_, ticket)) engine_.counters().add(Counter::missed_wakeups);
    engine_.shm().disarm();
}

// Ends by a network event or ProgressHandoff::signal_event().
void ProgressThread::sleep_on_network() {
    pollfd one{descriptors_.get(), POLLIN, 0};
    const timespec limit{max_sleep_ns / 1'000'000'000, max_sleep_ns % 1'000'000'000};
    ppoll(&one, 1, &limit, nullptr);
    engine_.engine_lock().handoff().arm_event(-1);
    uint64_t events = 0;
    static_cast<void>(!read(event_.get(), &events, sizeof events)); // may be empty
}

} // namespace zipmpi::proto
