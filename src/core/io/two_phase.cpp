// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Two-phase collective access. The accessed range of the file is divided among the aggregators, a subset of
// the processes. In rounds, each aggregator handles a window of its domain; all processes send it their data
// for the window with the file offsets, and it writes them in long contiguous ranges. Reads work in the
// opposite direction.
//
// The data of one process in a window is contiguous in its data stream, so it is sent from and received into
// user memory without a copy. Cost of a round: two all-to-all exchanges of lists, one of data.
//
// If the data of the processes is not interleaved, or consists of long contiguous ranges, each process moves
// its own data.
#include "core/datatype/contiguous.hpp"
#include "core/io/access.hpp"
#include "core/io/served_requests.hpp"
#include "proto/coll/coll.hpp"

#include <algorithm>

namespace zipmpi::core::io {
namespace {

namespace coll = proto::coll;

// Minimum mean length of ranges for independent access: on one host the page cache merges the writes, and a
// system call costs less than a copy through another process. Hosts do not share a page cache.
constexpr uint64_t long_range_one_host = 4 << 10;
constexpr uint64_t long_range_multi_host = 128 << 10;
constexpr int64_t window_bytes_min = 4 << 10;
constexpr int64_t domain_unit = 64 << 10; // alignment of file domains

// Access range of each process, exchanged first.
struct AccessRange {
    int64_t low;
    int64_t high;        // <= low: empty
    uint64_t mean_range; // mean length of contiguous ranges
};

struct FileWindow {
    int64_t low;
    int64_t high;
};

bool ranges_interleave(std::vector<AccessRange> all) {
    std::erase_if(all, [](const AccessRange& r) { return r.high <= r.low; });
    std::ranges::sort(all, {}, &AccessRange::low);
    for (size_t i = 1; i < all.size(); ++i)
        if (all[i].low < all[i - 1].high) return true;
    return false;
}

bool should_use_two_phase(const File& file, const std::vector<AccessRange>& all, bool writes) {
    const IoHints::Buffering hint = writes ? file.io_hints.writes : file.io_hints.reads;
    if (hint == IoHints::Buffering::never || file.atomic || (writes && !file.readable)) return false;
    if (hint == IoHints::Buffering::always) return true;
    const uint64_t enough = file.single_host ? long_range_one_host : long_range_multi_host;
    const bool has_short_ranges =
        std::ranges::any_of(all, [&](const AccessRange& r) { return r.mean_range < enough; });
    return has_short_ranges && ranges_interleave(all);
}

// Division of the file in this call.
struct FileDomains {
    int64_t low = eof_not_reached;
    int64_t high = 0;
    int64_t domain_bytes = 0; // bytes of each aggregator
    int64_t window_bytes = 0;
    int aggregators = 0;

    [[nodiscard]] int64_t rounds() const { return (domain_bytes + window_bytes - 1) / window_bytes; }
    [[nodiscard]] FileWindow window_of(int aggregator, int64_t round) const {
        const int64_t begin = low + aggregator * domain_bytes;
        const int64_t end = std::min(begin + domain_bytes, high);
        const int64_t from = begin + round * window_bytes;
        return {std::min(from, end), std::min(from + window_bytes, end)};
    }
};

FileDomains divide_file(const File& file, const std::vector<AccessRange>& all) {
    FileDomains p;
    for (const AccessRange& r : all) {
        if (r.high <= r.low) continue;
        p.low = std::min(p.low, r.low);
        p.high = std::max(p.high, r.high);
    }
    if (p.high <= p.low) return FileDomains{0, 0, 0, 1, 0};
    p.low -= p.low % domain_unit;
    const auto most = static_cast<int64_t>(file.aggregators.size());
    const int64_t units = (p.high - p.low + domain_unit - 1) / domain_unit;
    p.aggregators =
        static_cast<int>(std::clamp<int64_t>(file.io_hints.aggregators, 1, std::min(most, units)));
    p.domain_bytes = (units + p.aggregators - 1) / p.aggregators * domain_unit;
    p.window_bytes = std::max<int64_t>(file.io_hints.buffer_bytes, window_bytes_min);
    return p;
}

// A round as one process sees it: its requests to aggregators, and, as an aggregator, the requests it serves.
class Round {
  public:
    Round(File& file, const View& view, const ViewRange& range, bool writes)
        : file_(file)
        , view_(view)
        , range_(range)
        , writes_(writes)
        , size_(static_cast<size_t>(file.team().size)) {}

    // Returns an error if communication failed. File errors are returned by failure().
    Err run(const FileDomains& domains, int64_t round) {
        prepare(domains, round);
        if (const Err e = exchange_lists(); e != Err::success) return e;
        if (!served_.allocate_data()) return buffer_alloc_error(served_.bytes());
        if (!writes_) served_.read(file_.fd.get());
        if (const Err e = exchange_data(); e != Err::success) return e;
        if (writes_) served_.write(file_.fd.get());
        return Err::success;
    }
    [[nodiscard]] Err failure() const { return served_.failure(); }
    [[nodiscard]] int64_t end() const { return served_.end(); }

  private:
    void prepare(const FileDomains& domains, int64_t round) {
        own_lists_.assign(size_, {});
        first_.assign(size_, 0);
        own_sizes_.assign(size_, {});
        for (int a = 0; a < domains.aggregators; ++a) {
            const FileWindow w = domains.window_of(a, round);
            const auto to = static_cast<size_t>(file_.aggregators[static_cast<size_t>(a)]);
            const uint64_t end = range_.from + range_.bytes;
            const uint64_t from = view_.bytes_before(w.low, range_.from, end);
            const uint64_t until = view_.bytes_before(w.high, from, end);
            first_[to] = from - range_.from;
            own_sizes_[to].bytes = until - from;
            view_.list_ranges(from, until - from, own_lists_[to], ~size_t{0});
            own_sizes_[to].ranges = own_lists_[to].size();
        }
    }

    Err exchange_lists() {
        std::vector<TransferSize>& served_sizes = served_.start_round(size_);
        if (const Err e =
                coll::alltoall(file_.team(), own_sizes_.data(), served_sizes.data(), sizeof(TransferSize));
            e != Err::success)
            return e;
        std::vector<std::vector<FileRange>>& served_lists = served_.make_lists();
        std::vector<coll::Block> out(size_);
        std::vector<coll::Block> in(size_);
        for (size_t r = 0; r < size_; ++r) {
            out[r] = block_of(own_lists_[r]);
            in[r] = block_of(served_lists[r]);
        }
        return exchange(out, in);
    }

    static coll::Block block_of(std::vector<FileRange>& list) {
        return {reinterpret_cast<std::byte*>(list.data()), list.size() * sizeof(FileRange)};
    }

    Err exchange(const std::vector<coll::Block>& out, const std::vector<coll::Block>& in) {
        coll::Collective c(file_.team());
        coll::alltoallv(c, file_.team(), out, in);
        return c.run();
    }

    Err exchange_data() {
        std::vector<coll::Block> own(size_);
        for (size_t r = 0; r < size_; ++r) own[r] = {range_.data + first_[r], own_sizes_[r].bytes};
        return writes_ ? exchange(own, served_.data()) : exchange(served_.data(), own);
    }

    File& file_;
    const View& view_;
    const ViewRange& range_;
    bool writes_;
    size_t size_;
    std::vector<std::vector<FileRange>> own_lists_; // by the aggregator's rank
    std::vector<uint64_t> first_;                   // its first byte in the data stream
    std::vector<TransferSize> own_sizes_;
    ServedRequests served_;
};

// Outcome on each process.
struct Result {
    Err error;
    int64_t end;
};

Err combine_results(File& file, const Result& own_result, int64_t& end) {
    std::vector<Result> all(static_cast<size_t>(file.team().size));
    all[static_cast<size_t>(file.team().rank)] = own_result;
    if (const Err e = coll::allgather(file.team(), all.data(), sizeof(Result)); e != Err::success) return e;
    if (own_result.error != Err::success) return own_result.error;
    for (size_t r = 0; r < all.size(); ++r) {
        end = std::min(end, all[r].end);
        if (all[r].error != Err::success)
            return fail(all[r].error, "see the error on that rank",
                        "rank %zu could not complete its part of the access", r);
    }
    return Err::success;
}

Err two_phase_access(File& file, const View& view, const ViewRange& range, bool writes,
                     const FileDomains& domains, uint64_t& moved) {
    Round round(file, view, range, writes);
    for (int64_t i = 0; domains.aggregators > 0 && i < domains.rounds(); ++i)
        if (const Err e = round.run(domains, i); e != Err::success) return e;
    int64_t end = eof_not_reached;
    const Err e = combine_results(file, {round.failure(), round.end()}, end);
    const uint64_t until = range.from + range.bytes;
    moved = end == eof_not_reached ? range.bytes : view.bytes_before(end, range.from, until) - range.from;
    return e;
}

} // namespace

Err collective_access(File& file, const View& view, const ViewRange& range, bool writes, Err own_error,
                      uint64_t& moved) {
    std::vector<AccessRange> all(static_cast<size_t>(file.team().size));
    AccessRange& own = all[static_cast<size_t>(file.team().rank)];
    own = {0, 0, ~uint64_t{0}};
    if (range.bytes > 0 && !view.empty())
        own = {view.file_offset_of(range.from), view.file_offset_of(range.from + range.bytes - 1) + 1,
               view.mean_range()};
    if (const Err e = coll::allgather(file.team(), all.data(), sizeof(AccessRange)); e != Err::success)
        return e;
    Err e = Err::success;
    if (should_use_two_phase(file, all, writes))
        e = two_phase_access(file, view, range, writes, divide_file(file, all), moved);
    else
        e = independent_access(file, view, range, writes, moved);
    return own_error != Err::success ? own_error : e;
}

} // namespace zipmpi::core::io
