// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// One-sided operations by messages: requests on the window's own context with tag 0, replies with tag 1
// (wire/rma_message.hpp). Both are received from anybody; what makes no sense is dropped. Requests of one
// origin are served in the order in which they were made.
#pragma once

#include "proto/rma/window.hpp"

namespace zipmpi::proto::rma {

struct Window::Server {
    explicit Server(Window& window);
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    // One request of an exchange; the reply's data go to packed byte `from` of its result.
    void request(int rank, const wire::RmaRequest& head, const iovec* pieces, const Data& data,
                 uint64_t data_from, Exchange& exchange, uint64_t from, uint64_t reply_bytes);
    // All requests of an exchange are made.
    static void made(Exchange& exchange);

  private:
    struct Receiver : Deferred {
        struct Receive : Operation {
            Receiver* owner = nullptr;
        };
        Server* server = nullptr;
        void (Server::*take)(int from, const std::byte* message, size_t bytes) = nullptr;
        Receive operation;
        std::vector<std::byte> buffer;
        void start(Server& s, int tag);
        void post();
    };
    struct Waiting { // for a reply
        Exchange* exchange = nullptr;
        int rank = 0;
        uint64_t from = 0;
        uint64_t bytes = 0;
    };

    void send(int to, int tag, std::vector<std::byte> message);
    uint32_t add(const Waiting& w);
    void take_request(int from, const std::byte* message, size_t bytes);
    void take_reply(int from, const std::byte* message, size_t bytes);
    bool serve(const wire::RmaRequest& head, const iovec* pieces, const std::byte* data,
               std::vector<std::byte>& reply);
    bool serve_swap(const wire::RmaRequest& head, const iovec& piece, const std::byte* data,
                    std::vector<std::byte>& reply);
    [[nodiscard]] bool place_pieces(const std::byte* from, uint32_t count, std::vector<iovec>& pieces,
                                    uint64_t& bytes) const;

    Window& window_;
    Receiver requests_;
    Receiver replies_;
    std::vector<Waiting> waiting_; // by id
    std::vector<uint32_t> free_;
    Scratch scratch_;
};

} // namespace zipmpi::proto::rma
