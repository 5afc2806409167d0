// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Everything that mpiexec writes: the output of the ranks, folded on request, and its own messages after it.
#pragma once

#include "base/diagnostic.hpp"
#include "launch/mpiexec/line_folder.hpp"
#include "launch/mpiexec/out_stream.hpp"
#include "launch/protocol/control_frame.hpp"

#include <array>
#include <map>
#include <string>
#include <string_view>

namespace zipmpi::launch {

class JobOutput {
  public:
    JobOutput(const OutputPolicy& policy, uint32_t world_size);

    void on_output(std::string_view payload);     // payload of a frame
    void on_exit_codes(std::string_view payload); // payload of a frame
    void write_stderr(std::string_view text);     // to stderr, after all earlier output of ranks
    void write_diagnostic(const Diagnostic& p) { write_stderr(format(p, "mpiexec")); }
    void write_stdout(std::string_view text) { streams_[0].add(text); }
    void finish(); // the ranks write no more output

    // Descriptor of stdout (0) or stderr (1) if output for it is pending, otherwise -1.
    [[nodiscard]] int waiting_fd(size_t stream) const {
        return streams_[stream].queued() > 0 ? streams_[stream].fd() : -1;
    }
    [[nodiscard]] bool empty() const { return streams_[0].queued() == 0 && streams_[1].queued() == 0; }
    [[nodiscard]] bool full() const; // enough output is pending that the ranks must wait
    // The error that ended stdout (0) or stderr (1); 0 if none.
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
