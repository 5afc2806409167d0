// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Under our own mpiexec: everything a rank needs at start is inherited, so MPI_Init exchanges no message with
// the launcher. The PMI connection is opened by the first call that needs it.
#pragma once

#include "boot/detect.hpp"
#include "boot/node_segment.hpp"

namespace zipmpi::boot {

class MpiexecLauncher final : public Launcher {
  public:
    // Maps the inherited segment and checks that it agrees with the environment.
    static bool open(const Detection& found, Job& job, Problem& why);

    NodeSegment take_segment() { return std::move(segment_); }

    bool put(std::string_view key, std::string_view value) override;
    bool get(int from_rank, std::string_view key, std::string& value) override;
    bool fence() override;
    void abort(int exit_code, std::string_view text) override;
    bool tell(std::string_view words) override;
    void
    finalize() override; // says nothing if nothing was said before: mpiexec reads the state in the segment

  private:
    Launcher* connection();
    NodeSegment segment_;
    std::unique_ptr<Launcher> pmi_;
    int pmi_fd_ = -1;
    int rank_ = 0;
    int size_ = 1;
};

} // namespace zipmpi::boot
