// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Startup and shutdown of the library: MPI_Init, sessions, MPI_Finalize.
#include "base/param.hpp"
#include "base/recorder.hpp"
#include "core/api/p2p.hpp"
#include "core/api/process.hpp"
#include "core/device/devices.hpp"
#include "core/dpm/connect.hpp"
#include "core/fault/fault.hpp"
#include "core/flush_output.hpp"
#include "core/info/launch_keys.hpp"
#include "core/network_setup.hpp"
#include "core/out_of_memory.hpp"
#include "core/p2p/bsend_buffer.hpp"
#include "core/progress_thread.hpp"
#include "core/runtime_state.hpp"
#include "core/tool/events.hpp"
#include "core/tool/matrix.hpp"
#include "core/tool/message_queues.hpp"
#include "os/host.hpp"
#include "os/memory_checker.hpp"
#include "proto/coll/coll.hpp"
#include "proto/p2p/progress_engine.hpp"
#include "proto/progress/progress_thread.hpp"
#include "proto/progress/wait.hpp"
#include "proto/rma/rdma_context.hpp"

#include <csignal>
#include <mutex>
#include <pthread.h>
#include <unistd.h>

namespace zipmpi::core {
namespace {

Runtime* the_runtime = nullptr;
std::mutex start_mutex; // two threads may open sessions concurrently

Param<bool> require_wakeups{
    "wait.fail_on_missed_wakeup", false, Level::developer, Scope::local,
    "testing: exit with status 1 in MPI_Finalize if a sleep ended by its safety timeout "
    "with work waiting (counter missed_wakeups)"};

Slab<Session, std::mutex>& session_slab() {
    static auto* const s = new Slab<Session, std::mutex>; // never destroyed: see slab.hpp
    return *s;
}

[[noreturn]] void abort_startup(const Diagnostic& why) {
    flush_program_output();
    report(why);
    _exit(1);
}

void report_param_errors(const boot::Job& job, const std::vector<ParamError>& errors) {
    if (job.rank != 0) return; // all ranks have equal settings: one reports
    for (const ParamError& f : errors) report({"a setting is ignored", f.origin, f.why, f.fix});
}

wire::RankBlock& own_block(const Runtime& e) {
    return e.segment.block(static_cast<uint32_t>(e.job.local_index));
}

void set_state(const Runtime& e, wire::RankState state) {
    own_block(e).state.store(static_cast<uint32_t>(state),
                             std::memory_order_release); // read by the launcher
}

// The rings, counters and connections of a rank belong to one program: the peers would take a second one for
// the first. A rank without peers may run several programs, one after the other.
bool can_use_slot(const Runtime& e, Diagnostic& why) {
    const wire::RankBlock& block = own_block(e);
    const auto state = static_cast<wire::RankState>(block.state.load(std::memory_order_acquire));
    const pid_t earlier = block.pid.load(std::memory_order_relaxed);
    const bool ended = state == wire::RankState::finalized || earlier <= 0 || kill(earlier, 0) != 0;
    if (state == wire::RankState::absent || (e.job.size == 1 && ended)) return true;
    why = {"a second MPI program cannot start in this rank",
           "rank " + std::to_string(e.job.rank) + " of " + std::to_string(e.job.size),
           "another program of this rank, process " + std::to_string(earlier) + ", has called MPI_Init",
           "start each MPI program with an mpiexec of its own"};
    return false;
}

// Connections and shared memory belong to the parent.
void refuse_mpi_in_child() {
    if (phase() == Phase::running) set_phase(Phase::forked_child);
}

ThreadLevel raise_thread_level(Runtime& e, ThreadLevel level) {
    if (level > e.thread_level) e.thread_level = level;
    if (e.thread_level == ThreadLevel::multiple) {
        e.progress_engine->engine_lock().set_multithreaded();
        set_locking(true);
    }
    return e.thread_level;
}

void make_world(Runtime& e) {
    proto::Team world{e.progress_engine.get(), world_context, e.job.rank, e.job.size, proto::RankMap(0), 0};
    proto::Team self{e.progress_engine.get(), self_context, 0, 1, proto::RankMap(e.job.rank), 0};
    e.world = make_comm(world, "MPI_COMM_WORLD", initial_errhandler());
    e.self = make_comm(self, "MPI_COMM_SELF", initial_errhandler());
    if (e.world == nullptr || e.self == nullptr) exit_out_of_memory();
    e.world->permanent = e.self->permanent = true;
}

} // namespace

proto::ProgressEngine* the_progress_engine = nullptr;

Runtime* runtime() noexcept { return the_runtime; }
Comm* comm_world() noexcept { return the_runtime != nullptr ? the_runtime->world : nullptr; }
Comm* comm_self() noexcept { return the_runtime != nullptr ? the_runtime->self : nullptr; }

constinit std::atomic<Phase> hot::phase{Phase::before_init};
constinit std::atomic<bool> hot::locking{false};
constinit std::atomic<bool> hot::device_buffers{false};
constinit std::atomic<bool> hot::host_only{false};

static void* const open_gate = nullptr;
static void* const closed_gate = &the_runtime;             // not null
static std::atomic<void* const*> device_gate = &open_gate; // as in enable_device_buffers()
constinit std::atomic<void* const*> hot::plain_gate{&closed_gate};

static void derive_hot_values() {
    const bool running = phase() == Phase::running;
    const bool unlocked = running && !hot::locking.load(std::memory_order_relaxed);
    hot::host_only.store(running && !may_have_device_buffers(), std::memory_order_relaxed);
    hot::plain_gate.store(unlocked ? device_gate.load(std::memory_order_relaxed) : &closed_gate,
                          std::memory_order_relaxed);
}

void set_phase(Phase phase) noexcept {
    hot::phase.store(phase, std::memory_order_relaxed);
    derive_hot_values();
}

void set_locking(bool locking) noexcept {
    hot::locking.store(locking, std::memory_order_relaxed);
    derive_hot_values();
}

void enable_device_buffers(void* const* load) noexcept {
    hot::device_buffers.store(true, std::memory_order_relaxed);
    device_gate.store(load, std::memory_order_relaxed);
    derive_hot_values();
}

static void refresh_phase() {
    const Runtime& e = *the_runtime;
    Phase now = e.world_ended ? Phase::after_finalize : Phase::before_init;
    if (e.sessions > 0 || (e.world_started && !e.world_ended)) now = Phase::running;
    set_phase(now);
}

void lock_progress_engine() noexcept { the_runtime->progress_engine->engine_lock().lock(); }
void unlock_progress_engine() noexcept { the_runtime->progress_engine->engine_lock().unlock(); }

Runtime& start_runtime(ThreadLevel level) {
    if (the_runtime == nullptr) {
        os::suppress_memory_sanitizer();
        auto* e = new Runtime;
        Diagnostic why;
        const auto errors = load_params(environ);
        if (!boot::start(environ, e->job, why) || !boot::join_segment(e->job, e->segment, why))
            abort_startup(why);
        if (!can_use_slot(*e, why)) abort_startup(why);
        report_param_errors(e->job, errors);
        device::watch_drivers();
        e->progress_engine = std::make_unique<proto::ProgressEngine>(
            e->segment, static_cast<uint32_t>(e->job.local_index), e->job.rank);
        if (!join_network(*e, why)) abort_startup(why);
        enable_fault_notification(*e);
        set_recorder(&own_block(*e).recorder);
        e->main_thread = pthread_self();
        the_runtime = e;
        the_progress_engine = e->progress_engine.get();
        tool::listen_to_events();
        show_message_queues();
        static_cast<void>(pthread_atfork(nullptr, nullptr, refuse_mpi_in_child));
        e->segment.node_info().notify(); // this rank has joined: core/comm/locality.cpp
    }
    set_state(*the_runtime, wire::RankState::running);
    raise_thread_level(*the_runtime, level);
    return *the_runtime;
}

static void wait_until_drained(const Runtime& e) {
    if (e.progress_engine->network() != nullptr) e.progress_engine->network()->set_shutting_down(true);
    proto::wait_until(
        *e.progress_engine, [&] { return e.progress_engine->drained() && e.detached_sends == 0; },
        proto::wait_info_of(proto::Operation{}));
    if (e.progress_engine->network() != nullptr) e.progress_engine->network()->set_shutting_down(false);
}

static void check_missed_wakeups(const Runtime& e) {
    const uint64_t missed = require_wakeups ? own_block(e).counters.get(Counter::missed_wakeups) : 0;
    if (missed == 0) return;
    flush_program_output();
    report({"a wakeup was missing",
            "rank " + std::to_string(e.job.rank) + " of " + std::to_string(e.job.size),
            std::to_string(missed) + " sleeps ended by their safety timeout with work waiting "
                                     "(counter missed_wakeups)",
            "find the code path that must send the wakeup: docs/dev/sleeping.md; or unset "
            "ZIPMPI_WAIT_FAIL_ON_MISSED_WAKEUP"});
    _exit(1);
}

void shut_down_runtime() {
    Runtime& e = *the_runtime;
    stop_progress_thread();
    wait_until_drained(e);
    if (e.segment.nodes() > 1 && e.world != nullptr) {
        // Messages between hosts need progress on both sides: no rank leaves while others may still need it.
        static_cast<void>(e.segment.faults().state().fault_tolerant != 0
                              ? fault_tolerant_barrier(*e.world)
                              : proto::coll::barrier(e.world->team));
    }
    if (e.progress_engine->network() != nullptr) {
        e.progress_engine->network()->announce_end();
        wait_until_drained(e);
    }
    set_state(e, wire::RankState::finalized);
    // A session opened later uses the existing runtime and needs no launcher.
    if (e.job.launcher != nullptr) e.job.launcher->finalize();
    e.job.launcher.reset();
    check_missed_wakeups(e);
}

Err init_thread(int*, char***, ThreadLevel required, ThreadLevel& provided) {
    if (phase() == Phase::forked_child) exit_forked_child("MPI_Init");
    const std::lock_guard guard(start_mutex);
    const StartupMemoryGuard memory;
    if (the_runtime != nullptr && the_runtime->world_started)
        return fail(
            Err::other,
            "call MPI_Init or MPI_Init_thread only once; MPI_Initialized returns whether it was called",
            "MPI is already initialized");
    Runtime& e = start_runtime(required);
    make_world(e);
    e.world_started = true;
    if (Diagnostic why; !connect_parent(e, why)) abort_startup(why);
    refresh_phase();
    e.main_thread = pthread_self();
    provided = e.thread_level;
    return Err::success;
}

Err init(int* argc, char*** argv) {
    ThreadLevel provided{};
    return init_thread(argc, argv, ThreadLevel::single, provided);
}

Err initialized(bool& flag) {
    flag = the_runtime != nullptr && the_runtime->world_started;
    return Err::success;
}

Err finalized(bool& flag) {
    flag = the_runtime != nullptr && the_runtime->world_ended;
    return Err::success;
}

Err finalize() {
    Runtime& e = *the_runtime;
    const std::lock_guard guard(e.progress_engine->engine_lock()); // waiting releases it, so it must be held
    if (!e.world_started || e.world_ended)
        return fail(Err::other, "call MPI_Finalize once, after MPI_Init",
                    "MPI_COMM_WORLD is not initialized");
    // First step, while MPI is fully usable: applications run cleanup code in these callbacks.
    static_cast<void>(e.self->attributes.erase_all(*e.self));
    static_cast<void>(e.world->attributes.erase_all(*e.world));
    tool::write_matrix(e);
    unpublish_all();
    if (e.sessions == 0) shut_down_runtime();
    release(*e.world);
    release(*e.self);
    e.world = e.self = nullptr;
    e.world_ended = true;
    refresh_phase();
    return Err::success;
}

Err query_thread(ThreadLevel& provided) {
    provided = the_runtime->thread_level;
    return Err::success;
}

Err is_thread_main(bool& flag) {
    flag = pthread_equal(the_runtime->main_thread, pthread_self()) != 0;
    return Err::success;
}

namespace {

constexpr const char* thread_level_key = "thread_level";

// Validates the requested thread level. All levels are supported, so only invalid names are errors.
Err check_thread_level(const Hints& hints) {
    const std::string* const level = hints.find(thread_level_key);
    if (level == nullptr) return Err::success;
    for (const char* name :
         {"MPI_THREAD_SINGLE", "MPI_THREAD_FUNNELED", "MPI_THREAD_SERIALIZED", "MPI_THREAD_MULTIPLE"})
        if (*level == name) return Err::success;
    return fail(Err::info_value, "pass the name of a level, for example MPI_THREAD_MULTIPLE",
                "the info key %s has the value \"%s\"", thread_level_key, level->c_str());
}

} // namespace

Err session_init(Info* info, Errhandler* errhandler, Session*& session) {
    if (phase() == Phase::forked_child) exit_forked_child("MPI_Session_init");
    if (info != nullptr)
        if (const Err e = check_thread_level(hints_of(*info)); e != Err::success) return e;
    const std::lock_guard guard(start_mutex);
    const StartupMemoryGuard memory;
    Runtime& e =
        start_runtime(ThreadLevel::multiple); // sessions serve libraries that are independent of each other
    session = session_slab().make();
    if (session == nullptr) return fail(Err::no_mem, "free memory", "no memory for another session");
    session->errhandler = share(errhandler != nullptr ? *errhandler : initial_errhandler());
    session->hints.set(thread_level_key, "MPI_THREAD_MULTIPLE");
    const std::string* const kinds = info != nullptr ? hints_of(*info).find(memory_kinds_key) : nullptr;
    session->hints.set(memory_kinds_key,
                       kinds != nullptr ? supported_memory_kinds(*kinds) : memory_kinds_of(nullptr));
    ++e.sessions;
    refresh_phase();
    return Err::success;
}

Err session_finalize(Session*& session) {
    Runtime& e = *the_runtime;
    const std::lock_guard guard(e.progress_engine->engine_lock());
    if (const Err err = session_flush_buffer(*session); err != Err::success) return err;
    release(session->errhandler);
    session_slab().destroy(*session);
    session = nullptr;
    if (--e.sessions == 0 && e.world_started == e.world_ended) shut_down_runtime();
    refresh_phase();
    return Err::success;
}

Session* session_by_index(uint32_t index) { return session_slab().find(index); }

} // namespace zipmpi::core
