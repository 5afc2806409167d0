// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Standard output or error of mpiexec. It is shared with other processes (a terminal, a pipe), so the
// descriptor stays blocking; mpiexec writes only what it accepts without blocking.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace zipmpi::launch {

class OutStream {
  public:
    explicit OutStream(int fd);
    void add(std::string_view bytes) {
        if (error_ == 0) queue_.append(bytes);
    }
    void write_some(); // without blocking
    void drop() { queue_.clear(), start_ = 0; }
    [[nodiscard]] size_t queued() const { return queue_.size() - start_; }
    [[nodiscard]] int fd() const { return fd_; }
    [[nodiscard]] int error() const {
        return error_;
    } // error of the write that failed: EPIPE, ENOSPC; 0: none

  private:
    [[nodiscard]] bool ready() const;
    [[nodiscard]] size_t portion() const;
    int fd_;
    bool is_file_;
    int error_ = 0;
    std::string queue_;
    size_t start_ = 0;
};

} // namespace zipmpi::launch
