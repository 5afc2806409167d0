// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "packing/layout.hpp"

#include "packing/intern_table.hpp"
#include "packing/simd_masked.hpp"
#include "packing/simd_shuffle.hpp"
#include "packing/strided_copy.hpp"
#include "packing/visit.hpp"

namespace zipmpi::packing {
namespace {

using Kind = LayoutNode::Kind;

struct LayoutHash {
    size_t operator()(const Layout& p) const {
        Hash h;
        h.add(reinterpret_cast<int64_t>(p.root.get()));
        h.add(p.first);
        h.add(p.extent);
        return h.value;
    }
};

struct LayoutEqual {
    bool operator()(const Layout& a, const Layout& b) const {
        return a.root == b.root && a.first == b.first && a.extent == b.extent;
    }
};

using Table = InternTable<Layout, LayoutHash, LayoutEqual>;

Table& table() {
    static auto* t = new Table; // never destroyed, like the table of nodes
    return *t;
}

// For structures, one entry of many elements is copied before the next entry, so that the segment length is
// constant; in blocks of elements that fit the L1 cache.
constexpr int64_t cache_block_bytes = 16 << 10;

int64_t elements_per_block(const LayoutNode& node, int64_t step) {
    return std::max<int64_t>(1, cache_block_bytes / std::max(std::abs(step), node.size));
}

enum class Direction { pack, unpack };

template <Direction direction>
void copy_between(std::byte* memory, std::byte* packed, size_t bytes) {
    if constexpr (direction == Direction::pack)
        copy_segment(packed, memory, bytes);
    else
        copy_segment(memory, packed, bytes);
}

// A row or grid of equal segments; in Strides, `to` is the packed side.
template <Direction direction>
void copy_segments(std::byte* memory, std::byte* packed, Strides outer, Strides inner, int64_t bytes) {
    const auto length = static_cast<size_t>(bytes);
    if constexpr (direction == Direction::pack)
        copy_grid(packed, memory, outer, inner, length);
    else
        copy_grid(memory, packed, {outer.count, outer.from, outer.to}, {inner.count, inner.from, inner.to},
                  length);
}

template <Direction direction>
void copy_runs(const LayoutNode& list, int64_t first, int64_t last, std::byte* memory, std::byte* packed) {
    if (list.short_runs.empty()) {
        for (int64_t i = first; i < last; ++i) {
            const int64_t bytes = start_of(list, i + 1) - start_of(list, i);
            copy_between<direction>(memory + list.displacements[static_cast<size_t>(i)], packed,
                                    static_cast<size_t>(bytes));
            packed += bytes;
        }
        return;
    }
    const LayoutNode::Run* run = &list.short_runs[static_cast<size_t>(first)];
    const LayoutNode::Run* const end = run + (last - first);
    if (list.length == 0) {
        if (has_byte_masks()) {
            if constexpr (direction == Direction::pack)
                return pack_masked(run, end, memory, packed);
            else
                return unpack_masked(run, end, memory, packed);
        }
        for (; run != end; packed += run->length, ++run)
            copy_between<direction>(memory + run->displacement, packed, static_cast<size_t>(run->length));
        return;
    }
    with_copier(static_cast<size_t>(list.length), [&](auto copier) {
        const auto length = static_cast<size_t>(list.length);
        for (; run != end; packed += length, ++run) {
            if constexpr (direction == Direction::pack)
                copier.copy(packed, memory + run->displacement, length);
            else
                copier.copy(memory + run->displacement, packed, length);
        }
    });
}

template <Direction direction>
void copy_elements(const LayoutNode& node, std::byte* memory, std::byte* packed, Strides elements);

template <Direction direction>
void copy_entry(const LayoutNode& node, size_t i, std::byte* memory, std::byte* packed, Strides elements) {
    const int64_t start = start_of(node, static_cast<int64_t>(i));
    if (node.kind == Kind::sequence)
        return copy_elements<direction>(*node.children[i], memory + node.displacements[i], packed + start,
                                        elements);
    copy_segments<direction>(memory + node.displacements[i], packed + start, {1, 0, 0}, elements,
                             start_of(node, static_cast<int64_t>(i) + 1) - start);
}

template <Direction direction>
void copy_struct(const StructCopy& record, std::byte* memory, std::byte* packed, Strides elements) {
    if constexpr (direction == Direction::pack)
        copy_structs(packed, memory, elements, record, true);
    else
        copy_structs(memory, packed, {elements.count, elements.from, elements.to}, record, false);
}

// Entries of a block of elements that fits the L1 cache: one entry, or a few runs, of all elements before the
// next.
template <Direction direction>
void copy_by_entry(const LayoutNode& node, std::byte* memory, std::byte* packed, Strides elements) {
    if (node.kind == Kind::sequence) {
        for (size_t i = 0; i < node.displacements.size(); ++i)
            copy_entry<direction>(node, i, memory, packed, elements);
        return;
    }
    size_t i = 0;
    for (const StructCopy& record : node.struct_copies) {
        if (record.chunks() == 0) {
            copy_entry<direction>(node, i++, memory, packed, elements);
        } else {
            copy_struct<direction>(record, memory, packed, elements);
            i += record.runs();
        }
    }
}

template <Direction direction>
void copy_entries(const LayoutNode& node, std::byte* memory, std::byte* packed, Strides elements) {
    if (node.shuffle != nullptr && elements.count > 1) {
        if constexpr (direction == Direction::pack)
            return pack_shuffled(*node.shuffle, packed, memory, elements);
        else
            return unpack_shuffled(*node.shuffle, memory, packed,
                                   {elements.count, elements.from, elements.to});
    }
    if (node.struct_copies.size() == 1 && elements.count > 1)
        return copy_by_entry<direction>(node, memory, packed, elements);
    const bool by_entry = elements.count > 1 && node.displacements.size() <= structure_max;
    const int64_t most = by_entry ? elements_per_block(node, elements.from) : 1;
    for (int64_t done = 0; done < elements.count; done += most) {
        const int64_t n = std::min(most, elements.count - done);
        std::byte* const from = memory + done * elements.from;
        std::byte* const to = packed + done * elements.to;
        if (node.kind == Kind::list && n == 1)
            copy_runs<direction>(node, 0, static_cast<int64_t>(node.displacements.size()), from, to);
        else
            copy_by_entry<direction>(node, from, to, {n, elements.to, elements.from});
    }
}

template <Direction direction>
void copy_loops(const LayoutNode& loop, std::byte* memory, std::byte* packed, Strides elements) {
    const Strides inner{loop.count, loop.child->size, loop.stride};
    if (loop.child->kind == Kind::run)
        return copy_segments<direction>(memory, packed, elements, inner, loop.child->size);
    for (int64_t i = 0; i < elements.count; ++i)
        copy_elements<direction>(*loop.child, memory + i * elements.from, packed + i * elements.to, inner);
}

// elements.count of a node, elements.from bytes apart in memory and elements.to bytes apart when packed.
template <Direction direction>
void copy_elements(const LayoutNode& node, std::byte* memory, std::byte* packed, Strides elements) {
    switch (node.kind) {
    case Kind::run:
        return copy_segments<direction>(memory, packed, {1, 0, 0}, elements, node.size);
    case Kind::loop:
        return copy_loops<direction>(node, memory, packed, elements);
    case Kind::list:
    case Kind::sequence:
        return copy_entries<direction>(node, memory, packed, elements);
    }
}

template <Direction direction>
struct PackVisitor {
    std::byte* packed;

    bool piece(std::byte* memory, int64_t bytes) {
        copy_between<direction>(memory, packed, static_cast<size_t>(bytes));
        packed += bytes;
        return true;
    }
    bool runs(const LayoutNode& list, int64_t first, int64_t last, std::byte* memory) {
        copy_runs<direction>(list, first, last, memory, packed);
        packed += start_of(list, last) - start_of(list, first);
        return true;
    }
    bool whole(const LayoutNode& node, std::byte* memory, int64_t count, int64_t stride) {
        copy_elements<direction>(node, memory, packed, {count, node.size, stride});
        packed += count * node.size;
        return true;
    }
};

struct IovVisitor {
    iovec* iov;
    size_t capacity;
    size_t used = 0;
    uint64_t covered = 0;

    bool piece(std::byte* memory, int64_t bytes) {
        const auto length = static_cast<size_t>(bytes);
        iovec* const last = used != 0 ? &iov[used - 1] : nullptr;
        if (last != nullptr && static_cast<std::byte*>(last->iov_base) + last->iov_len == memory) {
            last->iov_len += length;
        } else {
            if (used == capacity) return false;
            iov[used++] = {memory, length};
        }
        covered += length;
        return true;
    }
    bool runs(const LayoutNode& list, int64_t first, int64_t last, std::byte* memory) {
        for (int64_t i = first; i < last; ++i)
            if (!piece(memory + list.displacements[static_cast<size_t>(i)],
                       start_of(list, i + 1) - start_of(list, i)))
                return false;
        return true;
    }
    bool whole(const LayoutNode& node, std::byte* memory, int64_t count, int64_t stride) {
        for (int64_t i = 0; i < count; ++i)
            if (!visit(node, memory + i * stride, 0, node.size, *this)) return false;
        return true;
    }
};

template <class Sink>
uint64_t visit_range(const Layout& layout, const void* base, int64_t count, uint64_t from, uint64_t bytes,
                     Sink& sink) {
    const auto total = static_cast<uint64_t>(layout.size) * static_cast<uint64_t>(count);
    if (from >= total) return 0;
    bytes = std::min(bytes, total - from);
    if (bytes == 0) return 0;
    const auto begin = static_cast<int64_t>(from);
    const auto end = static_cast<int64_t>(from + bytes);
    std::byte* const memory = layout.start(base);
    if (layout.contiguous(count))
        sink.piece(memory + begin, end - begin);
    else if (bytes == total)
        sink.whole(*layout.root, memory, count, layout.extent);
    else
        visit_loop(*layout.root, memory, layout.extent, begin, end, sink);
    return bytes;
}

} // namespace

LayoutPtr compile(const PlacedNode& layout, int64_t extent) {
    Layout p;
    p.root = layout.node;
    p.first = layout.node != nullptr ? layout.at : 0;
    p.size = layout.node != nullptr ? layout.node->size : 0;
    p.extent = extent;
    p.runs = layout.node != nullptr ? layout.node->runs : 0;
    return table().get(std::move(p));
}

uint64_t pack(const Layout& layout, const void* base, int64_t count, uint64_t from, void* out,
              uint64_t bytes) {
    PackVisitor<Direction::pack> mover{static_cast<std::byte*>(out)};
    return visit_range(layout, base, count, from, bytes, mover);
}

uint64_t unpack(const Layout& layout, void* base, int64_t count, uint64_t from, const void* in,
                uint64_t bytes) {
    PackVisitor<Direction::unpack> mover{static_cast<std::byte*>(const_cast<void*>(in))};
    return visit_range(layout, base, count, from, bytes, mover);
}

size_t list_iov(const Layout& layout, const void* base, int64_t count, uint64_t from, uint64_t bytes,
                iovec* iov, size_t capacity, uint64_t& covered) {
    IovVisitor lister{iov, capacity};
    visit_range(layout, base, count, from, bytes, lister);
    covered = lister.covered;
    return lister.used;
}

} // namespace zipmpi::packing
