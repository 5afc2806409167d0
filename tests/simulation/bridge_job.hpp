// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A job in two clusters: the whole network of each rank (src/bridge/multi_cluster_network.hpp) and the whole
// forwarder of each gateway (gateway/forwarder.hpp), with random messages and faults.
//
// Checked at every step:
//   - every message arrives once, in the order of its sender, with its bytes;
//   - every send and every receive completes once, and with success unless its peer was killed;
//   - a rank that sleeps is woken in time: everything completes within bounded virtual time, and each rank
//     can end afterwards;
//   - gateways buffer no more than the credit of the ranks and their own limit, and no rank sends more than
//     its credit;
//   - operations of clusters that nothing connects any longer end with failure.
#pragma once

#include "carrier.hpp"

#include "bridge/multi_cluster_network.hpp"
#include "gateway/forwarder.hpp"

#include <array>

namespace zipmpi::simulation {

inline constexpr uint64_t rank_credit = 256 << 10;
inline constexpr uint64_t gateway_pool = 1 << 20;

class BridgeJob;

struct UserMessage : transport::NetworkOperation {
    int peer = 0;
    uint64_t number = 0;
    uint64_t due = 0; // when it is sent or received
    std::vector<std::byte> bytes;
    transport::IncomingBulk* announced = nullptr; // of a receive
    bool done = false;
};

class BridgeRank final : public Process, public transport::NetworkListener, transport::AddressResolver {
  public:
    BridgeRank(BridgeJob& job, int rank);
    ~BridgeRank() override;
    void open();
    void add_send(int to, uint64_t bytes, uint64_t when);
    void expect(int from) { ++expected_[from]; }
    void kill();
    void on_failed(int rank); // the launcher reports it
    void begin_end() {
        ending_ = true;
        wake();
    }
    // All messages of live peers are sent and received.
    [[nodiscard]] bool has_finished() const;
    [[nodiscard]] std::string state() const;

    void message_arrived(const transport::Arrival& message) override;
    void rts_arrived(const transport::Arrival& message, transport::IncomingBulk& bytes,
                     uint64_t length) override;
    void send_finished(transport::NetworkOperation* operation, transport::OpStatus outcome) override;
    void fetch_finished(transport::NetworkOperation* operation, transport::OpStatus outcome) override;
    void peer_failed(Peer peer, const char* why) override;
    void pack(transport::NetworkOperation*, uint64_t, std::byte*, size_t) override {}
    void unpack(transport::NetworkOperation*, uint64_t, const std::byte*, size_t) override {}
    size_t list_iov(transport::NetworkOperation*, iovec*, size_t) override { return 0; }

  protected:
    uint64_t poll() override;

  private:
    std::string find(int world_rank) override { return std::to_string(world_rank); }
    bool post(UserMessage& m);
    void complete_send(UserMessage& m, transport::OpStatus outcome);
    void complete(UserMessage& m, transport::OpStatus outcome);
    uint64_t take_number(const transport::Arrival& a);
    void check_bytes(int from, uint64_t number, std::span<const std::byte> bytes);
    int post_due(); // sends and receives; returns their number
    [[nodiscard]] uint64_t next_due() const;
    [[nodiscard]] bool is_failed(int rank) const;

    BridgeJob& job_;
    int rank_;
    bool ending_ = false, shutting_down_ = false;
    uint64_t timer_ = never;
    std::unique_ptr<bridge::MultiClusterNetwork> network_;
    std::vector<std::unique_ptr<UserMessage>> sends_, receives_;
    std::deque<UserMessage*> unsent_;
    std::map<int, uint64_t> expected_, arrived_, numbered_; // messages by peer
    std::vector<int> failed_;
    size_t open_sends_ = 0, open_receives_ = 0;
};

enum class LinkState { down, up };

// A gateway, and its ends of links to other gateways.
class BridgeGateway final : public Process, gateway::LinkSender, transport::AddressResolver {
  public:
    BridgeGateway(BridgeJob& job, int number);
    ~BridgeGateway() override;
    void open(int starts);
    void kill();
    void set_link(int to_gateway, LinkState state);
    void arrive(Item item); // from another gateway
    void check_memory() const;

  protected:
    uint64_t poll() override;

  private:
    std::string find(int id) override { return std::to_string(id); }
    bool send(int link, gateway::InTransitFrame& transit) override;
    void release(transport::tcp::FrameBuffer* /*buffer*/) override {} // links pass none on

    BridgeJob& job_;
    int number_;
    std::unique_ptr<gateway::GatewayStats> stats_;
    std::unique_ptr<gateway::Forwarder> forwarder_;
    std::vector<bool> up_;   // by link
    std::deque<Item> inbox_; // from other gateways
    std::vector<gateway::InTransitFrame*> sent_;
};

class BridgeJob {
  public:
    BridgeJob(uint64_t seed, Trace trace);
    ~BridgeJob();
    std::string run(); // the violation; empty: none

    Simulator simulator;
    Carrier carrier;
    bridge::ClusterLocator locator;
    [[nodiscard]] uint64_t number() const; // of the job, in frames
    // Operations with it may fail: it was killed, or nothing connects the clusters any longer.
    [[nodiscard]] bool may_fail(int rank, int other) const;
    [[nodiscard]] int ranks() const { return locator.job_size; }
    [[nodiscard]] const bridge::ClusterMap& map() const { return *locator.cluster_map; }
    void forward(int from_gateway, int to_gateway, Item item);

  private:
    void make_map();
    void make_traffic();
    void send(int from, int to, uint64_t bytes, uint64_t when);
    [[nodiscard]] int other_cluster(int rank); // one of the ranks there
    void kill_under_load(uint64_t when);
    void make_faults();
    void place_fault();
    void kill_rank(int rank);
    void kill_gateway(size_t g);
    void start_gateway(size_t g);
    void cut_link(size_t g, uint64_t until);
    void separate_clusters();
    [[nodiscard]] size_t other_end(size_t g) const { return (g + gateways_.size() / 2) % gateways_.size(); }
    bool run_until(const std::function<bool()>& finished, uint64_t time_limit, const char* what);

    std::vector<std::unique_ptr<BridgeRank>> ranks_;
    std::vector<std::unique_ptr<BridgeGateway>> gateways_;
    std::vector<int> gateway_starts_;
    int killed_ = -1;
    bool linked_ = false;                              // gateways are in one cluster each
    bool separated_ = false;                           // their only link is down for good
    std::map<std::pair<int, int>, uint64_t> link_due_; // of the latest frame, by gateways
    uint64_t faults_end_ = 0;
};

} // namespace zipmpi::simulation
