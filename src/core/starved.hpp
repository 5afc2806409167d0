// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// No memory while the library starts: there is nobody yet to give an error to.
#pragma once

#include <new>

namespace zipmpi::core {

// Says that there is no memory, without asking for any, and ends the process.
[[noreturn]] void end_for_want_of_memory() noexcept;

// While it lives, that happens whenever the library asks for memory in vain.
class StartingMemory {
  public:
    StartingMemory()
        : before_(std::set_new_handler(end_for_want_of_memory)) {}
    ~StartingMemory() { std::set_new_handler(before_); }
    StartingMemory(const StartingMemory&) = delete;
    StartingMemory& operator=(const StartingMemory&) = delete;

  private:
    std::new_handler before_;
};

} // namespace zipmpi::core
