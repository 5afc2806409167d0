// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "gateway/event_loop.hpp"

#include "bridge/gateway_settings.hpp"
#include "os/clock.hpp"

#include <csignal>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace zipmpi::gateway {
namespace {

int end_event = -1; // written on SIGTERM, in any thread

} // namespace

void serve(Forwarder& forwarder, GatewayLinks& links, int launcher) {
    const os::Fd epoll(epoll_create1(EPOLL_CLOEXEC));
    const auto watch = [&](int fd, uint64_t key, uint32_t events) {
        epoll_event e{};
        e.events = events;
        e.data.u64 = key;
        epoll_ctl(epoll.get(), EPOLL_CTL_ADD, fd, &e);
    };
    constexpr uint64_t shutdown_key = GatewayLinks::first_key - 1;
    constexpr uint64_t key_of_launcher = GatewayLinks::first_key - 2; // below: networks
    links.watch_on(epoll.get());
    uint64_t networks = 0;
    for (const int fd : forwarder.descriptors()) watch(fd, networks++, EPOLLIN);
    const os::Fd shutdown_event(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    watch(shutdown_event.get(), shutdown_key, EPOLLIN);
    end_event = shutdown_event.get();
    struct sigaction on_sigterm {};
    on_sigterm.sa_handler = [](int) {
        const uint64_t one = 1;
        static_cast<void>(!write(end_event, &one, sizeof one));
    };
    sigaction(SIGTERM, &on_sigterm, nullptr);
    watch(launcher, key_of_launcher, EPOLLRDHUP);
    uint64_t last_ns = os::now_ns();
    for (;;) {
        const bool spins =
            bridge::gateway_spin_ns() != 0 && os::now_ns() - last_ns < bridge::gateway_spin_ns();
        if (forwarder.progress(spins ? PollScope::all : PollScope::ready) != 0 &&
            bridge::gateway_spin_ns() != 0)
            last_ns = os::now_ns();
        links.flush();
        if (spins) continue;
        // arm() reports pending work, so another poll would be a wasted system call.
        const int again_ms = links.maintain();
        const int wait_ms = !forwarder.arm() ? 0 : again_ms < 0 ? 1000 : again_ms;
        epoll_event events[64];
        const int n = epoll_wait(epoll.get(), events, 64, wait_ms);
        for (int i = 0; i < n; ++i) {
            const uint64_t key = events[i].data.u64;
            if (links.owns(key))
                links.on_event(key, events[i].events);
            else if (key == shutdown_key || (key == key_of_launcher && (events[i].events & EPOLLIN) == 0))
                return; // terminated, or the launcher exited
            else if (key < networks)
                forwarder.set_ready(key);
        }
        for (uint64_t i = 0; n == 0 && i < networks; ++i)
            forwarder.set_ready(i); // in case an event was missed
    }
}

} // namespace zipmpi::gateway
