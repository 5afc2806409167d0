// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Memory exhaustion during library startup, when no error handler exists yet.
#pragma once

#include <new>

namespace zipmpi::core {

// Prints a message without allocating memory and ends the process.
[[noreturn]] void exit_out_of_memory() noexcept;

// During its lifetime a failed allocation in the library calls exit_out_of_memory().
class StartupMemoryGuard {
  public:
    StartupMemoryGuard()
        : previous_(std::set_new_handler(exit_out_of_memory)) {}
    ~StartupMemoryGuard() { std::set_new_handler(previous_); }
    StartupMemoryGuard(const StartupMemoryGuard&) = delete;
    StartupMemoryGuard& operator=(const StartupMemoryGuard&) = delete;

  private:
    std::new_handler previous_;
};

} // namespace zipmpi::core
