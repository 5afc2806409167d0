// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// PMIx for the ranks of this node. Requests that libpmix cannot answer go through the tree. Scratch
// directories for other MPIs are part of it.
#pragma once

#include "launch/noded/rank_processes.hpp"
#include "launch/noded/tree_relay.hpp"
#include "launch/pmi/pmi_server.hpp"
#include "launch/pmix/pmix_module.hpp"

#include <deque>
#include <mutex>

namespace zipmpi::launch {

// File of the module zipmpi_pmix_server.so. Empty: not installed.
std::string pmix_module_file();

class PmixService final : private PmixListener {
  public:
    PmixService(const NodeJob& job, EventLoop& loop, TreeRelay& relay, const RankProcesses& ranks,
                PmiServer::Abort abort);
    void start(); // without libpmix the job runs without PMIx
    void add_environment(uint32_t world_rank, std::vector<std::string>& variables) const;
    void serve(); // handles what libpmix has reported
    void fence_done(std::string_view data);
    void deliver(const RoutedMessage& m); // request or reply of another node
    // True between init and finalize.
    [[nodiscard]] bool is_initialized(uint32_t local) const {
        return local < initialized_.size() && initialized_[local];
    }
    void remove_scratch_directories() const;

  private:
    struct Task { // work queued by libpmix's thread
        PmixEvent::Kind kind;
        uint32_t rank;
        int status;
        std::string text, data;
        PmixRequest* request;
        std::optional<RoutedMessage> reply; // set: only forward this reply to another node
    };

    [[nodiscard]] std::string scratch_name() const;
    bool start_module(const PmixModule& module);
    void on_event(const PmixEvent& e) override; // called on libpmix's thread
    void queue(Task task);
    void handle(Task& task);
    void request_modex(uint32_t rank, PmixRequest* request);
    void reply_to_node(const RoutedMessage& request, uint32_t rank);

    const NodeJob& job_;
    EventLoop& loop_;
    TreeRelay& relay_;
    const RankProcesses& ranks_;
    PmiServer::Abort abort_;
    EventLoop::Source source_;
    const PmixModule* module_ = nullptr;
    os::Fd task_event_;
    std::mutex mutex_; // guards tasks_, filled by libpmix's thread
    std::deque<Task> tasks_;
    std::deque<PmixRequest*> fences_;                                      // waiting for other nodes
    std::unordered_map<uint32_t, std::vector<PmixRequest*>> pending_gets_; // by rank
    std::vector<bool> initialized_;                                        // by local index
    std::string file_scratch_, memory_scratch_; // directories for other MPIs, or empty
};

} // namespace zipmpi::launch
