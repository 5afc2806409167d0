// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What a network offers besides to those who send frames of the bridge: ranks of a grid, and gateways.
#pragma once

#include "transport/ucx/network.hpp"

namespace zipmpi::transport::ucx {

struct Room; // stream.hpp

struct FrameSettings {
    bool streams = false; // frames between ranks and gateways may go over TCP connections of their own
    bool offers = false;  // such connections are offered to those that we meet
    // Where the data of a long frame may be read to, and stay valid until withdraw(); null: anywhere. The
    // subject is that of the sink.
    std::byte* (*place)(void* subject, std::span<const std::byte> head, size_t bytes) = nullptr;
};

// Its sink is told met() once more where frames that were sent before may be lost though the peer is well.
class FrameNetwork : public Network {
  public:
    // Nothing is written any more to memory that place() gave.
    virtual void withdraw(std::span<const std::byte> memory) = 0;
    // A gateway has answered, and the connection for frames to it is made, or will not be.
    [[nodiscard]] virtual bool settled(Peer gateway) const = 0;
    // The room of a frame that came, if the end of its data is in the pipe of that; to gateways only.
    [[nodiscard]] virtual Room* piped(void* /*descriptor*/) const { return nullptr; }
    // send_frame() for such a one.
    virtual Posted send_piped(Peer, std::span<const std::byte> /*head*/, std::span<const std::byte> /*data*/,
                              void* /*ticket*/, Room& /*room*/) {
        return Posted::failed;
    }
};

using OpenForFrames = FrameNetwork* (*)(const Settings& settings, const FrameSettings& frames,
                                        std::string& why);
inline constexpr const char* open_for_frames_symbol = "zipmpi_ucx_open_for_frames_2";
// Null: why says so in words.
FrameNetwork* open_for_frames(const Settings& settings, const FrameSettings& frames, std::string& why);

} // namespace zipmpi::transport::ucx
