// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Blocking waits: spin, yield, then sleep until a peer sends a wakeup. The pending operations are written to
// the flight recorder only before a sleep, so fast calls pay nothing. A wait for a failed peer ends because
// the launcher ends the job or publishes a fault notification, which waiting ranks poll.
#pragma once

#include "os/clock.hpp"
#include "proto/p2p/progress_engine.hpp"

namespace zipmpi::proto {

// Describes a wait for reports: operation_at(subject, i) for i < count; null and completed ones are skipped.
struct WaitInfo {
    const Operation* (*operation_at)(const void* subject, uint32_t i) = nullptr;
    const void* subject = nullptr;
    uint32_t count = 0;
    uint32_t sequence = 0; // 1-based index of the collective on its communicator; 0: not a collective
    // For waits that end by a store instead of a message, called before a sleep: registers this rank with the
    // peer for a wakeup and checks the condition once more. Returns true if the rank must not sleep.
    bool (*final_check)(void* waiter) = nullptr;
    void* waiter = nullptr;
    // Ranks wake each other one after the other: when oversubscribed, a rank that yields instead of sleeping
    // delays the rank whose turn it is.
    bool serial_wakeup = false;
};

inline WaitInfo wait_info_of(const Operation& op, uint32_t collective_sequence = 0) {
    return {[](const void* subject, uint32_t) { return static_cast<const Operation*>(subject); }, &op, 1,
            collective_sequence};
}

// Type-erased predicate: whether the wait is over.
struct Condition {
    bool (*holds)(const void* subject) = nullptr;
    const void* subject = nullptr;
};

// Called after an idle poll: spins, yields or sleeps depending on `rounds`. Releases the lock meanwhile.
void wait_step(ProgressEngine& engine, uint32_t& rounds, const WaitInfo& info, const Condition& over);

// Called after a sleep with this ticket timed out although its condition holds; still armed. Returns true if
// no wakeup arrives within a grace period either. Must be called without the lock: it takes up to a second.
bool is_wakeup_missing(ProgressEngine& engine, uint32_t ticket);

// Called after an idle poll by a nonblocking call. Returns true if a request may have completed meanwhile.
bool poll_idle(ProgressEngine& engine);

// Called when an event arrives after `rounds` idle polls: adapts the number of spins of the next wait.
void adapt_spin(ProgressEngine& engine, uint32_t rounds);

// Progress for nonblocking calls that may be repeated in a loop, such as MPI_Test. When oversubscribed
// or with a network it yields after some idle polls, without the lock, so that the peers can run. Returns
// false if no request can have completed.
inline bool poll(ProgressEngine& engine) {
    if (engine.progress() == 0) return poll_idle(engine);
    engine.wait_tuning().reset_idle_polls();
    return true;
}

// Pause instructions between two polls in a stream of messages.
inline constexpr int pauses_in_stream = 4;

template <class Done>
void wait_until(ProgressEngine& engine, const Done& done, const WaitInfo& info) {
    uint32_t rounds = 0;
    while (!done()) {
        if (engine.progress() > 0) {
            if (rounds > 0) adapt_spin(engine, rounds);
            rounds = 0;
            // More is expected: polling again immediately would steal the cache line from the sender.
            if (!engine.wait_tuning().oversubscribed() && !done())
                for (int i = 0; i < pauses_in_stream; ++i) os::cpu_relax();
        } else if (!done()) {
            const Done over = done; // a copy, so that the original can stay in registers
            const auto holds = [](const void* d) { return (*static_cast<const Done*>(d))(); };
            wait_step(engine, rounds, info, {holds, &over});
        }
    }
}

inline void wait_for(ProgressEngine& engine, Operation& op, uint32_t collective_sequence = 0) {
    wait_until(
        engine, [&] { return op.done(); }, wait_info_of(op, collective_sequence));
}

// Starts a receive and a send and waits for both, so that two ranks can exchange data. If the send fails, the
// receive is abandoned: the peer's send may have failed as well.
Err exchange(ProgressEngine& engine, Operation& recv, Operation& send, uint32_t collective_sequence = 0);

} // namespace zipmpi::proto
