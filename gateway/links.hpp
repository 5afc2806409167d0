// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// TCP connections to other gateways. Each begins with the handshake of the daemons
// (launch/protocol/handshake.hpp); nothing else is read before it. Then frames follow in both directions. A
// lost connection is reestablished; the endpoints retransmit its frames.
#pragma once

#include "gateway/forwarder.hpp"
#include "launch/protocol/handshake.hpp"
#include "launch/protocol/socket_address.hpp"
#include "transport/tcp/frame_stream.hpp"

namespace zipmpi::gateway {

class GatewayLinks {
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
    void register_listeners(int epoll);
    // Reconnects links that are down; returns milliseconds until the next call, or -1.
    int maintain(int epoll);
    void flush(); // sends batched frames
    [[nodiscard]] bool owns(uint64_t key) const { return key >= first_key; }
    void on_event(int epoll, uint64_t key, uint32_t events);

    static constexpr uint64_t first_key = uint64_t{1} << 32;

  private:
    struct LinkConnection {
        os::Fd fd;
        int link = -1; // -1: not authenticated
        bool is_initiator = false;
        std::unique_ptr<launch::HandshakeAcceptor> acceptor;
        std::unique_ptr<launch::HandshakeConnector> connector;
        GatewayLinks* links = nullptr;
        std::unique_ptr<transport::tcp::FrameStream> stream; // once authenticated
        std::string out_text;                                // of the handshake
        size_t queued = 0;                                   // frames in the stream
        uint64_t since_ns = 0;
        bool watches_writable = false;
        [[nodiscard]] int descriptor() const { return stream != nullptr ? stream->descriptor() : fd.get(); }
    };
    void accept(int epoll, int listener);
    void evict_unauthenticated(int epoll);
    void connect(int epoll, int link);
    void add(int epoll, std::unique_ptr<LinkConnection> connection);
    bool progress_connection(LinkConnection& c);
    bool run_handshake(LinkConnection& c);
    bool on_authenticated(LinkConnection& c, uint32_t node);
    transport::tcp::FrameStream::StreamCallbacks callbacks_for(LinkConnection& c);
    void watch(int epoll, uint64_t key);
    void close(int epoll, uint64_t key);
    bool send(int link, InTransitFrame* transit);

    Forwarder& forwarder_;
    transport::tcp::FrameBufferPool frame_buffers_;
    std::vector<int> batching_; // links with batched frames
    LinkDirectory directory_;
    launch::JobKey key_{};
    std::vector<os::Fd> listeners_;            // by link; empty: this side connects
    std::vector<uint64_t> connection_of_link_; // key of the connection; 0: down
    std::vector<uint64_t> retry_ns_;
    std::unordered_map<uint64_t, std::unique_ptr<LinkConnection>> connections_;
    uint64_t next_key_ = first_key + (uint64_t{1} << 20);
    int epoll_ = -1;
};

} // namespace zipmpi::gateway
