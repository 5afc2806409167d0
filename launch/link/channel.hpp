// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// One end of the connection between mpiexec and a daemon: frames in, frames out, never blocks.
#pragma once

#include "launch/link/frame.hpp"
#include "os/fd.hpp"

namespace zipmpi::launch {

class Channel {
  public:
    explicit Channel(os::Fd socket); // made non-blocking
    [[nodiscard]] int fd() const { return fd_.get(); }
    void send(FrameType type, std::string_view payload = {}); // queued, and written as far as possible
    void send_encoded(std::string_view frames);               // the same, for what encode() has made
    bool flush();                                             // false: the peer is gone
    [[nodiscard]] size_t queued() const { return out_.size() - out_start_; }
    bool receive(); // reads what is there; false: the peer is gone, or does not speak the protocol
    [[nodiscard]] bool gone() const { return gone_; } // writing has failed
    // Of the system, why nothing can be read any more; 0: the peer has closed it, or speaks something else.
    [[nodiscard]] int error() const { return error_; }
    bool next(Frame& frame) { return decoder_.next(frame); }

  private:
    os::Fd fd_;
    std::string out_;
    size_t out_start_ = 0;
    FrameDecoder decoder_;
    bool gone_ = false;
    int error_ = 0;
};

} // namespace zipmpi::launch
