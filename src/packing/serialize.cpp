// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Format: displacement of the first byte, extent, and the tree in preorder:
//   run       0, bytes
//   loop      1, count, stride, child
//   list      2, entries, then for each its displacement and bytes
//   sequence  3, entries, then for each its displacement and the node
#include "packing/serialize.hpp"

#include "packing/layout_node.hpp"
#include "packing/visit.hpp"

#include <cstdlib>

namespace zipmpi::packing {
namespace {

enum : int64_t { run_follows, loop_follows, list_follows, sequence_follows };

constexpr int deepest = 16;

class LayoutWriter {
  public:
    LayoutWriter(int64_t* to, size_t capacity)
        : to_(to)
        , capacity_(capacity) {}

    void put(int64_t number) {
        if (used_ < capacity_) to_[used_] = number;
        ++used_;
    }
    // Returns false if the capacity is exceeded.
    bool put_node(const LayoutNode& n, int depth) {
        if (used_ > capacity_ || depth == deepest) return false;
        switch (n.kind) {
        case LayoutNode::Kind::run:
            put(run_follows);
            put(n.size);
            return true;
        case LayoutNode::Kind::loop:
            put(loop_follows);
            put(n.count);
            put(n.stride);
            return put_node(*n.child, depth + 1);
        case LayoutNode::Kind::list:
        case LayoutNode::Kind::sequence:
            return put_entries(n, depth);
        }
        return false;
    }
    [[nodiscard]] size_t used() const { return used_ <= capacity_ ? used_ : 0; }

  private:
    bool put_entries(const LayoutNode& n, int depth) {
        const bool list = n.kind == LayoutNode::Kind::list;
        if (n.displacements.size() > capacity_) return false;
        put(list ? list_follows : sequence_follows);
        put(static_cast<int64_t>(n.displacements.size()));
        for (size_t i = 0; i < n.displacements.size(); ++i) {
            const auto entry = static_cast<int64_t>(i);
            put(n.displacements[i]);
            if (list)
                put(start_of(n, entry + 1) - start_of(n, entry));
            else if (!put_node(*n.children[i], depth + 1))
                return false;
        }
        return true;
    }

    int64_t* to_;
    size_t capacity_;
    size_t used_ = 0;
};

bool product_fits(int64_t a, int64_t b) {
    return a == 0 || b == 0 || std::abs(a) <= max_serialized / std::abs(b);
}

class LayoutReader {
  public:
    LayoutReader(const int64_t* numbers, size_t count)
        : next_(numbers)
        , end_(numbers + count) {}

    // Reads a number in these limits; on failure sets the error state and returns `least`.
    int64_t get(int64_t least, int64_t most) {
        if (next_ == end_ || *next_ < least || *next_ > most) {
            failed_ = true;
            return least;
        }
        return *next_++;
    }
    int64_t get_displacement() { return get(-max_serialized, max_serialized); }
    // Returns a null node on failure.
    PlacedNode get_node(int depth) {
        if (depth == deepest) return {};
        switch (get(run_follows, sequence_follows)) {
        case run_follows:
            return failed_ ? PlacedNode{} : get_run();
        case loop_follows:
            return get_loop(depth);
        case list_follows:
            return get_entries(depth, true);
        default:
            return get_entries(depth, false);
        }
    }
    [[nodiscard]] bool done() const { return !failed_ && next_ == end_; }

  private:
    PlacedNode get_run() {
        const int64_t bytes = get(1, max_serialized);
        return failed_ ? PlacedNode{} : run(bytes);
    }
    PlacedNode get_loop(int depth) {
        const int64_t count = get(2, max_serialized);
        const int64_t stride = get_displacement();
        const PlacedNode child = failed_ ? PlacedNode{} : get_node(depth + 1);
        if (failed_ || child.node == nullptr || !product_fits(count, child.node->size) ||
            !product_fits(count, stride))
            return {};
        return repeat(child, count, stride);
    }
    PlacedNode get_entries(int depth, bool runs) {
        const int64_t entries = get(2, end_ - next_);
        std::vector<PlacedNode> children;
        int64_t size = 0;
        for (int64_t i = 0; i < entries && !failed_; ++i) {
            const int64_t displacement = get_displacement();
            PlacedNode child = runs ? get_run() : get_node(depth + 1);
            if (child.node == nullptr || (size += child.node->size) > max_serialized) return {};
            child.at += displacement;
            children.push_back(child);
        }
        return failed_ ? PlacedNode{} : sequence(children);
    }

    const int64_t* next_;
    const int64_t* end_;
    bool failed_ = false;
};

} // namespace

size_t serialize(const Layout& layout, int64_t* numbers, size_t capacity) {
    if (layout.root == nullptr) return 0;
    LayoutWriter w(numbers, capacity);
    w.put(layout.first);
    w.put(layout.extent);
    return w.put_node(*layout.root, 0) ? w.used() : 0;
}

LayoutPtr deserialize(const int64_t* numbers, size_t count) {
    LayoutReader r(numbers, count);
    const int64_t first = r.get_displacement();
    const int64_t extent = r.get_displacement();
    PlacedNode root = r.get_node(0);
    if (!r.done() || root.node == nullptr) return nullptr;
    root.at += first;
    return compile(root, extent);
}

bool data_bounds(const Layout& layout, int64_t count, int64_t& low, int64_t& high) {
    if (layout.root == nullptr || count < 1 || !product_fits(count, layout.extent) ||
        !product_fits(count, layout.size))
        return false;
    const int64_t last = (count - 1) * layout.extent;
    low = layout.first + layout.root->low + std::min<int64_t>(0, last);
    high = layout.first + layout.root->high + std::max<int64_t>(0, last);
    return true;
}

} // namespace zipmpi::packing
