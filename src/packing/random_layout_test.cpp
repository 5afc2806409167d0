// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Random layouts compared with a model that lists the displacement of every byte.
#include "packing/layout.hpp"
#include "packing/layout_node.hpp"
#include "packing/serialize.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

namespace zipmpi::packing {
namespace {

using Displacements = std::vector<int64_t>; // of each byte in packed order

struct Model {
    PlacedNode layout;
    Displacements bytes;
};

class LayoutGenerator {
  public:
    explicit LayoutGenerator(uint64_t seed)
        : random_(seed) {}
    int64_t pick(int64_t low, int64_t high) {
        return std::uniform_int_distribution<int64_t>(low, high)(random_);
    }

    Model make(int depth) {
        if (depth == 0) return pick(0, 2) == 0 ? structure() : unit();
        return pick(0, 1) == 0 ? loop(depth) : make_sequence(depth);
    }

  private:
    static constexpr size_t most_bytes = 3000;

    Model unit() {
        static constexpr int64_t lengths[] = {0, 1, 2, 3, 4, 5, 8, 8, 12, 13, 16, 24, 31, 32, 33, 65, 100};
        const int64_t bytes = lengths[pick(0, 16)];
        Model m{run(bytes), {}};
        for (int64_t i = 0; i < bytes; ++i) m.bytes.push_back(i);
        return m;
    }

    // Fields as a compiler lays them out, in any order; small structures fit a register.
    Model structure() {
        static constexpr int64_t lengths[] = {1, 2, 3, 4, 4, 7, 8, 8, 16, 20, 33};
        std::vector<std::pair<int64_t, int64_t>> runs;
        int64_t at = 0;
        for (int64_t n = pick(2, 6); n > 0; --n) {
            runs.emplace_back(at, lengths[pick(0, 10)]);
            at += runs.back().second + pick(0, 2) * pick(1, 4);
        }
        if (pick(0, 2) == 0) std::shuffle(runs.begin(), runs.end(), random_);
        std::vector<PlacedNode> placed;
        Model m;
        for (const auto& [place, bytes] : runs) {
            placed.push_back({place, run(bytes).node});
            for (int64_t i = 0; i < bytes; ++i) m.bytes.push_back(place + i);
        }
        m.layout = sequence(placed);
        const int64_t count = pick(1, 20);
        const int64_t stride = at + pick(0, 3);
        const Displacements one = m.bytes;
        for (int64_t k = 1; k < count; ++k)
            for (const int64_t b : one) m.bytes.push_back(b + k * stride);
        m.layout = repeat(m.layout, count, stride);
        return m;
    }

    Model loop(int depth) {
        const Model child = make(depth - 1);
        const auto size = static_cast<int64_t>(child.bytes.size());
        int64_t count = pick(0, 9);
        if (child.bytes.size() * static_cast<size_t>(count) > most_bytes) count = 1;
        const int64_t stride = pick(0, 2) == 0 ? size : pick(-40, 200);
        Model m{repeat(child.layout, count, stride), {}};
        for (int64_t i = 0; i < count; ++i)
            for (const int64_t b : child.bytes) m.bytes.push_back(b + i * stride);
        return m;
    }

    Model make_sequence(int depth) {
        std::vector<PlacedNode> placed;
        Model m;
        const Model first = make(depth - 1);
        const int64_t n = pick(0, 3) == 0 ? pick(0, 40) : pick(0, 5);
        const bool same = pick(0, 1) == 0;
        for (int64_t i = 0, at = 0; i < n; ++i) {
            const Model child = same ? first : make(depth - 1);
            if (m.bytes.size() + child.bytes.size() > most_bytes) break;
            at = pick(0, 2) == 0 ? at + static_cast<int64_t>(child.bytes.size()) : pick(-300, 300);
            placed.push_back({child.layout.at + at, child.layout.node});
            for (const int64_t b : child.bytes) m.bytes.push_back(b + at);
        }
        m.layout = sequence(placed);
        return m;
    }

    std::mt19937_64 random_;
};

struct Memory {
    int64_t low;
    std::vector<std::byte> bytes;
    std::byte* base() { return bytes.data() - low; }
};

Memory memory_for(const Displacements& displacements, std::byte fill) {
    const auto [low, high] = std::minmax_element(displacements.begin(), displacements.end());
    return {*low, std::vector<std::byte>(static_cast<size_t>(*high - *low + 1), fill)};
}

void check_iov(const Layout& p, Memory& memory, int64_t count, const Displacements& displacements,
               uint64_t from, uint64_t bytes) {
    std::vector<iovec> iov(7);
    uint64_t at = from;
    while (at < from + bytes) {
        uint64_t covered = 0;
        const size_t n =
            list_iov(p, memory.base(), count, at, from + bytes - at, iov.data(), iov.size(), covered);
        ASSERT_GT(covered, 0U);
        for (size_t i = 0; i < n; ++i)
            for (size_t k = 0; k < iov[i].iov_len; ++k)
                ASSERT_EQ(static_cast<std::byte*>(iov[i].iov_base) + k, memory.base() + displacements[at++]);
    }
    ASSERT_EQ(at, from + bytes);
}

// A round trip returns the same layout; a truncated or modified text returns another one or none.
void check_serialization(LayoutGenerator& maker, const LayoutPtr& p) {
    static int64_t numbers[1 << 14];
    const size_t count = serialize(*p, numbers, std::size(numbers));
    ASSERT_EQ(deserialize(numbers, count), p);
    ASSERT_EQ(serialize(*p, numbers, count - 1), 0U);
    ASSERT_EQ(deserialize(numbers, count - 1), nullptr);
    static constexpr int64_t odd[] = {INT64_MIN, -max_serialized, -1,       0, 1, 2, 3,
                                      4,         max_serialized,  INT64_MAX};
    numbers[maker.pick(0, static_cast<int64_t>(count) - 1)] = odd[maker.pick(0, 9)];
    const LayoutPtr other = deserialize(numbers, count);
    if (other != nullptr) {
        ASSERT_GT(other->size, 0);
        ASSERT_LE(other->size, max_serialized);
    }
}

void check(LayoutGenerator& maker, const Model& m) {
    const int64_t count = maker.pick(1, 4);
    const int64_t extent =
        maker.pick(0, 1) == 0 ? static_cast<int64_t>(m.bytes.size()) : maker.pick(-50, 400);
    const LayoutPtr p = compile(m.layout, extent);
    ASSERT_EQ(p->size, static_cast<int64_t>(m.bytes.size()));
    if (m.bytes.empty()) return;
    Displacements displacements;
    for (int64_t i = 0; i < count; ++i)
        for (const int64_t b : m.bytes) displacements.push_back(b + i * extent);
    const auto [low, high] = std::minmax_element(m.bytes.begin(), m.bytes.end());
    ASSERT_EQ(m.layout.at + m.layout.node->low, *low);
    ASSERT_EQ(m.layout.at + m.layout.node->high, *high + 1);
    check_serialization(maker, p);

    Memory memory = memory_for(displacements, std::byte{0});
    for (std::byte& b : memory.bytes) b = static_cast<std::byte>(maker.pick(0, 255));
    const auto from = static_cast<uint64_t>(maker.pick(0, static_cast<int64_t>(displacements.size()) - 1));
    const auto wanted = static_cast<uint64_t>(maker.pick(0, static_cast<int64_t>(displacements.size())));
    const uint64_t bytes = std::min(wanted, displacements.size() - from);
    std::vector<std::byte> packed(displacements.size());
    ASSERT_EQ(pack(*p, memory.base(), count, from, packed.data(), wanted), bytes);
    for (uint64_t i = 0; i < bytes; ++i) ASSERT_EQ(packed[i], memory.base()[displacements[from + i]]);

    // where segments overlap, any of the bytes is correct
    Memory copy = memory_for(displacements, std::byte{0});
    std::vector<bool> written(copy.bytes.size());
    for (uint64_t i = 0; i < bytes; ++i)
        written[static_cast<size_t>(displacements[from + i] - copy.low)] = true;
    ASSERT_EQ(unpack(*p, copy.base(), count, from, packed.data(), wanted), bytes);
    for (size_t i = 0; i < written.size(); ++i)
        ASSERT_EQ(copy.bytes[i], written[i] ? memory.bytes[i] : std::byte{0});
    check_iov(*p, memory, count, displacements, from, bytes);
}

#if defined(__SANITIZE_THREAD__)
constexpr int layouts_to_try = 500; // one thread: nothing to race with
#elif defined(__SANITIZE_ADDRESS__)
constexpr int layouts_to_try = 5000;
#else
constexpr int layouts_to_try = 20000;
#endif

TEST(RandomLayout, MatchesTheModel) {
    const uint64_t seed = std::random_device{}();
    RecordProperty("seed", std::to_string(seed));
    SCOPED_TRACE("seed " + std::to_string(seed));
    LayoutGenerator maker(seed);
    for (int i = 0; i < layouts_to_try && !HasFatalFailure(); ++i)
        check(maker, maker.make(static_cast<int>(maker.pick(0, 6))));
}

} // namespace
} // namespace zipmpi::packing
