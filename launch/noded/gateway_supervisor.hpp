// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Gateways on this host: started before the ranks, watched, and restarted when they die. They run until
// mpiexec reports that every rank of the job has ended.
#pragma once

#include "launch/noded/output_forwarder.hpp"
#include "launch/noded/pmi_service.hpp"
#include "launch/noded/spawn_defaults.hpp"

namespace zipmpi::launch {

class GatewaySupervisor {
  public:
    GatewaySupervisor(const NodeJob& job, ParentLink& parent, JobLifecycle& lifecycle, PmiService& pmi,
                      OutputForwarder& outputs)
        : job_(job)
        , parent_(parent)
        , lifecycle_(lifecycle)
        , pmi_(pmi)
        , outputs_(outputs) {}

    void begin(); // finds the gateways of this node
    [[nodiscard]] uint32_t size() const { return static_cast<uint32_t>(gateways_.size()); }
    [[nodiscard]] std::vector<uint32_t> numbers() const; // in the cluster map
    bool start_all(const SpawnDefaults& defaults, Diagnostic& why);
    // PMI client index of a gateway that has been reaped.
    [[nodiscard]] std::optional<uint32_t> find_pid(pid_t pid) const;
    void on_exited(uint32_t client, int status);
    void report_recovery(uint32_t client); // after a restart, once
    void restart_due();
    [[nodiscard]] uint64_t next_time() const; // of the next restart; 0: none
    void end_all();
    // True until the gateways have been asked to exit and have exited; the wait is limited.
    [[nodiscard]] bool are_needed() const;

  private:
    struct Gateway {
        pid_t pid = -1;
        bool live = false;
        uint32_t number = 0;         // in the cluster map
        uint32_t starts = 0;         // number of starts
        uint32_t failures = 0;       // consecutive starts that failed
        uint32_t reported_start = 0; // start that has been reported as a recovery
        uint64_t started_at = 0, restart_at = 0;
    };
    [[nodiscard]] uint32_t client_of(const Gateway& g) const {
        return job_.ranks() + static_cast<uint32_t>(&g - gateways_.data());
    }
    bool start(Gateway& g, const char*& step);
    [[nodiscard]] std::string cluster_map_with_devices(const Gateway& g);
    std::vector<std::string> environment(const Gateway& g, int pmi_end);

    const NodeJob& job_;
    ParentLink& parent_;
    JobLifecycle& lifecycle_;
    PmiService& pmi_;
    OutputForwarder& outputs_;
    SpawnDefaults defaults_; // kept for restarts
    std::vector<Gateway> gateways_;
    bool ending_ = false;
};

} // namespace zipmpi::launch
