// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// One side of the connection between mpiexec and a daemon: sends and receives frames without blocking. Over
// TCP they are encrypted in records.
#pragma once

#include "base/record_channel.hpp"
#include "launch/protocol/control_frame.hpp"
#include "os/fd.hpp"

namespace zipmpi::launch {

inline constexpr const char* altered_text =
    "a record of its control connection was altered, repeated or lost between the hosts, so the connection "
    "was closed; nothing of it was used";
inline constexpr const char* altered_fix =
    "check who can change traffic between these hosts, and their network cards and switches; restart the job";

class FrameSocket {
  public:
    using Records = std::unique_ptr<RecordChannel>;
    // Sets it to nonblocking. records: null for a socket pair, which no other process can reach.
    FrameSocket(os::Fd socket, Records records);
    [[nodiscard]] int fd() const { return fd_.get(); }
    void send(ControlFrameType type, std::string_view payload = {}); // queued, and written as far as possible
    void send_encoded(std::string_view frames);                      // frames made by encode()
    bool flush();                                                    // false if the connection has ended
    [[nodiscard]] size_t queued() const { return out_.size() - out_start_; }
    bool
    receive(); // reads available bytes; false if the connection has ended or the peer violates the protocol
    [[nodiscard]] bool has_write_failed() const { return write_failed_; } // a write has failed
    void close(); // the peer sees the end of the connection
    // errno of the read error; 0 if the peer has closed the connection or violated the protocol.
    [[nodiscard]] int error() const { return error_; }
    // The last receive() read authentic text. Bytes that others may have sent do not count.
    [[nodiscard]] bool has_progressed() const { return progressed_; }
    // A record was not authentic: it was altered, or records before it are missing or repeated.
    [[nodiscard]] bool was_altered() const { return altered_; }
    bool next(ControlFrame& frame) { return decoder_.next(frame); }

  private:
    bool decode(std::string_view bytes);

    os::Fd fd_;
    Records records_;
    std::string out_;
    size_t out_start_ = 0;
    FrameDecoder decoder_;
    bool write_failed_ = false, altered_ = false, progressed_ = false;
    int error_ = 0;
};

// Of a daemon to its parent. records: null for a socket pair.
struct ParentConnection {
    os::Fd socket;
    FrameSocket::Records records;
};

} // namespace zipmpi::launch
