// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Frames of the bridge over a TCP connection, one after the other, in both directions. Where a gateway is
// reached by TCP alone this takes the place of UCX's messages: a frame is one system call on each side, and
// long ones are read straight to where they are wanted, without the copies by which UCX puts parts together.
//
// Threads: one at a time. Nothing blocks.
#pragma once

#include "os/fd.hpp"
#include "transport/ucx/network.hpp"
#include "wire/frame_layout.hpp"

#include <deque>
#include <memory>
#include <vector>

namespace zipmpi::transport::ucx {

// Memory for the data of one long frame; kept for the next one, since fresh memory is slow. Where nobody
// looks at the data its end may stay in the kernel, in a pipe.
struct Room {
    alignas(16) std::byte bytes[wire::frame_payload_max];
    os::Fd pipe_in, pipe_out;
    size_t piped = 0; // bytes that are in the pipe

    [[nodiscard]] std::span<const std::byte> in_memory(std::span<const std::byte> data) const {
        return data.first(data.size() - piped);
    }
    // All of the data into memory; it is so long.
    bool fetch(size_t data_bytes);
};

// The room, if some of the data is in its pipe.
inline Room* piped_in(Room* room) { return room != nullptr && room->piped != 0 ? room : nullptr; }

class Rooms {
  public:
    Room* take();
    void give(Room* room);
    bool has_pipe(Room& room); // or has one from now on

  private:
    void close_pipe(Room& room);

    std::vector<std::unique_ptr<Room>> free_;
    size_t pipes_ = 0;
    bool no_more_pipes_ = false;
};

class Stream {
  public:
    // Who uses it. What is called here must not end the stream.
    struct User {
        void* subject;
        // Where the data of a long frame is wanted, of which the head has come; null: anywhere.
        std::byte* (*place)(void* subject, std::span<const std::byte> head, size_t bytes);
        // A frame in one part, or, if it is long, in two. True: the room, if there is one, is kept.
        bool (*frame)(void* subject, std::span<const std::byte> head, std::span<const std::byte> data,
                      Room* room);
        void (*left)(void* subject, void* ticket); // send() has finished with the data
        // Nobody looks at the data of long frames: it may lie in the pipe of its room.
        bool only_passes_on = false;
    };
    Stream(os::Fd fd, Rooms& rooms, const User& user);
    ~Stream(); // what is under way is given up: left() comes
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;

    [[nodiscard]] int descriptor() const { return fd_.get(); }
    // Reads what is there, up to some limit. Returns how many frames came; -1: the connection is over.
    int read();
    // The head is copied; under way: the data stays where it is until left(ticket). room: has the end of the
    // data in its pipe.
    Posted send(std::span<const std::byte> head, std::span<const std::byte> data, void* ticket,
                Room* room = nullptr);
    // The same for a short frame, which leaves with the next one or with flush().
    void gather(std::span<const std::byte> head, std::span<const std::byte> data);
    [[nodiscard]] size_t gathered() const { return gathered_.size(); }
    bool flush(); // false: the connection is over
    bool write(); // what send() left; false: the connection is over
    [[nodiscard]] bool has_out() const { return !out_.empty(); }
    // Data that is being read to this memory goes elsewhere from now on, and its frame is dropped.
    void withdraw(std::span<const std::byte> memory);

    bool watches_out = false; // of whoever waits for the descriptor

  private:
    struct Out {
        std::vector<std::byte> bytes;
        std::span<const std::byte> data;
        void* ticket;
        Room* room = nullptr; // whose pipe has the rest

        [[nodiscard]] size_t in_memory() const { return bytes.size() + data.size(); }
        [[nodiscard]] size_t piped() const { return room != nullptr ? room->piped : 0; }
    };
    int parse();
    bool begin_long(const wire::Frame& frame, size_t whole);
    void finish_long();
    ssize_t read_some(size_t& room);
    ssize_t send_parts(std::span<const std::byte> head, std::span<const std::byte> data, bool more);
    bool send_piped(Room& room);
    void keep_rest(size_t sent, std::span<const std::byte> head, std::span<const std::byte> data,
                   void* ticket);
    ssize_t write_parts();

    os::Fd fd_;
    Rooms& rooms_;
    User user_;
    // in
    std::vector<std::byte> buffer_;
    size_t begin_ = 0, end_ = 0;
    bool after_long_ = false; // the next is likely to be long too
    // A long frame; target_ is null if there is none.
    std::vector<std::byte> head_;
    std::byte* target_ = nullptr;
    size_t wanted_ = 0, got_ = 0;
    Room* room_ = nullptr;
    bool unwanted_ = false;
    bool splices_ = false; // it goes to the pipe of its room
    // out
    std::vector<std::byte> gathered_;
    std::deque<Out> out_;
    size_t out_done_ = 0; // of the first
};

} // namespace zipmpi::transport::ucx
