// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Tests of Forwarder: networks without connections. A test derives from StubNetwork and defines
// transport::open_network() as TestNetworks<Derived>::open().
#pragma once

#include "transport/engine.hpp"

#include <memory>
#include <span>
#include <string>

namespace zipmpi::gateway {

// Sends no messages, only frames. The id of a peer is its number.
class StubNetwork : public transport::FrameNetwork {
  public:
    explicit StubNetwork(transport::FrameListener& listener)
        : listener_(listener) {}

    [[nodiscard]] const std::string& address() const final { return address_; }
    int connect_to(int id) override { return id; }
    [[nodiscard]] int rank_of(transport::Peer peer) const final { return static_cast<int>(peer); }
    transport::PostStatus send(transport::Peer, const wire::Envelope&, const std::byte*,
                               const transport::BufferRef&) final {
        return transport::PostStatus::failed;
    }
    transport::PostStatus send_rendezvous(transport::Peer, const wire::Envelope&, const std::byte*,
                                          const transport::BufferRef&) final {
        return transport::PostStatus::failed;
    }
    void fetch(transport::IncomingBulk&, const transport::BufferRef&) final {}
    void drop(transport::IncomingBulk&) final {}
    int progress() final { return 0; }
    [[nodiscard]] int descriptor() const final { return -1; }
    bool arm() final { return true; }
    [[nodiscard]] bool idle() const final { return true; }
    [[nodiscard]] uint64_t rejected_messages() const final { return 0; }
    void flush_batches() final {}
    [[nodiscard]] bool has_batches() const final { return false; }
    void release_frame(void*) override {}
    void revoke_buffer(std::span<const std::byte>) final {}
    [[nodiscard]] bool path_ready(transport::Peer) const final { return true; }

  protected:
    transport::FrameListener& listener_;

  private:
    std::string address_;
};

// What open_network() has made, by cluster: the name of the devices is the number of a cluster.
template <class Network>
struct TestNetworks {
    static inline Network* networks[2];
    static inline transport::NetworkListener* listeners[2];

    static std::unique_ptr<transport::FrameNetwork> open(const transport::NetworkConfig& settings,
                                                         const transport::FrameConfig& frames) {
        auto made = std::make_unique<Network>(*frames.listener);
        const size_t cluster = settings.devices[0] == '0' ? 0 : 1;
        networks[cluster] = made.get();
        listeners[cluster] = settings.listener;
        return made;
    }
};

class NoAddresses final : public transport::AddressResolver {
  public:
    std::string find(int) override { return {}; }
};

} // namespace zipmpi::gateway
