// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/noded/input.hpp"

#include <algorithm>
#include <cerrno>

namespace zipmpi::launch {

uint32_t RankInput::add_reader(os::Fd pipe) {
    readers_.push_back({std::move(pipe), 0});
    return readers() - 1;
}

void RankInput::add(std::string_view bytes) {
    if (anybody_reads()) queue_.append(bytes);
}

bool RankInput::anybody_reads() const {
    return std::any_of(readers_.begin(), readers_.end(),
                       [](const Reader& r) { return static_cast<bool>(r.pipe); });
}

void RankInput::write_to(Reader& r) {
    while (r.pipe && r.taken < queue_.size()) {
        const ssize_t n = write(r.pipe.get(), queue_.data() + r.taken, queue_.size() - r.taken);
        if (n > 0)
            r.taken += static_cast<size_t>(n);
        else if (n < 0 && errno == EAGAIN)
            return;
        else if (n < 0 && errno != EINTR)
            r.pipe.reset();
    }
    if (ended_) r.pipe.reset();
}

size_t RankInput::write_some() {
    size_t taken = queue_.size(); // by all of nobody
    for (Reader& r : readers_) {
        write_to(r);
        if (r.pipe) taken = std::min(taken, r.taken);
    }
    queue_.erase(0, taken);
    for (Reader& r : readers_) r.taken -= std::min(taken, r.taken);
    return taken;
}

void RankInput::drop(uint32_t reader) { readers_[reader].pipe.reset(); }

} // namespace zipmpi::launch
