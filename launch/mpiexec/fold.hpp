// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Shows a line that several ranks have written once, as "[0-2,7] text". The lines of each rank stay in their
// order. A line waits for the same one of other ranks until all have written it, for at most `window_ns`.
#pragma once

#include "launch/link/line_prefix.hpp"

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
    static constexpr size_t most_waiting = 1U << 20; // bytes; beyond it the oldest lines do not wait

    explicit LineFolder(uint32_t ranks, LinePrefix::Stamp stamp = LinePrefix::Stamp::none)
        : last_(ranks, 0) {
        prefix_.stamp = stamp;
    }

    // What a rank has written: whole lines, and perhaps an unfinished one. Appends to `out` what need not
    // wait.
    void add(uint32_t rank, std::string_view text, uint64_t now, std::string& out);
    void on_time(uint64_t now, std::string& out); // what need not wait any longer
    void flush(std::string& out);                 // all that waits
    // When on_time() has something to do; 0: nothing waits.
    [[nodiscard]] uint64_t next_time() const {
        return groups_.empty() ? 0 : groups_.front().since + window_ns;
    }
    [[nodiscard]] size_t waiting() const { return waiting_; }

  private:
    using Numbers = std::deque<uint64_t>;                    // of groups, ascending
    using ByText = std::unordered_map<std::string, Numbers>; // groups that wait
    struct Group {                                           // ranks that have written the same line
        ByText::value_type* entry;
        std::vector<int> ranks;
        uint64_t since;
    };
    void add_line(uint32_t rank, std::string_view line, uint64_t now);
    void emit_front(std::string& out);
    Group& group(uint64_t number) { return groups_[number - first_]; }

    std::vector<uint64_t> last_; // by rank: one more than the number of its last group; 0: none
    std::deque<Group> groups_;
    uint64_t first_ = 0; // number of the first group
    ByText by_text_;
    size_t waiting_ = 0;
    std::vector<int> unfinished_; // ranks whose line is out without its end
    LinePrefix prefix_;
};

} // namespace zipmpi::launch
