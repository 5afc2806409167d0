// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bridge/frame.hpp"

#include <array>
#include <cstring>

namespace zipmpi::bridge {
namespace {

constexpr uint32_t polynomial = 0x82f63b78; // of CRC-32C, bits reversed

constexpr std::array<uint32_t, 256> make_table() {
    std::array<uint32_t, 256> table{};
    for (uint32_t i = 0; i < table.size(); ++i) {
        uint32_t c = i;
        for (int bit = 0; bit < 8; ++bit) c = (c >> 1U) ^ ((c & 1U) != 0 ? polynomial : 0);
        table[i] = c;
    }
    return table;
}

uint32_t by_table(std::span<const std::byte> bytes, uint32_t previous) {
    static constexpr std::array<uint32_t, 256> table = make_table();
    uint32_t c = ~previous;
    for (const std::byte b : bytes) c = (c >> 8U) ^ table[(c ^ static_cast<uint32_t>(b)) & 0xffU];
    return ~c;
}

#if defined(__x86_64__)
[[gnu::target("sse4.2")]] uint32_t by_instruction(std::span<const std::byte> bytes, uint32_t previous) {
    uint64_t c = ~previous;
    for (; bytes.size() >= 8; bytes = bytes.subspan(8)) {
        uint64_t token = 0;
        std::memcpy(&token, bytes.data(), sizeof token);
        c = __builtin_ia32_crc32di(c, token);
    }
    auto rest = static_cast<uint32_t>(c);
    for (const std::byte b : bytes) rest = __builtin_ia32_crc32qi(rest, static_cast<uint8_t>(b));
    return ~rest;
}
#endif

std::span<const std::byte> checksum_of(const wire::Frame& frame) {
    return {reinterpret_cast<const std::byte*>(&frame), offsetof(wire::Frame, checksum)};
}

template <class T>
bool take(std::span<const std::byte>& bytes, T& out) {
    if (bytes.size() < sizeof out) return false;
    std::memcpy(&out, bytes.data(), sizeof out);
    bytes = bytes.subspan(sizeof out);
    return true;
}

template <class T>
bool read_all(const FrameView& view, wire::FrameType type, T& out) {
    if (view.frame.type != type || view.data.size() != sizeof out) return false;
    std::memcpy(&out, view.data.data(), sizeof out);
    return true;
}

bool take_message(std::span<const std::byte>& rest, FrameView& out) {
    if (!take(rest, out.head)) return false;
    const size_t payload = out.head.inline_bytes;
    if (payload > wire::inline_max || payload > rest.size() || out.head.chunked > 1) return false;
    out.payload = rest.first(payload);
    rest = rest.subspan(payload);
    return true;
}

// Whether the data is within its message; a short message must be complete.
bool fits(const FrameView& v) {
    const wire::Frame& f = v.frame;
    const uint64_t data = v.data.size();
    if (f.type != wire::FrameType::message && f.type != wire::FrameType::chunk) return true;
    if (f.length > wire::frame_length_max || f.offset > f.length || data > f.length - f.offset) return false;
    if (f.type == wire::FrameType::message) return f.offset == 0 && (v.head.chunked != 0 || data == f.length);
    return f.offset != 0 && f.offset % wire::frame_chunk == 0 && data != 0 && data <= wire::frame_chunk &&
           (data == wire::frame_chunk || data == f.length - f.offset);
}

} // namespace

uint32_t crc32c(std::span<const std::byte> bytes, uint32_t previous) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("sse4.2")) return by_instruction(bytes, previous);
#endif
    return by_table(bytes, previous);
}

void finalize(wire::Frame& frame) {
    frame.magic = wire::frame_magic;
    frame.checksum = crc32c(checksum_of(frame));
}

bool read_frame(std::span<const std::byte> bytes, uint64_t job, size_t bytes_after, wire::Frame& frame) {
    if (!take(bytes, frame)) return false;
    return frame.magic == wire::frame_magic && frame.checksum == crc32c(checksum_of(frame)) &&
           frame.job == job && frame.type >= wire::FrameType::message &&
           frame.type <= wire::FrameType::route_update && (frame.flags & ~wire::frame_flags) == 0 &&
           frame.hops <= wire::frame_hops && frame.bytes <= wire::frame_payload_max &&
           frame.bytes == bytes_after && frame.from >= 0 && frame.to >= 0;
}

bool read_frame(std::span<const std::byte> bytes, std::span<const std::byte> data, uint64_t job,
                FrameView& out) {
    if (bytes.size() < sizeof(wire::Frame) ||
        !read_frame(bytes, job, bytes.size() - sizeof(wire::Frame) + data.size(), out.frame))
        return false;
    std::span<const std::byte> rest = bytes.subspan(sizeof(wire::Frame));
    out.has_ack = (out.frame.flags & wire::frame_has_ack) != 0;
    out.sealed = (out.frame.flags & wire::frame_encrypted) != 0;
    out.has_data_checksum = (out.frame.flags & wire::frame_has_data_checksum) != 0;
    if ((out.has_ack && !take(rest, out.ack)) || (out.sealed && !take(rest, out.seal)) ||
        (out.has_data_checksum && !take(rest, out.data_checksum)))
        return false;
    if (out.sealed) { // only the receiving endpoint can read on
        out.data = rest.empty() ? data : rest;
        return true;
    }
    if (out.frame.type == wire::FrameType::message && !take_message(rest, out)) return false;
    if (!rest.empty() && !data.empty()) return false;
    out.data = rest.empty() ? data : rest;
    return fits(out);
}

bool read_ack(const FrameView& view, wire::AckBitmap& ack) {
    return read_all(view, wire::FrameType::ack, ack);
}

bool read_grant(const FrameView& view, wire::Grant& grant) {
    return read_all(view, wire::FrameType::grant, grant);
}

bool read_route_update(const FrameView& view, wire::RouteUpdate& update) {
    return read_all(view, wire::FrameType::route_update, update);
}

uint64_t job_number(std::string_view job_id) {
    uint64_t hash = 0xcbf29ce484222325; // FNV-1a
    for (const char c : job_id) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
    return hash;
}

} // namespace zipmpi::bridge
