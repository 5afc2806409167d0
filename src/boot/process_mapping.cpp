// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "boot/process_mapping.hpp"

#include <cctype>
#include <charconv>
#include <cstdint>

namespace zipmpi::boot {
namespace {

constexpr size_t most_blocks = 65536;

// Reads tokens from the front of a text and skips blanks between them.
class Cursor {
  public:
    explicit Cursor(std::string_view text)
        : rest_(text) {}
    bool take(char c) {
        skip_blanks();
        if (rest_.empty() || rest_.front() != c) return false;
        rest_.remove_prefix(1);
        return true;
    }
    bool take(std::string_view word) {
        skip_blanks();
        if (!rest_.starts_with(word)) return false;
        rest_.remove_prefix(word.size());
        return true;
    }
    bool take(int& number) { // nonnegative
        skip_blanks();
        if (rest_.empty() || std::isdigit(static_cast<unsigned char>(rest_.front())) == 0) return false;
        const auto [end, ec] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), number);
        if (ec != std::errc()) return false;
        rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
        return true;
    }
    bool at_end() {
        skip_blanks();
        return rest_.empty();
    }

  private:
    void skip_blanks() {
        while (!rest_.empty() && std::isspace(static_cast<unsigned char>(rest_.front())) != 0)
            rest_.remove_prefix(1);
    }
    std::string_view rest_;
};

struct MappingBlock {
    int first_node, nodes, ranks_per_node;
};

bool parse_blocks(std::string_view text, std::vector<MappingBlock>& blocks) {
    Cursor at(text);
    const bool quoted = at.take('"');
    if (!at.take('(') || !at.take("vector")) return false;
    while (at.take(',')) {
        MappingBlock b{};
        if (!at.take('(') || !at.take(b.first_node) || !at.take(',') || !at.take(b.nodes) || !at.take(',') ||
            !at.take(b.ranks_per_node) || !at.take(')'))
            return false;
        if (b.nodes == 0 || b.ranks_per_node == 0 || blocks.size() == most_blocks) return false;
        blocks.push_back(b);
    }
    return at.take(')') && (!quoted || at.take('"')) && at.at_end() && !blocks.empty();
}

// Calls visit(first rank, one past the last rank, node) for each run of ranks on one node, in rank order.
template <class Visit>
void walk(const std::vector<MappingBlock>& blocks, int size, Visit visit) {
    int64_t next = 0;
    while (next < size)
        for (const MappingBlock& b : blocks)
            for (int i = 0; i < b.nodes && next < size; ++i) {
                const int64_t end = next + b.ranks_per_node < size ? next + b.ranks_per_node : size;
                visit(static_cast<int>(next), static_cast<int>(end), int64_t{b.first_node} + i);
                next = end;
            }
}

} // namespace

bool parse_local_ranks(std::string_view mapping, int rank, int size, std::vector<int>& node_ranks) {
    std::vector<MappingBlock> blocks;
    if (rank < 0 || rank >= size || !parse_blocks(mapping, blocks)) return false;
    int64_t my_node = -1;
    walk(blocks, size, [&](int first, int end, int64_t node) {
        if (rank >= first && rank < end) my_node = node;
    });
    node_ranks.clear();
    walk(blocks, size, [&](int first, int end, int64_t node) {
        if (node == my_node)
            for (int r = first; r < end; ++r) node_ranks.push_back(r);
    });
    return true;
}

bool parse_rank_nodes(std::string_view mapping, int size, std::vector<int64_t>& nodes) {
    std::vector<MappingBlock> blocks;
    if (!parse_blocks(mapping, blocks)) return false;
    nodes.resize(static_cast<size_t>(size));
    walk(blocks, size, [&](int first, int end, int64_t node) {
        for (int r = first; r < end; ++r) nodes[static_cast<size_t>(r)] = node;
    });
    return true;
}

bool parse_rank_list(std::string_view list, int size, std::vector<int>& ranks) {
    Cursor at(list);
    ranks.clear();
    do {
        int first = 0;
        if (!at.take(first)) return false;
        int last = first;
        if (at.take('-') && !at.take(last)) return false;
        if (last < first || last >= size || (!ranks.empty() && first <= ranks.back())) return false;
        for (int r = first; r <= last; ++r) ranks.push_back(r);
    } while (at.take(','));
    return at.at_end();
}

} // namespace zipmpi::boot
