// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Frames over untrusted links: encrypted by the sending endpoint, verified and decrypted by the receiving
// one. Gateways see only the header. A retransmitted frame is encrypted again under a new AEAD number
// (nonce), because the user's memory may have changed.
#include "bridge/flow_state.hpp"

namespace zipmpi::bridge {
namespace {

// The part that gateways can read and must not change.
struct AuthenticatedHeader {
    std::byte bytes[sizeof(wire::Frame) + sizeof(wire::AckBlock)];
    size_t used = sizeof(wire::Frame);

    AuthenticatedHeader(wire::Frame frame, std::span<const std::byte> ack) {
        frame.magic = 0;
        frame.hops = 0;
        frame.path = 0;
        frame.checksum = 0;
        std::memcpy(bytes, &frame, sizeof frame);
        if (!ack.empty()) std::memcpy(bytes + used, ack.data(), ack.size());
        used += ack.size();
    }
    [[nodiscard]] std::span<const std::byte> all() const { return {bytes, used}; }
};

constexpr uint64_t longest_exact = 4096; // longer texts use chunk-sized buffers, which are reused
constexpr size_t max_buffers = 64;

} // namespace

std::unique_ptr<std::byte[]> Endpoint::acquire_seal_buffer(uint64_t bytes) {
    if (bytes <= longest_exact) return std::make_unique_for_overwrite<std::byte[]>(bytes);
    if (seal_buffers_.empty()) return std::make_unique_for_overwrite<std::byte[]>(wire::frame_chunk);
    std::unique_ptr<std::byte[]> buffer = std::move(seal_buffers_.back());
    seal_buffers_.pop_back();
    return buffer;
}

void Endpoint::release_sealed(UnackedFrame& unacked, size_t left) {
    for (; unacked.sealed.size() > left; unacked.sealed.pop_back())
        if (unacked.data.size() > longest_exact && seal_buffers_.size() < max_buffers)
            seal_buffers_.push_back(std::move(unacked.sealed.back()));
}

// The encrypted data is stored in the UnackedFrame while the network uses it.
bool Endpoint::seal(Flow& f, const wire::Frame& frame, std::span<const std::byte> ack,
                    std::span<std::byte> head, std::span<const std::byte>& data, UnackedFrame* unacked,
                    wire::AeadHeader& seal) {
    const AuthenticatedHeader readable(frame, ack);
    seal.number = ++f.sealed;
    std::byte* out = nullptr;
    if (unacked != nullptr && !data.empty())
        out = unacked->sealed.emplace_back(acquire_seal_buffer(data.size())).get();
    if (!io_.aead->seal({own_id_, f.world_rank, seal.number, readable.all()}, head, data, out, seal.tag))
        return false;
    if (out != nullptr) data = {out, data.size()};
    return true;
}

// Restores the frame in `opened`, except chunk data that goes directly to a posted receive.
bool Endpoint::unseal(const FrameView& v, std::span<const std::byte> head, std::span<const std::byte> data,
                      std::vector<std::byte>& opened, FrameView& inside) {
    if (!v.sealed) return false;
    wire::Frame frame = v.frame;
    const wire::AeadHeader& seal = v.seal;
    const size_t ack = v.has_ack ? sizeof(wire::AckBlock) : 0;
    const size_t before = sizeof frame + ack;
    const std::span<const std::byte> rest = head.subspan(before + sizeof seal);
    const AuthenticatedHeader readable(frame, head.subspan(sizeof frame, ack));
    if (opened.size() < before + rest.size() + data.size()) opened.resize(before + rest.size() + data.size());
    if (ack != 0) std::memcpy(opened.data() + sizeof frame, head.data() + sizeof frame, ack);
    std::byte* const rest_to = opened.data() + before;
    std::byte* data_to = nullptr;
    if (!rest.empty() || posted_receive_for(frame, data.size(), data_to) == nullptr)
        data_to = rest_to + rest.size();
    if (!io_.aead->open({frame.from, frame.to, seal.number, readable.all()}, {rest, rest_to}, {data, data_to},
                        seal.tag))
        return false;
    frame.flags &= static_cast<uint8_t>(~wire::frame_encrypted);
    frame.bytes -= sizeof seal;
    finalize(frame);
    std::memcpy(opened.data(), &frame, sizeof frame);
    const bool in_one_span = data_to == rest_to + rest.size();
    const std::span<const std::byte> first(opened.data(),
                                           before + rest.size() + (in_one_span ? data.size() : 0));
    return read_frame(
        first, in_one_span ? std::span<const std::byte>() : std::span<const std::byte>(data_to, data.size()),
        job_, inside);
}

} // namespace zipmpi::bridge
