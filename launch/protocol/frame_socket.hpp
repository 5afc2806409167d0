// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// One side of the connection between mpiexec and a daemon: sends and receives frames without blocking.
#pragma once

#include "launch/protocol/control_frame.hpp"
#include "os/fd.hpp"

namespace zipmpi::launch {

class FrameSocket {
  public:
    explicit FrameSocket(os::Fd socket); // set to nonblocking
    [[nodiscard]] int fd() const { return fd_.get(); }
    void send(ControlFrameType type, std::string_view payload = {}); // queued, and written as far as possible
    void send_encoded(std::string_view frames);                      // frames made by encode()
    bool flush();                                                    // false if the connection has ended
    [[nodiscard]] size_t queued() const { return out_.size() - out_start_; }
    bool
    receive(); // reads available bytes; false if the connection has ended or the peer violates the protocol
    [[nodiscard]] bool has_write_failed() const { return write_failed_; } // a write has failed
    // errno of the read error; 0 if the peer has closed the connection or violated the protocol.
    [[nodiscard]] int error() const { return error_; }
    bool next(ControlFrame& frame) { return decoder_.next(frame); }

  private:
    os::Fd fd_;
    std::string out_;
    size_t out_start_ = 0;
    FrameDecoder decoder_;
    bool write_failed_ = false;
    int error_ = 0;
};

} // namespace zipmpi::launch
