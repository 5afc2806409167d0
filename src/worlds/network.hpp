// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The network of a process that knows processes of other worlds, with the border of any other: ranks of its
// own job are reached as before, by the network inside (if the job has one), others over connections of their
// own: Unix sockets on the same host, TCP between hosts. Made when the first communicator with another world
// is; a job that never makes one pays nothing.
//
// Each side sends all its messages to another process on one connection, so their order is kept; if both dial
// at once there are two, one for each direction.
//
// Threads: the lane's lock.
#pragma once

#include "transport/ucx/network.hpp"
#include "worlds/connection.hpp"
#include "worlds/sockets.hpp"

#include <map>
#include <memory>
#include <unordered_map>

namespace zipmpi::worlds {

using transport::Peer;
using transport::ucx::Arriving;
using transport::ucx::Posted;

class WorldsNetwork final : public transport::ucx::Network {
  public:
    struct Settings {
        Name name;           // of this process
        std::string devices; // to listen on; empty: all
        Peer first_peer = 0; // above all peers of the network inside
        transport::ucx::Sink sink{};
    };
    // Null: why says so in words; inner is untouched.
    static std::unique_ptr<WorldsNetwork>
    open(const Settings& settings, std::unique_ptr<transport::ucx::Network>& inner, std::string& why);
    ~WorldsNetwork() override;

    [[nodiscard]] const Card& card() const { return card_; }
    // A process that proves to have this key is who it says. The number by which it is known from now on: its
    // rank in the own world, or one from first_foreign on.
    int introduce(const Card& card, const std::string& key);
    [[nodiscard]] Card card_of(int world_rank) const; // of a foreign one
    [[nodiscard]] Name name_of(int world_rank) const;
    // Communicators with this process: as long as it is held, MPI_Finalize waits for its bye.
    void hold(int foreign_rank);
    void end_hold(int foreign_rank);

    [[nodiscard]] const std::string& address() const override;
    int reach(int world_rank) override;
    [[nodiscard]] int rank_of(Peer peer) const override;
    void give_up(int world_rank) override;
    Posted send(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                const Memory& data) override;
    Posted send_soon(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                     const Memory& data) override;
    Posted send_long(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                     const Memory& data) override;
    void receive(Arriving& bytes, const Memory& to) override;
    void drop(Arriving& bytes) override;
    [[nodiscard]] uint64_t rendezvous_from(Peer peer) const override;
    [[nodiscard]] uint64_t longest_at_once(Peer peer) const override;
    int progress() override;
    [[nodiscard]] int descriptor() const override { return epoll_.get(); }
    bool arm() override { return inner_ == nullptr || inner_->arm(); }
    [[nodiscard]] bool idle() const override;
    void leaving(bool yes) override;
    [[nodiscard]] bool meets() const override { return inner_ != nullptr && inner_->meets(); }
    [[nodiscard]] uint64_t strangers() const override;

  private:
    struct Foreign {
        Card card;
        std::string key;
        uint64_t out = 0; // the connection that messages to it take; 0: none
        uint32_t holders = 0;
        bool lost = false;
    };
    struct Announced { // by this process, not asked for yet
        int foreign;
        Memory data;
    };
    struct Place { // of a long message from another
        int foreign;
        uint64_t number;
        friend auto operator<=>(const Place&, const Place&) = default;
    };
    struct Told {
        Place place;
        std::unique_ptr<char> mark; // whose address names it to the protocols
    };

    WorldsNetwork(const Settings& settings, std::unique_ptr<transport::ucx::Network> inner);
    [[nodiscard]] bool is_ours(Peer peer) const { return peer >= first_peer_; }
    [[nodiscard]] int foreign_of(Peer peer) const { return static_cast<int>(peer - first_peer_); }
    [[nodiscard]] Peer peer_of(int foreign) const { return first_peer_ + static_cast<Peer>(foreign); }
    [[nodiscard]] static int rank_of_foreign(int foreign) { return first_foreign + foreign; }

    // network.cpp
    Connection* way_out(int foreign);
    Posted post(int foreign, const FrameHead& head, const std::byte* payload, const Memory& data, bool tells);
    void part_from(int foreign);
    void lose(int foreign, const char* why);
    // greet.cpp
    bool watch(Connection& c, bool add = false);
    Connection& add_connection(os::Fd fd, Connection::State state);
    bool dial_on(Connection& c);
    bool next_way(Connection& c);
    void connected(Connection& c);
    bool take_greeting(Connection& c);
    bool take_hello(Connection& c);
    bool answer_hello(Connection& c, const std::string& key);
    bool take_welcome(Connection& c);
    bool take_proof(Connection& c);
    void look_at_parked();
    void look_at_clock();
    void answer_callers(int listener);
    // stream.cpp
    void write_out(Connection& c);
    ssize_t write_some(Connection& c, Connection::Out& out);
    void read_in(Connection& c);
    bool read_straight(Connection& c, bool& over);
    size_t feed(Connection& c, std::span<const std::byte> bytes);
    size_t take_data(Connection& c, std::span<const std::byte> bytes);
    bool begin_frame(Connection& c);
    void end_frame(Connection& c);
    void ended(Connection& c);
    void sweep();

    Card card_;
    Peer first_peer_;
    transport::ucx::Sink sink_;
    std::string no_address_;
    os::Fd epoll_;
    std::vector<os::Fd> listeners_;
    std::deque<Foreign> foreign_;
    std::map<Name, int> by_name_;
    std::unordered_map<uint64_t, std::string> keys_;
    std::map<uint64_t, std::unique_ptr<Connection>> connections_;
    uint64_t next_connection_ = 1;
    std::unordered_map<uint64_t, Announced> announced_;
    uint64_t next_announced_ = 1;
    std::unordered_map<Arriving*, Told> arriving_; // told to the protocols, not received yet
    std::map<Place, Memory> receiving_;
    std::vector<std::byte> room_;    // for what is read
    std::vector<std::byte> packing_; // and for bytes out of memory with gaps
    std::vector<int> lost_now_;
    uint64_t looked_ns_ = 0;
    uint64_t strangers_ = 0;
    int happened_ = 0;
    bool leaving_ = false;
    bool to_sweep_ = false;
    std::unique_ptr<transport::ucx::Network> inner_;
};

} // namespace zipmpi::worlds
