// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Noncontiguous messages: every mode and every length, noncontiguous on one side or both, and the contents of
// statuses.
#include "check.hpp"

#include <functional>

namespace {

int next() { return (rank_ + 1) % size_; }
int previous() { return (rank_ + size_ - 1) % size_; }

// Layout of n ints: a datatype, its count, and the positions of the ints in an array.
struct Layout {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    int count = 0;
    std::vector<size_t> places;
    size_t reach = 0;
};

Layout contiguous(int n) {
    Layout l{MPI_INT, n, {}, static_cast<size_t>(n)};
    for (size_t i = 0; i < l.reach; ++i) l.places.push_back(i);
    return l;
}

Layout every_third(int n) { // one element
    Layout l{MPI_DATATYPE_NULL, 1, {}, 3 * static_cast<size_t>(n) + 1};
    MPI_Type_vector(n, 1, 3, MPI_INT, &l.type);
    for (size_t i = 0; i < static_cast<size_t>(n); ++i) l.places.push_back(3 * i);
    return l;
}

Layout
resized_pairs(int n) { // many elements, each two ints with a hole between, out of order; n must be even
    Layout l{MPI_DATATYPE_NULL, n / 2, {}, 4 * static_cast<size_t>(n)};
    const int lengths_of[] = {1, 1};
    const MPI_Aint at[] = {4 * sizeof(int), sizeof(int)};
    const MPI_Datatype types[] = {MPI_INT, MPI_INT};
    MPI_Datatype two;
    MPI_Type_create_struct(2, lengths_of, at, types, &two);
    MPI_Type_create_resized(two, 0, 6 * sizeof(int), &l.type);
    MPI_Type_free(&two);
    for (size_t i = 0; i < static_cast<size_t>(n) / 2; ++i) {
        l.places.push_back(6 * i + 4);
        l.places.push_back(6 * i + 1);
    }
    return l;
}

Layout irregular(int n) { // blocks of 1 to 7 ints
    Layout l{MPI_DATATYPE_NULL, 1, {}, 3 * static_cast<size_t>(n) + 16};
    std::vector<int> blocks;
    std::vector<int> at;
    int place = 2;
    for (int filled = 0, i = 0; filled < n; ++i) {
        const int length = std::min(1 + i * 5 % 7, n - filled);
        blocks.push_back(length);
        at.push_back(place);
        for (int k = 0; k < length; ++k) l.places.push_back(static_cast<size_t>(place + k));
        place += length + 1 + i % 2;
        filled += length;
    }
    MPI_Type_indexed(static_cast<int>(blocks.size()), blocks.data(), at.data(), MPI_INT, &l.type);
    return l;
}

Layout long_blocks(int n) { // copied in place by CMA
    constexpr int block = 1000;
    constexpr int stride = 1300;
    Layout l{MPI_DATATYPE_NULL, 1, {}, static_cast<size_t>(n / block + 1) * stride};
    std::vector<int> blocks;
    std::vector<int> at;
    for (int filled = 0; filled < n; filled += block) {
        blocks.push_back(std::min(block, n - filled));
        at.push_back(filled / block * stride);
        for (int k = 0; k < blocks.back(); ++k) l.places.push_back(static_cast<size_t>(at.back() + k));
    }
    MPI_Type_indexed(static_cast<int>(blocks.size()), blocks.data(), at.data(), MPI_INT, &l.type);
    return l;
}

using MakeLayout = Layout (*)(int n);
constexpr MakeLayout layouts[] = {contiguous, every_third, resized_pairs, irregular, long_blocks};

struct Buffer {
    Layout layout;
    std::vector<int> ints;
    Buffer(MakeLayout make, int n)
        : layout(make(n))
        , ints(layout.reach, -1) {
        if (layout.type != MPI_INT) MPI_Type_commit(&layout.type);
    }
    ~Buffer() {
        if (layout.type != MPI_INT) MPI_Type_free(&layout.type);
    }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    void fill(int first) {
        for (const size_t p : layout.places) ints[p] = first++;
    }
    // The first n ints have arrived, and nothing else was touched.
    [[nodiscard]] bool holds(int first, size_t n) const {
        std::vector<int> expected(ints.size(), -1);
        for (size_t i = 0; i < n; ++i) expected[layout.places[i]] = first++;
        return expected == ints;
    }
    int* data() { return ints.data(); }
    [[nodiscard]] int count() const { return layout.count; }
    [[nodiscard]] MPI_Datatype type() const { return layout.type; }
};

constexpr int sizes_in_ints[] = {0, 2, 12, 70, 8192, 8194, 60000};

void check_status(const MPI_Status& status, const Buffer& in, int n) {
    int count = -1;
    MPI_Get_count(&status, in.type(), &count);
    CHECK(status.MPI_SOURCE == previous() && (count == in.count() || n == 0));
    MPI_Get_elements(&status, in.type(), &count);
    CHECK(count == n);
    CHECK(count_of(status) == n);
}

using Send = std::function<void(Buffer&, int tag)>;

void around_the_ring(Buffer& out, Buffer& in, int n, const Send& send) {
    out.fill(1000 * rank_);
    MPI_Request request;
    MPI_Irecv(in.data(), in.count(), in.type(), previous(), 4, MPI_COMM_WORLD, &request);
    send(out, 4);
    MPI_Status status;
    MPI_Wait(&request, &status);
    CHECK(in.holds(1000 * previous(), static_cast<size_t>(n)));
    check_status(status, in, n);
}

void every_mode(MakeLayout from, MakeLayout to, int n) {
    std::vector<char> attached(static_cast<size_t>(n) * sizeof(int) + MPI_BSEND_OVERHEAD);
    const auto complete = [](MPI_Request& r) { MPI_Wait(&r, MPI_STATUS_IGNORE); };
    const Send sends[] = {
        [&](Buffer& b, int tag) {
            MPI_Request r;
            MPI_Datatype copy;
            MPI_Type_dup(b.type(), &copy);
            MPI_Isend(b.data(), b.count(), copy, next(), tag, MPI_COMM_WORLD, &r);
            MPI_Type_free(&copy); // while it is in use
            complete(r);
        },
        [&](Buffer& b, int tag) {
            MPI_Request r;
            MPI_Issend(b.data(), b.count(), b.type(), next(), tag, MPI_COMM_WORLD, &r);
            complete(r);
        },
        [&](Buffer& b, int tag) {
            MPI_Buffer_attach(attached.data(), static_cast<int>(attached.size()));
            MPI_Bsend(b.data(), b.count(), b.type(), next(), tag, MPI_COMM_WORLD);
            void* memory = nullptr;
            int size = 0;
            MPI_Buffer_detach(&memory, &size);
        },
        [&](Buffer& b, int tag) {
            MPI_Request r;
            MPI_Send_init(b.data(), b.count(), b.type(), next(), tag, MPI_COMM_WORLD, &r);
            MPI_Start(&r);
            complete(r);
            MPI_Request_free(&r);
        },
    };
    for (const Send& send : sends) {
        Buffer out(from, n);
        Buffer in(to, n);
        around_the_ring(out, in, n, send);
    }
}

void both_directions_in_one_call(MakeLayout from, MakeLayout to, int n) {
    Buffer out(from, n);
    Buffer in(to, n);
    MPI_Status status;
    out.fill(7 * rank_);
    MPI_Sendrecv(out.data(), out.count(), out.type(), next(), 1, in.data(), in.count(), in.type(), previous(),
                 1, MPI_COMM_WORLD, &status);
    CHECK(in.holds(7 * previous(), static_cast<size_t>(n)));
    check_status(status, in, n);
    MPI_Sendrecv_replace(out.data(), out.count(), out.type(), next(), 1, previous(), 1, MPI_COMM_WORLD,
                         &status);
    CHECK(out.holds(7 * previous(), static_cast<size_t>(n)));
    check_status(status, out, n);
}

void probed(MakeLayout from, MakeLayout to, int n) {
    Buffer out(from, n);
    Buffer in(to, n);
    out.fill(3);
    MPI_Request request;
    MPI_Isend(out.data(), out.count(), out.type(), next(), 9, MPI_COMM_WORLD, &request);
    MPI_Message message;
    MPI_Status status;
    MPI_Mprobe(previous(), 9, MPI_COMM_WORLD, &message, &status);
    check_status(status, in, n);
    MPI_Mrecv(in.data(), in.count(), in.type(), &message, &status);
    CHECK(in.holds(3, static_cast<size_t>(n)));
    check_status(status, in, n);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

// A receive that is too short gets the first part; one that is longer leaves the rest unchanged.
void other_lengths(MakeLayout from, MakeLayout to, int n) {
    Buffer out(from, n);
    Buffer longer(to, n + 10);
    Buffer shorter(to, n / 2 / 2 * 2);
    out.fill(50);
    MPI_Status status;
    MPI_Sendrecv(out.data(), out.count(), out.type(), next(), 2, longer.data(), longer.count(), longer.type(),
                 previous(), 2, MPI_COMM_WORLD, &status);
    CHECK(longer.holds(50, static_cast<size_t>(n)) && count_of(status) == n);
    int elements = 0;
    MPI_Get_elements(&status, longer.type(), &elements);
    CHECK(elements == n);
    FAILS(MPI_Sendrecv(out.data(), out.count(), out.type(), next(), 3, shorter.data(), shorter.count(),
                       shorter.type(), previous(), 3, MPI_COMM_WORLD, &status),
          MPI_ERR_TRUNCATE);
    CHECK(shorter.holds(50, shorter.layout.places.size()));
}

// Partitions that do not coincide with element boundaries of the other side.
void partitioned(MakeLayout from, MakeLayout to, int n) {
    Buffer out(from, n);
    Buffer in(to, n);
    out.fill(11);
    MPI_Request requests[2];
    const int halves = out.count() % 2 == 0 ? 2 : 1;
    MPI_Psend_init(out.data(), halves, out.count() / halves, out.type(), next(), 6, MPI_COMM_WORLD,
                   MPI_INFO_NULL, &requests[0]);
    MPI_Precv_init(in.data(), 1, in.count(), in.type(), previous(), 6, MPI_COMM_WORLD, MPI_INFO_NULL,
                   &requests[1]);
    MPI_Startall(2, requests);
    MPI_Pready_range(0, halves - 1, requests[0]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK(in.holds(11, static_cast<size_t>(n)));
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

void absolute_addresses() {
    int a = rank_;
    double b = rank_ + 0.5;
    const int ones[] = {1, 1};
    MPI_Aint at[2];
    MPI_Get_address(&a, &at[0]);
    MPI_Get_address(&b, &at[1]);
    const MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE};
    MPI_Datatype type;
    MPI_Type_create_struct(2, ones, at, types, &type);
    MPI_Type_commit(&type);
    MPI_Status status;
    MPI_Sendrecv_replace(MPI_BOTTOM, 1, type, next(), 1, previous(), 1, MPI_COMM_WORLD, &status);
    CHECK(a == previous() && b == previous() + 0.5);
    int n = 0;
    MPI_Get_elements(&status, type, &n);
    CHECK(n == 2);
    MPI_Type_free(&type);
}

void pairs_with_padding() {
    struct Pair {
        double value;
        int index;
        int padding;
    };
    std::vector<Pair> out(500, {rank_ + 0.25, rank_, 77});
    std::vector<Pair> in(500, {0, 0, 88});
    MPI_Status status;
    MPI_Sendrecv(out.data(), 500, MPI_DOUBLE_INT, next(), 1, in.data(), 500, MPI_DOUBLE_INT, previous(), 1,
                 MPI_COMM_WORLD, &status);
    for (const Pair& p : in) CHECK(p.value == previous() + 0.25 && p.index == previous() && p.padding == 88);
    int n = 0;
    MPI_Get_count(&status, MPI_DOUBLE_INT, &n);
    CHECK(n == 500);
    MPI_Get_elements(&status, MPI_DOUBLE_INT, &n);
    CHECK(n == 1000);
    MPI_Get_count(&status, MPI_BYTE, &n);
    CHECK(n == 6000);
}

void empty_messages() {
    MPI_Datatype empty;
    MPI_Type_contiguous(0, MPI_INT, &empty);
    MPI_Type_commit(&empty);
    int untouched = 5;
    MPI_Status status;
    MPI_Sendrecv(&untouched, 1000, empty, next(), 1, &untouched, 1000, empty, previous(), 1, MPI_COMM_WORLD,
                 &status);
    int n = -1;
    MPI_Get_count(&status, empty, &n);
    CHECK(n == 0 && untouched == 5);
    MPI_Get_elements(&status, empty, &n);
    CHECK(n == 0);
    MPI_Type_free(&empty);
}

} // namespace

int main(int argc, char** argv) {
    const Session session(&argc, &argv);
    for (const int n : sizes_in_ints)
        for (const MakeLayout from : layouts)
            for (const MakeLayout to : layouts) {
                every_mode(from, to, n);
                both_directions_in_one_call(from, to, n);
                probed(from, to, n);
                if (n >= 4) other_lengths(from, to, n);
                if (n > 0 && !portable_) partitioned(from, to, n);
            }
    absolute_addresses();
    pairs_with_padding();
    empty_messages();
    session.end("noncontig");
    return 0;
}
