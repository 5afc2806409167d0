// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Collective access in two phases. The part of the file that the call touches is divided among a few
// processes, the aggregators. In rounds, each takes a window of its part; all processes send it their data
// for the window and where they belong, and it writes them as long stretches. Reading goes the other way
// round.
//
// What one process has in a window is contiguous in its row, so data go out of the program's memory and into
// it without a copy. Cost of a round: two all-to-all exchanges of lists, one of data.
//
// Where the data of the processes do not interleave, or come in long stretches anyhow, each moves its own.
#include "core/datatype/contiguous.hpp"
#include "core/io/access.hpp"
#include "core/unlocked.hpp"
#include "proto/coll/coll.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace zipmpi::core::io {
namespace {

namespace coll = proto::coll;

// Each process moves stretches of this length by itself: on one host the cache of the system joins them, and
// a call costs less than the way through another process. Over hosts that cache is not one.
constexpr uint64_t long_stretch_on_a_host = 4 << 10;
constexpr uint64_t long_stretch_over_hosts = 128 << 10;
constexpr int64_t window_least = 4 << 10;
constexpr int64_t part_unit = 64 << 10; // parts of aggregators begin at multiples of it

// What each process says first.
struct Wish {
    int64_t low;
    int64_t high;     // not above low: nothing
    uint64_t stretch; // how long, on average
};

struct Window {
    int64_t low;
    int64_t high;
};

bool interleave(std::vector<Wish> all) {
    std::erase_if(all, [](const Wish& r) { return r.high <= r.low; });
    std::ranges::sort(all, {}, &Wish::low);
    for (size_t i = 1; i < all.size(); ++i)
        if (all[i].low < all[i - 1].high) return true;
    return false;
}

bool in_two_phases(const File& file, const std::vector<Wish>& all, bool writes) {
    const Tuning::Buffering hint = writes ? file.tuning.writes : file.tuning.reads;
    if (hint == Tuning::Buffering::never || file.atomic || (writes && !file.gaps_can_be_read)) return false;
    if (hint == Tuning::Buffering::always) return true;
    const uint64_t enough = file.on_one_host ? long_stretch_on_a_host : long_stretch_over_hosts;
    const bool short_ones = std::ranges::any_of(all, [&](const Wish& r) { return r.stretch < enough; });
    return short_ones && interleave(all);
}

// How the file is divided in this call.
struct Plan {
    int64_t low = not_reached;
    int64_t high = 0;
    int64_t part = 0; // bytes of each aggregator
    int64_t window = 0;
    int aggregators = 0;

    [[nodiscard]] int64_t rounds() const { return (part + window - 1) / window; }
    [[nodiscard]] Window at(int aggregator, int64_t round) const {
        const int64_t begin = low + aggregator * part;
        const int64_t end = std::min(begin + part, high);
        const int64_t from = begin + round * window;
        return {std::min(from, end), std::min(from + window, end)};
    }
};

Plan divide(const File& file, const std::vector<Wish>& all) {
    Plan p;
    for (const Wish& r : all) {
        if (r.high <= r.low) continue;
        p.low = std::min(p.low, r.low);
        p.high = std::max(p.high, r.high);
    }
    if (p.high <= p.low) return Plan{0, 0, 0, 1, 0};
    p.low -= p.low % part_unit;
    const auto most = static_cast<int64_t>(file.aggregators.size());
    const int64_t units = (p.high - p.low + part_unit - 1) / part_unit;
    p.aggregators = static_cast<int>(std::clamp<int64_t>(file.tuning.aggregators, 1, std::min(most, units)));
    p.part = (units + p.aggregators - 1) / p.aggregators * part_unit;
    p.window = std::max<int64_t>(file.tuning.buffer_bytes, window_least);
    return p;
}

// What one process has for another in a round.
struct Load {
    uint64_t stretches = 0;
    uint64_t bytes = 0;
};

// A round as one process sees it: what it asks of aggregators, and what, as an aggregator, it is asked for.
class Round {
  public:
    Round(File& file, const View& view, const Row& row, bool writes)
        : file_(file)
        , view_(view)
        , row_(row)
        , writes_(writes)
        , size_(static_cast<size_t>(file.team().size)) {}

    // An error: the processes could not talk to each other. Of the file, failure() tells.
    Err run(const Plan& plan, int64_t round) {
        prepare(plan, round);
        if (const Err e = exchange_lists(); e != Err::success) return e;
        if (!make_room()) return no_bytes(asked_bytes_);
        if (!writes_) move_asked();
        if (const Err e = exchange_data(); e != Err::success) return e;
        if (writes_) move_asked();
        return Err::success;
    }
    [[nodiscard]] Err failure() const { return failure_; }
    [[nodiscard]] int64_t end() const { return end_; }

  private:
    void prepare(const Plan& plan, int64_t round) {
        lists_.assign(size_, {});
        first_.assign(size_, 0);
        mine_.assign(size_, {});
        for (int a = 0; a < plan.aggregators; ++a) {
            const Window w = plan.at(a, round);
            const auto to = static_cast<size_t>(file_.aggregators[static_cast<size_t>(a)]);
            const uint64_t end = row_.from + row_.bytes;
            const uint64_t from = view_.bytes_before(w.low, row_.from, end);
            const uint64_t until = view_.bytes_before(w.high, from, end);
            first_[to] = from - row_.from;
            mine_[to].bytes = until - from;
            view_.list(from, until - from, lists_[to], ~size_t{0});
            mine_[to].stretches = lists_[to].size();
        }
    }

    Err exchange_lists() {
        asked_.assign(size_, {});
        if (const Err e = coll::alltoall(file_.team(), mine_.data(), asked_.data(), sizeof(Load));
            e != Err::success)
            return e;
        asked_lists_.assign(size_, {});
        std::vector<coll::Block> out(size_);
        std::vector<coll::Block> in(size_);
        for (size_t r = 0; r < size_; ++r) {
            asked_lists_[r].resize(asked_[r].stretches);
            out[r] = block_of(lists_[r]);
            in[r] = block_of(asked_lists_[r]);
        }
        return exchange(out, in);
    }

    static coll::Block block_of(std::vector<Stretch>& list) {
        return {reinterpret_cast<std::byte*>(list.data()), list.size() * sizeof(Stretch)};
    }

    Err exchange(const std::vector<coll::Block>& out, const std::vector<coll::Block>& in) {
        coll::Schedule s(file_.team());
        coll::alltoallv(s, file_.team(), out, in);
        return s.run();
    }

    // For the data that this process is asked for.
    bool make_room() {
        asked_bytes_ = 0;
        for (const Load& l : asked_) asked_bytes_ += l.bytes;
        memory_ = make_bytes(asked_bytes_);
        if (memory_ == nullptr) return false;
        if (!writes_) std::memset(memory_.get(), 0, asked_bytes_); // a file may end before
        auto* at = static_cast<std::byte*>(memory_.get());
        asked_data_.assign(size_, {});
        for (size_t r = 0; r < size_; ++r) {
            asked_data_[r] = {at, asked_[r].bytes};
            at += asked_[r].bytes;
        }
        return true;
    }

    Err exchange_data() {
        std::vector<coll::Block> own(size_);
        for (size_t r = 0; r < size_; ++r) own[r] = {row_.data + first_[r], mine_[r].bytes};
        return writes_ ? exchange(own, asked_data_) : exchange(asked_data_, own);
    }

    // All pieces of the window, in the order of the file.
    void list_asked() {
        pieces_.clear();
        for (size_t r = 0; r < size_; ++r) {
            const auto middle = static_cast<std::ptrdiff_t>(pieces_.size());
            std::byte* data = asked_data_[r].data;
            for (const Stretch& s : asked_lists_[r]) {
                pieces_.push_back({s.at, data, s.bytes});
                data += s.bytes;
            }
            const auto before = [](const Piece& a, const Piece& b) { return a.at < b.at; };
            const auto own = pieces_.begin() + middle;
            merged_.clear();
            merged_.reserve(pieces_.size());
            std::merge(pieces_.begin(), own, own, pieces_.end(), std::back_inserter(merged_), before);
            pieces_.swap(merged_);
        }
    }

    void move_asked() {
        list_asked();
        if (pieces_.empty() || failure_ != Err::success) return;
        const Unlocked unlocked;
        int64_t end = not_reached;
        failure_ = writes_ ? write_pieces(file_.fd.get(), pieces_, Gaps::fill)
                           : read_pieces(file_.fd.get(), pieces_, end);
        end_ = std::min(end_, end);
    }

    File& file_;
    const View& view_;
    const Row& row_;
    bool writes_;
    size_t size_;
    std::vector<std::vector<Stretch>> lists_; // by aggregator's rank
    std::vector<uint64_t> first_;             // byte of the row for it
    std::vector<Load> mine_;
    std::vector<Load> asked_; // by who asks
    std::vector<std::vector<Stretch>> asked_lists_;
    std::vector<coll::Block> asked_data_;
    uint64_t asked_bytes_ = 0;
    Bytes memory_;
    std::vector<Piece> pieces_;
    std::vector<Piece> merged_; // kept for its memory
    Err failure_ = Err::success;
    int64_t end_ = not_reached;
};

// How it went, on each process.
struct Result {
    Err error;
    int64_t end;
};

Err settle(File& file, const Result& mine, int64_t& end) {
    std::vector<Result> all(static_cast<size_t>(file.team().size));
    all[static_cast<size_t>(file.team().rank)] = mine;
    if (const Err e = coll::allgather(file.team(), all.data(), sizeof(Result)); e != Err::success) return e;
    if (mine.error != Err::success) return mine.error;
    for (size_t r = 0; r < all.size(); ++r) {
        end = std::min(end, all[r].end);
        if (all[r].error != Err::success)
            return fail(all[r].error, "see what that rank says about it", "rank %zu could not do its part",
                        r);
    }
    return Err::success;
}

Err move_in_two_phases(File& file, const View& view, const Row& row, bool writes, const Plan& plan,
                       uint64_t& moved) {
    Round round(file, view, row, writes);
    for (int64_t i = 0; plan.aggregators > 0 && i < plan.rounds(); ++i)
        if (const Err e = round.run(plan, i); e != Err::success) return e;
    int64_t end = not_reached;
    const Err e = settle(file, {round.failure(), round.end()}, end);
    const uint64_t until = row.from + row.bytes;
    moved = end == not_reached ? row.bytes : view.bytes_before(end, row.from, until) - row.from;
    return e;
}

} // namespace

Err move_together(File& file, const View& view, const Row& row, bool writes, Err mine, uint64_t& moved) {
    std::vector<Wish> all(static_cast<size_t>(file.team().size));
    Wish& own = all[static_cast<size_t>(file.team().rank)];
    own = {0, 0, ~uint64_t{0}};
    if (row.bytes > 0 && !view.empty())
        own = {view.place_of(row.from), view.place_of(row.from + row.bytes - 1) + 1, view.mean_stretch()};
    if (const Err e = coll::allgather(file.team(), all.data(), sizeof(Wish)); e != Err::success) return e;
    Err e = Err::success;
    if (in_two_phases(file, all, writes))
        e = move_in_two_phases(file, view, row, writes, divide(file, all), moved);
    else
        e = move_alone(file, view, row, writes, moved);
    return mine != Err::success ? mine : e;
}

} // namespace zipmpi::core::io
