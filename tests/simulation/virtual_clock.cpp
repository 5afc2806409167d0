// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "virtual_clock.hpp"

#include <ctime>
#include <sys/timerfd.h>

namespace zipmpi::simulation::virtual_clock {
namespace {

uint64_t now_ns = second;
uint64_t timer_ns = 0;
bool timer_was_set = false;

} // namespace

uint64_t now() { return now_ns; }
void set(uint64_t ns) { now_ns = ns; }
void clear_timer() { timer_was_set = false; }

bool read_timer(uint64_t& due) {
    if (timer_was_set) due = timer_ns == 0 ? never : timer_ns;
    return timer_was_set;
}

static void set_timer(const itimerspec& when) {
    timer_ns =
        static_cast<uint64_t>(when.it_value.tv_sec) * second + static_cast<uint64_t>(when.it_value.tv_nsec);
    timer_was_set = true;
}

} // namespace zipmpi::simulation::virtual_clock

using namespace zipmpi::simulation;

extern "C" int clock_gettime(clockid_t /*clock*/, timespec* t) noexcept {
    t->tv_sec = static_cast<time_t>(virtual_clock::now() / second);
    t->tv_nsec = static_cast<long>(virtual_clock::now() % second);
    return 0;
}

extern "C" int timerfd_settime(int /*fd*/, int /*flags*/, const itimerspec* when,
                               itimerspec* /*old*/) noexcept {
    virtual_clock::set_timer(*when);
    return 0;
}
