// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/p2p/peer_place.hpp"

#include "layout/describe.hpp"

#include <algorithm>
#include <cstring>

namespace zipmpi::proto {
namespace {

constexpr size_t head = 2; // elements, first byte

size_t list(const layout::Program* layout, const std::byte* buffer, int64_t elements, uint64_t first_byte,
            uint64_t from, uint64_t bytes, iovec* pieces, size_t room, uint64_t& covered) {
    if (layout != nullptr)
        return layout::list_pieces(*layout, buffer, elements, first_byte + from, bytes, pieces, room,
                                   covered);
    pieces[0] = {const_cast<std::byte*>(buffer + from), bytes};
    covered = bytes;
    return 1;
}

} // namespace

PlaceNote::PlaceNote(const Operation& op) {
    if (op.layout == nullptr) return;
    numbers[0] = op.elements;
    numbers[1] = static_cast<int64_t>(op.first_byte);
    const size_t n = layout::describe(*op.layout, numbers + head, most - head);
    used = n != 0 ? n + head : 0;
}

layout::ProgramPtr PeerPlaces::program(const int64_t* numbers, size_t count) {
    for (const Known& k : known_)
        if (std::equal(k.numbers.begin(), k.numbers.end(), numbers, numbers + count)) return k.program;
    layout::ProgramPtr made = layout::described(numbers, count);
    if (made == nullptr) return made;
    if (known_.size() < most_known) {
        known_.emplace_back();
        oldest_ = known_.size() - 1;
    } else {
        oldest_ = (oldest_ + 1) % most_known;
    }
    known_[oldest_] = {{numbers, numbers + count}, made};
    return made;
}

bool PeerPlaces::read(const std::byte* note, size_t note_bytes, uint64_t bytes, PeerPlace& place) {
    int64_t numbers[PlaceNote::most]; // the peer may write while we look
    const size_t count = note_bytes / sizeof(int64_t);
    if (count <= head || count > PlaceNote::most || note_bytes % sizeof(int64_t) != 0) return false;
    std::memcpy(numbers, note, note_bytes);
    place.layout = program(numbers + head, count - head);
    if (place.layout == nullptr || numbers[1] < 0) return false;
    place.elements = numbers[0];
    place.first_byte = static_cast<uint64_t>(numbers[1]);
    int64_t low = 0;
    int64_t high = 0;
    if (!layout::reach(*place.layout, place.elements, low, high)) return false;
    const uint64_t size = static_cast<uint64_t>(place.layout->size) * static_cast<uint64_t>(place.elements);
    constexpr int64_t most_address = int64_t{1} << 57; // no process has more
    const auto at = static_cast<int64_t>(std::min<uint64_t>(place.address, most_address));
    return bytes <= size && place.first_byte <= size - bytes && at + low > 0 && at + high <= most_address;
}

bool PiecePairs::next() {
    if (from_ == end_) return false;
    constexpr uint64_t most_at_once = uint64_t{1} << 30; // the kernel stops a little below 2 GiB
    const uint64_t wanted = std::min(end_ - from_, most_at_once);
    // NOLINTNEXTLINE(performance-no-int-to-ptr): an address of the other process, never used here
    auto* const there = reinterpret_cast<std::byte*>(there_.address);
    const auto list_remote = [&](uint64_t bytes, uint64_t& covered) {
        remotes_ = list(there_.layout.get(), there, there_.elements, there_.first_byte, from_, bytes, remote_,
                        room, covered);
    };
    uint64_t remote_bytes = 0;
    list_remote(wanted, remote_bytes);
    locals_ = list(here_.layout, here_.buffer, here_.elements, here_.first_byte, from_, remote_bytes, local_,
                   room, bytes_);
    if (bytes_ < remote_bytes) list_remote(bytes_, remote_bytes);
    from_ += bytes_;
    return bytes_ != 0;
}

} // namespace zipmpi::proto
