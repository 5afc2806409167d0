// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// An application thread enters and leaves MPI while the progress thread parks and sleeps (ProgressHandoff):
// after the last exit the progress thread takes over. Between two short calls the wakeup may be omitted,
// because the progress thread naps; a nap ends by itself, a long sleep does not.
#include "proto/progress/handoff.hpp"
#include "schedules.hpp"

using namespace zipmpi;

namespace {

struct Process {
    proto::ProgressHandoff handoff;
    std::atomic<uint32_t> inside{0}; // application threads in MPI; in the library the lock of the engine
    [[nodiscard]] bool has_thread_inside() const { return inside.load(std::memory_order_seq_cst) != 0; }
};

// far_past: wakeups are never omitted. recent: they are, where possible. Independent of the clock, so that
// schedules can be repeated.
enum class LastWakeup : uint8_t { far_past, recent };

void application(Process& p, uint32_t calls, LastWakeup last) {
    for (uint32_t i = 0; i < calls; ++i) {
        p.inside.store(1, std::memory_order_seq_cst);
        p.handoff.count_entry();
        p.inside.store(0, std::memory_order_seq_cst);
        p.handoff.last_wake_ns_.store(last == LastWakeup::recent ? INT64_MAX / 2 : 0,
                                      std::memory_order_relaxed);
        p.handoff.on_leave(false);
    }
}

// As ProgressThread::drive_progress(), which ends with the next entry. Returns true after the last call.
bool drive(Process& p, uint32_t calls) {
    const uint32_t before = p.handoff.entries();
    if (before == calls) return !p.has_thread_inside();
    explore::wait_until([&p, before] { return p.handoff.entries() != before; });
    return false;
}

// As ProgressThread::run().
void progress(Process& p, uint32_t calls) {
    uint32_t seen = p.handoff.entries();
    for (;;) {
        p.handoff.park();
        if (!p.has_thread_inside()) {
            p.handoff.unpark();
            if (drive(p, calls)) return;
            continue;
        }
        const uint32_t now = p.handoff.entries();
        if (std::exchange(seen, now) == now)
            p.handoff.sleep(1, now, [&p] { return p.has_thread_inside(); });
        else
            p.handoff.unpark(); // a nap
    }
}

} // namespace

int main() {
    for (const LastWakeup last : {LastWakeup::far_past, LastWakeup::recent})
        for (const uint32_t calls : {1U, 2U, 3U}) {
            const auto make = [last, calls] {
                const auto p = std::make_shared<Process>();
                explore::Threads threads;
                threads.emplace_back([p, calls, last] { application(*p, calls, last); });
                threads.emplace_back([p, calls] { progress(*p, calls); });
                return threads;
            };
            if (explore::report("handoff", explore::explore({3, 1, 0}, make)) != 0) return 1;
        }
    return 0;
}
