// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// TCP connections to other gateways. Each begins with the hello of the daemons (launch/link/hello.hpp):
// before it nothing else is read. Then frames follow each other in both directions. A connection that is lost
// is made again; what was on it is sent again by the ends.
#pragma once

#include "gateway/forwarder.hpp"
#include "launch/link/endpoint.hpp"
#include "launch/link/hello.hpp"
#include "transport/ucx/stream.hpp"

namespace zipmpi::gateway {

class Links {
  public:
    // where: asks the launcher where the gateway with this number listens; publish: tells it where we do, for
    // the link with this index.
    struct Book {
        std::function<std::string(int gateway, int link)> where;
        std::function<void(int link, const std::string& address)> publish;
    };
    Links(Forwarder& forwarder, Book book);
    ~Links();
    Links(const Links&) = delete;
    Links& operator=(const Links&) = delete;

    bool listen(std::string& why);
    // Serves what epoll has reported; the descriptor is registered in it by key.
    void serve(int epoll);
    int look_after(int epoll); // connects again what is down; returns milliseconds until the next time, or -1
    void flush();              // frames that were gathered
    [[nodiscard]] bool owns(uint64_t key) const { return key >= first_key; }
    void on_event(int epoll, uint64_t key, uint32_t events);

    static constexpr uint64_t first_key = uint64_t{1} << 32;

  private:
    struct Connection {
        os::Fd fd;
        int link = -1; // -1: it has not proven who it is
        bool ours = false;
        std::unique_ptr<launch::HelloAcceptor> acceptor;
        std::unique_ptr<launch::HelloConnector> connector;
        Links* links = nullptr;
        std::unique_ptr<transport::ucx::Stream> stream; // once it has proven it
        std::string out_text;                           // of the hello
        size_t queued = 0;                              // frames in the stream
        uint64_t since_ns = 0;
        bool wants_out = false;
        [[nodiscard]] int descriptor() const { return stream != nullptr ? stream->descriptor() : fd.get(); }
    };
    void accept(int epoll, int listener);
    void make_room_for_stranger(int epoll);
    void connect(int epoll, int link);
    void add(int epoll, std::unique_ptr<Connection> connection);
    bool talk(Connection& c);
    bool greet(Connection& c);
    bool proven(Connection& c, uint32_t node);
    transport::ucx::Stream::User user_of(Connection& c);
    void watch(int epoll, uint64_t key);
    void close(int epoll, uint64_t key);
    bool send(int link, Transit* transit);

    Forwarder& forwarder_;
    transport::ucx::Rooms rooms_;
    std::vector<int> gathering_; // links with frames that wait
    Book book_;
    launch::JobKey key_{};
    std::vector<os::Fd> listeners_; // by link; empty: we connect
    std::vector<uint64_t> of_link_; // key of the connection; 0: it is down
    std::vector<uint64_t> again_ns_;
    std::unordered_map<uint64_t, std::unique_ptr<Connection>> connections_;
    uint64_t next_key_ = first_key + (uint64_t{1} << 20);
    int epoll_ = -1;
};

} // namespace zipmpi::gateway
