// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A connection between two processes. It carries frames: a header, up to 40 bytes of payload, and the data.
// The data of a rendezvous message stays with the sender until the receiver pulls it by the number of its
// RTS.
#pragma once

#include "os/fd.hpp"
#include "transport/network.hpp"
#include "transport/send_burst.hpp"
#include "transport/stream/sealing.hpp"

#include <cstring>
#include <deque>
#include <string>
#include <vector>

namespace zipmpi::transport::stream {

struct FrameHeader {
    enum class Kind : uint32_t {
        message = 1, // payload, then data
        rts,         // payload; `bytes` bytes are pending under this number
        pull,        // requests the data pending under this number
        refuse,      // declines that data
        bulk,        // delivers that data
        bye,         // nothing else follows on this connection
        relayed,     // data: a frame to or from a gateway
        offer,       // data: the offer of a gateway to connect for such frames
        leaving,     // the process may exit from now on
    };
    Kind kind = Kind::message;
    uint32_t unused = 0;
    uint64_t number = 0;
    uint64_t bytes = 0;
    wire::Envelope envelope{};
    uint32_t unused2 = 0;
};
static_assert(sizeof(FrameHeader) == 48);

// A frame to be written.
struct QueuedFrame {
    std::byte head[sizeof(FrameHeader) + wire::inline_max]; // with payload
    uint32_t head_bytes = 0;
    bool notify = false; // call send_finished() when it is written
    BufferRef data;
    std::vector<std::byte> owned; // data that is no operation's
    uint64_t written = 0;         // bytes of head and data

    QueuedFrame(const FrameHeader& header, const std::byte* payload, const BufferRef& frame_data)
        : head_bytes(sizeof header)
        , data(frame_data) {
        std::memcpy(head, &header, sizeof header);
        if (payload == nullptr) return;
        std::memcpy(head + sizeof header, payload, header.envelope.inline_bytes);
        head_bytes += header.envelope.inline_bytes;
    }
    [[nodiscard]] uint64_t bytes() const { return head_bytes + data.bytes; }
};

// The frame whose data is being received.
struct IncomingFrame {
    FrameHeader head;
    uint64_t received = 0;
    bool in_data = false;
    std::vector<std::byte> body; // of a message
};

// Progress of the setup of a connection: dialing and authentication.
struct SetupState {
    uint32_t address_index = 0;
    uint32_t attempts = 0; // addresses tried
    uint64_t deadline_ns = 0;
    uint64_t give_up_ns = 0; // when no address answers
    Hello hello{};
    HelloReply hello_reply{};
};

struct Connection {
    enum class State {
        dialing,       // not connected yet
        hello_sent,    // waits for the hello reply
        hello_awaited, // waits for the hello
        parked,        // hello received, with a key that this process does not have yet
        reply_sent,    // waits for the confirmation
        open,
    };
    enum class Condition {
        usable,
        unwritable, // the peer has ended it, but there may be data to read
        broken,     // to be swept: write error or invalid data
    };

    uint64_t number = 0; // for epoll
    State state = State::hello_awaited;
    os::Fd fd;
    int peer = -1;    // number of the peer; -1: not authenticated
    SetupState setup; // while it is not open
    std::string in;   // handshake message, or header and payload of a frame, received so far
    IncomingFrame frame;
    std::deque<QueuedFrame> out;
    std::unique_ptr<SealedStream> sealed; // null: frames are sent as they are
    SendBurst burst;
    bool deferred = false; // `out` waits for the next progress()
    bool watches_writable = false;
    bool bye_sent = false, bye_received = false;
    Condition condition = Condition::usable;

    [[nodiscard]] bool is_open() const { return state == State::open; }
    [[nodiscard]] bool is_broken() const { return condition == Condition::broken; }
    // The peer considers a connection open before this process receives its confirmation.
    [[nodiscard]] bool is_open_to_peer() const { return is_open() || state == State::reply_sent; }
    [[nodiscard]] bool has_output() const {
        return !out.empty() || (sealed != nullptr && !sealed->unsent().empty());
    }
    // This process dials.
    [[nodiscard]] bool is_initiator() const { return state == State::dialing || state == State::hello_sent; }
};

} // namespace zipmpi::transport::stream
