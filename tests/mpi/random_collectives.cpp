// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Random collectives against a simple model. All ranks draw one plan from one seed: batches of collectives
// with random kind, form (blocking, nonblocking, persistent and started several times), communicator, counts,
// root, operation and use of MPI_IN_PLACE. All nonblocking operations of a batch are in flight at once and
// completed in random order. The contribution of each rank is a function of its rank, so that each rank can
// compute its expected result. With threads=N each thread does this on separate communicators. Arguments:
// seed=N rounds=N threads=N most=N (elements). An error prints the seed.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mpi.h>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

namespace {

using Vector = std::vector<long>;
unsigned seed_ = 20261115;
int most_ = 3000;

enum Kind {
    barrier,
    bcast,
    gather,
    gatherv,
    scatter,
    scatterv,
    allgather,
    allgatherv,
    alltoall,
    alltoallv,
    alltoallw,
    reduce,
    allreduce,
    reduce_scatter,
    reduce_scatter_block,
    scan,
    exscan,
    kinds
};
constexpr const char* kind_names[kinds] = {
    "barrier",   "bcast",     "gather",     "gatherv",        "scatter",
    "scatterv",  "allgather", "allgatherv", "alltoall",       "alltoallv",
    "alltoallw", "reduce",    "allreduce",  "reduce_scatter", "reduce_scatter_block",
    "scan",      "exscan"};
enum CallForm { blocking, nonblocking, persistent };

// Composition of affine maps modulo a prime: associative, not commutative.
constexpr long prime = 65521;
long compose(long left, long right) {
    const long a = left >> 32, b = left & 0xffffffff, c = right >> 32, d = right & 0xffffffff;
    return (a * c % prime) << 32 | ((c * b + d) % prime);
}
void compose_all(void* in, void* inout, int* count, MPI_Datatype*) {
    for (int i = 0; i < *count; ++i)
        static_cast<long*>(inout)[i] = compose(static_cast<long*>(in)[i], static_cast<long*>(inout)[i]);
}
void add_all(void* in, void* inout, MPI_Count* count, MPI_Datatype*) {
    for (MPI_Count i = 0; i < *count; ++i) static_cast<long*>(inout)[i] += static_cast<long*>(in)[i];
}

struct Operation {
    MPI_Op handle;
    long (*apply)(long, long);
};

struct CommContext {
    MPI_Comm comm = MPI_COMM_NULL;
    int rank = 0, size = 0;
};

class Collective {
  public:
    Collective(std::mt19937& random, const CommContext& place, const Operation& op, CallForm form,
               int number);
    void start();
    MPI_Request request = MPI_REQUEST_NULL;
    [[nodiscard]] int rounds() const { return form_ == persistent ? 3 : 1; }
    void prepare(int round);
    void verify() const;

  private:
    static size_t z(int n) { return static_cast<size_t>(n); }
    // Element i of the block from rank `from` to rank `to`.
    [[nodiscard]] long given(int from, int to, int i) const {
        const auto x = static_cast<unsigned long>(from) * 7919 + static_cast<unsigned long>(to) * 104729 +
                       static_cast<unsigned long>(i) * 31 + static_cast<unsigned long>(number_) * 17 +
                       static_cast<unsigned long>(round_) * 3;
        return static_cast<long>((x % prime) << 32 | ((x / 5 + 1) % prime));
    }
    [[nodiscard]] bool rooted() const {
        return kind_ == bcast || kind_ == reduce || (kind_ >= gather && kind_ <= scatterv);
    }
    [[nodiscard]] bool at_root() const { return place_.rank == root_; }
    void fill_sent();
    void expect();
    Vector fold(int first, int last, int to, int n) const;
    void call();
    void call_now();
    [[nodiscard]] const void* sent() const { return in_place_ ? MPI_IN_PLACE : sent_.data(); }

    CommContext place_;
    Operation op_;
    Kind kind_;
    CallForm form_;
    int number_;
    int round_ = 0;
    int root_;
    int count_;
    bool in_place_;
    std::vector<int> counts_, displs_;         // by rank
    std::vector<int> out_counts_, out_displs_; // alltoallv
    std::vector<int> in_bytes_, out_bytes_;
    std::vector<MPI_Datatype> types_;
    Vector sent_, got_, expected_;
};

Collective::Collective(std::mt19937& random, const CommContext& place, const Operation& op, CallForm form,
                       int number)
    : place_(place)
    , op_(op)
    , kind_(static_cast<Kind>(random() % kinds))
    , form_(form)
    , number_(number)
    , root_(static_cast<int>(random() % z(place.size))) {
    const int p = place.size;
    const int sizes[] = {0, 1, 1 + static_cast<int>(random() % 8), static_cast<int>(random() % 300),
                         static_cast<int>(random() % z(most_))};
    count_ = sizes[random() % 5];
    in_place_ = random() % 3 == 0 && kind_ != barrier && kind_ != bcast;
    if (rooted() && !at_root()) in_place_ = false;
    // the count of the exchange between two ranks is drawn equally by both
    const unsigned base = static_cast<unsigned>(random());
    const bool both_ways = kind_ == alltoallv || kind_ == alltoallw;
    const auto between = [&](int a, int b) {
        return static_cast<int>((base + z(a) * 37 + z(b) * (both_ways ? 37 : 0)) % z(count_ + 1));
    };
    for (int r = 0, at = 0, out = 0; r < p; ++r) {
        counts_.push_back(between(r, place.rank));
        out_counts_.push_back(between(place.rank, r));
        displs_.push_back(at + 1);
        out_displs_.push_back(out);
        at += counts_.back() + 1;
        out += out_counts_.back();
    }
    for (int r = 0; r < p; ++r) {
        in_bytes_.push_back(displs_[z(r)] * 8);
        out_bytes_.push_back(out_displs_[z(r)] * 8);
    }
    if (!both_ways) out_counts_ = counts_;
    types_.assign(z(p), MPI_LONG);
    const int total = displs_.back() + counts_.back();
    sent_.resize(z(std::max(total, count_ * p)) + 1);
    got_.resize(sent_.size());
}

Vector Collective::fold(int first, int last, int to, int n) const {
    Vector v(z(n));
    for (int i = 0; i < n; ++i) {
        v[z(i)] = given(first, to, i);
        for (int r = first + 1; r <= last; ++r) v[z(i)] = op_.apply(v[z(i)], given(r, to, i));
    }
    return v;
}

// The send buffer, and the receive buffer where it is significant.
void Collective::fill_sent() {
    const int me = place_.rank;
    const auto put = [&](Vector& to, int at, int n, int part) {
        for (int i = 0; i < n; ++i) to[z(at + i)] = given(me, part, i);
    };
    std::fill(got_.begin(), got_.end(), -7);
    std::fill(sent_.begin(), sent_.end(), -9);
    Vector& from = in_place_ ? got_ : sent_;
    switch (kind_) {
    case bcast:
        if (at_root()) put(got_, 0, count_, 0);
        break;
    case gather:
        put(from, in_place_ ? me * count_ : 0, count_, 0);
        break;
    case allgather:
        put(from, in_place_ ? me * count_ : 0, count_, 0);
        break;
    case gatherv:
    case allgatherv:
        put(from, in_place_ ? displs_[z(me)] : 0, counts_[z(me)], 0);
        break;
    case scatter:
        for (int r = 0; r < place_.size && at_root(); ++r) put(sent_, r * count_, count_, r);
        break;
    case scatterv:
        for (int r = 0; r < place_.size && at_root(); ++r) put(sent_, displs_[z(r)], counts_[z(r)], r);
        break;
    case alltoall:
    case reduce_scatter_block:
        for (int r = 0; r < place_.size; ++r) put(from, r * count_, count_, r);
        break;
    case alltoallv:
    case alltoallw:
        for (int r = 0; r < place_.size; ++r)
            put(from, in_place_ ? displs_[z(r)] : out_displs_[z(r)], out_counts_[z(r)], r);
        break;
    case reduce_scatter:
        for (int r = 0, at = 0; r < place_.size; at += counts_[z(r++)]) put(from, at, counts_[z(r)], r);
        break;
    default:
        put(from, 0, count_, 0);
    }
}

// Expected contents of the receive buffer.
void Collective::expect() {
    const int me = place_.rank;
    const int p = place_.size;
    expected_ = got_;
    const auto put = [&](int at, int n, int from, int part) {
        for (int i = 0; i < n; ++i) expected_[z(at + i)] = given(from, part, i);
    };
    const auto put_folded = [&](int first, int last, int part, int n) {
        const Vector v = fold(first, last, part, n);
        std::copy(v.begin(), v.end(), expected_.begin());
    };
    switch (kind_) {
    case bcast:
        put(0, count_, root_, 0);
        break;
    case gather:
    case allgather:
        for (int r = 0; r < p && (kind_ == allgather || at_root()); ++r) put(r * count_, count_, r, 0);
        break;
    case gatherv:
    case allgatherv:
        for (int r = 0; r < p && (kind_ == allgatherv || at_root()); ++r)
            put(displs_[z(r)], counts_[z(r)], r, 0);
        break;
    case scatter:
        if (!in_place_) put(0, count_, root_, me);
        break;
    case scatterv:
        if (!in_place_) put(0, counts_[z(me)], root_, me);
        break;
    case alltoall:
        for (int r = 0; r < p; ++r) put(r * count_, count_, r, me);
        break;
    case alltoallv:
    case alltoallw:
        for (int r = 0; r < p; ++r) put(displs_[z(r)], counts_[z(r)], r, me);
        break;
    case reduce:
        if (at_root()) put_folded(0, p - 1, 0, count_);
        break;
    case allreduce:
        put_folded(0, p - 1, 0, count_);
        break;
    case reduce_scatter:
        put_folded(0, p - 1, me, counts_[z(me)]);
        break;
    case reduce_scatter_block:
        put_folded(0, p - 1, me, count_);
        break;
    case scan:
        put_folded(0, me, 0, count_);
        break;
    case exscan:
        if (me > 0) put_folded(0, me - 1, 0, count_);
        break;
    default:
        break;
    }
}

void Collective::prepare(int round) {
    round_ = round;
    fill_sent();
    expect();
}

void Collective::start() {
    if (request == MPI_REQUEST_NULL)
        call();
    else
        MPI_Start(&request);
}

// MPI_x, MPI_Ix or MPI_x_init with equal arguments.
#define CALL(upper, lower, ...)                                                                              \
    if (form_ == blocking)                                                                                   \
        MPI_##upper(__VA_ARGS__);                                                                            \
    else if (form_ == nonblocking)                                                                           \
        MPI_I##lower(__VA_ARGS__, &request);                                                                 \
    else                                                                                                     \
        MPI_##upper##_init(__VA_ARGS__, MPI_INFO_NULL, &request);                                            \
    break

void Collective::call_now() {
    long* got = got_.data();
    const int own = counts_[z(place_.rank)];
    MPI_Comm c = place_.comm;
    switch (kind_) {
    case barrier:
        CALL(Barrier, barrier, c);
    case bcast:
        CALL(Bcast, bcast, got, count_, MPI_LONG, root_, c);
    case gather:
        CALL(Gather, gather, sent(), count_, MPI_LONG, got, count_, MPI_LONG, root_, c);
    case gatherv:
        CALL(Gatherv, gatherv, sent(), own, MPI_LONG, got, counts_.data(), displs_.data(), MPI_LONG, root_,
             c);
    case scatter:
        CALL(Scatter, scatter, sent_.data(), count_, MPI_LONG, in_place_ ? MPI_IN_PLACE : got, count_,
             MPI_LONG, root_, c);
    case scatterv:
        CALL(Scatterv, scatterv, sent_.data(), counts_.data(), displs_.data(), MPI_LONG,
             in_place_ ? MPI_IN_PLACE : got, own, MPI_LONG, root_, c);
    case allgather:
        CALL(Allgather, allgather, sent(), count_, MPI_LONG, got, count_, MPI_LONG, c);
    case allgatherv:
        CALL(Allgatherv, allgatherv, sent(), own, MPI_LONG, got, counts_.data(), displs_.data(), MPI_LONG, c);
    case alltoall:
        CALL(Alltoall, alltoall, sent(), count_, MPI_LONG, got, count_, MPI_LONG, c);
    case alltoallv:
        CALL(Alltoallv, alltoallv, sent(), out_counts_.data(), out_displs_.data(), MPI_LONG, got,
             counts_.data(), displs_.data(), MPI_LONG, c);
    case alltoallw:
        CALL(Alltoallw, alltoallw, sent(), out_counts_.data(), out_bytes_.data(), types_.data(), got,
             counts_.data(), in_bytes_.data(), types_.data(), c);
    case reduce:
        CALL(Reduce, reduce, sent(), got, count_, MPI_LONG, op_.handle, root_, c);
    case allreduce:
        CALL(Allreduce, allreduce, sent(), got, count_, MPI_LONG, op_.handle, c);
    case reduce_scatter:
        CALL(Reduce_scatter, reduce_scatter, sent(), got, counts_.data(), MPI_LONG, op_.handle, c);
    case reduce_scatter_block:
        CALL(Reduce_scatter_block, reduce_scatter_block, sent(), got, count_, MPI_LONG, op_.handle, c);
    case scan:
        CALL(Scan, scan, sent(), got, count_, MPI_LONG, op_.handle, c);
    case exscan:
        CALL(Exscan, exscan, sent(), got, count_, MPI_LONG, op_.handle, c);
    default:
        break;
    }
}

void Collective::call() {
    call_now();
    if (form_ == persistent) MPI_Start(&request);
}

void Collective::verify() const {
    for (size_t i = 0; i < expected_.size(); ++i) {
        // after an in-place reduce-scatter the rest of the vector is undefined
        const bool open = in_place_ && (kind_ == reduce_scatter || kind_ == reduce_scatter_block) &&
                          i >= z(kind_ == reduce_scatter ? counts_[z(place_.rank)] : count_);
        if (got_[i] == expected_[i] || open || (kind_ == exscan && place_.rank == 0)) continue;
        std::fprintf(
            stderr,
            "random_collectives: seed %u: %s, form %d, round %d, %d ranks, rank %d, root %d, count %d, "
            "in place %d: element %zu is %lx, not %lx\n",
            seed_, kind_names[kind_], form_, round_, place_.size, place_.rank, root_, count_, in_place_, i,
            got_[i], expected_[i]);
        MPI_Abort(MPI_COMM_WORLD, 4);
        std::abort();
    }
}

void run_batch(std::mt19937& random, std::mt19937& own, const std::vector<CommContext>& places,
               const std::vector<Operation>& ops, int first) {
    std::vector<std::unique_ptr<Collective>> batch;
    const int n = 1 + static_cast<int>(random() % 6);
    for (int i = 0; i < n; ++i) {
        const auto form = static_cast<CallForm>(random() % 3);
        const CommContext& place = places[random() % places.size()];
        const Operation& op = ops[random() % ops.size()];
        batch.push_back(std::make_unique<Collective>(random, place, op, form, first + i));
        batch.back()->prepare(0);
        batch.back()->start();
    }
    for (int round = 0; round < 3; ++round) {
        std::vector<size_t> order(batch.size());
        std::iota(order.begin(), order.end(), 0);
        std::shuffle(order.begin(), order.end(), own);
        std::vector<MPI_Request> requests;
        for (const size_t i : order)
            if (round < batch[i]->rounds()) requests.push_back(batch[i]->request);
        if (own() % 2 == 0) {
            MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
        } else {
            for (MPI_Request& r : requests) {
                int done = 0;
                while (done == 0) MPI_Test(&r, &done, MPI_STATUS_IGNORE);
            }
        }
        for (auto& c : batch)
            if (round < c->rounds()) c->verify();
        for (auto& c : batch) {
            if (round + 1 >= c->rounds()) continue;
            c->prepare(round + 1);
            c->start();
        }
    }
    for (auto& c : batch)
        if (c->rounds() > 1) MPI_Request_free(&c->request);
}

CommContext context_of(MPI_Comm comm) {
    CommContext p;
    p.comm = comm;
    MPI_Comm_rank(comm, &p.rank);
    MPI_Comm_size(comm, &p.size);
    return p;
}

void run_thread(unsigned seed, int rounds, MPI_Comm comm, const std::vector<Operation>& ops) {
    std::mt19937 random(seed);
    const CommContext whole = context_of(comm);
    std::mt19937 own(seed * 1000 + static_cast<unsigned>(whole.rank));
    std::vector<CommContext> places{whole};
    MPI_Comm copy = MPI_COMM_NULL;
    MPI_Comm_dup(comm, &copy);
    places.push_back(context_of(copy));
    MPI_Comm half = MPI_COMM_NULL; // half of the ranks, in reverse order
    MPI_Comm_split(comm, whole.rank % 2, -whole.rank, &half);
    places.push_back(context_of(half));
    for (int r = 0; r < rounds; ++r) run_batch(random, own, places, ops, r * 10);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&half);
}

int argument(int argc, char** argv, const char* name, int otherwise) {
    for (int i = 1; i < argc; ++i)
        if (std::strncmp(argv[i], name, std::strlen(name)) == 0)
            return std::atoi(argv[i] + std::strlen(name));
    return otherwise;
}

} // namespace

int main(int argc, char** argv) {
    const int threads = argument(argc, argv, "threads=", 1);
    const int rounds = argument(argc, argv, "rounds=", 100);
    seed_ = static_cast<unsigned>(argument(argc, argv, "seed=", 1));
    most_ = argument(argc, argv, "most=", 3000);
    int provided = 0;
    MPI_Init_thread(&argc, &argv, threads > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    MPI_Op composed = MPI_OP_NULL;
    MPI_Op added = MPI_OP_NULL;
    MPI_Op_create(compose_all, 0, &composed);
    MPI_Op_create_c(add_all, 1, &added);
    const std::vector<Operation> ops{{MPI_SUM, [](long a, long b) { return a + b; }},
                                     {MPI_MAX, [](long a, long b) { return std::max(a, b); }},
                                     {composed, compose},
                                     {added, [](long a, long b) { return a + b; }}};
    std::vector<MPI_Comm> comms(static_cast<size_t>(threads));
    for (MPI_Comm& c : comms) MPI_Comm_dup(MPI_COMM_WORLD, &c);
    std::vector<std::thread> others;
    for (int t = 1; t < threads; ++t)
        others.emplace_back([&, t] {
            run_thread(seed_ + static_cast<unsigned>(t), rounds, comms[static_cast<size_t>(t)], ops);
        });
    run_thread(seed_, rounds, comms[0], ops);
    for (std::thread& t : others) t.join();
    for (MPI_Comm& c : comms) MPI_Comm_free(&c);
    MPI_Op_free(&composed);
    MPI_Op_free(&added);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) std::printf("random_collectives: ok\n");
    MPI_Finalize();
    return 0;
}
