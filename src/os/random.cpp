// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "os/random.hpp"

#include "os/fd.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

namespace zipmpi::os {
namespace {

template <class Give>
bool fill(void* bytes, size_t size, Give read_some) noexcept {
    auto* at = static_cast<char*>(bytes);
    while (size > 0) {
        const ssize_t n = read_some(at, size);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        at += n;
        size -= static_cast<size_t>(n);
    }
    return true;
}

} // namespace

bool fill_random(void* bytes, size_t size) noexcept {
    if (fill(bytes, size, [](char* at, size_t n) { return getrandom(at, n, 0); })) return true;
    const Fd device(
        open("/dev/urandom", O_RDONLY | O_CLOEXEC)); // fallback if a seccomp filter blocks the system call
    return device && fill(bytes, size, [&](char* at, size_t n) { return read(device.get(), at, n); });
}

} // namespace zipmpi::os
