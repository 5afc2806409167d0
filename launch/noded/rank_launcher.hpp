// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Starts the ranks of this node: descriptors, environment, working directory and CPUs.
#pragma once

#include "launch/noded/output_forwarder.hpp"
#include "launch/noded/pmi_service.hpp"
#include "launch/noded/pmix_service.hpp"
#include "launch/noded/spawn_defaults.hpp"

namespace zipmpi::launch {

class RankLauncher {
  public:
    // Services that a rank is connected to.
    struct Services {
        PmiService& pmi;
        PmixService& pmix;
        OutputForwarder& outputs;
        StdinForwarder& input;
    };
    RankLauncher(const NodeJob& job, RankProcesses& ranks, Services services, SpawnDefaults& defaults)
        : job_(job)
        , ranks_(ranks)
        , services_(services)
        , defaults_(defaults) {}

    // Returns false with the reason, and errno of the step that failed.
    bool start(uint32_t local, const CpuList& cpus, Diagnostic& why);

  private:
    struct RankEnds { // ends of the descriptors for the rank
        os::Fd in, pmi;
        std::array<os::Fd, 2> output;
    };
    struct DaemonEnds {
        os::Fd pmi;
        std::array<os::Fd, 2> output;
    };
    // Returns the step that failed, or null.
    const char* open_descriptors(uint32_t world_rank, RankEnds& rank, DaemonEnds& own);
    [[nodiscard]] std::vector<std::string> environment(uint32_t local, int pmi_fd) const;
    pid_t spawn_rank(uint32_t local, const RankEnds& ends, const CpuList& cpus, const char*& step) const;
    [[nodiscard]] Diagnostic describe_failure(uint32_t local, const char* step, int error) const;

    const NodeJob& job_;
    RankProcesses& ranks_;
    Services services_;
    SpawnDefaults& defaults_;
};

} // namespace zipmpi::launch
