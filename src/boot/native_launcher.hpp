// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Client of ZipMPI's mpiexec. A rank inherits everything it needs at startup, so MPI_Init exchanges no
// message with the launcher. The PMI connection is opened on first use.
#pragma once

#include "boot/detect.hpp"
#include "segment/node_segment.hpp"

namespace zipmpi::boot {

class NativeLauncher final : public Launcher {
  public:
    // Maps the inherited segment and checks that it matches the environment.
    static bool open(const Detection& found, Job& job, Diagnostic& why);

    segment::NodeSegment take_segment() { return std::move(segment_); }

    bool put(std::string_view key, std::string_view value) override;
    bool get(int from_rank, std::string_view key, std::string& value) override;
    bool fence() override;
    void abort(int exit_code, std::string_view text) override;
    bool notify(std::string_view message) override;
    void finalize()
        override; // sends nothing if the connection was never opened: mpiexec reads the state in the segment

  private:
    Launcher* connection();
    segment::NodeSegment segment_;
    std::unique_ptr<Launcher> pmi_;
    int pmi_fd_ = -1;
    int rank_ = 0;
    int size_ = 1;
};

} // namespace zipmpi::boot
