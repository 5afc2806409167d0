// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// mpiexec's standard input on its way into the ranks of this node that read it. Each of them gets all of it.
#pragma once

#include "os/fd.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace zipmpi::launch {

class RankInput {
  public:
    uint32_t add_reader(os::Fd pipe); // a non-blocking end to write to; its number
    void add(std::string_view bytes);
    void end() { ended_ = true; } // nothing follows what was added
    // Writes what the pipes take. Returns the bytes that all readers have taken since the last call.
    size_t write_some();
    void drop(uint32_t reader); // it has closed its end

    [[nodiscard]] bool ended() const { return ended_; }
    [[nodiscard]] bool anybody_reads() const;
    [[nodiscard]] uint32_t readers() const { return static_cast<uint32_t>(readers_.size()); }
    [[nodiscard]] int fd(uint32_t reader) const {
        return readers_[reader].pipe.get();
    } // -1: it does not read
    [[nodiscard]] bool behind(uint32_t reader) const { return readers_[reader].taken < queue_.size(); }

  private:
    struct Reader {
        os::Fd pipe;
        size_t taken = 0; // of the queue
    };
    void write_to(Reader& r);
    std::vector<Reader> readers_;
    std::string queue_;
    bool ended_ = false;
};

} // namespace zipmpi::launch
