// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/progress/wait.hpp"

#include "base/param.hpp"
#include "os/clock.hpp"
#include "proto/team.hpp"
#include "transport/bulk.hpp"

#include <algorithm>
#include <sched.h>

namespace zipmpi::proto {
namespace {

Param<int64_t> spins{"wait.spins",
                     3000,
                     {0, 1000000000},
                     Unit::none,
                     Level::tuner,
                     Scope::local,
                     "most rounds of looking for work before the CPU is offered to others; few or none when "
                     "ranks outnumber CPUs"};
Param<int64_t> network_spins{
    "net.spins",
    1000,
    {0, 1000000000},
    Unit::none,
    Level::tuner,
    Scope::local,
    "the same in a job on several hosts, where a round may be a system call: most rounds of looking"};
Param<int64_t> yields{"wait.yields",
                      4,
                      {0, 1000000000},
                      Unit::none,
                      Level::tuner,
                      Scope::local,
                      "times the CPU is offered to others before the rank goes to sleep"};

Param<int64_t> network_yields{
    "net.yields",
    1000,
    {0, 1000000000},
    Unit::none,
    Level::tuner,
    Scope::local,
    "the same in a job on several hosts, where a sleep takes several system calls to begin and to end"};

// A sleep ends by itself after this time and looks again: a safety net, counted when it caught something.
constexpr int64_t longest_sleep_ns = 1'000'000'000;

// Who wakes may lose its CPU between its store and the wake-up: so long is waited for it before a sleep
// counts as one that nobody has ended.
constexpr uint64_t patience_with_wakers_ns = 1'000'000'000;

// A rank never spins shorter than this: about what it costs to sleep and be woken.
constexpr int64_t least_spins = 64;

// Where ranks outnumber CPUs but most of them sleep: a wait that does not end soon is likely to be for a
// sleeper.
constexpr int64_t short_spins = 300;

// So many rounds look again at once: a pause is as long as a good part of a short message's way.
constexpr int64_t eager_rounds = 50;

// After so many looks in vain others get the CPU: looking takes then about as long as changing over.
constexpr uint32_t vain_looks_per_turn = 16;

constexpr auto relaxed = std::memory_order_relaxed;

// A message of a collective that is waited for as a request: its tag is the number of the collective.
uint32_t sequence_of(const Operation& op, uint32_t given) {
    const bool collective = (op.context & 1U) != 0 && (op.context & partitioned_context) == 0;
    return given == 0 && collective ? static_cast<uint32_t>(op.tag) & collective_numbers : given;
}

void write_operation(WaitRecord& w, const Operation& op, uint32_t note_sequence) {
    const uint32_t sequence = sequence_of(op, note_sequence);
    const WaitKind kind = sequence != 0                      ? WaitKind::collective
                          : op.kind == Operation::Kind::send ? WaitKind::send
                          : op.kind == Operation::Kind::recv ? WaitKind::recv
                                                             : WaitKind::other;
    const bool nobody = kind == WaitKind::other || wire::is_foreign(op.world_peer);
    const bool wild = op.kind == Operation::Kind::recv && op.source == any_source;
    w.kind.store(static_cast<uint32_t>(kind), relaxed);
    w.peer.store(wild ? recorder_any : op.peer, relaxed);
    w.world_peer.store(wild ? recorder_any : nobody ? recorder_none : op.world_peer, relaxed);
    w.tag.store(sequence != 0 ? recorder_none : op.tag == any_tag ? recorder_any : op.tag, relaxed);
    // A communicator is named by its first context: the odd one carries its collectives.
    w.context.store(op.context & ~1U & ~partitioned_context, relaxed);
    w.sequence.store(sequence, relaxed);
    w.bytes.store(op.bytes, relaxed);
}

void write_stray(const Lane& lane, const Operation& recv, Recorder& r) {
    const Incoming* stray = lane.near_miss(recv);
    r.stray_context.store(stray != nullptr ? stray->envelope.context : 0, relaxed);
    if (stray == nullptr) return;
    r.stray_tag.store(stray->envelope.tag, relaxed);
    r.stray_from.store(stray->from, relaxed);
}

void write_note(const Lane& lane, const WaitNote& note, Recorder& r) {
    uint32_t pending = 0;
    r.stray_context.store(0, relaxed);
    for (uint32_t i = 0; i < note.count; ++i) {
        const Operation* op = note.at(note.subject, i);
        if (op == nullptr || op->done()) continue;
        if (pending < recorder_waits) write_operation(r.waits[pending], *op, note.sequence);
        if (pending == 0 && op->kind == Operation::Kind::recv && note.sequence == 0)
            write_stray(lane, *op, r);
        ++pending;
    }
    r.wait_count.store(pending, relaxed);
}

int64_t spins_now(Lane& lane) {
    const int64_t most = lane.network() != nullptr ? std::min(network_spins.get(), spins.get()) : spins.get();
    const int64_t learned = std::min<int64_t>(lane.spin_limit(), most);
    if (!lane.oversubscribed()) return learned;
    return lane.few_awake() ? std::min(learned, short_spins) : 0;
}

int64_t yields_now(Lane& lane) {
    return lane.network() != nullptr ? std::max(network_yields.get(), yields.get()) : yields.get();
}

// Looks before a rank sleeps while long messages are passing.
constexpr int64_t yields_in_bulk = 1;

int64_t yields_for(Lane& lane, const WaitNote& note, bool bulk_passes) {
    if (bulk_passes) return yields_in_bulk;
    return note.in_a_row && lane.network() == nullptr && lane.oversubscribed() ? 0 : yields_now(lane);
}

// With a network one thread at a time sleeps on descriptors. When it gets up, others may have to take over.
// The rank's own last look may have ended the wait though it counted nothing, and so may a network that is
// armed, which sends what it owes: then nobody would wake it.
bool sleep_now(Lane& lane, uint32_t ticket, const Condition& over) {
    transport::ucx::Network* const network = lane.network();
    const bool on_descriptors = network != nullptr && lane.take_descriptors();
    bool woken = true;
    const bool armed = !on_descriptors || network->arm();
    if (armed && !over.holds(over.subject)) {
        lane.step_out();
        woken = on_descriptors
                    ? lane.shm().sleep_on_descriptors(ticket, network->descriptor(), longest_sleep_ns)
                    : lane.shm().sleep(ticket, longest_sleep_ns);
        lane.step_in();
    }
    if (on_descriptors) {
        lane.give_back_descriptors();
        lane.shm().hand_over_descriptors();
    }
    return woken;
}

// After a sleep that ended by its time limit: what it was for is there, or something else from this node. The
// network is left alone: what it brings may come just now, and says so by its descriptor. What this process
// wakes itself for meanwhile is added to the ticket: it is no wake-up by somebody else.
bool was_missed(Lane& lane, const WaitNote& note, const Condition& over, uint32_t& ticket) {
    if (lane.shm().own_block().wake.load(std::memory_order_seq_cst) != ticket) return false;
    const uint32_t own = lane.shm().own_wakes();
    const int happened = lane.progress_in_node() + lane.look_for_news();
    const bool missed =
        over.holds(over.subject) || (note.last_look != nullptr && note.last_look(note.waiter));
    ticket += lane.shm().own_wakes() - own;
    lane.look_at_network_too();
    return missed || (lane.network() == nullptr && happened > 0);
}

void look_for_waker(Lane& lane, uint32_t ticket) {
    lane.step_out();
    const bool missing = no_wake_comes(lane, ticket);
    lane.step_in();
    if (missing) lane.counters().add(Counter::late_wakes);
}

void sleep_once(Lane& lane, const WaitNote& note, const Condition& over) {
    auto& shm = lane.shm();
    Recorder& r = lane.recorder();
    uint32_t ticket = shm.arm();
    if (lane.progress_all() == 0 && lane.look_for_news() == 0 &&
        (note.last_look == nullptr || !note.last_look(note.waiter))) {
        write_note(lane, note, r);
        r.asleep_since_ns.store(os::now_ns(), relaxed);
        r.asleep.store(1, std::memory_order_release); // pairs with the launcher's acquire: waits[] is written
        lane.counters().add(Counter::sleeps);
        const bool woken = sleep_now(lane, ticket, over);
        r.asleep.store(0, relaxed);
        if (!woken && was_missed(lane, note, over, ticket)) look_for_waker(lane, ticket);
    }
    shm.disarm();
}

} // namespace

bool no_wake_comes(Lane& lane, uint32_t ticket) {
    const std::atomic<uint32_t>& wake = lane.shm().own_block().wake;
    const uint64_t until = os::now_ns() + patience_with_wakers_ns;
    while (wake.load(std::memory_order_seq_cst) == ticket) {
        if (os::now_ns() > until) return true;
        sched_yield();
    }
    return false;
}

// What arrives while we offer the CPU to others was made by a peer that shares it: the kernel may put two
// ranks on one CPU although there are enough, and spinning only keeps the peer from running. What arrives
// before or after that was made elsewhere, so the limit recovers.
void learn_from(Lane& lane, uint32_t rounds) {
    const int64_t most = spins.get();
    const int64_t limit = spins_now(lane);
    if (limit == 0) return;
    int64_t next = limit;
    if (rounds <= limit)
        next = limit * 2;
    else if (rounds <= limit + yields_now(lane))
        next = limit / 2;
    else
        next = limit + limit / 4;
    lane.set_spin_limit(static_cast<uint32_t>(std::clamp(next, std::min(least_spins, most), most)));
}

void wait_round(Lane& lane, uint32_t& rounds, const WaitNote& note, const Condition& over) {
    const bool soon = transport::bulk_passes.load(relaxed);
    const int64_t spin_rounds = soon ? 0 : spins_now(lane);
    ++rounds;
    if (rounds <= spin_rounds) {
        lane.shm().warm_cells();
        if (lane.multithreaded()) { // another thread may want in
            lane.step_out();
            os::cpu_relax();
            lane.step_in();
        } else if (rounds > eager_rounds) {
            os::cpu_relax();
        }
    } else if (rounds <= spin_rounds + yields_for(lane, note, soon)) {
        lane.look_for_news();
        lane.step_out();
        sched_yield();
        lane.step_in();
        lane.look_at_network_too(); // others have run in between: a round is long now
    } else {
        sleep_once(lane, note, over);
    }
}

void poll_in_vain(Lane& lane) {
    lane.look_for_news();
    if (!lane.oversubscribed() || lane.note_vain_look() % vain_looks_per_turn != 0) return;
    lane.step_out();
    sched_yield();
    lane.step_in();
}

Err exchange(Lane& lane, Operation& recv, Operation& send, uint32_t collective_sequence) {
    const Operation* both[] = {&recv, &send};
    const WaitNote note{
        [](const void* subject, uint32_t i) { return static_cast<const Operation* const*>(subject)[i]; },
        both, 2, collective_sequence};
    lane.start_recv(recv);
    lane.start_send(send);
    const auto send_failed = [&] { return send.done() && send.error != Err::success; };
    wait_until(
        lane, [&] { return (recv.done() && send.done()) || send_failed(); }, note);
    if (!recv.done()) lane.give_up_recv(recv);
    return recv.error != Err::success ? recv.error : send.error;
}

} // namespace zipmpi::proto
