// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Visits a range of the packed bytes of a layout in order and passes the largest complete units to a sink;
// only the first and the last unit of each level are split.
//
// A sink has three functions; each returns false to stop:
//   piece(memory, bytes)                 one run, or a part of one
//   runs(list, first, last, memory)      runs [first, last) of a list
//   whole(node, memory, count, stride)   `count` copies of a node
#pragma once

#include "packing/layout_node.hpp"

#include <algorithm>

namespace zipmpi::packing {

template <class Sink>
bool visit(const LayoutNode& node, std::byte* memory, int64_t from, int64_t to, Sink& sink);

template <class Sink>
bool visit_loop(const LayoutNode& child, std::byte* memory, int64_t stride, int64_t from, int64_t to,
                Sink& sink) {
    int64_t i = from / child.size;
    if (const int64_t skipped = from - i * child.size; skipped != 0) {
        const int64_t end = std::min(child.size, skipped + (to - from));
        if (!visit(child, memory + i * stride, skipped, end, sink)) return false;
        from += end - skipped;
        ++i;
    }
    if (from >= to) return true;
    const int64_t whole = (to - from) / child.size;
    if (whole != 0 && !sink.whole(child, memory + i * stride, whole, stride)) return false;
    from += whole * child.size;
    return from == to || visit(child, memory + (i + whole) * stride, 0, to - from, sink);
}

// The entry of a list or sequence that holds this packed byte; the number of entries for the end.
inline int64_t entry_at(const LayoutNode& node, int64_t byte) {
    if (node.length != 0) return byte / node.length;
    return std::upper_bound(node.starts.begin(), node.starts.end(), byte) - node.starts.begin() - 1;
}

inline int64_t start_of(const LayoutNode& node, int64_t entry) {
    return node.length != 0 ? entry * node.length : node.starts[static_cast<size_t>(entry)];
}

template <class Sink>
bool visit_list(const LayoutNode& node, std::byte* memory, int64_t from, int64_t to, Sink& sink) {
    int64_t i = entry_at(node, from);
    if (const int64_t skipped = from - start_of(node, i); skipped != 0) {
        const int64_t end = std::min(start_of(node, i + 1), to);
        if (!sink.piece(memory + node.displacements[static_cast<size_t>(i)] + skipped, end - from))
            return false;
        from = end;
        ++i;
    }
    if (from >= to) return true;
    const int64_t last = entry_at(node, to);
    if (last > i && !sink.runs(node, i, last, memory)) return false;
    from = start_of(node, last);
    return from == to || sink.piece(memory + node.displacements[static_cast<size_t>(last)], to - from);
}

template <class Sink>
bool visit_sequence(const LayoutNode& node, std::byte* memory, int64_t from, int64_t to, Sink& sink) {
    for (auto i = static_cast<size_t>(entry_at(node, from)); from < to; ++i) {
        const LayoutNode& child = *node.children[i];
        const int64_t skipped = from - node.starts[i];
        const int64_t end = std::min(child.size, to - node.starts[i]);
        std::byte* const at = memory + node.displacements[i];
        const bool all = skipped == 0 && end == child.size;
        if (!(all ? sink.whole(child, at, 1, 0) : visit(child, at, skipped, end, sink))) return false;
        from += end - skipped;
    }
    return true;
}

template <class Sink>
bool visit(const LayoutNode& node, std::byte* memory, int64_t from, int64_t to, Sink& sink) {
    switch (node.kind) {
    case LayoutNode::Kind::run:
        return sink.piece(memory + from, to - from);
    case LayoutNode::Kind::loop:
        return visit_loop(*node.child, memory, node.stride, from, to, sink);
    case LayoutNode::Kind::list:
        return visit_list(node, memory, from, to, sink);
    case LayoutNode::Kind::sequence:
        return visit_sequence(node, memory, from, to, sink);
    }
    return false;
}

} // namespace zipmpi::packing
