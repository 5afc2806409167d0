// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A second table of descriptors of this process, for hosts with more ranks than the limit of open files
// permits, which applies to each table. It belongs to a thread that shares the memory of the process but not
// its descriptors, and does what it is told while the caller waits: nothing runs concurrently. Used by
// OutputForwarder.
#pragma once

#include "os/fd.hpp"

#include <atomic>
#include <functional>
#include <pthread.h>
#include <sys/types.h>
#include <vector>

namespace zipmpi::launch {

class SecondTable {
  public:
    // Gets the descriptor in this table that was passed, or -1. Returns a result with errno, like a system
    // call.
    using Function = std::function<ssize_t(int passed)>;

    SecondTable() = default;
    SecondTable(const SecondTable&) = delete;
    SecondTable& operator=(const SecondTable&) = delete;
    ~SecondTable(); // closes all its descriptors

    // Creates the table. `kept` has the same number in both. Returns false if the kernel does not permit it
    // (Linux 5.9).
    bool begin(int kept);
    [[nodiscard]] bool exists() const { return bool(caller_end_); }
    // Runs a function with this table, and passes a copy of a descriptor to it; -1: none.
    ssize_t run(const Function& function, int passed = -1);

  private:
    struct Call {
        const Function* function;
        ssize_t result;
        int error;
        std::atomic<bool> posted, done; // besides the messages: for sanitizers
    };

    static void* serve(void* self);
    void serve_calls() const;
    [[nodiscard]] bool close_inherited() const;

    os::Fd caller_end_;
    int thread_end_ = -1; // valid in the second table
    int kept_ = -1;
    pthread_t thread_{};
};

} // namespace zipmpi::launch
