// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/mpiexec/out_stream.hpp"

#include <cerrno>
#include <climits>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

namespace zipmpi::launch {

OutStream::OutStream(int fd)
    : fd_(fd) {
    struct stat st {};
    is_file_ = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
}

bool OutStream::ready() const {
    pollfd p{fd_, POLLOUT, 0};
    return poll(&p, 1, 0) > 0;
}

// A ready pipe accepts at least PIPE_BUF bytes. Cut at line ends, so that lines stay whole even if stdout and
// stderr are one file.
size_t OutStream::portion() const {
    if (is_file_ || queued() <= PIPE_BUF) return queued();
    const size_t end = queue_.rfind('\n', start_ + PIPE_BUF - 1);
    return end == std::string::npos || end < start_ ? PIPE_BUF : end + 1 - start_;
}

void OutStream::write_some() {
    while (queued() > 0 && error_ == 0 && ready()) {
        const ssize_t n = write(fd_, queue_.data() + start_, portion());
        if (n >= 0) {
            start_ += static_cast<size_t>(n);
        } else if (errno == EAGAIN) {
            break;
        } else if (errno != EINTR) {
            error_ = errno;
            drop();
        }
    }
    if (queued() == 0) {
        drop();
    } else if (start_ > (1U << 20)) {
        queue_.erase(0, start_);
        start_ = 0;
    }
}

} // namespace zipmpi::launch
