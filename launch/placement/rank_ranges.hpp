// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A set of ranks as ranges: small for the ranks of consecutive nodes, whatever their number.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace zipmpi::launch {

class RankRanges {
  public:
    RankRanges() = default;
    RankRanges(uint32_t first, uint32_t last) { add(first, last); }
    // Parses "0-3,7". Returns false if the text is not valid.
    static bool parse(std::string_view text, RankRanges& out);
    [[nodiscard]] std::string text() const;
    // first, last, first, last ... of the ranges, which are ascending and do not touch each other.
    [[nodiscard]] std::vector<uint32_t> bounds() const;
    static bool from_bounds(const std::vector<uint32_t>& bounds, RankRanges& out);

    void add(uint32_t rank) { add(rank, rank); }
    void add(uint32_t first, uint32_t last);
    void add(const RankRanges& other);
    void remove(const RankRanges& other);
    [[nodiscard]] RankRanges common_with(const RankRanges& other) const;

    [[nodiscard]] bool empty() const { return last_of_.empty(); }
    [[nodiscard]] uint32_t size() const { return size_; }
    [[nodiscard]] bool contains(uint32_t rank) const;
    [[nodiscard]] bool is_below(uint32_t limit) const { return empty() || last_of_.rbegin()->second < limit; }
    template <class F>
    void for_each(F f) const { // ascending
        for (const auto& [first, last] : last_of_)
            for (uint64_t rank = first; rank <= last; ++rank) f(static_cast<uint32_t>(rank));
    }
    friend bool operator==(const RankRanges&, const RankRanges&) = default;

  private:
    void remove(uint32_t first, uint32_t last);

    std::map<uint32_t, uint32_t> last_of_; // by the first rank of a range
    uint32_t size_ = 0;
};

} // namespace zipmpi::launch
