// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// All that mpiexec writes: the output of the ranks, folded if asked for, and its own words behind it.
#pragma once

#include "launch/link/frame.hpp"
#include "launch/mpiexec/fold.hpp"
#include "launch/mpiexec/stream.hpp"

#include <array>
#include <map>
#include <string>
#include <string_view>

namespace zipmpi::launch {

class JobOutput {
  public:
    JobOutput(const OutputPolicy& policy, uint32_t world_size);

    void on_output(std::string_view payload);     // of a frame
    void on_exit_codes(std::string_view payload); // of a frame
    void tell(std::string_view text);             // to stderr, behind all that ranks have written before
    void show(std::string_view text) { streams_[0].add(text); }
    void finish(); // nothing more comes from the ranks

    // The descriptor of stdout (0) or stderr (1) if something waits to be written there, else -1.
    [[nodiscard]] int waiting_fd(size_t stream) const {
        return streams_[stream].queued() > 0 ? streams_[stream].fd() : -1;
    }
    [[nodiscard]] bool empty() const { return streams_[0].queued() == 0 && streams_[1].queued() == 0; }
    [[nodiscard]] bool full() const; // so much waits that the ranks must
    // The error that ended stdout (0) or stderr (1); 0: none.
    [[nodiscard]] int error(size_t stream) const { return streams_[stream].error(); }
    [[nodiscard]] uint64_t next_time() const; // 0: none
    void on_time(uint64_t now);
    void write_some();
    void drop();

  private:
    void flush_folded();
    bool folds_;
    std::array<OutStream, 2> streams_;
    std::array<LineFolder, 2> folders_;
    std::map<uint32_t, std::string> exit_codes_; // by node
};

} // namespace zipmpi::launch
