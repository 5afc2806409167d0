// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "layout/node.hpp"

#include "layout/shuffle.hpp"
#include "layout/unique_table.hpp"

#include <algorithm>
#include <limits>

namespace zipmpi::layout {
namespace {

using Kind = Node::Kind;

// Lists and sequences of up to this many entries are taken apart when they are part of a sequence: long ones
// are shared instead.
constexpr size_t splice_max = 16;

struct NodeHash {
    size_t operator()(const Node& n) const {
        Hash h;
        h.add(static_cast<int64_t>(n.kind));
        h.add(n.size);
        h.add(n.count);
        h.add(n.stride);
        h.add(reinterpret_cast<int64_t>(n.child.get()));
        for (const int64_t place : n.places) h.add(place);
        for (const NodePtr& part : n.parts) h.add(reinterpret_cast<int64_t>(part.get()));
        return h.value;
    }
};

struct NodeEqual {
    bool operator()(const Node& a, const Node& b) const {
        return a.kind == b.kind && a.size == b.size && a.count == b.count && a.stride == b.stride &&
               a.child == b.child && a.length == b.length && a.places == b.places && a.starts == b.starts &&
               a.parts == b.parts;
    }
};

using Table = UniqueTable<Node, NodeHash, NodeEqual>;

Table& table() {
    static auto* t = new Table; // never destroyed: types may outlive static objects
    return *t;
}

bool is_run(const Placed& p) { return p.node->kind == Kind::run; }
bool is_loop(const Placed& p) { return p.node->kind == Kind::loop; }

// Parts in order without empty ones, short lists and sequences replaced by what they consist of, adjacent
// runs merged.
class Flattened {
  public:
    void add(const Placed& p) {
        if (p.node == nullptr) return;
        if (p.node->kind == Kind::list && p.node->places.size() <= splice_max) return add_runs(p);
        if (p.node->kind == Kind::sequence && p.node->places.size() <= splice_max) return add_parts(p);
        if (is_run(p)) return add_run(p.at, p.node->size);
        close_run();
        parts_.push_back(p);
    }
    std::vector<Placed> take() {
        close_run();
        return std::move(parts_);
    }

  private:
    void add_runs(const Placed& list) {
        const Node& n = *list.node;
        for (size_t i = 0; i < n.places.size(); ++i)
            add_run(list.at + n.places[i], n.length != 0 ? n.length : n.starts[i + 1] - n.starts[i]);
    }
    void add_parts(const Placed& sequence) {
        const Node& n = *sequence.node;
        for (size_t i = 0; i < n.places.size(); ++i) add({sequence.at + n.places[i], n.parts[i]});
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
        parts_.push_back({open_at_, last_run_});
        open_bytes_ = 0;
    }

    std::vector<Placed> parts_;
    NodePtr last_run_; // so that a long list of equal runs asks for their node once
    int64_t open_at_ = 0;
    int64_t open_bytes_ = 0;
};

// Equal parts at equal distances.
bool is_regular(const std::vector<Placed>& parts) {
    const int64_t stride = parts[1].at - parts[0].at;
    for (size_t i = 1; i < parts.size(); ++i)
        if (parts[i].node != parts[0].node || parts[i].at - parts[i - 1].at != stride) return false;
    return true;
}

void fill_short_runs(Node& n, const std::vector<Placed>& parts) {
    constexpr int64_t most = std::numeric_limits<int32_t>::max();
    if (n.low < -most || n.high > most || n.size > most) return;
    n.short_runs.reserve(parts.size());
    for (size_t i = 0; i < parts.size(); ++i)
        n.short_runs.push_back(
            {static_cast<int32_t>(n.places[i]), static_cast<int32_t>(parts[i].node->size)});
}

void fill_records(Node& n, const std::vector<Placed>& parts) {
    if (parts.size() > structure_max) return;
    int64_t start = 0;
    for (size_t i = 0; i < parts.size(); ++i) {
        const auto length = static_cast<size_t>(parts[i].node->size);
        const auto add = [&] { return n.records.back().add(n.places[i], start, length); };
        const bool added = !n.records.empty() && n.records.back().chunks() != 0 && add();
        if (!added) {
            n.records.emplace_back();
            add();
        }
        start += parts[i].node->size;
    }
}

void fill_shuffle(Node& n, const std::vector<Placed>& parts) {
    if (parts.size() > structure_max || n.high - n.low > register_bytes || n.size > register_bytes ||
        !has_shuffles())
        return;
    auto shuffle = std::make_shared<Shuffle>();
    shuffle->low = n.low;
    for (size_t i = 0; i < parts.size(); ++i) add_run(*shuffle, n.places[i], parts[i].node->size);
    n.shuffle = std::move(shuffle);
}

Placed list_or_sequence(const std::vector<Placed>& parts) {
    Node n;
    const bool only_runs = std::all_of(parts.begin(), parts.end(), is_run);
    const bool equal =
        std::all_of(parts.begin(), parts.end(), [&](const Placed& p) { return p.node == parts[0].node; });
    n.kind = only_runs ? Kind::list : Kind::sequence;
    n.low = parts[0].node->low;
    n.high = parts[0].node->high;
    n.runs = 0;
    n.places.reserve(parts.size());
    if (only_runs && equal) n.length = parts[0].node->size;
    for (const Placed& p : parts) {
        const int64_t place = p.at - parts[0].at;
        n.places.push_back(place);
        if (n.length == 0) n.starts.push_back(n.size);
        if (!only_runs) n.parts.push_back(p.node);
        n.size += p.node->size;
        n.runs += p.node->runs;
        n.low = std::min(n.low, place + p.node->low);
        n.high = std::max(n.high, place + p.node->high);
    }
    if (n.length == 0) n.starts.push_back(n.size);
    if (only_runs) {
        fill_short_runs(n, parts);
        fill_records(n, parts);
        fill_shuffle(n, parts);
    }
    return {parts[0].at, table().get(std::move(n))};
}

} // namespace

Placed run(int64_t bytes) {
    if (bytes <= 0) return {};
    Node n;
    n.size = n.high = bytes;
    return {0, table().get(std::move(n))};
}

Placed repeat(const Placed& what, int64_t count, int64_t stride) {
    if (what.node == nullptr || count <= 0) return {};
    if (count == 1) return what;
    const Node& child = *what.node;
    if (is_run(what) && stride == child.size) return {what.at, run(count * child.size).node};
    if (is_loop(what) && stride == child.count * child.stride)
        return repeat({what.at, child.child}, child.count * count, child.stride);
    Node n;
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

Placed sequence(const std::vector<Placed>& parts) {
    Flattened flat;
    for (const Placed& p : parts) flat.add(p);
    const std::vector<Placed> all = flat.take();
    if (all.empty()) return {};
    if (all.size() == 1) return all[0];
    if (is_regular(all)) return repeat(all[0], static_cast<int64_t>(all.size()), all[1].at - all[0].at);
    return list_or_sequence(all);
}

size_t nodes_alive() { return table().size(); }

} // namespace zipmpi::layout
