// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/p2p/remote_buffer.hpp"

#include "packing/serialize.hpp"

#include <algorithm>
#include <cstring>

namespace zipmpi::proto {
namespace {

constexpr size_t head = 2; // numbers before the layout: elements, first byte

size_t list_segments(const packing::Layout* layout, const std::byte* buffer, int64_t elements,
                     uint64_t first_byte, uint64_t from, uint64_t bytes, iovec* iov, size_t capacity,
                     uint64_t& covered) {
    if (layout != nullptr)
        return packing::list_iov(*layout, buffer, elements, first_byte + from, bytes, iov, capacity, covered);
    iov[0] = {const_cast<std::byte*>(buffer + from), bytes};
    covered = bytes;
    return 1;
}

} // namespace

LayoutRecord::LayoutRecord(const Operation& op) {
    if (op.layout == nullptr) return;
    numbers[0] = op.elements;
    numbers[1] = static_cast<int64_t>(op.first_byte);
    const size_t n = packing::serialize(*op.layout, numbers + head, max_numbers - head);
    used = n != 0 ? n + head : 0;
}

packing::LayoutPtr LayoutCache::find_layout(const int64_t* numbers, size_t count) {
    for (const CachedLayout& k : cached_)
        if (std::equal(k.numbers.begin(), k.numbers.end(), numbers, numbers + count)) return k.layout;
    packing::LayoutPtr made = packing::deserialize(numbers, count);
    if (made == nullptr) return made;
    if (cached_.size() < max_cached) {
        cached_.emplace_back();
        oldest_ = cached_.size() - 1;
    } else {
        oldest_ = (oldest_ + 1) % max_cached;
    }
    cached_[oldest_] = {{numbers, numbers + count}, made};
    return made;
}

bool LayoutCache::read(const std::byte* record, size_t record_bytes, uint64_t bytes, RemoteBuffer& buffer) {
    int64_t numbers[LayoutRecord::max_numbers]; // copied first: the peer may still write
    const size_t count = record_bytes / sizeof(int64_t);
    if (count <= head || count > LayoutRecord::max_numbers || record_bytes % sizeof(int64_t) != 0)
        return false;
    std::memcpy(numbers, record, record_bytes);
    buffer.layout = find_layout(numbers + head, count - head);
    if (buffer.layout == nullptr || numbers[1] < 0) return false;
    buffer.elements = numbers[0];
    buffer.first_byte = static_cast<uint64_t>(numbers[1]);
    int64_t low = 0;
    int64_t high = 0;
    if (!packing::data_bounds(*buffer.layout, buffer.elements, low, high)) return false;
    const uint64_t size = static_cast<uint64_t>(buffer.layout->size) * static_cast<uint64_t>(buffer.elements);
    constexpr int64_t max_address = int64_t{1} << 57; // above any user address
    const auto at = static_cast<int64_t>(std::min<uint64_t>(buffer.address, max_address));
    return bytes <= size && buffer.first_byte <= size - bytes && at + low > 0 && at + high <= max_address;
}

bool IovPairs::next() {
    if (from_ == end_) return false;
    constexpr uint64_t max_bytes_per_call = uint64_t{1} << 30; // the kernel limit is just below 2 GiB
    const uint64_t wanted = std::min(end_ - from_, max_bytes_per_call);
    // NOLINTNEXTLINE(performance-no-int-to-ptr): an address in the other process, not dereferenced
    auto* const there = reinterpret_cast<std::byte*>(remote_buffer_.address);
    const auto list_remote = [&](uint64_t bytes, uint64_t& covered) {
        remote_count_ =
            list_segments(remote_buffer_.layout.get(), there, remote_buffer_.elements,
                          remote_buffer_.first_byte, from_, bytes, remote_, max_segments, covered);
    };
    uint64_t remote_bytes = 0;
    list_remote(wanted, remote_bytes);
    local_count_ = list_segments(local_op_.layout, local_op_.buffer, local_op_.elements, local_op_.first_byte,
                                 from_, remote_bytes, local_, max_segments, bytes_);
    if (bytes_ < remote_bytes) list_remote(bytes_, remote_bytes);
    from_ += bytes_;
    return bytes_ != 0;
}

} // namespace zipmpi::proto
