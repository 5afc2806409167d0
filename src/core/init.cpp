// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The library comes up and goes down: MPI_Init, sessions, MPI_Finalize.
#include "base/param.hpp"
#include "base/recorder.hpp"
#include "core/fault/fault.hpp"
#include "core/flush.hpp"
#include "core/helper.hpp"
#include "core/info/at_launch.hpp"
#include "core/network.hpp"
#include "core/send_buffer.hpp"
#include "core/starved.hpp"
#include "core/state.hpp"
#include "core/tool/matrix.hpp"
#include "core/worlds/worlds.hpp"
#include "os/host.hpp"
#include "os/memory_checker.hpp"
#include "proto/coll/coll.hpp"
#include "proto/p2p/lane.hpp"
#include "proto/progress/helper.hpp"
#include "proto/progress/wait.hpp"
#include "proto/rma/device.hpp"

#include <mutex>
#include <unistd.h>

namespace zipmpi::core {
namespace {

Engine* the_engine = nullptr;
std::mutex start_mutex; // two threads may open sessions at once

Param<bool> demand_wakes{"wait.demand_wakes", false, Level::developer, Scope::local,
                         "for tests of the library: a rank one of whose sleeps ended by its time limit "
                         "although what it was for was there ends with status 1 in MPI_Finalize"};

Slab<Session, std::mutex>& session_slab() {
    static auto* const s = new Slab<Session, std::mutex>; // never destroyed: see slab.hpp
    return *s;
}

[[noreturn]] void refuse_to_start(const Problem& why) {
    flush_program_output();
    report(why);
    _exit(1);
}

void report_knob_faults(const boot::Job& job, const std::vector<ParamFault>& faults) {
    if (job.rank != 0) return; // all ranks have the same settings: one says it
    for (const ParamFault& f : faults) report({"a setting is ignored", f.origin, f.why, f.todo});
}

wire::RankBlock& own_block(const Engine& e) {
    return e.segment.block(static_cast<uint32_t>(e.job.local_index));
}

void set_state(const Engine& e, wire::RankState state) {
    own_block(e).state.store(static_cast<uint32_t>(state),
                             std::memory_order_release); // the launcher reads it
}

ThreadLevel raise_thread_level(Engine& e, ThreadLevel level) {
    if (level > e.thread_level) e.thread_level = level;
    if (e.thread_level == ThreadLevel::multiple) {
        e.lane->set_multithreaded();
        live::locks.store(true, std::memory_order_relaxed);
    }
    return e.thread_level;
}

void make_world(Engine& e) {
    proto::Team world{e.lane.get(), world_context, e.job.rank, e.job.size, proto::RankMap(0), 0};
    proto::Team self{e.lane.get(), self_context, 0, 1, proto::RankMap(e.job.rank), 0};
    e.world = make_comm(world, "MPI_COMM_WORLD", initial_errhandler());
    e.self = make_comm(self, "MPI_COMM_SELF", initial_errhandler());
    if (e.world == nullptr || e.self == nullptr) end_for_want_of_memory();
    e.world->permanent = e.self->permanent = true;
}

} // namespace

proto::Lane* the_lane = nullptr;

Engine* engine() noexcept { return the_engine; }
Comm* comm_world() noexcept { return the_engine != nullptr ? the_engine->world : nullptr; }
Comm* comm_self() noexcept { return the_engine != nullptr ? the_engine->self : nullptr; }

constinit std::atomic<Phase> live::phase{Phase::before_init};
constinit std::atomic<bool> live::locks{false};

static void refresh_phase() {
    const Engine& e = *the_engine;
    Phase now = e.world_ended ? Phase::after_finalize : Phase::before_init;
    if (e.sessions > 0 || (e.world_started && !e.world_ended)) now = Phase::running;
    live::phase.store(now, std::memory_order_relaxed);
}

void lock_lane() noexcept { the_engine->lane->lock(); }
void unlock_lane() noexcept { the_engine->lane->unlock(); }

Engine& start_engine(ThreadLevel level) {
    if (the_engine == nullptr) {
        os::quiet_memory_sanitizer();
        auto* e = new Engine;
        Problem why;
        const auto faults = load_params(environ);
        if (!boot::start(environ, e->job, why) || !boot::join_segment(e->job, e->segment, why))
            refuse_to_start(why);
        report_knob_faults(e->job, faults);
        e->lane =
            std::make_unique<proto::Lane>(e->segment, static_cast<uint32_t>(e->job.local_index), e->job.rank);
        if (!join_network(*e, why)) refuse_to_start(why);
        listen_for_faults(*e);
        set_recorder(&own_block(*e).recorder);
        e->main_thread = pthread_self();
        the_engine = e;
        the_lane = e->lane.get();
        e->segment.tell_facts(); // this rank is there: core/comm/hardware.cpp
    }
    set_state(*the_engine, wire::RankState::running);
    raise_thread_level(*the_engine, level);
    return *the_engine;
}

static void wait_until_drained(const Engine& e) {
    if (e.lane->network() != nullptr) e.lane->network()->leaving(true);
    proto::wait_until(
        *e.lane, [&] { return e.lane->drained() && e.loose_sends == 0; }, proto::note_on(proto::Operation{}));
    if (e.lane->network() != nullptr) e.lane->network()->leaving(false);
}

static void look_at_late_wakes(const Engine& e) {
    const uint64_t late = demand_wakes ? own_block(e).counters.get(Counter::late_wakes) : 0;
    if (late == 0) return;
    flush_program_output();
    report(
        {"a wake-up was missing", "rank " + std::to_string(e.job.rank) + " of " + std::to_string(e.job.size),
         std::to_string(late) + " sleeps ended by their time limit although what they were for was there "
                                "(counter late_wakes)",
         "look for who should have woken the rank: docs/dev/sleeping.md; or unset ZIPMPI_WAIT_DEMAND_WAKES"});
    _exit(1);
}

void leave_engine() {
    Engine& e = *the_engine;
    end_help();
    wait_until_drained(e);
    if (e.segment.nodes() > 1 && e.world != nullptr) {
        // What goes between hosts needs both sides: nobody leaves while others may still need it.
        static_cast<void>(e.segment.news().keeps_going != 0 ? meet_the_living(*e.world)
                                                            : proto::coll::barrier(e.world->team));
        wait_until_drained(e);
    }
    set_state(e, wire::RankState::finalized);
    // A session that is opened later finds the engine as it is and needs no launcher any more.
    if (e.job.launcher != nullptr) e.job.launcher->finalize();
    e.job.launcher.reset();
    look_at_late_wakes(e);
}

Err init_thread(int*, char***, ThreadLevel required, ThreadLevel& provided) {
    const std::lock_guard guard(start_mutex);
    const StartingMemory memory;
    if (the_engine != nullptr && the_engine->world_started)
        return fail(Err::other,
                    "call MPI_Init or MPI_Init_thread once only; MPI_Initialized tells whether it was",
                    "MPI is initialised already");
    Engine& e = start_engine(required);
    make_world(e);
    e.world_started = true;
    if (Problem why; !meet_parents(e, why)) refuse_to_start(why);
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
    flag = the_engine != nullptr && the_engine->world_started;
    return Err::success;
}

Err finalized(bool& flag) {
    flag = the_engine != nullptr && the_engine->world_ended;
    return Err::success;
}

Err finalize() {
    Engine& e = *the_engine;
    const std::lock_guard guard(*e.lane); // waiting gives it up, so it must be held
    if (!e.world_started || e.world_ended)
        return fail(Err::other, "call MPI_Finalize once, after MPI_Init",
                    "MPI_COMM_WORLD is not initialised");
    // The first thing to happen, while all of MPI still works: programs hang their own clean-up on it.
    static_cast<void>(e.self->attributes.erase_all(*e.self));
    static_cast<void>(e.world->attributes.erase_all(*e.world));
    tool::write_matrix(e);
    withdraw_names();
    if (e.sessions == 0) leave_engine();
    release(*e.world);
    release(*e.self);
    e.world = e.self = nullptr;
    e.world_ended = true;
    refresh_phase();
    return Err::success;
}

Err query_thread(ThreadLevel& provided) {
    provided = the_engine->thread_level;
    return Err::success;
}

Err is_thread_main(bool& flag) {
    flag = pthread_equal(the_engine->main_thread, pthread_self()) != 0;
    return Err::success;
}

namespace {

constexpr const char* thread_level_key = "thread_level";

// The level that a program asks for in words. All levels are there, so only nonsense is of interest.
Err check_thread_level(const Hints& hints) {
    const std::string* const level = hints.find(thread_level_key);
    if (level == nullptr) return Err::success;
    for (const char* known :
         {"MPI_THREAD_SINGLE", "MPI_THREAD_FUNNELED", "MPI_THREAD_SERIALIZED", "MPI_THREAD_MULTIPLE"})
        if (*level == known) return Err::success;
    return fail(Err::info_value, "pass the name of a level, for example MPI_THREAD_MULTIPLE",
                "the info key %s has the value \"%s\"", thread_level_key, level->c_str());
}

} // namespace

Err session_init(Info* info, Errhandler* errhandler, Session*& session) {
    if (info != nullptr)
        if (const Err e = check_thread_level(hints_of(*info)); e != Err::success) return e;
    const std::lock_guard guard(start_mutex);
    const StartingMemory memory;
    Engine& e = start_engine(
        ThreadLevel::multiple); // sessions are made for libraries that know nothing of each other
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
    Engine& e = *the_engine;
    const std::lock_guard guard(*e.lane);
    if (const Err err = session_flush_buffer(*session); err != Err::success) return err;
    release(session->errhandler);
    session_slab().destroy(*session);
    session = nullptr;
    if (--e.sessions == 0 && e.world_started == e.world_ended) leave_engine();
    refresh_phase();
    return Err::success;
}

Session* session_by_index(uint32_t index) { return session_slab().find(index); }

} // namespace zipmpi::core
