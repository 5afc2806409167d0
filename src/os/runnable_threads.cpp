// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "os/runnable_threads.hpp"

#include <charconv>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

namespace zipmpi::os {

// "0.20 0.18 0.12 1/80 11206": three averages, runnable threads / all threads, the newest pid.
uint32_t parse_runnable_threads(std::string_view loadavg) {
    for (int averages = 0; averages < 3; ++averages) {
        const size_t space = loadavg.find(' ');
        if (space == std::string_view::npos) return 0;
        loadavg.remove_prefix(space + 1);
    }
    const char* const end = loadavg.data() + loadavg.size();
    uint32_t runnable = 0;
    const auto [slash, error] = std::from_chars(loadavg.data(), end, runnable);
    return error == std::errc() && slash != end && *slash == '/' ? runnable : 0;
}

uint32_t RunnableThreads::count() {
    if (!std::exchange(opened_, true)) file_.reset(open("/proc/loadavg", O_RDONLY | O_CLOEXEC));
    if (file_.get() < 0) return 0;
    char text[128];
    const ssize_t bytes = pread(file_.get(), text, sizeof text, 0);
    return bytes > 0 ? parse_runnable_threads({text, static_cast<size_t>(bytes)}) : 0;
}

} // namespace zipmpi::os
