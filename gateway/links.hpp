// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Links to other gateways. A lost connection is reestablished; the endpoints retransmit its frames.
#pragma once

#include "gateway/link_connection.hpp"

namespace zipmpi::gateway {

class GatewayLinks final : public LinkSender {
  public:
    // lookup: queries the launcher for the address of a gateway's link; publish: publishes the address of the
    // link with this index.
    struct LinkDirectory {
        std::function<std::string(int gateway, int link)> lookup;
        std::function<void(int link, const std::string& address)> publish;
    };
    GatewayLinks(Forwarder& forwarder, LinkDirectory book);
    ~GatewayLinks();
    GatewayLinks(const GatewayLinks&) = delete;
    GatewayLinks& operator=(const GatewayLinks&) = delete;

    bool listen(std::string& why);
    // Events of links go to this descriptor, with the keys that it owns().
    void watch_on(int epoll);
    // Reconnects links that are down; returns milliseconds until the next call, or -1.
    int maintain();
    void flush(); // sends batched frames
    [[nodiscard]] bool owns(uint64_t key) const { return key >= first_key; }
    void on_event(uint64_t key, uint32_t events);

    bool send(int link, InTransitFrame& transit) override;
    void release(transport::tcp::FrameBuffer* buffer) override { buffers_.release(buffer); }

    static constexpr uint64_t first_key = uint64_t{1} << 32;

  private:
    struct Link {
        os::Fd listener;         // empty: this side connects
        uint64_t connection = 0; // key of the connection; 0: down
        uint64_t retry_ns = 0;
    };
    [[nodiscard]] Link& at(int link) { return links_[static_cast<size_t>(link)]; }
    [[nodiscard]] int other_gateway(int link) const {
        return forwarder_.config().links()[static_cast<size_t>(link)].to_gateway;
    }
    [[nodiscard]] std::string address_of(int link) const;
    void accept(int listener);
    void evict_unauthenticated();
    void close_late(uint64_t now);
    void connect(int link);
    void add(std::unique_ptr<LinkConnection> connection);
    void on_authenticated(uint64_t key, int link);
    void watch(uint64_t key);
    void close(uint64_t key);

    Forwarder& forwarder_;
    transport::tcp::FrameBufferPool buffers_;
    std::vector<int> batching_; // links with batched frames
    LinkDirectory directory_;
    launch::JobKey key_{};
    const Crypto* crypto_ = nullptr; // set by listen()
    std::vector<Link> links_;
    std::unordered_map<uint64_t, std::unique_ptr<LinkConnection>> connections_;
    uint64_t next_key_ = first_key + (uint64_t{1} << 20);
    int epoll_ = -1;
};

} // namespace zipmpi::gateway
