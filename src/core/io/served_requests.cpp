// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/io/served_requests.hpp"

#include "core/runtime_unlock_guard.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace zipmpi::core::io {

std::vector<TransferSize>& ServedRequests::start_round(size_t processes) {
    sizes_.assign(processes, {});
    return sizes_;
}

std::vector<std::vector<FileRange>>& ServedRequests::make_lists() {
    lists_.assign(sizes_.size(), {});
    for (size_t r = 0; r < sizes_.size(); ++r) lists_[r].resize(sizes_[r].ranges);
    return lists_;
}

bool ServedRequests::allocate_data() {
    bytes_ = 0;
    for (const TransferSize& l : sizes_) bytes_ += l.bytes;
    memory_ = allocate_bytes(bytes_);
    if (memory_ == nullptr) return false;
    auto* at = static_cast<std::byte*>(memory_.get());
    data_.assign(sizes_.size(), {});
    for (size_t r = 0; r < sizes_.size(); ++r) {
        data_[r] = {at, sizes_[r].bytes};
        at += sizes_[r].bytes;
    }
    return true;
}

// Lists all segments of the window in file order.
void ServedRequests::list_segments() {
    segments_.clear();
    for (size_t r = 0; r < lists_.size(); ++r) {
        const auto middle = static_cast<std::ptrdiff_t>(segments_.size());
        std::byte* data = data_[r].data;
        for (const FileRange& s : lists_[r]) {
            segments_.push_back({s.at, data, s.bytes});
            data += s.bytes;
        }
        const auto before = [](const FileSegment& a, const FileSegment& b) { return a.at < b.at; };
        const auto own = segments_.begin() + middle;
        merged_.clear();
        merged_.reserve(segments_.size());
        std::merge(segments_.begin(), own, own, segments_.end(), std::back_inserter(merged_), before);
        segments_.swap(merged_);
    }
}

void ServedRequests::read(int fd) {
    std::memset(memory_.get(), 0, bytes_); // the file may end before
    list_segments();
    if (segments_.empty() || failure_ != Err::success) return;
    const RuntimeUnlockGuard unlocked;
    int64_t end = eof_not_reached;
    failure_ = read_segments(fd, segments_, end);
    end_ = std::min(end_, end);
}

void ServedRequests::write(int fd) {
    list_segments();
    if (segments_.empty() || failure_ != Err::success) return;
    const RuntimeUnlockGuard unlocked;
    failure_ = write_segments(fd, segments_, Holes::sieve);
}

} // namespace zipmpi::core::io
