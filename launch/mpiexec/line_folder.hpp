// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Folds equal lines of several ranks into one, "[0-2,7] text". The lines of each rank keep their order. A
// line is held back until all ranks have written it, for at most `window_ns`.
#pragma once

#include "launch/protocol/line_prefix.hpp"

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace zipmpi::launch {

class LineFolder {
  public:
    static constexpr uint64_t window_ns = 100'000'000;
    static constexpr size_t max_waiting_bytes = 1U
                                                << 20; // beyond this limit the oldest lines are written out

    explicit LineFolder(uint32_t ranks, LinePrefix::Stamp stamp = LinePrefix::Stamp::none)
        : last_(ranks, 0) {
        prefix_.stamp = stamp;
    }

    // Adds output of a rank: whole lines, and possibly an unfinished one. Appends to `out` what can be
    // written.
    void add(uint32_t rank, std::string_view text, uint64_t now, std::string& out);
    void on_time(uint64_t now, std::string& out); // appends lines whose window has expired
    void flush(std::string& out);                 // appends all held lines
    // When on_time() is due; 0 if no line is held.
    [[nodiscard]] uint64_t next_time() const {
        return groups_.empty() ? 0 : groups_.front().since + window_ns;
    }
    [[nodiscard]] size_t waiting() const { return waiting_; }

  private:
    using Numbers = std::deque<uint64_t>;                    // of groups, ascending
    using ByText = std::unordered_map<std::string, Numbers>; // held groups
    struct Group {                                           // ranks that have written one line
        ByText::value_type* entry;
        std::vector<int> ranks;
        uint64_t since;
    };
    void add_line(uint32_t rank, std::string_view line, uint64_t now);
    void emit_front(std::string& out);
    Group& group(uint64_t number) { return groups_[number - first_]; }

    std::vector<uint64_t> last_; // by rank: number of its last group plus 1; 0: none
    std::deque<Group> groups_;
    uint64_t first_ = 0; // number of the first group
    ByText by_text_;
    size_t waiting_ = 0;
    std::vector<int> unfinished_; // ranks whose line has been written without its end
    LinePrefix prefix_;
};

} // namespace zipmpi::launch
