// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A thread that makes progress while no thread of the program is inside MPI, for what others do to this rank
// without its help. It sleeps on the descriptor of the network; as soon as the program is back in MPI it
// keeps out of the way.
//
//   parked ──(nobody inside for a moment)──> watching ──(somebody has come)──> parked
#pragma once

#include "os/fd.hpp"

#include <atomic>
#include <cstdint>
#include <pthread.h>

namespace zipmpi::proto {

class Lane;

class Helper {
  public:
    explicit Helper(Lane& lane)
        : lane_(lane) {}
    // Inside the lane's lock, after begin_helping(). False: there is no thread.
    bool start();
    ~Helper();
    Helper(const Helper&) = delete;
    Helper& operator=(const Helper&) = delete;

  private:
    void run();
    [[nodiscard]] bool is_over() const { return over_.load(std::memory_order_acquire); }
    [[nodiscard]] bool nobody_comes();
    void watch();
    enum class Look : uint8_t { busy, quiet, refused };
    Look look(bool sleeps_next, bool& listens, uint32_t& ticket);
    void sleep_and_listen(uint32_t ticket, uint32_t entries);
    void sleep_deaf();

    Lane& lane_;
    os::Fd descriptors_;            // the network's, and the event
    os::Fd event_;                  // of threads of the program: look again
    std::atomic<bool> over_{false}; // release and acquire: nothing else is told by it
    pthread_t thread_{};
    bool runs_ = false;
};

} // namespace zipmpi::proto
