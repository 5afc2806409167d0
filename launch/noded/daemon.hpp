// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The inside of the node daemon. One thread, one loop; every descriptor is non-blocking, and every wait has a
// deadline or a peer whose end wakes it: start.cpp makes the ranks, loop.cpp serves them, ending.cpp judges
// their ends and cleans up, streams.cpp carries their output and input, gateways.cpp keeps gateways running.
#pragma once

#include "boot/node_segment.hpp"
#include "launch/link/channel.hpp"
#include "launch/link/messages.hpp"
#include "launch/map/live.hpp"
#include "launch/noded/files.hpp"
#include "launch/noded/host_placement.hpp"
#include "launch/noded/input.hpp"
#include "launch/noded/lines.hpp"
#include "launch/pmi/server.hpp"
#include "launch/pmix/module.hpp"
#include "launch/report/death.hpp"
#include "launch/tree/fence.hpp"
#include "launch/tree/subtree.hpp"

#include "topo/place.hpp"

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
    Daemon(os::Fd socket, NodePlace place, const JobKey* key);
    int run();

  private:
    enum class Source : uint32_t { channel, signals, outputs, rank_stdin, pmi, pmix, out, err, tree, claims };
    // running; SIGTERM sent; SIGKILL sent, waiting for the last child; only bytes left to deliver
    enum class Phase { waiting_for_start, running, ending, killing, draining };

    struct Process { // that speaks PMI with us: the ranks by their local index, then the gateways
        pid_t pid = -1;
        bool live = false;
        os::Fd pmi;
        std::string pmi_out; // what its socket did not take yet
        std::array<os::Fd, 2> pipe;
        std::array<LineCutter, 2> lines;
        std::array<int, 2> file{OutputFiles::none, OutputFiles::none}; // that its streams go to
    };
    struct Rank : Process {
        int status = 0;
        uint32_t world = 0; // its number in the job
        uint32_t app = 0;
        CpuList cpus; // that it was given; empty: all
        bool pmix_inside = false;
    };
    struct Gateway : Process {
        uint32_t number = 0;    // among those of the grid
        uint32_t starts = 0;    // how often it was started
        uint32_t failures = 0;  // starts in a row that came to nothing
        uint32_t said_back = 0; // the start that was reported as a return
        uint64_t started_at = 0, again_at = 0;
    };

    struct PmixTask { // what libpmix's thread leaves for us
        PmixEvent::Kind kind;
        uint32_t rank;
        int status;
        std::string text, data;
        void* cookie;
        std::optional<Routed> answer; // only this: an answer for another node is ready
    };

    // start.cpp
    void start(const std::string& payload);
    bool prepare(Problem& why);
    [[nodiscard]] uint64_t descriptors_needed() const;
    [[nodiscard]] uint32_t output_pipes() const { return request_.output.merge_stderr_to_stdout ? 1 : 2; }
    std::vector<std::string> rank_env(uint32_t local);
    bool start_rank(uint32_t local, const CpuList& cpus, Problem& why);
    void start_failed(uint32_t local, const Problem& why, int exit_code);

    // placement.cpp
    bool place_ranks(Problem& why);
    void report_bindings();
    void show_placement();
    void say_kernel();
    void on_shared_kernel(const Frame& f);
    void move_rank(uint32_t local, const CpuList& cpus);
    void move_to_seats(const CoreNumbers& which);
    void on_claims();
    void settle_cores();

    // live.cpp
    void start_live_map();
    void look_at_talk();
    mapping::Graph sent_since();

    // gateways.cpp
    void find_gateways();
    void start_gateways();
    bool start_gateway(Gateway& g, const char*& step);
    [[nodiscard]] std::string with_found_devices(const Gateway& g) const;
    std::vector<std::string> gateway_env(const Gateway& g, int pmi_end);
    void on_gateway_exit(uint32_t index, int status);
    void note_put_of(uint32_t index);
    void restart_gateways();
    void say(const std::string& line);
    void say_ranks_over();
    [[nodiscard]] bool gateways_needed() const;
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

    // others.cpp
    bool start_others(const std::string& payload, Problem& why);
    void on_child_frame(uint32_t child, const Frame& f);
    void on_child_lost(uint32_t child, bool had_come, const Problem& why);
    [[nodiscard]] Problem describe_ended_daemon(int signal) const;
    PmiServer::Others pmi_others();
    void pass_fence_on();
    void route(const Frame& f);
    void on_routed(const Routed& m);
    void watch_parent();
    [[nodiscard]] boot::Nodes nodes_of_the_job() const; // for the segment
    [[nodiscard]] bool alone() const { return request_.tree.hosts.size() < 2; }

    // loop.cpp
    void step(); // waits for something and serves it
    void watch(int epoll, int fd, uint32_t events, Source source, uint32_t rank = 0);
    int wait_ms() const;
    void serve(uint64_t key, uint32_t events);
    void on_frame(const Frame& f);
    void on_signals();
    void on_pmi(uint32_t local);
    void send_pmi(uint32_t local, std::string_view bytes);
    void throttle();
    void on_deadlines();

    // streams.cpp
    bool prepare_streams(uint32_t local, Problem& why);
    void on_outputs();
    bool read_output(uint32_t local, int stream);
    void send_output(int stream, uint32_t local, std::string_view text);
    [[nodiscard]] std::string_view to_file(int stream, uint32_t local, std::string_view text);
    void flush_prompt();
    [[nodiscard]] bool reads_stdin(uint32_t rank) const;
    void on_stdin(const Frame& f);
    void feed_stdin();
    void send_exit_codes();

    // pmix.cpp
    void start_pmix();
    [[nodiscard]] std::string scratch_name() const;
    void queue_pmix(PmixTask task);
    void on_pmix();
    void on_pmix(PmixTask& t);
    void pass_pmix_fence_on();
    void pmix_fence_done(std::string_view data);
    void on_modex(const Routed& m);

    // ending.cpp
    void reap();
    void on_rank_exit(uint32_t local, int status);
    Death death_of(uint32_t local) const;
    void judge(uint32_t local, int status);
    void on_abort(uint32_t local, int exit_code, std::string_view text);
    void fail(uint32_t local, uint32_t exit_code, const std::string& text, bool by_signal = false);
    void end_job();
    bool end_ranks(bool finalized_too);
    void end_finalized_ranks();
    void kill_job();
    [[nodiscard]] std::vector<pid_t> spared() const;
    [[nodiscard]] bool nobody_left() const;
    [[nodiscard]] bool spawned_runs();
    void finish_when_quiet();
    void let_go();
    Snapshot snapshot() const;

    // events.cpp
    void on_told(uint32_t local, const PmiMessage& m);
    void hand_out_decision(uint32_t local, const boot::Decided& decided);
    void hand_out_decisions(uint32_t local);
    void send_event(const Event& e);
    void on_news(const Event& e);
    void report_failed(uint32_t local, uint32_t exit_code, const std::string& text, bool by_signal);
    void on_child_nodes_lost(NodePlace nodes, const Problem& why);

    Channel channel_; // to mpiexec, or to the daemon above
    NodePlace place_;
    JobKey key_{};
    bool network_ = false; // channel_ is a TCP connection
    Subtree below_;
    FenceGather fence_;
    uint64_t parent_heard_ = 0, beat_at_ = 0;
    bool parent_sleeps_ = false; // it has said that it stops for a while
    os::Fd epoll_, output_epoll_, signals_, pmix_event_;
    StartRequest request_;
    HostPlacement placement_;
    uint64_t settle_at_ = 0; // 0: nothing has changed
    boot::NodeSegment segment_;
    std::vector<Rank> ranks_;
    std::vector<Gateway> gateways_;
    FenceGather ranks_over_;
    bool ranks_over_said_ = false, gateways_end_ = false;
    NodeMap seen_map_;                              // as ranks see it: nodes with ranks only, numbered from 0
    std::vector<std::vector<std::string>> app_env_; // per program
    std::unordered_map<pid_t, uint32_t> by_pid_;
    std::set<pid_t> spawned_; // by ranks, with MPI_Comm_spawn
    std::unique_ptr<PmiServer> pmi_;
    const PmixModule* pmix_ = nullptr;
    std::mutex pmix_mutex_; // guards pmix_tasks_, filled by libpmix's thread
    std::deque<PmixTask> pmix_tasks_;
    FenceGather pmix_fence_;
    std::deque<void*> pmix_fences_; // cookies of fences that wait for other nodes
    std::unordered_map<uint32_t, std::vector<void*>> pmix_asking_; // cookies by rank
    std::string file_scratch_, memory_scratch_;                    // directories for other MPIs, or empty
    std::string host_;
    rlimit open_files_{};
    sigset_t ignored_signals_{};

    Phase phase_ = Phase::waiting_for_start;
    uint32_t live_ = 0, open_pipes_ = 0;
    bool failed_ = false;         // mpiexec knows of a failure
    bool all_may_finish_ = false; // before they are ended
    bool interrupted_ = false;    // the user ended the job: how ranks end is not news
    bool front_gone_ = false, outputs_paused_ = false;
    int open_line_[2] = {-1, -1}; // rank that has written part of a line to this stream
    std::map<std::pair<uint32_t, uint32_t>, std::vector<uint32_t>> agreeing_; // ranks that wait, by agreement
    std::map<uint32_t, std::deque<boot::Decided>> kept_decisions_;            // that found no slot, by rank
    uint64_t term_at_ = 0, kill_at_ = 0, prompt_at_ = 0, give_up_at_ = 0;
    LiveMap live_map_;
    uint64_t look_at_ = 0, looked_at_ = 0;                   // 0: ranks stay where they are
    std::vector<std::map<uint32_t, double>> counted_before_; // of each rank, by the one it has sent to

    OutputFiles files_;
    RankInput input_;
    bool stdin_closed_ = false; // mpiexec knows that nobody reads
};

} // namespace zipmpi::launch
