// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/placement/rank_ranges.hpp"

#include <algorithm>
#include <charconv>

namespace zipmpi::launch {
namespace {

bool take_number(std::string_view& text, uint32_t& number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc()) return false;
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    return true;
}

bool take_char(std::string_view& text, char c) {
    if (text.empty() || text.front() != c) return false;
    text.remove_prefix(1);
    return true;
}

} // namespace

bool RankRanges::parse(std::string_view text, RankRanges& out) {
    out = {};
    do {
        uint32_t first = 0;
        if (!take_number(text, first)) return false;
        uint32_t last = first;
        if (take_char(text, '-') && !take_number(text, last)) return false;
        if (last < first) return false;
        out.add(first, last);
    } while (take_char(text, ','));
    return text.empty();
}

std::string RankRanges::text() const {
    std::string text;
    for (const auto& [first, last] : last_of_) {
        text += (text.empty() ? "" : ",") + std::to_string(first);
        if (last > first) text += "-" + std::to_string(last);
    }
    return text;
}

std::vector<uint32_t> RankRanges::bounds() const {
    std::vector<uint32_t> bounds;
    bounds.reserve(2 * last_of_.size());
    for (const auto& [first, last] : last_of_) {
        bounds.push_back(first);
        bounds.push_back(last);
    }
    return bounds;
}

bool RankRanges::from_bounds(const std::vector<uint32_t>& bounds, RankRanges& out) {
    out = {};
    if (bounds.size() % 2 != 0) return false;
    for (size_t i = 0; i < bounds.size(); i += 2) {
        const bool is_after_previous = i == 0 || uint64_t{bounds[i]} > uint64_t{bounds[i - 1]} + 1;
        if (bounds[i + 1] < bounds[i] || !is_after_previous) return false;
        out.last_of_.emplace_hint(out.last_of_.end(), bounds[i], bounds[i + 1]);
        out.size_ += bounds[i + 1] - bounds[i] + 1;
    }
    return true;
}

void RankRanges::add(uint32_t first, uint32_t last) {
    auto at = last_of_.upper_bound(first);
    if (at != last_of_.begin()) { // the range before may overlap or touch
        const auto before = std::prev(at);
        if (before->second >= last) return;
        if (uint64_t{before->second} + 1 >= first) at = before;
    }
    while (at != last_of_.end() && at->first <= uint64_t{last} + 1) {
        first = std::min(first, at->first);
        last = std::max(last, at->second);
        size_ -= at->second - at->first + 1;
        at = last_of_.erase(at);
    }
    last_of_.emplace_hint(at, first, last);
    size_ += last - first + 1;
}

void RankRanges::add(const RankRanges& other) {
    for (const auto& [first, last] : other.last_of_) add(first, last);
}

void RankRanges::remove(uint32_t first, uint32_t last) {
    auto at = last_of_.upper_bound(first);
    if (at != last_of_.begin() && std::prev(at)->second >= first) --at;
    while (at != last_of_.end() && at->first <= last) {
        const auto [old_first, old_last] = *at;
        at = last_of_.erase(at);
        size_ -= std::min(last, old_last) - std::max(first, old_first) + 1;
        if (old_first < first) last_of_.emplace(old_first, first - 1);
        if (old_last > last) at = last_of_.emplace(last + 1, old_last).first;
    }
}

void RankRanges::remove(const RankRanges& other) {
    if (empty()) return;
    const uint32_t end = last_of_.rbegin()->second; // ranges of `other` outside this set are not visited
    auto at = other.last_of_.upper_bound(last_of_.begin()->first);
    if (at != other.last_of_.begin()) --at;
    for (; at != other.last_of_.end() && at->first <= end; ++at) remove(at->first, at->second);
}

RankRanges RankRanges::common_with(const RankRanges& other) const {
    RankRanges absent = *this;
    absent.remove(other);
    RankRanges common = *this;
    common.remove(absent);
    return common;
}

bool RankRanges::contains(uint32_t rank) const {
    const auto after = last_of_.upper_bound(rank);
    return after != last_of_.begin() && std::prev(after)->second >= rank;
}

} // namespace zipmpi::launch
