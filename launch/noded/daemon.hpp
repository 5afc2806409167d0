// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The node daemon. One thread, one loop; every descriptor is nonblocking, and every wait has a deadline or
// ends with its peer. start.cpp starts the ranks, loop.cpp serves them, termination.cpp classifies exits and
// cleans up, streams.cpp forwards output and input, gateways.cpp keeps gateways running.
#pragma once

#include "launch/noded/host_placement.hpp"
#include "launch/noded/line_splitter.hpp"
#include "launch/noded/output_files.hpp"
#include "launch/noded/rank_input.hpp"
#include "launch/placement/rebinder.hpp"
#include "launch/pmi/pmi_server.hpp"
#include "launch/pmix/pmix_module.hpp"
#include "launch/protocol/frame_socket.hpp"
#include "launch/protocol/messages.hpp"
#include "launch/report/exit_report.hpp"
#include "launch/tree/fence.hpp"
#include "launch/tree/subtree.hpp"
#include "segment/node_segment.hpp"

#include "hwtopo/machine.hpp"

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <sys/resource.h>
#include <unordered_map>
#include <vector>

namespace zipmpi::launch {

class Daemon {
  public:
    Daemon(os::Fd socket, NodeRange range, const JobKey* key);
    int run();

  private:
    enum class Source : uint32_t { parent, signals, outputs, rank_stdin, pmi, pmix, out, err, tree, claims };
    // running; SIGTERM sent; SIGKILL sent, waiting for the last child; only bytes left to deliver
    enum class Phase { waiting_for_start, running, terminating, killing, draining };

    struct Process { // PMI client: the ranks by local index, then the gateways
        pid_t pid = -1;
        bool live = false;
        os::Fd pmi;
        std::string pmi_out; // not yet accepted by its socket
        std::array<os::Fd, 2> pipe;
        std::array<LineSplitter, 2> lines;
        std::array<int, 2> file{OutputFiles::none, OutputFiles::none}; // files of its streams
    };
    struct RankProcess : Process {
        int status = 0;
        uint32_t world_rank = 0; // rank in MPI_COMM_WORLD
        uint32_t app = 0;
        CpuList cpus; // assigned CPUs; empty: all
        bool pmix_initialized = false;
    };
    struct GatewayProcess : Process {
        uint32_t number = 0;         // in the cluster map
        uint32_t starts = 0;         // number of starts
        uint32_t failures = 0;       // consecutive starts that failed
        uint32_t reported_start = 0; // start that has been reported as a recovery
        uint64_t started_at = 0, restart_at = 0;
    };

    struct PmixTask { // work queued by libpmix's thread
        PmixEvent::Kind kind;
        uint32_t rank;
        int status;
        std::string text, data;
        void* cookie;
        std::optional<RoutedMessage> reply; // set: only forward this reply to another node
    };

    // start.cpp
    void start(const std::string& payload);
    bool prepare(Diagnostic& why);
    [[nodiscard]] uint64_t descriptors_needed() const;
    [[nodiscard]] uint32_t output_pipes() const { return request_.output.merge_stderr_to_stdout ? 1 : 2; }
    std::vector<std::string> rank_env(uint32_t local);
    bool start_rank(uint32_t local, const CpuList& cpus, Diagnostic& why);
    void start_failed(uint32_t local, const Diagnostic& why, int exit_code);

    // rank_binding.cpp
    bool place_ranks(Diagnostic& why);
    void report_bindings();
    void show_placement();
    void send_kernel_info();
    void on_kernel_share(const ControlFrame& f);
    void rebind_rank(uint32_t local, const CpuList& cpus);
    void rebind_ranks(const CoreIndices& which);
    void on_claims();
    void update_lent_cpus();

    // rebinding.cpp
    void start_rebinder();
    void sample_traffic();
    mapping::Graph traffic_since_sample();

    // gateways.cpp
    void find_gateways();
    void start_gateways();
    bool start_gateway(GatewayProcess& g, const char*& step);
    [[nodiscard]] std::string cluster_map_with_devices(const GatewayProcess& g) const;
    std::vector<std::string> gateway_env(const GatewayProcess& g, int pmi_end);
    void on_gateway_exit(uint32_t index, int status);
    void report_gateway_restart(uint32_t index);
    void restart_gateways();
    void report_line(const std::string& line);
    void send_ranks_finished();
    [[nodiscard]] bool are_gateways_needed() const;
    void end_gateways();
    [[nodiscard]] uint64_t next_restart() const; // 0: none
    [[nodiscard]] bool is_rank(uint32_t index) const { return index < ranks_.size(); }
    Process& process(uint32_t index) {
        if (is_rank(index)) return ranks_[index];
        return gateways_[index - ranks_.size()];
    }
    [[nodiscard]] uint32_t processes() const {
        return static_cast<uint32_t>(ranks_.size() + gateways_.size());
    }

    // tree_relay.cpp
    bool start_subtree(const std::string& payload, Diagnostic& why);
    void on_child_frame(uint32_t child, const ControlFrame& f);
    void on_child_failed(uint32_t child, bool was_connected, const Diagnostic& why);
    [[nodiscard]] Diagnostic describe_daemon_signal(int signal) const;
    PmiServer::RemoteNodes make_remote_nodes();
    void forward_fence();
    void route(const ControlFrame& f);
    void on_routed(const RoutedMessage& m);
    void check_parent();
    [[nodiscard]] segment::NodeTable node_table() const; // for the segment
    [[nodiscard]] bool is_single_node() const { return request_.tree.hosts.size() < 2; }

    // loop.cpp
    void step(); // waits for events and handles them
    void watch(int epoll, int fd, uint32_t events, Source source, uint32_t rank = 0);
    int wait_ms() const;
    void serve(uint64_t key, uint32_t events);
    void on_frame(const ControlFrame& f);
    void on_signals();
    void on_pmi(uint32_t local);
    void send_pmi(uint32_t local, std::string_view bytes);
    void throttle();
    void on_deadlines();

    // streams.cpp
    bool prepare_streams(uint32_t local, Diagnostic& why);
    void on_outputs();
    bool read_output(uint32_t local, int stream);
    void send_output(int stream, uint32_t local, std::string_view text);
    [[nodiscard]] std::string_view write_to_file(int stream, uint32_t local, std::string_view text);
    void flush_prompt();
    [[nodiscard]] bool reads_stdin(uint32_t rank) const;
    void on_stdin(const ControlFrame& f);
    void feed_stdin();
    void send_exit_codes();

    // pmix.cpp
    void start_pmix();
    [[nodiscard]] std::string scratch_name() const;
    void queue_pmix(PmixTask task);
    void on_pmix();
    void on_pmix(PmixTask& t);
    void forward_pmix_fence();
    void pmix_fence_done(std::string_view data);
    void on_modex(const RoutedMessage& m);

    // termination.cpp
    void reap();
    void on_rank_exit(uint32_t local, int status);
    RankExit rank_exit_of(uint32_t local) const;
    void classify_exit(uint32_t local, int status);
    void on_abort(uint32_t local, int exit_code, std::string_view text);
    void fail(uint32_t local, uint32_t exit_code, const std::string& text, bool by_signal = false);
    void end_job();
    bool end_ranks(bool finalized_too);
    void end_finalized_ranks();
    void kill_job();
    [[nodiscard]] std::vector<pid_t> excluded_pids() const;
    [[nodiscard]] bool no_descendants_left() const;
    [[nodiscard]] bool has_spawned_jobs();
    void finish_when_idle();
    void release_children();
    Snapshot snapshot() const;

    // fault_relay.cpp
    void on_notify(uint32_t local, const PmiMessage& m);
    void publish_agreement(uint32_t local, const segment::AgreementResult& decided);
    void publish_queued_agreements(uint32_t local);
    void send_event(const JobEvent& e);
    void on_fault_event(const JobEvent& e);
    void report_failed(uint32_t local, uint32_t exit_code, const std::string& text, bool by_signal);
    void report_failed_nodes(NodeRange nodes, const Diagnostic& why);

    FrameSocket parent_; // to mpiexec, or to the daemon above
    NodeRange range_;
    JobKey key_{};
    bool network_ = false; // parent_ is a TCP connection
    Subtree subtree_;
    FenceGather fence_;
    uint64_t parent_last_received_ = 0, heartbeat_at_ = 0;
    bool parent_suspended_ = false; // it has announced that it is being stopped
    os::Fd epoll_, output_epoll_, signals_, pmix_event_;
    StartRequest request_;
    HostPlacement placement_;
    uint64_t update_lent_at_ = 0; // 0: no change
    segment::NodeSegment segment_;
    std::vector<RankProcess> ranks_;
    std::vector<GatewayProcess> gateways_;
    FenceGather ranks_finished_;
    bool ranks_finished_sent_ = false, gateways_ending_ = false;
    NodeMap dense_map_;                             // nodes with ranks only, numbered from 0
    std::vector<std::vector<std::string>> app_env_; // per program
    std::unordered_map<pid_t, uint32_t> by_pid_;
    std::set<pid_t> spawned_; // started by ranks with MPI_Comm_spawn
    std::unique_ptr<PmiServer> pmi_;
    const PmixModule* pmix_ = nullptr;
    std::mutex pmix_mutex_; // guards pmix_tasks_, filled by libpmix's thread
    std::deque<PmixTask> pmix_tasks_;
    FenceGather pmix_fence_;
    std::deque<void*> pmix_fences_; // cookies of fences waiting for other nodes
    std::unordered_map<uint32_t, std::vector<void*>> pmix_pending_gets_; // cookies by rank
    std::string file_scratch_, memory_scratch_; // directories for other MPIs, or empty
    std::string host_;
    rlimit open_files_{};
    sigset_t ignored_signals_{};

    Phase phase_ = Phase::waiting_for_start;
    uint32_t live_ranks_ = 0, open_pipes_ = 0;
    bool failed_ = false;              // a failure has been reported to mpiexec
    bool grace_for_finalized_ = false; // finalized ranks get time to exit before SIGTERM
    bool interrupted_ = false;         // the user ended the job: exits are not reported
    bool parent_disconnected_ = false, outputs_paused_ = false;
    int open_line_[2] = {-1, -1}; // rank that has an unfinished line on this stream
    std::map<std::pair<uint32_t, uint32_t>, std::vector<uint32_t>>
        agreement_waiters_; // waiting ranks by agreement
    std::map<uint32_t, std::deque<segment::AgreementResult>>
        queued_agreements_; // results without a free slot, by rank
    uint64_t term_at_ = 0, kill_at_ = 0, prompt_at_ = 0, drain_deadline_ = 0;
    Rebinder rebinder_;
    uint64_t sample_at_ = 0, sampled_at_ = 0;             // 0: rebinding is off
    std::vector<std::map<uint32_t, double>> last_counts_; // of each rank, by destination

    OutputFiles files_;
    RankInput input_;
    bool stdin_closed_ = false; // mpiexec has been told that no rank reads
};

} // namespace zipmpi::launch
