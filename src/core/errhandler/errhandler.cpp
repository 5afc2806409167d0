// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Error handlers.
#include "core/errhandler/errhandler.hpp"

#include "core/api/env.hpp"
#include "core/info/launch_keys.hpp"
#include "core/io/file.hpp"
#include "core/runtime_state.hpp"
#include "core/win/win.hpp"

namespace zipmpi::core {
namespace {

Slab<Errhandler, std::mutex>& slab() {
    static auto* const s = new Slab<Errhandler, std::mutex>; // never destroyed: see slab.hpp
    return *s;
}

struct Permanent : Errhandler {
    constexpr explicit Permanent(Kind k) {
        cls = ObjectKind::errhandler;
        index = static_cast<uint32_t>(k);
        kind = k;
    }
};
// Constant-initialized: threads may use it before any code of this file runs.
constinit Permanent permanent[] = {Permanent(Errhandler::Kind::fatal), Permanent(Errhandler::Kind::abort),
                                   Permanent(Errhandler::Kind::return_error)};

bool is_permanent(const Errhandler& h) { return h.kind != Errhandler::Kind::user; }

Err make_user_handler(void* user_function, Errhandler*& handler) {
    handler = slab().make();
    if (handler == nullptr) return fail(Err::no_mem, "free memory", "no memory for another error handler");
    handler->kind = Errhandler::Kind::user;
    handler->user_function = user_function;
    handler->refs.store(1, std::memory_order_relaxed);
    return Err::success;
}

// Handler of MPI_FILE_NULL, the initial handler of files.
Errhandler*& default_file_handler() {
    static Errhandler* handler = share(errors_return());
    return handler;
}

// A closed file has no handler.
Errhandler*& handler_of_file(File* file) {
    return file != nullptr && file->cls == ObjectKind::file ? file->errhandler : default_file_handler();
}

} // namespace

void replace(Errhandler*& current, Errhandler& handler) {
    Errhandler* const fresh = share(handler); // retained first: both may be the same
    release(current);
    current = fresh;
}

Errhandler* share(Errhandler& handler) {
    add_ref(handler);
    return &handler;
}

void release(Errhandler*& handler) {
    Errhandler* h = handler;
    handler = nullptr;
    if (release_ref(*h) && !is_permanent(*h)) slab().destroy(*h);
}

Errhandler* errhandler_by_index(uint32_t index) { return slab().find(index); }

Errhandler& default_file_errhandler() { return *default_file_handler(); }
Errhandler& errors_are_fatal() noexcept { return permanent[0]; }
Errhandler& errors_abort() noexcept { return permanent[1]; }
Errhandler& errors_return() noexcept { return permanent[2]; }

Errhandler& initial_errhandler() noexcept {
    const std::string name = initial_errhandler_name();
    if (name == "mpi_errors_return") return errors_return();
    return name == "mpi_errors_abort" ? errors_abort() : errors_are_fatal();
}

HandlerAction action_of(const Errhandler& handler) noexcept {
    switch (handler.kind) {
    case Errhandler::Kind::fatal:
        return {HandlerAction::fatal, nullptr};
    case Errhandler::Kind::abort:
        return {HandlerAction::abort, nullptr};
    case Errhandler::Kind::return_error:
        return {HandlerAction::return_error, nullptr};
    case Errhandler::Kind::user:
        break;
    }
    return {HandlerAction::call, handler.user_function};
}

Comm* default_error_comm() noexcept {
    const Runtime* const e = runtime();
    if (e == nullptr) return nullptr;
    return e->self_handler_set ? e->self : e->world;
}

HandlerAction handler_of(const Comm* comm) noexcept {
    if (comm == nullptr) comm = default_error_comm();
    return action_of(comm != nullptr && comm->cls != ObjectKind::none ? *comm->errhandler
                                                                      : initial_errhandler());
}

HandlerAction handler_of(const Session& session) noexcept { return action_of(*session.errhandler); }

Err errhandler_free(Errhandler*& handler) {
    release(handler);
    return Err::success;
}

Err comm_create_errhandler(void* user_function, Errhandler*& handler) {
    return make_user_handler(user_function, handler);
}

Err session_create_errhandler(void* user_function, Errhandler*& handler) {
    return make_user_handler(user_function, handler);
}

Err win_create_errhandler(void* user_function, Errhandler*& handler) {
    return make_user_handler(user_function, handler);
}

Err file_create_errhandler(void* user_function, Errhandler*& handler) {
    return make_user_handler(user_function, handler);
}

Err win_set_errhandler(Win& win, Errhandler& handler) {
    replace(win.errhandler, handler);
    return Err::success;
}

Err win_get_errhandler(Win& win, Errhandler*& handler) {
    handler = share(*win.errhandler);
    return Err::success;
}

Err file_set_errhandler(File* file, Errhandler& handler) {
    replace(handler_of_file(file), handler);
    return Err::success;
}

Err file_get_errhandler(File* file, Errhandler*& handler) {
    handler = share(*handler_of_file(file));
    return Err::success;
}

HandlerAction handler_of(const Win& win) noexcept { return action_of(*win.errhandler); }
HandlerAction handler_of(File* file) noexcept { return action_of(*handler_of_file(file)); }

Err comm_set_errhandler(Comm& comm, Errhandler& handler) {
    if (&comm == runtime()->self) runtime()->self_handler_set = true;
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

} // namespace zipmpi::core
