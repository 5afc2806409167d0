// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The networks between simulated processes: connections with handshake and flow control, as the engine `tcp`
// provides them (two processes that dial each other at once have two connections), and their faults. A
// SimulatedNetwork is what transport::open_network() returns in the simulation; a Carrier moves items between
// them.
#pragma once

#include "simulator.hpp"

#include "os/fd.hpp"
#include "transport/frame_network.hpp"

#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

namespace zipmpi::simulation {

using transport::FrameTicket;
using transport::Peer;
using transport::PostStatus;

class Carrier;

// What moves over a connection.
struct Item {
    enum class Kind { hello, reply, confirm, frame, closed };
    Kind kind = Kind::frame;
    uint64_t connection = 0;
    int from = 0;
    std::vector<std::byte> head, data;
    uint64_t session = 0; // of a hello
    [[nodiscard]] size_t bytes() const { return head.size() + data.size(); }
};

// The network of one process in one cluster.
class SimulatedNetwork final : public transport::FrameNetwork {
  public:
    SimulatedNetwork(Carrier& carrier, Process& process, int cluster,
                     const transport::NetworkConfig& settings, transport::FrameListener& frames);
    ~SimulatedNetwork() override;
    SimulatedNetwork(const SimulatedNetwork&) = delete;
    SimulatedNetwork& operator=(const SimulatedNetwork&) = delete;

    [[nodiscard]] int id() const { return id_; }
    [[nodiscard]] int cluster() const { return cluster_; }
    [[nodiscard]] bool belongs_to(const Process& process) const { return &process_ == &process; }
    void arrive(Item item);
    void pump(int to); // the receiver has read
    void transmit_next(int to);
    void abandon() { abandoned_ = true; }

    [[nodiscard]] const std::string& address() const override { return address_; }
    int connect_to(int id) override;
    [[nodiscard]] int rank_of(Peer peer) const override { return links_[peer].id; }
    PostStatus send(Peer, const wire::Envelope&, const std::byte*, const transport::BufferRef&) override {
        return PostStatus::failed; // ranks of one cluster exchange no messages here
    }
    PostStatus send_rendezvous(Peer, const wire::Envelope&, const std::byte*,
                               const transport::BufferRef&) override {
        return PostStatus::failed;
    }
    void fetch(transport::IncomingBulk&, const transport::BufferRef&) override {}
    void drop(transport::IncomingBulk&) override {}
    int progress() override;
    [[nodiscard]] int descriptor() const override { return descriptor_.get(); }
    bool arm() override { return inbox_.empty() && sent_.empty(); }
    [[nodiscard]] bool idle() const override { return outgoing_ == 0; }
    [[nodiscard]] uint64_t rejected_messages() const override { return 0; }
    PostStatus send_frame(Peer peer, std::span<const std::byte> head, std::span<const std::byte> data,
                          FrameTicket* ticket, transport::Batching batching) override;
    void flush_batches() override;
    [[nodiscard]] bool has_batches() const override { return !batched_.empty(); }
    void release_frame(void* /*descriptor*/) override {} // none is passed on
    void reset_peer(Peer peer) override;
    void revoke_buffer(std::span<const std::byte> /*memory*/) override {}
    [[nodiscard]] bool path_ready(Peer gateway) const override { return links_[gateway].is_open(); }

  private:
    struct Outgoing {                      // waits for the network
        std::vector<std::byte> head, copy; // copy: the data of a frame without ticket
        std::span<const std::byte> data;   // where the sender has it
        FrameTicket* ticket = nullptr;
    };
    struct Connection {
        enum class State { dialed, accepted, open } state = State::dialed;
        uint64_t session = 0; // of the peer that has dialed it
    };
    struct Link {
        int id;
        uint64_t connection = 0;                      // for frames to it; 0: none
        std::map<uint64_t, Connection> connections{}; // also those that it has dialed
        uint64_t session = 0;                         // another one: the peer has reset its connections
        uint64_t resets = 0;                          // by this process
        bool failed = false, pumping = false;
        uint64_t uncredited = 0; // bytes of messages since the last credit of a gateway
        std::deque<Outgoing> queue{};
        [[nodiscard]] bool is_open(uint64_t number) const {
            const auto found = connections.find(number);
            return found != connections.end() && found->second.state == Connection::State::open;
        }
        [[nodiscard]] bool is_open() const { return is_open(connection); }
    };
    struct Batched {
        Peer peer;
        std::vector<std::byte> head;
    };
    Peer number_of(int id);
    void handle(Item& item);
    void on_reply(Link& link, uint64_t connection);
    void on_confirm(Link& link, uint64_t connection);
    void on_closed(Link& link, uint64_t connection);
    void opened(Link& link);
    void check_credit(Link& link, std::span<const std::byte> head, uint64_t data_bytes);
    void on_credit(Link& link, std::span<const std::byte> head);
    void pump(Link& link);
    void report_sent(Link& link);
    void disconnect(Link& link);

    Carrier& carrier_;
    Process& process_;
    int id_, cluster_;
    uint64_t session_;
    transport::NetworkListener& listener_;
    transport::FrameListener& frames_;
    std::string address_;
    os::Fd descriptor_;
    std::deque<Link> links_; // by peer
    std::unordered_map<int, Peer> by_id_;
    std::deque<Item> inbox_;
    std::vector<FrameTicket*> sent_; // to be reported by progress()
    std::vector<Batched> batched_;
    size_t outgoing_ = 0; // frames in all queues
    bool abandoned_ = false;
};

// What connections and gateways provide.
struct NetworkLimits {
    uint64_t window = 512 << 10;  // bytes that a connection accepts and its receiver has not read
    uint64_t credit = UINT64_MAX; // bytes of messages at a gateway that it has not forwarded
};

// What gateways may do with frames of endpoints; probabilities per frame, in 1/1000.
struct FrameFaults {
    int first_gateway = 0; // ids of gateways begin here
    uint64_t lost = 0, duplicated = 0, late = 0, altered = 0;
};

class Carrier {
  public:
    explicit Carrier(Simulator& simulator);
    ~Carrier();
    Carrier(const Carrier&) = delete;
    Carrier& operator=(const Carrier&) = delete;
    // The carrier of the run, and the process that opens networks now: for transport::open_network().
    static Carrier& current();
    void set_opening(Process& process) { opening_ = &process; }
    [[nodiscard]] Process& opening() const { return *opening_; }

    void add(SimulatedNetwork& network) { networks_.push_back(&network); }
    void remove(SimulatedNetwork& network);
    void abandon(const Process& process); // it is killed: its networks no longer report to it

    uint64_t new_session() { return next_session_ += 1U << 20; }
    uint64_t dial(int from, int to, int cluster, uint64_t session); // the connection
    void transmit(Item item, int to);
    void transmit_later(int from, int to, int cluster);                   // the next frame of a network
    void consumed(const Item& item);                                      // its receiver has read it
    [[nodiscard]] bool can_transmit(uint64_t connection, int from) const; // its receiver reads
    void close(uint64_t connection, int by);

    void print(const std::string& event) const { simulator_.print(event); }

    NetworkLimits limits;
    void fail(const std::string& what) { simulator_.fail(what); }

    // --- faults
    void set_frame_faults(const FrameFaults& faults, uint64_t until) {
        faults_ = faults;
        faults_until_ = until;
    }
    // Ends the connection of two processes. The other one may notice it only when it sends, or after 7 s.
    void reset(int first, int other);
    // Nothing passes from one process to another until then.
    void cut(int from, int to, uint64_t until) { cuts_[{from, to}] = until; }

  private:
    struct Connection {
        int ends[2];
        int cluster;
        uint64_t last_due[2] = {0, 0};
        uint64_t unread[2] = {0, 0}; // bytes sent by an end and not read by the other one
        bool closed = false;
        [[nodiscard]] int side(int id) const { return ends[0] == id ? 0 : 1; }
    };
    [[nodiscard]] SimulatedNetwork* find(int id, int cluster) const;
    void deliver(Item item, int to);
    void notify_closed(uint64_t connection, int id, uint64_t delay);
    bool apply_faults(Item& item, uint64_t& delay, int to); // false: lost

    Simulator& simulator_;
    Process* opening_ = nullptr;
    std::vector<SimulatedNetwork*> networks_;
    std::unordered_map<uint64_t, Connection> connections_;
    std::map<std::pair<int, int>, uint64_t> cuts_;
    uint64_t next_connection_ = 1, next_session_ = 0, faults_until_ = 0;
    FrameFaults faults_;
};

} // namespace zipmpi::simulation
