// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Waiting, politely: look a number of times, let others run a number of times, then sleep until a peer wakes
// us. What the rank waits for is written to the flight recorder when it goes to sleep, so a call that is fast
// pays nothing. What ends a wait whose peer is dead: the launcher, which ends the job, or tells all ranks;
// who waits looks for such news.
#pragma once

#include "os/clock.hpp"
#include "proto/p2p/lane.hpp"

namespace zipmpi::proto {

// What is waited for: operation i of a subject of any form; null and done ones are left out of the report.
struct WaitNote {
    const Operation* (*at)(const void* subject, uint32_t i) = nullptr;
    const void* subject = nullptr;
    uint32_t count = 0;
    uint32_t sequence = 0; // collectives: the how-manieth on the communicator; 0 = not a collective
    // If what is waited for is no message: called when the rank is about to sleep, tells the peer whom to
    // wake, and looks once more. True: no need to sleep.
    bool (*last_look)(void* waiter) = nullptr;
    void* waiter = nullptr;
    // Many wait in a row and each wakes the next: where ranks outnumber CPUs, one that offers its CPU instead
    // of sleeping only gets in the way of the one whose turn it is.
    bool in_a_row = false;
};

inline WaitNote note_on(const Operation& op, uint32_t collective_sequence = 0) {
    return {[](const void* subject, uint32_t) { return static_cast<const Operation*>(subject); }, &op, 1,
            collective_sequence};
}

// Whether the wait is over.
struct Condition {
    bool (*holds)(const void* subject) = nullptr;
    const void* subject = nullptr;
};

// One round without luck: spins, yields or sleeps, by how many rounds there were. Gives up the lock
// meanwhile.
void wait_round(Lane& lane, uint32_t& rounds, const WaitNote& note, const Condition& over);

// A sleep with this ticket has ended by its time limit although what it was for was there; still armed. True:
// nobody was just about to wake us, either, so a waker is missing. Without the lock: it takes a while.
bool no_wake_comes(Lane& lane, uint32_t ticket);

// A look that found nothing, by a caller that does not wait.
void poll_in_vain(Lane& lane);

// Something came after so many rounds: adjusts how long the next wait spins.
void learn_from(Lane& lane, uint32_t rounds);

// A look by a caller that does not wait but may look again and again. When ranks outnumber CPUs it lets
// others run now and then, and gives up the lock meanwhile: what it looks for can only come from them.
inline void poll(Lane& lane) {
    if (lane.progress() > 0)
        lane.note_luck();
    else
        poll_in_vain(lane);
}

// Between two looks at a stream of messages.
inline constexpr int pauses_in_stream = 4;

template <class Done>
void wait_until(Lane& lane, const Done& done, const WaitNote& note) {
    uint32_t rounds = 0;
    while (!done()) {
        if (lane.progress() > 0) {
            if (rounds > 0) learn_from(lane, rounds);
            rounds = 0;
            // Something came and more is wanted: looking again at once would take the cache lines from under
            // the hands of the sender.
            if (!lane.oversubscribed() && !done())
                for (int i = 0; i < pauses_in_stream; ++i) os::cpu_relax();
        } else if (!done()) {
            const Done over = done; // a copy: the address of the original would keep it out of registers
            const auto holds = [](const void* d) { return (*static_cast<const Done*>(d))(); };
            wait_round(lane, rounds, note, {holds, &over});
        }
    }
}

inline void wait_for(Lane& lane, Operation& op, uint32_t collective_sequence = 0) {
    wait_until(
        lane, [&] { return op.done(); }, note_on(op, collective_sequence));
}

// Starts a receive and a send and waits for both, so that two ranks may do it to each other. If the
// send fails the receive is given up: the peer's send may have failed as well.
Err exchange(Lane& lane, Operation& recv, Operation& send, uint32_t collective_sequence = 0);

} // namespace zipmpi::proto
