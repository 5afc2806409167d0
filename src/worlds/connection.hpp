// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// One connection between two processes of different worlds, and what travels on it: frames, each a head, up
// to 40 bytes of payload and the data. The bytes of a long message stay with the sender until they are asked
// for by the number that its announcement gave.
#pragma once

#include "os/fd.hpp"
#include "transport/ucx/network.hpp"
#include "worlds/handshake.hpp"

#include <deque>
#include <string>
#include <vector>

namespace zipmpi::worlds {

using transport::ucx::Memory;

struct FrameHead {
    enum class Kind : uint32_t {
        message = 1, // payload, then data
        announce,    // payload; so many bytes wait under this number
        pull,        // the bytes that were announced under this number are wanted
        refuse,      // they are not
        bulk,        // they come: data
        bye,         // nothing else comes on this connection
    };
    Kind kind = Kind::message;
    uint32_t unused = 0;
    uint64_t number = 0;
    uint64_t bytes = 0;
    wire::Envelope envelope{};
    uint32_t unused_too = 0;
};
static_assert(sizeof(FrameHead) == 48);

struct Connection {
    enum class State {
        dialling,     // and not yet connected
        said_hello,   // waits for the welcome
        answering,    // waits for the hello
        parked,       // its hello has come, with a key that this process does not have yet
        said_welcome, // waits for the proof
        open,
    };
    // What waits to be written.
    struct Out {
        std::string head; // with payload
        Memory data;
        bool tells = false; // when it is written: whoever sent it
        uint64_t done = 0;  // bytes of both
    };

    uint64_t number = 0; // for epoll
    State state = State::answering;
    os::Fd fd;
    int foreign = -1; // whose: its index; -1: not proven yet
    uint32_t way = 0;
    uint32_t tries = 0;    // ways that were begun
    uint64_t until_ns = 0; // while it is not open
    Hello hello{};
    Welcome welcome{};
    std::string in; // a greeting, or the head and payload of a frame, so far
    std::deque<Out> out;
    bool watches_out = false;
    bool said_bye = false, heard_bye = false;
    bool broken = false; // to be looked at: it cannot be written to, or makes no sense
    // The frame whose data comes.
    FrameHead head;
    uint64_t got = 0;
    bool in_data = false;
    std::vector<std::byte> body; // of a message

    [[nodiscard]] bool is_open() const { return state == State::open; }
};

} // namespace zipmpi::worlds
