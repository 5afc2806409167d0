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
struct Shown {
    std::byte bytes[sizeof(wire::Frame) + sizeof(wire::AckBlock)];
    size_t used = sizeof(wire::Frame);

    Shown(wire::Frame frame, std::span<const std::byte> ack) {
        frame.magic = 0;
        frame.hops = 0;
        frame.lane = 0;
        frame.checksum = 0;
        std::memcpy(bytes, &frame, sizeof frame);
        if (!ack.empty()) std::memcpy(bytes + used, ack.data(), ack.size());
        used += ack.size();
    }
    [[nodiscard]] std::span<const std::byte> all() const { return {bytes, used}; }
};

constexpr uint64_t longest_exact = 4096; // longer texts get memory for a chunk, which is kept for the next
constexpr size_t most_rooms = 64;

} // namespace

std::unique_ptr<std::byte[]> End::sealing_room(uint64_t bytes) {
    if (bytes <= longest_exact) return std::make_unique_for_overwrite<std::byte[]>(bytes);
    if (sealing_rooms_.empty()) return std::make_unique_for_overwrite<std::byte[]>(wire::frame_chunk);
    std::unique_ptr<std::byte[]> room = std::move(sealing_rooms_.back());
    sealing_rooms_.pop_back();
    return room;
}

void End::drop_sealed(Piece& piece, size_t left) {
    for (; piece.sealed.size() > left; piece.sealed.pop_back())
        if (piece.data.size() > longest_exact && sealing_rooms_.size() < most_rooms)
            sealing_rooms_.push_back(std::move(piece.sealed.back()));
}

// Data goes to memory of its piece, which keeps it while the network has it.
bool End::seal(Flow& f, const wire::Frame& frame, std::span<const std::byte> ack, std::span<std::byte> head,
               std::span<const std::byte>& data, Piece* piece, wire::Seal& seal) {
    const Shown readable(frame, ack);
    seal.number = ++f.sealed;
    std::byte* out = nullptr;
    if (piece != nullptr && !data.empty()) out = piece->sealed.emplace_back(sealing_room(data.size())).get();
    if (!world_.sealer->seal({own_id_, f.world_rank, seal.number, readable.all()}, head, data, out, seal.tag))
        return false;
    if (out != nullptr) data = {out, data.size()};
    return true;
}

// The frame as it was before it was sealed: in `opened`, but for the data of a chunk whose user waits for it.
bool End::unseal(const FrameView& v, std::span<const std::byte> head, std::span<const std::byte> data,
                 std::vector<std::byte>& opened, FrameView& inside) {
    if (!v.sealed) return false;
    wire::Frame frame = v.frame;
    const wire::Seal& seal = v.seal;
    const size_t ack = v.has_ack ? sizeof(wire::AckBlock) : 0;
    const size_t before = sizeof frame + ack;
    const std::span<const std::byte> rest = head.subspan(before + sizeof seal);
    const Shown readable(frame, head.subspan(sizeof frame, ack));
    if (opened.size() < before + rest.size() + data.size()) opened.resize(before + rest.size() + data.size());
    if (ack != 0) std::memcpy(opened.data() + sizeof frame, head.data() + sizeof frame, ack);
    std::byte* const rest_to = opened.data() + before;
    std::byte* data_to = nullptr;
    if (!rest.empty() || wanted_at(frame, data.size(), data_to) == nullptr) data_to = rest_to + rest.size();
    if (!world_.sealer->open({frame.from, frame.to, seal.number, readable.all()}, {rest, rest_to},
                             {data, data_to}, seal.tag))
        return false;
    frame.flags &= static_cast<uint8_t>(~wire::frame_sealed);
    frame.bytes -= sizeof seal;
    close(frame);
    std::memcpy(opened.data(), &frame, sizeof frame);
    const bool together = data_to == rest_to + rest.size();
    const std::span<const std::byte> first(opened.data(),
                                           before + rest.size() + (together ? data.size() : 0));
    return read_frame(
        first, together ? std::span<const std::byte>() : std::span<const std::byte>(data_to, data.size()),
        job_, inside);
}

} // namespace zipmpi::bridge
