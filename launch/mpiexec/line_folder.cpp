// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/mpiexec/line_folder.hpp"

#include "launch/report/report_text.hpp"

#include <algorithm>

namespace zipmpi::launch {
namespace {
constexpr size_t cost_of_a_line = 128; // overhead of a held line besides its text
constexpr size_t cost_of_a_rank = sizeof(int);
} // namespace

// The first group after the rank's last one that has this line, or a new one at the end.
void LineFolder::add_line(uint32_t rank, std::string_view line, uint64_t now) {
    auto& entry = *by_text_.try_emplace(std::string(line)).first;
    Numbers& numbers = entry.second;
    const auto fitting = std::lower_bound(numbers.begin(), numbers.end(), last_[rank]);
    uint64_t number = first_ + groups_.size();
    if (fitting != numbers.end()) {
        number = *fitting;
    } else {
        numbers.push_back(number);
        groups_.push_back({&entry, {}, now});
        waiting_ += line.size() + cost_of_a_line;
    }
    group(number).ranks.push_back(static_cast<int>(rank));
    waiting_ += cost_of_a_rank;
    last_[rank] = number + 1;
}

void LineFolder::add(uint32_t rank, std::string_view text, uint64_t now, std::string& out) {
    if (rank >= last_.size()) {
        flush(out);
        out.append(text);
        return;
    }
    while (!text.empty()) {
        const std::string_view line = text.substr(0, std::min(text.find('\n'), text.size() - 1) + 1);
        add_line(rank, line, now);
        text.remove_prefix(line.size());
        on_time(now, out);
    }
}

void LineFolder::emit_front(std::string& out) {
    Group& g = groups_.front();
    const std::string& text = g.entry->first;
    std::sort(g.ranks.begin(), g.ranks.end());
    waiting_ -= text.size() + cost_of_a_line + g.ranks.size() * cost_of_a_rank;
    if (unfinished_.empty() || unfinished_ != g.ranks) { // otherwise it continues the line
        if (!unfinished_.empty()) out += '\n';
        prefix_.append_to(out);
        out += "[" + rank_list(g.ranks) + "] ";
    }
    out += text;
    unfinished_.clear();
    if (text.back() != '\n') unfinished_ = std::move(g.ranks);
    g.entry->second.pop_front();
    if (g.entry->second.empty()) by_text_.erase(by_text_.find(text));
    groups_.pop_front();
    ++first_;
}

void LineFolder::on_time(uint64_t now, std::string& out) {
    const auto is_due = [&](const Group& g) {
        return g.since + window_ns <= now || g.ranks.size() == last_.size() || waiting_ > max_waiting_bytes;
    };
    while (!groups_.empty() && is_due(groups_.front())) emit_front(out);
}

void LineFolder::flush(std::string& out) {
    while (!groups_.empty()) emit_front(out);
}

} // namespace zipmpi::launch
