// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Many segments of another rank's private memory are put and fetched: while the target waits inside MPI and
// may move them itself, while it computes, and by all ranks at once. The bytes between the segments stay
// unchanged. usage: windows_noncontig
#include "check.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace {

struct Shape {
    int segments;
    int words; // of 4 bytes, per segment
    int stride;
    bool regular;
    bool gaps_here;
};
constexpr Shape shapes[] = {{8, 2, 5, true, false},   {128, 4, 16, true, false},
                            {128, 4, 16, true, true}, {300, 10, 11, true, false},
                            {64, 8, -9, true, false}, {2500, 2, 5, false, false},
                            {2500, 7, 9, true, true}, {12, 2000, 2001, true, false}};
constexpr int room = 40000;
enum AccessMethod { waits, computes, all_at_once, ways };

// Segment i begins at word places[i].
std::vector<int> displs_of(const Shape& s) {
    std::vector<int> places;
    int next = s.stride < 0 ? room / 2 : 1;
    for (int i = 0; i < s.segments; ++i) {
        places.push_back(next);
        next += s.stride + (!s.regular && i % 3 == 0 ? 1 : 0);
    }
    return places;
}

MPI_Datatype type_of(const Shape& s) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_create_indexed_block(s.segments, s.words, displs_of(s).data(), MPI_INT32_T, &type);
    MPI_Type_commit(&type);
    return type;
}

void transfer_segments(const Shape& s, MPI_Win win, MPI_Aint base, int target, int32_t first) {
    MPI_Datatype type = type_of(s);
    const int count = s.segments * s.words;
    std::vector<int32_t> out(s.gaps_here ? room : static_cast<size_t>(count)), back(out.size(), -1);
    const std::vector<int> places = displs_of(s);
    for (int i = 0; i < s.segments; ++i)
        for (int w = 0; w < s.words; ++w)
            out[static_cast<size_t>(s.gaps_here ? places[static_cast<size_t>(i)] + w : i * s.words + w)] =
                first + i * s.words + w;
    if (s.gaps_here) std::replace(out.begin(), out.end(), 0, -1);
    MPI_Datatype here = s.gaps_here ? type : MPI_INT32_T;
    MPI_Put(out.data(), s.gaps_here ? 1 : count, here, target, base, 1, type, win);
    MPI_Win_flush(target, win);
    MPI_Get(back.data(), s.gaps_here ? 1 : count, here, target, base, 1, type, win);
    MPI_Win_flush(target, win);
    CHECK(back == out);
    MPI_Type_free(&type);
}

void check_memory(const Shape& s, const std::vector<int32_t>& mine, int32_t first) {
    std::vector<int32_t> expected(room, -1);
    int32_t next = first;
    for (const int place : displs_of(s))
        for (int w = 0; w < s.words; ++w)
            expected[static_cast<size_t>(place) + static_cast<size_t>(w)] = next++;
    CHECK(mine == expected);
}

void run_case(bool dynamic, const Shape& s, AccessMethod way) {
    std::vector<int32_t> mine(room, -1);
    MPI_Win win = MPI_WIN_NULL;
    const auto bytes = static_cast<MPI_Aint>(sizeof(int32_t) * room);
    MPI_Aint base = 0;
    if (dynamic) {
        MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
        MPI_Win_attach(win, mine.data(), bytes);
        MPI_Get_address(mine.data(), &base);
    } else {
        MPI_Win_create(mine.data(), bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    }
    std::vector<MPI_Aint> bases(static_cast<size_t>(size_));
    MPI_Allgather(&base, 1, MPI_AINT, bases.data(), 1, MPI_AINT, MPI_COMM_WORLD);
    const int target = (rank_ + 1) % size_;
    const int origin = (rank_ + size_ - 1) % size_;
    const bool moves = way == all_at_once || rank_ == 0;
    MPI_Win_lock_all(0, win);
    for (int round = 1; round <= 4 && moves; ++round)
        transfer_segments(s, win, bases[static_cast<size_t>(target)], target, 1000 * rank_ + round);
    const int32_t done = 1;
    if (way == computes && rank_ == 0)
        MPI_Put(&done, 1, MPI_INT32_T, 1, bases[1], 1, MPI_INT32_T, win); // word 0 belongs to no segment
    while (way == computes && rank_ == 1 && std::atomic_ref(mine[0]).load() != 1) {
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (way == computes && rank_ == 1) mine[0] = -1;
    if (way == all_at_once || rank_ == 1) check_memory(s, mine, 1000 * origin + 4);
    if (dynamic) MPI_Win_detach(win, mine.data());
    MPI_Win_free(&win);
}

} // namespace

int main(int argc, char** argv) {
    const Session session(&argc, &argv);
    CHECK(size_ >= 2);
    for (const bool dynamic : {false, true})
        for (const Shape& s : shapes)
            for (int way = 0; way < ways; ++way) run_case(dynamic, s, static_cast<AccessMethod>(way));
    session.end("windows_noncontig");
}
