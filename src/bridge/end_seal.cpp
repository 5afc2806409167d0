// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Frames over links that others may read or change: encrypted by the end that sends, checked and opened by
// the end that receives. Gateways see the header only. A frame that is sent again is sealed again, under a
// new number: the memory of the user may have changed meanwhile.
#include "bridge/end_parts.hpp"

namespace zipmpi::bridge {
namespace {

// What gateways can read, as far as they must not change it.
std::vector<std::byte> shown(wire::Frame frame, std::span<const std::byte> ack) {
    frame.magic = 0;
    frame.hops = 0;
    frame.lane = 0;
    frame.checksum = 0;
    std::vector<std::byte> bytes(sizeof frame + ack.size());
    std::memcpy(bytes.data(), &frame, sizeof frame);
    if (!ack.empty()) std::memcpy(bytes.data() + sizeof frame, ack.data(), ack.size());
    return bytes;
}

} // namespace

// Data goes to memory of its piece, which keeps it while the network has it.
bool End::seal(Flow& f, const wire::Frame& frame, std::span<const std::byte> ack, std::span<std::byte> head,
               std::span<const std::byte>& data, Piece* piece, wire::Seal& seal) {
    const std::vector<std::byte> readable = shown(frame, ack);
    seal.number = ++f.sealed;
    std::byte* out = nullptr;
    if (piece != nullptr && !data.empty()) out = piece->sealed.emplace_back(data.size()).data();
    if (!world_.sealer->seal({own_id_, f.world_rank, seal.number, readable}, head, data, out, seal.tag))
        return false;
    if (out != nullptr) data = {out, data.size()};
    return true;
}

// The frame as it was before it was sealed, in one piece.
bool End::unseal(const FrameView& v, std::span<const std::byte> head, std::span<const std::byte> data,
                 std::vector<std::byte>& opened) {
    if (!v.sealed) return false;
    wire::Frame frame = v.frame;
    const wire::Seal& seal = v.seal;
    const size_t ack = v.has_ack ? sizeof(wire::AckBlock) : 0;
    const size_t before = sizeof frame + ack;
    const std::span<const std::byte> rest = head.subspan(before + sizeof seal);
    const std::vector<std::byte> readable = shown(frame, head.subspan(sizeof frame, ack));
    opened.resize(before + rest.size() + data.size());
    std::memcpy(opened.data() + sizeof frame, head.data() + sizeof frame, ack);
    if (!rest.empty()) std::memcpy(opened.data() + before, rest.data(), rest.size());
    if (!data.empty()) std::memcpy(opened.data() + before + rest.size(), data.data(), data.size());
    if (!world_.sealer->open({frame.from, frame.to, seal.number, readable}, std::span(opened).subspan(before),
                             seal.tag))
        return false;
    frame.flags &= static_cast<uint8_t>(~wire::frame_sealed);
    frame.bytes -= sizeof seal;
    close(frame);
    std::memcpy(opened.data(), &frame, sizeof frame);
    return true;
}

} // namespace zipmpi::bridge
