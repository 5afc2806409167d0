// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// ProgressThread: drives progress while no application thread is inside MPI, mainly for RMA on this rank. It
// sleeps on the network's descriptor and parks when the application enters MPI again.
//
//   parked ──(no thread inside MPI for 30 us)──> driving ──(a thread has entered MPI)──> parked
#pragma once

#include "os/fd.hpp"

#include <atomic>
#include <cstdint>
#include <pthread.h>

namespace zipmpi::proto {

class ProgressEngine;

class ProgressThread {
  public:
    explicit ProgressThread(ProgressEngine& engine)
        : engine_(engine) {}
    // Called under the engine's lock, after attach_progress_thread(). Returns false if no thread was started.
    bool start();
    ~ProgressThread();
    ProgressThread(const ProgressThread&) = delete;
    ProgressThread& operator=(const ProgressThread&) = delete;

  private:
    void run();
    [[nodiscard]] bool should_stop() const { return stop_.load(std::memory_order_acquire); }
    [[nodiscard]] bool idle_long_enough();
    void drive_progress();
    enum class PollResult : uint8_t { busy, idle, refused };
    PollResult poll_once(bool sleeps_next, bool& shm_armed, uint32_t& ticket);
    void sleep_on_shm_and_network(uint32_t ticket, uint32_t entries);
    void sleep_on_network();

    ProgressEngine& engine_;
    os::Fd descriptors_;            // epoll set: the network's descriptor and event_
    os::Fd event_;                  // signaled by application threads: poll again
    std::atomic<bool> stop_{false}; // release and acquire
    pthread_t thread_{};
    bool started_ = false;
};

} // namespace zipmpi::proto
