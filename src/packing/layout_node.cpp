// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "packing/layout_node.hpp"

#include "packing/intern_table.hpp"
#include "packing/simd_shuffle.hpp"

#include <algorithm>
#include <limits>

namespace zipmpi::packing {
namespace {

using Kind = LayoutNode::Kind;

// Lists and sequences of up to this many entries are spliced into a containing sequence; longer ones are
// shared.
constexpr size_t splice_max = 16;

struct NodeHash {
    size_t operator()(const LayoutNode& n) const {
        Hash h;
        h.add(static_cast<int64_t>(n.kind));
        h.add(n.size);
        h.add(n.count);
        h.add(n.stride);
        h.add(reinterpret_cast<int64_t>(n.child.get()));
        for (const int64_t displacement : n.displacements) h.add(displacement);
        for (const NodePtr& child : n.children) h.add(reinterpret_cast<int64_t>(child.get()));
        return h.value;
    }
};

struct NodeEqual {
    bool operator()(const LayoutNode& a, const LayoutNode& b) const {
        return a.kind == b.kind && a.size == b.size && a.count == b.count && a.stride == b.stride &&
               a.child == b.child && a.length == b.length && a.displacements == b.displacements &&
               a.starts == b.starts && a.children == b.children;
    }
};

using Table = InternTable<LayoutNode, NodeHash, NodeEqual>;

Table& table() {
    static auto* t = new Table; // never destroyed: types may outlive static objects
    return *t;
}

bool is_run(const PlacedNode& p) { return p.node->kind == Kind::run; }
bool is_loop(const PlacedNode& p) { return p.node->kind == Kind::loop; }

// Children in order, without empty ones, with short lists and sequences replaced by their entries and
// adjacent runs merged.
class Flattened {
  public:
    void add(const PlacedNode& p) {
        if (p.node == nullptr) return;
        if (p.node->kind == Kind::list && p.node->displacements.size() <= splice_max) return add_runs(p);
        if (p.node->kind == Kind::sequence && p.node->displacements.size() <= splice_max)
            return add_children(p);
        if (is_run(p)) return add_run(p.at, p.node->size);
        close_run();
        children_.push_back(p);
    }
    std::vector<PlacedNode> take() {
        close_run();
        return std::move(children_);
    }

  private:
    void add_runs(const PlacedNode& list) {
        const LayoutNode& n = *list.node;
        for (size_t i = 0; i < n.displacements.size(); ++i)
            add_run(list.at + n.displacements[i], n.length != 0 ? n.length : n.starts[i + 1] - n.starts[i]);
    }
    void add_children(const PlacedNode& sequence) {
        const LayoutNode& n = *sequence.node;
        for (size_t i = 0; i < n.displacements.size(); ++i)
            add({sequence.at + n.displacements[i], n.children[i]});
    }
    void add_run(int64_t at, int64_t bytes) {
        if (open_bytes_ != 0 && open_at_ + open_bytes_ == at) {
            open_bytes_ += bytes;
            return;
        }
        close_run();
        open_at_ = at;
        open_bytes_ = bytes;
    }
    void close_run() {
        if (open_bytes_ == 0) return;
        if (last_run_ == nullptr || last_run_->size != open_bytes_) last_run_ = run(open_bytes_).node;
        children_.push_back({open_at_, last_run_});
        open_bytes_ = 0;
    }

    std::vector<PlacedNode> children_;
    NodePtr last_run_; // cached, so that a long list of equal runs looks up the node once
    int64_t open_at_ = 0;
    int64_t open_bytes_ = 0;
};

// True for equal children at equal distances.
bool is_regular(const std::vector<PlacedNode>& children) {
    const int64_t stride = children[1].at - children[0].at;
    for (size_t i = 1; i < children.size(); ++i)
        if (children[i].node != children[0].node || children[i].at - children[i - 1].at != stride)
            return false;
    return true;
}

void fill_short_runs(LayoutNode& n, const std::vector<PlacedNode>& children) {
    constexpr int64_t most = std::numeric_limits<int32_t>::max();
    if (n.low < -most || n.high > most || n.size > most) return;
    n.short_runs.reserve(children.size());
    for (size_t i = 0; i < children.size(); ++i)
        n.short_runs.push_back(
            {static_cast<int32_t>(n.displacements[i]), static_cast<int32_t>(children[i].node->size)});
}

void fill_struct_copies(LayoutNode& n, const std::vector<PlacedNode>& children) {
    if (children.size() > structure_max) return;
    int64_t start = 0;
    for (size_t i = 0; i < children.size(); ++i) {
        const auto length = static_cast<size_t>(children[i].node->size);
        const auto add = [&] { return n.struct_copies.back().add(n.displacements[i], start, length); };
        const bool added = !n.struct_copies.empty() && n.struct_copies.back().chunks() != 0 && add();
        if (!added) {
            n.struct_copies.emplace_back();
            add();
        }
        start += children[i].node->size;
    }
}

void fill_shuffle(LayoutNode& n, const std::vector<PlacedNode>& children) {
    if (children.size() > structure_max || n.high - n.low > register_bytes || n.size > register_bytes ||
        !has_shuffles())
        return;
    auto shuffle = std::make_shared<ByteShuffle>();
    shuffle->low = n.low;
    for (size_t i = 0; i < children.size(); ++i)
        add_run(*shuffle, n.displacements[i], children[i].node->size);
    n.shuffle = std::move(shuffle);
}

PlacedNode list_or_sequence(const std::vector<PlacedNode>& children) {
    LayoutNode n;
    const bool only_runs = std::all_of(children.begin(), children.end(), is_run);
    const bool equal = std::all_of(children.begin(), children.end(),
                                   [&](const PlacedNode& p) { return p.node == children[0].node; });
    n.kind = only_runs ? Kind::list : Kind::sequence;
    n.low = children[0].node->low;
    n.high = children[0].node->high;
    n.runs = 0;
    n.displacements.reserve(children.size());
    if (only_runs && equal) n.length = children[0].node->size;
    for (const PlacedNode& p : children) {
        const int64_t displacement = p.at - children[0].at;
        n.displacements.push_back(displacement);
        if (n.length == 0) n.starts.push_back(n.size);
        if (!only_runs) n.children.push_back(p.node);
        n.size += p.node->size;
        n.runs += p.node->runs;
        n.low = std::min(n.low, displacement + p.node->low);
        n.high = std::max(n.high, displacement + p.node->high);
    }
    if (n.length == 0) n.starts.push_back(n.size);
    if (only_runs) {
        fill_short_runs(n, children);
        fill_struct_copies(n, children);
        fill_shuffle(n, children);
    }
    return {children[0].at, table().get(std::move(n))};
}

} // namespace

PlacedNode run(int64_t bytes) {
    if (bytes <= 0) return {};
    LayoutNode n;
    n.size = n.high = bytes;
    return {0, table().get(std::move(n))};
}

PlacedNode repeat(const PlacedNode& what, int64_t count, int64_t stride) {
    if (what.node == nullptr || count <= 0) return {};
    if (count == 1) return what;
    const LayoutNode& child = *what.node;
    if (is_run(what) && stride == child.size) return {what.at, run(count * child.size).node};
    if (is_loop(what) && stride == child.count * child.stride)
        return repeat({what.at, child.child}, child.count * count, child.stride);
    LayoutNode n;
    n.kind = Kind::loop;
    n.size = count * child.size;
    n.runs = count * child.runs;
    n.low = child.low + std::min<int64_t>(0, (count - 1) * stride);
    n.high = child.high + std::max<int64_t>(0, (count - 1) * stride);
    n.count = count;
    n.stride = stride;
    n.child = what.node;
    return {what.at, table().get(std::move(n))};
}

PlacedNode sequence(const std::vector<PlacedNode>& children) {
    Flattened flat;
    for (const PlacedNode& p : children) flat.add(p);
    const std::vector<PlacedNode> all = flat.take();
    if (all.empty()) return {};
    if (all.size() == 1) return all[0];
    if (is_regular(all)) return repeat(all[0], static_cast<int64_t>(all.size()), all[1].at - all[0].at);
    return list_or_sequence(all);
}

size_t live_node_count() { return table().size(); }

} // namespace zipmpi::packing
