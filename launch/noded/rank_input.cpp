// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/noded/rank_input.hpp"

#include <algorithm>
#include <cerrno>

namespace zipmpi::launch {

uint32_t RankInput::add_reader(os::Fd pipe) {
    readers_.push_back({std::move(pipe), 0});
    return readers() - 1;
}

void RankInput::add(std::string_view bytes) {
    if (has_readers()) queue_.append(bytes);
}

bool RankInput::has_readers() const {
    return std::any_of(readers_.begin(), readers_.end(),
                       [](const StdinReader& r) { return static_cast<bool>(r.pipe); });
}

void RankInput::write_to(StdinReader& r) {
    while (r.pipe && r.consumed < queue_.size()) {
        const ssize_t n = write(r.pipe.get(), queue_.data() + r.consumed, queue_.size() - r.consumed);
        if (n > 0)
            r.consumed += static_cast<size_t>(n);
        else if (n < 0 && errno == EAGAIN)
            return;
        else if (n < 0 && errno != EINTR)
            r.pipe.reset();
    }
    if (ended_) r.pipe.reset();
}

size_t RankInput::write_some() {
    size_t taken = queue_.size(); // upper limit; lowered by each reader
    for (StdinReader& r : readers_) {
        write_to(r);
        if (r.pipe) taken = std::min(taken, r.consumed);
    }
    queue_.erase(0, taken);
    for (StdinReader& r : readers_) r.consumed -= std::min(taken, r.consumed);
    return taken;
}

void RankInput::drop(uint32_t reader) { readers_[reader].pipe.reset(); }

} // namespace zipmpi::launch
