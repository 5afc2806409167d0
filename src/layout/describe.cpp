// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A description is the place of the first byte, the extent, and the tree from its root down:
//   run       0, bytes
//   loop      1, count, stride, child
//   list      2, entries, then of each its place and bytes
//   sequence  3, entries, then of each its place and the node
#include "layout/describe.hpp"

#include "layout/node.hpp"
#include "layout/visit.hpp"

#include <cstdlib>

namespace zipmpi::layout {
namespace {

enum : int64_t { run_follows, loop_follows, list_follows, sequence_follows };

constexpr int deepest = 16;

class Writer {
  public:
    Writer(int64_t* to, size_t room)
        : to_(to)
        , room_(room) {}

    void put(int64_t number) {
        if (used_ < room_) to_[used_] = number;
        ++used_;
    }
    // False: there is no room.
    bool put_node(const Node& n, int depth) {
        if (used_ > room_ || depth == deepest) return false;
        switch (n.kind) {
        case Node::Kind::run:
            put(run_follows);
            put(n.size);
            return true;
        case Node::Kind::loop:
            put(loop_follows);
            put(n.count);
            put(n.stride);
            return put_node(*n.child, depth + 1);
        case Node::Kind::list:
        case Node::Kind::sequence:
            return put_entries(n, depth);
        }
        return false;
    }
    [[nodiscard]] size_t used() const { return used_ <= room_ ? used_ : 0; }

  private:
    bool put_entries(const Node& n, int depth) {
        const bool list = n.kind == Node::Kind::list;
        if (n.places.size() > room_) return false;
        put(list ? list_follows : sequence_follows);
        put(static_cast<int64_t>(n.places.size()));
        for (size_t i = 0; i < n.places.size(); ++i) {
            const auto entry = static_cast<int64_t>(i);
            put(n.places[i]);
            if (list)
                put(start_of(n, entry + 1) - start_of(n, entry));
            else if (!put_node(*n.parts[i], depth + 1))
                return false;
        }
        return true;
    }

    int64_t* to_;
    size_t room_;
    size_t used_ = 0;
};

bool product_fits(int64_t a, int64_t b) {
    return a == 0 || b == 0 || std::abs(a) <= most_described / std::abs(b);
}

class Reader {
  public:
    Reader(const int64_t* numbers, size_t count)
        : next_(numbers)
        , end_(numbers + count) {}

    // A number in these limits; `least` and a failure if it is not.
    int64_t get(int64_t least, int64_t most) {
        if (next_ == end_ || *next_ < least || *next_ > most) {
            failed_ = true;
            return least;
        }
        return *next_++;
    }
    int64_t get_place() { return get(-most_described, most_described); }
    // Without a node: it failed.
    Placed get_node(int depth) {
        if (depth == deepest) return {};
        switch (get(run_follows, sequence_follows)) {
        case run_follows:
            return failed_ ? Placed{} : get_run();
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
    Placed get_run() {
        const int64_t bytes = get(1, most_described);
        return failed_ ? Placed{} : run(bytes);
    }
    Placed get_loop(int depth) {
        const int64_t count = get(2, most_described);
        const int64_t stride = get_place();
        const Placed child = failed_ ? Placed{} : get_node(depth + 1);
        if (failed_ || child.node == nullptr || !product_fits(count, child.node->size) ||
            !product_fits(count, stride))
            return {};
        return repeat(child, count, stride);
    }
    Placed get_entries(int depth, bool runs) {
        const int64_t entries = get(2, end_ - next_);
        std::vector<Placed> parts;
        int64_t size = 0;
        for (int64_t i = 0; i < entries && !failed_; ++i) {
            const int64_t place = get_place();
            Placed part = runs ? get_run() : get_node(depth + 1);
            if (part.node == nullptr || (size += part.node->size) > most_described) return {};
            part.at += place;
            parts.push_back(part);
        }
        return failed_ ? Placed{} : sequence(parts);
    }

    const int64_t* next_;
    const int64_t* end_;
    bool failed_ = false;
};

} // namespace

size_t describe(const Program& program, int64_t* numbers, size_t room) {
    if (program.root == nullptr) return 0;
    Writer w(numbers, room);
    w.put(program.first);
    w.put(program.extent);
    return w.put_node(*program.root, 0) ? w.used() : 0;
}

ProgramPtr described(const int64_t* numbers, size_t count) {
    Reader r(numbers, count);
    const int64_t first = r.get_place();
    const int64_t extent = r.get_place();
    Placed root = r.get_node(0);
    if (!r.done() || root.node == nullptr) return nullptr;
    root.at += first;
    return compile(root, extent);
}

bool reach(const Program& program, int64_t count, int64_t& low, int64_t& high) {
    if (program.root == nullptr || count < 1 || !product_fits(count, program.extent) ||
        !product_fits(count, program.size))
        return false;
    const int64_t last = (count - 1) * program.extent;
    low = program.first + program.root->low + std::min<int64_t>(0, last);
    high = program.first + program.root->high + std::max<int64_t>(0, last);
    return true;
}

} // namespace zipmpi::layout
