// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/progress/wait.hpp"

#include "base/param.hpp"
#include "os/clock.hpp"
#include "proto/team.hpp"

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
                     "polls before yielding; reduced automatically when oversubscribed"};
Param<int64_t> network_spins{
    "wait.net_spins",
    1000,
    {0, 1000000000},
    Unit::none,
    Level::tuner,
    Scope::local,
    "polls before yielding with a network, where a poll may be a system call; at most wait.spins"};
Param<int64_t> yields{"wait.yields",           4, {0, 1000000000}, Unit::none, Level::tuner, Scope::local,
                      "yields before sleeping"};

Param<int64_t> extra_yield_us{"wait.extra_yield_us",
                              200,
                              {0, 1000000000},
                              Unit::microseconds,
                              Level::tuner,
                              Scope::local,
                              "further yields before sleeping, if a node has more ranks than CPUs: at most "
                              "twice as many, or only as many awake as CPUs"};

Param<int64_t> own_cpu_yield_us{"wait.own_cpu_yield_us",
                                10'000,
                                {0, 1000000000},
                                Unit::microseconds,
                                Level::tuner,
                                Scope::local,
                                "further yields before sleeping, if a node has at most twice as many ranks "
                                "as CPUs, or only as many awake as CPUs, while no other process uses the "
                                "CPUs"};

Param<int64_t> network_yields{
    "wait.net_yields",
    1000,
    {0, 1000000000},
    Unit::none,
    Level::tuner,
    Scope::local,
    "yields before sleeping with a network, where a sleep takes several system calls; at least wait.yields"};

// Safety timeout of a sleep; Counter::missed_wakeups counts the wakeups it recovers.
constexpr int64_t max_sleep_ns = 1'000'000'000;

// A waker may be preempted between its store and the wakeup: grace period before a wakeup counts as missed.
constexpr uint64_t waker_grace_ns = 1'000'000'000;

// Lower bound of the adapted spins: about the cost of a sleep and a wakeup.
constexpr int64_t min_spins = 64;

// Spins when oversubscribed while at most as many ranks are awake as there are CPUs: a longer wait is likely
// to be for a sleeping rank.
constexpr int64_t short_spins = 300;

// Polls without a pause instruction in between: a pause takes much of a short message's latency.
constexpr int64_t polls_without_pause = 50;

// Idle polls of nonblocking calls per yield while the ranks that are awake have a CPU each: together they
// take about as long as a context switch. While they do not, each idle poll delays a rank that could run.
constexpr uint32_t idle_polls_per_yield = 16;

// Idle polls of nonblocking calls with a network before they yield although the node has a CPU for each rank:
// other nodes of the job, or other programs, may share its CPUs.
constexpr uint32_t idle_network_polls = 64;

constexpr auto relaxed = std::memory_order_relaxed;

// A collective that is waited for as a request is recognized by its context; its tag is the sequence number.
uint32_t sequence_of(const Operation& op, uint32_t given) {
    const bool collective = (op.context & 1U) != 0 && (op.context & partitioned_context) == 0;
    return given == 0 && collective ? static_cast<uint32_t>(op.tag) & collective_tag_mask : given;
}

void write_operation(WaitRecord& w, const Operation& op, uint32_t info_sequence) {
    const uint32_t sequence = sequence_of(op, info_sequence);
    const WaitKind kind = sequence != 0                      ? WaitKind::collective
                          : op.kind == Operation::Kind::send ? WaitKind::send
                          : op.kind == Operation::Kind::recv ? WaitKind::recv
                                                             : WaitKind::other;
    const bool no_peer = kind == WaitKind::other || wire::is_external(op.world_peer);
    const bool wild = op.kind == Operation::Kind::recv && op.source == any_source;
    w.kind.store(static_cast<uint32_t>(kind), relaxed);
    w.peer.store(wild ? recorder_any : op.peer, relaxed);
    w.world_peer.store(wild ? recorder_any : no_peer ? recorder_none : op.world_peer, relaxed);
    w.tag.store(sequence != 0 ? recorder_none : op.tag == any_tag ? recorder_any : op.tag, relaxed);
    // Reports identify a communicator by its even context.
    w.context.store(op.context & ~1U & ~partitioned_context, relaxed);
    w.sequence.store(sequence, relaxed);
    w.bytes.store(op.bytes, relaxed);
}

void record_near_miss(ProgressEngine& engine, const Operation& recv, Recorder& r) {
    const IncomingMessage* message = engine.receiver().near_miss(recv);
    r.near_miss_context.store(message != nullptr ? message->envelope.context : 0, relaxed);
    if (message == nullptr) return;
    r.near_miss_tag.store(message->envelope.tag, relaxed);
    r.near_miss_source.store(message->from, relaxed);
}

void record_wait(ProgressEngine& engine, const WaitInfo& info, Recorder& r) {
    uint32_t pending = 0;
    r.near_miss_context.store(0, relaxed);
    for (uint32_t i = 0; i < info.count; ++i) {
        const Operation* op = info.operation_at(info.subject, i);
        if (op == nullptr || op->done()) continue;
        if (pending < recorder_waits) write_operation(r.waits[pending], *op, info.sequence);
        if (pending == 0 && op->kind == Operation::Kind::recv && info.sequence == 0)
            record_near_miss(engine, *op, r);
        ++pending;
    }
    r.wait_count.store(pending, relaxed);
}

int64_t current_spins(ProgressEngine& engine) {
    const int64_t max =
        engine.network() != nullptr ? std::min(network_spins.get(), spins.get()) : spins.get();
    const int64_t adapted = std::min<int64_t>(engine.wait_tuning().spin_limit(), max);
    if (!engine.wait_tuning().oversubscribed()) return adapted;
    return engine.wait_tuning().awake_fit_cpus() ? std::min(adapted, short_spins) : 0;
}

int64_t current_yields(ProgressEngine& engine) {
    return engine.network() != nullptr ? std::max(network_yields.get(), yields.get()) : yields.get();
}

// Yields before a sleep while this process sends or receives bulk messages through gateways.
constexpr int64_t yields_in_bulk = 1;

int64_t yields_for(ProgressEngine& engine, const WaitInfo& info, bool in_bulk) {
    if (in_bulk) return yields_in_bulk;
    return info.serial_wakeup && engine.network() == nullptr && engine.wait_tuning().oversubscribed()
               ? 0
               : current_yields(engine);
}

// Longer yields were used by another process. Shorter ones may be pauses of a virtual CPU.
constexpr uint64_t own_yield_ns = 1'000'000;

// A CPU becomes idle when its rank sleeps. A rank on an idle CPU wakes up later than one that yields, and in
// a virtual machine it computes more slowly afterwards: the host has used its CPU meanwhile. With few more
// ranks than CPUs that happens often. With many another rank runs instead, and yields only take time from it,
// unless most of them sleep.
// Other processes would lose time, too, and the ranks with them.
bool yields_further(ProgressEngine& engine, const WaitInfo& info, bool in_bulk) {
    if (in_bulk || engine.network() != nullptr) return false;
    WaitTuning& tuning = engine.wait_tuning();
    const uint64_t now = os::now_ns();
    const auto within = [&](const Param<int64_t>& us) {
        return now - tuning.yields_since_ns() < static_cast<uint64_t>(us.get()) * 1000;
    };
    if (tuning.oversubscribed()) {
        if (info.serial_wakeup || !(tuning.slightly_oversubscribed() || tuning.awake_fit_cpus()))
            return false;
        return within(extra_yield_us) || (within(own_cpu_yield_us) && tuning.only_ranks_run(now));
    }
    const bool alone = tuning.end_yield(now) < own_yield_ns && !engine.engine_lock().multithreaded();
    return alone && within(own_cpu_yield_us);
}

void yield_once(ProgressEngine& engine) {
    engine.faults().poll();
    engine.engine_lock().unlock_for_wait();
    sched_yield();
    engine.engine_lock().relock();
    engine.network_port().force_poll(); // a yield takes longer than a network poll
}

// With a network, one thread at a time sleeps on descriptors; when it wakes up, another one takes over. The
// last poll, or arming the network, which sends pending acknowledgments, may have ended the wait without
// reporting an event. No wakeup would follow, so the condition is checked again.
bool sleep_now(ProgressEngine& engine, uint32_t ticket, const Condition& over) {
    transport::Network* const network = engine.network();
    const bool on_descriptors = network != nullptr && engine.network_port().acquire_descriptors();
    bool woken = true;
    const bool armed = !on_descriptors || network->arm();
    if (armed && !over.holds(over.subject)) {
        engine.engine_lock().unlock_for_wait();
        woken = on_descriptors
                    ? engine.shm().sleep_on_descriptors(ticket, network->descriptor(), max_sleep_ns)
                    : engine.shm().sleep(ticket, max_sleep_ns);
        engine.engine_lock().relock();
    }
    if (on_descriptors) {
        engine.network_port().release_descriptors();
        engine.shm().release_descriptors();
    }
    return woken;
}

// Called after a sleep that timed out: true if its condition holds or another event from this node is
// pending. The network is not polled: its messages may arrive just now and signal the descriptor. Wakeups
// that this process sends to itself meanwhile are added to the ticket, since they are not wakeups by a peer.
bool missed_wakeup(ProgressEngine& engine, const WaitInfo& info, const Condition& over, uint32_t& ticket) {
    if (engine.shm().own_block().wake.load(std::memory_order_seq_cst) != ticket) return false;
    const uint32_t earlier_self_wakeups = engine.shm().self_wakeups();
    engine.network_port().skip_poll();
    const int happened = engine.progress() + engine.faults().poll();
    const bool missed =
        over.holds(over.subject) || (info.final_check != nullptr && info.final_check(info.waiter));
    ticket += engine.shm().self_wakeups() - earlier_self_wakeups;
    engine.network_port().force_poll();
    return missed || (engine.network() == nullptr && happened > 0);
}

void check_for_waker(ProgressEngine& engine, uint32_t ticket) {
    engine.engine_lock().unlock_for_wait();
    const bool missing = is_wakeup_missing(engine, ticket);
    engine.engine_lock().relock();
    if (missing) engine.counters().add(Counter::missed_wakeups);
}

void sleep_once(ProgressEngine& engine, const WaitInfo& info, const Condition& over) {
    auto& shm = engine.shm();
    Recorder& r = shm.own_block().recorder;
    uint32_t ticket = shm.arm();
    if (engine.progress_all() == 0 && engine.faults().poll() == 0 &&
        (info.final_check == nullptr || !info.final_check(info.waiter))) {
        const uint64_t begin = os::now_ns();
        record_wait(engine, info, r);
        r.asleep_since_ns.store(begin, relaxed);
        r.asleep.store(1, std::memory_order_release); // pairs with the launcher's acquire: publishes waits[]
        engine.counters().add(Counter::sleeps);
        engine.events().raise(EventType::sleep, r.wait_count.load(relaxed));
        const bool woken = sleep_now(engine, ticket, over);
        r.asleep.store(0, relaxed);
        if (engine.events().wants(EventType::wakeup))
            engine.events().raise(EventType::wakeup, static_cast<int64_t>(os::now_ns() - begin));
        if (!woken && missed_wakeup(engine, info, over, ticket)) check_for_waker(engine, ticket);
    }
    shm.disarm();
}

} // namespace

bool is_wakeup_missing(ProgressEngine& engine, uint32_t ticket) {
    const std::atomic<uint32_t>& wake = engine.shm().own_block().wake;
    const uint64_t until = os::now_ns() + waker_grace_ns;
    while (wake.load(std::memory_order_seq_cst) == ticket) {
        if (os::now_ns() > until) return true;
        sched_yield();
    }
    return false;
}

// A message that arrives while this rank yields was sent by a peer on the same CPU: the scheduler may place
// two ranks on one CPU although others are free, and spinning keeps the peer from running, so the limit is
// halved. A message that arrives earlier or later was sent on another CPU, so the limit grows again.
void adapt_spin(ProgressEngine& engine, uint32_t rounds) {
    const int64_t max = spins.get();
    const int64_t limit = current_spins(engine);
    if (limit == 0) return;
    int64_t next = limit;
    if (rounds <= limit)
        next = limit * 2;
    else if (rounds <= limit + current_yields(engine))
        next = limit / 2;
    else
        next = limit + limit / 4;
    engine.wait_tuning().set_spin_limit(
        static_cast<uint32_t>(std::clamp(next, std::min(min_spins, max), max)));
}

void wait_step(ProgressEngine& engine, uint32_t& rounds, const WaitInfo& info, const Condition& over) {
    const bool in_bulk = engine.network_port().relays_bulk();
    const int64_t spin_rounds = in_bulk ? 0 : current_spins(engine);
    ++rounds;
    if (rounds <= spin_rounds) {
        engine.shm().prefetch_cells();
        if (engine.engine_lock().multithreaded()) { // another thread may want the lock
            engine.engine_lock().unlock_for_wait();
            os::cpu_relax();
            engine.engine_lock().relock();
        } else if (rounds > polls_without_pause) {
            os::cpu_relax();
        }
    } else if (rounds <= spin_rounds + yields_for(engine, info, in_bulk)) {
        if (rounds == spin_rounds + 1) engine.wait_tuning().set_yields_since_ns(os::now_ns());
        yield_once(engine);
    } else if (yields_further(engine, info, in_bulk)) {
        yield_once(engine);
    } else {
        sleep_once(engine, info, over);
    }
}

bool poll_idle(ProgressEngine& engine) {
    const bool failures = engine.faults().poll() != 0;
    auto& tuning = engine.wait_tuning();
    if (!tuning.oversubscribed() && engine.network() == nullptr) return failures;
    const uint32_t polls = tuning.count_idle_poll();
    const bool is_due = polls % idle_polls_per_yield == 0;
    const bool must_yield =
        tuning.oversubscribed() ? is_due || !tuning.awake_fit_cpus() : is_due && polls >= idle_network_polls;
    if (!must_yield) return failures;
    engine.engine_lock().unlock_for_wait();
    sched_yield();
    engine.engine_lock().relock();
    return true; // by another thread
}

Err exchange(ProgressEngine& engine, Operation& recv, Operation& send, uint32_t collective_sequence) {
    const Operation* both[] = {&recv, &send};
    const WaitInfo info{
        [](const void* subject, uint32_t i) { return static_cast<const Operation* const*>(subject)[i]; },
        both, 2, collective_sequence};
    engine.start_recv(recv);
    engine.start_send(send);
    const auto send_failed = [&] { return send.done() && send.error != Err::success; };
    wait_until(
        engine, [&] { return (recv.done() && send.done()) || send_failed(); }, info);
    if (!recv.done()) engine.abandon_recv(recv);
    return recv.error != Err::success ? recv.error : send.error;
}

} // namespace zipmpi::proto
