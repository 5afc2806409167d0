// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The PMI server of one job on one node: takes the bytes that ranks write and produces the bytes to write
// back. It knows no descriptors, so the daemon's loop owns all waiting, and tests need no process.
//
// Gateways of a grid are clients like ranks, but come to no fences. A get of what a gateway has not put yet
// waits; what it puts again replaces what it has put before, so nobody else keeps a copy.
//
// A rank may go through init and finalize several times (a script that starts several MPI programs).
#pragma once

#include "launch/pmi/text.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace zipmpi::launch {

class PmiServer {
  public:
    struct Job {
        std::string id; // also the name of the key-value space
        uint32_t size = 1;
        uint32_t gateways = 0; // of the job: further clients, with the ids from size on
        uint32_t universe_size = 1;
        std::vector<uint32_t> app_numbers; // per local rank
        std::vector<uint32_t> world_ranks; // likewise; then the ids of gateways here
        std::string mapping;               // PMI_process_mapping
    };
    using Send = std::function<void(uint32_t rank, std::string_view bytes)>;
    using Abort = std::function<void(uint32_t rank, int exit_code, std::string_view text)>;

    // To the other nodes; without them all ranks are here.
    struct Others {
        // All local ranks are in the fence. pairs: what everybody must get. fence_done() ends it.
        std::function<void(std::string pairs)> fence;
        // Ask for the key of a rank that is elsewhere. False: it is not; else answered() comes later.
        std::function<bool(uint32_t owner, const std::string& key)> ask;
        // To a node that has asked; value is null if there is none.
        std::function<void(uint32_t node, const std::string& key, const std::string* value)> answer;
    };

    PmiServer(Job job, Send send, Abort abort, Others others = {});

    // What our library tells without waiting for an answer.
    using Told = std::function<void(uint32_t rank, const PmiMessage& m)>;
    void on_told(Told told) { told_ = std::move(told); }

    void feed(uint32_t rank, std::string_view bytes); // ranks are local ones
    [[nodiscard]] bool node_in_fence() const;         // every local rank is in the fence, or gone
    void fence_done(std::string_view pairs);
    void answered(const std::string& key, bool found, std::string_view value);
    void asked(uint32_t node, const std::string& key); // by another node
    // What our library or a gateway has put here under this name; null: nothing.
    [[nodiscard]] const std::string* found(uint32_t owner, std::string_view name) const;
    void rank_ended(uint32_t rank); // it will not come to barriers any more; what it wrote stays
    void
    starts_again(uint32_t client); // a gateway: what it said, and waited for, is forgotten; its keys stay
    // Has it said init and not yet finalize?
    [[nodiscard]] bool inside(uint32_t rank) const { return clients_[rank].inside; }
    // Has it put a key since it started (again)?
    [[nodiscard]] bool has_put(uint32_t client) const { return clients_[client].has_put; }
    // It sent something that is not PMI. The rest of what it sends is ignored.
    [[nodiscard]] bool garbled(uint32_t rank) const { return clients_[rank].garbled; }

  private:
    struct Client {
        std::string in;
        int version = 1;
        bool inside = false, garbled = false, in_barrier = false, ended = false, in_spawn = false,
             has_put = false;
    };
    struct Asking {
        uint32_t rank;
        PmiMessage request;
    };
    struct Waiter { // info-getnodeattr with wait=TRUE
        uint32_t rank;
        std::string key, thread;
    };

    bool take_line(uint32_t rank);
    bool take_block(uint32_t rank);
    void answer1(uint32_t rank, const PmiMessage& m);
    void answer1_kvs(uint32_t rank, const PmiMessage& m);
    void answer2(uint32_t rank, const PmiMessage& m);
    void answer2_info(uint32_t rank, const PmiMessage& m);
    void reply2(uint32_t rank, const PmiMessage& m,
                std::vector<std::pair<std::string_view, std::string_view>> fields);
    void reply2_found(uint32_t rank, const PmiMessage& m, std::string_view flag, const std::string* value);
    void init(uint32_t rank, const PmiMessage& m);
    void enter_barrier(uint32_t rank);
    void release_barrier_if_full();
    void garble(uint32_t rank);
    void answer_get(uint32_t rank, const PmiMessage& m, const std::string* value);
    void get(uint32_t rank, const PmiMessage& m);
    [[nodiscard]] bool is_rank(uint32_t client) const { return job_.world_ranks[client] < job_.size; }
    [[nodiscard]] bool is_gateway_here(int owner) const;
    bool put(std::string_view key, std::string_view value);
    void serve_waiting(const std::string& key);
    bool put(std::map<std::string, std::string, std::less<>>& space, std::string_view key,
             std::string_view value);
    [[nodiscard]] const std::string* find(const std::map<std::string, std::string, std::less<>>& space,
                                          std::string_view key) const;

    Job job_;
    Send send_;
    Abort abort_;
    std::vector<Client> clients_;
    std::vector<std::string> barrier_threads_; // PMI-2 thread ids to give back, per rank
    std::map<std::string, std::string, std::less<>> kvs_, node_, published_;
    std::vector<Waiter> waiters_;
    Others others_;
    Told told_;
    std::map<std::string, std::vector<Asking>, std::less<>> asking_;          // by key
    std::map<std::string, std::vector<uint32_t>, std::less<>> waiting_nodes_; // for keys of gateways here
    std::string spread_; // pairs put since the last fence that do not say whose they are
    bool fence_sent_ = false;
    size_t stored_bytes_ = 0;
};

} // namespace zipmpi::launch
