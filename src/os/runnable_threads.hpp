// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// How many threads of the host run or wait for a CPU, from /proc/loadavg. A count takes about 2 us.
#pragma once

#include "os/fd.hpp"

#include <cstdint>
#include <string_view>

namespace zipmpi::os {

class RunnableThreads {
  public:
    [[nodiscard]] uint32_t count(); // with the caller; 0: unknown

  private:
    Fd file_;
    bool opened_ = false;
};

uint32_t parse_runnable_threads(std::string_view loadavg); // 0: not such a text

} // namespace zipmpi::os
