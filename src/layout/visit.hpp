// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Goes through a part of the packed bytes of a layout in order, and hands a sink the largest things that are
// wholly inside: only the first and the last of each level are taken apart.
//
// A sink has three calls, each false when it wants no more:
//   piece(memory, bytes)                 one run, or a part of one
//   runs(list, first, last, memory)      runs of a list
//   whole(node, memory, count, stride)   so many of a node
#pragma once

#include "layout/node.hpp"

#include <algorithm>

namespace zipmpi::layout {

template <class Sink>
bool visit(const Node& node, std::byte* memory, int64_t from, int64_t to, Sink& sink);

template <class Sink>
bool visit_loop(const Node& child, std::byte* memory, int64_t stride, int64_t from, int64_t to, Sink& sink) {
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
inline int64_t entry_at(const Node& node, int64_t byte) {
    if (node.length != 0) return byte / node.length;
    return std::upper_bound(node.starts.begin(), node.starts.end(), byte) - node.starts.begin() - 1;
}

inline int64_t start_of(const Node& node, int64_t entry) {
    return node.length != 0 ? entry * node.length : node.starts[static_cast<size_t>(entry)];
}

template <class Sink>
bool visit_list(const Node& node, std::byte* memory, int64_t from, int64_t to, Sink& sink) {
    int64_t i = entry_at(node, from);
    if (const int64_t skipped = from - start_of(node, i); skipped != 0) {
        const int64_t end = std::min(start_of(node, i + 1), to);
        if (!sink.piece(memory + node.places[static_cast<size_t>(i)] + skipped, end - from)) return false;
        from = end;
        ++i;
    }
    if (from >= to) return true;
    const int64_t last = entry_at(node, to);
    if (last > i && !sink.runs(node, i, last, memory)) return false;
    from = start_of(node, last);
    return from == to || sink.piece(memory + node.places[static_cast<size_t>(last)], to - from);
}

template <class Sink>
bool visit_sequence(const Node& node, std::byte* memory, int64_t from, int64_t to, Sink& sink) {
    for (auto i = static_cast<size_t>(entry_at(node, from)); from < to; ++i) {
        const Node& part = *node.parts[i];
        const int64_t skipped = from - node.starts[i];
        const int64_t end = std::min(part.size, to - node.starts[i]);
        std::byte* const at = memory + node.places[i];
        const bool all = skipped == 0 && end == part.size;
        if (!(all ? sink.whole(part, at, 1, 0) : visit(part, at, skipped, end, sink))) return false;
        from += end - skipped;
    }
    return true;
}

template <class Sink>
bool visit(const Node& node, std::byte* memory, int64_t from, int64_t to, Sink& sink) {
    switch (node.kind) {
    case Node::Kind::run:
        return sink.piece(memory + from, to - from);
    case Node::Kind::loop:
        return visit_loop(*node.child, memory, node.stride, from, to, sink);
    case Node::Kind::list:
        return visit_list(node, memory, from, to, sink);
    case Node::Kind::sequence:
        return visit_sequence(node, memory, from, to, sink);
    }
    return false;
}

} // namespace zipmpi::layout
