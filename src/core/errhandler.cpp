// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Error handlers, and how an error ends a job.
#include "base/problem.hpp"
#include "core/state.hpp"
#include "os/host.hpp"

#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace zipmpi::core {
namespace {

Slab<Errhandler>& slab() {
    static Slab<Errhandler> s;
    return s;
}

struct Permanent : Errhandler {
    constexpr explicit Permanent(Kind k) {
        cls = Class::errhandler;
        index = static_cast<uint32_t>(k);
        kind = k;
    }
};
// Ready before any code runs: threads may meet here first.
constinit Permanent permanent[] = {Permanent(Errhandler::Kind::fatal), Permanent(Errhandler::Kind::abort),
                                   Permanent(Errhandler::Kind::give_back)};

bool is_permanent(const Errhandler& h) { return h.kind != Errhandler::Kind::user; }

Err make_user_handler(void* face_function, Errhandler*& handler) {
    handler = slab().make();
    if (handler == nullptr) return fail(Err::no_mem, "free memory", "no memory for another error handler");
    handler->kind = Errhandler::Kind::user;
    handler->face_function = face_function;
    handler->refs.store(1, std::memory_order_relaxed);
    return Err::success;
}

void replace(Errhandler*& current, Errhandler& handler) {
    Errhandler* old = current;
    current = share(handler);
    release(old);
}

std::string where_am_i() {
    std::string s;
    if (const Engine* e = engine())
        s = "rank " + std::to_string(e->job.rank) + " of " + std::to_string(e->job.size) + ", ";
    return s + "host " + os::host_name() + ", pid " + std::to_string(getpid());
}

} // namespace

Errhandler* share(Errhandler& handler) {
    handler.refs.fetch_add(1, std::memory_order_relaxed);
    return &handler;
}

void release(Errhandler*& handler) {
    Errhandler* h = handler;
    handler = nullptr;
    if (h->refs.fetch_sub(1, std::memory_order_acq_rel) == 1 && !is_permanent(*h)) slab().destroy(*h);
}

Errhandler* errhandler_by_index(uint32_t index) { return slab().find(index); }

Errhandler& errors_are_fatal() noexcept { return permanent[0]; }
Errhandler& errors_abort() noexcept { return permanent[1]; }
Errhandler& errors_return() noexcept { return permanent[2]; }

HandlerAction action_of(const Errhandler& handler) noexcept {
    switch (handler.kind) {
    case Errhandler::Kind::fatal:
        return {HandlerAction::fatal, nullptr};
    case Errhandler::Kind::abort:
        return {HandlerAction::abort, nullptr};
    case Errhandler::Kind::give_back:
        return {HandlerAction::give_back, nullptr};
    case Errhandler::Kind::user:
        break;
    }
    return {HandlerAction::call, handler.face_function};
}

HandlerAction handler_of(const Comm* comm) noexcept {
    if (comm == nullptr && engine() != nullptr)
        comm = engine()->self; // where errors without a communicator go
    return comm != nullptr && comm->cls == Class::comm ? action_of(*comm->errhandler)
                                                       : HandlerAction{HandlerAction::fatal, nullptr};
}

HandlerAction handler_of(const Session& session) noexcept { return action_of(*session.errhandler); }

Err errhandler_free(Errhandler*& handler) {
    release(handler);
    return Err::success;
}

Err comm_create_errhandler(void* face_function, Errhandler*& handler) {
    return make_user_handler(face_function, handler);
}

Err session_create_errhandler(void* face_function, Errhandler*& handler) {
    return make_user_handler(face_function, handler);
}

Err comm_set_errhandler(Comm& comm, Errhandler& handler) {
    replace(comm.errhandler, handler);
    return Err::success;
}

Err comm_get_errhandler(Comm& comm, Errhandler*& handler) {
    handler = share(*comm.errhandler);
    return Err::success;
}

Err session_set_errhandler(Session& session, Errhandler& handler) {
    replace(session.errhandler, handler);
    return Err::success;
}

Err session_get_errhandler(Session& session, Errhandler*& handler) {
    handler = share(*session.errhandler);
    return Err::success;
}

std::string describe(Err error) {
    std::string s = std::string(err_name(error)) + ": " + std::string(err_text(error));
    const ErrDetail& d = last_error();
    if (error != Err::success && d.cls == error && d.why[0] != '\0') s += std::string("; ") + d.why;
    return s;
}

static void end_job(int code, const std::string& text) {
    Engine* e = engine();
    if (e != nullptr && e->segment) {
        wire::RankBlock& block = e->segment.block(static_cast<uint32_t>(e->job.local_index));
        std::strncpy(block.recorder.abort_text, text.c_str(), sizeof block.recorder.abort_text - 1);
        block.abort_code.store(code, std::memory_order_relaxed);
        block.state.store(static_cast<uint32_t>(wire::RankState::aborted), std::memory_order_release);
    }
    if (e != nullptr && e->job.launcher != nullptr) e->job.launcher->abort(code, text);
    _exit(code);
}

void die(const char* function, Err error, const Comm* comm) noexcept {
    Engine* e = engine();
    // One cause, one message: ranks that fail together with the first one stay quiet.
    const bool first = e == nullptr || !e->segment ||
                       const_cast<wire::SegmentHeader&>(e->segment.header())
                               .fatal_errors.fetch_add(1, std::memory_order_relaxed) == 0;
    const ErrDetail& d = last_error();
    const bool detail = d.cls == error;
    const std::string what = std::string(function) + " failed: " + std::string(err_name(error)) + ", " +
                             std::string(err_text(error));
    std::string where = where_am_i();
    if (comm != nullptr) where += ", on " + name_of(*comm);
    if (first)
        report({what, where, detail ? d.why : "",
                detail && d.todo[0] != '\0'
                    ? d.todo
                    : "correct the call, or set MPI_ERRORS_RETURN to handle errors in the program"});
    end_job(1, what);
    std::abort(); // not reached
}

Err abort(Comm& comm, int code) {
    end_job(code, "MPI_Abort(" + name_of(comm) + ", " + std::to_string(code) + ")");
    return Err::success; // not reached
}

} // namespace zipmpi::core
