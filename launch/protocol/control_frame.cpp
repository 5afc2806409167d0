// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/protocol/control_frame.hpp"

#include <cstring>

namespace zipmpi::launch {
namespace {
constexpr size_t head_bytes = 8;

template <class T>
T load(const char* at) {
    T v;
    std::memcpy(&v, at, sizeof v);
    return v;
}
} // namespace

PayloadWriter& PayloadWriter::u32(uint32_t v) {
    bytes_.append(reinterpret_cast<const char*>(&v), sizeof v);
    return *this;
}

PayloadWriter& PayloadWriter::u64(uint64_t v) {
    bytes_.append(reinterpret_cast<const char*>(&v), sizeof v);
    return *this;
}

PayloadWriter& PayloadWriter::text(std::string_view v) {
    u32(static_cast<uint32_t>(v.size()));
    bytes_.append(v);
    return *this;
}

PayloadWriter& PayloadWriter::texts(const std::vector<std::string>& v) {
    u32(static_cast<uint32_t>(v.size()));
    for (const auto& t : v) text(t);
    return *this;
}

PayloadWriter& PayloadWriter::numbers(const std::vector<uint32_t>& v) {
    u32(static_cast<uint32_t>(v.size()));
    for (const uint32_t n : v) u32(n);
    return *this;
}

std::string_view PayloadReader::take(size_t n) {
    if (!ok_ || n > bytes_.size()) {
        ok_ = false;
        return {};
    }
    const std::string_view part = bytes_.substr(0, n);
    bytes_.remove_prefix(n);
    return part;
}

uint32_t PayloadReader::u32() {
    const auto part = take(4);
    return ok_ ? load<uint32_t>(part.data()) : 0;
}

uint64_t PayloadReader::u64() {
    const auto part = take(8);
    return ok_ ? load<uint64_t>(part.data()) : 0;
}

std::string PayloadReader::text() { return std::string(take(u32())); }

uint32_t PayloadReader::count(size_t least_bytes_each) {
    const uint32_t n = u32();
    if (ok_ && uint64_t{n} * least_bytes_each > bytes_.size()) ok_ = false;
    return ok_ ? n : 0;
}

std::vector<std::string> PayloadReader::texts() {
    std::vector<std::string> v(count(4));
    for (auto& t : v) t = text();
    return v;
}

std::vector<uint32_t> PayloadReader::numbers() {
    std::vector<uint32_t> v(count(4));
    for (uint32_t& n : v) n = u32();
    return v;
}

std::string_view PayloadReader::rest() { return take(bytes_.size()); }

std::string encode(ControlFrameType type, std::string_view payload) {
    std::string frame;
    frame.reserve(head_bytes + payload.size());
    const auto t = static_cast<uint32_t>(type);
    const auto n = static_cast<uint32_t>(payload.size());
    frame.append(reinterpret_cast<const char*>(&t), sizeof t);
    frame.append(reinterpret_cast<const char*>(&n), sizeof n);
    frame.append(payload);
    return frame;
}

void FrameDecoder::feed(std::string_view bytes) {
    if (start_ > 0 && start_ == bytes_.size()) {
        bytes_.clear();
        start_ = 0;
    } else if (start_ > (1U << 20)) {
        bytes_.erase(0, start_);
        start_ = 0;
    }
    bytes_.append(bytes);
}

bool FrameDecoder::next(ControlFrame& out) {
    if (malformed_ || bytes_.size() - start_ < head_bytes) return false;
    const auto type = load<uint32_t>(bytes_.data() + start_);
    const auto size = load<uint32_t>(bytes_.data() + start_ + 4);
    if (size > max_frame_bytes) {
        malformed_ = true;
        return false;
    }
    if (bytes_.size() - start_ - head_bytes < size) return false;
    out.type = static_cast<ControlFrameType>(type);
    out.payload.assign(bytes_, start_ + head_bytes, size);
    start_ += head_bytes + size;
    return true;
}

} // namespace zipmpi::launch
