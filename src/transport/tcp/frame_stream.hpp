// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A stream of frames over a TCP connection, in both directions. Replaces UCX messages where a gateway is
// reached by TCP only: a frame takes one system call on each side, and long frames are read directly to their
// destination, without the copies of UCX's reassembly.
//
// Threads: one at a time. No call blocks.
#pragma once

#include "os/fd.hpp"
#include "transport/frame_network.hpp"
#include "wire/frame_layout.hpp"

#include <deque>
#include <memory>
#include <vector>

namespace zipmpi::transport::tcp {

// Memory for the data of one long frame; reused, because fresh memory is slow. If the data is only forwarded,
// its end may stay in the kernel, in a pipe.
struct FrameBuffer {
    alignas(16) std::byte bytes[wire::frame_payload_max];
    os::Fd pipe_in, pipe_out;
    size_t spliced_bytes = 0; // bytes in the pipe

    [[nodiscard]] std::span<const std::byte> in_memory(std::span<const std::byte> data) const {
        return data.first(data.size() - spliced_bytes);
    }
    // Reads the spliced bytes into memory; data_bytes is the size of the whole data.
    bool read_spliced(size_t data_bytes);
};

// Returns the buffer if some of its data is in the pipe, else null.
inline FrameBuffer* spliced_buffer(FrameBuffer* buffer) {
    return buffer != nullptr && buffer->spliced_bytes != 0 ? buffer : nullptr;
}

class FrameBufferPool {
  public:
    FrameBuffer* acquire();
    void release(FrameBuffer* buffer);
    bool has_pipe(FrameBuffer& buffer); // creates one if necessary

  private:
    void close_pipe(FrameBuffer& buffer);

    std::vector<std::unique_ptr<FrameBuffer>> free_;
    size_t pipes_ = 0;
    bool pipes_exhausted_ = false;
};

// What a stream reports to its owner, which must not destroy it meanwhile.
class StreamListener {
  public:
    // Destination for the data of a long frame whose header has arrived; null: any buffer.
    virtual std::byte* receive_buffer_for(std::span<const std::byte> /*head*/, size_t /*bytes*/) {
        return nullptr;
    }
    // A frame: one span if short, two if long. Returns true to keep the buffer, if any.
    virtual bool frame_arrived(std::span<const std::byte> head, std::span<const std::byte> data,
                               FrameBuffer* buffer) = 0;
    virtual void frame_sent(FrameTicket* ticket) = 0; // send() has finished with the data

  protected:
    ~StreamListener() = default;
};

// forward_only: the data of long frames is not read, so it may stay in the pipe of its buffer.
enum class StreamUse { deliver, forward_only };

class FrameStream {
  public:
    FrameStream(os::Fd fd, FrameBufferPool& pool, StreamListener& listener, StreamUse use);
    ~FrameStream(); // drops pending writes: calls frame_sent()
    FrameStream(const FrameStream&) = delete;
    FrameStream& operator=(const FrameStream&) = delete;

    [[nodiscard]] int descriptor() const { return fd_.get(); }
    // Reads available data up to a limit. Returns the number of frames; -1: connection closed.
    int read();
    // Copies the head; if in flight, the data must stay valid until frame_sent(ticket). buffer: its pipe
    // holds the end of the data.
    PostStatus send(std::span<const std::byte> head, std::span<const std::byte> data, FrameTicket* ticket,
                    FrameBuffer* buffer = nullptr);
    // Queues a short frame, which is sent with the next frame or by flush().
    void batch(std::span<const std::byte> head, std::span<const std::byte> data);
    [[nodiscard]] size_t batched() const { return out_.batched.size(); }
    bool flush(); // false: connection closed
    bool write(); // continues pending writes; false: connection closed
    [[nodiscard]] bool has_pending_writes() const { return !out_.pending.empty(); }
    // Redirects data that is being read to this memory; its frame is dropped.
    void revoke_buffer(std::span<const std::byte> memory);

    bool watches_writable = false; // set by the owner that waits for the descriptor

  private:
    // Bytes received but not parsed.
    struct Input {
        std::vector<std::byte> bytes;
        size_t begin = 0, end = 0;
        bool after_long = false; // the next frame is probably long too

        [[nodiscard]] std::span<const std::byte> unparsed() const {
            return std::span(bytes).subspan(begin, end - begin);
        }
    };
    // The long frame being read.
    struct LongFrame {
        std::vector<std::byte> head;
        std::byte* target = nullptr; // null: there is no such frame
        size_t expected = 0, received = 0;
        FrameBuffer* buffer = nullptr;
        bool discard = false;
        bool splices = false; // data goes to the pipe of the buffer
    };
    struct PendingWrite {
        std::vector<std::byte> bytes;
        std::span<const std::byte> data;
        FrameTicket* ticket;
        FrameBuffer* buffer = nullptr; // its pipe holds the rest

        [[nodiscard]] size_t in_memory() const { return bytes.size() + data.size(); }
        [[nodiscard]] size_t spliced() const { return buffer != nullptr ? buffer->spliced_bytes : 0; }
    };
    struct Output {
        std::vector<std::byte> batched;
        std::deque<PendingWrite> pending;
        size_t front_written = 0; // of the first pending write
    };
    int parse();
    bool begin_long(const wire::Frame& frame, size_t whole);
    void finish_long();
    ssize_t read_some(size_t& capacity);
    ssize_t send_parts(std::span<const std::byte> head, std::span<const std::byte> data, int flags);
    bool send_spliced(FrameBuffer& buffer);
    void queue_rest(size_t sent, std::span<const std::byte> head, std::span<const std::byte> data,
                    FrameTicket* ticket);
    ssize_t write_parts();

    os::Fd fd_;
    FrameBufferPool& pool_;
    StreamListener& listener_;
    StreamUse use_;
    Input in_;
    LongFrame long_;
    Output out_;
};

} // namespace zipmpi::transport::tcp
