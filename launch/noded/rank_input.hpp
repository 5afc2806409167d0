// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Forwards mpiexec's standard input to the reading ranks of this node. Each of them gets all of it.
#pragma once

#include "os/fd.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace zipmpi::launch {

class RankInput {
  public:
    uint32_t add_reader(os::Fd pipe); // pipe: nonblocking write end; returns the reader's number
    void add(std::string_view bytes);
    void end() { ended_ = true; } // no input follows
    // Writes what the pipes accept. Returns the bytes that all readers have consumed since the last call.
    size_t write_some();
    void drop(uint32_t reader); // it has closed its end

    [[nodiscard]] bool ended() const { return ended_; }
    [[nodiscard]] bool has_readers() const;
    [[nodiscard]] uint32_t readers() const { return static_cast<uint32_t>(readers_.size()); }
    [[nodiscard]] int fd(uint32_t reader) const {
        return readers_[reader].pipe.get();
    } // -1: it does not read
    [[nodiscard]] bool has_backlog(uint32_t reader) const {
        return readers_[reader].consumed < queue_.size();
    }

  private:
    struct StdinReader {
        os::Fd pipe;
        size_t consumed = 0; // bytes of the queue
    };
    void write_to(StdinReader& r);
    std::vector<StdinReader> readers_;
    std::string queue_;
    bool ended_ = false;
};

} // namespace zipmpi::launch
