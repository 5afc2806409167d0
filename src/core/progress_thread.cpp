// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/progress_thread.hpp"

#include "base/param.hpp"
#include "core/runtime_state.hpp"
#include "proto/p2p/progress_engine.hpp"
#include "proto/progress/progress_thread.hpp"

namespace zipmpi::core {
namespace {

Param<bool> use_progress_thread{
    "rma.progress_thread", true, Level::user, Scope::local,
    "run a progress thread while a window needs active messages; without it such RMA "
    "waits until the target calls MPI"};

} // namespace

// The first acquisition enables the lock, which is unused in single-threaded programs; the caller then holds
// it.
void acquire_progress_thread() {
    Runtime& e = *runtime();
    if (e.progress_thread_users++ != 0 || !use_progress_thread) return;
    set_locking(true);
    e.progress_engine->engine_lock().attach_progress_thread();
    e.progress_thread = std::make_unique<proto::ProgressThread>(*e.progress_engine);
    if (e.progress_thread->start()) return;
    stop_progress_thread(); // no thread available: progress only in MPI calls
}

void release_progress_thread() {
    Runtime& e = *runtime();
    if (--e.progress_thread_users == 0) stop_progress_thread();
}

void stop_progress_thread() {
    Runtime& e = *runtime();
    if (e.progress_thread == nullptr) return;
    e.progress_thread.reset();
    e.progress_engine->engine_lock().detach_progress_thread();
    set_locking(e.progress_engine->engine_lock().multithreaded());
}

} // namespace zipmpi::core
