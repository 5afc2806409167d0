// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// EngineLock: the lock of the progress engine. It is needed if the process is multithreaded or has a progress
// thread; otherwise all calls cost one test.
#pragma once

#include "proto/progress/handoff.hpp"
#include "proto/progress/progress_hooks.hpp"
#include "transport/shm/shm_transport.hpp"

#include <mutex>

namespace zipmpi::proto {

class EngineLock {
  public:
    EngineLock(transport::shm::ShmTransport& shm, const ProgressHooks& hooks)
        : shm_(shm)
        , hooks_(hooks) {}

    void set_multithreaded() { multithreaded_ = needed_ = true; }
    [[nodiscard]] bool multithreaded() const { return multithreaded_; }
    [[nodiscard]] bool is_needed() const { return needed_; }
    // On entry to and exit from MPI.
    void lock() {
        if (needed_) enter();
    }
    void unlock() {
        if (needed_) leave();
    }
    // Release and reacquire the lock inside a blocking call: the thread still counts as inside MPI.
    void unlock_for_wait() {
        if (!needed_) return;
        ++waiting_threads_;
        mutex_.unlock();
    }
    void relock() {
        if (!needed_) return;
        mutex_.lock();
        --waiting_threads_;
    }
    // Wakes sleeping threads of this process: one may wait for what was just done, be it the completion of an
    // operation or another change.
    void wake_waiters() {
        if (multithreaded_) shm_.wake_self();
    }

    // For the progress thread. The caller of attach and detach is inside MPI, and is the only thread there
    // unless multithreaded.
    void attach_progress_thread() {
        if (!needed_) mutex_.lock();
        needed_ = has_progress_thread_ = true;
    }
    void detach_progress_thread() {
        has_progress_thread_ = false;
        needed_ = multithreaded_;
        if (!needed_) mutex_.unlock();
    }
    [[nodiscard]] bool try_lock_idle() { // false: another thread is inside MPI
        if (!mutex_.try_lock()) return false;
        if (waiting_threads_ == 0) return true;
        mutex_.unlock();
        return false;
    }
    void unlock_idle() { mutex_.unlock(); }
    [[nodiscard]] bool has_thread_inside() {
        if (!try_lock_idle()) return true;
        unlock_idle();
        return false;
    }
    [[nodiscard]] ProgressHandoff& handoff() { return handoff_; }

  private:
    void enter() {
        mutex_.lock();
        if (has_progress_thread_) handoff_.count_entry();
    }
    void leave() {
        const bool idle = has_progress_thread_ && waiting_threads_ == 0;
        const bool hooked = hooks_.has_hooks();
        // A sleeping progress thread has not registered with the receivers for free space.
        if (idle && shm_.has_blocked_sends()) shm_.wake_self();
        mutex_.unlock();
        if (idle) handoff_.on_leave(hooked);
    }

    transport::shm::ShmTransport& shm_;
    const ProgressHooks& hooks_;
    std::mutex mutex_;
    uint32_t waiting_threads_ = 0; // threads between unlock_for_wait() and relock()
    bool multithreaded_ = false;
    bool has_progress_thread_ = false;
    bool needed_ = false; // multithreaded_ or has_progress_thread_
    ProgressHandoff handoff_;
};

} // namespace zipmpi::proto
