// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// One-sided operations by messages (wire/rma_message.hpp): batches on the window's own context with tag 0,
// answers with tag 1. Both are received from anybody; what makes no sense is dropped.
//
// Origin: a Link per target collects requests until the batch is full or somebody waits for it. Targets
// answer a batch that asks for it or that fetches; an answer says up to which batch all is done, so flushing
// takes one message there and one back whatever was under way.
//
// Target: a Stream per origin does its requests in order. One that may not go on, because a lock is another's
// or because the origin is a fence ahead, is kept and looked at whenever the lane makes progress.
//
// Threads: under the lane's lock.
#pragma once

#include "proto/rma/window.hpp"

#include <deque>
#include <memory>
#include <vector>

namespace zipmpi::proto::rma {

using Bytes = std::vector<std::byte>;

struct Window::Messages {
    explicit Messages(Window& window);
    ~Messages();
    Messages(const Messages&) = delete;
    Messages& operator=(const Messages&) = delete;

    // --- origin, messages.cpp
    // Which lock the operations to a target need: taken with the first of them, if there is any.
    enum class Held : uint8_t { no, wanted_shared, wanted_exclusive, asked };
    struct Link {
        int rank = 0;
        Bytes batch; // empty, or begins with its head
        uint64_t longest_batch = 0;
        uint64_t fetched_by_batch = 0;
        uint32_t sent = 0;       // batches
        uint32_t done = 0;       // that are done at the target, as far as is known
        uint32_t asked = 0;      // the last one that asks for an answer
        uint32_t counted = 0;    // of sent: before the last fence
        uint64_t bytes = 0;      // so far
        uint64_t bytes_done = 0; // of them, at least
        struct Mark {
            uint32_t number; // of a batch that asks for an answer
            uint64_t bytes;  // up to its end
        };
        std::deque<Mark> marks;
        uint32_t fetches = 0; // under way
        Held held = Held::no;
        [[nodiscard]] bool settled() const { return batch.empty() && done == sent; }
        [[nodiscard]] uint64_t bytes_out() const { return bytes - bytes_done; }
    };
    struct Request {
        wire::RmaKind kind;
        uint32_t combine = 0;
        const iovec* pieces = nullptr;
        size_t count = 0;
        Data data{}; // that goes along: data.bytes from packed byte data_from on
        uint64_t data_from = 0;
        uint64_t data_bytes = 0;
        Exchange* exchange = nullptr; // of what fetches
        uint64_t fetched_to = 0;      // packed byte of its result
        uint64_t fetched_bytes = 0;
    };
    [[nodiscard]] Link& link(int rank);
    [[nodiscard]] Link* known_link(int rank) { return links_[static_cast<size_t>(rank)].get(); }
    void add(Link& link, const Request& request);
    void push(Link& link, bool wants_answer);
    void push_all(bool want_answers);
    void ask(Link& link); // for an answer to everything so far
    void post_to(int origin);
    void ask_apart(int target, wire::RmaKind kind);
    void ask_for_way(int target, const std::string& text); // between the devices
    [[nodiscard]] bool all_settled() const;
    [[nodiscard]] uint32_t fetches() const { return fetches_; }
    // Batches to each rank since the last time.
    void count_batches(uint32_t* counts);

    // --- target, serve.cpp
    // Of this epoch: batches that have been done.
    [[nodiscard]] uint32_t served() const { return served_; }
    void next_epoch(uint32_t served_before);

  private:
    struct Receiver : Deferred {
        struct Receive : Operation {
            Receiver* owner = nullptr;
        };
        Messages* messages = nullptr;
        void (Messages::*take)(int from, const std::byte* message, size_t bytes) = nullptr;
        Receive operation;
        Bytes buffer;
        void start(Messages& m, int tag);
        void post();
    };
    struct Waiting { // for a reply
        Exchange* exchange = nullptr;
        int rank = 0;
        uint64_t to = 0;
        uint64_t bytes = 0;
    };
    struct Stream {
        enum class Lock : uint8_t { no, shared, exclusive };
        int rank = 0;
        uint32_t taken = 0; // batches
        uint32_t served = 0;
        uint32_t refused = 0; // requests, not told yet
        Lock lock = Lock::no;
        Lock awaited = Lock::no; // with this ticket
        uint16_t ticket = 0;
        // Hybrid locks: what happens when it is got.
        bool gives_way = false;
        bool is_told = false; // in a reply with this id
        uint32_t lock_id = 0;
        std::deque<Bytes> kept; // batches that wait; of the first, everything before `at` is done
        size_t at = 0;
        Bytes answer; // being made
    };
    struct Watch : Watcher {
        Messages* messages = nullptr;
    };

    void send(int to, int tag, Bytes message);
    [[nodiscard]] uint32_t add_waiting(const Waiting& w);
    void append_request(Link& link, const Request& request);
    void take_answer(int from, const std::byte* message, size_t bytes);
    bool take_reply(Link& link, const wire::RmaReply& reply, const std::byte* data);
    void limit_bytes(Link& link);

    // serve.cpp
    enum class Served : uint8_t { done, waits, nonsense };
    using Streams = std::vector<std::unique_ptr<Stream>>;
    [[nodiscard]] static Stream& stream(Streams& streams, int rank);
    void take_apart(int from, const std::byte* message, size_t bytes);
    void take_batch(int from, const std::byte* message, size_t bytes);
    bool go_on(Stream& s);
    Served serve_batch(Stream& s, const std::byte* batch, size_t bytes);
    Served serve_request(Stream& s, const wire::RmaRequest& head, const std::byte* rest);
    void accept_way(int from, const std::byte* text, size_t bytes);
    void take_way(int from, const std::byte* text, size_t bytes);
    Served lock(Stream& s, const wire::RmaRequest& head);
    Served draw(Stream& s, bool exclusive);
    void got_lock(Stream& s);
    void unlock(Stream& s);
    bool access(Stream& s, const wire::RmaRequest& head, const std::byte* data);
    bool swap(const wire::RmaRequest& head, const std::byte* data, std::byte* fetched);
    bool accumulate(const wire::RmaRequest& head, const std::byte* data, std::byte* fetched);
    [[nodiscard]] bool place(const wire::RmaPiece& piece);
    std::byte* add_reply(Stream& s, uint32_t id, uint64_t bytes, bool refused);
    void send_answer(Stream& s);
    int look_at_kept();

    Window& window_;
    Receiver batches_;
    Receiver answers_;
    std::vector<std::unique_ptr<Link>> links_; // by rank
    std::vector<Waiting> waiting_;             // by id
    std::vector<uint32_t> free_;
    uint32_t fetches_ = 0;
    Streams streams_;              // by rank
    Streams apart_streams_;        // of requests that have no number
    std::vector<Stream*> keeping_; // that may not go on
    Watch watch_;
    uint32_t epoch_ = 0;
    uint32_t served_ = 0;
    bool restless_ = false; // a stream waits for something that nobody tells of
    std::vector<iovec> pieces_;
    uint64_t pieces_bytes_ = 0;
    Scratch scratch_;
};

} // namespace zipmpi::proto::rma
