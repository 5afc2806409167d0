// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Several networks with the border of one: for a rank on a host in several clusters. Each has the devices
// that lead into its cluster, and an address of its own: UCX takes every address of a peer for reachable, and
// would try those of the other cluster.
#pragma once

#include "os/fd.hpp"
#include "transport/ucx/frame_network.hpp"

#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

namespace zipmpi::bridge {

using transport::Peer;
using transport::ucx::Posted;

class JoinedNetwork final : public transport::ucx::FrameNetwork {
  public:
    // devices: of each network. part_of: the network in which an id is reached.
    struct Plan {
        std::vector<std::string> devices;
        void* subject = nullptr;
        int (*part_of)(void* subject, int id) = nullptr;
    };
    // Null: why says so in words.
    static std::unique_ptr<JoinedNetwork> open(const transport::ucx::Settings& settings,
                                               const transport::ucx::FrameSettings& frames, const Plan& plan,
                                               std::string& why);

    [[nodiscard]] const std::string& address() const override { return address_in(0); }
    [[nodiscard]] const std::string& address_in(size_t part) const { return parts_[part].network->address(); }
    int reach(int id) override;
    [[nodiscard]] int rank_of(Peer peer) const override;
    void give_up(int id) override;
    [[nodiscard]] uint64_t rendezvous_from(Peer peer) const override;
    Posted send(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                const transport::ucx::Memory& data) override;
    Posted send_soon(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                     const transport::ucx::Memory& data) override;
    Posted send_long(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                     const transport::ucx::Memory& data) override;
    void receive(transport::ucx::Arriving& bytes, const transport::ucx::Memory& to) override;
    void drop(transport::ucx::Arriving& bytes) override;
    int progress() override;
    [[nodiscard]] int descriptor() const override { return epoll_.get(); }
    bool arm() override;
    [[nodiscard]] bool idle() const override;
    [[nodiscard]] bool meets() const override;
    [[nodiscard]] uint64_t strangers() const override;
    Posted send_frame(Peer peer, std::span<const std::byte> head, std::span<const std::byte> data,
                      void* ticket, bool may_wait) override;
    void send_waiting() override;
    [[nodiscard]] bool has_waiting() const override;
    void forget(Peer peer) override;
    void withdraw(std::span<const std::byte> memory) override;
    [[nodiscard]] bool settled(Peer gateway) const override;

  private:
    struct Part {
        JoinedNetwork* owner;
        size_t index;
        std::unique_ptr<transport::ucx::FrameNetwork> network;
        std::vector<int> numbers; // of its peers; -1: none yet
    };
    struct Place {
        size_t part;
        Peer inner;
    };
    JoinedNetwork(const transport::ucx::Settings& settings, const Plan& plan);
    [[nodiscard]] transport::ucx::Sink sink_of(Part& part) const;
    Part& part_of(int id);
    Peer number(Part& part, Peer inner);
    [[nodiscard]] transport::ucx::FrameNetwork& network_of(Peer peer) const {
        return *parts_[peers_[peer].part].network;
    }
    transport::ucx::Network& take_owner(const transport::ucx::Arriving& bytes);

    transport::ucx::Sink sink_;
    Plan plan_;
    std::vector<Place> peers_;
    std::unordered_map<const void*, size_t> arriving_; // long messages: whose they are
    os::Fd epoll_;
    std::deque<Part> parts_;
};

} // namespace zipmpi::bridge
