// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The part of a job on this node: its start request, the place of this node in the launch tree, its ranks and
// its node segment. Shared by the services of the daemon.
#pragma once

#include "base/key_schedule.hpp"
#include "launch/protocol/messages.hpp"
#include "launch/tree/bootstrap.hpp"
#include "os/fd.hpp"
#include "segment/node_segment.hpp"

namespace zipmpi::launch {

class NodeJob {
  public:
    // secret: null for the daemon on the host of mpiexec; wiped.
    NodeJob(NodeRange range, JobKey* secret);
    bool read(std::string_view start_request);
    bool make_segment(Diagnostic& why); // after load_params(): its layout depends on parameters
    // A pipe that ranks read at their start if they are held for a debugger: its end releases them.
    [[nodiscard]] int hold_fd() const { return held_.get(); }
    void release_ranks() { holder_.reset(); }

    [[nodiscard]] const StartRequest& request() const { return request_; }
    [[nodiscard]] NodeRange range() const { return range_; }
    [[nodiscard]] uint32_t node() const { return range_.node; }
    [[nodiscard]] const JobKey& secret() const { return secret_; }
    void wipe_secret() { wipe(secret_); } // after child daemons are started and segments are made
    [[nodiscard]] bool is_networked() const { return networked_; } // the parent is on another host
    [[nodiscard]] bool is_single_node() const { return request_.tree.nodes() < 2; }
    [[nodiscard]] const std::string& host() const { return host_; }
    [[nodiscard]] const std::string& host_in_job() const; // as written by the user, in a multi-host job
    [[nodiscard]] const NodeMap& dense_map() const { return dense_map_; }
    [[nodiscard]] segment::NodeTable node_table() const; // for the segment

    [[nodiscard]] const std::vector<uint32_t>& local_ranks() const { return local_ranks_; }
    [[nodiscard]] uint32_t ranks() const { return static_cast<uint32_t>(local_ranks_.size()); }
    [[nodiscard]] bool is_rank(uint32_t client) const { return client < local_ranks_.size(); }
    // Node of a PMI client by its rank in MPI_COMM_WORLD, or of a gateway by world size plus its number.
    [[nodiscard]] uint32_t node_of(uint32_t client) const;

    [[nodiscard]] const segment::NodeSegment& segment() const { return segment_; }
    [[nodiscard]] segment::NodeSegment& segment() { return segment_; }
    // For gateways on this node: placement of the ranks and the key of gateways, no memory of ranks.
    [[nodiscard]] const segment::NodeSegment& gateway_segment() const { return gateway_segment_; }

  private:
    bool make_gateway_segment(Diagnostic& why);

    NodeRange range_;
    JobKey secret_{};
    bool networked_;
    std::string host_;
    StartRequest request_;
    NodeMap dense_map_;                 // nodes with ranks only, numbered from 0
    std::vector<uint32_t> local_ranks_; // ranks in MPI_COMM_WORLD, by local index
    segment::NodeSegment segment_, gateway_segment_;
    os::Fd held_, holder_; // ends of the pipe
};

} // namespace zipmpi::launch
