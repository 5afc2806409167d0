// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The PMI server of one job on one node: consumes the bytes that ranks write and produces the replies. It has
// no descriptors: the daemon's loop does all waiting, and tests need no process.
//
// Gateways are clients like ranks, but take no part in fences. A get of a key that a gateway has not put yet
// waits. A gateway may put a key again, so other nodes do not cache its keys.
//
// A rank may call init and finalize several times (a script that runs several MPI programs).
#pragma once

#include "launch/pmi/pending_gets.hpp"
#include "launch/pmi/pmi_fence.hpp"
#include "launch/pmi/pmi_message.hpp"
#include "launch/pmi/pmi_store.hpp"

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace zipmpi::launch {

class PmiServer {
  public:
    struct PmiJob {
        std::string id; // also the name of the key-value space
        uint32_t size = 1;
        uint32_t gateways = 0; // gateways of the job: clients with the ids from size on
        uint32_t universe_size = 1;
        std::vector<uint32_t> app_numbers; // per local rank
        std::vector<uint32_t> world_ranks; // per local rank, then the ids of local gateways
        std::string mapping;               // PMI_process_mapping
    };
    using Send = std::function<void(uint32_t rank, std::string_view bytes)>;
    using Abort = std::function<void(uint32_t rank, int exit_code, std::string_view text)>;

    // Connection to the other nodes; without it all ranks are local.
    struct RemoteNodes {
        // All local ranks are in the fence. pairs: for all ranks. fence_done() completes the fence.
        std::function<void(std::string pairs)> fence;
        // Requests a key of a remote rank. Returns false if the rank is local; otherwise on_remote_reply()
        // follows.
        std::function<bool(uint32_t owner, const std::string& key)> get;
        // Replies to a node's request; value is null if there is none.
        std::function<void(uint32_t node, const std::string& key, const std::string* value)> reply;
        // All local ranks have exited, none in the fence: it must not wait for this node. May be empty.
        std::function<void()> absent;
    };

    PmiServer(PmiJob job, Send send, Abort abort, RemoteNodes remote = {});

    // Notifications from the library, which expect no reply.
    using NotifyHandler = std::function<void(uint32_t rank, const PmiMessage& m)>;
    void set_notify_handler(NotifyHandler handler) { notify_handler_ = std::move(handler); }

    void feed(uint32_t rank, std::string_view bytes); // local rank
    // Every local rank is in the fence or has exited.
    [[nodiscard]] bool node_in_fence() const { return fence_.is_complete(); }
    void fence_done(std::string_view pairs);
    void on_remote_reply(const std::string& key, bool found, std::string_view value);
    void on_remote_get(uint32_t node, const std::string& key); // from another node
    // Value that the library or a gateway has put here under this name; null if none.
    [[nodiscard]] const std::string* find_put(uint32_t owner, std::string_view name) const;
    void rank_ended(uint32_t rank); // excluded from later barriers; its keys stay
    // A rank of the job has failed, perhaps with its node: requests for its keys might get no reply, so they
    // fail here unless the keys are known.
    void owner_failed(uint32_t owner);
    void reset_client(uint32_t client); // restarted gateway: drops its requests and state; keeps its keys
    // True between init and finalize.
    [[nodiscard]] bool is_initialized(uint32_t rank) const { return clients_[rank].initialized; }
    // True if it has put a key since its last start.
    [[nodiscard]] bool has_put(uint32_t client) const { return clients_[client].has_put; }
    // It has sent something that is not PMI. Further input is ignored.
    [[nodiscard]] bool has_protocol_error(uint32_t rank) const { return clients_[rank].protocol_error; }

  private:
    struct Client {
        std::string in;
        int version = 1;
        bool initialized = false, protocol_error = false, in_spawn = false, has_put = false;
        std::string fence_thread; // PMI-2 thread id to return
    };
    struct NodeAttrWait { // info-getnodeattr with wait=TRUE
        uint32_t rank;
        PmiMessage request;
    };

    bool handle_line(uint32_t rank);
    bool handle_block(uint32_t rank);
    void handle_pmi1(uint32_t rank, const PmiMessage& m);
    void handle_pmi1_kvs(uint32_t rank, const PmiMessage& m);
    void handle_pmi2(uint32_t rank, const PmiMessage& m);
    void handle_pmi2_info(uint32_t rank, const PmiMessage& m);
    void put_node_attribute(uint32_t rank, const PmiMessage& m);
    void init(uint32_t rank, const PmiMessage& m);
    void enter_fence(uint32_t rank);
    void release_fence_if_complete();
    void set_protocol_error(uint32_t rank);
    void reply_get(uint32_t rank, const PmiMessage& m, const std::string* value);
    void get(uint32_t rank, const PmiMessage& m);
    [[nodiscard]] bool is_local_gateway(int owner) const;
    bool put(uint32_t rank, const PmiMessage& m);
    void complete_pending_gets(const std::string& key);

    PmiJob job_;
    Send send_;
    Abort abort_;
    RemoteNodes remote_;
    NotifyHandler notify_handler_;
    std::vector<Client> clients_;
    PmiStore store_;
    PmiFence fence_;
    PendingGets pending_gets_;
    std::set<uint32_t> failed_owners_;
    std::vector<NodeAttrWait> node_attr_waits_;
};

} // namespace zipmpi::launch
