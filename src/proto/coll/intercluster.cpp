// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Collectives of one member per cluster: concurrent direct messages, so that each takes one message latency.
// With C clusters: C - 1 messages for a rooted collective, C (C - 1) / 2 for a scan, else C (C - 1). A large
// allreduce takes two latencies and twice as many messages, but fewer bytes.
#include "base/param.hpp"
#include "proto/coll/algorithms.hpp"

namespace zipmpi::proto::coll::intercluster {
namespace {

Param<int64_t> direct_max{
    "coll.intercluster_allreduce_direct_max",
    256 << 10,
    {0, INT64_MAX},
    Unit::bytes,
    Level::tuner,
    Scope::job_wide,
    "largest MPI_Allreduce exchanged directly between three or more clusters; above, reduce-scatter plus "
    "allgather"};

// Contributions of members [0, n). They are received into scratch memory, except that of the last member,
// which is received into the sum, and that of this rank.
class ClusterInputs {
  public:
    ClusterInputs(Schedule& s, const Team& t, const void* input, void* sum, int n)
        : s_(s)
        , t_(t)
        , input_(input)
        , sum_(sum)
        , n_(n)
        , bytes_(s.op().bytes())
        , recv_buffers_(n > 1 ? s.scratch(bytes_ * static_cast<size_t>(n - 1)) : nullptr) {}

    void receive() {
        for (int r = 0; r < n_; ++r)
            if (r != t_.rank) s_.recv(t_, r == n_ - 1 ? sum_ : recv_buffer(r), bytes_, r);
        if (t_.rank == n_ - 1) s_.copy(sum_, input_, bytes_);
    }
    // From the last to the first, so that all members compute identical results.
    void combine() {
        for (int r = n_ - 2; r >= 0; --r)
            s_.combine(r == t_.rank ? input_ : recv_buffer(r), sum_, s_.op().count);
    }

  private:
    [[nodiscard]] void* recv_buffer(int r) const {
        return at(recv_buffers_, bytes_ * static_cast<size_t>(r));
    }

    Schedule& s_;
    const Team& t_;
    const void* input_;
    void* sum_;
    int n_;
    size_t bytes_;
    std::byte* recv_buffers_;
};

void send_to_others(Schedule& s, const Team& t, const void* data, size_t bytes) {
    for (int k = 1; k < t.size; ++k) s.send(t, data, bytes, (t.rank + k) % t.size);
}

// A buffer for the sum that does not overwrite the input.
void* sum_buffer(Schedule& s, const void* input, void* result) {
    return input == result ? s.scratch(s.op().bytes()) : result;
}

void allreduce_reduce_scatter(Schedule& s, Team& t, const void* input, void* result) {
    const ReduceOp& op = s.op();
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
    reduce_scatter_direct::build(s, t, input, sum, {counts, n});
    s.copy(own.data, sum, own.bytes);
    intercluster::allgatherv(s, t, {shares, n});
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

void reduce(Schedule& s, Team& t, const void* input, void* result, int root) {
    if (t.rank != root) return s.send(t, input, s.op().bytes(), root);
    void* sum = sum_buffer(s, input, result);
    ClusterInputs all(s, t, input, sum, t.size);
    if (s.state() != Err::success) return;
    all.receive();
    s.wait();
    all.combine();
    s.copy(result, sum, s.op().bytes());
}

void allreduce(Schedule& s, Team& t, const void* input, void* result) {
    const ReduceOp& op = s.op();
    if (t.size > 2 && op.count >= t.size && static_cast<int64_t>(op.bytes()) > direct_max.get())
        return allreduce_reduce_scatter(s, t, input, result);
    void* sum = sum_buffer(s, input, result);
    ClusterInputs all(s, t, input, sum, t.size);
    if (s.state() != Err::success) return;
    all.receive();
    send_to_others(s, t, input, op.bytes());
    s.wait();
    all.combine();
    s.copy(result, sum, op.bytes());
}

void exscan(Schedule& s, Team& t, const void* input, void* result) {
    const size_t bytes = s.op().bytes();
    ClusterInputs before(s, t, nullptr, result, t.rank);
    if (s.state() != Err::success) return;
    before.receive();
    for (int r = t.rank + 1; r < t.size; ++r) s.send(t, input, bytes, r);
    s.wait();
    before.combine();
}

// Every member passes all sizes, so empty blocks need no message.
void allgatherv(Schedule& s, Team& t, Blocks all) {
    for (int k = 1; k < t.size; ++k) {
        const int from = (t.rank + k) % t.size;
        const Block& in = all[static_cast<size_t>(from)];
        if (in.bytes != 0) s.recv(t, in.data, in.bytes, from);
    }
    const Block& own = all[static_cast<size_t>(t.rank)];
    if (own.bytes != 0) send_to_others(s, t, own.data, own.bytes);
}

} // namespace zipmpi::proto::coll::intercluster
