// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bridge/frame_codec.hpp"

#include <cstring>

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

uint32_t checksum_of(const AuthenticatedHeader& readable, std::span<const std::byte> head,
                     std::span<const std::byte> data) {
    return crc32c(data, crc32c(head, crc32c(readable.all())));
}

constexpr uint64_t longest_exact = 4096; // longer texts use chunk-sized buffers, which are reused
constexpr size_t max_buffers = 64;

} // namespace

bool FrameCodec::build(Flow& flow, int path, FrameParts& parts, FrameBytes& out) {
    wire::Frame& frame = parts.header;
    out.used = sizeof frame;
    const auto add = [&](std::span<const std::byte> sub) {
        if (!sub.empty()) std::memcpy(out.bytes + out.used, sub.data(), sub.size());
        out.used += sub.size();
    };
    if (parts.ack != nullptr) {
        add(std::as_bytes(std::span(parts.ack, 1)));
        frame.flags = wire::frame_has_ack;
    }
    const size_t seal_at = out.used;
    if (aead_ != nullptr) {
        frame.flags |= wire::frame_encrypted;
        out.used += sizeof(wire::AeadHeader);
    } else {
        frame.flags |= wire::frame_has_data_checksum;
        out.used += sizeof(wire::DataChecksum);
    }
    const size_t head_at = out.used;
    add(parts.head);
    frame.job = job_;
    frame.from = own_id_;
    frame.to = flow.world_rank;
    frame.hops = wire::frame_hops;
    frame.path = static_cast<uint8_t>(path);
    frame.bytes = static_cast<uint32_t>(out.used - sizeof frame + parts.data.size());
    if (aead_ != nullptr) {
        wire::AeadHeader of_frame{};
        if (!seal(flow, parts, {out.bytes + sizeof frame, seal_at - sizeof frame},
                  {out.bytes + head_at, parts.head.size()}, of_frame))
            return false;
        std::memcpy(out.bytes + seal_at, &of_frame, sizeof of_frame);
    } else {
        const AuthenticatedHeader readable(frame, {out.bytes + sizeof frame, seal_at - sizeof frame});
        const wire::DataChecksum sum{
            checksum_of(readable, {out.bytes + head_at, parts.head.size()}, parts.data), 0};
        std::memcpy(out.bytes + seal_at, &sum, sizeof sum);
    }
    finalize(frame);
    std::memcpy(out.bytes, &frame, sizeof frame);
    return true;
}

SealedText FrameCodec::acquire_text(uint64_t bytes) {
    if (bytes <= longest_exact) return std::make_unique_for_overwrite<std::byte[]>(bytes);
    if (texts_.empty()) return std::make_unique_for_overwrite<std::byte[]>(wire::frame_chunk);
    SealedText text = std::move(texts_.back());
    texts_.pop_back();
    return text;
}

void FrameCodec::release_sealed(std::vector<SealedText>& sealed, size_t left, size_t data_bytes) {
    for (; sealed.size() > left; sealed.pop_back())
        if (data_bytes > longest_exact && texts_.size() < max_buffers)
            texts_.push_back(std::move(sealed.back()));
}

// A retransmitted frame is encrypted again under a new AEAD number (nonce), because the user's memory may
// have changed.
bool FrameCodec::seal(Flow& flow, FrameParts& parts, std::span<const std::byte> ack,
                      std::span<std::byte> head, wire::AeadHeader& seal) {
    const AuthenticatedHeader readable(parts.header, ack);
    seal.number = ++flow.out.sealed;
    seal.salt = aead_->salt();
    std::byte* to = nullptr;
    if (parts.sealed != nullptr && !parts.data.empty())
        to = parts.sealed->emplace_back(acquire_text(parts.data.size())).get();
    if (!aead_->seal({own_id_, flow.world_rank, seal.salt, seal.number, readable.all()}, head, parts.data, to,
                     seal.tag))
        return false;
    if (to != nullptr) parts.data = {to, parts.data.size()};
    return true;
}

bool FrameCodec::is_intact(const FrameView& v, std::span<const std::byte> head,
                           std::span<const std::byte> data) {
    const size_t before = readable_bytes(v);
    if (!v.has_data_checksum || head.size() < before + sizeof v.data_checksum) return false;
    const AuthenticatedHeader readable(v.frame, head.subspan(sizeof v.frame, before - sizeof v.frame));
    return checksum_of(readable, head.subspan(before + sizeof v.data_checksum), data) ==
           v.data_checksum.value;
}

bool FrameCodec::open(const FrameView& v, std::span<const std::byte> head, std::span<const std::byte> data,
                      std::byte* data_to, std::vector<std::byte>& opened, FrameView& inside) {
    if (!v.sealed) return false;
    wire::Frame frame = v.frame;
    const wire::AeadHeader& seal = v.seal;
    const size_t before = readable_bytes(v);
    const size_t ack = before - sizeof frame;
    const std::span<const std::byte> rest = head.subspan(before + sizeof seal);
    const AuthenticatedHeader readable(frame, head.subspan(sizeof frame, ack));
    if (opened.size() < before + rest.size() + data.size()) opened.resize(before + rest.size() + data.size());
    if (ack != 0) std::memcpy(opened.data() + sizeof frame, head.data() + sizeof frame, ack);
    std::byte* const rest_to = opened.data() + before;
    if (data_to == nullptr) data_to = rest_to + rest.size();
    if (!aead_->open({frame.from, frame.to, seal.salt, seal.number, readable.all()}, {rest, rest_to},
                     {data, data_to}, seal.tag))
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
