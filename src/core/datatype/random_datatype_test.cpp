// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Random datatypes (test_random_datatype.hpp), nested up to depth 6, against their models. A failing run
// prints its seed; DATATYPE_TEST_SEED repeats it.
#include "core/api/datatype.hpp"
#include "core/api/p2p.hpp"
#include "core/datatype/contiguous.hpp"
#include "core/datatype/test_random_datatype.hpp"

#include <algorithm>
#include <cstdlib>
#include <gtest/gtest.h>
#include <random>

namespace zipmpi::core {
namespace {

#if defined(__SANITIZE_THREAD__)
constexpr int types_to_try = 2000; // single-threaded: no races to detect
#elif defined(__SANITIZE_ADDRESS__)
constexpr int types_to_try = 20000;
#else
constexpr int types_to_try = 100000;
#endif

void check_bounds(const Sample& s) {
    int64_t low = 0;
    int64_t extent = 0;
    type_get_extent(*s.type, low, extent);
    ASSERT_EQ(low, s.model.any ? s.model.lower() : 0);
    ASSERT_EQ(extent, s.model.any ? s.model.extent() : 0);
    ASSERT_EQ(s.type->size, static_cast<int64_t>(s.model.bytes.size()));
    if (s.model.bytes.empty()) return;
    const auto [first, last] = std::minmax_element(s.model.bytes.begin(), s.model.bytes.end());
    type_get_true_extent(*s.type, low, extent);
    ASSERT_EQ(low, *first);
    ASSERT_EQ(low + extent, *last + 1);
}

void check_elements(TypeGenerator& maker, const Sample& s) {
    Status status;
    const auto size = static_cast<int64_t>(s.model.bytes.size());
    const int64_t whole = maker.pick(0, 3);
    const int64_t rest = size > 0 ? maker.pick(0, size - 1) : 0;
    status.bytes = whole * size + rest;
    const auto& ends = s.model.elements;
    const auto inside = std::upper_bound(ends.begin(), ends.end(), rest) - ends.begin();
    const bool cut = rest != 0 && (inside == 0 || ends[static_cast<size_t>(inside - 1)] != rest);
    const int64_t expected = whole * static_cast<int64_t>(ends.size()) + inside;
    int64_t elements = 0;
    get_elements(status, *s.type, elements);
    ASSERT_EQ(elements, cut ? undefined : (size > 0 ? expected : 0));
    if (!cut && size > 0) {
        ASSERT_EQ(bytes_of_elements(*s.type, expected), status.bytes);
    }
    int64_t count = 0;
    get_count(status, *s.type, count);
    ASSERT_EQ(count, rest == 0 ? (size > 0 ? whole : 0) : undefined);
}

struct Memory {
    int64_t low;
    std::vector<std::byte> bytes;
    std::byte* base() { return bytes.data() - low; }
};

void check_iov(const packing::Layout& p, std::byte* base, int64_t count, const std::vector<int64_t>& offsets,
               uint64_t from, uint64_t bytes) {
    std::vector<iovec> iov(9);
    for (uint64_t at = from; at < from + bytes;) {
        uint64_t covered = 0;
        const size_t n =
            packing::list_iov(p, base, count, at, from + bytes - at, iov.data(), iov.size(), covered);
        ASSERT_GT(covered, 0U);
        for (size_t i = 0; i < n; ++i)
            for (size_t k = 0; k < iov[i].iov_len; ++k)
                ASSERT_EQ(static_cast<std::byte*>(iov[i].iov_base) + k, base + offsets[at++]);
    }
}

void check_copies(TypeGenerator& maker, const Sample& s) {
    if (s.model.bytes.empty()) return;
    const int64_t count = maker.pick(1, 3);
    std::vector<int64_t> offsets;
    for (int64_t i = 0; i < count; ++i)
        for (const int64_t b : s.model.bytes) offsets.push_back(b + i * s.model.extent());
    const auto [low, high] = std::minmax_element(offsets.begin(), offsets.end());
    const MemoryExtent span = memory_extent_of(count, *s.type);
    ASSERT_EQ(span.low, *low);
    ASSERT_EQ(span.low + span.bytes, *high + 1);
    Memory memory{*low, std::vector<std::byte>(static_cast<size_t>(span.bytes))};
    for (std::byte& b : memory.bytes) b = static_cast<std::byte>(maker.pick(1, 255));

    std::vector<std::byte> packed(offsets.size());
    pack_all(packed.data(), memory.base(), count, *s.type);
    for (size_t i = 0; i < offsets.size(); ++i) ASSERT_EQ(packed[i], memory.base()[offsets[i]]);

    const packing::LayoutPtr layout = packing::compile(shape_of(*s.type).layout, s.type->extent);
    const auto from = static_cast<uint64_t>(maker.pick(0, static_cast<int64_t>(offsets.size()) - 1));
    const auto bytes = static_cast<uint64_t>(maker.pick(0, static_cast<int64_t>(offsets.size() - from)));
    std::vector<std::byte> range(bytes);
    ASSERT_EQ(packing::pack(*layout, memory.base(), count, from, range.data(), bytes), bytes);
    ASSERT_TRUE(std::equal(range.begin(), range.end(), packed.begin() + static_cast<int64_t>(from)));

    Memory copy{*low, std::vector<std::byte>(static_cast<size_t>(span.bytes))};
    std::vector<bool> written(copy.bytes.size());
    for (uint64_t i = from; i < from + bytes; ++i) written[static_cast<size_t>(offsets[i] - *low)] = true;
    ASSERT_EQ(packing::unpack(*layout, copy.base(), count, from, range.data(), bytes), bytes);
    for (size_t i = 0; i < written.size(); ++i)
        ASSERT_EQ(copy.bytes[i], written[i] ? memory.bytes[i] : std::byte{0});
    check_iov(*layout, memory.base(), count, offsets, from, bytes);
}

TEST(RandomDatatype, MatchesTheModel) {
    const char* const seed_text = std::getenv("DATATYPE_TEST_SEED");
    const uint64_t seed =
        seed_text != nullptr ? std::strtoull(seed_text, nullptr, 10) : std::random_device{}();
    SCOPED_TRACE("DATATYPE_TEST_SEED=" + std::to_string(seed));
    const size_t before = packing::live_node_count();
    {
        TypeGenerator maker(seed);
        for (int i = 0; i < types_to_try && !HasFatalFailure(); ++i) {
            const Sample s = maker.make(static_cast<int>(maker.pick(0, 6)));
            check_bounds(s);
            if (!HasFatalFailure()) check_elements(maker, s);
            if (!HasFatalFailure()) check_copies(maker, s);
            ASSERT_FALSE(HasFatalFailure()) << "type " << i;
        }
    }
    EXPECT_EQ(packing::live_node_count(), before) << "freed datatypes leak layout nodes";
}

} // namespace
} // namespace zipmpi::core
