// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Between one member of each cluster: straight and all at once, so that nothing takes longer than one message
// does. With C clusters C - 1 messages where there is a root, C (C - 1) / 2 for a scan, else C (C - 1); a
// large allreduce takes twice as many in two turns and fewer bytes.
#include "base/param.hpp"
#include "proto/coll/algorithms.hpp"

namespace zipmpi::proto::coll::between_clusters {
namespace {

Param<int64_t> whole_sums{
    "coll.cluster_sums",
    256 << 10,
    {0, INT64_MAX},
    Unit::bytes,
    Level::tuner,
    Scope::all_equal,
    "MPI_Allreduce over three or more clusters: up to so many bytes each cluster sends its sum to each "
    "other one; more are combined in shares, which takes two turns and fewer bytes"};

// Contributions of members [0, n), in memory of the schedule except the own one and the last, which goes to
// where the sum will be.
class Contributions {
  public:
    Contributions(Schedule& s, const Team& t, const void* mine, void* sum, int n)
        : s_(s)
        , t_(t)
        , mine_(mine)
        , sum_(sum)
        , n_(n)
        , bytes_(s.operation().bytes())
        , others_(n > 1 ? s.scratch(bytes_ * static_cast<size_t>(n - 1)) : nullptr) {}

    void receive() {
        for (int r = 0; r < n_; ++r)
            if (r != t_.rank) s_.recv(t_, r == n_ - 1 ? sum_ : other(r), bytes_, r);
        if (t_.rank == n_ - 1) s_.copy(sum_, mine_, bytes_);
    }
    // From the last to the first, so that the result is the same wherever it is found.
    void combine() {
        for (int r = n_ - 2; r >= 0; --r)
            s_.combine(r == t_.rank ? mine_ : other(r), sum_, s_.operation().count);
    }

  private:
    [[nodiscard]] void* other(int r) const { return at(others_, bytes_ * static_cast<size_t>(r)); }

    Schedule& s_;
    const Team& t_;
    const void* mine_;
    void* sum_;
    int n_;
    size_t bytes_;
    std::byte* others_;
};

void send_to_others(Schedule& s, const Team& t, const void* data, size_t bytes) {
    for (int k = 1; k < t.size; ++k) s.send(t, data, bytes, (t.rank + k) % t.size);
}

// Where a sum may be collected while the contribution is still wanted.
void* place_of_sum(Schedule& s, const void* mine, void* result) {
    return mine == result ? s.scratch(s.operation().bytes()) : result;
}

void allreduce_in_shares(Schedule& s, Team& t, const void* mine, void* result) {
    const Combine& op = s.operation();
    const auto n = static_cast<size_t>(t.size);
    auto* counts = reinterpret_cast<int64_t*>(s.scratch(n * sizeof(int64_t)));
    auto* shares = reinterpret_cast<Block*>(s.scratch(n * sizeof(Block)));
    if (counts == nullptr || shares == nullptr) return;
    for (size_t i = 0; i < n; ++i) {
        const int64_t from = op.count * static_cast<int64_t>(i) / t.size;
        counts[i] = op.count * static_cast<int64_t>(i + 1) / t.size - from;
        shares[i] = {at(result, static_cast<size_t>(from) * op.element_bytes),
                     static_cast<size_t>(counts[i]) * op.element_bytes};
    }
    const Block& own = shares[t.rank];
    std::byte* sum = s.scratch(own.bytes);
    if (sum == nullptr) return;
    reduce_scatter_direct::build(s, t, mine, sum, {counts, n});
    s.copy(own.data, sum, own.bytes);
    between_clusters::allgatherv(s, t, {shares, n});
}

} // namespace

void barrier(Schedule& s, Team& t) {
    for (int k = 1; k < t.size; ++k) s.recv(t, nullptr, 0, (t.rank + k) % t.size);
    send_to_others(s, t, nullptr, 0);
}

void broadcast(Schedule& s, Team& t, void* data, size_t bytes, int root) {
    if (t.rank == root)
        send_to_others(s, t, data, bytes);
    else
        s.recv(t, data, bytes, root);
}

void reduce(Schedule& s, Team& t, const void* mine, void* result, int root) {
    if (t.rank != root) return s.send(t, mine, s.operation().bytes(), root);
    void* sum = place_of_sum(s, mine, result);
    Contributions all(s, t, mine, sum, t.size);
    if (s.state() != Err::success) return;
    all.receive();
    s.wait();
    all.combine();
    s.copy(result, sum, s.operation().bytes());
}

void allreduce(Schedule& s, Team& t, const void* mine, void* result) {
    const Combine& op = s.operation();
    if (t.size > 2 && op.count >= t.size && static_cast<int64_t>(op.bytes()) > whole_sums.get())
        return allreduce_in_shares(s, t, mine, result);
    void* sum = place_of_sum(s, mine, result);
    Contributions all(s, t, mine, sum, t.size);
    if (s.state() != Err::success) return;
    all.receive();
    send_to_others(s, t, mine, op.bytes());
    s.wait();
    all.combine();
    s.copy(result, sum, op.bytes());
}

void exscan(Schedule& s, Team& t, const void* mine, void* result) {
    const size_t bytes = s.operation().bytes();
    Contributions before(s, t, nullptr, result, t.rank);
    if (s.state() != Err::success) return;
    before.receive();
    for (int r = t.rank + 1; r < t.size; ++r) s.send(t, mine, bytes, r);
    s.wait();
    before.combine();
}

// All sizes are known to all.
void allgatherv(Schedule& s, Team& t, Blocks all) {
    for (int k = 1; k < t.size; ++k) {
        const int from = (t.rank + k) % t.size;
        const Block& in = all[static_cast<size_t>(from)];
        if (in.bytes != 0) s.recv(t, in.data, in.bytes, from);
    }
    const Block& own = all[static_cast<size_t>(t.rank)];
    if (own.bytes != 0) send_to_others(s, t, own.data, own.bytes);
}

} // namespace zipmpi::proto::coll::between_clusters
